"""Fusion of several retrievers by the ranks they give, which needs no common scale of scores.

With a dense retriever among them the system is no longer vectorless: it keeps an index of vectors again.
"""

from collections.abc import Sequence

from course_lib.retrieval import Hit, Retriever


def fuse(rankings: Sequence[Sequence[Hit]], k: int, constant: int = 60) -> list[Hit]:
    """Return the `k` best hits by the sum of 1 / (constant + rank) over the rankings, ranks counted from 1.

    Reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009, with their constant of 60. An empty ranking (a
    retriever that abstains) adds nothing; where all are empty the result is: no evidence. Equal sums keep the order of
    the rankings. Raises ValueError for k below 1 or a negative constant.

    >>> [hit.id for hit in fuse([[Hit("a", 9.0), Hit("b", 8.0)], [Hit("b", 0.4)]], k=2)]
    ['b', 'a']
    """
    if k < 1 or constant < 0:
        raise ValueError(f"k is {k} and the constant {constant}, but k is counted from 1 and the constant from 0")
    sums: dict[str, float] = {}
    texts: dict[str, str] = {}
    for ranking in rankings:
        for rank, id in enumerate(dict.fromkeys(hit.id for hit in ranking), start=1):
            sums[id] = sums.get(id, 0) + 1 / (constant + rank)
        texts = {hit.id: hit.text for hit in reversed(ranking)} | texts
    best = sorted(sums, key=lambda id: -sums[id])[:k]
    return [Hit(id, sums[id], texts[id]) for id in best]


def hybrid(retrievers: Sequence[Retriever], pool: int = 50) -> Retriever:
    """Return a retriever that fuses the best `pool` hits of each of `retrievers`.

    It abstains only where every one of them does. A dense retriever never does, so that with one among them the
    fusion always answers, also where BM25 alone would have said that there is no evidence. No longer vectorless then.
    Raises ValueError for a pool below 1, and the retriever for a k below 1 or above the pool.
    """
    if pool < 1:
        raise ValueError(f"pool is {pool}, but it is counted from 1")

    def search(question: str, k: int = 3) -> list[Hit]:
        if k > pool:
            raise ValueError(f"k is {k}, but only {pool} hits of each retriever are fused: raise the pool")
        return fuse([retriever(question, pool) for retriever in retrievers], k)

    return search
