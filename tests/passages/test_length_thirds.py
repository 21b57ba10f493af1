"""Thirds of lists by number of words, and nCG within them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.meta.resampling import bootstrap_counts
from postil.passages.by_length import ListThirds, PooledThirds, length_thirds
from postil.passages.gain import normalized_gains

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROW = st.tuples(
    st.integers(0, 3),  # group
    st.integers(0, 6),  # words
    st.sampled_from([-math.inf, 0.0, 0.3, 0.1 + 0.2, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
)
ROWS = st.lists(ROW, min_size=1, max_size=30).filter(lambda rows: any(grade for *_, grade in rows))


def columns(rows: list[tuple[int, int, float, float]]) -> tuple[NDArray[np.int64], ...]:
    """Groups without a gap, words, scores, grades."""
    group, words, scores, grades = map(np.array, zip(*rows, strict=True))
    return np.unique(group, return_inverse=True)[1], words, scores.astype(np.float64), grades.astype(np.float64)


def one_list(words: list[int]) -> list[int]:
    return length_thirds(np.array(words), np.zeros(len(words), np.int64)).tolist()


def plainly(scores: NDArray[np.float64], grades: NDArray[np.float64], thirds: NDArray[np.int64], k: int) -> list[float]:
    """The nCG at k of each third that has a grade above 0."""
    found = []
    for third in range(3):
        rows = np.flatnonzero(thirds == third)
        if grades[rows].any():
            found.append(float(normalized_gains(scores[rows], grades[rows])[min(k, len(rows)) - 1]))
    return found


@pytest.mark.parametrize(
    ("words", "thirds"),
    [
        ([5], [1]),
        ([9, 2], [2, 0]),
        ([3, 1, 2], [2, 0, 1]),
        ([1, 2, 3, 4], [0, 1, 1, 2]),
        ([1, 2, 3, 4, 5], [0, 0, 1, 2, 2]),
        ([7] * 5, [1] * 5),
        ([7, 7, 7, 7, 8, 9], [1, 1, 1, 1, 2, 2]),
        ([0, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]),
    ],
)
def test_thirds_of_small_lists(words: list[int], thirds: list[int]) -> None:
    assert one_list(words) == thirds


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_the_third_is_that_of_the_average_rank(words: list[int]) -> None:
    n, found = len(words), one_list(words)
    for each, third in zip(words, found, strict=True):
        average_rank = (sum(other < each for other in words) + sum(other <= each for other in words) + 1) / 2
        assert third == math.floor(3 * (average_rank - 0.5) / n)
    assert one_list([-each for each in words]) == [2 - third for third in found] or len(set(words)) < n


@given(ROWS, st.randoms(use_true_random=False))
def test_lists_are_cut_each_for_itself_in_any_order(rows: list[tuple[int, int, float, float]], random) -> None:  # type: ignore[no-untyped-def]
    group, words, *_ = columns(rows)
    found = length_thirds(words, group)
    for each in set(group.tolist()):
        assert found[group == each].tolist() == one_list(words[group == each].tolist())
    order = np.array(random.sample(range(len(rows)), len(rows)))
    assert length_thirds(words[order], group[order]).tolist() == found[order].tolist()


def test_gains_of_thirds_by_hand() -> None:
    # Short: 1 word, grades 0 and 2, tied: 1/2. Middle: no grade above 0, left out. Long: the worse one first: 1/3.
    words = np.array([1, 1, 5, 6, 9, 8])
    grades = np.array([0.0, 2.0, 0.0, 0.0, 1.0, 3.0])
    scores = np.array([0.5, 0.5, 9.0, 8.0, 2.0, 1.0])
    lists = np.zeros(6, np.int64)
    thirds = length_thirds(words, lists)
    assert thirds.tolist() == [0, 0, 1, 1, 2, 2]
    for kind in (ListThirds, PooledThirds):
        samples, shares = kind(grades, lists, thirds, np.ones((2, 1), np.int32), 1).gains(scores)
        assert samples.tolist() == pytest.approx([(1 / 2 + 1 / 3) / 2] * 3)
        assert shares.tolist() == pytest.approx([1 / 2, math.nan, 1 / 3], nan_ok=True)


@given(ROWS, st.integers(1, 8))
def test_lists_of_their_own_are_those_written_out(rows: list[tuple[int, int, float, float]], k: int) -> None:
    group, words, scores, grades = columns(rows)
    kept = (np.bincount(group, grades) > 0)[group]
    group, words, scores, grades = columns([row for row, keep in zip(rows, kept, strict=True) if keep])
    thirds, lists = length_thirds(words, group), int(group.max()) + 1
    counts = bootstrap_counts(lists, 5, seed=3)
    samples, shares = ListThirds(grades, group, thirds, counts, k).gains(scores)
    means = [np.mean(plainly(scores[group == g], grades[group == g], thirds[group == g], k)) for g in range(lists)]
    np.testing.assert_allclose(samples, [np.mean(means), *(counts @ means / lists)], rtol=1e-12)
    of_short = [
        plainly(scores[some], grades[some], thirds[some], k)[0]
        for g in range(lists)
        if grades[some := (group == g) & (thirds == 0)].any()
    ]
    assert shares[0] == pytest.approx(np.mean(of_short) if of_short else math.nan, nan_ok=True)


@given(ROWS, st.integers(1, 8))
def test_resamples_of_one_list_are_those_written_out(rows: list[tuple[int, int, float, float]], k: int) -> None:
    group, words, scores, grades = columns(rows)
    thirds = length_thirds(words, np.zeros_like(group))
    counts = bootstrap_counts(int(group.max()) + 1, 5, seed=3)
    samples, shares = PooledThirds(grades, group, thirds, counts, k).gains(scores)
    for found, drawn in zip(samples, [np.ones_like(counts[0]), *counts], strict=True):
        copies = np.repeat(np.arange(len(rows)), drawn[group])
        expected = plainly(scores[copies], grades[copies], thirds[copies], k)
        assert found == pytest.approx(np.mean(expected) if expected else math.nan, nan_ok=True)
    assert shares[~np.isnan(shares)].tolist() == pytest.approx(plainly(scores, grades, thirds, k))


def test_a_list_whose_best_passages_are_all_of_one_group() -> None:
    # Where that group is not drawn, the cutoff lies far below the rows that are looked at first.
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1, 2], [900, 300, 5])
    scores = np.concatenate([rng.random(900) + 9, rng.random(300), np.full(5, -1.0)])
    grades = rng.integers(0, 4, len(group)).astype(np.float64)
    thirds = np.zeros(len(group), np.int64)
    counts = np.array([[0, 3, 0], [0, 0, 3], [1, 1, 1], [0, 1, 2]], np.int32)
    samples, _ = PooledThirds(grades, group, thirds, counts, 7).gains(scores)
    for found, drawn in zip(samples[1:], counts, strict=True):
        copies = np.repeat(np.arange(len(group)), drawn[group])
        assert [found] == pytest.approx(plainly(scores[copies], grades[copies], thirds[copies], 7))
