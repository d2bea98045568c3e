"""Files as outlines: the agreement written as a Word document, and a tree as PageIndex writes it."""

from pathlib import Path
from typing import Any

from course_lib.corpora import agreement
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.navigation.documents import DocumentError, available, read
from course_lib.navigation.outline import Outline

PRE = '<pre style="word-break:normal">'


PARTS = {"7.1": "7 Fees", "9.1": "9 Termination"}  # a heading that stands above a section


def make_docx(path: Path) -> bool:
    """Write the agreement as a Word document, with headings for its two parts as well and its rates as a table.

    Returns False, and writes nothing, where python-docx is missing.
    """
    try:
        import docx
    except ImportError:
        return False
    document = docx.Document()
    document.core_properties.title = "Services agreement"
    for section in agreement.sections():
        if section.id in PARTS:
            document.add_heading(PARTS[section.id], level=1)
        name = section.title if section.id in "AB" else f"{section.id} {section.title}"
        document.add_heading(name, level=1 + section.id.count("."))
        if section.id == "B":
            _rates(document, section.text)
        else:
            document.add_paragraph(section.text)
    document.save(str(path))
    return True


def _rates(document: Any, text: str) -> None:
    """Write each sentence "what: how much." as a row."""
    rows = [line.split(": ", 1) for line in text.rstrip(".").split(". ")]
    made = document.add_table(rows=len(rows), cols=2)
    for row, cells in zip(made.rows, rows, strict=True):
        for cell, words in zip(row.cells, cells, strict=True):
            cell.text = words


def show_outline(made: Outline, id: str | None = None) -> Shown:
    """Return the contents of an outline or its verdict, the text of one node, and what its check says."""
    pieces = [paragraph(made.verdict, "missed")] if made.verdict else []
    pieces.append(f"{PRE}{escape(made.toc())}</pre>")
    if id:
        pieces.append(f"<p><b>{escape(id)}</b></p>{PRE}{escape(made.text(id))}</pre>")
    found = made.check()
    pieces.append(paragraph("Check: nothing found." if not found else f"Check: {'; '.join(map(str, found))}"))
    return Shown(card(made.title, *pieces))


def show_file(path: Path, id: str | None = None) -> Shown:
    """Return the outline of a file as `show_outline` shows it, or the sentence that says why there is none."""
    try:
        return show_outline(read(path), id)
    except DocumentError as error:
        word = available()["DOCX"]  # a package that is missing explains why the file was not even made
        return Shown(card("", paragraph(str(error) if word == "ready" else word, "missed")))


def show_formats() -> Shown:
    """Return which kinds of file can be read here."""
    rows = [
        [escape(name), mark("retrieved", "ready") if said == "ready" else mark("missed", said)]
        for name, said in available().items()
    ]
    return Shown(card("", table(["Format", "Here"], rows)))


PAGEINDEX = {
    "doc_name": "agreement.pdf",
    "structure": [
        {"title": "7 Fees", "node_id": "0001", "start_index": 3, "end_index": 5, "summary": "What is owed, and when.",
         "nodes": [
             {"title": "7.3 Late payment", "node_id": "0002", "start_index": 5, "end_index": 5,
              "summary": "Interest on amounts that are late, at the rate of Schedule B."},
         ]},
        {"title": "Schedule B: Rates", "node_id": "0003", "start_index": 14, "end_index": 14,
         "summary": "12% per year on overdue amounts."},
    ],
}  # fmt: skip
