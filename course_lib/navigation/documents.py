"""The outline of any file, by its ending: Markdown, HTML, DOCX, PDF, PageIndex's JSON, and plain text.

Each format has a reader of its own that turns it into one text and the headings in it. DOCX and PDF need packages of
the extra `documents`, the layout tree of a PDF without bookmarks that of the extra `pageindex`: `available()` says what
is missing.
"""

import json
from pathlib import Path

from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.formats import DocumentError, available
from course_lib.navigation.markup import read_html, read_markdown
from course_lib.navigation.outline import Outline
from course_lib.navigation.pdf import from_pageindex, read_pdf
from course_lib.navigation.word import read_docx

__all__ = [
    "DocumentError", "available", "decoded", "from_pageindex", "read", "read_agreement", "read_docx", "read_html",
    "read_markdown", "read_pdf",
]  # fmt: skip


def decoded(raw: bytes) -> str:
    """Return bytes as text, line ends untouched: by their mark, else as UTF-8, else as Western European.

    >>> decoded("Gebühr".encode("utf-16")), decoded("Gebühr".encode("latin-1"))
    ('Gebühr', 'Gebühr')
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def read(path: Path, title: str = "") -> Outline:
    """Return the outline of a file by its ending: .md, .html, .docx, .pdf, PageIndex's .json; anything else as text.

    Raises DocumentError for a file that is not there, is not what its ending says, or needs a package that is missing.
    """
    ending = path.suffix.lower()
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name} cannot be opened ({error.strerror}). Check the path.") from error
    if ending == ".pdf":
        return read_pdf(raw, title)
    if ending == ".docx":
        return read_docx(raw, title)
    if ending == ".json":
        try:
            return from_pageindex(json.loads(decoded(raw)), title=title)
        except json.JSONDecodeError as error:
            raise DocumentError(f"{path.name} is no JSON ({error}).") from error
    readers = {".md": read_markdown, ".markdown": read_markdown, ".html": read_html, ".htm": read_html}
    return readers.get(ending, read_agreement)(decoded(raw), title)
