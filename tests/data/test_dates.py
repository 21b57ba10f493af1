"""Dates of rows: what is taken for one, and that all come out in one form."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from postil.data.fields import parse_date, unix_seconds
from postil.data.reading import Reading
from postil.data.row_files import read, write
from postil.data.rows import Article, Comment, Decision
from postil.errors import InvalidInput
from postil.messages import COMMAND_LINE
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

AT = "2017-03-30T02:56:13Z"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (AT, AT),
        ("2017-03-30 02:56:13", AT),
        (" 2017-03-30T02:56:13.999Z ", AT),
        ("2017-03-30t04:56:13+02:00", AT),
        ("2017-03-29 21:26:13 -0530", AT),
        ("2017-03-30T03:56+01", "2017-03-30T02:56:00Z"),
        ("2020-02-29", "2020-02-29T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("30.03.2017 02:56:13", AT),
        ("30.03.2017, 02:56:13.999 ", AT),
        ("30.3.2017 4:56:13 +02:00", AT),
        ("30.03.2017T02:56:13Z", AT),
        ("29.02.2020", "2020-02-29T00:00:00Z"),
        ("1.2.2023, 9:05", "2023-02-01T09:05:00Z"),
        (1490842573, AT),
        (1490842573.9, AT),
        (np.int64(1490842573), AT),
        ("1490842573", AT),
        (1490842573999, AT),
        ("1490842573999.5", AT),
        (10**8, "1973-03-03T09:46:40Z"),
        (10**11 - 1, "5138-11-16T09:46:39Z"),
        (10**11, "1973-03-03T09:46:40Z"),
        (10**14 - 1, "5138-11-16T09:46:39Z"),
        (datetime(2017, 3, 30, 2, 56, 13), AT),  # noqa: DTZ001
        (datetime(2017, 3, 30, 4, 56, 13, 999, tzinfo=timezone(timedelta(hours=2))), AT),
        (date(2017, 3, 30), "2017-03-30T00:00:00Z"),
    ],
)
def test_what_is_a_date(value: object, found: str) -> None:
    assert parse_date(value) == found
    assert parse_date(found) == found


@pytest.mark.parametrize(
    "value",
    ["", "soon", "2017", "2017-3-30", "20170330", "2017-02-29", "2017-13-01", "0000-01-01", "2017-03-30T24:00:00Z",
     "2017-03-30T02", "2017-03-30 02:56:60", "2017-03-30T02:56:13+25:00", "9999-12-31T23:59:59-01:00", "2017-W13-4",
     "２０１７-03-30", "30/03/2017", "03/30/2017", "30.03.17", "2017.03.30", "29.02.2017", "03.30.2017",
     "30.03.2017 24:00", "30.03.2017 2", "30.03.2017,,02:56", "30.03.201702:56", "12345678", "-1490842573", 0,
     10**8 - 1, 10**14, -1490842573, float("nan"), float("inf"), True, [2017], None],
)  # fmt: skip
def test_what_is_none(value: object) -> None:
    wanted = r"^expected a date such as 2017-03-30T02:56:13Z, 30\.03\.2017 02:56 or Unix seconds, got "
    with pytest.raises(InvalidInput, match=wanted):
        parse_date(value)


def test_unix_time_and_back() -> None:
    draw = random.Random(1)  # noqa: S311 - no secret
    for _ in range(1000):
        second = draw.randrange(10**8, 10**11)
        text = parse_date(second)
        assert (unix_seconds(text), len(text)) == (second, 20)
        moment = datetime.fromtimestamp(second, UTC)
        assert parse_date(str(moment)) == parse_date(moment.isoformat()) == parse_date(second * 1000 + 999) == text


def test_rows_in_files(tmp_path: Path) -> None:
    """Rows say where a date is wrong, and hold one form whatever came."""
    fields = '"id": "a", "title": "Rain", "date": 1490842573'
    (tmp_path / "a.jsonl").write_text(f'{{{fields}, "comments": [{{"id": 1, "text": "Oh", "date": "2020-03-21"}}]}}')
    [article] = read(tmp_path / "a.jsonl", Article)
    assert article == Article("a", "Rain", (Comment("1", "Oh", date="2020-03-21T00:00:00Z"),), date=AT)
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "title": "T", "date": "", "comments": [{"id": 1, "text": "Oh", "date": " "}]}'
    )
    assert list(read(tmp_path / "a.jsonl", Article)) == [Article("a", "T", (Comment("1", "Oh"),))]  # blanks are none
    for make in (
        lambda: Comment("1", "Oh", date="soon", user="7", grade=3),
        lambda: Article("a", "R", (), date="soon"),
    ):
        assert refused(InvalidInput, make).startswith("date: expected a date")
    for name in ("b.jsonl", "b.parquet"):
        write(tmp_path / name, [article])
        assert list(read(tmp_path / name, Article)) == [article]
    for value, shown in (('"soon"', '"soon"'), ("12", "12"), ("[]", "an array"), ("true", "true")):
        comments = f'"comments": [{{"id": 1, "text": "Oh"}}, {{"id": 2, "text": "No", "date": {value}}}]'
        (tmp_path / "c.jsonl").write_text(f"{{{fields}, {comments}}}")
        said = refused(InvalidInput, read, tmp_path / "c.jsonl", Article)
        wanted = "expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds"
        assert said == f"{tmp_path}/c.jsonl:1: comments[1].date: {wanted}, got {shown}"


def test_timestamps_in_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    said = [{"id": "1", "text": "Oh", "date": datetime(2017, 3, 30, 2, 56, 13, tzinfo=UTC)}]
    rows = [{"id": "a", "title": "Rain", "date": date(2017, 3, 30), "comments": said}]
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    [article] = read(tmp_path / "a.parquet", Article)
    assert (article.date, article.comments[0].date) == ("2017-03-30T00:00:00Z", AT)


@pytest.mark.parametrize("first", [0, 3, 600, 1500])
def test_columns_only_where_some_row_has_a_date(tmp_path: Path, first: int) -> None:
    """A row may come with a date when many without one are written already."""
    pa = pytest.importorskip("pyarrow")
    rows = [Article(str(number), "Rain", (Comment("1", "Oh"),)) for number in range(1500)]
    dated = [replace(row, date=AT) if int(row.id) == first else row for row in rows]
    for name, some in (("a", dated), ("b", [*rows[:first], Article("x", "Y", (Comment("1", "Oh", date=AT),))])):
        write(tmp_path / f"{name}.parquet", some)
        assert list(read(tmp_path / f"{name}.parquet", Article)) == some
        schema = pa.parquet.read_schema(tmp_path / f"{name}.parquet")
        assert ("date" in schema.names) == (name == "b" or first < 1500)
        assert (schema.field("comments").type.value_type.get_field_index("date") >= 0) == ("date" in schema.names)


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.jsonl", "d.parquet"])
def test_a_date_of_no_known_form_says_how_to_do_without(tmp_path: Path, name: str) -> None:
    """The column is named in the words of the face, and rows are read without it."""
    values = [{"text": "a", "decision": "keep", "date": "03/04/2023"}]
    if name == "d.csv":
        (tmp_path / name).write_text("text,decision,date\na,keep,03/04/2023\n")
    elif name == "d.parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(values), tmp_path / name)
    else:
        (tmp_path / name).write_text(json.dumps(values if name == "d.json" else values[0]))
    with pytest.raises(InvalidInput, match=r'got "03/04/2023"; to read the rows without it: ') as caught:
        list(read(tmp_path / name, Decision))
    assert str(caught.value).endswith("columns={'date': ''}")
    assert caught.value.words(COMMAND_LINE).endswith("--column date=")
    assert list(read(tmp_path / name, Decision, Reading(columns={"date": ""}))) == [Decision("a", "keep")]
