import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib.corpora import agreement
from course_lib.dense import CachedEncoder, DenseIndex, dense_top, load_encoder, read_vectors, save_vectors, text_key
from course_lib.minilm import MiniLM
from course_lib.retrieval import outcome, rank_of

TOP_SIX = [("7.1", 0.585), ("7.3", 0.466), ("7.2", 0.425), ("B", 0.36), ("8", 0.359), ("A", 0.268)]
CHUNKS = {section.id: section.chunk for section in agreement.sections()}


class CountingEncoder:
    """A stand-in that counts what it is asked; each text's vector says how long the text is."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        return np.array([np.eye(384, dtype=np.float32)[len(text) % 384] for text in texts]).reshape(len(texts), 384)


@pytest.fixture(params=["cached vectors", "the model itself"])
def index(request):
    vectors = agreement.VECTORS if request.param == "cached vectors" else None
    return DenseIndex(CHUNKS, load_encoder(vectors, backend="numpy"))


def test_the_top_six_are_the_published_ones(index):
    hits = index.search(agreement.LATE_PAYMENT.text, k=6)
    assert [(hit.id, round(hit.score, 3)) for hit in hits] == TOP_SIX


def test_schedule_b_is_missed_at_three_and_reached_at_four_by_0_0003(index):
    hits = index.search(agreement.LATE_PAYMENT.text, k=14)
    ids = [hit.id for hit in hits]
    assert "B" not in ids[:3]
    assert "B" in ids[:4]
    assert round(hits[3].score - hits[4].score, 4) == 0.0003


def test_the_miss_is_named_by_pool_and_cut_off(index):
    rank = rank_of([hit.id for hit in index.search(agreement.LATE_PAYMENT.text, k=14)], "B")
    assert outcome(rank, pool=3, k=3) == "not retrieved"
    assert outcome(rank, pool=50, k=3) == "ranked out"


def test_section_8_comes_first_for_suspension_and_two_sections_suffice_for_termination(index):
    first = index.search("Can the provider suspend the service if we pay 50 days late?", k=1)[0]
    assert (first.id, round(first.score, 3)) == ("8", 0.735)
    three = {hit.id for hit in index.search("What happens to our data if we terminate for convenience?", k=3)}
    assert {"9.1", "4"} <= three


def test_a_hit_carries_its_text():
    hit = DenseIndex(CHUNKS, load_encoder(agreement.VECTORS)).search("late payment", k=1)[0]
    assert hit.text == CHUNKS[hit.id]


def test_a_cut_off_above_the_corpus_returns_the_corpus(index):
    assert len(index.search("late payment", k=1000)) == 14


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question_is_no_evidence(index, question):
    assert index.search(question) == []


def test_an_empty_corpus_is_no_evidence():
    assert DenseIndex({}, CountingEncoder()).search("anything") == []


def test_a_cut_off_below_one_is_refused_in_a_sentence(index):
    with pytest.raises(ValueError, match="counted from 1"):
        index.search("late payment", k=0)


def test_equal_scores_keep_the_order_of_the_documents():
    rows = np.float32([[1, 0], [0, 1], [1, 0]])
    assert [row for row, _ in dense_top(np.float32([1, 0]), rows, k=3)] == [0, 2, 1]


def test_the_model_is_not_loaded_for_the_courses_own_texts():
    encoder = load_encoder(agreement.VECTORS)
    assert encoder.encode(agreement.cached_texts()).shape == (len(agreement.cached_texts()), 384)
    assert not encoder.model_is_loaded


def test_a_text_of_the_learners_own_loads_the_model_once():
    loaded = []
    known = {text_key("known"): np.eye(384, dtype=np.float32)[7]}
    model = CountingEncoder()
    encoder = CachedEncoder(known, lambda: loaded.append(1) or model)
    rows = encoder.encode(["new", "known", "newer"])
    encoder.encode(["newest"])
    assert loaded == [1]
    assert model.asked == ["new", "newer", "newest"]
    assert rows.argmax(axis=1).tolist() == [3, 7, 5]


def test_no_texts_give_no_rows():
    assert CachedEncoder({}, CountingEncoder).encode([]).shape == (0, 384)


def test_vectors_survive_saving_and_repeated_texts_are_stored_once(tmp_path):
    path = tmp_path / "Ordner ü" / "vectors.npz"
    save_vectors(path, ["a", "bb", "a", "\ud800"], CountingEncoder())
    stored = read_vectors(path)
    assert set(stored) == {text_key("a"), text_key("bb"), text_key("\ud800")}
    assert stored[text_key("bb")].argmax() == 2


def test_a_missing_cache_is_empty():
    assert read_vectors(Path("nowhere.npz")) == {}


def test_the_stored_vectors_are_the_models_own(tmp_path):
    """Remaking the file gives the same vectors, up to half precision."""
    fresh = tmp_path / "agreement.npz"
    save_vectors(fresh, agreement.cached_texts(), load_encoder(backend="numpy"))
    stored, remade = read_vectors(agreement.VECTORS), read_vectors(fresh)
    assert stored.keys() == remade.keys()
    assert max(float(np.abs(stored[key] - remade[key]).max()) for key in stored) < 5e-4


def test_the_stored_vectors_stay_small():
    assert agreement.VECTORS.stat().st_size < 5_000_000


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1", b"PK\x03\x04 cut off"])
def test_a_damaged_cache_is_said_with_what_to_do(tmp_path, content):
    (tmp_path / "agreement.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"agreement\.npz is damaged.*course\.py vectors"):
        read_vectors(tmp_path / "agreement.npz")


def test_one_text_instead_of_a_list_is_refused_in_a_sentence():
    for encoder in (load_encoder(agreement.VECTORS), load_encoder(backend="numpy")):
        with pytest.raises(ValueError, match="a list of texts"):
            encoder.encode("late payment")


def test_a_torch_that_does_not_load_leaves_the_numpy_encoder(monkeypatch, tmp_path):
    (tmp_path / "sentence_transformers.py").write_text("raise OSError('[WinError 126] c10.dll')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    with pytest.warns(UserWarning, match="WinError 126"):
        encoder = load_encoder()
    assert isinstance(encoder, MiniLM)
