"""sentence-transformers on torch and the numpy encoder are the same encoder: vectors, rankings, figures."""

import importlib
import pkgutil
from pydoc_data.topics import topics

import numpy as np
import pytest

from course_lib import corpora
from course_lib.corpora import agreement
from course_lib.dense import Array, CachedEncoder, DenseIndex, Encoder, dense_top, load_encoder
from course_lib.retrieval import Hit

pytestmark = pytest.mark.full

TOLERANCE = 1e-5  # per component; measured: 3.1e-7
TOP_SIX = [("7.1", 0.585), ("7.3", 0.466), ("7.2", 0.425), ("B", 0.36), ("8", 0.359), ("A", 0.268)]
LONG = "The invoice is due. " * 200  # 800 words: what is past 256 pieces is not read
ODD = [
    "", " ", "\n\t", "?", "😀", "👩‍👩‍👧 family", "利息", "请问利息是多少？", "ﬁne print", "Café: E-4471", "ÅNGSTRÖM",
    "<|endoftext|>", "a" * 101, "\x00null\x07", "word " * 400, LONG, "e\u0301", "١٢٣", "½ + ∑",
]  # fmt: skip


@pytest.fixture(scope="module")
def numpy_encoder() -> Encoder:
    return load_encoder(backend="numpy")


@pytest.fixture(scope="module")
def torch_encoder() -> Encoder:
    return load_encoder(backend="sentence-transformers")


EACH = 60  # texts of a corpus, evenly spread over it: with all of them this would take a quarter of an hour


def corpus_texts() -> list[str]:
    """Texts whose vectors the course shows, of every corpus that has some."""
    names = [f"course_lib.corpora.{module.name}" for module in pkgutil.iter_modules(corpora.__path__)]
    modules = [importlib.import_module(name) for name in names]
    found = set[str]()
    for module in modules:
        texts = sorted(set(module.cached_texts())) if hasattr(module, "cached_texts") else []
        found.update(texts[:: max(1, len(texts) // EACH)])
    return sorted(found)


def paragraphs(count: int) -> list[str]:
    """The first paragraphs, of 80 letters or more, of the language reference that ships with Python."""
    found = [part.strip() for topic in sorted(topics) for part in topics[topic].split("\n\n") if len(part.strip()) > 80]
    return found[:: len(found) // count][:count]


TEXTS = {"corpora": corpus_texts(), "pydoc": paragraphs(300), "odd": ODD}


@pytest.fixture(scope="module")
def vectors(numpy_encoder: Encoder, torch_encoder: Encoder) -> dict[str, tuple[Array, Array]]:
    """{kind of text: (vectors by numpy, vectors by torch)}, encoded once."""
    return {kind: (numpy_encoder.encode(texts), torch_encoder.encode(texts)) for kind, texts in TEXTS.items()}


@pytest.mark.parametrize("kind", TEXTS)
def test_both_encoders_give_the_same_vectors(kind: str, vectors: dict[str, tuple[Array, Array]]) -> None:
    by_numpy, by_torch = vectors[kind]
    apart = np.abs(by_numpy - by_torch).max(axis=1)
    assert apart.shape == (len(TEXTS[kind]),)
    assert apart.max() <= TOLERANCE, TEXTS[kind][int(apart.argmax())][:80]


def test_the_one_known_difference_is_a_text_that_spells_a_control_token(
    numpy_encoder: Encoder, torch_encoder: Encoder
) -> None:
    """The tokenizer on torch takes "[SEP]" in a text for the token; the numpy one reads it as a word in brackets."""
    for spelled in ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"):
        texts = [f"Read {spelled} aloud."]
        assert np.abs(numpy_encoder.encode(texts) - torch_encoder.encode(texts)).max() > TOLERANCE
        assert not any(spelled in text for text in TEXTS["corpora"] + TEXTS["pydoc"])


def test_there_are_enough_texts_to_compare() -> None:
    assert len(TEXTS["corpora"]) > 20
    assert len(TEXTS["pydoc"]) == 300


def test_a_text_is_cut_at_the_same_piece(numpy_encoder: Encoder, torch_encoder: Encoder) -> None:
    for encoder in (numpy_encoder, torch_encoder):
        as_it_is, changed_at_the_end = encoder.encode([LONG, LONG + "Bananas are yellow."])
        assert np.array_equal(as_it_is, changed_at_the_end)


def test_a_swapped_pair_of_texts_would_be_found(numpy_encoder: Encoder, torch_encoder: Encoder) -> None:
    first, second = TEXTS["corpora"][:2]
    apart = np.abs(numpy_encoder.encode([first, second]) - torch_encoder.encode([second, first])).max()
    assert apart > 1000 * TOLERANCE


def rankings(encoder: Encoder) -> list[list[Hit]]:
    """All sections of the agreement in order, for each labelled question."""
    chunks = {section.id: f"{section.title}: {section.text}" for section in agreement.sections()}
    index = DenseIndex(chunks, encoder)
    return [index.search(question.text, k=len(chunks)) for question in agreement.QUESTIONS]


def test_both_encoders_rank_the_sections_alike_for_every_labelled_question(
    numpy_encoder: Encoder, torch_encoder: Encoder
) -> None:
    by_numpy = [[hit.id for hit in hits] for hits in rankings(numpy_encoder)]
    assert by_numpy == [[hit.id for hit in hits] for hits in rankings(torch_encoder)]


def test_both_encoders_rank_the_paragraphs_alike(
    vectors: dict[str, tuple[Array, Array]], numpy_encoder: Encoder, torch_encoder: Encoder
) -> None:
    by_numpy, by_torch = vectors["pydoc"]
    questions = ["How do I close a file?", "What does a metaclass do?", "operator precedence"]
    for one, other in zip(numpy_encoder.encode(questions), torch_encoder.encode(questions), strict=True):
        rows = [row for row, score in dense_top(one, by_numpy, k=20)]
        assert rows == [row for row, score in dense_top(other, by_torch, k=20)]


@pytest.mark.parametrize("backend", ["numpy", "sentence-transformers"])
def test_each_encoder_gives_the_figures_of_the_opening(backend: str, request: pytest.FixtureRequest) -> None:
    encoder = request.getfixturevalue("numpy_encoder" if backend == "numpy" else "torch_encoder")
    late = rankings(encoder)[agreement.QUESTIONS.index(agreement.LATE_PAYMENT)]
    assert [(hit.id, round(hit.score, 3)) for hit in late[:6]] == TOP_SIX
    assert round(late[3].score - late[4].score, 4) == 0.0003


def test_a_text_that_a_learner_types_is_encoded_by_sentence_transformers_here() -> None:
    encoder = load_encoder(agreement.VECTORS)
    assert isinstance(encoder, CachedEncoder)
    encoder.encode(["a text of the learner's own"])
    assert type(encoder._model).__name__ == "_SentenceTransformerEncoder"
