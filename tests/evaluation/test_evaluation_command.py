import csv
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.evaluation import __main__ as command
from course_lib.evaluation import offline
from course_lib.evaluation.__main__ import BAD_INPUT, DONE, GAPS, INTERRUPTED, main
from course_lib.evaluation.compare import compare
from course_lib.evaluation.documents import Document, corpus_of
from course_lib.evaluation.offline import NAMES, KeptVectors, Setting, build, section_search
from course_lib.evaluation.questions import Question
from course_lib.llm import Budget, Model
from course_lib.navigation.loop import STEP_OUTPUT
from course_lib.navigation.markup import read_markdown
from course_lib.pricing import Price, cost
from course_lib.retrieval import Usage
from course_lib.transcripts import Answer

PRICE = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0, minimum_prefix=5)
AGREEMENT = """# Agreement

## 7.3 Late payment

Late invoices bear interest at the rate given in Schedule B.

## 8 Suspension

The provider may suspend the service after written notice.

## Schedule B: Rates

The rate is 12 % a year.
"""
QUESTIONS = "question,shape,expected,gold\nWhich rate do late invoices bear?,structural hop,12 %,{gold}\n"


class Letters:
    """An encoder without a model: how often each letter occurs."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        rows = np.zeros((len(texts), 384), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                row[ord(letter) % 384] += 1
            row /= max(np.linalg.norm(row), 1)
        return rows


def setting(model=None):
    corpus = corpus_of([Document("a.md", read_markdown(AGREEMENT))])
    return Setting(corpus, 2, PRICE, Letters, model)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setattr("course_lib.dense.load_encoder", Letters)
    documents = tmp_path / "Akten ü #1"
    documents.mkdir()
    (documents / "a.md").write_text(AGREEMENT, encoding="utf-8")
    gold = next(one.id for one in setting().corpus.sections if "12 %" in one.text)
    (tmp_path / "questions.csv").write_text(QUESTIONS.format(gold=gold), encoding="utf-8")
    return tmp_path


def run(folder, *options):
    return main([str(folder / "Akten ü #1"), "questions.csv", *options])


# --- The systems by name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_named_system_answers_with_ids_of_sections_and_a_cost(name):
    made = setting()
    response = build(name, made).ask("Which rate do late invoices bear?")
    known = {section.id for section in made.corpus.sections}
    assert response.ids is None if name.startswith("long") else set(response.ids) <= known
    assert response.usd == pytest.approx(cost(response.usage, PRICE))
    assert response.estimated
    assert response.answer is None


def test_the_navigator_follows_the_reference_that_full_text_does_not():
    made = setting()
    asked = "Which late payment interest do we owe?"
    assert build("navigate", made).ask(asked).ids == ("a.md#7.3", "a.md#n1.B")
    assert build("bm25", made).ask(asked).ids == ("a.md#7.3",)


def test_who_reads_a_chapter_has_read_the_sections_in_it():
    made = setting()
    (document,) = made.corpus.documents
    read = SimpleNamespace(evidence={"n1": "the whole agreement"})
    assert offline._Walker(made).sections_read(document, read) == tuple(one.id for one in made.corpus.sections)


def test_of_several_documents_the_one_that_the_question_is_about_is_read():
    texts = {"a.md": AGREEMENT, "b.md": "# Manual\n\n## Paper jams\n\nOpen the cover.\n\n## Cleaning\n\nUse a cloth.\n"}
    corpus = corpus_of([Document(name, read_markdown(text)) for name, text in texts.items()])
    navigator = build("navigate", Setting(corpus, 2, PRICE))
    assert navigator.ask("What about paper jams?").ids[0].startswith("b.md#")
    assert navigator.ask("Which late payment interest do we owe?").ids[0] == "a.md#7.3"
    assert navigator.ask("Zebra?").ids == ()


@pytest.mark.parametrize("name", ["bm25", "navigate"])
def test_where_nothing_is_found_no_answer_is_paid_for(name):
    response = build(name, setting()).ask("Zebra?")
    assert response.ids == ()
    assert response.usage.output == (0 if name == "bm25" else STEP_OUTPUT)


def test_the_time_of_a_search_is_not_that_of_counting_tokens(monkeypatch):
    clock = [0.0]

    def counting(text):
        clock[0] += 100.0
        return 10

    for module in ("systems", "offline"):
        monkeypatch.setattr(f"course_lib.evaluation.{module}.counted", counting)
        monkeypatch.setattr(f"course_lib.evaluation.{module}.perf_counter", lambda: clock[0])
    made = setting()
    for name in ("bm25", "navigate", "headings"):
        assert build(name, made).ask("late payment?").seconds == 0.0
    assert clock[0] > 0


def test_a_cached_outline_costs_less_and_has_the_same_tokens():
    made = setting()
    plain, cached = (build(name, made).ask("late payment?").usage for name in ("navigate", "navigate_cached"))
    assert plain.input == cached.input
    assert cached.cached > 0
    assert cost(cached, PRICE) < cost(plain, PRICE)


def test_a_source_that_does_not_fit_is_no_system_and_says_so():
    small = Setting(setting().corpus, 2, Price("small", 3.0, 15.0, 0.1, 1.25, 2.0, window=20_010))
    with pytest.raises(ValueError, match="do not fit a window of 20,010"):
        build("long_context", small)


def test_a_name_that_is_no_system_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match="no system 'bm52'; there are bm25"):
        build("bm52", setting())


@pytest.mark.parametrize("dense", [False, True])
def test_the_search_to_label_with_names_each_section_once_and_never_abstains_for_strictness(dense):
    made = setting()
    found = section_search(made, dense)("zebra crossing payment rate unicorn dragons", 3)
    assert {hit.id for hit in found} <= {section.id for section in made.corpus.sections}
    assert 0 < len(found) == len({hit.id for hit in found}) <= 3
    assert made.bm25.search("zebra crossing payment rate unicorn dragons") == []


class Scripted:
    """A stand-in for a model: it shows what is sent and how answers travel, and nothing about models."""

    name = "scripted"

    def __init__(self):
        self.sent = []

    def ask(self, system, message, *rest, **options):
        self.sent.append((system, message))
        return type("Reply", (), {"text": " 12 % a year ", "usage": Usage(10, output=2, calls=1), "usd": 0.001})()


def test_with_a_model_the_answer_comes_from_the_passages_found():
    model = Scripted()
    response = build("bm25", setting(model)).ask("Which rate a year?")
    assert (response.answer, response.usd, response.estimated) == ("12 % a year", 0.001, False)
    assert "12 % a year" in json.loads(model.sent[0][1])["passages"][0]["text"]


def live_model(budget, replies):
    """The course's own model, with a way out that never leaves the process."""

    def send(body):
        text = json.dumps(replies(body)) if "output_config" in body else "12 % a year"
        usage = {"input_tokens": 1000, "output_tokens": 10}
        content = [{"type": "text", "text": text}]
        return Answer({"model": "m", "content": content, "stop_reason": "end_turn", "usage": usage}, None, "0")

    return Model("m", PRICE, Budget(budget), send, max_tokens=50)


def first_unread(body):
    """Read section 7.3, then Schedule B, then answer."""
    seen = body["messages"][0]["content"]
    nodes = [id for id in ("7.3", "n1.B") if f"[{id}]" not in seen]
    return {"action": "read" if nodes else "answer", "node": nodes[0] if nodes else "none", "reason": ""}


@pytest.mark.parametrize(("name", "usd"), [("bm25", 0.00315), ("navigate", 4 * 0.00315), ("long_context", 0.00315)])
def test_a_model_behind_the_one_door_answers_and_is_paid_for_every_call(name, usd):
    response = build(name, setting(live_model(1.0, first_unread))).ask("Which late payment interest?")
    assert response.answer == "12 % a year"
    assert response.usd == pytest.approx(usd)
    assert not response.estimated
    if name == "navigate":
        assert response.ids == ("a.md#7.3", "a.md#n1.B")


@pytest.mark.parametrize("name", ["bm25", "navigate"])
def test_the_model_s_spending_limit_ends_the_comparison(name):
    made = setting(live_model(0.012, first_unread))
    questions = [Question(f"Which late payment interest {n}?", expected="12") for n in range(9)]
    stopped = compare([build(name, made)], questions)
    assert stopped.stopped.startswith("Stopped after ")
    assert len(stopped.outcomes) < 9
    assert made.model.budget.spent <= 0.012


def test_without_evidence_no_model_is_asked():
    model = Scripted()
    response = build("bm25", setting(model)).ask("Zebra crossing?")
    assert (response.answer, response.ids, model.sent) == ("", (), [])


def test_vectors_are_kept_in_a_file_and_made_once(tmp_path):
    texts, told, first = [f"text {n}" for n in range(40)], [], Letters()
    one = KeptVectors(tmp_path / "v.npz", lambda: first, lambda done, total: told.append((done, total)))
    rows = one.encode(texts)
    again = KeptVectors(tmp_path / "v.npz", lambda: pytest.fail("the model was loaded"))
    assert np.allclose(again.encode(texts), rows, atol=1e-3)
    assert told == [(16, 40), (32, 40), (40, 40)]
    (tmp_path / "v.npz").write_bytes(b"damaged")
    assert np.allclose(KeptVectors(tmp_path / "v.npz", Letters).encode(texts), rows, atol=1e-3)


# --- The command line -----------------------------------------------------------------------------------------------


def test_a_run_writes_report_csv_and_journal_and_says_what_follows(folder, capsys):
    (folder / "current.csv").write_text("question,answer\nWhich rate do late invoices bear?,It is 12 %.\n", "utf-8")
    assert run(folder, "--systems", "bm25,navigate,dense,current.csv", "--out", "out/r.html") == DONE
    said = capsys.readouterr()
    assert "structural hop: " in said.out
    assert "Report: " in said.out
    assert sorted(path.name for path in (folder / "out").iterdir() if not path.name.startswith(".")) == [
        "r.csv", "r.html", "r.journal.jsonl"
    ]  # fmt: skip
    rows = list(csv.DictReader((folder / "out" / "r.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert {row["system"]: row["right"] for row in rows} == {
        "bm25": "",
        "navigate": "",
        "dense": "",
        "current.csv": "yes",
    }


def test_a_second_run_keeps_the_first_report(folder, capsys):
    assert run(folder, "--systems", "bm25") == DONE
    before = (folder / "report.html").read_bytes()
    assert run(folder, "--systems", "bm25") == DONE
    assert (folder / "report.html").read_bytes() == before
    assert (folder / "report-2.html").is_file()
    assert "report.html is kept as it was; this is report-2.html." in capsys.readouterr().err


def test_results_of_a_finished_run_are_not_taken_over_unasked(folder):
    assert run(folder, "--systems", "bm25") == DONE
    (folder / "report.html").unlink()
    (folder / "report.csv").unlink()
    assert run(folder, "--systems", "bm25") == DONE
    assert "earlier run" not in (folder / "report-2.html").read_text(encoding="utf-8")


def test_documents_and_everything_else_may_lie_in_one_folder(folder):
    (folder / "a.md").write_text(AGREEMENT, encoding="utf-8")
    (folder / "current.csv").write_text("question,answer\nWhich rate do late invoices bear?,It is 12 %.\n", "utf-8")
    gold = (folder / "questions.csv").read_text(encoding="utf-8")
    (folder / "questions.csv").write_text(gold.replace("a.md#", "Akten ü #1/a.md#"), encoding="utf-8")
    for _ in range(2):
        assert main([".", "questions.csv", "--systems", "bm25,current.csv"]) == DONE
    page = (folder / "report-2.html").read_text(encoding="utf-8")
    assert "2 read" in page
    assert "Not read" not in page


def test_gaps_are_said_and_are_an_exit_code(folder, capsys, monkeypatch):
    (folder / "Akten ü #1" / "table.xlsx").write_bytes(b"PK")

    def missing():
        raise FileNotFoundError("The weights are missing: install them.")

    monkeypatch.setattr("course_lib.dense.load_encoder", missing)
    assert run(folder, "--systems", "bm25,dense") == GAPS
    said = capsys.readouterr().err
    assert "dense was not run: The weights are missing" in said
    assert "Not read: table.xlsx" in said
    assert "Not read: table.xlsx" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_question_that_fails_is_a_gap(folder):
    (folder / "current.csv").write_text("question,answer\nAnother?,x\n", encoding="utf-8")
    assert run(folder, "--systems", "current.csv") == GAPS


def test_an_interrupted_run_is_resumed_and_never_written_over(folder, capsys, monkeypatch):
    (folder / "mine_interrupted.py").write_text("def ask(question):\n    raise KeyboardInterrupt\n", encoding="utf-8")
    assert run(folder, "--systems", "bm25,mine_interrupted:ask") == INTERRUPTED
    assert (folder / "report.html").is_file()
    assert run(folder, "--systems", "bm25") == BAD_INPUT
    assert "add --resume" in capsys.readouterr().err
    assert run(folder, "--systems", "bm25", "--resume") == DONE
    assert "1 results of an earlier run" in (folder / "report-2.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--systems", "bm52"], "There is no system 'bm52'"),
        (["--systems", " , "], "--systems names none"),
        (["--systems", "nothing.csv"], "There is no file nothing.csv"),
        (["--systems", "questions.csv"], "neither a column 'answer'"),
        (["--systems", "no_such_module:ask"], "No system could be run. no_such_module:ask was not run"),
        (["--k", "0"], "--k is 0"),
        (["--chunk", "5"], "--chunk is 5"),
        (["--parallel", "0"], "--parallel is 0"),
        (["--budget", "-1"], "--budget is -1"),
        (["--wanted", "90"], "--wanted is 90"),
        (["--out", "report.pdf"], "the name of an HTML file is expected"),
        (["--price", "gold"], "There is no price 'gold'"),
        (["--resume"], "--resume: there is no report.journal.jsonl"),
        (["--answers"], "--answers needs a model"),
        (["--hand", "nothing.csv"], "There is no file nothing.csv"),
    ],
)
def test_bad_options_are_one_sentence_and_nothing_is_run(folder, capsys, options, said):
    assert run(folder, *options) == BAD_INPUT
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("error: ")
    assert "Traceback" not in error
    assert not (folder / "report.html").exists()


def test_bad_documents_and_questions_are_one_sentence(folder, capsys):
    assert main(["nothing", "questions.csv"]) == BAD_INPUT
    assert "There is no folder nothing" in capsys.readouterr().err
    assert main(["Akten ü #1", "nothing.csv"]) == BAD_INPUT
    (folder / "bad.csv").write_text("question,tolerance\na,much\n", encoding="utf-8")
    assert main(["Akten ü #1", "bad.csv"]) == BAD_INPUT
    assert "row 2: tolerance is 'much'" in capsys.readouterr().err


def test_verdicts_by_hand_reach_the_report(folder):
    (folder / "current.csv").write_text("question,answer\nWhich rate do late invoices bear?,It is 12 %.\n", "utf-8")
    (folder / "hand.csv").write_text(
        "question,system,hand\nWhich rate do late invoices bear?,current.csv,right\n", encoding="utf-8"
    )
    assert run(folder, "--systems", "current.csv", "--hand", "hand.csv") == DONE
    assert "agrees with hand labels on 1.00" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_system_of_one_s_own_keeps_its_route(folder):
    (folder / "mine_own.py").write_text(
        "from course_lib.evaluation.systems import System\n"
        "count = System('count', lambda question: {'rows': [[5]]}, route='sql')\n",
        encoding="utf-8",
    )
    (folder / "questions.csv").write_text("question,rows\nHow many?,[[5]]\n", encoding="utf-8")
    assert run(folder, "--systems", "mine_own:count") == DONE
    assert "execution accuracy" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_key_alone_spends_nothing(folder, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setattr(command, "open_model", lambda *a, **k: pytest.fail("a model was opened"))
    assert run(folder, "--systems", "bm25") == DONE


def test_the_module_runs_from_the_shell(folder):
    root = Path(command.__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.evaluation", "--help"],
        cwd=root, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert all(name in done.stdout for name in NAMES)
