"""`postil.estimate`: columns and tables give what the command gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import postil
from postil.errors import InvalidInput, UnknownName, UsageError

ITEMS = [item for item in range(30) for _ in "ab"]
SYSTEMS = ["a", "b"] * 30
QUALITY = [(7 * item + 3 * (system == "b")) % 5 for item, system in zip(ITEMS, SYSTEMS, strict=True)]
SCORES = {"judge": [q + (row % 3) / 4 for row, q in enumerate(QUALITY)]}
GRADES: list[object] = [[1 + q, 1 + q + row % 2] if row < 40 else None for row, q in enumerate(QUALITY)]


def systems(found: postil.Result) -> Any:
    return found.to_dict()["systems"]


def tables() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    rows = list(zip(ITEMS, SYSTEMS, SCORES["judge"], strict=True))
    scores: list[dict[str, object]] = [
        {"doc": item, "system": system, "metric": "judge", "score": score} for item, system, score in rows
    ]
    ratings: list[dict[str, object]] = [
        {"doc": item, "system": system, "ann": grades[0], "bob": grades[1]}
        for (item, system, _), grades in zip(rows, GRADES, strict=True)
        if isinstance(grades, list)
    ]
    return scores, ratings


def test_columns_and_tables_give_the_same() -> None:
    columns = postil.estimate(SCORES, GRADES, items=ITEMS, systems=SYSTEMS)
    scores, ratings = tables()
    of_tables = postil.estimate(scores, ratings, item="doc", annotator_columns=["ann", "bob"])
    named = postil.estimate(scores, judgements=ratings, item="doc", annotator_columns=["ann", "bob"])
    arrays = postil.estimate({"judge": np.array(SCORES["judge"])}, GRADES, items=np.array(ITEMS), systems=SYSTEMS)
    assert systems(columns) == systems(of_tables) == systems(named) == systems(arrays)
    assert (columns.items, columns.graded, columns.scores_used) == (30, 20, True)
    assert columns.systems[0].mean >= columns.systems[1].mean
    assert repr(columns).startswith("EstimateResult(20 of 30 items graded, 2 systems; best ")


def test_grades_without_scores() -> None:
    alone = postil.estimate({}, GRADES, items=ITEMS, systems=SYSTEMS)
    _, ratings = tables()
    of_tables = postil.estimate(judgements=ratings, item="doc", annotator_columns=["ann", "bob"])
    of_none = postil.estimate(None, ratings, item="doc", annotator_columns=["ann", "bob"])
    of_no_columns = postil.estimate(None, GRADES, items=ITEMS, systems=SYSTEMS)
    assert systems(alone) == systems(of_tables) == systems(of_none) == systems(of_no_columns)
    assert alone.method == "human"


def test_options() -> None:
    options = postil.EstimateOptions(target="items", metrics="judge")  # type: ignore[arg-type]  # one name is a list
    found = postil.estimate(SCORES, GRADES, items=ITEMS, systems=SYSTEMS, options=options)
    assert (found.target, found.settings.metrics) == ("items", ("judge",))
    assert (found.severity.rule, found.severity.removed) == ("auto", True)
    assert found.rater_variance == pytest.approx(5 / 39)  # 20 graded outputs by two raters, less one severity
    kept = postil.EstimateOptions(target="items", metrics=("judge",), severity="keep")
    found = postil.estimate(SCORES, GRADES, items=ITEMS, systems=SYSTEMS, options=kept)
    assert found.rater_variance == pytest.approx(0.25)
    with pytest.raises(UnknownName, match="auto, remove, keep"):
        postil.EstimateOptions(severity="drop")  # type: ignore[arg-type]  # no such rule


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"grades": [1, 2]}, InvalidInput, "expected an entry for each of 2 texts, got 60"),
        ({"grades": [None] * 60}, InvalidInput, "expected at least one grade, got none"),
        ({"scores": {"judge": [None] * 60}}, InvalidInput, "judge:1: expected a number, got null"),
        ({"systems": ["a"] * 60}, InvalidInput, "a second score of item"),
        ({"item": "doc"}, UsageError, "item: only for tables"),
        ({"judgements": [{"item": 1, "annotator": "a", "grade": 1}]}, UsageError, "items: scores are a table"),
        ({"options": postil.EstimateOptions(aspect="style")}, UsageError, "aspect: the grades are of one question"),
        ({"options": postil.EstimateOptions(method="ppi", target="items")}, UsageError, "mean of a population"),
    ],
)
def test_what_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"scores": SCORES, "grades": GRADES, "items": ITEMS, "systems": SYSTEMS}
    with pytest.raises(error, match=message):
        postil.estimate(**arguments | given)


def test_scores_that_are_columns_go_with_grades() -> None:
    _, ratings = tables()
    with pytest.raises(UsageError, match="judgements: scores are columns, so expected grades, a column as well"):
        postil.estimate(SCORES, judgements=ratings)  # type: ignore[call-overload]  # what is tested
    with pytest.raises(UsageError, match="judgements: expected a table"):
        postil.estimate(tables()[0], [1, 2])  # type: ignore[arg-type]  # the same


def test_scores_of_a_result() -> None:
    texts, references, items = ["a b", "b c d"] * 3, [["a b c"], ["b"]] * 3, [0, 0, 1, 1, 2, 2]
    result = postil.score(texts, references, items=items, systems=["x", "y"] * 3, metrics=["rouge-l"])
    ratings = [{"item": "0", "system": name, "annotator": "q", "grade": len(name)} for name in ("x", "y")]
    found = postil.estimate(result, ratings)
    assert (found.items, found.graded, list(found.signatures)) == (3, 1, ["rouge-l"])
    assert {each.reason for each in found.undefined} == {"one graded item"}
