"""Wide tables: one column per metric or annotator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from postil.data.reading import Reading
from postil.data.row_files import read
from postil.data.rows import Judgement, Score
from postil.data.wide import read_wide
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "doc,model,bleu,own metric\n1,a,0.5,\n2,a,,3\n2,b,0,-1e-3\n"
READING = Reading(columns={"item": "doc", "system": "model"})


def test_scores(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(TABLE, encoding="utf-8")
    said: list[str] = []
    reading = Reading(columns=READING.columns, say=said.append)
    rows = list(read_wide(partial(read, path), Score, ["own metric", "bleu"], reading))
    assert [(row.item, row.system, row.metric, row.score, row.signature) for row in rows] == [
        ("1", "a", "bleu", 0.5, "external"),
        ("2", "a", "own metric", 3.0, "external"),
        ("2", "b", "own metric", -0.001, "external"),
        ("2", "b", "bleu", 0.0, "external"),
    ]
    assert said == [f"{path}: empty cells, taken as no score: 1 in own metric, 1 in bleu"]


def test_judgements_keep_their_aspect(tmp_path: Path) -> None:
    (path := tmp_path / "j.jsonl").write_text(
        '{"item": 1, "system": "a", "aspect": "tone", "Ann": 4, "Bob": null}\n', encoding="utf-8"
    )
    assert list(read_wide(partial(read, path), Judgement, ["Ann", "Bob"], Reading())) == [
        Judgement("1", "a", "Ann", 4.0, "tone")
    ]


def test_an_error_names_the_cell(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(TABLE.replace("-1e-3", "good"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r's\.csv:4: own metric: expected a number, got "good"'):
        list(read_wide(partial(read, path), Score, ["bleu", "own metric"], READING))


def test_a_row_is_found_again(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(TABLE, encoding="utf-8")
    source = read_wide(partial(read, path), Score, ["bleu", "own metric"], READING)
    rows = list(source)
    assert (rows[3].item, rows[3].system, rows[3].metric) == ("2", "b", "own metric")
    assert str(source.places.error(3, "score", "too large")) == f"{path}:4: own metric: too large"
    assert str(source.places.error(3, "system", "unknown")) == f"{path}:4: model: unknown"


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    (path := tmp_path / "s.csv").write_text(TABLE, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"s\.csv:1: blue: no such column; did you mean 'bleu'\?"):
        list(read_wide(partial(read, path), Score, ["blue"], READING))
    path.write_text("doc,model,bleu\n1,a,\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected numbers in bleu, got empty cells alone"):
        list(read_wide(partial(read, path), Score, ["bleu"], READING))


@pytest.mark.parametrize(
    ("names", "columns", "said"),
    [
        (["bleu", "bleu"], {}, "the column bleu stands twice"),
        (["item"], {}, "the column item is a field of its own"),
        (["bleu"], {"metric": "bleu"}, "columns names the metric, and each of bleu is a column of its own"),
    ],
)
def test_names_that_make_no_sense(tmp_path: Path, names: list[str], columns: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_wide(partial(read, tmp_path / "s.csv"), Score, names, Reading(columns=columns))
