"""Results that no command makes are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import InvalidInput
from result_examples import correlated, gained, write_report

if TYPE_CHECKING:
    from pathlib import Path


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
        (
            changed("settings.reference", "both", gained()),
            'settings.reference: expected others or topic, got "both"',
        ),
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
