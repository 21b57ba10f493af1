"""Candidates that are references of their own item: told in every command that meets them, and refused by none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference
from postil.scoring import files

if TYPE_CHECKING:
    from conftest import Postil

CANDIDATES = [
    Candidate("1", "a", "the cat sat"),
    Candidate("1", "b", "a dog ran away"),  # a reference of item 1
    Candidate("2", "a", "the sun shines"),  # of item 2
    Candidate("2", "b", "\tthe sun shines "),  # as well
    Candidate("3", "a", "one two three"),
    Candidate("3", "b", "a dog ran away"),  # of another item
    Candidate("4", "a", ""),
]
REFERENCES = [
    Reference("1", "a dog ran away"),
    Reference("1", "the cat sat down"),
    Reference("2", "the sun shines"),
    Reference("2", "the sun shines\n"),
    Reference("3", "four five"),
    Reference("4", "six seven"),
]
TOLD = "3 of 7 candidates are references of their own items, so metrics compare them with themselves"


def texts(ending: str = "jsonl") -> tuple[str, ...]:
    write("c.jsonl", CANDIDATES)
    write("r.jsonl", REFERENCES)
    grades = [Judgement(each.item, each.system, "ann", float(n)) for n, each in enumerate(CANDIDATES[:5])]
    write("j.jsonl", grades)
    return ("score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l", "-m", "bleu-1", "--items", f"s.{ending}")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_command_counts_them(postil: Postil, ending: str) -> None:
    done = postil(*texts(ending))
    assert done.code == 0
    assert TOLD in done.err
    correlated = postil("correlate", f"s.{ending}", "--judgements", "j.jsonl", "--format", "json")
    told = "3 of 5 candidates are references of their own items"
    assert told in correlated.err
    assert any(told in note for note in json.loads(correlated.out)["notes"])
    compared = postil("compare", f"s.{ending}", "--intersect")
    assert "note: 3 candidates are references of their own items" in compared.out + compared.err


def test_without_any_nothing_changes(postil: Postil) -> None:
    command = texts()
    write("r.jsonl", [Reference(str(item), "nobody says that") for item in range(1, 5)])
    assert "of their own" not in postil(*command).err
    assert "equal_references" not in Path("s.jsonl").read_text()
    assert "of their own" not in postil("correlate", "s.jsonl", "--judgements", "j.jsonl").out


def test_a_streamed_file_counts_them_as_well(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = postil(*texts())
    items = Path("s.jsonl").read_bytes()
    assert b'"equal_references":2' in items
    monkeypatch.setattr(files, "SMALLEST", 0)
    monkeypatch.setattr(files, "FEW", 1)
    monkeypatch.setattr(files, "TOGETHER", 20)
    ran, made = [], files.streamed
    monkeypatch.setattr("postil.scoring.files.streamed", lambda *given: ran.append(made(*given)) or ran[-1])
    streamed = postil(*texts())
    assert ran != [None]
    assert (streamed.out, streamed.err) == (whole.out, whole.err)
    assert Path("s.jsonl").read_bytes() == items


@pytest.mark.filterwarnings("ignore:b. no candidate for 1 of 4 items")
def test_columns_and_tables_warn(tmp_path: Path) -> None:
    by_item: dict[str, list[str]] = {}
    for each in REFERENCES:
        by_item.setdefault(each.item, []).append(each.text)
    said = [each.text for each in CANDIDATES]
    of = {"items": [each.item for each in CANDIDATES], "systems": [each.system for each in CANDIDATES]}
    lists = [by_item[item] for item in of["items"]]
    with pytest.warns(UserWarning, match=TOLD):
        columns = postil.score(said, lists, metrics="rouge-l", **of)
    with pytest.warns(UserWarning, match=TOLD):
        tables = postil.score(CANDIDATES, REFERENCES, metrics="rouge-l")
    tokens = [text.split() for text in said], [[text.split() for text in each] for each in lists]
    with pytest.warns(UserWarning, match=TOLD):
        split = postil.score(*tokens, metrics="rouge-l", **of)
    for found in (columns, tables, split, postil.read_result(_saved(columns, tmp_path / "found.json"))):
        assert found.equal_references == (0, 1, 2, 2, 0, 0, 0)
    grades = [Judgement(each.item, each.system, "ann", float(n)) for n, each in enumerate(CANDIDATES[:5])]
    note = "3 of 5 candidates are references of their own items, so metrics compare them with themselves"
    assert note in postil.correlate(columns, grades).notes
    options = postil.CompareOptions(intersect=True)
    assert any(line.startswith("3 candidates are") for line in postil.compare(columns, options=options).notes)


def _saved(result: postil.ScoreResult, file: Path) -> Path:
    file.write_text(result.to_json(), encoding="utf-8")
    return file
