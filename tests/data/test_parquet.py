"""Parquet: foreign files, and what each refusal says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from postil.data.row_files import read, write
from postil.data.rows import Article, Candidate, Comment, Rating, Reference, Row, Score
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _table(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def _refusal(path: Path, row_type: type[Row] = Reference) -> str:
    said = refused(InvalidInput, read, path, row_type)
    return said.removeprefix(str(path))


def test_columns_of_other_types(tmp_path: Path) -> None:
    path = _table(
        tmp_path / "r.parquet",
        {
            "extra": pa.array([{"a": 1}, None]),
            "grade": pa.array([4, None], pa.int8()),
            "text": pa.array(["x", "x"]).dictionary_encode(),
            "item": pa.array([7, 8], pa.uint16()),
            "weight": pa.array([0.5, None], pa.float32()),
            "ratings": pa.array([[{"annotator": 3, "grade": 4, "when": "now"}], None]),
            "upvotes": pa.array([-1, None], pa.int32()),
        },
    )
    rows = read(path, Reference)
    assert list(rows) == [
        Reference("7", "x", grade=4.0, weight=0.5, ratings=(Rating("3", 4.0),), upvotes=-1),
        Reference("8", "x"),
    ]
    assert rows.places.line(1) == 2
    assert rows.places.fields(1) == ("extra", "grade", "text", "item", "weight", "ratings", "upvotes")
    path.unlink()
    assert rows.places.fields(1) is None


def test_nested_rows(tmp_path: Path) -> None:
    ratings = [{"annotator": "x", "grade": 4.0}]
    path = _table(
        tmp_path / "a.parquet",
        {"id": [1], "title": ["t"], "comments": [[{"id": 1, "text": "a"}, {"id": 2, "text": "b", "ratings": ratings}]]},
    )
    comments = (Comment("1", "a"), Comment("2", "b", ratings=(Rating("x", 4.0),)))
    assert list(read(path, Article)) == [Article("1", "t", comments)]


ROW: dict[str, Any] = {"item": ["a"], "text": ["x"]}


def test_a_missing_column_and_no_rows(tmp_path: Path) -> None:
    path = _table(tmp_path / "r.parquet", {"text": ["x"], "itm": ["a"]})
    there = ": item: no such column; did you mean 'itm'? The file has: text, itm; name the one for it: "
    assert _refusal(path) == f"{there}columns={{'item': COLUMN}}"
    assert _refusal(path, Candidate).startswith(": item, system: no such columns; the file has: text, itm; name")
    empty = pa.array([], pa.string())
    assert _refusal(_table(path, {"item": empty, "text": empty})) == ": the file holds no rows"


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {"item": ["a", None], "text": ["x", "y"]},
            ":2: item: expected text or an integer, got null; the value is missing: fill it, or drop the row",
        ),
        ({"item": [1.0, 2.0], "text": ["x", "y"]}, ":1: item: expected text or an integer, got 1"),
        ({"item": ["a"], "text": [b"x"]}, ":1: text: expected text, got b'x'"),
        ({"item": [*"abc"], "text": [*"xyz"], "grade": [1.0, None, math.nan]}, ":3: grade: expected a number, got NaN"),
        ({**ROW, "grade": [float("inf")]}, ":1: grade: expected a number, got inf"),
        ({**ROW, "upvotes": [3.0]}, ":1: upvotes: expected an integer of at most 64 bits, got 3"),
        (
            {**ROW, "ratings": [[{"annotator": "n", "grade": math.nan}]]},
            ":1: ratings[0].grade: expected a number, got NaN",
        ),
    ],
)
def test_what_a_row_says(tmp_path: Path, columns: dict[str, Any], problem: str) -> None:
    assert _refusal(_table(tmp_path / "r.parquet", columns)) == problem


def test_the_row_number_in_a_later_batch(tmp_path: Path) -> None:
    grades = [1.0] * 20_000
    grades[12_345] = float("nan")
    path = _table(tmp_path / "r.parquet", {"item": ["a"] * 20_000, "text": ["x"] * 20_000, "grade": grades})
    assert _refusal(path) == ":12346: grade: expected a number, got NaN"


@pytest.mark.parametrize("data", [b"", b"{}", b"PAR1" + bytes(100) + b"PAR1"])
def test_what_is_no_parquet_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r.parquet").write_bytes(data)
    assert _refusal(tmp_path / "r.parquet") == ": not a Parquet file, or a damaged one; is the download complete?"


def test_every_field_has_a_column(tmp_path: Path) -> None:
    write(tmp_path / "r.parquet", [Reference("a", "x")])
    schema = pq.read_schema(tmp_path / "r.parquet")
    assert schema.names == ["item", "text", "grade", "weight", "ratings", "upvotes", "system", "id"]
    assert schema.field("item").type == pa.string()
    assert schema.field("upvotes").type == pa.int64()
    assert schema.field("ratings").type == pa.list_(pa.struct([("annotator", pa.string()), ("grade", pa.float64())]))


def test_statistics_have_a_column_where_a_row_has_some(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    plain = [Score(str(item), "a", "rouge-l", 0.5, "") for item in range(9000)]
    write(path, plain)
    assert pq.ParquetFile(path).schema_arrow.names == ["item", "system", "metric", "score", "signature"]
    assert pq.ParquetFile(path).num_row_groups == 2
    rows = [*plain, Score("9", "a", "bleu-1", 0.5, "", (0.1 + 0.2, 2.0)), *plain[:3]]
    write(path, rows)
    assert list(read(path, Score)) == rows
