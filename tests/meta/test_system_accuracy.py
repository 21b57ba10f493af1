"""Pairwise accuracy of systems: worked values, definitions, holes, and differences by swapping single texts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.errors import UsageError
from postil.meta.coefficient_kinds import kind_of
from postil.meta.correlation import correlations, differences
from postil.meta.permutation import sign_patterns
from postil.meta.reliability import human_agreement
from postil.meta.resampling import DRAWS, Draws
from postil.meta.system_accuracy import better_shares
from rated_tables import rated_table
from table_p import table_p

if TYPE_CHECKING:
    from postil.meta.table import Table

GRADES = {"A": (5, 4, 4, 3), "B": (3, 3, 4, 3), "C": (1, 2, 3, 3)}
SCORES = {"A": (3, 1, 4, 2), "B": (2, 1, 2, 2), "C": (1, 2, 0, 3)}


def table_of(grades: dict[str, tuple[float | None, ...]], **metrics: dict[str, tuple[float, ...]]) -> Table:
    """A table of what systems get on numbered items; None for no text."""
    texts = [(s, i) for s in grades for i in range(len(grades[s])) if grades[s][i] is not None]
    systems, items = zip(*sorted(texts, key=lambda text: text[1]), strict=True)
    scores = {name: [of[s][i] for s, i in zip(systems, items, strict=True)] for name, of in metrics.items()}
    rated = [grades[s][i] for s, i in zip(systems, items, strict=True)]
    return rated_table(scores, rated, items=items, systems=systems)


def value(table: Table, measure: str, metric: int = 0) -> float:
    return (
        kind_of(measure)
        .resampled(table.texts(table.oriented), DRAWS.counts(len(table.starts), 1), "system")
        .values[metric]
    )


def shares_by_definition(values: dict[str, tuple[float | None, ...]]) -> dict[tuple[str, str], float]:
    """p of each ordered pair by the published sentence, over all sign patterns of the items that both have."""
    found = {}
    for a, b in itertools.permutations(values, 2):
        d = [x - y for x, y in zip(values[a], values[b], strict=True) if x is not None and y is not None]
        sums = [sum(sign * each for sign, each in zip(signs, d, strict=True)) for signs in signs_of(len(d))]
        if d:
            found[a, b] = np.mean([each >= sum(d) - 1e-12 for each in sums])
    return found


def signs_of(items: int):
    return itertools.product((1, -1), repeat=items)


def soft_by_definition(grades, scores) -> float:
    people, metric = shares_by_definition(grades), shares_by_definition(scores)
    return 1 - np.mean([abs(people[pair] - metric[pair]) for pair in people])


def test_worked_values_of_three_systems() -> None:
    table = table_of(GRADES, m=SCORES)
    both = np.column_stack([table.grades, table.scores[:, 0]])
    people, metric = better_shares(both, table.item, table.system, sign_patterns(4, 16, seed=1)[1])
    assert people[[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]].tolist() == [0.25, 1, 0.125, 1, 0.125, 1]
    assert metric[[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]].tolist() == [0.25, 1, 0.3125, 0.8125, 0.5, 0.75]
    assert value(table, "spa") == pytest.approx(5 / 6, abs=1e-12)
    assert value(table, "pa") == 1
    # One order of the systems and the other, as mt-metrics-eval counts pairs.
    rows, columns = np.triu_indices(3, 1)
    away = np.abs(people - metric)
    assert 1 - away[rows, columns].mean() == pytest.approx(0.8125, abs=1e-12)
    assert 1 - away[columns, rows].mean() == pytest.approx(0.854167, abs=5e-7)


def test_worked_values_of_table_p() -> None:
    found = correlations(table_p(), ["pa", "spa"], "system", draws=Draws(resamples=20))
    rows = {(row.metric, row.coefficient): row for row in found.rows}
    assert rows["m", "spa"].value == pytest.approx(0.911670, abs=5e-7)
    assert rows["j", "spa"].value == pytest.approx(0.896973, abs=5e-7)
    assert rows["m", "pa"].value == 1
    assert rows["j", "pa"].value == pytest.approx(0.7, abs=1e-12)
    row = rows["m", "spa"]
    assert (row.n, row.pairs, row.draws, row.exact, row.dropped) == (5, 10, 120, True, 0)
    assert row.low < row.value < row.high
    assert (rows["m", "pa"].pairs, rows["m", "pa"].draws, rows["m", "pa"].exact) == (10, 120, None)


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_definition_and_need_no_order_of_systems(seed: int) -> None:
    random = np.random.default_rng(seed)

    def made(high: int):
        return {s: tuple(map(float, random.integers(1, high, 6))) for s in "DACB"}

    grades, scores = made(4), made(7)
    for system, item in (("A", 0), ("B", 2), ("C", 5), ("C", 4)):  # no text there
        grades[system] = (*grades[system][:item], None, *grades[system][item + 1 :])
    holes = {s: tuple(None if g is None else x for g, x in zip(grades[s], scores[s], strict=True)) for s in grades}
    expected = soft_by_definition(grades, holes)
    assert value(table_of(grades, m=scores), "spa") == pytest.approx(expected, abs=1e-12)
    turned = dict(sorted(grades.items()))
    assert value(table_of(turned, m=scores), "spa") == pytest.approx(expected, abs=1e-12)

    def mean(of, s):
        return np.mean([x for x in of[s] if x is not None])

    right = [
        np.sign(round(mean(grades, a) - mean(grades, b), 9)) == np.sign(round(mean(holes, a) - mean(holes, b), 9))
        for a, b in itertools.combinations(grades, 2)
    ]
    assert value(table_of(grades, m=scores), "pa") == pytest.approx(np.mean(right), abs=1e-12)
    assert value(table_of(turned, m=scores), "pa") == pytest.approx(np.mean(right), abs=1e-12)


def published(seg: np.ndarray, patterns: np.ndarray) -> np.ndarray:
    """p of pairs in the order of the systems, by the formula of Thompson et al. 2024: share of sum(±d) >= sum(d)."""
    d = seg[:, None] - seg[None]  # [system, system, item]
    sums = np.einsum("ki,abi->kab", patterns, d)
    return (sums >= d.sum(axis=2) - 1e-9).mean(axis=0)[np.triu_indices(len(seg), 1)]


def test_it_is_the_published_number_averaged_over_both_orders_of_the_systems() -> None:
    random = np.random.default_rng(3)
    people, metric = random.integers(1, 6, (5, 40)).astype(float), random.normal(size=(5, 40))
    flips = random.integers(0, 2, (1000, 40))
    each = [
        1 - np.abs(published(people[::step], 1 - 2 * flips) - published(metric[::step], 1 - 2 * flips)).mean()
        for step in (1, -1)
    ]
    system, item = (side.ravel().astype(np.int32) for side in np.indices((5, 40)))
    found = better_shares(np.column_stack([people.ravel(), metric.ravel()]), item, system, [flips])
    assert 1 - np.nanmean(np.abs(found[0] - found[1])) == pytest.approx(np.mean(each), abs=1e-9)
    assert each[0] != each[1]  # since whole grades have equal sums


def test_random_patterns_where_there_are_too_many() -> None:
    random = np.random.default_rng(0)
    grades = {s: tuple(random.normal(size=30) + i) for i, s in enumerate("ABC")}
    table = table_of(grades, m={s: tuple(random.normal(size=30)) for s in "ABC"})
    one, again, other = (
        correlations(table, ["spa"], "system", draws=Draws(resamples=10, permutations=500, seed=seed)).rows[0]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one.value != other.value
    assert one.value == pytest.approx(other.value, abs=0.1)
    assert (one.exact, one.draws) == (False, 6)


def test_a_constant_metric_has_an_accuracy() -> None:
    table = table_of(GRADES, m=dict.fromkeys("ABC", (1.0,) * 4), same=GRADES)
    people = shares_by_definition(GRADES)
    assert value(table, "spa") == pytest.approx(1 - np.mean([1 - p for p in people.values()]), abs=1e-12)
    assert value(table, "pa") == 0
    assert [value(table, measure, 1) for measure in ("pa", "spa")] == [1, 1]
    alike = table_of(dict.fromkeys("ABC", (1, 2)), m=dict.fromkeys("ABC", (0.1, 0.7)))
    assert [value(alike, measure) for measure in ("pa", "spa")] == [1, 1]


def test_rounding_makes_no_difference_between_systems_of_equal_scores() -> None:
    random = np.random.default_rng(0)
    a = tuple(random.normal(size=10))
    scores = {"A": a, "B": a, "C": tuple(random.normal(size=10)), "D": tuple(x + 1e-9 for x in a)}
    found = better_shares(
        *(np.array([scores[s][i] for i in range(10) for s in "ABCD"])[:, None],),
        *(side.ravel().astype(np.int32) for side in np.indices((10, 4))),
        sign_patterns(10, 1024, seed=1)[1],
    )[0]
    assert found[0, 1] == found[1, 0] == 1
    assert found[3, 0] == pytest.approx(1 / 1024, abs=1e-12)  # the differences are all about 1e-9: none flipped


def test_pairs_of_systems_without_a_shared_item_are_left_out_and_named() -> None:
    grades = {"A": (1, 2, None, None), "B": (2, 4, 3, 5), "C": (None, None, 1, 2)}
    scores = {"A": (1, 2, 0, 0), "B": (2, 1, 3, 4), "C": (0, 0, 2, 5)}
    table = table_of(grades, m=scores)
    (row,) = correlations(table, ["spa"], "system", draws=Draws(resamples=20)).rows
    assert (row.pairs, row.n) == (2, 3)
    assert row.value == pytest.approx(soft_by_definition(grades, holes_of(grades, scores)), abs=1e-12)
    notes = differences(table, "spa", "system", draws=Draws(resamples=20)).notes
    assert notes == ("spa is without pairs of systems that share no item: 1 (A and C)",)
    assert correlations(table, ["pa"], "system", draws=Draws(resamples=20)).rows[0].pairs == 3
    assert differences(table, "pa", "system", draws=Draws(resamples=20)).notes == ()


def holes_of(grades, scores):
    return {s: tuple(None if g is None else x for g, x in zip(grades[s], scores[s], strict=True)) for s in grades}


@pytest.mark.parametrize("measure", ["pa", "spa"])
def test_what_does_not_exist_has_a_reason(measure: str) -> None:
    def reasons(table: Table):
        found = correlations(table, [measure], "system", draws=Draws(resamples=20))
        absent = differences(table, measure, "system", draws=Draws(resamples=20)).absent
        assert found.rows == ()
        assert [each.reason for each in absent] == [each.reason for each in found.absent]
        return [each.reason for each in found.absent]

    assert reasons(table_of({"A": (1, 2)}, m={"A": (1, 2)})) == ["only one system"]
    if measure == "spa":
        apart = table_of({"A": (1, None), "B": (None, 2)}, m={"A": (1, 0), "B": (0, 3)})
        assert reasons(apart) == ["no two systems share an item"]


@pytest.mark.parametrize(("measure", "other"), [("pa", 0.0), ("spa", 0.5)])
def test_one_item_has_no_interval(measure: str, other: float) -> None:
    alone = table_of({"A": (1,), "B": (2,)}, m={"A": (1,), "B": (3,)}, w={"A": (2,), "B": (1,)})
    rows = correlations(alone, [measure], "system", draws=Draws(resamples=20)).rows
    assert [(row.value, row.low, row.high, row.p) for row in rows] == [(1.0, None, None, 0.5), (other, None, None, 1.0)]
    (difference,) = differences(alone, measure, "system", draws=Draws(resamples=20, permutations=99)).rows
    assert (difference.value, difference.low, difference.high) == (1.0 - other, None, None)
    assert difference.p_bootstrap is None
    assert difference.p == difference.p_both > 0.3  # half of the swaps are as large


@pytest.mark.parametrize("measure", ["pa", "spa"])
def test_it_exists_for_systems_alone(measure: str) -> None:
    with pytest.raises(UsageError, match=f'{measure} compares systems, so it needs by="system", got by="item"'):
        correlations(table_p(), [measure], "item")


SEED = 5


def made(*, holes: bool) -> Table:
    random = np.random.default_rng(int(holes))
    texts = [(i, s) for i in range(6) for s in range(4) if not (holes and (i + 2 * s) % 5 == 1)]
    quality = {text: random.integers(0, 4) + text[1] / 2 for text in texts}
    noise = {"a": 1, "b": 3, "c": 0}
    scores = {
        name: [float(3 * quality[text] + of * random.integers(-2, 3)) for text in texts] for name, of in noise.items()
    }
    rated = [round(quality[text]) for text in texts]
    items, systems = zip(*texts, strict=True)
    return rated_table(scores, rated, items=items, systems=systems)


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
    score = table.scores[:, 1]
    columns = {"x": score, "y": score / 7 + 0.1, "flat": np.full(len(score), 0.3)}
    alike = rated_table(columns, table.grades, items=table.item, systems=table.system)
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
