"""Records of a file in any of the formats that annotation tools export."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.data.checks import is_integer
from postil.data.decimal_marks import NumberMarks, number_text
from postil.data.delimited import Delimited
from postil.data.explain import shown
from postil.data.ids import as_id
from postil.data.json_tables import json_lines, json_records
from postil.data.reading import Reading
from postil.data.row_files import format_of
from postil.data.streams import opened
from postil.errors import InvalidInput, UsageError
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from postil.data.record_rows import Record

__all__ = ["answer_in", "blank", "id_in", "number_in", "parsed", "records_of"]


def records_of(path: str, decimal: str | None = None, no_answers: Collection[str] = ()) -> Iterator[tuple[int, Record]]:
    """Records of a JSON, JSON Lines, CSV or TSV file.

    Args:
        path: The file; it may be compressed.
        decimal: Decimal mark of the numbers of text tables, if it is named; see `answer_in`.
        no_answers: Columns of text tables that are no answers, whose numbers may be of any kind.

    Yields:
        The line of each record (in a JSON document its number), from 1, and the record.

    Raises:
        InvalidInput: The file cannot be read, or it cannot be told which mark of a column is decimal.
    """
    if not Path(path).exists():
        raise InvalidInput("no such file or folder", where=path)
    form = ""
    with suppress(UsageError):
        form = format_of(path)
    if form not in {"json", "jsonl", "csv", "tsv"}:
        raise InvalidInput("expected a .json, .jsonl, .csv or .tsv file", where=path)
    with opened(path) as stream:
        if form in {"json", "jsonl"}:
            batches = json_records(stream, path, Reading()) if form == "json" else json_lines(stream, path)
            for lines, records in batches:
                yield from zip(lines, records, strict=True)
            return
        table = Delimited(stream, path, usual="," if form == "csv" else "\t")
        numbers = {name: place for place, name in enumerate(table.names) if name not in no_answers}
        marks = NumberMarks(path, numbers, semicolons=table.decimal_commas)
        for lines, rows in table.rows():
            if decimal is None:
                marks.see(lines, rows)
            for line, cells in zip(lines, rows, strict=True):
                yield line, dict(zip(table.names, cells, strict=True))
        marks.settle()


def parsed(cell: object) -> object:
    """Value of a cell: JSON where it is an array or object in JSON, else the cell itself.

    Args:
        cell: The cell.

    >>> parsed('[{"rating": 4}]'), parsed("[sic] not JSON")
    ([{'rating': 4}], '[sic] not JSON')
    """
    if isinstance(cell, str) and cell[:1] in {"[", "{"}:
        try:
            return msgspec.json.decode(cell)
        except msgspec.DecodeError:
            return cell
    return cell


def answer_in(record: Record, field: str, where: str, line: int, decimal: str | None = None) -> object:
    """Value of a cell with an answer; see `parsed`.

    Args:
        record: The record.
        field: The field, which is there.
        where: The file.
        line: Its line.
        decimal: Decimal mark of numbers, if it is named.

    Raises:
        InvalidInput: A number is none by that mark.

    >>> row = {"quality": "1.000", "tone": "1. kind"}
    >>> [answer_in(row, name, "x.csv", 2, ",") for name in row]
    ['1000', '1. kind']
    """
    cell = record[field]
    if decimal is None or not isinstance(cell, str) or isinstance(number_in(_digits(cell)), str):
        return parsed(cell)
    number = number_text(cell.strip(), decimal)
    if number is None:
        problem = Message(
            "expected a number with '{mark}' before its decimals, as {decimal} says, got {got}",
            mark=decimal,
            decimal=Setting("decimal"),
            got=shown(cell),
        )
        raise InvalidInput(problem, where=where, line=line, field=field)
    return number


def _digits(cell: str) -> str:
    """A cell without points and commas."""
    return cell.replace(".", "").replace(",", "")


def id_in(record: Record, field: str, where: str, line: int, advice: str = "") -> str:
    """Id in a field of a record.

    Args:
        record: The record.
        field: The field, which is there.
        where: The file.
        line: Its line.
        advice: Remedy, with what stands before it.

    Raises:
        InvalidInput: It is missing, or neither text nor an integer.

    >>> id_in({"item": 7}, "item", "x.json", 1)
    '7'
    """
    value = record[field]
    if blank(value):
        got = "null" if value is None else "an empty text"
        problem = Message("missing; expected text or an integer, got {got}{advice}", got=got, advice=advice)
        raise InvalidInput(problem, where=where, line=line, field=field)
    if not isinstance(value, str) and not is_integer(value):
        raise InvalidInput(f"expected text or an integer, got {shown(value)}", where=where, line=line, field=field)
    return as_id(str(value))


def blank(value: object) -> bool:
    """True for a missing value and an empty text.

    Args:
        value: Value of a field.
    """
    return value is None or (isinstance(value, str) and not value.strip())


def number_in(text: str) -> float | str:
    """Number that a text is, else the text.

    Args:
        text: The text.

    >>> number_in(" 4 "), number_in("good"), number_in("nan"), number_in("1_000")
    (4.0, 'good', 'nan', '1_000')
    """
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and "_" not in text:
            return number
    return text
