"""BM25 on SQLite's full-text engine FTS5: texts are found by the words they share with the question.

The index stores which words stand in which text and how often. No model computes anything. The module goes the way
of its notebook: quote every word, make identifiers match, decide by coverage what "found" means, put it over an
index, explain a score term by term.
"""

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, log
from pathlib import Path
from threading import RLock
from typing import Any, Literal, get_args

from course_lib.retrieval import Hit

Tokenizer = Literal["unicode61", "porter", "trigram"]
Document = tuple[str, str, str]  # id, title, text

# --- Quote every term -------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\W_]+")


def storable(text: str) -> str:
    """Return `text` as SQLite can take it, of the same length: a space for NUL, "?" for half a surrogate pair."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def words(text: str) -> list[str]:
    """Return the words of `text` in lower case, in order, repeats included.

    >>> words('Pay "late"? Pay E-4471')
    ['pay', 'late', 'pay', 'e', '4471']
    """
    return [word.lower() for word in WORD.findall(unicodedata.normalize("NFC", storable(text)))]


def phrase(text: str) -> str:
    """Return `text` as one quoted FTS5 phrase, whatever it holds: its words in this order, never query syntax.

    A quote inside a quoted string is written twice, or the string would end there and the rest be read as syntax.

    >>> phrase('19" rack')
    '"19"" rack"'
    """
    return '"' + storable(text).replace('"', '""') + '"'


def any_word(question: str) -> str:
    """Return an FTS5 query that matches every text with at least one word of `question`, or "" without words.

    Each word is quoted, so that nothing a user types is read as query syntax; a word that repeats keeps its weight.

    >>> any_word('Pay "late"?')
    '"pay" OR "late"'
    """
    return " OR ".join(phrase(word) for word in words(question))


# --- Identifiers must match -------------------------------------------------------------------------------------

HYPHENATED = re.compile(r"\b[A-Za-z]{1,4}-\d{2,}\b")  # the lesson's pattern: E-4471, INV-2291
DASH = "[-_\u2010-\u2014]"
# Neighbours are checked in ASCII alone, so that a code inside unspaced Chinese or Japanese is still seen as one.
IDENTIFIER = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z]{{1,6}}{DASH}?\d{{2,}}(?![A-Za-z0-9])")
SPACED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{1,6}[ \u00a0]\d{2,}(?![A-Za-z0-9])")
NUMBERED = re.compile(
    r"\b(code|error|fault|alarm)(?: no\.?| number|:)? (\d{2,})\b"
    r"(?! *(?:times|days?|hours?|minutes?|seconds?|%))",
    re.IGNORECASE,
)

# What gets a joined copy in the index. A separator and two digits are looked for first: that is the cheap part.
_SEPARATED = re.compile(r"[-_\u2010-\u2014 \u00a0]\d\d")
_WRITTEN_APART = re.compile(rf"(?<![A-Za-z0-9])(?:[A-Za-z]{{1,6}}{DASH}|[A-Z]{{1,6}}[ \u00a0])\d{{2,}}(?![A-Za-z0-9])")
_NO_ASCII = r"[^\W\x00-\x7f]"
_INSIDE_A_RUN = re.compile(
    rf"(?<={_NO_ASCII})[A-Za-z]{{1,6}}\d{{2,}}(?![A-Za-z0-9])|(?<![A-Za-z0-9])[A-Za-z]{{1,6}}\d{{2,}}(?={_NO_ASCII})"
)


def joined(identifier: str) -> str:
    """Return an identifier in the one form that all its spellings share.

    >>> joined("E-4471"), joined("e 4471"), joined("E4471")
    ('e4471', 'e4471', 'e4471')
    """
    return "".join(words(identifier))


def joined_copies(text: str) -> str:
    """Return the joined form of each identifier in `text` that the tokenizer would cut up, or bury in a longer run.

    Written with a space it counts only in capitals, or "for 15 seconds" would become a code.

    >>> joined_copies("E-4471 and INV 2291; E4471 needs none, nor does: for 15 seconds")
    'e4471 inv2291'
    """
    found = _WRITTEN_APART.findall(text) if _SEPARATED.search(text) else []
    if not text.isascii():
        found += _INSIDE_A_RUN.findall(text)
    return " ".join(joined(identifier) for identifier in found)


def numbered(question: str) -> list[tuple[str, str]]:
    """Return what a question names by a noun and a number, each with the FTS5 condition that a text must meet.

    The two may stand up to two words apart in the text, so that "error 4471" meets "Error E-4471". A number that
    counts something is none: "error 15 times".

    >>> numbered("customer card declined with code 65")
    [('code 65', 'NEAR("code" "65", 2)')]
    """
    pairs = [match.groups() for match in NUMBERED.finditer(storable(question))]
    return [(f"{noun} {number}", f"NEAR({phrase(noun.lower())} {phrase(number)}, 2)") for noun, number in pairs]


# --- Decide what "found" means ----------------------------------------------------------------------------------

# Words that ask and are polite. They say nothing of the matter, and would sink the coverage of a courteous question.
QUESTION_WORDS = frozenset(
    words("""
    a an the this that these those i me my mine we us our ours you your yours he him his she her it its they them their
    someone somebody anyone anybody something anything am is are was were be been being do does did doing have has had
    having can could may might must shall should will would ought and or but if so than then as because while of at by
    for with about into from to in on between after before during through what which who whom whose when where why how
    there here not no nor also too very really just ever any some both please kindly thank thanks hello hi hey dear
    sorry excuse tell know explain help ask asking wonder wondering mind need needs want wants like possible advance
    quickly actually maybe perhaps let get got s t d m ll re ve don doesn didn isn aren wasn couldn wouldn shouldn
    """)
)

_UNSEGMENTED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True)
class Rules:
    """What a search demands of a document. All of it applies at search time: a change needs no new index.

    stop_words      in lower case, left out of the search and of the coverage
    identifiers     "any": only documents with an identifier that the question names are ranked, by all words;
                    "all": only documents with every one, ranked by the identifiers alone (the lesson's search);
                    "off": an identifier is words like any other
    identifier      what an identifier looks like
    min_coverage    the share (0 to 1) of the question's content words that the best document must hold; it is not
                    asked where an identifier has matched
    synonyms        word or words of a question -> what counts as the same in a document
    repeats_from    a question of this many words or more counts a word as often as it says it, a shorter one once:
                    in a paragraph a repeated word is its topic, in a sentence it is grammar (benchmarks/bm25_quality)
    title_weight, body_weight   FTS5's column weights

    Raises ValueError for a share outside 0 to 1, a negative weight, an unknown way with identifiers, or a text where
    a list of words belongs.
    """

    stop_words: frozenset[str] = QUESTION_WORDS
    identifiers: Literal["any", "all", "off"] = "any"
    identifier: re.Pattern[str] = IDENTIFIER
    min_coverage: float = 0.5
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeats_from: float = 30
    title_weight: float = 1.0
    body_weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.min_coverage <= 1:
            raise ValueError(f"min_coverage is {self.min_coverage}, but it is a share between 0 and 1")
        for name, weight in (("title_weight", self.title_weight), ("body_weight", self.body_weight)):
            if not 0 <= weight < inf:
                raise ValueError(f"{name} is {weight}, but a weight is a number of 0 or more")
        if isinstance(self.stop_words, str) or any(isinstance(same, str) for same in self.synonyms.values()):
            raise ValueError("A text is no list: give a set of stop words, and a list of synonyms for each word")
        if self.identifiers not in ("any", "all", "off"):
            raise ValueError(f"identifiers is {self.identifiers!r}, but it is 'any', 'all' or 'off'")


ANY_WORD = Rules(stop_words=frozenset(), identifiers="off", min_coverage=0)  # every word, ORed, nothing demanded


def lesson_rules(stop_words: Iterable[str]) -> Rules:
    """Return the strict search as the notebook builds it: every identifier ANDed, else half of the words covered."""
    return Rules(frozenset(stop_words), identifiers="all", identifier=HYPHENATED, repeats_from=inf)


@dataclass(frozen=True)
class Term:
    """One thing the question asks for, and the quoted phrases that count as it in a document."""

    text: str
    forms: tuple[str, ...]

    @property
    def expression(self) -> str:
        """The FTS5 query that matches every document with one of the forms."""
        return " OR ".join(self.forms)


@dataclass(frozen=True)
class Question:
    """A question as the index reads it: what is ranked by, repeats included, and the identifiers demanded."""

    terms: tuple[Term, ...]
    identifiers: tuple[Term, ...] = ()
    all_words: tuple[str, ...] = ()  # before stop words, and words that the tokenizer cannot find, were left out


def read(
    question: str,
    rules: Rules,
    tokenizer: Tokenizer = "unicode61",
    in_index: Callable[[str], bool] = lambda copy: False,
) -> Question:
    """Read a question under `rules`; `in_index` says whether the index holds a joined copy, such as "e4471".

    >>> [term.text for term in read("What does E-4471 mean after an update?", Rules()).terms]
    ['E-4471', 'mean', 'update']
    """
    codes, rest = _codes(storable(question), rules, in_index)
    terms = [_code_term(code, rules, tokenizer) for code in codes]
    demanded = list(terms)
    if rules.identifiers == "any" and tokenizer != "trigram":
        demanded += [Term(text, (condition,)) for text, condition in numbered(rest)]
    if not (terms and rules.identifiers == "all"):
        terms += _word_terms(words(rest), rules, tokenizer)
    all_words = tuple(words(question))
    if len(all_words) < rules.repeats_from:
        terms = list(dict.fromkeys(terms))
    return Question(tuple(terms), tuple(dict.fromkeys(demanded)), all_words)


def _codes(text: str, rules: Rules, in_index: Callable[[str], bool]) -> tuple[list[str], str]:
    """Return the identifiers in `text`, each spelling once, and the text without them."""
    if rules.identifiers == "off":
        return [], text
    found = [match.group() for match in rules.identifier.finditer(text)]
    rest = rules.identifier.sub(" ", text)
    if rules.identifiers == "any":  # "e 4471" is an identifier where the index knows it as one, "last 30 days" is none
        pairs = dict.fromkeys(match.group() for match in SPACED.finditer(rest))
        spaced = {pair: None for pair in pairs if in_index(joined(pair))}
        found += spaced
        rest = SPACED.sub(lambda match: " " if match.group() in spaced else match.group(), rest)
    return list({joined(code): code for code in reversed(found)}.values())[::-1], rest


def _code_term(code: str, rules: Rules, tokenizer: Tokenizer) -> Term:
    if rules.identifiers == "all":
        return Term(code, (phrase(code),))
    apart = re.sub(rf"(?<=[a-z])(?:{DASH}|\s)?(?=\d)", " ", code.lower())
    spellings = [joined(code), apart, *([code.lower()] if tokenizer == "trigram" else [])]
    return Term(code, tuple(phrase(spelling) for spelling in dict.fromkeys(spellings)))


def _word_terms(question: Sequence[str], rules: Rules, tokenizer: Tokenizer) -> list[Term]:
    """Return the content words as terms, with their synonyms; the longest synonym key that fits comes first."""
    synonyms = {tuple(words(key)): same for key, same in rules.synonyms.items()}
    longest = max(map(len, synonyms), default=0)
    terms, at = [], 0
    while at < len(question):
        sizes = (size for size in range(longest, 0, -1) if tuple(question[at : at + size]) in synonyms)
        size = next(sizes, 0)
        if size:
            key = tuple(question[at : at + size])
            terms.append(Term(" ".join(key), tuple(dict.fromkeys(map(phrase, (" ".join(key), *synonyms[key]))))))
        elif question[at] not in rules.stop_words:
            terms += [Term(piece, (phrase(piece),)) for piece in _pieces(question[at], tokenizer)]
        at += size or 1
    return terms


def _pieces(word: str, tokenizer: Tokenizer) -> list[str]:
    """Return what is looked up for a word: itself, or for trigram each three characters of an unsegmented run."""
    if tokenizer != "trigram":
        return [word]
    if _UNSEGMENTED.search(word):
        return [word[start : start + 3] for start in range(len(word) - 2)]
    return [word] if len(word) >= 3 else []


# --- The index --------------------------------------------------------------------------------------------------

APPLICATION_ID = 0x424D3235  # "BM25" in ASCII: marks a SQLite file as an index of this module
COLUMNS = "id UNINDEXED, title, body, joined"
_UNICODE61 = "unicode61 remove_diacritics 2"  # é is e, also where a letter carries two marks, as in Vietnamese
TOKENIZE = {"unicode61": _UNICODE61, "porter": f"porter {_UNICODE61}", "trigram": "trigram"}


@dataclass(frozen=True)
class Found:
    """The hits of a search, best first, and what there is to say about them.

    `note` says why there are none, or which identifier is missing, and is "" otherwise; `coverage` is the share of
    the question's content words that the best document holds, and None where that was not asked.
    """

    hits: tuple[Hit, ...]
    note: str = ""
    coverage: float | None = None


@dataclass(frozen=True)
class Contribution:
    """What one phrase adds to a document's score: 0 where the document does not hold it.

    `times` is how often it stands in the query, `documents` in how many documents it occurs.
    """

    term: str
    phrase: str
    times: int
    documents: int
    idf: float
    score: float


class Index:
    """A full-text index over (id, title, text), in memory or in a file, ranked by BM25 (k1 = 1.2, b = 0.75 in FTS5).

    Any thread may use it, one at a time: a widget's callback need not run where the notebook's cells do.

    >>> index = Index([("kb-1", "Error E-4471", "Install firmware 2.3.1."), ("kb-2", "Paper jams", "Use 57 mm rolls.")])
    >>> [hit.id for hit in index.search("Could you please tell me what e4471 means?")]
    ['kb-1']
    """

    def __init__(
        self,
        documents: Iterable[Document] = (),
        path: Path | None = None,
        *,
        tokenizer: Tokenizer = "unicode61",
        copies: bool = True,
        rules: Rules | None = None,
    ) -> None:
        """Index `documents`, in memory or in a new file at `path`; `Index.open` reads one that exists.

        "porter" joins English word forms: days and day are one word. "trigram" finds parts of words, and so text
        that has no spaces between words, but nothing shorter than three characters: two-character words, common in
        Chinese and Japanese, stay unfound, and E-447 is found in E-4471. `copies` adds a joined copy of each
        identifier (E-4471 also as e4471). `rules` are the default of every search.

        Raises FileExistsError where there is a file already, ValueError for an id that occurs twice, a text that is
        no text, or a tokenizer that does not exist here.
        """
        if path is not None and path.exists():
            raise FileExistsError(f"{path} exists: read it with Index.open, or remove it first")
        if tokenizer not in get_args(Tokenizer):
            raise ValueError(f"There is no tokenizer {tokenizer!r}; there are {', '.join(get_args(Tokenizer))}")
        self.path, self.rules, self.tokenizer, self.copies = path, rules or Rules(), tokenizer, copies
        self._lock = RLock()
        with self._guarded():
            self._db = sqlite3.connect(":memory:" if path is None else path, check_same_thread=False)
        try:
            with self._guarded():
                self._create(documents)
        except BaseException:
            self.close()
            if path is not None:
                path.unlink(missing_ok=True)
            raise

    def _create(self, documents: Iterable[Document]) -> None:
        try:
            self._db.execute(
                f"CREATE VIRTUAL TABLE texts USING fts5({COLUMNS}, tokenize = '{TOKENIZE[self.tokenizer]}')"
            )
        except sqlite3.OperationalError as error:
            raise ValueError(f"SQLite {sqlite3.sqlite_version} has no tokenizer {self.tokenizer!r}: {error}") from error
        # FTS5 gathers 1 MB of new entries before it writes them out; gathering 8 makes the index in less time.
        self._db.execute("INSERT INTO texts (texts, rank) VALUES ('hashsize', 8388608)")
        self._db.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL)")
        self._db.execute("CREATE TABLE settings AS SELECT ? AS tokenizer, ? AS copies", (self.tokenizer, self.copies))
        self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        with self._db:
            ids: list[str] = []
            insert = "INSERT INTO texts (id, title, body, joined) VALUES (?, ?, ?, ?)"
            self._db.executemany(insert, self._rows(documents, ids))
            if len(set(ids)) < len(ids):
                raise ValueError(
                    f"The id {Counter(ids).most_common(1)[0][0]!r} occurs twice: each document needs its own"
                )
            self._db.executemany("INSERT INTO numbers (id) VALUES (?)", ((id,) for id in ids))

    def _rows(self, documents: Iterable[Document], ids: list[str]) -> Iterator[tuple[str, str, str, str]]:
        for document in documents:
            if isinstance(document, str) or len(document) != 3:
                raise ValueError(f"{document!r} is no document: each is three texts, (id, title, text)")
            ids.append(document[0])
            yield self._row(*document)

    def _row(self, id: str, title: str, body: str) -> tuple[str, str, str, str]:
        if not (isinstance(id, str) and isinstance(title, str) and isinstance(body, str)):
            raise ValueError(f"The document {id!r} must be three texts: id, title and text")
        if id != storable(id):
            raise ValueError(f"The id {id!r} holds a NUL character or half a surrogate pair")
        title, body = storable(title), storable(body)
        return id, title, body, joined_copies(f"{title}\n{body}") if self.copies else ""

    @classmethod
    def open(cls, path: Path, rules: Rules | None = None) -> "Index":
        """Open an index that was made with a `path`; its tokenizer and copies are stored in it.

        Raises FileNotFoundError where there is no file, ValueError where it is no index or a damaged one.
        """
        if not path.is_file():
            raise FileNotFoundError(f"There is no index at {path}: make one with Index(documents, path)")
        index = cls.__new__(cls)
        index.path, index.rules = path, rules or Rules()
        index._lock = RLock()
        index._db = sqlite3.connect(path, check_same_thread=False)
        try:
            index.tokenizer, index.copies = index._stored_settings()
        except BaseException:
            index.close()
            raise
        return index

    def _stored_settings(self) -> tuple[Tokenizer, bool]:
        with self._guarded():
            if self._value("PRAGMA application_id") != APPLICATION_ID:
                raise ValueError(f"{self.path} is no index of this kind: make one with Index(documents, path)")
            if (state := self._value("PRAGMA quick_check(1)")) != "ok":
                raise sqlite3.DatabaseError(state)
            tokenizer, copies = next(iter(self._rows_of("SELECT tokenizer, copies FROM settings")), (None, None))
            known: dict[str, Tokenizer] = {name: name for name in get_args(Tokenizer)}
            if tokenizer not in known:
                raise sqlite3.DatabaseError("its settings cannot be read")
            self._holds(phrase("a"))  # reads the full-text index itself
            return known[tokenizer], bool(copies)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let one thread at a time at the database, and turn an error about the file into what to do about it."""
        try:
            with self._lock:
                yield
        except sqlite3.ProgrammingError:  # such as the use of a closed index: not the file's fault
            raise
        except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
            where = "The index in memory" if self.path is None else str(self.path)
            raise ValueError(
                f"{where} cannot be used as an index: it is no index, damaged, locked or out of reach (SQLite says: "
                f"{error}). If nothing else has it open, remove it and make it again with Index(documents, path)"
            ) from error

    def close(self) -> None:
        """Close the index; its file, where there is one, stays."""
        self._db.close()

    def __len__(self) -> int:
        return int(self._value("SELECT count(*) FROM numbers"))

    def upsert(self, id: str, title: str, body: str) -> None:
        """Add a document, or put it in the place of the one with this id. Raises ValueError as the constructor does."""
        row = self._row(id, title, body)
        with self._guarded(), self._db:
            self._db.execute("INSERT OR IGNORE INTO numbers (id) VALUES (?)", (id,))
            insert = "INSERT OR REPLACE INTO texts (rowid, id, title, body, joined) VALUES (?, ?, ?, ?, ?)"
            self._db.execute(insert, (self._number(id), *row))

    def delete(self, id: str) -> None:
        """Remove a document. Raises ValueError where there is none with this id."""
        number = self._number(id)
        with self._guarded(), self._db:
            self._db.execute("DELETE FROM texts WHERE rowid = ?", (number,))
            self._db.execute("DELETE FROM numbers WHERE number = ?", (number,))

    def search(self, question: str, k: int = 3, rules: Rules | None = None) -> list[Hit]:
        """Return the `k` best documents, best first, or an empty list: no evidence. `find` says why.

        The score is SQLite's bm25() with its sign turned round, so that higher is better; equal scores keep the order
        of the documents. Any text is a question, also an empty one. Raises ValueError for k below 1.
        """
        return list(self.find(question, k, rules).hits)

    def find(self, question: str, k: int = 3, rules: Rules | None = None) -> Found:
        """Return what `search` does, with a note and the coverage. Raises ValueError for k below 1."""
        if k < 1:
            raise ValueError(f"k is {k}, but the cut-off is counted from 1")
        rules = rules or self.rules
        asked = read(question, rules, self.tokenizer, self._holds_copy)
        if not asked.terms:
            return Found((), self._why_no_terms(asked))
        missing = [code for code in asked.identifiers if not self._holds(code.expression)]
        if missing and (rules.identifiers == "all" or len(missing) == len(asked.identifiers)):
            return Found((), f"No document contains {_listed(missing)}.")
        rows = self._ranked(asked, k, rules)
        if not rows:
            return Found((), self._why_no_rows(asked))
        coverage = None if asked.identifiers else self._coverage(asked, rows[0][0])
        if coverage is not None and coverage < rules.min_coverage:
            return Found((), self._why_not_covered(asked, rows[0][1], coverage, rules), coverage)
        hits = tuple(Hit(id, score, f"{title}: {body}" if title else body) for _, id, title, body, score in rows)
        return Found(hits, f"No document contains {_listed(missing)}." if missing else "", coverage)

    def _ranked(self, asked: Question, k: int, rules: Rules) -> list[tuple[int, str, str, str, float]]:
        """Return the best `k` rows; the sign of SQLite's score is turned here, so that higher is better from now on."""
        condition, values = "", [" OR ".join(term.expression for term in asked.terms)]
        if asked.identifiers and (rules.identifiers == "all" or set(asked.terms) != set(asked.identifiers)):
            # The + keeps SQLite from running the ranking once for each document that holds the identifier.
            condition = " AND +rowid IN (SELECT rowid FROM texts WHERE texts MATCH ?)"
            link = " AND " if rules.identifiers == "all" else " OR "
            values.append(link.join(f"({code.expression})" for code in asked.identifiers))
        sql = (
            f"SELECT rowid, id, title, body, {_bm25(rules)} AS score FROM texts WHERE texts MATCH ?{condition} "
            "ORDER BY score, rowid LIMIT ?"
        )
        return [(*row, self._turned(score)) for *row, score in self._rows_of(sql, (*values, k))]

    def _turned(self, score: float | None) -> float:
        with self._guarded():
            if score is None:
                raise sqlite3.DatabaseError("the counts behind the ranking are damaged")
        return abs(score)

    def _coverage(self, asked: Question, number: int) -> float:
        """Return the share of the question's distinct terms that one document holds, in the tokenizer's own eyes."""
        distinct = set(asked.terms)
        return sum(self._holds(term.expression, number) for term in distinct) / len(distinct)

    def _holds(self, expression: str, number: int | None = None) -> bool:
        """Say whether an expression matches the document of this number, or any document."""
        condition, values = ("", ()) if number is None else (" AND rowid = ?", (number,))
        return bool(self._rows_of(f"SELECT 1 FROM texts WHERE texts MATCH ?{condition} LIMIT 1", (expression, *values)))

    def _holds_copy(self, copy: str) -> bool:
        return self._holds(phrase(copy))

    def _number(self, id: str) -> int:
        rows = self._rows_of("SELECT number FROM numbers WHERE id = ?", (storable(id),))
        if not rows:
            raise ValueError(f"There is no document {id!r} in the index")
        return int(rows[0][0])

    def _value(self, sql: str) -> Any:
        return self._rows_of(sql)[0][0]

    def _rows_of(self, sql: str, values: Sequence[str | int] = ()) -> list[Any]:
        with self._guarded():
            return self._db.execute(sql, values).fetchall()

    def _why_no_terms(self, asked: Question) -> str:
        if not asked.all_words:
            return "The question holds no word."
        if self.tokenizer == "trigram" and any(len(word) < 3 for word in asked.all_words):
            return "The question holds no word of three characters, and a trigram index finds nothing shorter."
        return "The question holds only words that are left out of the search."

    def _why_no_rows(self, asked: Question) -> str:
        if asked.identifiers:
            return f"No document contains all of {_listed(asked.identifiers)}."
        return f"No document contains {_listed(asked.terms)}.{self._about_substrings(asked)}"

    def _why_not_covered(self, asked: Question, id: str, coverage: float, rules: Rules) -> str:
        distinct = len(set(asked.terms))
        return (
            f"The best document, {id}, holds {round(coverage * distinct)} of the question's {distinct} content words: "
            f"{coverage:.2f}, and {rules.min_coverage:.2f} is demanded.{self._about_substrings(asked)}"
        )

    def _about_substrings(self, asked: Question) -> str:
        if self.tokenizer == "trigram" or not any(map(_UNSEGMENTED.search, asked.all_words)):
            return ""
        return (
            f" The tokenizer {self.tokenizer} takes text without spaces as one word and finds no part of it; an index "
            'with tokenizer="trigram" does, from three characters on, and still no word of two.'
        )

    # --- Explain a score term by term ---------------------------------------------------------------------------

    def explain(self, question: str, hit: Hit | str, rules: Rules | None = None) -> list[Contribution]:
        """Return what each phrase of the query adds to a document's score, the largest first; they sum to the score.

        `hit` is a hit or an id. BM25 is a sum over phrases, so FTS5's own bm25() of each phrase alone is its share;
        the sum agrees with the score of `search` up to rounding (1e-9, relative). Raises ValueError where there is
        no document with this id.
        """
        rules = rules or self.rules
        number, total = self._number(hit.id if isinstance(hit, Hit) else hit), len(self)
        asked = read(question, rules, self.tokenizer, self._holds_copy)
        counts = Counter((term.text, form) for term in asked.terms for form in term.forms)
        sql = f"SELECT {_bm25(rules)} FROM texts WHERE texts MATCH ? AND rowid = ?"
        parts = []
        for (term, form), times in counts.items():
            ((documents,),) = self._rows_of("SELECT count(*) FROM texts WHERE texts MATCH ?", (form,))
            score = sum(self._turned(value) for (value,) in self._rows_of(sql, (form, number)))
            text = form[1:-1].replace('""', '"')
            parts.append(Contribution(term, text, times, documents, idf(documents, total), times * score))
        return sorted(parts, key=lambda part: -part.score)


def idf(documents: int, total: int) -> float:
    """Return the weight of a phrase that occurs in `documents` of `total` documents, as FTS5 computes it.

    log((N - n + 0.5) / (n + 0.5)), Robertson and Zaragoza 2009 (The Probabilistic Relevance Framework), which is
    negative for a phrase in more than half of the documents; FTS5 then takes 0.000001. Raises ValueError where the
    counts cannot be.

    >>> round(idf(1, 8), 3), idf(5, 8)
    (1.609, 1e-06)
    """
    if not 0 <= documents <= total:
        raise ValueError(
            f"{documents} of {total} documents: there cannot be more documents with a phrase than documents"
        )
    value = log((total - documents + 0.5) / (documents + 0.5))
    return value if value > 0 else 1e-6


def term_score(
    frequency: float, documents: int, total: int, length: int, average: float, k1: float = 1.2, b: float = 0.75
) -> float:
    """Return one phrase's BM25 contribution, by the formula that FTS5 computes.

    `frequency` is how often the phrase stands in the document, each time weighted by its column; `length` and
    `average` count the words of this and of the average document, all columns together. `k1` bends the growth with
    frequency, `b` (0 to 1) says how far a long document pays for its length. Raises ValueError as `idf` does.

    >>> round(term_score(frequency=1, documents=1, total=8, length=20, average=20), 3)
    1.609
    """
    return idf(documents, total) * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length / average))


def _bm25(rules: Rules) -> str:
    """Return the ranking expression; joined copies weigh as the body does."""
    title, body = float(rules.title_weight), float(rules.body_weight)
    return f"bm25(texts, 0.0, {title!r}, {body!r}, {body!r})"


def _listed(terms: Sequence[Term]) -> str:
    """Return the first few terms as they stand in a sentence, each cut to a readable length."""
    names = [name if len(name) <= 40 else f"{name[:39]}…" for name in dict.fromkeys(term.text for term in terms)]
    return ", ".join(names[:5]) + (f" or {len(names) - 5} more" if len(names) > 5 else "")


class BM25Index:
    """The smallest form, as the opening uses it: texts without titles, every word ORed, nothing demanded.

    >>> index = BM25Index({"7.3": "interest on late payment", "8": "suspension of the service"})
    >>> [hit.id for hit in index.search("late payment", k=3)]
    ['7.3']
    """

    def __init__(self, documents: Mapping[str, str], tokenizer: Tokenizer = "unicode61") -> None:
        """Index `documents`, a mapping from id to text. "porter" also joins word forms: days and day are one word."""
        rows = ((id, "", body) for id, body in documents.items())
        self._index = Index(rows, tokenizer=tokenizer, copies=False, rules=ANY_WORD)

    def search(self, question: str, k: int = 3) -> list[Hit]:
        """Return the `k` best texts, best first; a text that shares no word with the question is never returned.

        Raises ValueError for k below 1.
        """
        return self._index.search(question, k)
