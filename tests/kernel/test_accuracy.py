"""Pairs with ties are counted alike by both kernels, whatever is pruned, merged or threaded."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kernels import KERNELS, compiled, needs_both
from postil.data.ranking import joined
from postil.kernel.python import meta as reference

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
