"""Rank correlations of resamples are those of the rows repeated, in both kernels, whatever the number of threads."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import KERNELS, compiled, each_kernel, needs_both
from postil.kernel import python

KINDS = ("spearman", "kendall-b", "kendall-c")


@pytest.fixture(params=KERNELS)
def correlate(request):
    return request.param.rank_correlations


def int32(values):
    return np.array(values, np.int32)


def plain(x, y, kind):
    """By the definitions, over all pairs of rows."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in pairs]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    if kind == "spearman":
        # The average rank is half the rows below, less half the rows above, from the middle.
        a, b = (np.array([sum(np.sign(each - other) for other in side) / 2 for each in side]) for side in (x, y))
        return (a @ b) / math.sqrt((a @ a) * (b @ b))
    score = sum(a * b for a, b in signs)
    if kind == "kendall-b":
        return score / math.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
    k = min(len(set(x)), len(set(y)))
    return 2 * score / (len(x) ** 2 * (k - 1) / k)


@st.composite
def problems(draw):
    n = draw(st.integers(1, 9))
    clusters = draw(st.integers(1, 5))

    def column(highest):
        return st.lists(st.integers(0, min(highest, n - 1)), min_size=n, max_size=n)

    x = int32(draw(st.lists(column(draw(st.integers(0, 8))), min_size=1, max_size=3))).T.copy()
    y = int32(draw(column(draw(st.integers(0, 8)))))
    cluster = int32(draw(st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n)))
    count = st.lists(st.integers(0, 3), min_size=clusters, max_size=clusters)
    return x, y, cluster, int32(draw(st.lists(count, min_size=1, max_size=3)))


@each_kernel
@given(problem=problems())
def test_a_weight_is_a_repeated_row(kernel, problem):
    x, y, cluster, counts = problem
    for kind in KINDS:
        found = kernel.rank_correlations(x, y, cluster, counts, kind)
        for resample, count in enumerate(counts):
            rows = np.repeat(np.arange(len(y)), count[cluster])
            expected = [plain(x[rows, j].tolist(), y[rows].tolist(), kind) for j in range(x.shape[1])]
            np.testing.assert_allclose(found[resample], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # Ranks 1.5 1.5 3 4 and 1 2.5 2.5 4; from their mean -1 -1 .5 1.5 and -1.5 0 0 1.5: 3.75 / 4.5.
        ("spearman", 3.75 / 4.5),
        # Of the 6 pairs one is tied in x, another in y, and 4 agree: 4 / sqrt(5 * 5).
        ("kendall-b", 0.8),
        # Three groups on either side: 2 * 4 / (16 * 2 / 3).
        ("kendall-c", 0.75),
    ],
)
def test_worked_out_by_hand(correlate, kind, expected):
    x, y = int32([[0], [0], [1], [2]]), int32([0, 1, 1, 2])
    found = correlate(x, y, int32([0, 0, 1, 1]), int32([[1, 1]]), kind)
    assert found.shape == (1, 1)
    assert found[0, 0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("kind", ["spearman", "kendall-b"])
def test_sums_are_exact_up_to_the_limit(correlate, kind):
    ranks = np.arange(2000, dtype=np.int32)
    counts = np.full((1, 2000), 1048, np.int32)  # 2,096,000 rows
    found = correlate(np.stack([ranks, ranks[::-1]], axis=1).copy(), ranks, ranks, counts, kind)
    assert found.tolist() == [[1.0, -1.0]]
    with pytest.raises(ValueError, match="2,097,152"):
        correlate(ranks[:, None], ranks, ranks, counts + 1, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_where_there_is_nothing_to_correlate(correlate, kind):
    one = int32([0])
    assert np.isnan(correlate(int32([[0]]), one, one, int32([[5], [0]]), kind)).all()
    assert correlate(np.empty((1, 0), np.int32), one, one, int32([[5]]), kind).shape == (1, 0)
    assert correlate(int32([[0]]), one, one, np.empty((0, 1), np.int32), kind).shape == (0, 1)


@needs_both
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_agree_and_threads_change_no_bit(kind):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, [300, 4, 40], (300, 3), np.int32), rng.integers(0, 30, 300, np.int32)
    cluster = np.sort(rng.integers(0, 50, 300, np.int32))
    counts = rng.integers(0, 3, (30, 50), np.int32)
    one = compiled.rank_correlations(x, y, cluster, counts, kind, 1)
    np.testing.assert_array_equal(one, compiled.rank_correlations(x, y, cluster, counts, kind, 3))
    np.testing.assert_allclose(one, python.rank_correlations(x, y, cluster, counts, kind), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": [[0], [2]]}, "ranks"),
        ({"x": [[0], [-1]]}, "ranks"),
        ({"y": [0, 2]}, "ranks"),
        ({"y": [0]}, "as many"),
        ({"cluster": [0]}, "as many"),
        ({"cluster": [0, 1]}, "every cluster"),
        ({"cluster": [0, -1]}, "every cluster"),
        ({"counts": [[-1]]}, "from 0 up"),
        ({"kind": "kendall"}, "kendall-b"),
    ],
)
def test_what_it_refuses(correlate, changed, message):
    good = {"x": [[0], [1]], "y": [0, 1], "cluster": [0, 0], "counts": [[1]], "kind": "spearman"} | changed
    kind = good.pop("kind")
    with pytest.raises(ValueError, match=message):
        correlate(*map(int32, good.values()), kind)


@pytest.fixture(params=KERNELS)
def count(request):
    return request.param.order_counts


def problem(patterns: int, seed: int = 0):
    """Small integers, so that many differences are 0 or just the slack."""
    random = np.random.default_rng(seed)
    own, other = random.integers(-2, 3, (3, 4, patterns)) / 4, random.integers(-2, 3, (2, 4, patterns)) / 4
    together = np.array([[0, 1], [2, 0], [1, 1]], np.int32)
    pairs = np.array([[0, 1], [3, 0], [2, 2]], np.int32)
    return own, other, together, pairs, random.integers(0, 2, (3, 3)) / 4


@pytest.mark.parametrize("patterns", [0, 1, 255, 256, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_counts_are_those_of_the_definition(count, patterns: int, jobs: int) -> None:
    own, other, together, pairs, slack = problem(patterns)
    found = count(own, other, together, pairs, slack, jobs)
    for q, (m, added) in enumerate(together):
        for p, (a, b) in enumerate(pairs):
            apart = [(own[m, a, k] - own[m, b, k]) + (other[added, a, k] - other[added, b, k]) for k in range(patterns)]
            right = [sum(d <= slack[q, p] for d in apart), sum(d >= -slack[q, p] for d in apart)]
            assert found[q, p].tolist() == right


def test_bad_input_is_refused(count) -> None:
    own, other, together, pairs, slack = problem(10)
    with pytest.raises(ValueError, match="the same columns and patterns"):
        count(own[:, :3].copy(), other, together, pairs, slack)
    with pytest.raises(ValueError, match="a slack for each pair"):
        count(own, other, together, pairs, slack[:2].copy())
    for bad_together, bad_pairs in ((together + 1, pairs), (together, pairs + 1), (together, pairs - 1)):
        with pytest.raises(ValueError, match="sums of each pair"):
            count(own, other, bad_together, bad_pairs, slack)
