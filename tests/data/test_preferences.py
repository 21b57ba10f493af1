"""Preference rows, from any table; a wrong one is refused with its line and field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from postil.data.preferences import PairPreference
from postil.data.row_files import read, write
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"item": 1, "system_a": "x", "system_b": "y", "annotator": 7, "preference": "tie", "left": None}


def test_rows_are_read_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | {"left": "b", "more": 1}))
    found = list(read(str(tmp_path / "in.jsonl"), PairPreference))
    assert found == [
        PairPreference("1", "x", "y", "7", "tie"),
        PairPreference("1", "x", "y", "7", "tie", "b"),
    ]
    write(tmp_path / "out.jsonl", found)
    assert list(read(str(tmp_path / "out.jsonl"), PairPreference)) == found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"preference": "c"}, 'preference: expected a, tie or b, got "c"'),
        ({"preference": 1}, "preference: expected"),
        ({"left": "c"}, 'left: expected a or b, got "c"'),
        ({"system_b": "x"}, 'system_b: expected a system other than system_a, got "x" for both'),
    ],
)
def test_wrong_rows(tmp_path: Path, change: dict[str, object], said: str) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | change))
    with pytest.raises(InvalidInput) as caught:
        list(read(str(file), PairPreference))
    assert str(caught.value).startswith(f"{file}:2: {said}")
