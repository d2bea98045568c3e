import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from course_lib.evaluation.compare import compare
from course_lib.evaluation.questions import Question, QuestionsError
from course_lib.evaluation.report import COLUMNS, csv_report, html_report, read_hand, write_report, write_whole
from course_lib.evaluation.systems import Response

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "$x$ & 'q' \"d\"",
    "w" * 10_000,
    "</svg><b>",
    "\0\ud800",
]


class Page(HTMLParser):
    """What a browser would make of a page: its tags with their attributes, its text, and its headings."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def comparison_of(texts):
    questions = [Question(f"{text} {n}", text, text, (text,)) for n, text in enumerate(texts)]

    def ask(question):
        if question.endswith("1"):
            raise RuntimeError(question)
        return Response(answer=question[:-2], ids=(question[:-2],), usd=0.01, note=question)

    return compare({texts[0]: ask, "other": lambda question: ["none"]}, questions)


def report_of(texts):
    return html_report(comparison_of(texts), title=texts[0], facts=[texts[0]], warnings=texts)


def test_hostile_texts_are_shown_and_do_nothing():
    page = Page(report_of(HOSTILE))
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "section", "p", "ul", "li", "div",
        "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "span", "details", "summary", "svg", "line",
        "text", "circle", "rect",
    }  # fmt: skip
    assert not any(name.startswith("on") or name in ("href", "src") for _, attrs in page.tags for name in attrs)
    assert "<img src=x onerror=alert(1)>" in "".join(page.texts)


@hypothesis_settings(max_examples=40)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
def test_any_texts_give_the_same_tags_as_plain_ones(texts):
    assume(len({Question(f"{text} {n}").key for n, text in enumerate(texts)}) == len(texts))
    assume(texts[0].strip() not in ("", "other"))
    known = {tag for tag, _ in Page(report_of(HOSTILE)).tags}
    assert {tag for tag, _ in Page(report_of(texts)).tags} <= known


def test_the_page_needs_nothing_from_anywhere_and_forbids_itself_to_load_it():
    html = report_of(["a", "b"])
    assert not re.search(r"(?i)https?:|//[a-z]|@import|url\(", html)
    policy = dict(next(attrs for tag, attrs in Page(html).tags if attrs.get("http-equiv")))
    assert policy["content"].startswith("default-src 'none'")
    assert "prefers-color-scheme:dark" in html
    assert 'lang="en"' in html


def test_every_plot_says_what_it_shows_and_marks_differ_by_shape_and_word():
    html = report_of(["a", "b"])
    labels = [attrs["aria-label"] for tag, attrs in Page(html).tags if tag == "svg"]
    assert labels
    assert all("answers" in label and "found" in label and "n = " in label for label in labels)
    assert "● right answers" in html
    assert "■ what was needed was found" in html


def test_what_stopped_what_failed_and_what_was_not_measured_stand_in_the_report():
    stopped = compare(
        {"s": lambda question: Response(ids=("a",), usd=1.0)},
        [Question(f"q{n}", gold=("a",)) for n in range(3)],
        budget=1.5,
    )
    html = html_report(stopped, warnings=["Not read: scan.pdf. It holds no text."])
    assert "Stopped at the spending limit" in html
    assert "Not read: scan.pdf" in html
    assert "not measured: no model wrote an answer" in html
    failed = html_report(comparison_of(["a", "b"]))
    assert "RuntimeError: b 1" in failed
    assert "1 failures" in failed


def test_an_empty_comparison_still_makes_a_report():
    def interrupt(question):
        raise KeyboardInterrupt

    html = html_report(compare({"s": interrupt}, [Question("q", gold=("a",))]))
    assert "Interrupted after 0 of 1" in html


def test_a_report_that_exists_is_kept_and_the_new_one_goes_beside_it(tmp_path):
    comparison = comparison_of(["a", "b"])
    out = tmp_path / "Bericht für #1 (50 %)" / "report.html"
    first, second = write_report(comparison, out), write_report(comparison, out, title="The later one")
    assert (first.html, first.note) == (out, "")
    assert second.html.name == "report-2.html"
    assert second.csv.name == "report-2.csv"
    assert second.note == "report.html was there already and is kept; this report is report-2.html."
    assert "The later one" not in first.html.read_text(encoding="utf-8")
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "report-2.csv",
        "report-2.html",
        "report.csv",
        "report.html",
    ]


def test_a_write_that_fails_leaves_no_half_file(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.replace", lambda self, target: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "report.html", "text")
    assert list(tmp_path.iterdir()) == []


def test_the_csv_has_every_text_in_full_and_no_formula():
    comparison = comparison_of(["=HYPERLINK()", "w" * 10_000, "plain"])
    rows = list(csv.DictReader(io.StringIO(csv_report(comparison), newline="")))
    assert len(rows) == 6
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["question"] == "'=HYPERLINK() 0"
    assert rows[0]["expected"] == "'=HYPERLINK()"
    assert rows[2]["expected"] == "w" * 10_000
    assert {row["right"] for row in rows} == {"yes", "no", ""}


@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_verdicts_by_hand_come_back_for_any_question(tmp_path_factory, text):
    text = text.encode("utf-8", "replace").decode("utf-8")
    comparison = compare({"s": lambda question: "x"}, [Question(text, expected="y")])
    path = tmp_path_factory.mktemp("hand") / "report.csv"
    rows = list(csv.reader(io.StringIO(csv_report(comparison), newline="")))
    rows[1][-1] = "Right"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    assert read_hand(path) == {("s", text): True}


def test_a_verdict_that_is_none_is_refused_with_its_row(tmp_path):
    path = tmp_path / "report.csv"
    path.write_text("question,system,hand\na,s,right\nb,s,perhaps\n", encoding="utf-8")
    with pytest.raises(QuestionsError, match="row 3: hand is 'perhaps'"):
        read_hand(path)
    path.write_text("question,answer\na,b\n", encoding="utf-8")
    with pytest.raises(QuestionsError, match="no columns 'system' and 'hand'"):
        read_hand(path)
