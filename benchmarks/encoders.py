"""The numpy encoder beside sentence-transformers over the same weights: loading, memory, speed, and the difference."""

import importlib
import json
import math
import os
import pkgutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.encoder_probe import MEMORY_AFTER, QUESTIONS
from benchmarks.figures import ratio, table
from benchmarks.machine import ROOT, shown_mb, temporary_folder
from course_lib import corpora

MOST_TEXTS = 200
ODD_TEXTS = (
    "",
    " \t\n",
    "?",
    "E-4471/b § 7.3(a) €1,000.00",
    "naïve Café, ÅNGSTRÖM, Straße, İstanbul",
    "你好，世界 と こんにちは",
    "Здравствуй, мир! שלום مرحبا",
    "👩‍👩‍👧 🚀 \u200b\ufeff\u0000 zero width",
    "x" * 150,
    "interest on late invoices " * 200,
)
SPELT_OUT = "[CLS] [MASK] [SEP] [UNK]"  # numpy reads these as words, sentence-transformers as the model's own marks
NUMPY_ONLY = "sentence-transformers is not installed here: its figures, and the differences, need the full environment."


@dataclass(frozen=True)
class Encoded:
    """What one encoder's process said, and its vectors."""

    figures: dict[str, Any]
    vectors: np.ndarray[Any, np.dtype[np.float32]]


def corpus_texts() -> list[str]:
    """Return the texts of every corpus that keeps vectors; where they are too many, at equal distances."""
    names = [info.name for info in pkgutil.iter_modules(corpora.__path__, corpora.__name__ + ".")]
    modules = [importlib.import_module(name) for name in names]
    texts = [text for module in modules if hasattr(module, "cached_texts") for text in module.cached_texts()]
    return texts[:: math.ceil(len(texts) / MOST_TEXTS)]


def probe(backend: str, texts: list[str], folder: Path) -> Encoded:
    """Run one encoder in a fresh process. Raises RuntimeError with what it said where it fails."""
    (folder / "texts.json").write_text(json.dumps(texts), encoding="ascii")
    out = folder / f"{backend}.npy"
    command = [sys.executable, "-m", "benchmarks.encoder_probe", backend, str(folder / "texts.json"), str(out)]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, cwd=ROOT, env=env, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"The encoder {backend} could not be measured:\n{done.stderr[-2000:]}")
    return Encoded(json.loads(done.stdout.splitlines()[-1]), np.load(out, allow_pickle=False))


def row(name: str, one: Encoded) -> list[str]:
    """Return one line of the table."""
    figures = one.figures
    sizes = [shown_mb(figures[key]) for key in ("empty", "loaded", "asked")]
    return [name, f"{figures['load']:.2f}", *sizes, f"{figures['ms']:.1f}"]


def compared(other: Encoded, own: Encoded) -> list[str]:
    """Return the line that sets sentence-transformers in proportion to numpy."""
    keys = ("load", "empty", "loaded", "asked", "ms")
    return ["ratio", *(ratio(other.figures[k], own.figures[k]) if own.figures[k] else "–" for k in keys)]


def difference(other: Encoded, own: Encoded, corpus: int) -> str:
    """Return a sentence on the largest difference of a component: the corpora's texts, odd ones, spelt-out marks."""
    apart = np.abs(other.vectors - own.vectors).max(axis=1)
    odd = apart[corpus:-1]
    return (
        f"The largest difference of any component: {apart[:corpus].max():.1e} over {corpus} texts of the corpora, "
        f"{odd.max():.1e} over {len(odd)} odd texts, {apart[-1]:.1e} on a text that spells out the model's own marks."
    )


def report(full: bool = False) -> str:
    """Measure the encoders this environment has and return the table."""
    corpus = corpus_texts()
    texts = [*corpus, *ODD_TEXTS, SPELT_OUT]
    both = find_spec("sentence_transformers") is not None
    with temporary_folder() as folder:
        own = probe("numpy", texts, folder)
        other = probe("sentence-transformers", texts, folder) if both else None
    header = ["encoder", "load, s", "MB before", "MB loaded", f"MB after {MEMORY_AFTER} questions", "ms a question"]
    rows, notes = [row("numpy", own)], [f"ms: median of {QUESTIONS} short questions, one at a time."]
    if other is None:
        notes.append(NUMPY_ONLY)
    else:
        rows += [row("sentence-transformers", other), compared(other, own)]
        notes.append(difference(other, own, len(corpus)))
    return "\n".join([table(header, rows), *notes])
