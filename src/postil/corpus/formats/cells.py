"""Rows of text tables and workbooks, broken ones counted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeAlias

from postil.errors import InvalidInput
from postil.escaping import without_apostrophe
from postil.messages import Blank, Message, Setting
from postil.records.cells import BrokenCell
from postil.records.decimal_marks import NumberMarks, number_text
from postil.records.delimited import Delimited, column_names
from postil.records.explain import shown
from postil.records.reading import Reading
from postil.records.streams import opened
from postil.records.workbooks import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from postil.corpus.formats.import_report import ImportReport
    from postil.records.row_files import FilePath

__all__ = ["Row", "table_rows"]

Row: TypeAlias = dict[str, str | None]
"""The cells of a row by column; None for an empty one."""

TABS: Final = (".tsv", ".tab", ".txt")
WORKBOOKS: Final = (".xlsx", ".xlsm", ".ods")


def table_rows(
    path: FilePath,
    report: ImportReport,
    needed: AbstractSet[str] = frozenset(),
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    apostrophes: bool = False,
    sheet: str | None = None,
    numbers: AbstractSet[str] = frozenset(),
    decimal: str | None = None,
) -> Iterator[tuple[int, Row]]:
    """The rows of a table whose first row names its columns.

    Args:
        path: The file; text may be compressed, whatever its name.
        report: Counts; broken rows are rejected.
        needed: Columns that it must have.
        encoding: Its encoding; by default UTF-8, and if it is not, detected. A byte order mark is ignored.
        delimiter: Character between columns; by default the one under which the columns have their names.
        quotes: True if cells may be quoted with double quotes.
        apostrophes: True if postil exported the table, with apostrophes before what a spreadsheet would run; they are
            removed.
        sheet: Sheet of a workbook.
        numbers: Columns of numbers.
        decimal: Decimal mark of numbers that are text, if it is named; they get a point.

    Yields:
        The line where the row begins, counted from 1, and its cells by column; None for an empty one.

    Raises:
        UsageError: The encoding or the delimiter is none.
        InvalidInput: There is no such file, it is empty, a column is missing or stands twice, or nothing says which
            mark of a column of numbers is decimal.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        table: Delimited | Sheet
        if where.lower().endswith(WORKBOOKS):
            table = Sheet(stream, where, needed, Reading(sheet=sheet))
        else:
            table = Delimited(
                stream,
                where,
                needed,
                encoding=encoding,
                delimiter=delimiter,
                usual="\t" if where.lower().removesuffix(".gz").removesuffix(".zst").endswith(TABS) else ",",
                quotes=quotes,
                refuse=report.refuse,
            )
        if missing := sorted(needed - set(table.names)):
            what = f"no such column{'s' * (len(missing) > 1)}; the table has: {column_names(table.names)}"
            message = Message(
                "{what}; name yours with {column}, such as {title} {text}",
                what=what,
                column=Setting("column"),
                title=Setting("column", Blank("title=COLUMN")),
                text=Setting("column", Blank("comments.text=COLUMN")),
            )
            raise InvalidInput(message, where=where, line=table.line, field=", ".join(missing))
        if table.detected:
            report.detected.append(f"{where}: read{table.detected}")
        places = {name: place for place, name in enumerate(table.names) if name in numbers}
        marks = NumberMarks(where, {} if decimal else places, semicolons=table.decimal_commas)
        for lines, rows in table.rows():
            marks.see(lines, rows)
            for line, cells in zip(lines, rows, strict=True):
                row = dict(zip(table.names, map(_text, cells), strict=True))
                if decimal:
                    row |= {name: _by_mark(cells[place], decimal) for name, place in places.items()}
                broken = next(((name, cell) for name, cell in row.items() if isinstance(cell, BrokenCell)), None)
                if broken is not None:
                    problem = Message("expected {problem}", problem=broken[1].message)
                    report.refuse(InvalidInput(problem, where=where, line=line, field=broken[0]))
                elif apostrophes:
                    yield line, {name: cell and without_apostrophe(cell) for name, cell in row.items()}
                else:
                    yield line, row
        marks.settle()


def _by_mark(cell: object, decimal: str) -> str | None:
    """A cell of numbers as text, by the decimal mark that is named."""
    if not isinstance(cell, str) or isinstance(cell, BrokenCell) or not any(map(str.isdecimal, cell)):
        return _text(cell)
    number = number_text(cell.strip(), decimal)
    wrong = Message(
        "a number, got {cell}; {setting} says that '{decimal}' stands before the decimals",
        cell=shown(cell),
        setting=Setting("decimal"),
        decimal=decimal,
    )
    return BrokenCell(wrong) if number is None else number


def _text(cell: object) -> str | None:
    """A cell as text; numbers as a spreadsheet shows them."""
    if isinstance(cell, str):
        return cell or None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
