"""Differences in accuracy of systems: swapping single texts is done by hand here, a permutation at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from postil.data.rows import Judgement, Score
from postil.meta.correlation import differences
from postil.meta.permutation import sign_patterns
from postil.meta.reliability import human_agreement
from postil.meta.resampling import Draws
from postil.meta.system_accuracy import better_shares
from postil.meta.table import Table, join
from table_p import table_p

SEED = 5


def made(*, holes: bool) -> Table:
    random = np.random.default_rng(int(holes))
    texts = [(i, s) for i in range(6) for s in range(4) if not (holes and (i + 2 * s) % 5 == 1)]
    quality = {text: random.integers(0, 4) + text[1] / 2 for text in texts}
    noise = {"a": 1, "b": 3, "c": 0}
    return join(
        [
            Score(str(i), str(s), name, float(3 * quality[i, s] + of * random.integers(-2, 3)), "")
            for name, of in noise.items()
            for i, s in texts
        ],
        [Judgement(str(i), str(s), "ann", float(round(quality[i, s]))) for i, s in texts],
    )


def soft(table: Table, scores: np.ndarray, permutations: int) -> float:
    flips = list(sign_patterns(len(table.items), min(permutations, 1000), SEED)[1])
    both = better_shares(np.column_stack([scores, table.grades]), table.item, table.system, flips)
    return 1 - np.nanmean(np.abs(both[0] - both[1]))


def pairwise(table: Table, scores: np.ndarray, _: int) -> float:
    def mean(column: np.ndarray, system: int) -> float:
        return column[table.system == system].mean()

    def sign(column: np.ndarray, a: int, b: int) -> float:
        apart = mean(column, a) - mean(column, b)
        return np.sign(apart) if abs(apart) > 1e-12 else 0

    pairs = itertools.combinations(range(len(table.systems)), 2)
    return np.mean([sign(scores, a, b) == sign(table.grades, a, b) for a, b in pairs])


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(("measure", "accuracy"), [("spa", soft), ("pa", pairwise)])
def test_p_is_that_of_swapping_by_hand(measure: str, accuracy, *, holes: bool) -> None:
    table, permutations = made(holes=holes), 60
    found = differences(table, measure, "system", draws=Draws(resamples=10, permutations=permutations, seed=SEED))
    points = (table.scores - table.scores.mean(axis=0)) / table.scores.std(axis=0)
    random = np.random.default_rng([SEED, 1])
    swaps = [random.integers(0, 2, len(table), np.int8) for _ in range(permutations)]

    def apart(first: np.ndarray, second: np.ndarray) -> float:
        return abs(accuracy(table, first, permutations) - accuracy(table, second, permutations))

    for row in found.rows:
        one, other = (points[:, table.column(name)] for name in (row.first, row.second))
        observed = apart(one, other)
        drawn = [apart(np.where(swap, other, one), np.where(swap, one, other)) for swap in swaps]
        expected = (1 + sum(each >= observed - 1e-9 for each in drawn)) / (1 + permutations)
        assert row.p_both == row.p == pytest.approx(expected, abs=1e-12)
        assert (row.p_permutation, row.p_williams) == (None, None)
        assert row.p_holm is not None
    assert [(row.first, row.second) for row in found.rows] == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("measure", ["pa", "spa"])
def test_metrics_that_are_the_same_in_other_units_do_not_differ(measure: str) -> None:
    table = made(holes=False)
    texts = list(zip(table.item, table.system, table.scores[:, 1], strict=True))
    alike = join(
        [Score(str(i), str(s), "x", value, "") for i, s, value in texts]
        + [Score(str(i), str(s), "y", value / 7 + 0.1, "") for i, s, value in texts]
        + [Score(str(i), str(s), "flat", 0.3, "") for i, s, _ in texts],
        [Judgement(str(i), str(s), "ann", g) for (i, s, _), g in zip(texts, table.grades, strict=True)],
    )
    found = differences(alike, measure, "system", draws=Draws(resamples=50, permutations=200))
    same, *others = found.rows
    assert (same.first, same.second, same.value, same.low, same.high, same.p) == ("x", "y", 0, 0, 0, 1)
    assert all(0 < row.p <= 1 for row in others)
    assert found.absent == ()


def test_the_number_of_threads_changes_nothing() -> None:
    table = table_p()
    assert differences(table, "spa", "system", draws=Draws(resamples=20, permutations=100)) == differences(
        table, "spa", "system", draws=Draws(resamples=20, permutations=100, jobs=2)
    )


def test_split_halves_of_people_stand_in_the_place_of_a_metric() -> None:
    found, absent = human_agreement(table_p(), ["pa", "spa"], "system", draws=Draws(resamples=40), splits=30)
    assert [(row.metric, row.coefficient) for row in found.rows] == [("human:halves", "pa"), ("human:halves", "spa")]
    assert absent == ()
    for row in found.rows:
        assert row.low <= row.value <= row.high
        assert (row.n, row.pairs, row.draws) == (5, 10, 120)
        assert row.chance < row.value
        assert row.p == pytest.approx(1 / 120) or row.coefficient == "pa"
    assert found.rows[1].exact is True
