"""JSON Lines and other lines: what is tolerated, and what each refusal says."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest

from postil.data import jsonl
from postil.data.explain import RepeatedKey
from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Reference, Row
from postil.data.streams import text_lines
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import File


GOOD = b'{"item":"a","text":"x"}\n'


def _refusal(path: Path, data: bytes, row_type: type[Row] = Reference) -> str:
    path.write_bytes(data)
    said = refused(InvalidInput, read, path, row_type)
    message = said
    assert message.startswith(f"{path}:")
    return message.removeprefix(f"{path}:").lstrip()


@pytest.mark.parametrize(
    "data",
    [
        GOOD * 2,
        GOOD + GOOD.rstrip(),
        b"\xef\xbb\xbf" + GOOD * 2,
        b"\xef\xbb\xbf\n" + GOOD * 2,
        b"\n \t\r\n" + GOOD + b"\n\n" + GOOD + b"\n",
        GOOD.replace(b"\n", b"\r\n") * 2,
        b' { "item" : "a" , "text" : "x" , "more": [1e999, {"a": null}] } \n' * 2,
        b'{"item":"a","text":"x","grade":null,"ratings":null,"upvotes":null}\n' * 2,
    ],
)
def test_what_is_tolerated(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r.jsonl").write_bytes(data)
    assert list(read(tmp_path / "r.jsonl", Reference)) == [Reference("a", "x")] * 2


def test_the_lines_of_rows(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b"\n" + GOOD + b"\n \n" + GOOD + GOOD + b"\n\n" + GOOD)
    rows = read(tmp_path / "r.jsonl", Reference)
    places = rows.places
    assert len(list(rows)) == 4
    assert [places.line(index) for index in range(4)] == [2, 5, 6, 9]
    assert places.fields(3) == ("item", "text")
    (tmp_path / "r.jsonl").unlink()
    assert places.fields(3) is None


BITS = "expected an integer of at most 64 bits, got "


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"item":1.5,"text":"x"}', "item: expected text or an integer, got 1.5"),
        (b'{"item":1.0,"text":"x"}', "item: expected text or an integer, got 1"),
        (b'{ROW,"z":[{"y":-Infinity}]}', "z[0].y: -Infinity is not JSON; write null, or leave the field out"),
        (b'{"item":"a","text":"x","grade":1e999}', "grade: expected a number, got inf"),
        (b'{"item":"a","text":"x","upvotes":1.5}', f"upvotes: {BITS}1.5"),
        (b'{ROW,"upvotes":9999999999999999999}', f"upvotes: {BITS}9999999999999999999"),
        (b'{"item":"a","text":"x","ratings":5}', "ratings: expected an array, got 5"),
        (b'{"item":"a","text":"x","ratings":[5]}', "ratings[0]: expected an object in braces, got 5"),
        (
            b'{ROW,"ratings":[{"annotator":1,"grade":2},{"annotator":1,"grad":2}]}',
            "ratings[1].grade: missing; a rating needs annotator, grade; this object has: annotator, grad",
        ),
        (b'{ROW,"ratings":[{"annotator":1,"grade":false}]}', "ratings[0].grade: expected a number, got false"),
        (b"{}", "item, text: missing; a reference needs item, text; this row has: no fields"),
        (b"5", "expected an object in braces, got 5"),
        (b"[1]", "expected an object in braces, got an array"),
        (b"null", "expected an object in braces, got null"),
        (b'{"item":"a","text":"\xff"}', "byte 0xff at offset 20 of the line is not UTF-8; save the file as UTF-8"),
        (b'{"item":"a","text":"\\ud800"}', 'text: expected text, got "\\ud800"'),
        (b'{"item":"a","text":"x","text":"y"}', f"text: {RepeatedKey('text')}"),
        (b'{"item":"a","text":"x","te\\u0078t":"x"}', f"text: {RepeatedKey('text')}"),
        (b'{"item":"a","text":"x","more":{"\\"":1,"\\"":1}}', f'": {RepeatedKey(chr(34))}'),
        (b'{"item":"a","text":"x","ratings":[{"annotator":1,"grade":2,"grade":3}]}', f"grade: {RepeatedKey('grade')}"),
        (b'{"item":"a" "text":"x"}', "not JSON at character 13: expecting ',' delimiter"),
        (b'{"item":"a","text":"x"}{}', "not JSON at character 24: extra data"),
        (b'  {"item":x}', "not JSON at character 11: expecting value"),
        (b"item,text", "not JSON at character 1: expecting value"),
        (b'{"item":"a",', "the JSON ends too early; is the line cut off?"),
        (b'{"item":"a","text":"x\n', "not JSON at character 20: unterminated string"),
        (b'{"item":"a\0"}\n', "not JSON at character 11: invalid control character"),
        (b'{"item":"a","x":1' + b"0" * 5_000 + b"}", "a number has thousands of digits"),
        (b'{"item":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the JSON is nested too deeply"),
    ],
)
def test_what_a_line_says(tmp_path: Path, line: bytes, problem: str) -> None:
    line = line.replace(b"ROW", b'"item":"a","text":"x"')
    assert _refusal(tmp_path / "refs.jsonl", GOOD + b"\n" + line + b"\n") == f"3: {problem}"


def test_a_repeated_key_in_the_first_line_and_after_rows(tmp_path: Path) -> None:
    twice = b'{"item":"a","text":"x","item":"b"}\n'
    assert _refusal(tmp_path / "refs.jsonl", b"\xef\xbb\xbf" + twice) == f"1: item: {RepeatedKey('item')}"
    assert _refusal(tmp_path / "refs.jsonl", GOOD * 9_000 + twice) == f"9001: item: {RepeatedKey('item')}"
    (tmp_path / "refs.jsonl").write_bytes(GOOD * 9_000 + twice)
    rows = read(tmp_path / "refs.jsonl", Reference)
    assert len([next(rows) for _ in range(9_000)]) == 9_000


def test_lines_that_end_anywhere(tmp_path: Path) -> None:
    long = b'{"item":"a","text":"' + b"x" * 200_000 + b'"}\n'
    (tmp_path / "r.jsonl").write_bytes(GOOD + long + GOOD * 3_000 + b"\n" + long + GOOD.rstrip())
    rows = read(tmp_path / "r.jsonl", Reference)
    assert [len(row.text) for row in rows] == [1, 200_000, *[1] * 3_000, 200_000, 1]
    assert [rows.places.line(index) for index in (0, 3_001, 3_002, 3_003)] == [1, 3_002, 3_004, 3_005]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_no_rows(tmp_path: Path, data: bytes) -> None:
    assert _refusal(tmp_path / "refs.jsonl", data) == "the file holds no rows"
    assert _refusal(tmp_path / "refs.jsonl.gz", gzip.compress(data)) == "the file holds no rows"


ARRAY = "1: expected JSON Lines, one object per line, got a JSON array; convert it with: jq -c '.[]' FILE > rows.jsonl"
OBJECT = "1: expected a whole object on one line; convert the file with: jq -c . FILE > rows.jsonl"
GZIPPED = "1: the data are compressed with gzip; name the file .jsonl.gz, or pipe it through gunzip"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'[{"item":"a","text":"x"}]', ARRAY),
        (b"[\n{\n", ARRAY),
        (b"\xef\xbb\xbf[", ARRAY),
        (b'[{"item":"a"},\n{"item":"b"}]', ARRAY),
        (b'{\n  "item": "a"\n}\n', OBJECT),
        (gzip.compress(GOOD, mtime=0), GZIPPED),
        (b"PAR1\x15\x00\n", "1: this is a Parquet file; name it .parquet"),
        (GOOD.decode().encode("utf-16"), "1: the file is in UTF-16; save it as UTF-8"),
        (b'{"item":"a",\n"text":"x"}\n' + GOOD.rstrip() + GOOD, "1: the JSON ends too early; is the line cut off?"),
        (
            b'{"item":"a","text":"x","grade":"' + b"y" * 99 + b'"}',
            f'1: grade: expected a number, got "{"y" * 40}…"; leave the value out where there is no number',
        ),
    ],
)
def test_what_is_no_file_of_json_lines(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "refs.jsonl"
    assert _refusal(path, data) == problem.replace("FILE", str(path))


def _changed(place: int, byte: int) -> bytes:
    data = bytearray(gzip.compress(GOOD * 3, mtime=0))
    data[place] = byte if byte else data[place] ^ 1
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (gzip.compress(GOOD * 3, mtime=0)[:-1], "the gzip file ends early after line 3; is the download complete?"),
        (GOOD, "not a gzip file; if it is not compressed, name it .jsonl"),
        (_changed(-8, 0), "the gzip file is damaged after line 3; is the download complete?"),  # the checksum
        # A kind of block that does not exist.
        (_changed(10, 0xFF), "the gzip file is damaged after line 0; is the download complete?"),
    ],
)
def test_damaged_gzip_files(tmp_path: Path, data: bytes, problem: str) -> None:
    assert _refusal(tmp_path / "refs.jsonl.gz", data) == problem


def _numbered(count: int) -> bytes:
    return b"".join(b'{"item":%d,"text":"%s"}\n' % (n, bytes([97 + n * 7919 % 26]) * (n % 97)) for n in range(count))


def test_a_gzip_file_that_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "refs.jsonl.gz"
    whole = gzip.compress(_numbered(50_000))
    path.write_bytes(whole[: len(whole) // 2])
    done = 0
    with pytest.raises(InvalidInput) as caught:
        for done, _ in enumerate(read(path, Reference), 1):  # noqa: B007 - counted
            pass
    # All whole lines that the data hold were given.
    assert done == zlib.decompressobj(wbits=31).decompress(path.read_bytes()).count(b"\n") > 1000
    assert str(caught.value) == f"{path}: the gzip file ends early after line {done}; is the download complete?"


class Endless(io.RawIOBase):
    """A file whose fourth line has no end."""

    def __init__(self) -> None:
        self.given = 0

    def read1(self, size: int = -1, /) -> bytes:
        data = b"\n\n\n".ljust(size, b"x") if not self.given else b"x" * size
        self.given += len(data)
        return data


def test_a_line_without_end_is_refused_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.data.streams.LONGEST_LINE", 1 << 20)
    stream = Endless()
    with pytest.raises(InvalidInput) as refusal:
        list(jsonl.read(stream, dict, RowLocations("rows.jsonl")))  # type: ignore[arg-type]  # one of its methods is asked for
    assert str(refusal.value) == (
        "rows.jsonl:4: expected a line of at most 1,048,576 bytes, got a longer one; does the file have line ends?"
    )
    assert stream.given < 1.1 * (1 << 20)


def test_blank_lines_cost_next_to_nothing() -> None:
    """A hundred thousand before each of three rows, whose places are right all the same."""
    data = (b"\n" * 100_000 + b'{"a": 1}\n') * 3
    places = RowLocations("rows.jsonl")
    tracemalloc.start()
    try:
        rows = list(jsonl.read(io.BytesIO(data), dict, places))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(rows) == 3
    assert [places.line(index) for index in range(3)] == [100_001, 200_002, 300_003]
    assert peak < 2 << 20


def test_places_are_found_without_going_through_all_blank_lines() -> None:
    """Every other line is blank: a walk from the start for each row takes minutes."""
    places = RowLocations("rows.jsonl")
    for line in range(1, 100_001, 2):
        places.skip(line)
    assert [places.line(index) for index in range(50_000)] == list(range(2, 100_001, 2))


@pytest.mark.parametrize("blank", [0, 1, 7, 40_000, 200_000])
def test_rows_between_blank_lines_of_any_number_stand_where_they_stand(blank: int) -> None:
    data = (b"\n" * blank + b'{"a": 1}\n' * 2) * 2 + b"\n" * blank + b"{"
    places = RowLocations("rows.jsonl")
    rows = jsonl.read(io.BytesIO(data), dict, places)
    assert [next(rows) for _ in range(4)] == [{"a": 1}] * 4
    assert [places.line(index) for index in range(4)] == [blank + 1, blank + 2, 2 * blank + 3, 2 * blank + 4]
    with pytest.raises(InvalidInput, match=f"^rows.jsonl:{3 * blank + 5}: "):
        next(rows)


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
    assert refused(InvalidInput, text_lines, path).startswith(str(path.with_name(message)))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="none: no such file"):
        list(text_lines(tmp_path / "none"))
    with pytest.raises(InvalidInput, match="a folder, not a file"):
        list(text_lines(tmp_path))
