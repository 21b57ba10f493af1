"""The benchmark of interesting passages, on made-up pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("bench.interest")
from bench.interest import run
from bench.interest.rankings import LONGEST, Graded, numbers_of, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def votes(tmp_path: Path) -> str:
    """Thirteen pages on which the shortest passages are the best."""
    path = tmp_path / "votes.jsonl"
    rows = [
        {"topic": f"p{page}", "id": str(words), "text": "mill " * words + "stood.", "grade": 12 - words}
        for page in range(13)
        for words in range(13)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_numbers_of_known_rankings(votes: str) -> None:
    graded = Graded.of(votes)
    longest, best = numbers_of(graded, {"best": graded.grades})
    assert (longest.name, best.name) == (LONGEST, "best")
    assert best.gains[0] == 1
    assert best.with_length == pytest.approx(-1)
    assert longest.with_length == pytest.approx(1)
    assert best.above[0] == pytest.approx(1 - longest.gains[0])
    assert "| best | 1.000 |" in table([best])


def test_missed_targets_are_told(votes: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--search", votes]) == 1
    printed = capsys.readouterr()
    assert "| untrained sum |" in printed.out
    assert "missed: nCG@10 of topic on search: " in printed.err
