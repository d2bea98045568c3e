"""Readers of formats: a heading there is a node here, tables keep their rows, and what is broken is said in a sentence.

DOCX, PDF and PageIndex are extras: skipped where they are missing, but failed where COURSE_REQUIRE_DOCUMENTS is set.
"""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.navigation import formats
from course_lib.navigation.documents import (
    DocumentError,
    available,
    decoded,
    from_pageindex,
    read,
    read_docx,
    read_html,
    read_markdown,
    read_pdf,
)
from course_lib.navigation.formats import DOCX, PAGEINDEX, PDF, READY, Entry, with_ids
from course_lib.navigation.outline import Outline, build
from course_lib.navigation.pdf import placed


def need(*names: str) -> None:
    """Skip where an extra is missing, or fail where it has been said that it must be there."""
    for name in names:
        if (said := available()[name]) != READY:
            if os.environ.get("COURSE_REQUIRE_DOCUMENTS"):
                pytest.fail(said)
            pytest.skip(said)


def put_together(outline: Outline) -> str:
    return "".join(outline.document[leaf.start : leaf.end] for leaf in outline.leaves())


# --- Markdown and HTML ---

GUIDE = "---\ntitle: x\n---\nHello.\n\n# The **guide**\n\n```\n# no heading\n```\n\n"
GUIDE += "Set-up\n------\n\nRun.\n\n###\n\n### [Deep](u) `x`\n\nEnd."


def test_markdown_headings_are_nodes_and_code_is_none() -> None:
    assert read_markdown(GUIDE).toc().splitlines() == [
        "[front] Opening: ---",
        "[1] The guide",
        "  [1.1] Set-up",
        "    [1.1.1] Deep x",
    ]


@given(st.text(alphabet="#=- \n\r\0ab`>*[]()<", max_size=200))
def test_no_character_of_a_markdown_text_is_lost(text: str) -> None:
    assert put_together(read_markdown(text)) == text


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_markdown_with_other_line_ends_has_its_headings_in_place(line_end: str) -> None:
    outline = read_markdown(GUIDE.replace("\n", line_end))
    assert outline.text("1.1").startswith("Set-up")


def test_a_markdown_agreement_is_referred_to_by_its_numbers() -> None:
    outline = read_markdown(
        "# 1. Fees\n\nSee Schedule B.\n\n## 1.1 Late\n\nSee Section 1.\n\n# Schedule B: Rates\n\n12%"
    )
    assert outline.ids() == ["1", "1.1", "B"]
    assert [found.targets for found in outline.references] == [("B",), ("1",)]


def test_numbered_lines_are_taken_where_a_markdown_text_has_no_headings() -> None:
    assert read_markdown("1. Fees\n\n1.1 Due date. Now.\n\n2. Law").ids() == ["1", "1.1", "2"]


PAGE = """<html><head><title>Lease</title><style>h1 {}</style></head><body><!-- no --><h1>Fees &amp; <i>rates</i></h1>
<p>Pay<br>now, <b>please</b>.</p><table><tr><th>Late</th><td>12 %</td></tr><tr><td>Early</td><td>0</td></tr></table>
<div><h2>Tax</h2>None.<script>alert("<h2>x</h2>")</script></div><h3> </h3></body></html>"""


def test_html_headings_are_nodes_and_tables_keep_their_rows() -> None:
    outline = read_html(PAGE)
    assert outline.toc() == "[1] Fees & rates\n  [1.1] Tax"
    assert outline.text("1").splitlines() == [
        "Fees & rates",
        "Pay",
        "now, please.",
        "Late | 12 %",
        "Early | 0",
        "Tax",
        "None.",
    ]
    assert outline.title == "Lease"
    assert outline.document[outline.node("1.1").start :].startswith("Tax")


@given(st.text(alphabet="<>/h1tdpr&;! a-\"'\n", max_size=200))
def test_any_html_has_an_outline(html: str) -> None:
    outline = read_html(html)
    assert put_together(outline) == outline.document


def test_html_nested_ten_thousand_deep_is_read() -> None:
    assert read_html("<div>" * 10_000 + "<h1>A</h1><h1>B</h1>").ids() == ["1", "2"]


# --- Ids ---


def test_ids_come_from_titles_where_those_are_numbered() -> None:
    titles = [
        ("Part 2", 1),
        ("2.1 Scope", 2),
        ("Preface", 1),
        ("A. Law", 2),
        ("1. Tax", 3),
        ("Schedule B", 1),
        ("1. Tax", 2),
    ]
    assert [head.id for head in with_ids([Entry(*title) for title in titles])] == [
        "2", "2.1", "n3", "n3.A", "n3.A.1", "B", "B.1",
    ]  # fmt: skip


# --- Bookmarks ---

PAGES = [
    "Cover\n\f",
    "Contents\nFees 3\nLaw 3\n\f",
    "Fees are due.\nAs the Law says.\nLaw\nGerman.\n\f",
    "Late\n\f",
    "\f",
]
STARTS = [sum(map(len, PAGES[:at])) for at in range(len(PAGES))]


def outlined(*entries: Entry) -> Outline:
    found, problems = placed(entries, PAGES, STARTS)
    return build("".join(PAGES), with_ids(found), "", STARTS, (), problems)


def test_a_bookmark_begins_where_its_title_stands_on_its_page() -> None:
    outline = outlined(
        Entry("Cover", 1, 0, 1), Entry("Fees", 1, 0, 3), Entry("Law", 2, 0, 3, 0.6), Entry("Late", 1, 0, 4)
    )
    assert outline.text("2.1") == "Law\nGerman."
    assert [(node.id, node.pages) for node in outline.walk()] == [
        ("1", (1, 2)),
        ("2", (3, 3)),
        ("2.1", (3, 3)),
        ("3", (4, 5)),
    ]
    assert outline.toc().splitlines()[2] == "  [2.1] Law (p. 3)"
    assert outline.check() == []


def test_a_title_that_is_not_on_its_page_begins_as_far_down_as_the_bookmark_says() -> None:
    outline = outlined(Entry("Rates", 1, 0, 3, 0.0), Entry("Statute", 1, 0, 3, 0.7), Entry("Late", 1, 0, 4))
    assert outline.text("2") == "Law\nGerman."


def test_bookmarks_to_no_page_or_past_the_end_are_left_out_and_said() -> None:
    outline = outlined(Entry("Fees", 1, 0, 3), Entry("Lost", 1), Entry("Far", 1, 0, 99), Entry("Late", 1, 0, 4))
    assert [node.title for node in outline.walk()] == ["Opening: Cover", "Fees", "Late"]
    assert [problem.sentence for problem in outline.remarks] == [
        "'Lost' points to no page and is left out.",
        "'Far' points to page 99 of 5 and is left out.",
    ]


def test_bookmarks_that_run_backwards_are_said_and_keep_their_pages() -> None:
    outline = outlined(Entry("Late", 1, 0, 4), Entry("Fees", 1, 0, 3), Entry("Cover", 1, 0, 1))
    assert [(node.title, node.pages) for node in outline.walk()] == [
        ("Cover", (1, 2)),
        ("Fees", (3, 3)),
        ("Late", (4, 5)),
    ]
    assert [problem.sentence for problem in outline.remarks] == [
        "'Fees' on page 3 comes after 'Late' on page 4.",
        "'Cover' on page 1 comes after 'Fees' on page 3.",
    ]


def test_a_bookmark_without_a_title_is_named_by_what_stands_there() -> None:
    outline = outlined(Entry("", 1, 0, 3), Entry("", 1, 0, 5), Entry("Late", 1, 0, 4))
    assert [node.title for node in outline.walk()][1] == "(untitled) Fees are due."
    assert "has no title" in outline.remarks[0].sentence


def test_bookmarks_called_page_are_no_structure() -> None:
    outline = outlined(*(Entry(f"Page {number}", 1, 0, number) for number in range(1, 6)))
    assert outline.ids() == ["document"]
    assert (outline.verdict or "").startswith("5 of 5 headings read like 'Page 5'")


@given(
    st.lists(
        st.builds(
            Entry,
            st.text(max_size=5),
            st.integers(0, 4),
            st.just(0),
            st.integers(-1, 7) | st.none(),
            st.none() | st.floats(0, 1),
        )
    )
)
def test_any_bookmarks_make_a_sound_tree(entries: list[Entry]) -> None:
    outline = outlined(*entries)
    assert put_together(outline) == outline.document
    assert {problem.kind for problem in outline.check()} <= {"source", "repeated title"}


# --- PageIndex ---

TREE = {
    "doc_name": "lease.pdf",
    "structure": [
        {"title": "Fees", "node_id": "0001", "start_index": 3, "end_index": 4, "summary": "What is due.", "nodes": [
            {"title": "Fees (intro)", "node_id": "0002", "start_index": 3, "end_index": 3},
            {"title": "Late", "node_id": "0003", "start_index": 4, "end_index": 4},
        ]},
    ],
}  # fmt: skip


def test_a_tree_of_pageindex_has_its_pages_and_summaries() -> None:
    outline = from_pageindex(TREE, PAGES)
    assert outline.toc(summaries=True).splitlines() == [
        "[front] Opening: Cover (p. 1)",
        "[1] Fees (p. 3): What is due.",
        "  [1.1] Late (p. 4)",
    ]
    assert put_together(outline) == "".join(PAGES)
    assert outline.title == "lease.pdf"


def test_a_tree_of_pageindex_without_pages_has_the_texts_it_brings() -> None:
    outline = from_pageindex([{"title": "Fees", "text": "Due now."}, {"title": "Law", "nodes": [{"title": ""}]}])
    assert outline.text("1") == "Due now."
    assert outline.toc() == "[1] Fees\n[2] Law\n  [2.1] (untitled)"


def test_a_tree_of_pageindex_that_runs_backwards_is_said() -> None:
    outline = from_pageindex(
        [{"title": "Fees", "start_index": 4, "end_index": 2}, {"title": "Law", "start_index": "x"}], PAGES
    )
    assert [problem.sentence for problem in outline.remarks] == [
        "'Fees' runs from page 4 back to page 2.",
        "'Law' points to no page and is left out.",
    ]


@pytest.mark.parametrize("tree", [3, {"nodes": []}, ["title"], {"structure": "x"}, None])
def test_what_is_no_tree_of_pageindex_is_refused_in_a_sentence(tree: object) -> None:
    with pytest.raises(DocumentError, match="no tree of PageIndex"):
        from_pageindex(tree)


# --- Files ---


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    folder = tmp_path / "Verträge #1 100%?" if os.name != "nt" else tmp_path / "Verträge #1 100%"
    folder.mkdir()
    files = {"a.md": "# A\n\n# B", "b.HTM": "<h1>A</h1><h1>B</h1>", "c.txt": "1. A\n\n2. B", "d": "1. A\n\n2. B"}
    files["e.json"] = json.dumps([{"title": "A"}, {"title": "B"}])
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        assert read(folder / name).ids() == ["1", "2"], name


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"x\.json is no JSON"):
        read(tmp_path / "x.json")
    with pytest.raises(DocumentError, match=r"none\.md cannot be opened"):
        read(tmp_path / "none.md")


@given(st.binary(max_size=100))
def test_any_bytes_are_some_text(raw: bytes) -> None:
    assert isinstance(decoded(raw), str)


def test_a_missing_package_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda module: None)
    for reader, package in ((read_pdf, "pypdf"), (read_docx, "python-docx")):
        with pytest.raises(DocumentError, match=f"needs {package}: run `%pip install {package}` in a cell of its own"):
            reader(b"")
    assert set(available()) == {"Markdown", "HTML", "DOCX", "PDF", "PageIndex"}


# --- DOCX ---


def word_file() -> bytes:
    import docx

    document = docx.Document()
    document.add_paragraph("Between A and B.")
    document.add_heading("Fees", 1)
    table = document.add_table(rows=2, cols=3)
    for row, words in zip(table.rows, (("Late", "Late", "12 %"), ("Early", "x", "0")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Late"
    document.add_heading("Tax", 2)
    document.add_paragraph("None.")
    raw = io.BytesIO()
    document.save(raw)
    return raw.getvalue()


def test_word_headings_are_nodes_and_tables_keep_their_rows(tmp_path: Path) -> None:
    need(DOCX)
    (tmp_path / "lease.docx").write_bytes(word_file())
    outline = read(tmp_path / "lease.docx")
    assert outline.toc().splitlines() == ["[front] Opening: Between A and B.", "[1] Fees", "  [1.1] Tax"]
    assert "Late | 12 %\nEarly | x | 0" in outline.text("1")
    assert put_together(outline) == outline.document


def test_a_word_agreement_without_styles_is_read_by_its_numbers() -> None:
    need(DOCX)
    import docx

    document, raw = docx.Document(), io.BytesIO()
    for line in ("1. Fees", "1.1 Due date. Now.", "SCHEDULE A", "Rates"):
        document.add_paragraph(line)
    document.save(raw)
    assert read_docx(raw.getvalue()).ids() == ["1", "1.1", "A"]


COUNTED = """<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum
w:abstractNumId="90"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/>
<w:lvlText w:val="Article %1"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/>
<w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
<w:num w:numId="90"><w:abstractNumId w:val="90"/></w:num></w:numbering>"""


def test_numbers_that_word_counts_itself_are_written_out() -> None:
    need(DOCX)
    import docx
    from docx.oxml import parse_xml

    document, raw = docx.Document(), io.BytesIO()
    numbering = document.part.numbering_part.element
    abstract, num = parse_xml(COUNTED)
    numbering.insert(0, abstract)
    numbering.append(num)
    for text, level in (("FEES", 0), ("Due date", 1), ("Late", 1), ("LAW", 0), ("Courts", 1), ("See Article I.", None)):
        properties = document.add_paragraph(text)._p.get_or_add_pPr()
        if level is not None:
            number = properties.get_or_add_numPr()
            number.get_or_add_numId().val = 90
            number.get_or_add_ilvl().val = level
    document.save(raw)
    lines = [line for line in read_docx(raw.getvalue()).document.splitlines() if line]
    assert lines == ["Article I FEES", "1.1 Due date", "1.2 Late", "Article II LAW", "2.1 Courts", "See Article I."]


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"no zip"])
def test_what_is_no_word_file_is_refused_in_a_sentence(raw: bytes) -> None:
    need(DOCX)
    with pytest.raises(DocumentError, match="cannot be read as DOCX"):
        read_docx(raw)


# --- PDF ---


def pdf_file(pages: list[list[str]], marks: list[tuple[str, int | None, int]]) -> bytes:
    """Return a PDF with these lines on its pages and bookmarks (title, page from 0, depth)."""
    from pypdf import PdfReader, PdfWriter

    parts = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    parts.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    parts.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for at, lines in enumerate(pages):
        drawn = "".join(
            f"BT /F1 12 Tf 50 {780 - 20 * row} Td ({line}) Tj ET\n" for row, line in enumerate(lines)
        ).encode()
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        parts.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {font} /Contents {5 + 2 * at} 0 R >>".encode()
        )
        parts.append(b"<< /Length %d >>\nstream\n" % len(drawn) + drawn + b"endstream")
    raw, offsets = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        offsets.append(len(raw))
        raw += b"%d 0 obj\n" % number + part + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets).encode()
    raw += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1) + table
    raw += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(parts) + 1, raw.index(b"xref\n"))
    writer, out, above = PdfWriter(PdfReader(io.BytesIO(raw))), io.BytesIO(), dict[int, object]()
    for title, page, depth in marks:
        above[depth] = writer.add_outline_item(title=title, page_number=page, parent=above.get(depth - 1))
    writer.write(out)
    return out.getvalue()


PRINTED = [
    ["Cover", "i"],
    ["Fees", "Late | 12", "1"],
    ["Tax", "None.", "2"],
    ["Law", "German.", "3"],
    ["End", "x", "4"],
]


def test_bookmarks_of_a_pdf_are_nodes_on_their_pages(tmp_path: Path) -> None:
    need(PDF)
    marks = [("Fees", 1, 0), ("Tax", 2, 1), ("Law", 3, 0), ("", 4, 0), ("Lost", None, 0)]
    (tmp_path / "lease.pdf").write_bytes(pdf_file(PRINTED, marks))
    outline = read(tmp_path / "lease.pdf")
    assert [(node.id, node.pages) for node in outline.walk()] == [
        ("front", (1, 1)), ("1", (2, 3)), ("1.1", (3, 3)), ("2", (4, 4)), ("3", (5, 5)),
    ]  # fmt: skip
    assert outline.text("1.1") == "Tax\nNone.\n2"
    said = " ".join(problem.sentence for problem in outline.remarks)
    assert "'Lost' points to no page" in said
    assert "Page 10 of the file is printed as page 9, on 4 of 5 pages" in said
    assert put_together(outline) == outline.document


def test_a_pdf_without_bookmarks_is_read_by_its_numbers() -> None:
    need(PDF)
    pages = [["1. Fees", "Due."], ["2. Law", "German.", "2.1 Courts. Hamburg."]]
    outline = read_pdf(pdf_file(pages, []), layout=False)
    assert outline.ids() == ["1", "2", "2.1"]
    assert outline.node("2.1").pages == (2, 2)


def test_a_pdf_without_structure_is_a_verdict() -> None:
    need(PDF)
    outline = read_pdf(pdf_file([["words", "more words"]] * 30, []), layout=False)
    assert outline.verdict == "No headings in 30 pages: there is nothing to navigate by. Chunk it instead."
    scan = read_pdf(pdf_file([[]] * 3, [("Fees", 0, 0), ("Law", 1, 0)]), layout=False)
    assert "OCR" in (scan.verdict or "")


def test_a_pdf_without_bookmarks_is_read_by_its_layout() -> None:
    need(PDF, PAGEINDEX)
    outline = read_pdf(pdf_file([["words", "more words"]] * 3, []))
    assert put_together(outline) == outline.document
    assert outline.verdict is None or "%pip" not in outline.verdict


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.4", b"no pdf"])
def test_what_is_no_pdf_is_refused_in_a_sentence(raw: bytes) -> None:
    need(PDF)
    with pytest.raises(DocumentError, match="cannot be read as PDF"):
        read_pdf(raw)


def test_a_title_above_numbered_sections_does_not_hide_their_numbers():
    document = "# Travel policy\n\n## 7. Groups\n\nTen or more.\n\n## 8. Booking\n\nAs in Section 7.\n"
    outline = read_markdown(document)
    (reference,) = [one for one in outline.references if one.printed.lower() == "section 7"]
    assert [outline.node(id).title for id in reference.targets] == ["7. Groups"]
