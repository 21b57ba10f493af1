"""Results: the structs that Python gets and JSON holds, and those that no command makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.errors import InvalidInput
from postil.meta.parts import HumanAgreement
from postil.metrics.result import ScoreResult, SystemScore
from postil.results.base import Result, to_json
from postil.results.result_json import Kinds
from result_examples import EXAMPLES, correlated, example, gained, write_report

if TYPE_CHECKING:
    from pathlib import Path


KINDS = dict(Kinds())


def scored(value: float = 0.5) -> ScoreResult:
    row = SystemScore(system="a", metric="meteor", score=value, n=2, signature="s")
    return ScoreResult(scores=(row,), aggregation="corpus", items={"meteor": np.array([0.25, value])})


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


def changed(place: str, value: Any, result: dict[str, Any] | None = None) -> dict[str, Any]:
    found = result or correlated()
    inner: Any = found
    *way, last = place.split(".")
    for key in way:
        inner = inner[int(key) if key.isdigit() else key]
    inner[last] = value
    return found


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (5, "expected an object in braces, got 5"),
        ({}, "schema: expected 1, got none"),
        ({"schema": 2, "kind": "compare"}, "schema: expected 1, got 2"),
        ({"schema": 1}, "kind: expected one of score, judge,"),
        ({"schema": 1, "kind": "demo"}, ', got "demo"'),
        ({"schema": 1, "kind": []}, ", got an array"),
        (changed("correlations.1.value", float("nan")), "correlations[1].value: expected a finite number, got NaN"),
        (changed("correlations.1.value", float("inf")), "correlations[1].value: expected a finite number"),
        (changed("correlations.1.value", "much"), "correlations[1].value: expected a number"),
        (changed("correlations.1.low", None), "expected an interval from low to high, got None and 0.6"),
        (changed("correlations.1.low", 0.9), "expected an interval from low to high, got 0.9 and 0.6"),
        (changed("systems.0.system", "a\ud800"), "systems[0].system: expected text"),
        (changed("agreement.confusion", [[1]]), "expected counts for each of 2 labels"),
        (changed("points.scores", {"meteor": [1.0]}), "points: expected a score for each of 3 grades"),
        (changed("data", None), "data: expected an object"),
        (changed("gains.0.ncg", "high", gained()), "gains[0].ncg: expected a number, got text"),
        (changed("gains.0.k", 1.5, gained()), "gains[0].k: expected an integer"),
        (changed("gains.0.low", 0.9, gained()), "gains[0]: expected an interval from low to high"),
        (changed("gains.0.leave_one_out", "no", gained()), "gains[0].leave_one_out: expected true or false, got text"),
        (changed("differences.3.p_holm", None, gained()), "differences[3].p_holm: expected a number, got null"),
        (changed("lines.1.k", [1, 5, 5], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [0, 5, 9], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.ncg", [0.5], gained()), "lines[1]: expected a number for each of 3 rank cutoffs"),
        (changed("lines.1.low", None, gained()), "lines[1]: expected a band with two edges"),
        (changed("settings.reference", "both", gained()), 'settings.reference: expected others or topic, got "both"'),
        (changed("settings.pool", "each", gained()), 'settings.pool: expected all or topic, got "each"'),
        (changed("data.topics", "many", gained()), "data.topics: expected an integer, got text"),
    ],
)
def test_what_no_command_makes(result: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_report([result], tmp_path / "r.html")
    assert problem in str(caught.value)
    assert "`" not in str(caught.value)
    assert not list(tmp_path.iterdir())
