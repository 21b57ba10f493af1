"""Tests of differences, and corpus scores of resamples and of swapped items."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from postil.comparison.baseline import compare_means, compare_sums, sacrebleu_p_value
from postil.data.rows import Judgement, Score
from postil.errors import UnknownName, UsageError
from postil.meta import coefficient_kinds, permutation
from postil.meta.coefficients import LEVELS, By, Measure
from postil.meta.column_correlations import pearson
from postil.meta.correlation import correlations, differences
from postil.meta.permutation import Statistic, _bits, permutation_p, standardized, swapping_coefficients, swapping_rows
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.significance import holm, student_p, williams_p, williams_t
from postil.meta.table import Table, join
from rated_tables import rated_table


def made(
    items: int = 8,
    systems: int = 5,
    *,
    strengths: dict[str, float] | None = None,
    seed: int = 0,
    flat: tuple[str, ...] = (),
    low: tuple[str, ...] = (),
) -> Table:
    """Texts of some quality; a metric with strength s is s times the quality plus noise, or flat."""
    random = np.random.default_rng(seed)
    strengths = {"a": 1.5, "b": 0.3} if strengths is None else strengths
    scores, judgements = [], []
    for item in range(items):
        for system in range(systems):
            quality = random.normal()
            judgements.append(Judgement(str(item), str(system), "ann", round(quality + random.normal())))
            for metric, strength in strengths.items():
                score = 0.5 if metric in flat else round(strength * quality + random.normal(), 1)
                scores.append(Score(str(item), str(system), metric, score, ""))
    return join(scores, judgements, lower_is_better=low)


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    t = float(williams_t(*np.array([r12, r13, r23]), n))
    return t, float(student_p(t, n - 3))


def test_williams_is_that_of_the_textbooks() -> None:
    t, p = williams(0.80, 0.72, 0.89, n=26)  # Howell, Statistical Methods for Psychology, 6th edition, page 262
    assert (round(t, 3), round(p, 3)) == (1.361, 0.187)
    # The manual of R's psych has this example of r.test and its p to eight digits, 0.1000759.
    t, p = williams(0.693458895410494, 0.695966022434845, 0.988475791500198, n=5105)
    assert t < 0
    assert round(p, 7) == 0.1000759


def test_williams_by_hand() -> None:
    # d = 1 - .25 - 0 - 0 + 0 = .75; t = .5 sqrt(4 / (2 * .75 * 4 / 2 + .25 / 4)) = .5 sqrt(4 / 3.0625) = 4 / 7
    assert williams(0.5, 0.0, 0.0, n=5)[0] == pytest.approx(4 / 7, rel=1e-14)
    # A metric that is people: d = 0, t = (1 - r) sqrt(4 (n - 1) (1 + r) / ((1 + r)^2 (1 - r)^3)) = sqrt(4 * 4 / .75)
    assert williams(1.0, 0.5, 0.5, n=5)[0] == pytest.approx((16 / 0.75) ** 0.5, rel=1e-14)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=4, max_size=12))
def test_williams_turns_with_its_metrics(rows: list[list[int]]) -> None:
    columns = np.array(rows, float)
    assume((np.ptp(columns, axis=0) > 0).all())
    between = np.corrcoef(columns.T).clip(-1, 1)
    r12, r13, r23 = between[0, 1], between[0, 2], between[1, 2]
    (t, p), (back, p_back) = williams(r12, r13, r23, len(rows)), williams(r13, r12, r23, len(rows))
    assert np.isnan(t) == np.isnan(back)
    if not np.isnan(t):
        assert (back, p_back) == (-t, p)
        assert 0 <= p <= 1


def test_williams_where_it_has_no_answer() -> None:
    assert williams(0.4, 0.4, 1.0, n=10) == (0.0, 1.0)
    assert np.isnan(williams(0.4, -0.4, -1.0, n=10)[0])
    assert np.isnan(williams_p(np.eye(3), np.array([[0], [1]]))).all()  # fewer than four points
    points = np.array([[3, 1, 2], [-1, 1, 1], [-1, -3, -2], [-1, 1, -1]], float)
    points /= np.sqrt((points**2).mean(axis=0))
    between = points.T @ points / 4
    t = williams_t(between[0, 2], between[1, 2], between[0, 1], 4)
    assert williams_p(points, np.array([[0], [1]])) == [
        pytest.approx(1 - 2 / math.pi * math.atan(abs(t)))
    ]  # one degree of freedom: Cauchy


def test_student_by_hand_and_by_table() -> None:
    assert student_p(1.0, 1) == pytest.approx(0.5, rel=1e-14)  # Cauchy: 1 - 2 arctan(t) / pi
    assert student_p(2.0, 2) == pytest.approx(1 - 2 / 6**0.5, rel=1e-14)  # 1 - t / sqrt(2 + t^2)
    assert student_p([2.0859634, 2.5758293], 20)[0] == pytest.approx(0.05, abs=1e-8)
    assert student_p(float("inf"), 5) == 0.0
    assert student_p(0.0, 5) == 1.0


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .04 .5 times 4 3 2 1 = .04 .06 .08 .5
    assert holm([0.5, 0.01, 0.04, 0.02]).tolist() == [0.5, 0.04, 0.08, 0.06]
    # .03 * 3 = .09, then .04 * 2 = .08 is raised to it, then 1 * .9
    assert holm([0.03, 0.04, 0.9]).tolist() == pytest.approx([0.09, 0.09, 0.9])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lowers_nothing(p: list[float]) -> None:
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (corrected <= np.minimum(1, np.array(p) * len(p))).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(corrected[order]) >= 0).all()
    assert holm(np.array(p)[order]).tolist() == corrected[order].tolist()


def test_a_permutation_without_a_statistic_counts_as_reaching() -> None:
    def statistic(swapped: np.ndarray) -> np.ndarray:
        return np.where(swapped.sum(axis=1, keepdims=True) == 1, np.nan, [[0.5, 2.0]]) - swapped[:, :1]

    # Two items: swapped are none (.5, 2), one (NaN) or both (-.5, 1); so all but "both" count.
    random = np.random.default_rng(3).integers(0, 2, (100, 2), dtype=np.int8)
    expected = (1 + (random.sum(axis=1) < 2).sum()) / 101
    assert permutation_p(statistic, 2, Draws(permutations=100, seed=3)).tolist() == [expected, expected]


@pytest.mark.parametrize("size", [(256, 3), (5, 7), (1, 1), (40, 500)])
def test_swaps_are_those_of_the_generator(size: tuple[int, int]) -> None:
    ours, theirs = np.random.default_rng(9), np.random.default_rng(9)
    for each in ((256, size[1]), size):
        np.testing.assert_array_equal(_bits(ours, *each), theirs.integers(0, 2, each, dtype=np.int8))


def test_swaps_of_many_items_are_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    points = standardized(random.normal(size=(70, 3)) + random.normal(size=(70, 1)))
    statistic = swapping_rows(points, np.arange(70), np.array([[0], [1]]))
    whole = permutation_p(statistic, 70, Draws(permutations=300, seed=4))
    swaps = random.integers(0, 2, (8, 70)).astype(float)
    in_one = statistic(swaps)
    monkeypatch.setattr(permutation, "NUMBERS", 100)
    monkeypatch.setattr(permutation, "ONE_THREAD", 1000)  # of 8 x 70 x 6
    np.testing.assert_allclose(statistic(swaps), in_one, rtol=0, atol=1e-13)
    assert permutation_p(statistic, 70, Draws(permutations=300, seed=4)).tolist() == whole.tolist()


def brute(table: Table, swap: tuple[int, ...], coefficient: Measure, by: By) -> float:
    """|difference| of metrics 0 and 1 after some items swapped, with numpy's own correlation."""

    def ranks(values: np.ndarray) -> np.ndarray:
        values = values.round(12)
        return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])

    def correlation(x: np.ndarray, y: np.ndarray) -> float:
        if coefficient == "spearman" and by != "pool":
            x, y = ranks(x), ranks(y)
        return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x.round(12)) > 0 and np.ptp(y) > 0 else np.nan

    metrics, grades = table.oriented[:, :2].T, table.grades
    if coefficient == "spearman" and by == "pool":
        metrics, grades = np.array([ranks(metric) for metric in metrics]), ranks(grades)
    metrics = (metrics - metrics.mean(axis=1, keepdims=True)) / metrics.std(axis=1, keepdims=True)
    swapped = np.isin(table.item, np.flatnonzero(swap))
    metrics = np.where(swapped, metrics[::-1], metrics)
    if by == "pool":
        a, b = (correlation(metric, grades) for metric in metrics)
    elif by == "item":
        of_item = [
            [correlation(metric[table.item == item], grades[table.item == item]) for item in range(len(table.items))]
            for metric in metrics
        ]
        a, b = np.nanmean(of_item, axis=1)
    elif by == "within-system":
        of_system = []
        for of in (table.system == system for system in range(len(table.systems))):
            rows = np.vstack([table.oriented[of, :2].T, table.grades[of]])
            rows = np.array([ranks(row) for row in rows]) if coefficient == "spearman" else rows
            deviation = rows.std(axis=1, keepdims=True)
            rows = (rows - rows.mean(axis=1, keepdims=True)) / np.where(deviation > 1e-12, deviation, np.inf)
            rows[:2] = np.where(swapped[of], rows[1::-1], rows[:2])
            of_system.append([np.corrcoef(row, rows[2])[0, 1] if np.ptp(row) > 0 else np.nan for row in rows[:2]])
        a, b = np.nanmean(of_system, axis=0)
    else:
        systems = [table.system == system for system in range(len(table.systems))]
        a, b = (
            correlation(
                np.array([metric[of].mean() for of in systems]), np.array([grades[of].mean() for of in systems])
            )
            for metric in metrics
        )
    return abs(a - b)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_permutation_is_brute_force_over_all_swaps(
    coefficient: Measure, by: By, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(items=6, systems=4, strengths={"a": 1.0, "b": 0.5, "c": 0.0}, seed=seed)
    if by == "within-system":  # a system without a coefficient of the first metric, and one without a text of two items
        table.scores[table.system == 2, 0] = 0.5
        kept = (table.system != 3) | (table.item > 1)
        table = replace(table, **{name: getattr(table, name)[kept] for name in ("item", "system", "scores", "grades")})
    swaps = list(itertools.product((0, 1), repeat=6))
    seen = []

    def look(statistic: Statistic, items: int, draws: Draws) -> np.ndarray:
        seen.append(statistic(np.array(swaps, float)))
        return permutation_p(statistic, items, draws)

    monkeypatch.setattr(coefficient_kinds, "permutation_p", look)
    row = differences(table, coefficient, by, draws=Draws(resamples=10, permutations=4000)).rows[0]
    expected = np.array([brute(table, swap, coefficient, by) for swap in swaps])
    np.testing.assert_allclose(seen[0][:, 0], expected, atol=1e-12)
    assert expected[0] == pytest.approx(abs(row.value), abs=1e-12)
    exact = (expected >= expected[0] - 1e-10).mean()
    assert row.p_permutation == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 4000) ** 0.5 + 1 / 4000)


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall-b"])
def test_value_and_interval_are_of_the_paired_resamples(coefficient: Measure, by: By) -> None:
    table = made()
    (row,) = differences(table, coefficient, by, draws=Draws(resamples=50, seed=7)).rows
    a, b = correlations(table, [coefficient], by, draws=Draws(resamples=50, seed=7)).rows
    assert row.value == a.value - b.value
    assert row.n == min(a.n, b.n)
    drawn = []
    for counts in bootstrap_counts(8, 50, seed=7):
        rows = np.repeat(np.arange(len(table)), counts[table.item])
        drawn.append(_again(table, rows, coefficient, by))
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    assert (row.low, row.high) == (pytest.approx(low, abs=1e-10), pytest.approx(high, abs=1e-10))


def _again(table: Table, rows: np.ndarray, coefficient: Measure, by: By) -> float:
    """The difference in a table of some rows, where each draw of an item is an item of its own."""
    copy = np.zeros(len(rows), int)
    for row in np.unique(rows):
        copy[rows == row] = np.arange((rows == row).sum())
    items = [f"{item}-{c}" for item, c in zip(table.item[rows], copy, strict=True)]
    columns = dict(zip(table.metrics, table.scores[rows].T, strict=True))
    again = rated_table(columns, table.grades[rows], items=items, systems=table.system[rows])
    a, b = correlations(again, [coefficient], by, draws=Draws(resamples=5)).rows
    return a.value - b.value


def test_items_without_a_coefficient_are_swapped_too() -> None:
    table = made(items=5, systems=4)
    scores = table.scores.copy()
    scores[table.item > 0, 0] = 0.5  # one item is left to the first metric, four to the second
    scores[table.item == 0, 1] = 0.5
    table = replace(table, scores=scores)
    swaps = list(itertools.product((0, 1), repeat=5))
    of_item = pearson(table.scores, table.grades, table.starts)
    found = swapping_coefficients(of_item, np.array([[0], [1]]))(np.array(swaps, float))
    expected = []
    for swap in swaps:
        a, b = np.where(swap, of_item.T[::-1], of_item.T)
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        expected.append(abs(a.mean() - b.mean()) if len(a) and len(b) else np.nan)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-12)
    assert np.isnan(expected).sum() == 2


def test_the_better_metric_is_found_and_the_copy_is_not() -> None:
    table = made(items=40, strengths={"good": 3.0, "bad": 0.1})
    (row,) = differences(table, draws=Draws(permutations=999)).rows
    assert row.value > 0.3
    assert row.low > 0
    assert row.p == row.p_permutation == row.p_holm == 0.001
    assert row.p_williams < 1e-6

    scores = np.array([0.1, 0.7, 0.2, 0.9, 0.4])
    table = rated_table({"one": scores, "three times": 3 * scores}, [1, 2, 3, 5, 5])
    for coefficient in ("pearson", "spearman"):
        (row,) = differences(table, coefficient).rows
        assert row.value == pytest.approx(0, abs=1e-12)
        assert (row.p_bootstrap, row.p_williams, row.p_permutation, row.p_holm) == (1.0, 1.0, 1.0, 1.0)


def test_equal_metrics_are_rarely_told_apart() -> None:
    """Texts of one item share their noise, which a test that forgets the items would take for proof."""
    random = np.random.default_rng(5)
    permuted, williams_p = [], []
    for _ in range(150):
        quality, shared = random.normal(size=(12, 6)), random.normal(size=(2, 12, 1))
        metrics = quality + 1.5 * shared
        grades = (quality + random.normal(size=(12, 1))).ravel()
        item, system = np.divmod(np.arange(72), 6)
        columns = {"0": metrics[0].ravel(), "1": metrics[1].ravel()}
        table = rated_table(columns, grades, items=item, systems=system)
        (row,) = differences(table, draws=Draws(resamples=1, permutations=99)).rows
        permuted.append(row.p_permutation)
        williams_p.append(row.p_williams)
    assert 0.02 <= np.mean(np.array(permuted) <= 0.1) <= 0.18
    assert np.mean(np.array(williams_p) <= 0.1) > 0.25


def test_holm_is_over_the_pairs() -> None:
    found = differences(
        made(strengths={"a": 2.0, "b": 1.0, "c": 0.0, "d": 0.5}, items=12), draws=Draws(permutations=200)
    )
    assert [(row.first, row.second) for row in found.rows] == list(itertools.combinations("abcd", 2))
    assert [row.p_holm for row in found.rows] == holm([row.p for row in found.rows]).tolist()


def test_a_constant_metric_is_absent_and_the_others_are_not() -> None:
    table = made(strengths={"a": 1.0, "flat": 0.0, "b": 0.5}, flat=("flat",))
    for coefficient, by in itertools.product(("pearson", "spearman", "kendall-b"), LEVELS):
        found = differences(table, coefficient, by, draws=Draws(resamples=20, permutations=20))
        assert [(row.first, row.second) for row in found.rows] == [("a", "b")]
        (absent,) = found.absent
        assert (absent.metric, absent.coefficient, absent.by, absent.reason) == (
            "flat",
            coefficient,
            by,
            "every score is 0.5",
        )


def test_items_without_a_coefficient_are_not_counted() -> None:
    table = made(items=6)
    scores = table.scores.copy()
    scores[table.item == 0, 1] = 0.5
    (row,) = differences(replace(table, scores=scores), by="item", draws=Draws(resamples=20)).rows
    assert row.n == 5
    a, b = correlations(replace(table, scores=scores), ["pearson"], "item", draws=Draws(resamples=20)).rows
    assert (a.n, b.n, row.value) == (6, 5, a.value - b.value)


def test_one_system_within_it_is_all_texts() -> None:
    for coefficient in ("pearson", "spearman"):
        pool, within = (
            differences(made(30, 1), coefficient, by, draws=Draws(permutations=500)).rows
            for by in ("pool", "within-system")
        )
        assert [row.p_williams for row in within] == [None]
        assert [msgspec.structs.replace(row, by="within-system", n=1, p_williams=None) for row in pool] == list(within)


def test_metrics_that_never_exist_together() -> None:
    # Every resample of two items has both or one of them twice; each metric varies in one item only.
    columns = {"a": [0.1, 0.2, 0.2, 0.2], "b": [0.5, 0.5, 0.5, 0.6]}
    table = rated_table(columns, [1, 2, 2, 3], items="1122", systems="0123")
    seed = next(seed for seed in range(99) if (bootstrap_counts(2, 2, seed) == [[2, 0], [0, 2]]).all())
    found = differences(table, draws=Draws(resamples=2, seed=seed))
    assert found.rows == ()
    assert [(absent.metric, absent.reason) for absent in found.absent] == [
        ("a and b", "no resample has a coefficient of both")
    ]


def test_tables_that_allow_little() -> None:
    one_item = differences(made(items=1))
    assert one_item.rows == ()
    assert [absent.metric for absent in one_item.absent] == ["a", "b"]
    assert differences(made(strengths={"a": 1.0})).rows == ()
    assert [absent.reason for absent in differences(made(systems=1), by="system").absent] == ["only one system"] * 2
    (three,) = differences(made(items=20, systems=3), by="system", draws=Draws(resamples=50)).rows
    assert three.p_williams is None
    assert three.p_permutation is not None


def test_kendall_has_the_bootstrap_alone_and_says_so() -> None:
    found = differences(made(), "kendall-b")
    (row,) = found.rows
    assert (row.p_williams, row.p_permutation, row.p, row.p_holm) == (None, None, None, None)
    assert row.p_bootstrap is not None
    assert found.rows == differences(made(), "kendall-b", draws=Draws(resamples=200)).rows
    assert "have no test here" in found.notes[0]


def test_notes_say_what_williams_takes_for_granted() -> None:
    assert "independent" in differences(made()).notes[0]
    assert "does not apply" in differences(made(), by="item").notes[0]
    assert "mean of the systems' coefficients" in differences(made(), by="within-system").notes[0]
    assert differences(made(systems=1)).notes == ()


def with_control(draws: int, low: tuple[str, ...] = ()) -> Table:
    table = made(items=10, strengths={"w-a": 2.0, "b": 1.0, **{f"draw{i}": 0.5 for i in range(draws)}})
    sign = np.where([name.removesuffix("x") in low or name.startswith("draw") for name in table.metrics], -1, 1)
    sign = sign if low else np.abs(sign)
    names = [f"control:shuffled(w-a,draw={name[4:]})" if name.startswith("draw") else name for name in table.metrics]
    columns = dict(zip(names, (sign * table.scores).T, strict=True))
    return rated_table(columns, table.grades, items=table.item, systems=table.system, lower_is_better=low)


def test_a_metric_is_compared_with_the_mean_of_its_controls_draws() -> None:
    table = with_control(draws=12)
    pair, control = differences(table, draws=Draws(resamples=200)).rows
    assert (pair.first, pair.second, control.first, control.second) == ("w-a", "b", "w-a", "control:shuffled(w-a)")
    draws = [np.corrcoef(draw, table.grades)[0, 1] for draw in table.draws["control:shuffled(w-a)"].T]
    weighted = np.corrcoef(table.scores[:, 0], table.grades)[0, 1]
    assert control.value == pytest.approx(weighted - np.mean(draws), abs=1e-12)
    assert control.low < control.value < control.high
    assert (control.p_williams, control.p_permutation) == (None, None)
    assert control.p == control.p_bootstrap == control.p_holm
    assert pair.p_holm == pair.p


def test_a_control_points_the_way_of_its_metric() -> None:
    assert differences(with_control(3, low=("w-a",)), draws=Draws(resamples=50)).rows == pytest.approx(
        differences(with_control(3), draws=Draws(resamples=50)).rows
    )


def test_a_control_of_a_metric_that_was_not_kept_is_passed_over() -> None:
    table = with_control(3)
    without = replace(table, metrics=("other", "b"))
    assert [row.second for row in differences(without, draws=Draws(resamples=20)).rows] == ["b"]


def test_a_control_without_a_coefficient_is_absent() -> None:
    table = with_control(3)
    flat = np.full((len(table), 2), 0.25)
    found = differences(replace(table, draws={"control:shuffled(w-a)": flat}), draws=Draws(resamples=20))
    assert [row.second for row in found.rows] == ["b"]
    assert [(absent.metric, absent.reason) for absent in found.absent] == [
        ("control:shuffled(w-a)", "every score is 0.25")
    ]
    scores = table.scores.copy()
    scores[:, 0] = 0.5
    found = differences(replace(table, scores=scores), draws=Draws(resamples=20))
    assert found.rows == ()
    assert [(absent.metric, absent.reason) for absent in found.absent] == [
        ("w-a", "every score is 0.5"),
        ("control:shuffled(w-a)", "every score is 0.5"),
    ]


def test_wrong_requests() -> None:
    with pytest.raises(UsageError, match="at least one permutation, got 0"):
        differences(made(), draws=Draws(permutations=0))
    with pytest.raises(UsageError, match="at least one resample, got 0"):
        differences(made(), draws=Draws(resamples=0))
    with pytest.raises(UnknownName, match="did you mean 'pearson'"):
        differences(made(), "person")  # type: ignore[arg-type]


RATIO = np.array(
    [[[3.0, 4], [2, 4], [3, 4]], [[1, 9], [5, 9], [1, 9]], [[0, 2], [2, 2], [0, 2]], [[4, 7], [5, 7], [4, 7]]]
)
"""float64[items, systems, 2]: matches and lengths; the last system is the first."""


def ratio(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[:, 0] / sums[:, 1])


def test_scores_of_resamples_are_those_of_their_rows() -> None:
    counts = bootstrap_counts(len(RATIO), 300, 1)
    found = compare_sums(RATIO, ratio, 0, counts, Draws(permutations=10, seed=1))
    for number, multiplicity in enumerate(counts.tolist()):
        drawn = np.repeat(RATIO, multiplicity, axis=0).sum(axis=0)
        assert found.drawn[number, :, 0] == pytest.approx(drawn[:, 0] / drawn[:, 1], rel=1e-12)
    assert found.scores[:, 0] == pytest.approx([8 / 22, 14 / 22, 8 / 22])
    assert found.differences[:, 0] == pytest.approx([0, 6 / 22, 0])
    assert (found.drawn_differences[:, 2] == 0).all()
    assert found.p_bootstrap(2, 0) == 1
    assert found.p_bootstrap(2, 0, sacrebleu=True) == 1 / 301


def test_permutations_swap_the_statistics_of_items() -> None:
    found = compare_sums(RATIO, ratio, 0, bootstrap_counts(4, 10, 1), Draws(permutations=20_000, seed=2))
    theirs = compare_sums(
        RATIO, ratio, 0, bootstrap_counts(4, 10, 1), Draws(permutations=20_000, seed=2), sacrebleu=True
    )
    observed, reached, exceeded = 6 / 22, 0, 0
    for swaps in itertools.product((0, 1), repeat=4):
        one = sum(row[swap] for row, swap in zip(RATIO, swaps, strict=True))
        other = sum(row[1 - swap] for row, swap in zip(RATIO, swaps, strict=True))
        difference = abs(one[0] / one[1] - other[0] / other[1])
        reached += difference > observed - 1e-9
        exceeded += difference > observed + 1e-9
    assert found.p_randomization[1, 0] == pytest.approx(reached / 16, abs=0.01)
    assert theirs.p_randomization[1, 0] == pytest.approx(exceeded / 16, abs=0.01)
    assert (found.p_randomization[2, 0], theirs.p_randomization[2, 0]) == (1, 1 / 20_001)


def test_a_mean_is_a_corpus_score_of_values_and_ones() -> None:
    values = np.random.default_rng(3).random((30, 3, 1))
    values[:, 2] = values[:, 0]
    counts = bootstrap_counts(30, 200, 3)
    means = compare_means(values, 0, counts, Draws(permutations=500, seed=4))
    statistics = np.concatenate([values, np.ones_like(values)], axis=-1)
    sums = compare_sums(statistics, ratio, 0, counts, Draws(permutations=500, seed=4))
    for name in ("scores", "differences", "drawn", "drawn_differences", "p_randomization"):
        assert getattr(sums, name) == pytest.approx(getattr(means, name), rel=1e-12, abs=1e-15), name
    assert [sums.p_bootstrap(system, 0) for system in (1, 2)] == [means.p_bootstrap(system, 0) for system in (1, 2)]


def test_the_p_value_of_sacrebleu_centers_absolute_differences() -> None:
    samples = np.array([-0.5, 0.1, 0.2, 0.4])  # sizes minus their mean of .3: .2, -.2, -.1, .1
    assert sacrebleu_p_value(samples, 0.15) == 2 / 5
    assert sacrebleu_p_value(samples, -0.15) == 2 / 5
    assert sacrebleu_p_value(samples, 0.3) == 1 / 5
