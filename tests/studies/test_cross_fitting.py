"""Cross-fitting: nothing of a fold reaches its own predictions, and resamples are repeated clusters."""

from __future__ import annotations

import numpy as np
import pytest

from postil.errors import UsageError
from postil.studies.uses.votes import assign_folds, between_share, cross_fit, r_squared, resampled_means

RANDOM = np.random.default_rng(3)
FEATURES = RANDOM.normal(size=(400, 3))
TARGET = FEATURES @ np.array([1.0, -2.0, 0.0]) + RANDOM.normal(size=400)
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
    other = np.where(here, RANDOM.normal(size=400) * 100, TARGET)
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
