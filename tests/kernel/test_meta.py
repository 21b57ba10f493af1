"""Counts of meta-evaluation are those of plain readings, in both kernels, whatever is pruned, merged or threaded."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import KERNELS, compiled, each_kernel, needs_both
from postil.data.ranking import joined
from postil.kernel import python
from postil.kernel.python import meta as reference

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


def pattern_problem(patterns: int, seed: int = 0):
    """Small integers, so that many differences are 0 or just the slack."""
    random = np.random.default_rng(seed)
    own, other = random.integers(-2, 3, (3, 4, patterns)) / 4, random.integers(-2, 3, (2, 4, patterns)) / 4
    together = np.array([[0, 1], [2, 0], [1, 1]], np.int32)
    pairs = np.array([[0, 1], [3, 0], [2, 2]], np.int32)
    return own, other, together, pairs, random.integers(0, 2, (3, 3)) / 4


@pytest.mark.parametrize("patterns", [0, 1, 255, 256, 1000])
@pytest.mark.parametrize("jobs", [1, 3])
def test_counts_are_those_of_the_definition(count, patterns: int, jobs: int) -> None:
    own, other, together, pairs, slack = pattern_problem(patterns)
    found = count(own, other, together, pairs, slack, jobs)
    for q, (m, added) in enumerate(together):
        for p, (a, b) in enumerate(pairs):
            apart = [(own[m, a, k] - own[m, b, k]) + (other[added, a, k] - other[added, b, k]) for k in range(patterns)]
            right = [sum(d <= slack[q, p] for d in apart), sum(d >= -slack[q, p] for d in apart)]
            assert found[q, p].tolist() == right


def test_bad_input_is_refused(count) -> None:
    own, other, together, pairs, slack = pattern_problem(10)
    with pytest.raises(ValueError, match="the same columns and patterns"):
        count(own[:, :3].copy(), other, together, pairs, slack)
    with pytest.raises(ValueError, match="a slack for each pair"):
        count(own, other, together, pairs, slack[:2].copy())
    for bad_together, bad_pairs in ((together + 1, pairs), (together, pairs + 1), (together, pairs - 1)):
        with pytest.raises(ValueError, match="sums of each pair"):
            count(own, other, bad_together, bad_pairs, slack)


NOTHING = np.zeros(0, np.int64)


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


def scores_of(rng, kind, shape):
    """Few values, real numbers, hundredths with rounding noise, or numbers of all sizes down to 1e-13."""
    if kind == "few":
        return rng.integers(0, 5, shape) * 0.1
    if kind == "real":
        return rng.normal(size=shape)
    if kind == "noisy":
        return rng.integers(0, 200, shape) * 0.01 * (1 + rng.integers(-1, 2, shape) * 1e-15)
    return 10.0 ** -rng.integers(0, 14, shape) * rng.integers(0, 3, shape)


def problem(rng, kind, sizes, metrics, orders):
    n, starts = int(sum(sizes)), np.cumsum(sizes) - sizes
    scores = scores_of(rng, kind, (n, metrics))
    scores = np.column_stack([joined(column, starts) for column in scores.T])
    ranks = np.minimum(rng.integers(0, 5, (n, orders)), n - 1).astype(np.int32)
    return scores, ranks, starts.astype(np.int64)


def plain_right(scores, grades, epsilon):
    """By the definition, over all pairs of a group."""
    right = 0
    for (a, one), (b, other) in itertools.combinations(zip(scores, grades, strict=True), 2):
        metric = 0 if abs(a - b) <= epsilon else np.sign(a - b)
        right += metric == np.sign(int(one) - int(other))
    return int(right)


@pytest.mark.parametrize("kind", ["few", "real", "noisy", "sizes"])
def test_the_threshold_is_the_best_of_all_differences(kernel, kind):
    rng = np.random.default_rng(5)
    for _ in range(10):
        scores, ranks, starts = problem(rng, kind, np.array([4, 1, 7]), 1, 1)
        found, plain, best = kernel.calibrate(scores, np.abs(scores), ranks, starts, np.ones(3, np.int64), NOTHING)
        groups = [slice(begin, end) for begin, end in ((0, 4), (4, 5), (5, 12))]

        def right(epsilon, groups=groups, scores=scores, ranks=ranks):
            return sum(plain_right(scores[rows, 0], ranks[rows, 0], epsilon) for rows in groups)

        differences = {abs(a - b) for rows in groups for a, b in itertools.combinations(scores[rows, 0], 2)}
        # Every difference a little larger, so that equal ones are on the same side of it.
        every = [0.0, *(each * (1 + 1e-9) + 1e-16 for each in differences)]
        assert plain[0] == right(0.0)
        assert best[0, 0] == right(found[0]) == max(map(right, every))
        assert found[0] == 0.0 or found[0] in differences


@needs_both
@pytest.mark.parametrize("kind", ["few", "real", "noisy", "sizes"])
@pytest.mark.parametrize(("sizes", "orders"), [([1, 2, 9, 30], 12), ([300], 9), ([40] * 12, 2)])
def test_kernels_agree(kind, sizes, orders):
    rng = np.random.default_rng(len(sizes))
    sizes = np.array(sizes)
    scores, ranks, starts = problem(rng, kind, sizes, 2, orders)
    weights = rng.integers(1, 5, len(sizes))
    for slack, fixed in ((0, NOTHING), (2, rng.integers(-5, 5, len(sizes)))):
        given = scores, np.abs(scores), ranks, starts, weights, fixed, slack
        expected = reference.calibrate(*given)
        for jobs in (1, 2):
            for one, other in zip(compiled.calibrate(*given, jobs), expected, strict=True):
                np.testing.assert_array_equal(one, other)
    first, epsilons = ranks[:, 0].copy(), expected[0]
    cluster, counts = rng.integers(0, 4, len(scores)).astype(np.int32), rng.integers(0, 3, (5, 4)).astype(np.int32)
    kinds = rng.integers(0, 2, len(sizes)).astype(np.int32)
    for name, given in (
        ("right_pairs", (scores, first, starts, cluster, counts, epsilons)),
        ("both_right", (scores, first, starts, kinds, 2, epsilons)),
    ):
        expected = getattr(reference, name)(*given)
        for jobs in (1, 2):
            np.testing.assert_array_equal(getattr(compiled, name)(*given, jobs), expected)


def test_a_weight_is_a_repeated_row_without_pairs_of_copies(kernel):
    rng = np.random.default_rng(2)
    scores, ranks, starts = problem(rng, "few", np.array([5, 6]), 2, 1)
    cluster, counts = np.arange(11, dtype=np.int32), rng.integers(0, 3, (4, 11)).astype(np.int32)
    epsilons = np.array([0.0, 0.15])
    found = kernel.right_pairs(scores, ranks[:, 0].copy(), starts, cluster, counts, epsilons)
    for resample, count in enumerate(counts):
        for group, each in enumerate((range(5), range(5, 11))):
            rows = np.repeat(np.array(each), count[each])
            copies = sum(c * (c - 1) // 2 for c in count[each])
            for metric, epsilon in enumerate(epsilons):
                right = plain_right(scores[rows, metric], ranks[rows, 0], epsilon) - copies
                assert found[resample, group, metric] == right


def test_both_right_is_counted_by_kind(kernel):
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    ranks = np.array([0, 1, 2, 0, 1], np.int32)
    found = kernel.both_right(scores, ranks, np.array([0, 3]), np.array([1, 0], np.int32), 2, np.zeros(2))
    assert found.tolist() == [[[1, 1], [1, 1]], [[3, 2], [2, 2]]]


@pytest.mark.parametrize(
    ("scores", "starts", "says"),
    [
        (np.array([[np.nan], [1.0]]), [0], "expected finite scores"),
        (np.array([[0.0], [1.0]]), [1], "expected groups"),
        (np.array([[0.0], [1.0]]), [0, 2], "expected groups"),
        (np.array([[0.0], [1.0]]), [0, 0], "expected"),
        (np.array([[0.0]]), [0], "expected as many ranks"),
    ],
)
def test_what_would_be_read_out_of_bounds_is_refused(kernel, scores, starts, says):
    ranks, starts = np.zeros(2, np.int32), np.array(starts)
    one = np.ones(len(starts), np.int64)
    with pytest.raises(ValueError, match=says):
        kernel.calibrate(scores, np.abs(scores), ranks[:, None].copy(), starts, one, NOTHING)
    with pytest.raises(ValueError, match=says):
        kernel.right_pairs(scores, ranks, starts, ranks, np.ones((1, 1), np.int32), np.zeros(1))
    with pytest.raises(ValueError, match=says):
        kernel.both_right(scores, ranks, starts, np.zeros(len(starts), np.int32), 1, np.zeros(1))
