"""The baseline: every text becomes a vector, and the nearest vectors win.

This is the classic pipeline's retrieval step and the one thing in the course that is not vectorless. The documents
and the encoder are arguments, so that the module can be lifted out as it is.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from course_lib import minilm
from course_lib.retrieval import Hit

Array = NDArray[np.float32]


class Encoder(Protocol):
    """Anything that turns n texts into an array of n unit rows."""

    def encode(self, texts: Sequence[str]) -> Array:
        """Return shape (len(texts), dimensions), each row of length 1."""
        ...


def dense_top(question: Array, documents: Array, k: int) -> list[tuple[int, float]]:
    """Return the `k` nearest rows of `documents`, best first, as (row number, cosine).

    `question` is a unit vector of shape (d,), `documents` has unit rows, shape (n, d): then the dot product is the
    cosine. Equal scores keep the order of the rows. Raises ValueError for k below 1.

    >>> dense_top(np.float32([1, 0]), np.float32([[0, 1], [1, 0]]), k=1)
    [(1, 1.0)]
    """
    if k < 1:
        raise ValueError(f"k is {k}, but the cut-off is counted from 1")
    scores = documents @ question
    order = np.argsort(-scores, kind="stable")[:k]
    return [(int(row), float(scores[row])) for row in order]


class DenseIndex:
    """Exact nearest-neighbour search over texts that are encoded once.

    >>> from course_lib.dense import DenseIndex, load_encoder
    >>> index = DenseIndex({"a": "The cat sleeps.", "b": "Invoices are due in May."}, load_encoder())
    >>> [hit.id for hit in index.search("When must we pay the bill?", k=1)]
    ['b']
    """

    def __init__(self, documents: Mapping[str, str], encoder: Encoder) -> None:
        """Encode `documents`, a mapping from id to text."""
        self.ids = list(documents)
        self.texts = list(documents.values())
        self.encoder = encoder
        self.vectors = encoder.encode(self.texts)

    def search(self, question: str, k: int = 3) -> list[Hit]:
        """Return the `k` nearest documents, best first, with the cosine as score; an empty question finds nothing.

        Raises ValueError for k below 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}, but the cut-off is counted from 1")
        if not question.strip() or not self.ids:
            return []
        best = dense_top(self.encoder.encode([question])[0], self.vectors, k)
        return [Hit(self.ids[row], score, self.texts[row]) for row, score in best]


def load_encoder(
    vectors: Path | None = None,
    backend: Literal["auto", "numpy", "sentence-transformers"] = "auto",
) -> Encoder:
    """Return all-MiniLM-L6-v2 as an encoder.

    `backend` "auto" takes sentence-transformers where it can be imported, else the numpy encoder over the same weights.
    `vectors` names a vector cache (see `save_vectors`): its texts need no model, and the model is loaded at the first
    text that is not in it. Raises FileNotFoundError, with what to do, where the weights are needed and missing.
    """

    def load() -> Encoder:
        if backend == "sentence-transformers":
            return _SentenceTransformerEncoder()
        if backend == "auto" and find_spec("sentence_transformers") is not None:
            try:
                return _SentenceTransformerEncoder()
            except (ImportError, OSError) as error:  # a torch whose libraries do not load: the weights still do
                warnings.warn(f"sentence-transformers could not be loaded ({error}); numpy is used.", stacklevel=2)
        return minilm.MiniLM(minilm.find_weights())

    return CachedEncoder(read_vectors(vectors), load) if vectors is not None else load()


class CachedEncoder:
    """An encoder that looks each text up first and loads the model only for a text it does not know."""

    def __init__(self, known: Mapping[str, Array], load: Callable[[], Encoder]) -> None:
        """`known` maps `text_key(text)` to a unit vector; `load` returns the encoder for all other texts."""
        self._known = known
        self._load = load
        self._model: Encoder | None = None

    def encode(self, texts: Sequence[str]) -> Array:
        """Return shape (len(texts), 384), each row of length 1, as the model itself would."""
        if isinstance(texts, str):
            raise ValueError("encode takes a list of texts, and was given one text: write [text]")
        unknown = [text for text in texts if text_key(text) not in self._known]
        if unknown and self._model is None:
            self._model = self._load()
        fresh = iter(self._model.encode(unknown)) if self._model and unknown else iter(())
        rows = [self._known[key] if (key := text_key(text)) in self._known else next(fresh) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), minilm.DIMENSIONS)

    @property
    def model_is_loaded(self) -> bool:
        """Whether a text outside the cache has made the model load."""
        return self._model is not None


class _SentenceTransformerEncoder:
    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(minilm.packaged_weights() or minilm.MODEL_NAME), device="cpu")

    def encode(self, texts: Sequence[str]) -> Array:
        rows = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32).reshape(len(texts), minilm.DIMENSIONS)


def text_key(text: str) -> str:
    """Return the key under which a text's vector is cached: 16 hexadecimal digits of its SHA-256."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def save_vectors(path: Path, texts: Iterable[str], encoder: Encoder) -> None:
    """Encode each distinct text and write the vectors to `path` (.npz) as float16, keyed by a hash of the text.

    Half precision moves a cosine by less than 0.0001 here and halves the file; figures are checked from the file.
    """
    distinct = sorted(set(texts), key=text_key)
    path.parent.mkdir(parents=True, exist_ok=True)
    keys = np.array([text_key(text) for text in distinct], dtype="S16")
    np.savez(path, keys=keys, vectors=encoder.encode(distinct).astype(np.float16))


def read_vectors(path: Path) -> dict[str, Array]:
    """Return the cached vectors of `path` by text key, or an empty mapping where there is no such file.

    Raises ValueError, with what to do, where the file is damaged.
    """
    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as stored:
            keys, rows = stored["keys"], stored["vectors"].astype(np.float32)
    except (ValueError, KeyError, BadZipFile, EOFError):
        raise ValueError(f"{path.name} is damaged. Fetch it again, or run `python course.py vectors`.") from None
    return {key.decode("ascii"): row for key, row in zip(keys, rows, strict=True)}
