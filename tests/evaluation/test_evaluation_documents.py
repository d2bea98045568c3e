from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.evaluation.documents import (
    CHUNK,
    GENERATOR,
    Document,
    FolderError,
    Section,
    blank_pages,
    chunks_of,
    corpus_of,
    read_folder,
    sections_of,
)
from course_lib.navigation.outline import build, whole
from course_lib.navigation.tree import Heading

FEES = "# Fees\n\nFees are due in 30 days.\n\n## Late payment\n\nInterest is 12 % a year.\n\n# Term\n\nThree years.\n"


def folder_of(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def test_a_folder_gives_sections_with_their_heading_path(tmp_path):
    corpus = read_folder(folder_of(tmp_path, Verträge_dot_md=FEES, sub__b_dot_txt="Plain words alone."))
    late = next(section for section in corpus.sections if "12 %" in section.text)
    assert late.path == ("Verträge.md", "Fees", "Late payment")
    assert late.id == "Verträge.md#1.1"
    assert {section.document for section in corpus.sections} == {"Verträge.md", "sub/b.txt"}
    assert any("sub/b.txt has no structure" in remark for remark in corpus.remarks)


def test_what_cannot_be_read_is_listed_with_the_reason(tmp_path):
    folder = folder_of(
        tmp_path,
        a_dot_md=FEES,
        b_dot_xlsx=b"PK",
        c_dot_txt=b"ab\0cd",
        d_dot_txt="  \n",
        e_dot_pdf=b"no pdf",
        _dot_git="x",
    )
    corpus = read_folder(folder)
    unread = {one.name: one.why for one in corpus.unread}
    assert set(unread) == {"b.xlsx", "c.txt", "d.txt", "e.pdf"}
    assert "no reader for '.xlsx'" in unread["b.xlsx"]
    assert "NUL bytes" in unread["c.txt"]
    assert "holds no text" in unread["d.txt"]
    assert all(unread.values())
    assert corpus.remarks[0] == "Hidden files were passed over: .git, 1 in all."


def test_a_reader_that_breaks_costs_its_own_document_only(tmp_path):
    def reader(path):
        if path.name == "a.md":
            raise RecursionError
        return build(FEES, [Heading("1", "Fees", 1, 0), Heading("2", "Term", 1, FEES.index("# Term"))])

    corpus = read_folder(folder_of(tmp_path, a_dot_md=FEES, b_dot_md=FEES), reader=reader)
    assert [(one.name, one.why) for one in corpus.unread] == [("a.md", "RecursionError")]
    assert [section.id for section in corpus.sections] == ["b.md#1", "b.md#2"]


def test_a_link_is_not_followed(tmp_path):
    folder = folder_of(tmp_path / "in", a_dot_md=FEES)
    secret = folder_of(tmp_path / "out", secret_dot_txt="password")
    try:
        (folder / "b.txt").symlink_to(secret / "secret.txt")
    except OSError:
        pytest.skip("Links cannot be made here.")
    corpus = read_folder(folder)
    assert [one.name for one in corpus.unread] == ["b.txt"]
    assert not any("password" in section.text for section in corpus.sections)


def test_nothing_there_and_nothing_readable_are_said(tmp_path):
    with pytest.raises(FolderError, match="There is no folder"):
        read_folder(tmp_path / "nothing")
    with pytest.raises(FolderError, match="no document that could be read\\."):
        read_folder(tmp_path)
    with pytest.raises(FolderError, match=r"(?s)read\..*b\.xlsx: There is no reader"):
        read_folder(folder_of(tmp_path, b_dot_xlsx=b"PK"))


def test_hidden_folders_are_passed_over_as_a_whole(tmp_path):
    corpus = read_folder(folder_of(tmp_path, a_dot_md=FEES, _dot_git__x_dot_md=FEES))
    assert [one.name for one in corpus.documents] == ["a.md"]
    assert corpus.remarks == ("Hidden files were passed over: .git, 1 in all.",)


def test_what_belongs_to_the_comparison_is_no_document(tmp_path):
    folder = folder_of(tmp_path, a_dot_md=FEES, q_dot_md=FEES, r_dot_html=f"<html>{GENERATOR}<p>answers")
    corpus = read_folder(folder, leave_out=[tmp_path / "q.md"])
    assert ([one.name for one in corpus.documents], corpus.unread) == (["a.md"], ())


def test_one_file_is_a_folder_of_one(tmp_path):
    folder_of(tmp_path, a_dot_md=FEES, b_dot_md=FEES)
    assert [one.name for one in read_folder(tmp_path / "a.md").documents] == ["a.md"]


def test_a_document_without_structure_is_cut_so_that_a_find_means_something():
    flat = Document("flat.txt", whole("Words. " * 2000, "", "no headings"))
    sections = sections_of(flat)
    assert [section.id for section in sections][:2] == ["flat.txt#part1", "flat.txt#part2"]
    assert len(sections) == 5
    assert max(len(section.text) for section in sections) <= 3000


def test_a_long_section_is_cut_by_its_pages():
    text = "1 Long\n" + "Words here. " * 1000
    starts = (0, 4000, 8000)
    outline = build(text, [Heading("1", "Long", 1, 0), Heading("2", "End", 1, len(text) - 5)], page_starts=starts)
    ids = [section.id for section in sections_of(Document("a.pdf", outline))]
    assert ids == ["a.pdf#1/p1", "a.pdf#1/p2", "a.pdf#1/p3", "a.pdf#2"]


def test_pages_without_text_are_said():
    outline = SimpleNamespace(document="ab\f\f\fcd", page_starts=(0, 3, 4))
    assert blank_pages(outline) == "1 of 3 pages hold no text and were not read: 2."


WORDS = st.text(alphabet="ab .\n", max_size=400)


@given(WORDS, st.integers(100, 150))
def test_chunks_lose_no_word_and_are_never_too_long(text, size):
    pieces = chunks_of(Section("a#1", ("A",), text.strip()), size)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(text.split())
    assert all(0 < len(piece.text) <= size for piece in pieces)
    assert len({piece.id for piece in pieces}) == len(pieces)


@given(st.text(), st.lists(st.integers(0, 50), max_size=5, unique=True))
def test_every_character_of_any_document_is_in_a_section(text, places):
    heads = [Heading(str(n), "title", 1, at) for n, at in enumerate(sorted(places)) if at < len(text)]
    sections = sections_of(Document("d", build(text, heads)))
    assert "".join("".join(section.text for section in sections).split()) == "".join(text.split())
    assert len({section.id for section in sections}) == len(sections)


def test_the_state_of_a_corpus_changes_with_its_texts_and_its_chunks():
    texts = [Document("a", whole(text, "", "flat")) for text in ("one " * 500, "two " * 500)]
    states = {corpus_of([texts[0]]).state, corpus_of([texts[1]]).state, corpus_of([texts[0]], chunk=500).state}
    assert len(states) == 3
    assert corpus_of([texts[0]]).state == corpus_of([texts[0]], CHUNK).state
    with pytest.raises(ValueError, match="chunk is 5"):
        corpus_of(texts, chunk=5)
