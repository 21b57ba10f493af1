"""Errors of predicted grades, and bins that add up."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.correlation.audit import AbsoluteSum, calibrations
from postil.data.grades import Scale
from postil.data.rows import Judgement, Score
from postil.meta.grade_fits import MappedGrades, map_to_grades
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.table import Table, join
from rated_tables import rated_table
from table_p import table_p


def measured(table: Table, **options: Any) -> dict[tuple[str, str], Any]:
    rows = calibrations(table, map_to_grades(table), Draws(**({"resamples": 20} | options)))
    return {(row.metric, row.mapping): row for row in rows}


def predicted(grades: list[float]) -> MappedGrades:
    return MappedGrades((("x", "none"),), np.array(grades)[:, None], ())


def graded(grades: list[float], scale: Scale | None = None) -> Table:
    return rated_table({"x": range(len(grades))}, grades, scale=scale)


@pytest.mark.parametrize(
    ("metric", "mapping", "mae", "ece"),
    [
        ("m", "isotonic", 0.680150, 0.281723),
        ("j", "isotonic", 0.486096, 0.222493),
        ("m", "linear", 0.585168, 0.156315),
        ("j", "linear", 0.481567, 0.111827),
        ("j", "none", 0.493939, 0.263636),
    ],
)
def test_worked_values(metric: str, mapping: str, mae: float, ece: float) -> None:
    row = measured(table_p())[metric, mapping]
    assert (row.mae, row.ece_plain) == (pytest.approx(mae, abs=5.1e-7), pytest.approx(ece, abs=5.1e-7))
    assert row.n == 55
    if mapping == "none":
        assert row.bias == pytest.approx(0.184848, abs=5.1e-7)


def test_every_number_is_that_of_its_definition() -> None:
    table = table_p()
    mapped = map_to_grades(table)
    for column, row in zip(mapped.grades.T, calibrations(table, mapped, draws=Draws(resamples=5)), strict=True):
        errors = column - table.grades
        assert row.mae == pytest.approx(np.abs(errors).mean(), abs=1e-12)
        assert row.rmse == pytest.approx(np.sqrt((errors**2).mean()), abs=1e-12)
        assert row.bias == pytest.approx(errors.mean(), abs=1e-12)
        assert sum(each.n for each in row.bins) == row.n == 55
        assert row.ece_plain == pytest.approx(
            sum(each.n * abs(each.predicted - each.grade) for each in row.bins) / 55, abs=1e-12
        )
        assert row.ece_low <= row.ece <= min(row.ece_plain, row.ece_high)
        assert row.ece_plain <= row.mae + 1e-12
        assert np.diff([each.predicted for each in row.bins]).min(initial=1) > 0


def test_intervals_resample_items_and_keep_the_fits() -> None:
    table = table_p()
    mapped = map_to_grades(table)
    counts = bootstrap_counts(12, 30, seed=7)
    for column, row in zip(
        mapped.grades.T, calibrations(table, mapped, draws=Draws(resamples=30, seed=7)), strict=True
    ):
        maes, parts = [], []
        for count in counts:
            rows = np.repeat(np.arange(55), count[table.item])
            g, y = column[rows], table.grades[rows]
            place = np.clip(np.floor(np.round(10 * (g - 1) / 4, 9)), 0, 9)
            maes.append(np.abs(g - y).mean())
            parts.append([(g - y)[place == each].sum() / len(rows) for each in range(10)])
        assert [row.mae_low, row.mae_high] == pytest.approx(np.percentile(maes, [2.5, 97.5]), abs=1e-12)
        g, y = column, table.grades
        place = np.clip(np.floor(np.round(10 * (g - 1) / 4, 9)), 0, 9)
        means = np.array([(g - y)[place == each].sum() / 55 for each in range(10)])
        expected = AbsoluteSum.of(means, np.array(parts), 12)
        found = [row.ece_plain, row.ece, row.ece_low, row.ece_high]
        assert found == pytest.approx([expected.plain, expected.value, expected.low, expected.high], abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=30))
def test_bins_hold_every_text_once(texts: list[tuple[int, int]]) -> None:
    predictions, grades = [[float(value) for value in side] for side in zip(*texts, strict=True)]
    (row,) = calibrations(graded(grades, Scale(0, 10)), predicted(predictions), draws=Draws(resamples=2))
    assert sum(each.n for each in row.bins) == len(texts)
    assert sum(each.n * each.predicted for each in row.bins) == pytest.approx(sum(predictions))
    assert sum(each.n * each.grade for each in row.bins) == pytest.approx(sum(grades))
    # Every whole number begins a bin; the highest grade is in the last.
    assert [each.n for each in row.bins] == np.unique(np.minimum(predictions, 9), return_counts=True)[1].tolist()


def test_rounding_moves_no_prediction_into_the_bin_below() -> None:
    # 10 (0.3 - 0) / 1 is 3 and 10 (1.1 - .8 - 0) is 3.0000000000000004, 10 (.1 + .2) more; .7 as 1 - .3 is below 7.
    table = graded([0.0, 1.0, 0.5, 0.5], Scale(0, 1))
    (row,) = calibrations(table, predicted([0.3, 1.1 - 0.8, 0.7, 1 - 0.3]), draws=Draws(resamples=2))
    assert [each.n for each in row.bins] == [2, 2]


def test_perfect_predictions_have_no_error() -> None:
    table = graded([0.3, 0.6, 0.9])
    (row,) = calibrations(table, predicted([0.1 + 0.2, 0.6, 0.3 * 3]), draws=Draws(resamples=9))
    assert (row.mae, row.rmse, row.bias, row.ece) == (0, 0, 0, 0)
    assert (row.mae_low, row.mae_high, row.ece_low, row.ece_high) == (0, 0, 0, 0)


def test_errors_that_cancel_within_a_bin_are_none_of_calibration() -> None:
    table = graded([1.0, 3.0, 2.0, 5.0], Scale(1, 5))
    (row,) = calibrations(table, predicted([2.0, 2.0, 2.0, 5.0]), draws=Draws(resamples=9))
    assert (row.mae, row.bias, row.ece) == (0.5, 0, 0)
    assert [(each.n, each.predicted, each.grade) for each in row.bins] == [(3, 2, 2), (1, 5, 5)]


def test_where_all_grades_are_the_same_there_is_one_bin() -> None:
    row = measured(graded([3.0] * 4))["x", "isotonic"]
    assert (row.mae, row.ece, len(row.bins)) == (0, 0, 1)


def test_a_constant_is_as_good_as_the_constant_control() -> None:
    table = table_p()
    table = dataclasses.replace(table, scores=np.where([True, False, False], 3.0, table.scores))
    rows = measured(table)
    for mapping in ("isotonic", "linear"):
        assert rows["m", mapping].mae == pytest.approx(rows["control:constant", "isotonic"].mae)


def test_one_item_has_no_interval() -> None:
    table = join(
        [Score("1", system, "x", score) for system, score in (("a", 1.0), ("b", 2.0))],
        [Judgement("1", system, "ann", grade) for system, grade in (("a", 1.0), ("b", 3.0))],
    )
    (row,) = calibrations(table, map_to_grades(table))
    assert (row.mapping, row.mae, row.mae_low, row.mae_high, row.ece_low, row.ece_high) == ("none", 0.5, *[None] * 4)
    no_rows = dataclasses.replace(table, scores=table.scores + 9)
    assert calibrations(no_rows, map_to_grades(no_rows)) == ()


def test_a_constant_at_the_mean_is_calibrated() -> None:
    """Percentiles of resampled errors lay above the error itself: .000 [.002, .116]."""
    random = np.random.default_rng(3)
    grades = random.integers(1, 6, 60).astype(float)
    (row,) = calibrations(graded(list(grades), Scale(1, 5)), predicted([grades.mean()] * 60))
    assert (row.ece_plain, row.ece, row.ece_low) == (pytest.approx(0, abs=1e-12), 0, 0)
    # As wide as the interval of the mean.
    assert row.ece_high == pytest.approx(2 * grades.std() / np.sqrt(60), rel=0.1)


def test_an_interval_holds_its_estimate_whatever_comes() -> None:
    random = np.random.default_rng(4)
    for n in (2, 3, 10, 40):
        for scale in (0.1, 1.0):
            grades = random.integers(1, 6, n).astype(float)
            predictions = np.clip(grades + scale * random.normal(size=n), 1, 5)
            (row,) = calibrations(
                graded(list(grades), Scale(1, 5)), predicted(list(predictions)), draws=Draws(resamples=200)
            )
            assert 0 <= row.ece_low <= row.ece <= row.ece_high
            assert row.ece <= row.ece_plain + 1e-12


@pytest.mark.parametrize(
    ("kind", "percentile"), [("calibrated", 0.0), ("constant", 0.0), ("shifted", 1.0), ("one bin", 0.9)]
)
def test_intervals_cover_the_error_of_the_population(kind: str, percentile: float) -> None:
    """Shares of 200 samples of 60 items of four texts; those of the percentiles are for comparison."""
    random = np.random.default_rng(5)
    people, said = _population(random, 40_000)
    means = np.array([people[said == each].mean() for each in range(1, 6)])
    shift = {"shifted": np.full(5, 0.3), "one bin": np.array([0, 0, 0, 0.5, 0])}.get(kind, np.zeros(5))
    predictions = np.full(5, people.mean()) if kind == "constant" else np.clip(means + shift, 1, 5)
    bins = np.floor(10 * (predictions - 1) / 4).clip(0, 9).astype(int)

    def parts(grades: np.ndarray, judged: np.ndarray) -> np.ndarray:
        """Parts of the bins by item, of items of four texts."""
        each = np.zeros((len(grades), 10))
        np.add.at(each, (np.arange(len(grades)), bins[judged - 1]), predictions[judged - 1] - grades)
        return each.reshape(-1, 4, 10).mean(axis=1)

    truth = np.abs(parts(people, said).mean(axis=0)).sum()
    counts = bootstrap_counts(60, 400, seed=1) / 60
    held = percentiles = 0
    estimates = []
    for _ in range(200):
        of_item = parts(*_population(random, 60))
        resampled = counts @ of_item
        found = AbsoluteSum.of(of_item.mean(axis=0), resampled, 60)
        held += found.low <= truth + 1e-9 and truth <= found.high
        low, high = np.percentile(np.abs(resampled).sum(axis=1), [2.5, 97.5])
        percentiles += low <= truth <= high
        estimates.append((found.value, found.plain))
    assert held / 200 >= 0.92
    assert percentiles / 200 <= percentile
    value, uncorrected = np.mean(estimates, axis=0)
    assert abs(value - truth) < abs(uncorrected - truth) + 0.01


def _population(random: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Grades, and what a judge says in whole numbers, of items of four texts."""
    quality = 3 + 0.6 * np.repeat(random.normal(size=items), 4) + 0.8 * random.normal(size=4 * items)
    people = np.clip(np.round(2 * (quality + 0.5 * random.normal(size=4 * items))) / 2, 1, 5)
    return people, np.clip(np.round(quality + 0.7 * random.normal(size=4 * items)), 1, 5).astype(int)
