"""Combinations with their out-of-fold numbers: worked by hand, controls beside them, and what cannot be fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.combination.model import combine, judged_texts
from postil.combination.result import CombinationSettings
from postil.combination.view import verdict
from postil.data.rows import Judgement, Score
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import COMMAND_LINE
from postil.meta.table import Judged, Scored
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.combination.model import JudgedTexts
    from postil.combination.result import CombinationResult
    from postil.meta.grade_fits import CombinationMethod

MEAN = "control:mean-weight(w-m(over=near))"


def joined(
    scores: Mapping[str, Sequence[float]],
    grades: Sequence[float],
    *,
    per_item: int = 1,
    metrics: Sequence[str] = (),
    low: Sequence[str] = (),
) -> JudgedTexts:
    """Texts in groups of some per item, which are named in order."""
    keys = [(f"i{text // per_item:03}", f"s{text % per_item}") for text in range(len(grades))]
    rows = [Score(*key, name, score) for name, each in scores.items() for key, score in zip(keys, each, strict=False)]
    ratings = [Judgement(*key, "ann", grade) for key, grade in zip(keys, grades, strict=True)]
    return judged_texts(Scored(rows), Judged(ratings), metrics, low)


def fitted(
    texts: JudgedTexts, method: CombinationMethod = "ridge", penalty: float = 0.01, folds: int = 2, **more: bool
) -> CombinationResult:
    settings = CombinationSettings(method=method, folds=folds, resamples=50, seed=1, data="", postil="", **more)
    return combine(texts, settings, penalty)[1]


def test_out_of_fold_grades_worked_by_hand() -> None:
    # Fold 0 is fitted on 1 and 3 (mean 2, standard deviation 1, weight 1/2), fold 1 on 0 and 2 (mean 1).
    found = fitted(joined({"m": [0, 1, 2, 3]}, [0, 1, 2, 3]), penalty=1.0)
    assert found.texts.grades == pytest.approx([1, 1, 2, 2])
    assert found.combination.pool.value == pytest.approx(2 / 5**0.5)
    assert found.combination.rmse == pytest.approx(0.5**0.5)
    assert found.combination.item is None
    (column,) = found.columns
    assert column.weight == pytest.approx(1.25**0.5 / 2)  # of all texts
    assert (column.sign, column.pool and column.pool.value) == ("+", pytest.approx(1.0))


def test_correlation_within_items() -> None:
    found = fitted(joined({"m": [1, 2, 3, 5, 6, 9]}, [1, 2, 3, 5, 6, 4], per_item=2))
    assert found.combination.item.value == pytest.approx(1 / 3)  # two items rise, one falls
    assert found.columns[0].item.value == pytest.approx(1 / 3)


def test_controls_are_length_on_a_log_scale_and_mean_weight() -> None:
    rng = np.random.default_rng(1)
    length, weight = rng.integers(1, 50, 30), rng.random(30)
    grades = 2 * np.log(1 + length) + weight
    scores = {"w-m": rng.random(30).tolist(), "control:length": length.tolist(), MEAN: weight.tolist()}
    found = fitted(joined(scores, grades.tolist()), penalty=0.0)
    assert found.controls.columns == ("control:length", MEAN)
    assert found.controls.rmse == pytest.approx(0, abs=1e-9)
    assert found.texts.controls == pytest.approx(grades.tolist())
    assert found.difference.pool.high < 0
    assert found.notes == ()
    again = fitted(joined(scores, grades.tolist(), metrics=["control:length", MEAN]), penalty=0.0)
    assert again.texts.grades == pytest.approx(found.texts.controls)
    assert [column.transform for column in again.columns] == ["log1p", ""]


def test_controls_that_some_texts_lack_are_not_used() -> None:
    found = fitted(joined({"m": [0, 1, 2, 3], "control:length": [1, 2, 3]}, [0, 1, 2, 3]))
    assert (found.controls, found.difference, found.texts.controls) == (None, None, ())
    of_controls, few = found.notes
    assert COMMAND_LINE.words(of_controls) == (
        "not every text has the control length of the text: postil score --controls writes it"
    )
    assert few.startswith("4 items are few: ")


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ({}, ["not every text has the controls length of the text and mean weight of the references"]),
        ({MEAN: 30}, ["not every text has the control length of the text"]),
        ({"control:length": 30}, []),  # as no metric averages over similar references
        ({"control:length": 30, MEAN: 29}, ["not every text has the control mean weight of the references"]),
    ],
)
def test_controls_are_advised_where_scores_lack_them(controls: dict[str, int], expected: list[str]) -> None:
    values = np.random.default_rng(1).random(30).tolist()
    found = fitted(joined({"w-m": values, **{name: values[:n] for name, n in controls.items()}}, values[::-1]))
    assert [COMMAND_LINE.words(note).partition(":")[0] for note in found.notes] == expected
    beside = ", the mean weight beside over=near and over=kernel"
    for note in found.notes:
        assert COMMAND_LINE.words(note).endswith(beside) is ("mean weight of" in note)
        assert "postil.score(…, controls=postil.ControlOptions()) writes" in note


def test_no_verdict_rests_on_few_items() -> None:
    scores = {"m": [0, 1, 2, 3, 4, 5, 6, 7, 8], "control:length": [5, 1, 4, 2, 5, 3, 9, 1, 7]}
    few = fitted(joined(scores, [0, 1, 2, 4, 3, 5, 6, 8, 7]))
    assert few.difference.pool.low is not None
    assert verdict(few) == ""
    assert verdict(replace(few, items=10)).startswith("on new items the combination correlates ")


def test_columns_are_sorted_and_controls_are_none_of_them() -> None:
    scores = {"w-m": [1, 2], "control:top(w-m)": [1, 2], "a": [2, 1], "control:shuffled(w-m,draw=1)": [1, 2]}
    assert joined(scores, [1, 2]).metrics == ("a", "w-m")
    assert joined(scores, [1, 2], metrics=["w-m", "control:top(w-m)"]).metrics == ("control:top(w-m)", "w-m")


def test_monotone_bounds_what_depends_on_weights() -> None:
    rng = np.random.default_rng(2)
    m = rng.normal(size=120)
    weighted = m + rng.normal(size=120) / 4
    scores = {"m": m.tolist(), "w-m": weighted.tolist(), "w-edits": (-weighted).tolist()}
    texts = joined(scores, (m - weighted / 2).tolist(), low=["w-edits"])
    free, bound = fitted(texts), fitted(texts, monotone=True)
    by_name = {column.metric: column.weight for column in bound.columns}
    assert [column.sign for column in free.columns] == ["+", "+", "-"]
    assert (by_name["w-m"], by_name["w-edits"]) == (0.0, 0.0)
    assert by_name["m"] > 0
    assert bound.notes[0] == "weight 0, as monotone allows none against the direction: w-edits, w-m"


def test_isotonic() -> None:
    found = fitted(joined({"m": [4, 3, 2, 1]}, [1, 2, 3, 4], low=["m"]), "isotonic")
    assert found.texts.grades == (2.0, 2.0, 3.0, 3.0)
    assert (found.columns[0].weight, found.columns[0].sign) == (None, "")


def test_boosting_has_gains_beside_the_weights_of_ridge() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(800, 2))
    grades = np.abs(scores[:, 0]) + 0.1 * rng.normal(size=800)
    length = rng.integers(1, 9, 800)
    texts = joined({"a": scores[:, 0], "b": scores[:, 1], "control:length": length}, grades)  # type: ignore[dict-item]
    found = fitted(texts, "boosting")
    first, second = found.columns
    assert first.gain > 0.9
    assert second.gain == pytest.approx(1 - first.gain)
    assert abs(first.weight or 9) < 0.2
    assert found.combination.pool.value > 0.9
    assert found.controls is not None


@pytest.mark.parametrize(
    ("scores", "grades", "problem"),
    [
        ({"m": [2, 2, 2]}, [1, 2, 3], "every text has the same score by m"),
        ({"m": [1, 2, 3]}, [4, 4, 4], "every text has the rating 4"),
        ({"m": [1]}, [4], "every text has the same score by m"),
    ],
)
def test_what_cannot_be_fitted(scores: dict[str, list[float]], grades: list[float], problem: str) -> None:
    with pytest.raises(Undefined, match=problem):
        fitted(joined(scores, grades))


def test_grades_that_are_equal_have_no_correlation() -> None:
    found = fitted(joined({"m": [1, 2, 1, 2]}, [1, 3, 3, 1]))  # the metric is constant in each fold
    assert found.texts.grades == (2.0,) * 4
    assert (found.combination.pool, found.combination.rmse) == (None, 1.0)


def test_scores_too_far_from_those_of_other_items() -> None:
    scores = [0.0, 1e-280, 1e90, 2e-280]  # the fit of 1 and 3 has a tiny standard deviation
    with pytest.raises(Undefined, match="too far from those of other items for a grade; look for outliers"):
        fitted(joined({"m": scores}, [1, 2, 3, 4]))


def test_several_ratings_by_one_annotator_are_told() -> None:
    rows = [Score(item, "a", "m", float(score), "") for score, item in enumerate("1234")]
    ratings = [Judgement(item, "a", "ann", float(grade)) for grade, item in enumerate("1234")]
    texts = judged_texts(Scored(rows), Judged([*ratings, Judgement("2", "a", "ann", 4.0)]))
    assert texts.ratings.tolist() == [0, 2.5, 2, 3]
    assert [str(each) for each in texts.excluded] == [
        "graded more than once by one annotator, the mean taken: 1 (item 2 by a)"
    ]


def test_a_constant_metric_is_told() -> None:
    found = fitted(joined({"m": [1, 2, 3, 4], "still": [2, 2, 2, 2]}, [1, 3, 2, 4]))
    assert found.notes[0] == "still is the same in every text, so it says nothing"
    assert (found.columns[1].weight, found.columns[1].pool) == (0.0, None)


def test_names_and_methods() -> None:
    with pytest.raises(UnknownName, match="did you mean 'meteor'"):
        joined({"meteor": [1, 2]}, [1, 2], metrics=["metor"])
    with pytest.raises(UnknownName, match="'x'"):
        joined({"meteor": [1, 2]}, [1, 2], low=["x"])
    with pytest.raises(UsageError, match="all scores are controls"):
        joined({"control:length": [1, 2]}, [1, 2])
    with pytest.raises(UsageError, match=r"isotonic regression is of one metric, and there are 2: a, b; .* metrics$"):
        fitted(joined({"a": [1, 2], "b": [2, 1]}, [1, 2]), "isotonic")
    with pytest.raises(InvalidInput, match="control:length: expected lengths from 0 up, got -2"):
        joined({"m": [1, 2], "control:length": [5, -2]}, [1, 2])
