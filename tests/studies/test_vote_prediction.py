"""Prediction of votes: what is planted is found, over all comments and within threads."""

from __future__ import annotations

import numpy as np
import pytest

from postil.meta.resampling import bootstrap_counts
from postil.studies.uses.votes import VotePrediction, assign_folds

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
