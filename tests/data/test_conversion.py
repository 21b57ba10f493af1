"""Conversion between formats keeps every field, known or not."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.conversion import convert
from postil.data.row_files import read
from postil.data.rows import Rating, Reference
from postil.errors import InvalidInput, UsageError
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS: list[dict[str, Any]] = [
    {"item": "a", "text": "明天", "grade": 4, "mood": "glad", "tags": ["x", "y"], "made": {"by": "me", "at": [1, 2.5]}},
    {"item": "b", "text": "x", "ratings": [{"annotator": 1, "grade": 2, "when": "now"}], "flag": True, "tags": []},
]


def _write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _bare(value: Any) -> Any:
    """A value without the fields that are null, which mean the same as no field."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if inner is not None}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    source = _write(tmp_path / "r.jsonl", ROWS)
    assert convert(source, tmp_path / "r.parquet") == 2
    assert convert(tmp_path / "r.parquet", tmp_path / "s.parquet") == 2
    assert convert(tmp_path / "s.parquet", tmp_path / "s.jsonl.gz") == 2
    assert convert(tmp_path / "s.jsonl.gz", tmp_path / "s.jsonl") == 2
    assert _bare(_read(tmp_path / "s.jsonl")) == ROWS
    assert convert(tmp_path / "s.jsonl.gz", tmp_path / "t.parquet") == 2
    before = _read(source)
    convert(source, source)
    assert _read(source) == before == ROWS  # a file may replace itself
    for name in ("r.jsonl", "r.parquet", "s.parquet", "s.jsonl.gz", "s.jsonl"):
        assert list(read(tmp_path / name, Reference)) == [
            Reference("a", "明天", grade=4.0),
            Reference("b", "x", ratings=(Rating("1", 2.0),)),
        ]


def test_columns_have_types_of_their_own(tmp_path: Path) -> None:
    convert(_write(tmp_path / "r.jsonl", ROWS), tmp_path / "r.parquet")
    schema = pq.read_schema(tmp_path / "r.parquet")
    assert schema.field("grade").type == pa.int64()
    assert schema.field("flag").type == pa.bool_()
    assert schema.field("tags").type == pa.list_(pa.string())
    assert schema.field("made").type == pa.struct([("by", pa.string()), ("at", pa.list_(pa.float64()))])


def test_values_that_no_column_type_holds(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"item": 1, "text": "x", "n": 2**70, "m": 1, "o": {}, "p": 2**53 + 1, "q": [[1], ["a"]]},
        {"item": "a", "text": "x", "n": 1, "m": "one", "o": {}, "p": 0.5, "q": []},
        {"item": 2, "text": "x", "m": None},
    ]
    convert(_write(tmp_path / "r.jsonl", rows), tmp_path / "r.parquet")
    marked = {field.name for field in pq.read_schema(tmp_path / "r.parquet") if field.metadata}
    assert marked == {"item", "n", "m", "o", "p", "q"}
    convert(tmp_path / "r.parquet", tmp_path / "s.parquet")
    convert(tmp_path / "s.parquet", tmp_path / "s.jsonl")
    assert _bare(_read(tmp_path / "s.jsonl")) == _bare(rows)
    assert [row.item for row in read(tmp_path / "r.parquet", Reference)] == ["1", "a", "2"]


json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | json_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_text, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(json_text, json_value, min_size=1, max_size=3), min_size=1, max_size=4))
def test_any_rows_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.getbasetemp()
    convert(_write(folder / "any.jsonl", rows), folder / "any.parquet")
    convert(folder / "any.parquet", folder / "back.jsonl")
    assert _bare(_read(folder / "back.jsonl")) == _bare(rows)


def test_standard_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_bytes = b'{"item":1,"z":2}\n\n{"item":2,"z":3}\n'
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given_bytes)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    convert("-", tmp_path / "r.parquet")
    convert(tmp_path / "r.parquet", "-")
    assert out.getvalue() == b'{"item":1,"z":2}\n{"item":2,"z":3}\n'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a":NaN}', "a: NaN is not JSON; write null, or leave the field out"),
        ("[1]", "expected an object in braces, got an array"),
        ('{"a":1', "the JSON ends too early; is the line cut off?"),
        ('{"a":1e999}', "a: expected a finite number, got inf"),
    ],
)
@pytest.mark.parametrize("ending", ["jsonl.gz", "parquet"])
def test_a_broken_source_leaves_nothing(tmp_path: Path, ending: str, line: str, problem: str) -> None:
    source = tmp_path / "r.jsonl"
    source.write_text('{"a":1}\n' + line, encoding="utf-8")
    assert refused(InvalidInput, convert, source, tmp_path / f"s.{ending}") == f"{source}:2: {problem}"
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("column", [[1.0, float("nan")], [[], [float("nan")]], [None, {"b": float("nan")}]])
def test_nan_does_not_become_null_unseen(tmp_path: Path, column: list[Any]) -> None:
    source = tmp_path / "r.parquet"
    pq.write_table(pa.table({"a": column}), source)
    with pytest.raises(InvalidInput, match=r"r\.parquet:2: a[\[\]0.b]*: expected a finite number, got NaN$"):
        convert(source, tmp_path / "r.jsonl")
    assert convert(source, tmp_path / "s.parquet") == 2


def test_unknown_kinds_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^x: unknown kind of file"):
        convert("x", tmp_path / "r.parquet")
    with pytest.raises(UsageError, match=r"^x: unknown kind of file"):
        convert(tmp_path / "r.parquet", "x")
    for source, target in (("x.csv", "r.parquet"), ("r.parquet", "x.csv")):
        with pytest.raises(UsageError, match=r"^x\.csv: expected JSON Lines or Parquet, which hold rows of any"):
            convert(source, target)
    for name in ("r.jsonl", "r.parquet"):
        with pytest.raises(InvalidInput, match=r": no such file$"):
            convert(tmp_path / name, tmp_path / "s.parquet")
