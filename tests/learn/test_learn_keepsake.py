import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.learn.keepsake import PAGE_STYLE, html_page, keepsake, page_to_keep
from course_lib.learn.look import to_text
from course_lib.learn.record import Record

HOSTILE = '<img src=x onerror=alert(1)>"</script>'
SHEET = [("Symptom", "Move", "Cost"), ("A code is not found", "BM25", "an index")]


@pytest.fixture
def record(tmp_path):
    made = Record(tmp_path / "r.json")
    for key, answer, confidence in (("00_start_here/a", "x", "sure"), ("move1_bm25/b", "y", "a guess")):
        question = f"What about {key}?"
        made.add("prediction", key, question=question, answer=[answer], confidence=confidence, after_result=False)
        made.add("reveal", key, question=question, actual="y", right=["y"])
    made.add("exercise", "move1_bm25/e", title="Double it", outcome="right")
    return made


def sections(page):
    return re.findall(r"<h2>(.*?)</h2>", page)


def test_the_page_holds_predictions_confidence_misses_exercises_and_the_cheat_sheet(record):
    page = keepsake(record, SHEET)
    assert sections(page) == [
        "What being sure was worth",
        "What to revisit",
        "Cheat sheet",
        "What you predicted, and what came out",
        "Your exercises",
    ]
    text = to_text(page)
    assert "What about 00_start_here/a? x sure y ○ missed" in text
    assert "What about move1_bm25/b? y a guess y ● right" in text
    assert "sure 0 of 1 0.00 0.00 to 0.79" in text
    assert "○ sure, and missed: What about 00_start_here/a?" in text
    assert "A code is not found BM25 an index" in text
    assert "Double it move1_bm25 1 ● solved none" in text


def test_the_same_record_gives_the_same_page_whenever_it_is_made(record):
    assert keepsake(record, SHEET) == keepsake(record, SHEET)
    day = record.events()[0]["at"][:10]
    assert "From your record" in to_text(keepsake(record))
    assert day in to_text(keepsake(record))


def test_an_empty_record_makes_a_page_with_the_cheat_sheet(tmp_path):
    page = keepsake(Record(tmp_path / "r.json"), SHEET)
    assert sections(page) == ["Cheat sheet"]
    assert "Your record is empty" in page


def test_the_file_is_where_it_was_asked_for_and_says_so(record, tmp_path):
    folder = tmp_path / "Mein Kurs ü #1 50%"
    folder.mkdir()
    said = page_to_keep(record, folder / "my course.html", SHEET)
    assert str(folder / "my course.html") in said
    assert [path.name for path in folder.iterdir()] == ["my course.html"]
    assert (folder / "my course.html").read_text(encoding="utf-8") == keepsake(record, SHEET)


def test_a_file_that_is_there_is_replaced_only_when_asked_to(record, tmp_path):
    thesis = tmp_path / "thesis.html"
    thesis.write_text("years of work", encoding="utf-8")
    with pytest.raises(FileExistsError, match="replace=True"):
        page_to_keep(record, thesis)
    assert thesis.read_text(encoding="utf-8") == "years of work"
    page_to_keep(record, thesis, replace=True)
    assert thesis.read_text(encoding="utf-8") == keepsake(record)


def test_a_folder_in_its_place_and_a_missing_one_are_said(record, tmp_path):
    with pytest.raises(FileExistsError, match=r"Name a file in it, such as .*my_course\.html"):
        page_to_keep(record, tmp_path, replace=True)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        page_to_keep(record, tmp_path / "nowhere" / "page.html")


def test_a_cheat_sheet_with_a_short_row_is_refused_before_anything_is_written(record, tmp_path):
    with pytest.raises(ValueError, match=r"cheat sheet: 1 \(alone\)\. Its headings: 3"):
        page_to_keep(record, tmp_path / "page.html", [*SHEET, ("alone",)])
    assert not (tmp_path / "page.html").exists()


def test_the_page_asks_no_other_place_for_anything(record):
    page = keepsake(record, SHEET)
    assert "default-src 'none'" in page
    assert "script-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"https?:|src=|url\(|@import|<link", page)


def test_links_are_there_only_where_the_caller_knows_the_notebooks(record):
    assert "<a " not in keepsake(record)
    assert '<a href="move1_bm25.ipynb">' in keepsake(record, notebooks="")


def test_every_table_has_a_caption_and_every_heading_follows_the_one_above(record):
    page = keepsake(record, SHEET)
    assert page.count("<table>") == page.count("<caption>") == 5
    levels = [int(level) for level in re.findall(r"<h(\d)>", page)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert 'lang="en"' in page


def luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


GROUNDS = re.findall(r"--ink:(#\w+);--paper:(#\w+);--line:(#\w+);--link:(#\w+)", PAGE_STYLE)


def test_light_dark_and_paper_each_have_colours():
    assert len(GROUNDS) == 3
    assert "prefers-color-scheme:dark" in PAGE_STYLE
    assert "@media print" in PAGE_STYLE


@pytest.mark.parametrize(("ink", "paper", "line", "link"), GROUNDS)
def test_text_links_lines_and_accents_stand_out_from_their_ground(ink, paper, line, link):
    assert contrast(ink, paper) >= 7
    assert contrast(link, paper) >= 4.5
    accents = re.findall(r"border-color:(#\w+)", PAGE_STYLE)
    assert len(accents) == 3
    assert min(contrast(colour, paper) for colour in [line, *accents]) >= 3


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.names = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        assert "onerror" not in dict(attrs)


def test_hostile_text_is_inert(tmp_path):
    record = Record(tmp_path / "r.json")
    details = {"answer": [HOSTILE], "confidence": "sure", "after_result": False}
    record.add("prediction", f"{HOSTILE}/q", question=HOSTILE, **details)
    record.add("reveal", f"{HOSTILE}/q", question=HOSTILE, actual="", right=["y"])
    record.add("exercise", f"{HOSTILE}/e", title=HOSTILE, outcome="wrong")
    page = keepsake(record, [(HOSTILE,), (HOSTILE,)], notebooks="")
    assert "img" not in Tags(page).names
    assert "script" not in Tags(page).names


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(codec=None), max_size=30), st.text(st.characters(codec=None), max_size=30))
def test_any_text_makes_a_page_that_can_be_written(tmp_path_factory, title, cell):
    folder = tmp_path_factory.mktemp("page")
    record = Record(folder / "r.json")
    record.add("exercise", title, title=title, outcome="wrong")
    page_to_keep(record, folder / "page.html", [("a",), (cell,)])
    assert Tags((folder / "page.html").read_text(encoding="utf-8")).names.count("table") == 2


def test_a_page_without_a_script_allows_none_and_one_with_a_script_allows_that_one():
    assert "script-src 'none'" in html_page("t", "")
    assert "script-src 'sha256-47DEQ" not in html_page("t", "")  # the hash of nothing
    assert "<script>1</script>" in html_page("t", "", script="1")
