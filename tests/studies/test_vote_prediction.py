"""Prediction of votes: what is planted is found; folds that leak nothing, and measures of rankings within threads."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from math import log, log2

import numpy as np
import pytest

from postil.errors import UsageError
from postil.meta.resampling import bootstrap_counts
from postil.studies.uses.votes import (
    VotePrediction,
    assign_folds,
    between_share,
    centered_ranks,
    cross_fit,
    r_squared,
    resampled_means,
    thread_measures,
)

RANDOM = np.random.default_rng(2)
THREADS, SIZE = 60, 12
POPULARITY = np.repeat(RANDOM.normal(size=THREADS), SIZE)
MERIT = RANDOM.normal(size=THREADS * SIZE)
DATA = VotePrediction(
    np.round(np.exp(3 + POPULARITY + MERIT)),
    np.arange(0, THREADS * SIZE, SIZE),
    assign_folds(THREADS, 4, 1),
    bootstrap_counts(THREADS, 50, 1),
)


def test_merit_is_found_within_threads_and_popularity_between_them() -> None:
    merit, popularity = (DATA.measure(values[:, None], []) for values in (MERIT, POPULARITY))
    assert merit["r2 within"][0] > 0.95
    assert merit["r2"][0] == pytest.approx(0.5, abs=0.1)
    assert merit["spearman within"][0] > 0.98
    assert popularity["r2"][0] == pytest.approx(0.5, abs=0.1)
    assert popularity["r2 within"][0] == pytest.approx(0, abs=0.01)
    assert popularity["spearman within"][0] == 0
    assert merit["spearman"][1:].std() > 0


def test_a_curve_needs_its_square() -> None:
    bent = VotePrediction(np.round(np.exp(4 - MERIT**2)), DATA.starts, DATA.folds, DATA.counts)
    straight, curved = (bent.measure(MERIT[:, None], each)["r2"][0] for each in ([], [0]))
    assert straight < 0.1
    assert curved > 0.9


def test_the_mean_of_the_others_is_without_the_comment() -> None:
    target, found = DATA.target, DATA.others_mean()
    for at in (0, 5, 13):
        thread = range(at // SIZE * SIZE, at // SIZE * SIZE + SIZE)
        assert found[at] == pytest.approx(np.mean([target[one] for one in thread if one != at]))


def test_a_ranking_is_fitted_to_ranks() -> None:
    votes = DATA.votes.copy()
    votes[votes == votes.max()] *= 1e6  # one comment that everybody likes decides nothing
    other = VotePrediction(votes, DATA.starts, DATA.folds, DATA.counts)
    columns = np.column_stack([MERIT, POPULARITY])
    np.testing.assert_array_equal(other.fitted_ranking(columns, [0]), DATA.fitted_ranking(columns, [0]))
    assert np.corrcoef(DATA.fitted_ranking(columns, []), MERIT)[0, 1] > 0.9


FOLDED = np.random.default_rng(3)
FEATURES = FOLDED.normal(size=(400, 3))
TARGET = FEATURES @ np.array([1.0, -2.0, 0.0]) + FOLDED.normal(size=400)
STARTS = np.arange(0, 400, 8)
FOLDS = np.repeat(assign_folds(50, 5, 1), 8)


def test_folds_have_the_same_size() -> None:
    assert np.bincount(assign_folds(50, 5, 1)).tolist() == [10] * 5
    assert assign_folds(50, 5, 1).tolist() != assign_folds(50, 5, 2).tolist()


@pytest.mark.parametrize("folds", [1, 51])
def test_no_more_folds_than_articles(folds: int) -> None:
    with pytest.raises(UsageError, match="expected 2 to 50, the number of articles, got"):
        assign_folds(50, folds, 1)


def test_a_fold_is_predicted_without_its_own_targets() -> None:
    here = FOLDS == 2
    other = np.where(here, FOLDED.normal(size=400) * 100, TARGET)
    changed, before = cross_fit(FEATURES, other, FOLDS), cross_fit(FEATURES, TARGET, FOLDS)
    np.testing.assert_array_equal(changed[here], before[here])
    assert not np.allclose(changed[~here], before[~here])


def test_a_fold_is_predicted_by_least_squares_on_the_others() -> None:
    found = cross_fit(np.clip(FEATURES, -1, 1), TARGET, FOLDS)
    for fold in range(5):
        seen = fold != FOLDS
        known = np.column_stack([np.ones(400), np.clip(FEATURES, -1, 1)])
        weights = np.linalg.lstsq(known[seen], TARGET[seen], rcond=None)[0]
        np.testing.assert_allclose(found[~seen], known[~seen] @ weights, atol=0.05)  # the penalty is small


def test_an_odd_text_has_no_odd_prediction() -> None:
    features = FEATURES.copy()
    features[0, 1] = 1e6
    assert np.abs(cross_fit(features, TARGET, FOLDS)).max() < 15


def test_a_constant_feature_changes_nothing() -> None:
    with_constant = np.column_stack([FEATURES, np.full(400, 7.0)])
    np.testing.assert_allclose(cross_fit(with_constant, TARGET, FOLDS), cross_fit(FEATURES, TARGET, FOLDS))


def test_noise_explains_nothing_out_of_fold() -> None:
    noise = np.random.default_rng(4).normal(size=(400, 20))
    level = cross_fit(np.zeros((400, 0)), TARGET, FOLDS)
    counts = np.ones((1, 50), np.int32)
    assert r_squared(TARGET, cross_fit(noise, TARGET, FOLDS), level, STARTS, counts)[0] < 0
    assert r_squared(TARGET, cross_fit(FEATURES, TARGET, FOLDS), level, STARTS, counts)[0] > 0.7


def test_a_resample_is_the_value_of_repeated_clusters() -> None:
    counts = np.random.default_rng(5).integers(0, 3, (1, 50)).astype(np.int32)
    rows = np.concatenate([np.tile(np.arange(at * 8, at * 8 + 8), times) for at, times in enumerate(counts[0])])
    starts = np.arange(0, len(rows), 8)
    none = np.zeros((0, len(starts)), np.int32)
    guess = TARGET / 2 + 0.1
    level = np.full(400, TARGET.mean())
    values = np.add.reduceat(TARGET, STARTS)
    assert r_squared(TARGET, guess, level, STARTS, counts)[1] == pytest.approx(
        r_squared(TARGET[rows], guess[rows], level[rows], starts, none)[0]
    )
    assert between_share(TARGET, STARTS, counts)[1] == pytest.approx(between_share(TARGET[rows], starts, none)[0])
    assert resampled_means(values, counts)[1] == pytest.approx(np.repeat(values, counts[0]).mean())


@pytest.mark.parametrize(("between", "expected"), [(0.0, 0.0), (1.0, 0.5), (3.0, 0.9)])
def test_the_share_between_articles_is_found(between: float, expected: float) -> None:
    random = np.random.default_rng(6)
    sizes = random.integers(5, 40, 3000)
    target = np.repeat(random.normal(size=3000) * between, sizes) + random.normal(size=sizes.sum())
    starts = np.cumsum(sizes) - sizes
    found = between_share(target, starts, np.zeros((0, 3000), np.int32))[0]
    assert found == pytest.approx(expected, abs=0.02)


def ndcg(scores: list[float], votes: list[float], k: int) -> float:
    """Mean over all orders that the scores allow."""
    gains = [log(1 + max(vote, 0)) for vote in votes]

    def dcg(order: tuple[int, ...]) -> float:
        return sum(gains[at] / log2(rank + 2) for rank, at in enumerate(order[:k]))

    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[one] >= scores[two] for one, two in pairwise(order))
    ]
    ideal = dcg(tuple(sorted(range(len(gains)), key=lambda at: -gains[at])))
    return sum(map(dcg, orders)) / len(orders) / ideal


def pairs(scores: list[float], votes: list[float]) -> float:
    """Share of pairs in order."""
    different = [(one, two) for one, two in combinations(range(len(votes)), 2) if votes[one] != votes[two]]
    right = [
        0.5 if scores[one] == scores[two] else float((scores[one] > scores[two]) == (votes[one] > votes[two]))
        for one, two in different
    ]
    return sum(right) / len(right)


RANKED = [
    ([1.0, 2.0, 2.0, 0.0, 2.0, 1.0], [5.0, -2.0, 9.0, 0.0, 1.0, 1.0]),
    ([0.0, 0.0, 0.0], [0.0, 4.0, 0.0]),
    ([3.0, 1.0], [1.0, 7.0]),
]


def test_measures_are_means_over_all_orders_of_ties() -> None:
    scores, votes = (np.concatenate([each[side] for each in RANKED]) for side in (0, 1))
    found = thread_measures(np.column_stack([scores, -scores]), votes, np.array([0, 6, 9]))
    assert found.shape == (3, 2, 5)
    for thread, (given, voted) in enumerate(RANKED):
        for column, sign in enumerate((1, -1)):
            signed = [sign * each for each in given]
            expected = [ndcg(signed, voted, 1), ndcg(signed, voted, 5), pairs(signed, voted)]
            assert found[thread, column][[0, 1, 4]] == pytest.approx(expected)


def test_correlations_are_those_within_each_thread() -> None:
    scores, votes = np.array([[1.0], [2.0], [3.0], [9.0], [9.0]]), np.array([2.0, 1.0, 3.0, 0.0, 5.0])
    found = thread_measures(scores, votes, np.array([0, 3]))[:, 0, 2:]
    np.testing.assert_allclose(found, [[0.5, 1 / 3, 2 / 3], [0, 0, 0.5]])


def test_centered_ranks_have_mean_0_in_every_thread() -> None:
    values = np.random.default_rng(1).integers(0, 4, (30, 2)).astype(float)
    starts = np.array([0, 7, 8, 20])
    ranks = centered_ranks(values, starts)
    np.testing.assert_allclose(np.add.reduceat(ranks, starts), 0, atol=1e-12)
    assert np.all(np.abs(ranks) < 0.5)
    assert (np.sign(np.diff(ranks[8:20], axis=0)) == np.sign(np.diff(values[8:20], axis=0))).all()
