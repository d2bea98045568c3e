"""The command line: python -m course_lib.evaluation DOCUMENTS QUESTIONS --systems bm25,dense --out report.html"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import course_lib
from course_lib.evaluation.compare import Comparison, compare
from course_lib.evaluation.documents import Corpus, FolderError, read_folder
from course_lib.evaluation.journal import JournalError, is_finished
from course_lib.evaluation.offline import NAMES, KeptVectors, Setting, build
from course_lib.evaluation.progress import bar
from course_lib.evaluation.questions import Labelled, QuestionsError, read_questions, unknown_gold
from course_lib.evaluation.report import free_names, read_hand, write_report
from course_lib.evaluation.scoring import Judge, judge_with
from course_lib.evaluation.summary import decide, failures
from course_lib.evaluation.systems import System, from_answers
from course_lib.llm import Budget, Model, open_model, why_not
from course_lib.pricing import Price, load_prices

DONE, GAPS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
PRICES = Path(course_lib.__file__).resolve().parent.parent / "data" / "prices.json"

EXITS = f"""exit codes
  {DONE}    everything was measured
  {GAPS}    a report was written, with gaps: a file not read, a system not run, a failed question, the spending limit
  {BAD_INPUT}    nothing was run: one sentence on stderr says what to repair
  {INTERRUPTED}  interrupted with Ctrl-C: a report of what was there was written; --resume goes on
"""


class InputError(ValueError):
    """Something on the command line cannot be used; the message is for the user."""


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    known = "\n".join(f"  {name:<20} {line}" for name, line in NAMES.items())
    made = argparse.ArgumentParser(
        prog="python -m course_lib.evaluation",
        description="Compare retrieval systems on your own documents and labelled questions.",
        epilog=f"systems\n{known}\n  NAME.csv             answers of what you run today: question, answer, ids, "
        f"seconds, usd\n  MODULE:FUNCTION      your own: question -> answer, ids or both; or a System\n\n{EXITS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("documents", type=Path, metavar="DOCUMENTS", help="a folder of PDF, DOCX, Markdown, HTML and text, or one file")
    add("questions", type=Path, metavar="QUESTIONS", help="JSONL or CSV: question, shape, expected, gold")
    add("--systems", default="bm25,navigate", help="names, separated by commas (default: %(default)s)")
    add("--out", type=Path, default=Path("report.html"), help="the report; a CSV goes beside it (default: %(default)s)")
    add("--k", type=int, default=5, help="how many chunks are retrieved (default: %(default)s)")
    add("--chunk", type=int, default=1200, help="characters of a chunk at most (default: %(default)s)")
    add("--wanted", type=float, default=0.9, help="the share that is right often enough (default: %(default)s)")
    add("--parallel", type=int, default=1, help="questions at a time (default: %(default)s)")
    add("--resume", action="store_true", help="go on with the results of an earlier run of the same --out")
    add("--answers", action="store_true", help="let a model write answers, and judge them; needs a key, costs money")
    add("--budget", type=float, default=1.0, help="spending limit in USD with --answers (default: %(default)s)")
    add("--price", metavar="NAME", help="a preset of data/prices.json (default: its first)")
    add("--hand", type=Path, metavar="CSV", help="the CSV of a report with your verdicts in its column 'hand'")
    return made


@dataclass(frozen=True)
class Inputs:
    """What was asked for, read and checked."""

    options: argparse.Namespace
    labelled: Labelled
    corpus: Corpus
    price: Price
    model: Model | None
    hand: dict[tuple[str, str], bool]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; returns an exit code."""
    for stream in (sys.stdout, sys.stderr):  # a Windows console may not know every character of a file's name
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except (InputError, QuestionsError, FolderError, JournalError, FileNotFoundError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("Interrupted before the first question; nothing was written.", file=sys.stderr)
        return INTERRUPTED


def run(options: argparse.Namespace) -> int:
    """Read, build, compare, write, and say what came of it. Raises InputError and the errors of the readers."""
    inputs = read_inputs(options)
    out, journal = places_for(options.out, options.resume)
    systems, not_run = build_systems(inputs)
    if not systems:
        raise InputError("No system could be run. " + " ".join(not_run))
    comparison = compare(
        systems,
        inputs.labelled.questions,
        k=options.k,
        journal=journal,
        budget=options.budget,
        parallel=options.parallel,
        progress=bar(),
        judge=judge_of(inputs.model),
        hand=inputs.hand,
    )
    warnings = [*not_run, *gaps(inputs)]
    written = write_report(comparison, out, facts=facts(inputs), warnings=warnings, wanted=options.wanted)
    kept = "" if written.html == options.out else f"{options.out.name} is kept as it was; this is {written.html.name}."
    tell(comparison, options.wanted, [*warnings, kept], written.html)
    if comparison.stopped.startswith("Interrupted"):
        return INTERRUPTED
    failed = any(outcome.error for outcome in comparison.outcomes)
    return GAPS if not_run or inputs.corpus.unread or comparison.stopped or failed else DONE


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_inputs(options: argparse.Namespace) -> Inputs:
    """Read and check everything before anything is run: a typo must not cost the time of a run."""
    for name, low, high in (("k", 1, 1000), ("chunk", 100, 10**6), ("parallel", 1, 64), ("budget", 0, 10**6)):
        if not low <= getattr(options, name) <= high:
            raise InputError(f"--{name} is {getattr(options, name)}; a number from {low} to {high} is expected.")
    if not 0 < options.wanted <= 1:
        raise InputError(f"--wanted is {options.wanted}; a share above 0 and up to 1 is expected, such as 0.9.")
    if options.out.is_dir() or options.out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out is {options.out}; the name of an HTML file is expected, such as report.html.")
    check_names(system_names(options.systems))
    labelled = read_questions(options.questions)
    hand = read_hand(options.hand) if options.hand else {}
    price = find_price(options.price)
    model = find_model(options, price)
    corpus = read_folder(options.documents, options.chunk, leave_out=own_files(options))
    return Inputs(options, labelled, corpus, price, model, hand)


def own_files(options: argparse.Namespace) -> list[Path]:
    """Return the files that belong to the comparison itself, should they lie among the documents."""
    given = [Path(name) for name in system_names(options.systems) if name.lower().endswith(".csv")]
    written = [path for path in options.out.parent.glob("*") if path.name.startswith(options.out.stem)]
    ours = [path for path in written if path.name.endswith((".csv", ".journal.jsonl", ".vectors.npz"))]
    return [options.questions, *([options.hand] if options.hand else []), *given, *ours]


def system_names(given: str) -> list[str]:
    """Return the names of the systems, each once."""
    names = list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not names:
        raise InputError(f"--systems names none; there are {', '.join(NAMES)}, or name a CSV of answers.")
    return names


def check_names(names: Sequence[str]) -> None:
    """Raise InputError for a name that is no system, no CSV that exists, and no MODULE:FUNCTION."""
    for name in names:
        if name.lower().endswith(".csv"):
            if not Path(name).is_file():
                raise InputError(f"There is no file {name}; a CSV of answers is expected, with question and answer.")
        elif name not in NAMES and ":" not in name:
            raise InputError(f"There is no system {name!r}; there are {', '.join(NAMES)}, or name a CSV of answers.")


def find_price(name: str | None) -> Price:
    """Return the preset of that name, or the first."""
    prices = load_prices(PRICES)
    if name is not None and name not in prices:
        raise InputError(f"There is no price {name!r}; there are {', '.join(map(repr, prices))}.")
    return prices[name] if name is not None else next(iter(prices.values()))


def find_model(options: argparse.Namespace, price: Price) -> Model | None:
    """Return a model where answers are wanted. A key alone is no wish to spend money."""
    if not options.answers:
        return None
    reason = why_not()
    if reason:
        raise InputError(f"--answers needs a model. {reason}")
    return open_model(price, budget=Budget(options.budget))


def judge_of(model: Model | None) -> Judge | None:
    """Return a judge for the answers that a comparison of words and numbers does not settle."""
    return judge_with(lambda prompt: model.ask("", prompt).text) if model else None


# --- Building ---------------------------------------------------------------------------------------------------------


def build_systems(inputs: Inputs) -> tuple[list[System], list[str]]:
    """Return the systems that can be run here, and a sentence for each one that cannot."""
    setting = Setting(inputs.corpus, inputs.options.k, inputs.price, lambda: encoder_of(inputs), inputs.model)
    systems, not_run = list[System](), list[str]()
    for name in system_names(inputs.options.systems):
        try:
            systems.append(one_system(name, setting))
        except QuestionsError:
            raise
        except Exception as error:
            not_run.append(f"{name} was not run: {error}")
    return systems, not_run


def encoder_of(inputs: Inputs) -> KeptVectors:
    """Return the dense encoder, which keeps the documents' vectors beside the report."""
    from course_lib.dense import load_encoder

    def told(done: int, total: int) -> None:
        if done == total or done % 256 == 0:
            print(f"encoding for dense search: {done} of {total} texts", file=sys.stderr, flush=True)

    kept = inputs.options.out.with_name(f"{inputs.options.out.stem}.vectors.npz")
    kept.parent.mkdir(parents=True, exist_ok=True)
    return KeptVectors(kept, load_encoder, told)


def one_system(name: str, setting: Setting) -> System:
    """Return the system of a name: one of the course's, a CSV of answers, or a function of yours."""
    if name.lower().endswith(".csv"):
        return from_answers(Path(name), Path(name).name)
    if name in NAMES:
        return build(name, setting)
    module, _, function = name.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    found = getattr(importlib.import_module(module), function)
    return replace(found, name=name) if isinstance(found, System) else System(name, found)


# --- Going on ---------------------------------------------------------------------------------------------------------


def places_for(out: Path, resume: bool) -> tuple[Path, Path]:
    """Return where the report and its journal go. Neither an old report nor results of an old run are written over."""
    journal = journal_of(out)
    if resume:
        if not journal.is_file():
            raise InputError(f"--resume: there is no {journal.name} beside {out.name} to go on with.")
        return out, journal
    if journal.is_file() and not is_finished(journal):
        raise InputError(
            f"{journal.name} holds results of a run that did not end: add --resume to go on with them, or remove the "
            f"file to begin anew."
        )
    free = free_names(out, lambda html: not journal_of(html).exists())[0]
    return free, journal_of(free)


def journal_of(out: Path) -> Path:
    """Return the name of the journal that belongs to a report."""
    return out.with_name(f"{out.stem}.journal.jsonl")


# --- Telling ----------------------------------------------------------------------------------------------------------


def facts(inputs: Inputs) -> list[str]:
    """Return what the comparison was made on, in sentences."""
    corpus, price = inputs.corpus, inputs.price
    model = (
        f"Answers by {inputs.model.name}." if inputs.model else "No model wrote answers: run with --answers and a key."
    )
    return [
        f"Documents: {inputs.options.documents.name}, {len(corpus.documents)} read, {len(corpus.sections)} sections, "
        f"{len(corpus.chunks)} chunks of at most {inputs.options.chunk} characters.",
        f"Prices: {price.name}. Put your provider's numbers into data/prices.json before you decide.",
        model,
        *(
            [f"The model was paid USD {inputs.model.budget.spent:.4f} in this run, judging included."]
            if inputs.model
            else []
        ),
        *([] if inputs.model else ["Times are of retrieval alone: a model adds seconds to each question."]),
    ]


def gaps(inputs: Inputs) -> list[str]:
    """Return what was not read, and what is odd about the labels, in sentences."""
    known = [section.id for section in inputs.corpus.sections]
    read = {document.name for document in inputs.corpus.documents}
    unread = [
        f"{'Read in part' if one.name in read else 'Not read'}: {one.name}. {one.why}" for one in inputs.corpus.unread
    ]
    return [*unread, *inputs.corpus.remarks, *inputs.labelled.notes, *unknown_gold(inputs.labelled.questions, known)]


def tell(comparison: Comparison, wanted: float, warnings: Sequence[str], report: Path) -> None:
    """Print the decision and where the report is; what is missing goes to stderr."""
    for sentence in [comparison.stopped, *failures(comparison), *warnings]:
        if sentence:
            print(f"note: {sentence}", file=sys.stderr)
    for decision in decide(comparison, wanted):
        print(decision)
    print(f"Report: {report}")


def _main() -> NoReturn:
    sys.exit(main())


if __name__ == "__main__":
    _main()
