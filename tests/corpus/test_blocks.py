from __future__ import annotations

import gzip
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from exploration import examples
from postil.corpus.blocks import Block, blocks
from postil.corpus.rejected import Rejected
from postil.data.reading import Reading
from postil.data.row_files import write
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import File

LINES = b'{"a": 1}\n\n{"b": 22}\n{"c": 333}'


def pieces(path: object, size: int) -> list[tuple[int, bytes]]:
    return [(block.first, block.data) for block in blocks(path, size=size)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("size", [1, 7, 10, 20, 1_000])
def test_blocks_hold_whole_lines_and_know_where_they_stand(file: File, name: str, size: int) -> None:
    path = file(name, LINES)
    found = list(blocks(path, "dev", size))
    assert b"".join(block.data for block in found) == LINES + b"\n"
    first = 1
    for block in found:
        assert (block.where, block.split, block.first) == (str(path), "dev", first)
        assert block.data.endswith(b"\n")
        first += block.data.count(b"\n")
    assert len(found) <= 2 or size < len(LINES)  # a last line without an end is a block of its own


@examples(60, [HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"\r")), min_size=1, max_size=12),
       st.integers(1, 40), st.booleans())  # fmt: skip
def test_no_byte_is_lost(tmp_path: Path, lines: list[bytes], size: int, end: bool) -> None:
    data = b"\n".join(lines) + b"\n" * end
    (tmp_path / "a.jsonl").write_bytes(data)
    if not data:
        with pytest.raises(InvalidInput, match="the file holds no rows"):
            pieces(tmp_path / "a.jsonl", size)
        return
    found = pieces(tmp_path / "a.jsonl", size)
    assert b"".join(block for _, block in found) == data + b"\n" * (not data.endswith(b"\n"))
    every = data.split(b"\n")
    for first, block in found:  # a block's first line is the line that it says
        assert block.startswith(every[first - 1] + b"\n")
        assert len(block) <= size + 14 or block.count(b"\n") == 1


def test_a_line_longer_than_a_block(file: File) -> None:
    long = b'"' + b"x" * 1_000 + b'"'
    assert pieces(file("a.jsonl", b"1\n" + long + b"\n2\n"), 64) == [(1, b"1\n"), (2, long + b"\n2\n")]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert list(blocks("-")) == [Block("stdin", 1, LINES[:-10]), Block("stdin", 4, LINES[-10:] + b"\n")]


def article(number: int) -> Article:
    return Article(f"a{number}", "T\u2028itle", (Comment("c", "x", upvotes=-1, grade=0.1),), content=None)


def test_parquet(tmp_path: Path) -> None:
    articles = [article(number) for number in range(5)]
    write(tmp_path / "a.parquet", articles)
    found = pieces(tmp_path / "a.parquet", 100)
    assert [first for first, _ in found] == [1, 2, 3, 4, 5]
    rows = [json.loads(line) for _, data in found for line in data.decode().split("\n")[:-1]]
    assert [(row["id"], row["title"], row["comments"][0]["grade"]) for row in rows] == [
        (each.id, each.title, 0.1) for each in articles
    ]
    assert [data for _, data in pieces(tmp_path / "a.parquet", 10_000)] == [b"".join(data for _, data in found)]


def test_nan_in_parquet_is_a_missing_value(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [
        {"id": 1, "title": "t", "comments": [{"id": 1, "text": "x", "grade": grade} for grade in (2.5, float("nan"))]}
    ]
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    ((_, data),) = pieces(tmp_path / "a.parquet", 100)
    assert [comment["grade"] for comment in json.loads(data)["comments"]] == [2.5, None]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", b"", "a.jsonl: the file holds no rows"),
        ("a.jsonl.gz", b"", "a.jsonl.gz: the file holds no rows"),
        ("a.parquet", b"", "a.parquet: not a Parquet file"),
        ("a.parquet", b"PAR1 and no more", "a.parquet: not a Parquet file"),
    ],
)
def test_files_that_hold_nothing(file: File, name: str, data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        pieces(file(name, data), 100)
    assert message in str(failure.value)


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_a_gzip_file_cut_short(tmp_path: Path, kept: float) -> None:
    lines = b"".join(b'{"id": %d, "text": "%d"}\n' % (number, number**7) for number in range(20_000))
    data = gzip.compress(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(data[: int(kept * len(data))])
    seen = 0

    def whole_lines() -> None:
        nonlocal seen
        for block in blocks(tmp_path / "a.jsonl.gz", size=10_000):
            assert lines.startswith(block.data, seen)
            seen += len(block.data)

    with pytest.raises(InvalidInput, match=r"gz: the gzip file ends early after line \d+; is the download") as failure:
        whole_lines()
    assert f"after line {lines[:seen].count(10)};" in str(failure.value)


def test_a_gzip_file_with_a_wrong_byte(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"".join(b'{"id": %d}\n' % number**5 for number in range(20_000))))
    data[len(data) // 2] ^= 255
    (tmp_path / "a.jsonl.gz").write_bytes(data)
    with pytest.raises(InvalidInput, match="the gzip file is damaged after line"):
        pieces(tmp_path / "a.jsonl.gz", 10_000)


def test_what_is_no_gzip_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(LINES)
    with pytest.raises(InvalidInput, match=r"not a gzip file; if it is not compressed, name it \.jsonl"):
        pieces(tmp_path / "a.jsonl.gz", 10_000)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"a.jsonl: no such file"):
        pieces(tmp_path / "a.jsonl", 10)
    with pytest.raises(UsageError, match=r"a.bz2: unknown kind of file; known endings: .jsonl, "):
        pieces(tmp_path / "a.bz2", 10)


def test_rows_of_other_tables(tmp_path: Path) -> None:
    comments = [{"id": 1, "text": "Bring a coat."}]
    (tmp_path / "a.json").write_text(
        json.dumps([{"key": place, "title": "Rain", "comments": comments} for place in (7, 8)])
    )
    (tmp_path / "a.csv").write_text(
        "key;title;comments\n"
        + "".join(f'{place};Rain;"{json.dumps(comments).replace(chr(34), chr(34) * 2)}"\n' for place in (7, 8))
    )
    for name in ("a.json", "a.csv"):
        (block,) = blocks(tmp_path / name, "dev", reading=Reading(columns={"id": "key"}))
        rows = [json.loads(line) for line in block.data.splitlines()]
        assert rows == [
            {"id": key, "title": "Rain", "comments": [{"id": "1", "text": "Bring a coat."}]} for key in ("7", "8")
        ]
        assert (block.first, block.split) == (1, "dev")


def test_a_rejected_row_says_where_and_why() -> None:
    error = InvalidInput("expected text", where="a.jsonl", line=7, field="title")
    assert Rejected.of(error) == Rejected("a.jsonl", 7, "title", "expected text")
