"""Records of a file in any of the formats that annotation tools export."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.errors import InvalidInput, UsageError
from postil.records.delimited import Delimited
from postil.records.json_tables import json_lines, json_records
from postil.records.reading import Reading
from postil.records.row_files import format_of
from postil.records.streams import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.record_rows import Record

__all__ = ["blank", "number_in", "parsed", "records_of"]


def records_of(path: str) -> Iterator[tuple[int, Record]]:
    """Records of a JSON, JSON Lines, CSV or TSV file.

    Args:
        path: The file; it may be compressed.

    Yields:
        The line of each record (in a JSON document its number), from 1, and the record.

    Raises:
        InvalidInput: The file cannot be read.
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
        for lines, rows in table.rows():
            for line, cells in zip(lines, rows, strict=True):
                yield line, dict(zip(table.names, cells, strict=True))


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

    >>> number_in(" 4 "), number_in("good"), number_in("nan")
    (4.0, 'good', 'nan')
    """
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number):
            return number
    return text
