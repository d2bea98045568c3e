"""The same with a learner's own folder and questions; without them it runs on the shipped ones and says what to do."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.corpora import DATA
from course_lib.dense import load_encoder
from course_lib.evaluation.compare import Comparison, compare
from course_lib.evaluation.documents import Corpus, FolderError, read_folder
from course_lib.evaluation.labelling import Labelling
from course_lib.evaluation.labelling_view import LabellingForm
from course_lib.evaluation.offline import KeptVectors, Setting, build, section_search
from course_lib.evaluation.questions import QuestionsError, read_questions, unknown_gold
from course_lib.evaluation.report import write_report
from course_lib.evaluation.summary import decide, failures
from course_lib.evaluation.systems import System, from_answers
from course_lib.learn.look import Shown, card, escape, paragraph
from course_lib.learn.record import open_record
from course_lib.lessons.your_own_data import shipped
from course_lib.lessons.your_own_data.showing import (
    decisions_html,
    for_the_team,
    outlines_html,
    read_in_all,
    shapes_table,
    unread_table,
)

ROOT = DATA.parent
WORDS_ONLY = ("bm25", "bm25_headings", "navigate")  # they load no model
EXITS = {0: "everything was measured", 1: "a report was written, with gaps", 2: "nothing was run"}


def work_folder() -> Path:
    """Return the folder beside the learner's record into which this notebook writes; it is made."""
    folder = open_record().path.parent / "my_evaluation"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def facts(corpus: Corpus) -> list[str]:
    """Return what a comparison was made on, in sentences, for its report."""
    return [
        f"{len(corpus.documents)} documents, {len(corpus.sections)} sections, {len(corpus.chunks)} chunks.",
        f"Prices: {shipped.price().name}.",
        "No model wrote answers; times are of retrieval alone.",
    ]


# --- Reading --------------------------------------------------------------------------------------------------------


def read_mine(documents: str) -> Shown:
    """Return what was not read of the learner's own folder, its outlines, and what its ids look like."""
    if not documents.strip():
        return Shown(card("", paragraph("MY_DOCUMENTS is empty, so there is nothing of yours to read yet.")))
    try:
        corpus = read_folder(Path(documents).expanduser())
    except (FolderError, OSError) as error:
        return Shown(card("", paragraph(str(error), "missed")))
    ids = f"The id of a section is such as {corpus.sections[0].id} or {corpus.sections[-1].id}."
    return Shown(card("", paragraph(read_in_all(corpus)), unread_table(corpus), *outlines_html(corpus), paragraph(ids)))


# --- Labelling ------------------------------------------------------------------------------------------------------


def ten() -> list[str]:
    """Return ten of the shipped questions without their labels, two of each shape, mixed."""
    asked = [question.text for question in shipped.questions()]
    return [asked[number] for number in (0, 27, 13, 8, 20, 1, 15, 7, 30, 25)]


def label(documents: str = "", name: str = "my_questions.jsonl", questions: Sequence[str] = ()) -> Labelling:
    """Return the labelling of a folder, kept in the work folder under `name`; it goes on where it was."""
    corpus = read_folder(Path(documents).expanduser()) if documents.strip() else shipped.corpus()
    search = section_search(Setting(corpus, 8, shipped.price()))
    return Labelling(work_folder() / name, search, questions)


def label_mine(documents: str, questions: Sequence[str] = ()) -> LabellingForm | Shown:
    """Return the form for the learner's own folder, or what to do where there is none yet."""
    if not documents.strip():
        return Shown(card("", paragraph("MY_DOCUMENTS is empty, so there is nothing of yours to label yet.")))
    try:
        work = label(documents, questions=questions)
    except (FolderError, OSError, ValueError) as error:  # a ValueError: one text instead of a list of them
        return Shown(card("", paragraph(str(error), "missed")))
    if not work.questions:
        return Shown(card("", paragraph("Put some questions into MY_QUESTIONS_AS_ASKED, each in quotes.")))
    return LabellingForm(work)


# --- Comparing ------------------------------------------------------------------------------------------------------


def compare_mine(
    documents: str = "", questions: str = "", answers: str = "", names: Sequence[str] = WORDS_ONLY, wanted: float = 0.8
) -> Shown:
    """Compare systems on a folder and a file of labelled questions, write the report, and show what it says.

    `answers` is a CSV of what runs today. Without `documents` the shipped ones are taken; without `questions` those
    labelled in this notebook. What cannot be used is said in a sentence.
    """
    try:
        return _compare_mine(documents.strip(), questions.strip(), answers.strip(), names, wanted)
    except (FolderError, QuestionsError, OSError, ValueError) as error:
        return Shown(card("", paragraph(str(error), "missed")))


def _compare_mine(documents: str, questions: str, answers: str, names: Sequence[str], wanted: float) -> Shown:
    own = bool(documents)
    labels = _questions_path(own, questions)
    answered = Path(answers).expanduser() if answers else None if own else shipped.ANSWERS
    labelled = read_questions(labels)  # before the folder, which takes longer
    apart = [labels, *([answered] if answered else [])]
    corpus = read_folder(Path(documents).expanduser(), leave_out=apart) if own else shipped.corpus()
    odd = [*labelled.notes, *unknown_gold(labelled.questions, [section.id for section in corpus.sections])]
    systems, not_run = _systems(corpus, own, names)
    odd += not_run
    systems += [from_answers(answered)] if answered else []
    if not systems:
        raise ValueError("No system could be run. " + " ".join(not_run))
    comparison = compare(systems, labelled.questions, k=shipped.K)
    written = write_report(comparison, work_folder() / "mine.html", facts=facts(corpus), warnings=odd, wanted=wanted)
    return _told(comparison, corpus, odd, own, wanted, written.html, answered.stem if answered else "")


def _questions_path(own: bool, questions: str) -> Path:
    if questions:
        return Path(questions).expanduser()
    kept = work_folder() / "my_questions.jsonl"
    if own and not kept.is_file():
        raise FileNotFoundError(
            "No question about your folder is labelled yet: label some in the cell above, or name a file."
        )
    return kept if own else shipped.QUESTIONS


def _systems(corpus: Corpus, own: bool, names: Sequence[str]) -> tuple[list[System], list[str]]:
    """Return the systems that can be built here, and a sentence for each one that cannot."""
    kept = KeptVectors(work_folder() / "mine.vectors.npz", load_encoder)
    setting = Setting(corpus, shipped.K, shipped.price(), (lambda: kept) if own else shipped.encoder)
    systems, not_run = list[System](), list[str]()
    for name in names.split(",") if isinstance(names, str) else names:
        try:
            systems.append(build(name.strip(), setting))
        except Exception as error:  # such as weights that are not there
            not_run.append(f"{name} was not run: {error}")
    return systems, not_run


def _told(
    comparison: Comparison, corpus: Corpus, odd: Sequence[str], own: bool, wanted: float, report: Path, today: str
) -> Shown:
    todo = "MY_DOCUMENTS is empty: write the path of a folder of yours into it. This is the course's folder."
    decisions = decide(comparison, wanted)
    return Shown(
        card(
            "",
            *([] if own else [paragraph(todo)]),
            unread_table(corpus),
            *(paragraph(sentence, "missed") for sentence in (*odd, *failures(comparison))),
            shapes_table(comparison),
            decisions_html(decisions),
            f"<p><b>For the team.</b> {escape(for_the_team(comparison, decisions, wanted, today))}</p>",
            paragraph(f"The report is {report.name} in the folder {report.parent.name}, with a CSV beside it."),
        )
    )


# --- From the shell -------------------------------------------------------------------------------------------------


def from_the_shell(
    documents: str = "", questions: str = "", answers: str = "", names: Sequence[str] = WORDS_ONLY
) -> Shown:
    """Run the command line on a folder, and show the command, what it printed, and its exit code.

    `answers` is a CSV of what runs today, as in `compare_mine`.
    """
    given = documents.strip()
    try:
        labels = _questions_path(bool(given), questions.strip())
    except FileNotFoundError as error:
        return Shown(card("", paragraph(str(error), "missed")))
    folder = str(Path(given).expanduser().resolve()) if given else _below_root(shipped.FOLDER)
    asked = str(labels.resolve()) if given or questions.strip() else _below_root(labels)
    today = [str(Path(answers.strip()).expanduser().resolve())] if answers.strip() else []
    today = today if today or given else [_below_root(shipped.ANSWERS)]
    out = work_folder() / "from_the_shell.html"
    arguments = [
        "-m",
        "course_lib.evaluation",
        folder,
        asked,
        "--systems",
        ",".join([*names, *today]),
        "--k",
        str(shipped.K),
        "--wanted",
        "0.8",
    ]
    shown = shlex.join(["python", *arguments, "--out", out.name])
    done = subprocess.run(
        [sys.executable, *arguments, "--out", str(out)],
        cwd=ROOT, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace",
        env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip
    said = [one for one in (done.stderr + done.stdout).splitlines() if not one.startswith("[")]  # its progress
    pieces = [paragraph(one.replace(str(work_folder()), work_folder().name)) for one in said]
    ended = f"Exit code {done.returncode}: {EXITS.get(done.returncode, 'see above')}."
    return Shown(card("", f"<pre>{escape(shown)}</pre>", *pieces, paragraph(ended)))


def _below_root(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
