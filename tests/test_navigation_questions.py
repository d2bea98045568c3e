"""The questions about navigation hold on their documents, and what the comparison over them says."""

import json
import re
import sys
from collections import Counter
from functools import cache
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest

from course_lib.corpora import DATA, language_reference, large_agreement
from course_lib.corpora.large_agreement import one_hop_questions
from course_lib.corpora.navigation_questions import (
    CAP,
    CAP_QUESTION,
    CAP_SUMMARY,
    LYING_TITLE,
    QUESTIONS,
    VECTORS,
    agreement_document,
    agreement_questions,
    article_of,
    cached_texts,
    flat_text,
    lying,
    reference_document,
    reference_questions,
    twenty_documents,
)
from course_lib.dense import CachedEncoder, load_encoder, read_vectors, save_vectors, text_key
from course_lib.minilm import find_weights
from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.comparison import (
    ALL,
    Corpus,
    as_table,
    cheapest_right,
    compare_on,
    mean_with_interval,
    node_recall,
    systems,
    usages,
)
from course_lib.navigation.loop import navigate
from course_lib.navigation.models import (
    FIRST_LINES,
    Lexical,
    document_chooser,
    heading_index,
    lexical_navigator,
    lexical_plan,
)
from course_lib.navigation.outline import build, from_sections
from course_lib.navigation.tree import Heading
from course_lib.pricing import load_prices
from course_lib.tokens import count_tokens

ROUND = next(iter(load_prices(DATA / "prices.json").values()))
TEXTS = {section.id: section.text for section in large_agreement.large_agreement()}
ON_3_11 = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="The cached vectors are those of Python 3.11.")
KINDS = ("one section", "one hop", "two hops", "a defined term", "spread everywhere")


def kind(name):
    return [question for question in agreement_questions() if question.kind == name]


def outline_of(document):
    return build(document.text, [Heading(*heading) for heading in document.headings], document.title)


@cache
def encoder():
    known = {}
    for path in (VECTORS, language_reference.VECTORS, large_agreement.VECTORS):
        known |= read_vectors(path)
    return CachedEncoder(known, load_encoder)


@cache
def corpus(name):
    if name == "agreement":
        document = agreement_document()
        return Corpus(outline_of(document), document.chunks, document.inside, agreement_questions(), encoder(), ROUND)
    document, how = reference_document(), Lexical(hops=1, definitions=False, titled=True)
    return Corpus(
        outline_of(document), document.chunks, document.inside, reference_questions(), encoder(), ROUND, how, 4_000
    )


@cache
def rows(name):
    return {(row.system, row.kind): row for row in compare_on(corpus(name))}


# --- The labels ---


def test_there_are_twenty_questions_of_each_of_five_kinds_and_none_twice():
    assert Counter(question.kind for question in agreement_questions()) == dict.fromkeys(KINDS, 20)
    assert len({question.text for question in agreement_questions()}) == 100


def test_a_question_needs_as_many_pieces_as_its_kind_says():
    needed = {"one section": {1}, "one hop": {2}, "two hops": {3}, "a defined term": {2}}
    for name, sizes in needed.items():
        assert {len(question.pieces) for question in kind(name)} == sizes
    assert min(len(question.pieces) for question in kind("spread everywhere")) >= 3


def test_every_gold_id_is_a_section_of_the_agreement():
    ids = {id for question in agreement_questions() for piece in question.pieces for id in piece}
    assert ids <= set(TEXTS)


@pytest.mark.parametrize("name", KINDS[:4])
def test_the_words_of_the_answer_stand_in_a_gold_section(name):
    for question in kind(name):
        assert any(question.answer in TEXTS[id] for piece in question.pieces for id in piece), question


def test_two_hops_lead_from_each_piece_to_the_next_by_a_reference():
    outline = outline_of(agreement_document())
    for question in kind("two hops"):
        ids = [piece[0] for piece in question.pieces]
        for here, there in pairwise(ids):
            assert any(there in found.targets for found in outline.references_from(here)), question


def test_a_defined_term_is_used_where_the_question_starts_and_defined_where_it_ends():
    for question in kind("a defined term"):
        (using,), (defining,) = question.pieces
        term = re.match(r'"([^"]+)" means', TEXTS[defining])[1]
        assert re.search(rf"\b{re.escape(term.removesuffix('y') if term.endswith('y') else term)}", TEXTS[using]), (
            question
        )


def test_the_one_hop_questions_are_drawn_from_those_of_the_agreement():
    known = {question.text: question.gold for question in one_hop_questions()}
    for question in kind("one hop"):
        assert tuple(piece[0] for piece in question.pieces) == known[question.text]


def test_an_answer_of_one_section_stands_in_no_other_section():
    for question in kind("one section"):
        assert [id for id, text in TEXTS.items() if question.answer in text] == [question.pieces[0][0]]


def test_the_labels_are_those_that_were_written():
    rows = [(q.text, q.kind, q.pieces, q.answer) for q in agreement_questions()]
    digest = sha256(json.dumps(rows).encode("ascii")).hexdigest()
    assert digest.startswith("cf5bb6e58ae6bdf7")


def test_the_file_holds_no_question_that_is_not_used():
    entries = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    used = {question.text for question in agreement_questions()}
    assert {row["text"] for row in entries["agreement"]} <= used
    assert len(entries["reference"]) == 15


def test_the_questions_on_the_reference_hold_on_this_python():
    counts = Counter(question.kind for question in reference_questions())
    assert counts["one section"] == 15
    assert counts["one hop"] >= (15 if sys.version_info[:2] == (3, 11) else 8)


def test_a_hop_in_the_reference_needs_two_sections_that_are_not_the_same():
    for question in reference_questions():
        if question.kind == "one hop":
            source, target = question.pieces
            assert not set(source) & set(target), question


# --- The documents ---


@pytest.mark.parametrize("document", [agreement_document, reference_document])
def test_a_document_has_structure_and_every_chunk_lies_in_one_node(document):
    headed = document()
    outline = outline_of(headed)
    assert outline.verdict is None
    assert set(headed.inside) == set(outline.ids())
    inside = [id for chunks in headed.inside.values() for id in chunks]
    assert sorted(inside) == sorted(chunk.id for chunk in headed.chunks)
    texts = {chunk.id: chunk.text for chunk in headed.chunks}
    for id, chunks in headed.inside.items():
        assert all(texts[chunk].strip() in outline.text(id) for chunk in chunks)


def test_the_agreement_has_47_articles_over_400_sections_and_12_schedules():
    levels = Counter((level, id.isalpha()) for id, _, level, _ in agreement_document().headings)
    assert levels == {(1, False): 47, (2, False): 400, (1, True): 12}
    assert outline_of(agreement_document()).check() == []
    assert outline_of(agreement_document()).unresolved == []
    assert article_of(large_agreement.large_agreement()[-1]) == "Schedules"


# --- Where navigation breaks ---


def test_a_flat_document_gives_a_verdict_and_no_tree():
    outline = read_agreement(flat_text())
    assert outline.verdict is not None
    assert len(outline.ids()) == 1
    with pytest.raises(ValueError, match="1 or more"):
        flat_text(0)


def test_a_lying_title_hides_the_cap_and_a_summary_repairs_it():
    honest, liar = from_sections(lying(CAP)), from_sections(lying())
    (id,) = [node.id for node in liar.walk() if node.title == LYING_TITLE]
    assert honest.node(id).title == CAP
    assert id in lexical_plan(honest)(CAP_QUESTION)
    assert id not in lexical_plan(liar)(CAP_QUESTION)
    heads = [Heading(n.id, n.title, 1, n.start, CAP_SUMMARY if n.id == id else None) for n in liar.walk()]
    assert id in lexical_plan(build(liar.document, heads), Lexical(summaries=True))(CAP_QUESTION)


def test_in_twenty_documents_the_same_heading_stands_twenty_times():
    outlines = [read_agreement(agreement.text) for agreement in twenty_documents()]
    titles = Counter(node.title for outline in outlines for node in outline.walk())
    assert titles["Liability"] == 20
    choose = document_chooser({a.id: outline for a, outline in zip(twenty_documents(), outlines, strict=True)})
    for agreement in twenty_documents():
        assert agreement.id in [hit.id for hit in choose(f"What is the limit of liability of {agreement.vendor}?", 3)]
    assert len({agreement.vendor for agreement in twenty_documents()}) > 10


# --- The measure ---


def test_of_a_piece_that_stands_in_several_places_one_is_enough():
    pieces = (("a", "b"), ("c",))
    assert node_recall(pieces, frozenset("b")) == 0.5
    assert node_recall(pieces, frozenset("ac")) == 1
    with pytest.raises(ValueError, match="without pieces"):
        node_recall((), frozenset())


def test_an_interval_holds_its_mean_and_shrinks_with_more_questions():
    few, many = mean_with_interval([0, 1] * 5), mean_with_interval([0, 1] * 200)
    assert few.low <= few.value <= few.high
    assert (many.high - many.low) < (few.high - few.low) / 3
    assert mean_with_interval([1, 1]).low == 1
    with pytest.raises(ValueError, match="no questions"):
        mean_with_interval([])


def test_a_run_is_billed_call_by_call_with_the_answer_in_the_last():
    outline = outline_of(agreement_document())
    run = navigate("What about passwords?", outline, lexical_navigator(outline))
    toc = count_tokens(outline.toc())
    cold, warm = usages(run, toc)
    read = [count_tokens(text) for text in run.evidence.values()]
    calls = len(run.path) + 1
    assert cold.fresh == calls * (300 + toc) + sum(sum(read[:call]) for call in range(calls))
    assert (cold.output, cold.calls) == (80 * (calls - 1) + 250, calls)
    assert (warm.cached, warm.input) == (calls * toc, cold.input)


def test_the_whole_document_misses_nothing_and_its_time_has_to_be_measured():
    whole = rows("agreement")["whole document", ALL]
    assert (whole.recall.value, whole.recall.n, whole.seconds) == (1.0, 100, None)
    assert whole.tokens > 15_000


def test_a_hop_is_what_chunks_lose_and_following_references_wins():
    found = rows("agreement")
    chunks = ("chunk RAG", "chunk RAG, heading paths", "BM25, heading paths", "hybrid, heading paths")
    for name in ("navigator, first lines", "BM25, references followed"):
        assert all(found[name, "one hop"].recall.low > found[other, "one hop"].recall.high for other in chunks)


def test_heading_paths_are_enough_where_one_section_holds_the_answer():
    found = rows("agreement")
    assert found["hybrid, heading paths", "one section"].recall.value >= 0.9
    assert (
        found["navigator, first lines", "one section"].recall.value
        < found["hybrid, heading paths", "one section"].recall.value
    )
    assert found["navigator, first lines", "one section"].usd > 5 * found["hybrid, heading paths", "one section"].usd


def test_an_answer_that_is_spread_everywhere_defeats_everything_but_the_whole():
    found = rows("agreement")
    for name in systems(corpus("agreement")):
        if name != "whole document":
            assert found[name, "spread everywhere"].recall.value < 0.6


def test_first_lines_tell_a_navigator_what_titles_do_not():
    found = rows("agreement")
    assert found["navigator, first lines", ALL].recall.low > found["navigator, titles", ALL].recall.value


@ON_3_11
@pytest.mark.parametrize("name", ["agreement", "reference"])
def test_the_comparison_loads_no_model(name):
    assert rows(name)
    assert not encoder().model_is_loaded


def test_the_table_has_a_row_for_each_system_and_kind():
    table = as_table(list(rows("agreement").values()))
    assert len(table) == 1 + len(systems(corpus("agreement"))) * 6
    assert {len(row) for row in table} == {13}
    assert table[1][:3] == ("chunk RAG", "one section", "20")


def test_what_is_cheapest_and_right_depends_on_the_kind_of_question():
    best = cheapest_right(list(rows("agreement").values()))
    assert {kind: row.system for kind, row in best.items()} == {
        "one section": "BM25, references followed",
        "one hop": "BM25, references followed",
        "two hops": "BM25, references followed",
        "a defined term": "whole document",
        "spread everywhere": "whole document",
        ALL: "whole document",
    }
    assert cheapest_right([], wanted=0.5) == {}


def test_headings_are_indexed_with_the_path_above_them():
    outline = outline_of(agreement_document())
    hits = heading_index(outline, FIRST_LINES).search("interest on the overdue amount", k=1)
    assert [outline.node(hit.id).title for hit in hits] == ["Late payment"]


# --- The vectors ---


@ON_3_11
def test_every_cached_text_has_its_vector_and_no_other():
    assert set(read_vectors(VECTORS)) == {text_key(text) for text in cached_texts()}
    assert VECTORS.stat().st_size < 2_000_000


@ON_3_11
def test_the_cached_vectors_are_those_of_the_model(tmp_path):
    find_weights()
    sample = cached_texts()[::199]
    save_vectors(tmp_path / "again.npz", sample, load_encoder(backend="numpy"))
    again, cached = read_vectors(tmp_path / "again.npz"), read_vectors(VECTORS)
    for key, row in again.items():
        assert np.allclose(row, cached[key], atol=1e-3)
