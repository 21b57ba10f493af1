from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.errors import InvalidInput
from postil.wmt.test_set import WmtSet
from wmt_folders import write_set

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"A": ["one", "", "three"], "refA": ["one", "two", "three"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(
        tmp_path / "wmt22",
        "en-de",
        human={"mqm.seg": {"A": [0, None, -1.5]}, "mqm.doc": {"A": [1]}, "mqm.unb.sys": {"A": [-0.5]}},
        metrics={
            "COMET-QE-src.seg": {"A": [1, 2, 3]},
            "chrF-refA.refB.sys": {"A": [0.5]},
            "all-all.domain": {"A": [1]},
        },
        references={"refA": TEXTS["refA"]},
        outputs=TEXTS,
    )


def test_files_by_level_and_name(folder: Path) -> None:
    found = WmtSet.open(folder, "en-de")
    assert [[*each] for each in found.human.values()] == [["mqm.unb"], ["mqm"]]
    assert [[*each] for each in found.metrics.values()] == [["chrF-refA.refB"], ["COMET-QE-src"]]
    assert (found.name, found.segments, [*found.references], [*found.outputs]) == ("wmt22", 3, ["refA"], ["A", "refA"])
    assert found.scores(found.human["seg"]["mqm"], "seg") == {"A": [0.0, None, -1.5]}
    assert found.texts(found.outputs["A"]) == TEXTS["A"]
    names = ("COMET-QE-src", "chrF-refA.refB", "m-all")
    assert [found.used_references(name) for name in names] == [set(), {"refA", "refB"}, {"refA"}]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("human-scores/en-de.mqm.seg.score", "A 1\nA\n", ":2: expected a system and a score, got 'A'"),
        ("human-scores/en-de.mqm.seg.score", "A\t1\nA\tx\nA\t2\n", ":2: score: expected a number or None, got 'x'"),
        ("human-scores/en-de.mqm.seg.score", "A 1\nA nan\nA 2\n", ":2: score: expected a number or None, got 'nan'"),
        ("human-scores/en-de.mqm.seg.score", "B 1\n", ":1: expected a system of system-outputs/en-de, got 'B'"),
        ("human-scores/en-de.mqm.seg.score", "A 1\nA 2\n", ": expected 3 scores of A, one per segment, got 2"),
        ("human-scores/en-de.mqm.seg.score", "", ": the file holds no lines"),
    ],
)
def test_scores_that_cannot_be_read(file: str, text: str, problem: str, folder: Path) -> None:
    (folder / file).write_text(text)
    found = WmtSet.open(folder, "en-de")
    with pytest.raises(InvalidInput) as error:
        found.scores(found.human["seg"]["mqm"], "seg")
    assert str(error.value) == f"{folder / file}{problem}"


def test_folders_that_are_no_test_set(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder human-scores in it; expected a test set"):
        WmtSet.open(folder.parent, "en-de")
    (folder / "human-scores/en-de.mqm.sys.score").write_text("A 1\nA 2\n")
    found = WmtSet.open(folder, "en-de")
    with pytest.raises(InvalidInput, match="expected one score of A, got 2"):
        found.scores(found.human["sys"]["mqm"], "sys")
    (folder / "system-outputs/en-de/A.txt").write_text("one\n")
    with pytest.raises(InvalidInput, match=r"refA\.txt: expected 1 lines, one per segment, got 3"):
        WmtSet.open(folder, "en-de").texts(folder / "references/en-de.refA.txt")
    (folder / "system-outputs/en-de/A.txt").write_bytes(b"one\n\xff\nthree\n")
    with pytest.raises(InvalidInput, match=r"A\.txt:2: expected UTF-8"):
        WmtSet.open(folder, "en-de")
    (folder / "metric-scores/en-de/BLEU.sys.score").write_text("A 1\n")
    with pytest.raises(InvalidInput, match="expected a name of the form NAME-REFERENCE"):
        WmtSet.open(folder, "en-de")
