"""Correlations and the table of their coefficients."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.errors import UnknownName, UsageError
from postil.meta.coefficient_kinds import KINDS, Correlated, kind_of
from postil.meta.coefficients import LEVELS, TABLE, Measure
from postil.meta.column_correlations import Texts, scaled
from postil.meta.correlation import CONTROL_DRAWS, correlations, differences
from postil.meta.parts import UndefinedResult
from postil.meta.resampling import Draws, bootstrap_counts
from rated_tables import rated_table

COEFFICIENTS = [name for name, each in TABLE.items() if not each.accuracy]
RANKED = [name for name in COEFFICIENTS if name != "pearson"]


def replicate(scores, table, coefficient, by, draws):
    return kind_of(coefficient).resampled(table.texts(scores), draws.counts(len(table.starts)), by, draws)


def table(grades, *, items=None, systems=None, lower=(), **columns):
    """A table of n texts; by default each is an item of its own."""
    items = items or range(len(grades))
    systems = systems or (["a"] * len(grades) if len(set(items)) == len(grades) else range(len(grades)))
    return rated_table(columns, grades, items=items, systems=systems, lower_is_better=lower)


def noisy(**options):
    """Twelve items with five texts each, by five systems."""
    rng = np.random.default_rng(0)
    grades = rng.integers(1, 6, 60).astype(float)
    columns = {name: (grades + rng.normal(0, 2, 60)).round(1) for name in "xyz"}
    return table(grades, items=np.repeat(range(12), 5).tolist(), systems=list(range(5)) * 12, **columns, **options)


def values(found):
    assert not found.absent
    return [row.value for row in found.rows]


# By hand. x against the grades: within p 1 2 3 and 1 3 2, within q 1 2 and 2 1, r has one text.
SMALL = {"items": ["p", "p", "p", "q", "q", "r"], "systems": ["a", "b", "c", "a", "b", "a"], "x": [1, 2, 3, 1, 2, 9]}
GRADES = [1, 3, 2, 2, 1, 5]


@pytest.mark.parametrize(
    ("by", "coefficient", "expected", "n", "dropped"),
    [
        # x: mean 3, squares 4 1 0 4 1 36 = 46; grades: mean 7/3, squares 16 4 1 1 16 64 = 102 ninths;
        # products of -2 -1 0 -2 -1 6 with -4 2 -1 -1 -4 8 thirds: 8 - 2 + 0 + 2 + 4 + 48 = 60 thirds.
        ("pool", "pearson", 20 / np.sqrt(46 * 102 / 9), 6, 0),
        # x ranks 1.5 3.5 5 1.5 3.5 6, grades 1.5 5 3.5 3.5 1.5 6; from 3.5: -2 0 1.5 -2 0 2.5 and -2 1.5 0 0 -2 2.5:
        # 4 + 6.25 = 10.25 over 4 + 2.25 + 4 + 6.25 = 16.5 and the same.
        ("pool", "spearman", 10.25 / 16.5, 6, 0),
        # Of 15 pairs two are tied in x and two others in the grades; two disagree (b and c of p, a and b of q).
        ("pool", "kendall-b", (9 - 2) / 13, 6, 0),
        # Four numbers on either side.
        ("pool", "kendall-c", 2 * (9 - 2) / (36 * 3 / 4), 6, 0),
        ("item", "pearson", (0.5 - 1) / 2, 2, 1),
        ("item", "spearman", (0.5 - 1) / 2, 2, 1),
        # In p two pairs agree and one does not.
        ("item", "kendall-b", (1 / 3 - 1) / 2, 2, 1),
        # tau-c of p: 2 * 1 / (9 * 2 / 3); of q: 2 * -1 / (4 * 1 / 2).
        ("item", "kendall-c", (1 / 3 - 1) / 2, 2, 1),
        # By a 1 1 9 and 1 2 5: mean 11/3, squares 64/9 64/9 256/9 = 384/9; mean 8/3, squares 25/9 4/9 49/9 = 78/9;
        # products 40/9 16/9 112/9 = 168/9. By b 2 2, c has one text.
        ("within-system", "pearson", 168 / np.sqrt(384 * 78), 1, 2),
        # Ranks 1.5 1.5 3 and 1 2 3 are -.5 -.5 1 and -1 0 1.
        ("within-system", "spearman", 1.5 / np.sqrt(1.5 * 2), 1, 2),
        # Three pairs, one of them tied in x.
        ("within-system", "kendall-b", 2 / np.sqrt(2 * 3), 1, 2),
        ("within-system", "kendall-c", 2 * 2 / (9 / 2), 1, 2),
        # Means of x 11/3 2 3, of the grades 8/3 2 2; from their means 7/9 -8/9 1/9 and 4/9 -2/9 -2/9.
        ("system", "pearson", (28 + 16 - 2) / np.sqrt((49 + 64 + 1) * (16 + 4 + 4)), 3, 0),
        # Ranks 3 1 2 and 3 1.5 1.5.
        ("system", "spearman", 1.5 / np.sqrt(2 * 1.5), 3, 0),
        # Three pairs, one tied in the grades, the others agree.
        ("system", "kendall-b", 2 / np.sqrt(3 * 2), 3, 0),
    ],
)
def test_worked_out_by_hand(by, coefficient, expected, n, dropped):
    (row,) = correlations(table(GRADES, **SMALL), [coefficient], by, draws=Draws(resamples=50)).rows
    assert row.value == pytest.approx(expected, abs=1e-15)
    assert (row.metric, row.coefficient, row.by, row.n, row.dropped) == ("x", coefficient, by, n, dropped)


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_what_is_perfect_is_one(by, coefficient):
    grades = [1, 2, 3, 4, 2, 3, 4, 1]
    given = table(
        grades,
        items=list("ppppqqqq"),
        systems=[0, 1, 2, 3, 0, 1, 2, 4],
        up=[2.0 * grade for grade in grades],
        down=[-2.0 * grade for grade in grades],
    )
    found = correlations(given, [coefficient], by, draws=Draws(resamples=20))
    assert values(found) == pytest.approx([1, -1], abs=1e-15)
    assert [(row.low, row.high) for row in found.rows] == [pytest.approx((each, each)) for each in (1, -1)]


@pytest.mark.parametrize("by", LEVELS)
def test_a_metric_whose_small_numbers_are_good_is_turned_round(by):
    plain, turned = (correlations(noisy(lower=lower), by=by, draws=Draws(resamples=20)) for lower in ((), ("y",)))
    for before, after in zip(plain.rows, turned.rows, strict=True):
        if before.metric == "y":
            assert after.value == pytest.approx(-before.value, abs=1e-14)
            assert (after.low, after.high) == pytest.approx((-before.high, -before.low), abs=1e-14)
        else:
            assert after == before


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=12))
def test_ranks_see_the_order_only(rows):
    rows.sort(key=lambda row: row[2])
    x, grades, item = (np.array(column) for column in zip(*rows, strict=True))
    item = np.unique(item, return_inverse=True)[1].astype(np.int32)
    counts = bootstrap_counts(int(item[-1]) + 1, 5, 1)
    both = np.stack([x, np.exp(x)], axis=1).astype(float)
    system = np.zeros(len(x), np.int32)
    for coefficient in RANKED:
        for by in ("pool", "item"):
            found = kind_of(coefficient).resampled(Texts(both, grades.astype(float), item, system), counts, by)
            np.testing.assert_array_equal(found.values[0], found.values[1])
            np.testing.assert_array_equal(found.samples[:, 0], found.samples[:, 1])


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_more_threads_and_another_time_are_the_same(by, coefficient):
    given = noisy()
    once, again, other = (
        replicate(given.oriented, given, coefficient, by, Draws(resamples=30, seed=seed, jobs=jobs))
        for seed, jobs in ((1, 1), (1, 3), (2, 1))
    )
    assert once.samples.shape == (30, 3)
    np.testing.assert_array_equal(once.samples, again.samples)
    assert (once.samples != other.samples).any()
    np.testing.assert_array_equal(once.values, other.values)


def test_kendall_has_fewer_resamples():
    given = noisy()
    few = correlations(given, ["spearman", "kendall-b"], draws=Draws(resamples=500)).rows
    assert few[0] == correlations(given, ["spearman"], draws=Draws(resamples=500)).rows[0]
    assert few[3] == correlations(given, ["kendall-b"], draws=Draws(resamples=200)).rows[0]


def test_an_interval_is_over_items_not_texts():
    # Ten items of twenty equal texts each say no more than ten texts do.
    x, grades = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8]
    alone = correlations(table(grades, x=x), ["pearson"]).rows[0]
    items = np.repeat(range(10), 20).tolist()
    together = table(np.repeat(grades, 20).tolist(), items=items, x=np.repeat(x, 20).tolist())
    repeated = correlations(together, ["pearson"]).rows[0]
    assert (repeated.value, repeated.low, repeated.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert repeated.n == 200


@pytest.mark.parametrize(
    ("options", "by", "reason"),
    [
        ({"x": [0.5, 0.5, 0.5]}, "pool", "every score is 0.5"),
        ({"x": [0.3, 0.1 + 0.2, 0.3]}, "pool", "every score is 0.3"),
        ({"x": [0.5] * 3, "lower": ("x",)}, "pool", "every score is 0.5"),
        ({"x": [1, 2, 3], "grades": [4, 4, 4]}, "pool", "every grade is 4"),
        ({"x": [1], "grades": [1]}, "pool", "only one text"),
        ({"x": [1, 2, 3], "items": ["p"] * 3}, "pool", "only one item, so there is no interval over items"),
        ({"x": [1, 2, 3]}, "item", "no item has two texts"),
        (
            {"x": [1, 1, 2, 2], "grades": [1, 2, 3, 4], "items": "ppqq"},
            "item",
            "in every item the scores are all the same",
        ),
        (
            {"x": [1, 2, 3, 4], "grades": [1, 1, 3, 3], "items": "ppqq"},
            "item",
            "in every item the grades are all the same",
        ),
        (
            {"x": [1, 2, 3, 3], "grades": [1, 1, 3, 4], "items": "ppqq"},
            "item",
            "in every item the scores or the grades are all the same",
        ),
        ({"x": [1, 2, 3]}, "system", "only one system"),
        ({"x": [1, 2, 3], "systems": "abc"}, "within-system", "no system has two texts"),
        (
            {"x": [1, 2, 1, 2], "grades": [1, 2, 3, 4], "items": "ppqq", "systems": "abab"},
            "within-system",
            "in every system the scores are all the same",
        ),
        (
            {"x": [1, 2, 3, 4], "grades": [1, 3, 1, 3], "items": "ppqq", "systems": "abab"},
            "within-system",
            "in every system the grades are all the same",
        ),
        (
            {"x": [1, 2, 3, 2], "grades": [1, 1, 1, 4], "items": "ppqq", "systems": "abab"},
            "within-system",
            "in every system the scores or the grades are all the same",
        ),
        (
            {"x": [1, 2, 2, 1], "grades": [1, 2, 3, 4], "items": "ppqq", "systems": "abab"},
            "system",
            "every system's mean score is 1.5",
        ),
        (
            {"x": [1, 2, 3, 5], "grades": [1, 2, 2, 1], "items": "ppqq", "systems": "abab"},
            "system",
            "every system's mean grade is 1.5",
        ),
    ],
)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_why_there_is_none(options, by, reason, coefficient):
    found = correlations(table(**({"grades": [1, 2, 3]} | options)), [coefficient], by, draws=Draws(resamples=30))
    assert found.rows == ()
    assert found.absent == (UndefinedResult(metric="x", coefficient=coefficient, by=by, reason=reason),)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_one_constant_column_does_not_hinder_the_others(coefficient):
    given = table([1, 2, 3, 5], good=[1, 3, 2, 9], flat=[1, 1, 1, 1])
    found = correlations(given, [coefficient], draws=Draws(resamples=30))
    assert [row.metric for row in found.rows] == ["good"]
    assert [(row.metric, row.reason) for row in found.absent] == [("flat", "every score is 1")]
    raw = replicate(given.oriented, given, coefficient, "pool", Draws(resamples=30))
    assert np.isnan(raw.values).tolist() == [False, True]
    assert np.isnan(raw.samples[:, 1]).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_resamples_without_a_coefficient_are_passed_over(coefficient):
    given = table([1, 2, 2, 2], x=[5, 1, 1, 1])
    samples = replicate(given.oriented, given, coefficient, "pool", Draws(resamples=100)).samples
    drawn = bootstrap_counts(4, 100)[:, 0]
    np.testing.assert_array_equal(np.isnan(samples[:, 0]), (drawn == 0) | (drawn == 4))
    (row,) = correlations(given, [coefficient], draws=Draws(resamples=100)).rows
    assert -1 <= row.low <= row.value <= row.high < 0


def test_a_score_far_from_the_others_does_not_cost_digits():
    rng = np.random.default_rng(3)
    grades, x = rng.integers(1, 6, 40).astype(float), rng.normal(0, 1, 40)
    x[7] = 1e9
    given = table(grades.tolist(), x=x.tolist())
    samples = replicate(given.oriented, given, "pearson", "pool", Draws(resamples=100)).samples[:, 0]
    counts = bootstrap_counts(40, 100)
    assert (counts[:, 7] == 0).any()
    expected = [np.corrcoef(np.repeat(x, each), np.repeat(grades, each))[0, 1] for each in counts]
    np.testing.assert_allclose(samples, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("size", [1e-3, 1e200, 1e300])
def test_huge_scores(by, size):
    given = noisy()
    larger = dataclasses.replace(given, scores=given.scores * size)
    assert values(correlations(larger, by=by, draws=Draws(resamples=10))) == pytest.approx(
        values(correlations(given, by=by, draws=Draws(resamples=10))), abs=1e-12
    )


@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("exponents", [(0, 3), (-1074, -1050), (1000, 1023), (-1074, 1000)])
def test_scaled_columns_are_below_one_and_lose_no_digit(columns, exponents):
    random = np.random.default_rng(3)
    values = np.ldexp(random.uniform(-1, 1, (20, columns)), random.integers(*exponents, (20, columns)))
    values[:, 0] = 0.0
    found, powers = scaled(values), -np.frexp(np.abs(values).max(axis=0))[1]
    assert ((np.abs(found).max(axis=0) >= 0.5) & (np.abs(found).max(axis=0) < 1))[1:].all()
    np.testing.assert_array_equal(found, np.ldexp(values, powers))


def test_systems_that_a_resample_lacks_are_left_out_of_it():
    # c is in q only: without q two systems are left, whose coefficient is 1 or -1.
    given = table([1, 2, 4, 1, 5], items=list("ppqqq"), systems=list("abcab"), x=[1, 3, 0, 2, 1])
    found = replicate(given.oriented, given, "pearson", "system", Draws(resamples=40))
    of = {
        tuple(count): sample
        for count, sample in zip(bootstrap_counts(2, 40).tolist(), found.samples[:, 0], strict=True)
    }
    assert of[2, 0] == pytest.approx(1)
    assert of[1, 1] == pytest.approx(found.values[0])
    assert of[0, 2] == pytest.approx(np.corrcoef([0, 2, 1], [4, 1, 5])[0, 1])
    assert found.n == 3


def controlled(draws, flat=()):
    rng = np.random.default_rng(9)
    grades = rng.integers(1, 6, 50).astype(float)
    columns = {
        f"control:shuffled(x,draw={draw})": np.ones(50) if draw in flat else grades + rng.normal(0, 2, 50)
        for draw in range(draws)
    }
    return table(grades.tolist(), x=(grades + rng.normal(0, 2, 50)).tolist(), **columns)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_random_control_is_the_mean_of_its_draws(coefficient):
    given = controlled(15)
    plain, row = correlations(given, [coefficient], draws=Draws(resamples=80)).rows
    assert (row.metric, plain.metric, plain.sd) == ("control:shuffled(x)", "x", None)
    of = replicate(given.draws["control:shuffled(x)"], given, coefficient, "pool", Draws(resamples=80))
    assert row.value == pytest.approx(of.values.mean())
    assert row.sd == pytest.approx(of.values.std(ddof=1))
    moved = of.values.mean() - of.values[:CONTROL_DRAWS].mean()  # so that the interval is around the value
    assert abs(moved) > 0.001
    expected = np.percentile(of.samples[:, :CONTROL_DRAWS].mean(axis=1), (2.5, 97.5)) + moved
    assert (row.low, row.high) == pytest.approx(tuple(expected))
    (difference,) = differences(given, coefficient, draws=Draws(resamples=80)).rows
    alone = replicate(np.column_stack([given.oriented[:, 0]]), given, coefficient, "pool", Draws(resamples=80))
    less = alone.samples[:, 0] - of.samples[:, :CONTROL_DRAWS].mean(axis=1) - moved
    assert (difference.low, difference.high) == pytest.approx(tuple(np.percentile(less, (2.5, 97.5))))


def test_draws_without_a_coefficient_are_passed_over():
    some, none = (
        correlations(controlled(3, flat), ["pearson"], draws=Draws(resamples=20)) for flat in ({0, 2}, {0, 1, 2})
    )
    assert some.rows[1].metric == "control:shuffled(x)"
    assert some.rows[1].sd is None
    assert none.absent == (
        UndefinedResult(metric="control:shuffled(x)", coefficient="pearson", by="pool", reason="every score is 1"),
    )


def test_what_is_asked_wrongly():
    given = noisy()
    with pytest.raises(UnknownName, match="did you mean 'kendall-b'"):
        correlations(given, ["kendal-b"])
    with pytest.raises(UnknownName, match="pool, item, system"):
        correlations(given, by="items")
    with pytest.raises(UsageError, match="at least one resample"):
        correlations(given, draws=Draws(resamples=0))
    assert len(correlations(given, ["pearson", "pearson"], draws=Draws(resamples=5)).rows) == 3


def test_a_coefficient_is_known_by_one_name_everywhere() -> None:
    assert tuple(TABLE) == get_args(Measure) == tuple(KINDS)
    assert {name: kind.facts for name, kind in KINDS.items()} == TABLE
    for kind in KINDS.values():
        assert not isinstance(kind, Correlated) or (kind.swaps is None) == bool(kind.facts.untested)
