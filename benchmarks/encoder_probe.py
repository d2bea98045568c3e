"""One encoder in a process of its own, for benchmarks.encoders: python -m benchmarks.encoder_probe BACKEND TEXTS OUT

TEXTS is a JSON file with the texts to encode, OUT takes their vectors (.npy); the figures go to standard output.
"""

import json
import os
import sys
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np

from benchmarks.figures import median
from benchmarks.machine import memory_mb
from course_lib.dense import Encoder, load_encoder

MEMORY_AFTER, QUESTIONS = 100, 200
SUBJECTS = ("invoice", "notice period", "service credit", "backup", "subcontractor", "audit", "refund", "liability cap")


def short_questions() -> list[str]:
    """Return QUESTIONS short questions, all different."""
    return [f"What does clause {n} say about the {SUBJECTS[n % len(SUBJECTS)]}?" for n in range(1, QUESTIONS + 1)]


def milliseconds(encoder: Encoder, questions: list[str]) -> list[float]:
    """Return how long each question takes, one at a time."""
    times = []
    for question in questions:
        began = perf_counter()
        encoder.encode([question])
        times.append((perf_counter() - began) * 1000)
    return times


def main(backend: Literal["numpy", "sentence-transformers"], texts: Path, out: Path) -> None:
    """Load the encoder, ask the questions, print the figures as JSON, and write the vectors of the texts."""
    empty = memory_mb(os.getpid())
    began = perf_counter()
    encoder = load_encoder(backend=backend)
    loaded, after_load = perf_counter() - began, memory_mb(os.getpid())
    questions = short_questions()
    times = milliseconds(encoder, questions[:MEMORY_AFTER])
    after_questions = memory_mb(os.getpid())
    times += milliseconds(encoder, questions[MEMORY_AFTER:])
    figures = {"load": loaded, "ms": median(times), "empty": empty, "loaded": after_load, "asked": after_questions}
    print(json.dumps(figures))
    np.save(out, encoder.encode(json.loads(texts.read_text(encoding="ascii"))))


if __name__ == "__main__":
    name: Literal["numpy", "sentence-transformers"] = "numpy" if sys.argv[1] == "numpy" else "sentence-transformers"
    main(name, Path(sys.argv[2]), Path(sys.argv[3]))
