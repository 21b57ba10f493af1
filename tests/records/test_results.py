"""Results: the structs that Python gets and JSON holds."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from postil.records.results import HumanAgreement, Result, ScoreResult, SystemScore, to_json

KINDS = {each.__struct_config__.tag: each for each in Result.__subclasses__()}


def scored(value: float = 0.5) -> ScoreResult:
    row = SystemScore(system="a", metric="meteor", score=value, n=2, signature="s")
    return ScoreResult(scores=(row,), aggregation="corpus", items={"meteor": np.array([0.25, value])})


def test_every_kind_is_told_apart() -> None:
    assert len(KINDS) == len(Result.__subclasses__())
    assert None not in KINDS


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
