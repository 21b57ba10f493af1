"""Voted sentences and linked paragraphs become passage rows."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from postil.data.row_files import read
from postil.data.rows import Passage
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]

HEAD = "MOVIE\tTRIVIA\tcount_boring\tcount_interesting\tcount_veryInteresting\n"


@pytest.fixture
def passages_data(judged: Path) -> Path:
    """The folder of passage collections."""
    return judged.parent / "passages"


def test_votes_become_grades(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "crowd_judged.tsv"
    table.write_text(HEAD + 'A\t"It ""flew"", twice."\t0\t3\t2\nB\tDull.\t5\t0\t0\nA\tFine.\t1\t1\t0\n')
    example("trivia_to_rows").main([str(table), str(tmp_path / "p.jsonl")])
    assert capsys.readouterr().out == f"3 passages of 2 topics in {tmp_path / 'p.jsonl'}\n"
    assert list(read(tmp_path / "p.jsonl", Passage)) == [
        Passage("A", "1", 'It "flew", twice.', grade=1.4),  # (3 + 2 * 2) / 5
        Passage("B", "1", "Dull.", grade=0),
        Passage("A", "2", "Fine.", grade=0.5),
    ]


def test_a_sentence_without_votes(example: Load, tmp_path: Path) -> None:
    table = tmp_path / "crowd_judged.tsv"
    table.write_text(HEAD + "A\tFine.\t1\t1\t0\nA\tFine.\t0\t0\t0\n")
    with pytest.raises(InvalidInput, match=r"crowd_judged\.tsv:3: expected votes"):
        example("trivia_to_rows").read(table)


def test_the_real_votes(example: Load, passages_data: Path) -> None:
    passages = example("trivia_to_rows").read(passages_data / "wikipedia_trivia" / "crowd_judged.tsv")
    assert len({passage.topic for passage in passages}) == 20
    # counted by code that shares nothing with this one
    counts = {0: 58, 0.2: 774, 0.4: 1211, 0.6: 571, 0.8: 183, 1: 91, 1.2: 33, 1.4: 5, 1.6: 2}
    assert Counter(passage.grade for passage in passages) == counts


def test_links_become_anchors(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = {"text": "birds", "target": "Bird", "title": "Bird"}
    row = {"article": "s/1", "title": "Duck", "i": 4, "text": "Ducks are birds.", "anchors": [link]}
    with gzip.open(tmp_path / "p.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n" + json.dumps({**row, "i": 5, "anchors": []}) + "\n")
    module = example("anchors_to_rows")
    module.main([str(tmp_path / "p.jsonl.gz"), str(tmp_path / "p.jsonl")])
    assert capsys.readouterr().out == f"2 passages of 1 topics with 1 anchors in {tmp_path / 'p.jsonl'}\n"
    assert list(read(tmp_path / "p.jsonl", Passage)) == [
        Passage("Duck", "s/1/4", "Ducks are birds.", anchors=("birds",)),
        Passage("Duck", "s/1/5", "Ducks are birds."),
    ]
    assert module.read(tmp_path / "p.jsonl.gz", targets=True)[0].anchors == ("Bird",)


def test_the_real_links(example: Load, passages_data: Path) -> None:
    passages = example("anchors_to_rows").read(passages_data / "wikipedia_anchors" / "passages.jsonl.gz")
    assert (len(passages), sum(len(passage.anchors) for passage in passages)) == (2678, 13188)
    assert len({(passage.topic, passage.id) for passage in passages}) == 2678
