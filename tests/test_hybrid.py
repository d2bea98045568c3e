import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.bm25 import Index
from course_lib.corpora import support_kb
from course_lib.dense import DenseIndex, load_encoder
from course_lib.hybrid import fuse, hybrid
from course_lib.retrieval import Hit

RANKING = st.lists(st.sampled_from("abcdef"), unique=True).map(lambda ids: [Hit(id, -n) for n, id in enumerate(ids)])


def hits(*ids):
    return [Hit(id, 1.0, f"text of {id}") for id in ids]


def test_the_sums_are_those_of_the_paper():
    best = fuse([hits("a", "b", "c"), hits("c", "a")], k=3)
    assert [hit.id for hit in best] == ["a", "c", "b"]
    assert [hit.score for hit in best] == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62])
    assert best[1].text == "text of c"


def test_scores_of_other_scales_do_not_matter():
    small, large = [Hit("a", 0.2), Hit("b", 0.1)], [Hit("b", 900.0), Hit("c", 800.0)]
    assert [hit.id for hit in fuse([small, large], k=3)] == ["b", "a", "c"]


@given(st.lists(RANKING, max_size=4), st.integers(1, 8))
def test_a_fusion_holds_each_id_once_best_first_and_no_others(rankings, k):
    best = fuse(rankings, k)
    ids = [hit.id for hit in best]
    known = {hit.id for ranking in rankings for hit in ranking}
    assert len(ids) == len(set(ids)) == min(k, len(known))
    assert set(ids) <= known
    assert [hit.score for hit in best] == sorted((hit.score for hit in best), reverse=True)


def test_an_id_that_one_ranking_repeats_counts_once():
    assert [hit.id for hit in fuse([hits("a", "a", "b"), hits("b")], k=2)] == ["b", "a"]
    assert fuse([hits("a", "a", "b")], k=2)[1].score == 1 / 62


def test_one_retriever_keeps_its_order():
    assert [hit.id for hit in hybrid([lambda question, k: hits("c", "a", "b")[:k]])("x", 2)] == ["c", "a"]


def test_it_abstains_only_where_all_do():
    silent, speaking = (lambda question, k: []), (lambda question, k: hits("a"))
    assert hybrid([silent, silent])("x", 3) == []
    assert [hit.id for hit in hybrid([silent, speaking])("x", 3)] == ["a"]
    assert hybrid([])("x", 3) == []


def test_with_a_dense_retriever_it_answers_what_bm25_would_not():
    bm25 = Index(support_kb.documents())
    chunks = {article.id: article.chunk for article in support_kb.articles()}
    dense = DenseIndex(chunks, load_encoder(support_kb.VECTORS))
    both = hybrid([bm25.search, dense.search])
    question = "The screen stays black when I turn it on"
    assert bm25.search(question) == []
    assert both(question, 1)[0].id == "kb-104"
    assert len(both("What does E-9999 mean?", 3)) == 3


def test_numbers_that_cannot_be_are_refused_in_a_sentence():
    for wrong in (lambda: fuse([], 0), lambda: fuse([], 1, -1), lambda: hybrid([], 0), lambda: hybrid([], 5)("x", 6)):
        with pytest.raises(ValueError, match=" is "):
            wrong()
