"""Impression rows, from any table; a wrong one is refused with its line and field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.impressions import Impression
from postil.data.row_files import read
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

NEEDS = "an impression needs impression, article, models, teams, clicked"
GOOD: dict[str, Any] = {
    "impression": 1,
    "article": "a",
    "models": ["a", "b"],
    "teams": [0, 1, None],
    "shown": True,
    "clicked": [2, 1, 2],
    "answered": None,
    "hidden": [],
}


def impressions(tmp_path: Path, *lines: object) -> list[Impression]:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return list(read(str(file), Impression))


def test_a_table_says_whether_they_were_displayed(tmp_path: Path) -> None:
    file = tmp_path / "i.csv"
    head = "impression,article,models,teams,clicked,shown"
    rows = [f'{n},a,"[""m"", ""n""]","[0, 1]",[],{word}' for n, word in enumerate(("WAHR", "0", ""))]
    file.write_text("\n".join([head, *rows]), encoding="utf-8")
    assert [row.shown for row in read(str(file), Impression)] == [True, False, True]


def test_ranks_are_distinct_and_ids_text(tmp_path: Path) -> None:
    short = {name: GOOD[name] for name in ("impression", "article", "models", "teams", "clicked")}
    expected = Impression("1", "a", ("a", "b"), (0, 1, None), (1, 2), shown=True, answered=(), hidden=())
    assert impressions(tmp_path, GOOD, "", short | {"liked": [9]}) == [expected, expected]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clicked": [4]}, "clicked: expected ranks from 1 to 3, got 4"),
        ({"hidden": [0]}, "hidden: expected ranks from 1 to 3, got 0"),
        ({"answered": [True]}, "answered[0]: expected an integer, got true"),
        ({"teams": []}, "clicked: expected no rank where teams is empty, got 2"),
        ({"teams": [2]}, "teams: expected 0, 1 or null for each rank, got 2"),
        ({"models": ["a", "a"]}, 'models: expected the names of two models that differ, got "a", "a"'),
        ({"models": ["a"]}, 'models: expected the names of two models that differ, got "a"'),
        ({"models": []}, "models: expected the names of two models that differ, got none"),
        ({"shown": 1}, "shown: expected true or false, got 1"),
    ],
)
def test_wrong_rows(tmp_path: Path, change: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        impressions(tmp_path, GOOD, "", GOOD | change)
    assert str(caught.value) == f"{tmp_path}/log.jsonl:3: {said}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            {"impression": "x", "event": "liked", "rank": 2},
            f"article, models, teams, clicked: missing; {NEEDS}; this row has: impression, event, rank",
        ),
        ("{broken", "not JSON at character 2: expecting property name enclosed in double quotes"),
        ('{"impression": ' + "[" * 10_000, "the JSON is nested too deeply"),
    ],
)
def test_lines_of_another_kind(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        impressions(tmp_path, GOOD, line)
    assert str(caught.value) == f"{tmp_path}/log.jsonl:2: {said}"


def test_rows_made_in_python_are_checked_too() -> None:
    with pytest.raises(InvalidInput, match=r'teams: expected 0, 1 or null for each rank, got "x"'):
        Impression("1", "a", ("a", "b"), ("x",), ())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shown: expected true or false, got null"):
        Impression("1", "a", ("a", "b"), (0,), (), shown=None)  # type: ignore[arg-type]
