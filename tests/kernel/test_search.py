"""Both kernels find what a plain reading of the formula finds, to the last bit and in the same order."""

from __future__ import annotations

import math
from collections import Counter
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from kernels import compiled, each_kernel, needs_both
from postil.kernel import python
from postil.kernel.python.search import GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray


def made(seed: int, documents: int, words: int, mean: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Texts by a Zipf law; some empty, some the same."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(mean, documents) * (rng.random(documents) > 0.02)
    share = 1 / np.arange(1, words + 1)
    ids = np.searchsorted(np.cumsum(share / share.sum()), rng.random(int(lengths.sum()))).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    texts = [ids[a:b] for a, b in pairwise(offsets)]
    for place in range(10, documents, 97):
        texts[place] = texts[place - 7]
    return np.concatenate(texts), np.concatenate([[0], np.cumsum([len(text) for text in texts])])


def asked(queries: Sequence[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Queries as the kernel takes them."""
    ids = np.concatenate([np.zeros(0), *queries]).astype(np.int32)
    return ids, np.concatenate([[0], np.cumsum([len(query) for query in queries])]).astype(np.int64)


def built(kernel: ModuleType, seed: int, documents: int, gain: str) -> Any:
    words = 3000
    ids, offsets = made(seed, documents, words, 60)
    rows = kernel.count_terms(ids, offsets)
    lists = kernel.invert(*rows, words)
    factors = np.random.default_rng(seed).random(documents) + 0.1
    scales = np.log(2 * documents / (1 + np.diff(lists[0])))
    scales[::50] = 0  # any are allowed
    return rows, lists, factors, scales, kernel.search_bounds(lists, factors, scales, gain)


def plain(
    kernel: ModuleType, rows: Any, lists: Any, factors: NDArray[np.float64], gain: str = "cosine", *, scale: Any = 1.0
) -> Any:
    scales = np.full(len(lists[0]) - 1, scale)
    return kernel.searcher(rows, lists, kernel.search_bounds(lists, factors, scales, gain), factors, scales, gain)


@each_kernel
def test_terms_are_counted(kernel: ModuleType) -> None:
    starts, terms, counts = kernel.count_terms(np.array([5, 1, 5, 2], dtype=np.int32), np.array([0, 0, 3, 4]))
    assert starts.tolist() == [0, 0, 2, 3]
    assert terms.tolist() == [1, 5, 2]
    assert counts.tolist() == [1, 2, 1]
    starts, terms, counts = kernel.count_terms(np.zeros(70_000, dtype=np.int32), np.array([0, 70_000]))
    assert counts.tolist() == [65_535]  # as much as a count can hold


@each_kernel
def test_lists_are_rows_turned_round(kernel: ModuleType) -> None:
    rows = np.array([0, 2, 3]), np.array([1, 5, 1], dtype=np.int32), np.array([1, 2, 3], dtype=np.uint16)
    starts, documents, counts = kernel.invert(*rows, 6)
    assert starts.tolist() == [0, 0, 2, 2, 2, 2, 3]
    assert documents.tolist() == [0, 1, 0]
    assert counts.tolist() == [1, 3, 2]
    with pytest.raises(ValueError, match="out of range"):
        kernel.invert(*rows, 5)


@needs_both
@pytest.mark.parametrize("gain", ["cosine", "bm25"])
def test_both_kernels_have_the_same_tables(gain: str) -> None:
    for one, two in zip(
        built(compiled, 3, 130 * GROUP + 7, gain), built(python, 3, 130 * GROUP + 7, gain), strict=True
    ):
        for left, right in zip(
            one if isinstance(one, tuple) else [one], two if isinstance(two, tuple) else [two], strict=True
        ):
            assert left.dtype == right.dtype
            assert np.array_equal(left, right)


@needs_both
@pytest.mark.parametrize("gain", ["cosine", "bm25"])
@pytest.mark.parametrize("length", [1, 3, 12, 100])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_both_kernels_find_the_same(gain: str, length: int, k: int) -> None:
    documents = 200 * GROUP - 5
    rows, lists, factors, scales, bounds = built(compiled, length, documents, gain)
    rng = np.random.default_rng(k)
    queries = [rng.integers(-1, 3002 if n % 2 else 200, length) for n in range(40)]
    queries[7] = np.zeros(0)
    ids, offsets = asked(queries)
    fast = compiled.searcher(rows, lists, bounds, factors, scales, gain)
    definition = python.searcher(rows, lists, bounds, factors, scales, gain)
    expected = definition.search(ids, offsets, k)
    for jobs in (1, 2):
        found = fast.search(ids, offsets, k, jobs)
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])
    assert (expected[0][7] == -1).all()
    assert (expected[1] > 0).any()


@each_kernel
@pytest.mark.parametrize("gain", ["cosine", "bm25"])
@examples(30)
@given(
    texts=st.lists(st.lists(st.integers(0, 7), max_size=9), min_size=1, max_size=80),
    queries=st.lists(st.lists(st.integers(-2, 9), max_size=9), max_size=4),
    scales=st.lists(st.sampled_from([1.0, 0.1, 3.7, 1e-200, 0.0, -1.0]), min_size=8, max_size=8),
)
def test_scores_are_those_of_the_formula_to_the_last_bit(
    kernel: ModuleType, gain: str, texts: list[list[int]], queries: list[list[int]], scales: list[float]
) -> None:
    rows = kernel.count_terms(*asked(texts))
    factors = 1 / (2.0 + np.arange(len(texts)))
    search = plain(kernel, rows, kernel.invert(*rows, 8), factors, gain, scale=scales)
    documents, scores = search.search(*asked(queries), len(texts))
    for query, found, best in zip(queries, documents.tolist(), scores.tolist(), strict=True):
        counts = sorted(Counter(word for word in query if 0 <= word < 8).items())
        norm = math.sqrt(reduce(add, [(count * scales[word]) ** 2 for word, count in counts], 0.0))
        expected = []
        for number, (text, factor) in enumerate(zip(texts, factors.tolist(), strict=True)):
            score = 0.0
            for word, count in counts:
                weight, times = count * scales[word], float(text.count(word))
                if gain == "cosine":
                    weight = weight * scales[word] / (norm if norm > 0 else 1)
                if weight > 0 and times:
                    score += weight * (times if gain == "cosine" else times / (times + factor))
            expected.append((-(score * factor if gain == "cosine" else score), number))
        expected = sorted(pair for pair in expected if pair[0] < 0)
        assert found == [number for _, number in expected] + [-1] * (len(texts) - len(expected))
        assert best == [-score for score, _ in expected] + [0] * (len(texts) - len(expected))


@each_kernel
def test_equal_scores_stand_in_the_order_of_documents(kernel: ModuleType) -> None:
    ids, offsets = np.tile(np.array([0, 1], dtype=np.int32), 300), np.arange(0, 601, 2)
    rows = kernel.count_terms(ids, offsets)
    lists = kernel.invert(*rows, 2)
    factors = np.ones(300)
    search = plain(kernel, rows, lists, factors)
    documents, scores = search.search(*asked([[1]]), 5)
    assert documents.tolist() == [[0, 1, 2, 3, 4]]
    assert scores.tolist() == [[1.0] * 5]


@each_kernel
def test_unknown_terms_and_small_collections(kernel: ModuleType) -> None:
    rows = kernel.count_terms(np.array([0], dtype=np.int32), np.array([0, 1]))
    lists = kernel.invert(*rows, 1)
    factors = np.ones(1)
    search = plain(kernel, rows, lists, factors)
    documents, scores = search.search(*asked([[-1, 9], [0, 3]]), 3)
    assert documents.tolist() == [[-1, -1, -1], [0, -1, -1]]
    assert scores.tolist() == [[0, 0, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match="k of at least 1"):
        search.search(*asked([]), 0)
    with pytest.raises(ValueError, match="expected offsets of the words of texts"):
        search.search(np.zeros(2, dtype=np.int32), np.array([0, 3]), 1)
    with pytest.raises(ValueError, match="cosine or bm25"):
        plain(kernel, rows, lists, factors, "dot")
    bounds = kernel.search_bounds(lists, factors, np.ones(1), "cosine")
    for few in ((np.ones(2), np.ones(1)), (np.ones(1), np.ones(2))):
        with pytest.raises(ValueError, match=r"expected a (factor|scale) for each"):
            kernel.searcher(rows, lists, bounds, *few, "cosine")


@needs_both
@pytest.mark.parametrize("gain", ["cosine", "bm25"])
def test_uncommon_collections(gain: str) -> None:
    """Very long documents, empty ones, factors of 0, a table that is full, and more results wanted than there are."""
    rng = np.random.default_rng(9)
    words = 5000
    texts: list[Any] = [
        rng.integers(0, words, 4),
        np.repeat(np.arange(words), 3),
        np.zeros(70_000, dtype=int),
        [],
        [7, 7],
    ]
    texts += [rng.integers(0, 40, size) for size in rng.integers(0, 30, 250)]
    ids = np.concatenate(texts).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    rows = compiled.count_terms(ids, offsets)
    lists = compiled.invert(*rows, words)
    factors = rng.random(len(texts)) * (rng.random(len(texts)) > 0.1) * 10.0 ** rng.integers(-6, 7, len(texts))
    queries = asked([np.arange(words), np.zeros(70_000), [], [1, 2, 4999], np.arange(40).repeat(3)])
    for scales in (1.0, 10.0 ** rng.integers(-9, 9, words), 1e-200):
        for k in (1, 3, 200):
            fast, slow = (plain(kernel, rows, lists, factors, gain, scale=scales) for kernel in (compiled, python))
            for found, expected in zip(fast.search(*queries, k), slow.search(*queries, k), strict=True):
                assert np.array_equal(found, expected)


@each_kernel
@pytest.mark.parametrize("gain", ["cosine", "bm25"])
def test_a_few_results_are_the_first_of_many(kernel: ModuleType, gain: str) -> None:
    """Many results are found by adding up all postings, few by bounds; one is the beginning of the other."""
    documents = 40 * GROUP + 3
    rows, lists, factors, scales, bounds = built(kernel, 5, documents, gain)
    rng = np.random.default_rng(6)
    queries = asked([rng.integers(0, 3000 if n % 2 else 60, 2 + 8 * n) for n in range(12)])
    search = kernel.searcher(rows, lists, bounds, factors, scales, gain).search
    every, scores = search(*queries, documents)
    for k in (1, 2, 20, 300):
        found = search(*queries, k)
        assert np.array_equal(found[0], every[:, :k])
        assert np.array_equal(found[1], scores[:, :k])
    assert ((every >= 0).sum(1) > 300).any()


@each_kernel
def test_terms_of_long_texts_rise(kernel: ModuleType) -> None:
    ids = np.random.default_rng(8).integers(-(2**31), 2**31, 3000).astype(np.int32)
    ids = np.concatenate([ids, ids[::7], ids[:100] % 300, [2**31 - 1, -(2**31)]]).astype(np.int32)
    starts, terms, counts = kernel.count_terms(ids, np.array([0, 70, len(ids)]))
    for begin, end, text in ((starts[0], starts[1], ids[:70]), (starts[1], starts[2], ids[70:])):
        expected = np.unique(text, return_counts=True)
        assert np.array_equal(terms[begin:end], expected[0])
        assert np.array_equal(counts[begin:end], expected[1])
