"""Rank correlations of passage scores with grades and lengths, and given the length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.meta.resampling import bootstrap_counts
from postil.passages.by_length import LengthCorrelations, length_correlations

NONE = np.zeros((0, 1), np.int32)


def of_list(scores: list[float], grades: list[float], words: list[int]) -> LengthCorrelations:
    """The correlations of one list."""
    (found,) = length_correlations(
        np.array(scores, np.float64)[:, None],
        np.array(grades, np.float64),
        np.array(words, np.float64),
        np.zeros(len(scores), np.int64),
        NONE,
        pool="all",
    )
    return found


def test_five_passages_by_hand() -> None:
    # d² of ranks: scores and grades 4, grades and words 14, scores and words 10: 1 - 6 Σd² / 120.
    found = of_list([1, 2, 3, 5, 4], [2, 1, 3, 4, 5], [10, 30, 50, 20, 40])
    r, grades, words = 1 - 6 * 4 / 120, 1 - 6 * 14 / 120, 1 - 6 * 14 / 120
    assert (found.spearman.value, found.with_length.value) == pytest.approx((r, words))
    assert found.partial.value == pytest.approx((r - words * grades) / math.sqrt((1 - words**2) * (1 - grades**2)))
    assert (found.spearman.lists, found.spearman.low, found.partial.reason) == (1, None, None)


@pytest.mark.parametrize(
    ("scores", "grades", "words", "reasons"),
    [
        ([1, 2, 3], [1, 2, 0], [5, 4, 6], ["fewer than 4 passages"] * 3),
        ([1, 2, 3, 4], [2, 2, 2, 2], [5, 4, 6, 1], ["equal grades", "equal grades", None]),
        ([0.3, 0.1 + 0.2, 0.3, 0.3], [1, 2, 3, 0], [5, 4, 6, 1], ["equal scores"] * 3),
        ([-math.inf] * 4, [1, 2, 3, 0], [5, 4, 6, 1], ["equal scores"] * 3),
        ([1, 2, 3, 4], [1, 0, 2, 0], [5, 5, 5, 5], [None, "equal numbers of words", "equal numbers of words"]),
        ([5, 4, 6, 1], [1, 0, 2, 2], [50, 40, 60, 10], [None, "scores in the order of the lengths", None]),
        ([-5, -4, -6, -1], [1, 0, 2, 2], [50, 40, 60, 10], [None, "scores in the order of the lengths", None]),
        ([1, 0, 2, 2], [5, 4, 6, 1], [50, 40, 60, 10], [None, "grades in the order of the lengths", None]),
    ],
)
def test_what_is_undefined_has_a_reason(
    scores: list[float], grades: list[float], words: list[int], reasons: list[str | None]
) -> None:
    found = of_list(scores, grades, words)
    assert [each.reason for each in (found.spearman, found.partial, found.with_length)] == reasons
    for each in (found.spearman, found.partial, found.with_length):
        assert (each.value is None, each.lists) == (each.reason is not None, int(each.reason is None))


def test_lists_without_a_coefficient_are_left_out_of_the_mean() -> None:
    # 0: three passages; 1: equal grades; 2: a correlation of .8; 3: of -1.
    groups = np.repeat([0, 1, 2, 3], [3, 4, 4, 4])
    scores = np.array([1, 2, 3, 1, 2, 3, 4, 1, 3, 2, 4, 4, 3, 2, 1.0])
    grades = np.array([1, 2, 3, 1, 1, 1, 1, 1, 2, 3, 4, 1, 2, 3, 4.0])
    words = np.array([3, 4, 5, 7, 7, 7, 7, 1, 2, 8, 4, 1, 2, 8, 4.0])
    counts = np.array([[0, 0, 4, 0], [1, 1, 2, 0], [4, 0, 0, 0]], np.int32)
    both = np.column_stack([scores, np.zeros(15)])
    found, constant = length_correlations(both, grades, words, groups, counts, pool="topic")
    assert found.spearman.value == pytest.approx((0.8 - 1) / 2)
    assert (found.spearman.lists, found.partial.lists, found.with_length.lists) == (2, 2, 2)
    assert (found.spearman.low, found.spearman.high) == pytest.approx((0.8, 0.8))
    reason = "no topic has one: fewer than 4 passages (1), equal grades (1), equal scores (2)"
    assert (constant.partial.value, constant.spearman.reason) == (None, reason)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 3), st.integers(1, 6)), min_size=1, max_size=30
)


@given(ROWS, st.sampled_from(["topic", "all"]), st.randoms(use_true_random=False))
def test_order_of_rows_and_monotone_scores_do_not_matter(rows, pool, random) -> None:  # type: ignore[no-untyped-def]
    def found(table: list[tuple[int, ...]], stretched: bool) -> LengthCorrelations:
        group, score, grade, words = np.array(table, np.float64).T
        groups = np.unique(group, return_inverse=True)[1]
        scores = np.exp(score) * 1e-3 - 7 if stretched else score
        counts = bootstrap_counts(int(groups.max()) + 1, 20, seed=1)
        return length_correlations(scores[:, None], grade, words, groups, counts, pool=pool)[0]

    one, other = found(rows, stretched=False), found(random.sample(rows, len(rows)), stretched=True)
    for a, b in ((one.spearman, other.spearman), (one.partial, other.partial), (one.with_length, other.with_length)):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)
        assert a.value is None or -1 <= a.value <= 1
