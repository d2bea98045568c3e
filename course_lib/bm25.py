"""BM25 on SQLite's full-text engine FTS5: texts are found by the words they share with the question.

The index stores which words stand in which text and how often. No model computes anything.
"""

import re
import sqlite3
from collections.abc import Mapping
from threading import Lock
from typing import Literal

from course_lib.retrieval import Hit

Tokenizer = Literal["unicode61", "porter"]

WORD = re.compile(r"[^\W_]+")


def any_word(question: str) -> str:
    """Return an FTS5 query that matches every text with at least one word of `question`, or "" without words.

    Each word is quoted, so that nothing a user types is read as query syntax; a word that repeats keeps its weight.

    >>> any_word('Pay "late"?')
    '"pay" OR "late"'
    """
    return " OR ".join(f'"{word}"' for word in WORD.findall(question.lower()))


class BM25Index:
    """A full-text index in memory, ranked by BM25 with FTS5's fixed k1 = 1.2 and b = 0.75.

    >>> index = BM25Index({"7.3": "interest on late payment", "8": "suspension of the service"})
    >>> [hit.id for hit in index.search("late payment", k=3)]
    ['7.3']
    """

    def __init__(self, documents: Mapping[str, str], tokenizer: Tokenizer = "unicode61") -> None:
        """Index `documents`, a mapping from id to text. "porter" also joins word forms: days and day are one word."""
        # A widget's callback may run in another thread than the cell that made the index.
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._busy = Lock()
        self._db.execute(f"CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, body, tokenize = '{tokenizer}')")
        rows = ((id, body.encode("utf-8", "replace").decode("utf-8")) for id, body in documents.items())
        self._db.executemany("INSERT INTO texts VALUES (?, ?)", rows)

    def search(self, question: str, k: int = 3) -> list[Hit]:
        """Return the `k` best texts, best first; a text that shares no word with the question is never returned.

        The score is SQLite's bm25() with its sign turned round, so that higher is better. Raises ValueError for k
        below 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}, but the cut-off is counted from 1")
        query = any_word(question)
        if not query:
            return []
        sql = "SELECT id, bm25(texts), body FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        with self._busy:
            rows = self._db.execute(sql, (query, k)).fetchall()
        return [Hit(id, abs(score), body) for id, score, body in rows]
