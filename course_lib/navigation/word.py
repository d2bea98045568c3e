"""Outlines of Word documents (extra `documents`): heading styles, outline levels, tables as rows."""

import io
import re
from pathlib import Path
from typing import Any

from course_lib.navigation.formats import DOCX, DocumentError, Entry, called, require, structured
from course_lib.navigation.outline import Outline
from course_lib.navigation.word_numbers import Numbers


def read_docx(source: Path | bytes, title: str = "") -> Outline:
    """Return the outline of a Word document by its heading styles or outline levels; else by numbered lines.

    Numbers that Word counts itself are written out, or "Section 7.3" would lead nowhere. Tables stand in the text where
    they stand in the document, a line for each row: "Late | 12%". Raises DocumentError for a file that is none, or
    where python-docx is missing.
    """
    require(DOCX)
    import docx

    try:
        document = docx.Document(io.BytesIO(source) if isinstance(source, bytes) else str(source))
        blocks = list(document.iter_inner_content())
    except Exception as error:  # python-docx lets through what zip and XML raise
        raise DocumentError(f"{called(source)} cannot be read as DOCX ({error}). Save it anew as .docx.") from error
    pieces: list[str] = []
    entries: list[Entry] = []
    length = 0
    numbers = Numbers(document)
    for block in blocks:
        text = _block_text(block)
        if not hasattr(block, "rows") and (number := numbers.of(block)):
            text = f"{number} {text}"
        level = _heading_level(block)
        if level and text.strip():
            entries.append(Entry(" ".join(text.split()), level, length))
        pieces.append(f"{text}\n\n")
        length += len(pieces[-1])
    return structured("".join(pieces), entries, title or (document.core_properties.title or "").strip())


def _block_text(block: Any) -> str:
    """Return a paragraph's text, or a table's: a line for each row, merged cells once."""
    if not hasattr(block, "rows"):
        return str(block.text)
    lines = []
    for row in block.rows:
        cells = list({id(cell._tc): cell for cell in row.cells}.values())
        lines.append(" | ".join(" ".join(_cell_text(cell).split()) for cell in cells))
    return "\n".join(lines)


def _cell_text(cell: Any) -> str:
    return " ".join(_block_text(inner).replace("\n", "; ") for inner in cell.iter_inner_content())


def _heading_level(block: Any) -> int:
    """Return a paragraph's depth as a heading, 0 for none: by its style, or the level that it or the style sets."""
    if hasattr(block, "rows"):
        return 0
    set_level = block._p.xpath("./w:pPr/w:outlineLvl/@w:val")
    style = block.style
    while style is not None and not set_level:
        if named := re.fullmatch(r"[Hh]eading ([1-9])", style.name or ""):
            return int(named.group(1))
        set_level = style.element.xpath("./w:pPr/w:outlineLvl/@w:val")
        style = style.base_style
    return int(set_level[0]) + 1 if set_level and set_level[0] in "012345678" else 0
