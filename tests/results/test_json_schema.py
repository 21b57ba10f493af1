"""The JSON Schema of results: it takes what postil writes, and refuses what postil refuses to read."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import postil
from postil.capabilities import capabilities, load
from postil.errors import InvalidInput
from postil.results.base import Result, encoded
from result_examples import EXAMPLES, correlated, example

SCHEMA = postil.results_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def definition(name: str) -> Any:
    return SCHEMA["$defs"][name]  # type: ignore[index]  # a JSON object


def test_it_is_a_schema_that_json_can_hold() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_every_kind_has_its_schema() -> None:
    kinds = {kind: load(each, of.struct) for each in capabilities() for kind, of in each.kinds.items()}
    told = [definition(each["$ref"].rpartition("/")[2]) for each in definition("one")["oneOf"]]
    assert {each["properties"]["kind"]["enum"][0]: each["title"] for each in told} == {
        kind: struct.__name__ for kind, struct in kinds.items()
    }


def test_every_field_of_a_result_is_described() -> None:
    without = [
        f"{name}.{field}"
        for name in (each["$ref"].rpartition("/")[2] for each in definition("one")["oneOf"])
        for field, of in definition(name)["properties"].items()
        if field != "kind" and not of.get("description")
    ]
    assert without == []


@pytest.mark.parametrize("kind", EXAMPLES)
def test_it_takes_the_results_of_every_kind(kind: str) -> None:
    VALIDATOR.validate(json.loads(example(kind).to_json()))


def test_it_takes_files_of_several_results() -> None:
    VALIDATOR.validate(json.loads(encoded([example(kind) for kind in EXAMPLES])))
    assert not VALIDATOR.is_valid({"schema": 1, "kind": "report", "results": []})


def test_it_takes_what_is_measured() -> None:
    texts, references = ["a b", "b c", "a x", "b c"], [["a b"], ["b c d"]] * 2
    scores = postil.score(texts, references, items=[1, 2, 1, 2], systems=[*"aabb"], metrics=["bleu-2", "rouge-l"])
    few: dict[str, Any] = {"resamples": 20, "permutations": 20}
    ratings = [[1, 2], [3, 3], [2, 2], [4, 5]]
    for found in (
        scores,
        postil.compare(scores, "a", item_means=True, **few),
        postil.correlate(scores, ratings, **few),
        postil.estimate(scores, ratings),
        postil.agreement([{"item": i, "annotator": a, "grade": i % 3} for i in range(4) for a in "ab"]),
    ):
        VALIDATOR.validate(json.loads(found.to_json()))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schema": 2}, "schema"),
        ({"kind": "unknown"}, "kind"),
        ({"notes": 5}, "notes"),
        ({"correlations": [{"metric": "m"}]}, "correlations"),
        ({"data": {}}, "data"),
    ],
)
def test_it_refuses_what_is_not_read(change: dict[str, Any], field: str) -> None:
    value = copy.deepcopy(correlated())
    VALIDATOR.validate(value)
    wrong = {**value, **change}
    with pytest.raises(InvalidInput) as error:
        Result.from_dict(wrong)
    assert error.value.field.startswith(field)
    assert not VALIDATOR.is_valid(wrong)
