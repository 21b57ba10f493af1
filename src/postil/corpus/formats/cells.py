"""Rows of CSV and TSV."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from postil.corpus.lines import DAMAGE, damaged, opened
from postil.errors import InvalidInput, UsageError
from postil.escaping import one_line, without_apostrophe
from postil.records.explain import shown
from postil.records.jsonl import check_length

if TYPE_CHECKING:
    import _csv
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from postil.corpus.formats.import_report import ImportReport
    from postil.records.row_files import FilePath

__all__ = ["LONGEST", "Row", "table_rows"]

Row: TypeAlias = dict[str, str | None]
"""The cells of a row by column; None for an empty one."""

LONGEST: Final = 1 << 24
"""Largest number of characters per cell; beyond that a quote was not closed."""

MOST_NAMES: Final = 200
"""Largest number of characters of column names in a message."""

TABS: Final = (".tsv", ".tab", ".txt")
BROKEN: Final = re.compile("[\udc80-\udcff]")  # how Python writes down bytes that it could not decode


def table_rows(
    path: FilePath,
    report: ImportReport,
    needed: AbstractSet[str] = frozenset(),
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotes: bool = True,
    apostrophes: bool = False,
) -> Iterator[tuple[int, Row]]:
    """The rows of a table whose first row names its columns.

    Args:
        path: The file; it may be compressed with gzip, whatever its name.
        report: Counts; broken rows are rejected.
        needed: Columns that it must have.
        encoding: Its encoding; a byte order mark is passed over.
        delimiter: Character between columns; by default by the file name.
        quotes: True if cells may be quoted with double quotes.
        apostrophes: True if postil exported the table, with apostrophes before what a spreadsheet would run; they are
            removed.

    Yields:
        The line where the row begins, counted from 1, and its cells by column; None for an empty one.

    Raises:
        UsageError: The encoding or the delimiter is none.
        InvalidInput: There is no such file, it is empty, or a column is missing or stands twice.
    """
    where = os.fspath(path)
    between = _delimiter(where, delimiter)
    codec = _codec(encoding)
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    with opened(path) as stream:
        text = io.TextIOWrapper(
            cast("io.BufferedReader", _Lines(stream, where)), codec, errors="surrogateescape", newline=""
        )
        reader = csv.reader(
            text, delimiter=between, strict=True, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        )
        rows = _numbered(reader, path, report, encoding)
        if apostrophes:
            rows = ((line, list(map(without_apostrophe, cells))) for line, cells in rows)
        line, header = next(rows, (0, []))
        if not header:
            raise InvalidInput("the table is empty", where=where)
        for name in sorted(needed | set(header)):
            if header.count(name) != 1 and (name in needed or name):
                problem = f"no such column; the table has: {_names(header)}"
                problem = "the column stands twice; give one another name" if name in header else problem
                raise InvalidInput(problem, where=where, line=line, field=name)
        for line, cells in rows:
            problem = _broken(cells, len(header), encoding)
            if problem:
                report.refuse(InvalidInput(problem, where=where, line=line))
            else:
                yield line, {name: cell or None for name, cell in zip(header, cells, strict=True)}


class _Lines(io.BufferedIOBase):
    """A file none of whose lines is too long to be one."""

    def __init__(self, stream: io.BufferedReader, where: str) -> None:
        self._stream, self._where, self._held = stream, where, 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1, /) -> bytes:
        data = self._stream.read1(size)
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._held = len(data) - 1 - end if end >= 0 else self._held + len(data)
        check_length(self._held, self._where, 0)
        return data


def _numbered(
    reader: _csv.Reader, path: FilePath, report: ImportReport, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"{error}; a quote that is not closed or not doubled? A table without quoting: --no-quotes"
            report.refuse(InvalidInput(problem, where=os.fspath(path), line=line))
            continue
        except UnicodeError as error:
            problem = f"not {encoding}: {error}; name the encoding with --encoding"
            report.refuse(InvalidInput(problem, where=os.fspath(path), line=line))
            return
        except InvalidInput as error:  # a line without end
            report.refuse(InvalidInput(error.problem, where=os.fspath(path), line=line))
            return
        except DAMAGE as error:
            report.refuse(damaged(error, path, reader.line_num))
            return
        if cells:
            yield line, cells


def _names(header: list[str]) -> str:
    """The columns, for a message; what is no table may have a line of any length."""
    names = ", ".join(header)
    return one_line(names if len(names) <= MOST_NAMES else f"{names[:MOST_NAMES]}…")


def _broken(cells: list[str], columns: int, encoding: str) -> str:
    if len(cells) != columns:
        return f"expected {columns} columns, got {len(cells)}"
    for cell in cells:
        if not cell.isascii() and (bad := BROKEN.search(cell)):
            return f"byte 0x{ord(bad[0]) - 0xDC00:02x} is not {encoding}; name the encoding with --encoding"
    return ""


def _delimiter(where: str, given: str | None) -> str:
    if given is None:
        return "\t" if where.lower().removesuffix(".gz").endswith(TABS) else ","
    between = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(between) != 1 or between in '"\r\n':
        raise UsageError(f"one character stands between columns, or the word tab; got {shown(given)}")
    return between


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeDecodeError):
            b"a".decode(name, "surrogateescape")
    except (LookupError, ValueError):  # no encoding, or one of something else than text
        raise UsageError(f"unknown encoding '{encoding}'; for example utf-8, gb18030, latin-1, utf-16") from None
    return "utf-8-sig" if name == "utf-8" else name
