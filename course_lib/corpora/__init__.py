"""The course's own documents and questions as typed values, one module per corpus.

Lessons, notebooks, tests, tools and benchmarks import this; the retrieval modules never do.
"""

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
