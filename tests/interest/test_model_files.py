"""Folders of models of interest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from postil.errors import InvalidInput, UsageError
from postil.interest.features import FEATURES
from postil.interest.model import UNTRAINED, chosen_model, named, open_model, save_model, shipped_model

if TYPE_CHECKING:
    from pathlib import Path

MODEL = named(
    {"cues": 0.5, "names": 0.25, "overlap": -0.125, "length": 0.0}, {"mill": -0.25, "old mill": 0.5, "rye": 0.5}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", MODEL, {"pages": 3})
    return tmp_path / "m"


def test_a_model_is_the_same_after_it_was_saved(folder: Path) -> None:
    found = open_model(folder)
    assert (found.features, found.words, found.name) == (MODEL.features, MODEL.words, MODEL.name)
    about = json.loads((folder / "model.json").read_text())
    assert about["weights"] == MODEL.name
    assert about["pages"] == 3
    assert about["features"] == dict(FEATURES)


def test_the_table_is_in_the_order_of_the_weights(folder: Path) -> None:
    assert (folder / "weights.csv").read_text().splitlines() == [
        "kind,unit,weight",
        "feature,cues,0.500000",
        "feature,names,0.250000",
        "feature,overlap,-0.125000",
        "feature,length,0.000000",
        "pair,old mill,0.500000",
        "word,rye,0.500000",
        "word,mill,-0.250000",
    ]


def test_a_user_names_a_folder_or_the_untrained_sum_or_nothing(folder: Path) -> None:
    assert chosen_model(str(folder)).name == MODEL.name
    assert chosen_model("untrained") is UNTRAINED
    assert chosen_model(None) is shipped_model()
    assert len(shipped_model().words) > 2000
    assert set(shipped_model().features) == set(FEATURES)


def test_an_edited_table_is_another_model(folder: Path) -> None:
    table = folder / "weights.csv"
    table.write_text(table.read_text().replace("word,mill,-0.250000\n", "") + "word,peat,1\n")
    found = open_model(folder)
    assert found.words == {"old mill": 0.5, "rye": 0.5, "peat": 1.0}
    assert found.name != MODEL.name


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("weights.csv", b"unit,weight\n", "weights.csv:1: expected the columns kind, unit, weight"),
        ("weights.csv", b"kind,unit,weight\nword,mill\n", ":2: expected 3 cells, got 2"),
        ("weights.csv", b"kind,unit,weight\nword,mill,nan\n", ':2: weight: expected a number, got "nan"'),
        ("weights.csv", b"kind,unit,weight\nword,old mill,1\n", "expected a feature, a word or a pair"),
        ("weights.csv", b"kind,unit,weight\ncue,mill,1\n", 'got the cue "mill"'),
        ("weights.csv", b"kind,unit,weight\nfeature,name,1\n", "unknown feature 'name'; did you mean 'names'?"),
        ("weights.csv", b"kind,unit,weight\nword,a,1\nword,a,2\n", ':3: unit: "a" stands twice'),
        ("weights.csv", b'kind,unit,weight\nword,"a\n', "not readable as CSV in UTF-8"),
        ("weights.csv", b"\xff\xfe", "not readable as CSV in UTF-8"),
        ("model.json", b"{", "model.json: not readable as JSON"),
        ("model.json", b'{"kind": "quality", "format": 1}', "expected a model of interest of format 1"),
        ("model.json", b"[]", "expected a model of interest of format 1"),
    ],
)
def test_damaged_models_are_refused(folder: Path, name: str, content: bytes, problem: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        open_model(folder)
    assert problem in str(caught.value)


def test_a_folder_without_a_model_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InvalidInput, match="no model of interest here: No such file or directory: model"):
        open_model(tmp_path)
    (folder / "weights.csv").unlink()
    with pytest.raises(InvalidInput, match="csv; postil train interesting makes one"):
        open_model(folder)
    (folder / "thesis.txt").write_text("")
    with pytest.raises(UsageError):
        save_model(folder, MODEL, {})
