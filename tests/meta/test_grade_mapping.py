"""Scores on the scale of the ratings: fits of other items alone, ties, directions, extremes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.grades import Scale
from postil.errors import UsageError
from postil.meta.grade_fits import isotonic, linear, map_to_grades, scale_of
from rated_tables import rated_table
from table_p import table_p

if TYPE_CHECKING:
    from postil.meta.table import Table


def made(
    scores: list[float], grades: list[float], *, items: int | None = None, low: tuple[str, ...] = (), scale: str = ""
) -> Table:
    """Texts of one metric and one annotator; by default one text per item, else they take turns."""
    systems, names = zip(*(divmod(text, items or len(scores)) for text in range(len(scores))), strict=True)
    parsed = Scale.parse(scale) if scale else None
    return rated_table({"x": scores}, grades, items=names, systems=systems, lower_is_better=low, scale=parsed)


def columns(table: Table, folds: int = 5) -> dict[tuple[str, str], list[float]]:
    mapped = map_to_grades(table, folds)
    return {name: column.tolist() for name, column in zip(mapped.names, mapped.grades.T, strict=True)}


few = st.integers(0, 6).map(lambda number: number / 3)


def test_isotonic_is_that_of_scikit_learn() -> None:
    regression = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    rng = np.random.default_rng(3)
    for n in (*range(1, 40), 3000):
        scores = rng.normal(size=n).round(n % 4)
        grades = rng.integers(1, 6, n) + scores * (n % 3)
        asked = np.concatenate([scores, rng.normal(size=50)])
        wanted = regression.fit(scores, grades).predict(asked)
        np.testing.assert_allclose(isotonic(scores, grades, asked), wanted, rtol=1e-14, atol=1e-14)


def test_isotonic_of_scores_that_fall_is_the_mean() -> None:
    assert isotonic(np.arange(4.0), np.array([9.0, 5.0, 2.0, 0.0]), np.array([-1.0, 1.5, 7.0])).tolist() == [4.0] * 3


@given(st.lists(st.tuples(few, few), min_size=2, max_size=20))
def test_linear_is_least_squares(texts: list[tuple[float, float]]) -> None:
    scores, grades = np.array(texts).T
    wanted = np.full(5, grades.mean())
    at = np.linspace(-1, 3, 5)
    if np.ptp(scores):
        wanted = np.polyval(np.polyfit(scores, grades, 1), at)
    np.testing.assert_allclose(linear(scores, grades, at), wanted, atol=1e-9)


def test_a_text_is_predicted_from_other_items_alone() -> None:
    table = table_p()
    for folds in (2, 5, 50):
        found = columns(table, folds)
        fold = table.item % min(folds, 12)
        for number in np.unique(fold):
            new = fold == number
            other = dataclasses.replace(table, grades=np.where(new, 1.0, table.grades))
            changed = columns(other, folds)
            for name, column in found.items():
                assert np.array_equal(np.array(column)[new], np.array(changed[name])[new])
            m, grades = table.scores[:, 0], table.grades
            wanted = isotonic(m[~new], grades[~new], m[new])
            assert np.array_equal(np.array(found["m", "isotonic"])[new], wanted)
            assert np.array(found["control:constant", "isotonic"])[new] == pytest.approx(grades[~new].mean(), abs=1e-12)


def test_metrics_controls_and_the_constant_have_their_mappings() -> None:
    mapped = map_to_grades(table_p())
    fitted = ["isotonic", "rounded", "linear"]
    assert list(mapped.names) == [
        *(("m", mapping) for mapping in fitted),
        *(("j", mapping) for mapping in ["none", *fitted]),
        *(("control:length", mapping) for mapping in fitted),
        *(("control:constant", mapping) for mapping in fitted[:2]),
    ]
    assert mapped.grades.shape == (55, 12)
    assert mapped.absent == ()
    assert mapped.grades.min() >= 1
    assert mapped.grades.max() <= 5


def test_scores_on_the_scale_are_there_as_they_are() -> None:
    scores, grades = [1.0, 2.5, 4.0, 2.0], [1.0, 2.0, 3.0, 4.0]
    assert columns(made(scores, grades))["x", "none"] == scores
    assert scale_of(made(scores, grades)) == (1, 4)
    for table in (
        made([1.0, 2.5, 4.5, 2.0], grades),
        made([0.9, 2.5, 4.0, 2.0], grades),
        made([0.0, 2.5, 4.0, 6.0], grades, scale="5"),
        made(scores, grades, low=("x",)),
    ):
        assert ("x", "none") not in columns(table)
    assert columns(made([0.0, 2.5, 4.0, 5.0], grades, scale="5"))["x", "none"] == [0.0, 2.5, 4.0, 5.0]


def test_half_way_between_two_grades_goes_down() -> None:
    # The other text's grade predicts: the grades that occur are 1, 2, 3 and 4.
    grades = [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 1.5 + 1e-10, 2.5]
    table = made([0.0] * 8, grades)
    table = dataclasses.replace(
        table, ratings=dataclasses.replace(table.ratings, grades=np.array([1.0, 2, 2, 3, 3, 4, 1, 4]))
    )
    found = columns(table, 2)
    assert found["x", "isotonic"][0] == (2 + 3 + 4 + 2.5) / 4
    assert found["x", "rounded"][0] == 3
    assert found["x", "isotonic"][1] == pytest.approx((1 + 2 + 3 + 1.5) / 4)
    half = dataclasses.replace(table, grades=np.array([2.5, 1.5 + 1e-10] * 4))
    assert columns(half, 2)["x", "rounded"] == [1.0, 2.0] * 4
    above = dataclasses.replace(table, grades=np.array([2.5 + 1e-8, 1.5] * 4))
    assert columns(above, 2)["x", "rounded"] == [1.0, 3.0] * 4


def test_ties_by_chains_are_one_point() -> None:
    grades = [1.0, 5.0, 2.0, 4.0, 3.0, 1.0]
    noisy = columns(made([0.1 + 0.2, 0.3, 0.3 * (1 - 1e-13), 0.7, 0.8, 0.9], grades), 3)
    clean = columns(made([0.3, 0.3, 0.3, 0.7, 0.8, 0.9], grades), 3)
    for name, column in clean.items():
        assert noisy[name] == pytest.approx(column, abs=1e-11)
    # The whole column ties up to rounding: the mean of the others, not a line through noise.
    alike = columns(made([0.3, 0.1 + 0.2] * 3, grades), 2)
    assert alike["x", "linear"] == alike["x", "isotonic"] == pytest.approx(alike["control:constant", "isotonic"])


@pytest.mark.parametrize("size", [2.0**-1070, 1e-300, 1e-13, 1e300])
def test_predictions_do_not_depend_on_the_magnitude(size: float) -> None:
    scores, grades = [1.0, 5.0, 2.0, 4.0, 3.0, 7.0, 6.0], [1.0, 3.0, 2.0, 5.0, 4.0, 5.0, 3.0]
    usual, found = columns(made(scores, grades)), columns(made([size * score for score in scores], grades))
    for mapping in ("isotonic", "rounded", "linear"):
        assert found["x", mapping] == pytest.approx(usual["x", mapping], abs=1e-9)


def test_scores_that_span_all_magnitudes_give_grades_on_the_scale() -> None:
    found = columns(made([1e-320, 1e-200, 1e-20, 1.0, 1e200, -1e300, 0.0, 1.7e308], [float(i) for i in range(8)]), 4)
    for column in found.values():
        assert np.isfinite(column).all()
        assert 0 <= min(column) <= max(column) <= 7


def test_a_metric_for_which_lower_is_better_is_turned() -> None:
    scores, grades = [1.0, 5.0, 2.0, 4.0, 3.0], [5.0, 1.0, 3.0, 2.0, 4.0]
    turned, usual = columns(made(scores, grades, low=("x",))), columns(made([-score for score in scores], grades))
    assert turned == usual


def test_constant_scores_are_the_mean_of_the_other_folds() -> None:
    found = columns(made([0.5] * 7, [1.0, 2, 3, 4, 5, 1, 2]))
    for mapping in ("isotonic", "linear"):
        assert found["x", mapping] == pytest.approx(found["control:constant", "isotonic"])
    assert found["x", "rounded"] == found["control:constant", "rounded"]


def test_one_item_leaves_scores_as_they_are() -> None:
    mapped = map_to_grades(made([1.0, 3.0, 2.0], [1.0, 2.0, 3.0], items=1))
    assert mapped.names == (("x", "none"),)
    assert mapped.grades[:, 0].tolist() == [1.0, 3.0, 2.0]
    assert [(each.metric, each.mapping) for each in mapped.absent] == [
        ("x", "isotonic"),
        ("x", "rounded"),
        ("x", "linear"),
        ("control:constant", "isotonic"),
        ("control:constant", "rounded"),
    ]
    (reason,) = {each.reason for each in mapped.absent}
    assert reason == "there is only one item, so there are no texts of other items to fit the scores on"


def test_one_fold_is_refused() -> None:
    with pytest.raises(UsageError, match="folds: expected at least 2, got 1"):
        map_to_grades(table_p(), 1)
