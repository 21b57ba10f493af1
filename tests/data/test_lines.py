"""Text files line by line, and what is said of broken ones."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from postil.data.lines import text_lines
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import File

LINES = "\ufeffone\r\n \n\ntwo\u2028still\x0btwo\n"


@pytest.mark.parametrize("name", ["a.txt", "a.gz"])
def test_lines_end_where_a_file_says_so(file: File, name: str) -> None:
    assert list(text_lines(file(name, LINES))) == [(1, "one"), (4, "two\u2028still\x0btwo")]


def test_gzip_is_known_by_its_bytes(file: File) -> None:
    assert list(text_lines(file("a.txt", gzip.compress(b"one")))) == [(1, "one")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.txt: the file holds no lines"),
        (b" \n\n", "a.txt: the file holds no lines"),
        (b"one\ntw\xff\n", "a.txt:2: byte 0xff at offset 2 of the line is not UTF-8"),
        (gzip.compress(b"one\n" * 9, mtime=0)[:-9], "a.txt: the gzip file ends early after line"),
        (gzip.compress(b"one\n" * 9, mtime=0)[:-8] + b"damaged!", "a.txt: the gzip file is damaged after line"),
    ],
)
def test_broken_files(file: File, data: bytes, message: str) -> None:
    path = file("a.txt", data)
    with pytest.raises(InvalidInput) as refusal:
        list(text_lines(path))
    assert str(refusal.value).startswith(str(path.with_name(message)))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="none: no such file"):
        list(text_lines(tmp_path / "none"))
    with pytest.raises(InvalidInput, match="a folder, not a file"):
        list(text_lines(tmp_path))
