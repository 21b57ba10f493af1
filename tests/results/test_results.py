"""Results: the structs that Python gets and JSON holds."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from postil.meta.parts import HumanAgreement
from postil.metrics.result import ScoreResult, SystemScore
from postil.results.base import Result, to_json
from postil.results.result_json import Kinds
from result_examples import EXAMPLES, example

KINDS = dict(Kinds())


def scored(value: float = 0.5) -> ScoreResult:
    row = SystemScore(system="a", metric="meteor", score=value, n=2, signature="s")
    return ScoreResult(scores=(row,), aggregation="corpus", items={"meteor": np.array([0.25, value])})


def test_every_kind_has_its_own_class() -> None:
    assert {kind: each.__struct_config__.tag for kind, each in KINDS.items()} == dict(zip(KINDS, KINDS, strict=True))
    assert set(KINDS.values()) == set(Result.__subclasses__())


def test_scores_compare_by_their_numbers() -> None:
    assert scored() == scored()
    assert hash(scored()) == hash(scored())
    assert scored() != scored(0.75)
    assert scored() != "scores"


def test_json_begins_with_schema_and_kind() -> None:
    said = json.loads(to_json(scored()))
    assert list(said)[:2] == ["schema", "kind"]
    assert said["items"] == {"meteor": [0.25, 0.5]}
    assert "name" not in said


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(scored(float("nan")))


def test_unknown_fields_are_ignored() -> None:
    read = msgspec.convert({"reason": "one rating each", "more": 1}, HumanAgreement)
    assert read == HumanAgreement(reason="one rating each")


WARNINGS = [
    "near(x): the mean weight of the references falls (pearson -.4 [-.6, -.2]); over=near follows that mean",
    "1 of 20 candidates is a reference of its own item, so a metric compares it with itself",
    "few outliers rule pearson by pool of x: other items may have outliers that these have not",
]


def older(value: Any) -> Any:
    """The JSON of a result without the fields that were added where sentences told the same."""
    if isinstance(value, dict):
        return {name: older(each) for name, each in value.items() if name not in {"kept", "warnings", "unused"}}
    return [older(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", EXAMPLES)
def test_results_of_earlier_versions_have_the_facts_of_their_sentences(kind: str) -> None:
    unused = "scores not used: 5 graded items (8 needed); the results are those of the ratings alone"
    more: dict[str, object] = {
        "correlate": {"notes": ["another note", *WARNINGS], "warnings": WARNINGS},
        "estimate": {"notes": ["another note", unused], "unused": unused},
    }.get(kind, {})
    value = json.loads(example(kind).to_json()) | more
    assert Result.from_dict(older(value)) == Result.from_dict(value)
