"""Folders of combinations: they read back to the last bit, and a damaged one is refused with a sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.combination.model import ColumnConfig, CombinationConfig, encoded, open_combination, save
from postil.errors import InvalidInput
from postil.learners.boosting import Tree, Trees
from postil.meta.grade_fits import isotonic_fit, ridge_fit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.meta.grade_fits import CombinationMethod, Model

SCORES = np.random.default_rng(1).normal(size=(30, 2))
GRADES = SCORES[:, 0] - SCORES[:, 1] / 3
TREE = Tree(
    feature=np.array([1, -1, 0, -1, -1], np.int32),
    threshold=np.array([0.5, 0, -0.25, 0, 0]),
    left=np.array([1, 0, 3, 0, 0], np.int32),
    right=np.array([2, 0, 4, 0, 0], np.int32),
    value=np.array([0, 1 / 3, 0, -0.1, 2.0]),
)
MODELS: dict[CombinationMethod, Model] = {
    "ridge": ridge_fit(SCORES, GRADES),
    "isotonic": isotonic_fit(SCORES[:, :1], GRADES, falls=True),
    "boosting": Trees(2.5, (TREE, TREE), np.array([0.25, 0.75])),
}


def made(folder: Path, method: CombinationMethod = "ridge", **metadata: object) -> Path:
    names = ["m"] if method == "isotonic" else ["control:length", "m"]
    columns = tuple(
        ColumnConfig(metric=name, signature=f"{name}|\ud800", falls=method == "isotonic", transform=transform)
        for name, transform in zip(names, ["", ""] if method == "isotonic" else ["log1p", ""], strict=False)
    )
    config = CombinationConfig(format=1, method=method, columns=columns, penalty=0.01, monotone=False)
    files, _ = encoded(config, MODELS[method])
    save(folder, files, {"scale": None, **metadata})
    return folder


@pytest.mark.parametrize("method", MODELS)
def test_a_folder_reads_back(tmp_path: Path, method: CombinationMethod) -> None:
    folder = made(tmp_path / "m", method, scale=[1, 5])
    again = open_combination(folder)
    asked = np.vstack([SCORES, SCORES * 9])
    assert again.model.predict(asked).tolist() == MODELS[method].predict(asked).tolist()
    assert (again.config.method, again.scale) == (method, (1.0, 5.0))
    assert again.hash == json.loads((folder / "metadata.json").read_text())["hash"]
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    made(folder, method, scale=[1, 5])  # in the place of itself
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert len(before) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_the_method_may_change(tmp_path: Path) -> None:
    made(tmp_path / "m", "ridge")
    made(tmp_path / "m", "boosting")
    assert {file.name for file in (tmp_path / "m").iterdir()} == {"config.json", "trees.json", "metadata.json"}


def test_trees_by_hand(tmp_path: Path) -> None:
    model = open_combination(made(tmp_path / "m", "boosting")).model
    found = model.predict(np.array([[0.0, 0.5], [-0.25, 0.6], [0.0, 0.6]]))
    assert found.tolist() == [2.5 + 1 / 3 + 1 / 3, 2.5 - 0.1 - 0.1, 6.5]


def change(name: str, edit: Callable[[str], str]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / name
        file.write_text(edit(file.read_text(encoding="utf-8")), encoding="utf-8")

    return damage


def rehashed(files: dict[str, object], method: CombinationMethod = "ridge") -> Callable[[Path], None]:
    """Other content with a hash that fits."""

    def damage(folder: Path) -> None:
        made(folder, method)
        kept = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "metadata.json"}
        for name, value in files.items():
            if isinstance(value, np.ndarray):
                np.save(folder / name, value)
                kept[name] = (folder / name).read_bytes()
            else:
                kept[name] = json.dumps({**json.loads(kept[name]), **value}).encode()  # type: ignore[dict-item]
        save(folder, kept, {"scale": None})

    return damage


def nodes(**changed: list[float]) -> dict[str, object]:
    tree = {name: getattr(TREE, name).tolist() for name in ("feature", "threshold", "left", "right", "value")}
    return {"trees.json": {"trees": [tree, {**tree, **changed}]}}


COLUMN = {"metric": "m", "signature": "s", "falls": False, "transform": ""}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            lambda folder: (folder / "config.json").unlink(),
            "m: no config.json in this folder; expected a combination that postil combine fit made",
        ),
        (lambda folder: (folder / "weights.npy").unlink(), r"weights\.npy: missing; was the folder copied whole"),
        (lambda folder: (folder / "metadata.json").unlink(), r"metadata\.json: missing"),
        (change("config.json", lambda text: text[:-9]), r"config\.json: not JSON, .*; was the folder copied whole\?"),
        (change("config.json", lambda _: "[]"), r"config\.json: expected a JSON object"),
        (
            change("config.json", lambda text: text.replace('"format": 1', '"format": 2')),
            "of format 1, got 2; it needs a newer",
        ),
        (change("config.json", lambda text: text.replace("ridge", "rigde")), "Invalid enum value 'rigde'"),
        (
            change("config.json", lambda text: text.replace("0.01", "0.02")),
            "hash: expected content with the hash [0-9a-f]{12}, got",
        ),
        (change("metadata.json", lambda text: text.replace('"hash"', '"hsah"')), "missing required field `hash`"),
        (rehashed({"config.json": {"columns": []}}), "columns: expected at least one column, got 0"),
        (rehashed({"config.json": {"columns": [COLUMN, COLUMN]}}, "isotonic"), "columns: expected one column, got 2"),
        (
            rehashed({"config.json": {"columns": [{**COLUMN, "transform": "log1p"}]}}),
            'transform: expected "" for m, got "log1p"',
        ),
        (rehashed({"weights.npy": np.ones((2, 3))}), r"expected float64\[3, 3\] from .*, got float64\[2, 3\]"),
        (rehashed({"weights.npy": np.full((3, 3), np.nan)}), "got nan to nan"),
        (
            rehashed({"weights.npy": np.array([[0, 0, 1.0]] * 3)}),
            "expected standard deviations from 0 up, and weight 0",
        ),
        (rehashed({"weights.npy": np.array([[1, 1], [1, 2.0]])}, "isotonic"), "expected scores that rise and grades"),
        (rehashed({"weights.npy": np.ones((0, 2))}, "isotonic"), "expected scores that rise and grades"),
        (rehashed(nodes(left=[0, 0, 3, 0, 0]), "boosting"), r"trees\[1\]: expected nodes of finite numbers"),
        (rehashed(nodes(right=[2, 0, 5, 0, 0]), "boosting"), r"trees\[1\]: expected nodes"),
        (rehashed(nodes(feature=[2, -1, 0, -1, -1]), "boosting"), r"trees\[1\]: expected nodes .* columns below 2"),
        (rehashed(nodes(feature=[]), "boosting"), r"trees\[1\]: expected nodes"),
        (rehashed(nodes(value=[1.0]), "boosting"), r"trees\[1\]: expected nodes"),
        (rehashed(nodes(value=[float("inf")] * 5), "boosting"), r"trees\[1\]: expected nodes of finite"),
        (rehashed({"trees.json": {"gain": [1]}}, "boosting"), "expected a finite baseline and 2 finite gains, got 1"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path: Path, damage: Callable[[Path], None], problem: str) -> None:
    folder = made(tmp_path / "m")
    damage(folder)
    with pytest.raises(InvalidInput, match=problem):
        open_combination(folder)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="none: no such folder; expected a combination"):
        open_combination(tmp_path / "none")
