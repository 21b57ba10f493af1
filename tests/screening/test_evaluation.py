"""Areas, shares and thresholds of a screen, and how often their intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from postil.screening.evaluation import Predicted, area, share


def predicted(
    logits: list[float], held: list[int], fold: list[int] | None = None, *, in_time: bool = False
) -> Predicted:
    n = len(logits)
    return Predicted(np.array(logits), np.array(held, bool), np.arange(n), np.array(fold or [0] * n), in_time)


def test_an_area_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(1)
    values, held = random.integers(0, 20, 300).astype(float), random.random(300) < 0.3
    found = area(values, held, np.arange(300))
    assert found is not None
    assert found.value == pytest.approx(metrics.roc_auc_score(held, values), abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high < 1


def test_an_area_of_one_kind_is_none_and_a_whole_one_has_no_interval() -> None:
    assert area(np.arange(3.0), np.zeros(3, bool), np.arange(3)) is None
    found = area(np.arange(4.0), np.array([0, 0, 1, 1], bool), np.arange(4))
    assert found is not None
    assert (found.value, found.low, found.high) == (1.0, None, None)


def test_texts_of_one_author_are_worth_less_than_as_many_of_several() -> None:
    held = np.array([1, 1, 1, 1, 0, 0, 0, 0] * 5, bool)
    among = np.ones(40, bool)
    apart, together = share(held, among, np.arange(40)), share(held, among, np.repeat(np.arange(10), 4))
    assert apart is not None
    assert together is not None
    assert together.low < apart.low < apart.value < apart.high < together.high  # type: ignore[operator]


def test_a_share_of_nothing_is_none() -> None:
    assert share(np.ones(2, bool), np.zeros(2, bool), np.arange(2)) is None


def test_a_threshold_is_the_lowest_at_which_enough_is_right() -> None:
    logits = [float(one) for one in range(40, 0, -1)]
    held = [1] * 12 + [0] * 3 + [1] * 5 + [0] * 20
    found = predicted(logits, held)
    assert found.threshold(1.0) == 28.5
    assert found.threshold(0.85) == 20.5
    assert found.threshold(0.8) == 19.5  # 17 of 21 are right, 17 of 22 are not enough
    assert predicted([1.0] * 30, [1] * 5 + [0] * 25).threshold(0.5) is None
    assert predicted([3.0, 2.0, 1.0], [1, 1, 1]).threshold(0.5) is None  # of too few


def test_equal_logits_are_decided_together() -> None:
    assert predicted([2.0] * 12 + [1.0] * 4, [1] * 12 + [0] * 4).threshold(0.9) == 1.5


def test_thresholds_are_chosen_on_other_folds_and_in_time_on_earlier_ones() -> None:
    logits, held = [5.0] * 20 + [1.0] * 20, [1] * 20 + [0] * 20
    fold = ([0] * 10 + [1] * 10) * 2
    beyond, known = predicted(logits, held, fold).decided(0.9)
    assert (beyond.tolist(), known.all()) == ([True] * 20 + [False] * 20, True)
    beyond, known = predicted(logits, held, fold, in_time=True).decided(0.9)
    assert known.tolist() == [False] * 10 + [True] * 10 + [False] * 10 + [True] * 10
    assert beyond.sum() == 10


@pytest.mark.parametrize("authors", [1, 5])
def test_intervals_of_a_precision_hold_the_truth_as_often_as_they_say_with_drift(authors: int) -> None:
    # Of parts in time, each with another base rate and other scores; thresholds are chosen on earlier parts.
    random, hits, told = np.random.default_rng(20181), 0, 0
    size, draws = 3_000, 400
    for _ in range(draws):
        part = np.repeat(np.arange(5), size // 5)
        cluster = np.arange(size) // authors
        of_author = random.normal(0, 0.3 if authors > 1 else 0.0, size)[cluster]
        truth = random.normal(0, 1.5, size) + of_author
        chance = 1 / (1 + np.exp(-(truth - 1 + 0.3 * part)))
        held = random.random(size) < chance
        seen = Predicted(truth + 0.1 * part, held, cluster, part, in_time=True)
        beyond, _ = seen.decided(0.8)
        found = share(held & beyond, beyond, cluster)
        if found is None or found.low is None or found.high is None:
            continue
        told += 1
        hits += found.low <= chance[beyond].mean() <= found.high
    assert told == draws
    assert 0.92 < hits / told < 0.98  # 400 draws leave ±.02
