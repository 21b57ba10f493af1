"""Formats: rows and grids as a terminal table, Markdown, LaTeX, CSV and JSON Lines."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import PurePath
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from postil.data.escaping import apostrophed, csv_writer, display_width, latex_line, latex_text, markdown_cell, one_line
from postil.messages import Message, spoken
from postil.results.names import labelled
from postil.results.numbers import plain_numbers, pointed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from msgspec import Struct

    from postil.data.streams import FilePath
    from postil.results.table import Table

__all__ = [
    "ESCAPES",
    "FILES",
    "FORMATS",
    "LAYOUTS",
    "Cells",
    "Format",
    "Grid",
    "Text",
    "card",
    "excerpt",
    "file_bytes",
    "grid_as",
    "joined",
    "listed",
    "noted",
    "plain_rows",
    "rows_as_cells",
    "rows_as_jsonl",
    "short",
    "value_with_interval",
]

Format = Literal["table", "json", "jsonl", "csv", "markdown", "latex", "html"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

FILES: Final[Mapping[str, Format]] = MappingProxyType(
    {
        ".txt": "table",
        ".json": "json",
        ".jsonl": "jsonl",
        ".csv": "csv",
        ".xlsx": "csv",
        ".md": "markdown",
        ".tex": "latex",
        ".html": "html",
    }
)
"""Format of a file that a result is printed into, by the ending of its name; a workbook has the cells of CSV."""

Text: TypeAlias = Literal["table", "markdown", "latex", "html"]
"""A format for people."""

DIGITS: Final = 3
"""Number of decimals where none is said."""

Grid = list[list[str]]
"""Rows of cells; the first row is the head, the first column holds names, all others numbers."""


def plain_rows(rows: Iterable[Mapping[str, object] | Struct]) -> list[Mapping[str, object]]:
    """Rows that are structs as the names and values of their fields.

    Args:
        rows: The rows.
    """
    from msgspec import UNSET, Struct, structs  # noqa: PLC0415 - the help of commands does without it

    def plain(row: Struct) -> dict[str, object]:
        return {name: value for name, value in structs.asdict(row).items() if value is not UNSET}

    return [plain(row) if isinstance(row, Struct) else row for row in rows]


def rows_as_jsonl(rows: Iterable[Mapping[str, object] | Struct]) -> str:
    """One row per line."""
    from msgspec import to_builtins  # noqa: PLC0415 - the same

    from postil.data.fields import plain_id  # noqa: PLC0415 - the same

    def line(row: Mapping[str, object]) -> str:
        said = {name: spoken(value) if isinstance(value, Message) else value for name, value in row.items()}
        return json.dumps(said, ensure_ascii=False, allow_nan=False, default=partial(to_builtins, enc_hook=plain_id))

    return "".join(f"{line(row)}\n" for row in plain_rows(rows))


@dataclass(frozen=True, slots=True)
class Cells:
    """A table of values, which is laid out at the end: as text, which is CSV, or as a workbook.

    People open CSV in spreadsheets, so a text that one would run has an apostrophe before it; the importer of CSV takes
    it away (``--apostrophes``).

    Args:
        grid: Rows of cells; the first row is the head. A `ShownNumber` says how a workbook shows it.

    >>> print(Cells([["system", "=x"], ["a", 0.5]]), end="")
    system,'=x
    a,0.5
    """

    grid: Sequence[Sequence[object]]

    def __str__(self) -> str:
        from postil.data.cells import ShownNumber  # noqa: PLC0415 - the help of commands does without it

        def written(cell: object) -> object:
            return cell.value if isinstance(cell, ShownNumber) else apostrophed(cell) if isinstance(cell, str) else cell

        out = io.StringIO(newline="")
        csv_writer(out).writerows(map(written, row) for row in self.rows())
        return out.getvalue()

    def rows(self) -> Iterator[Iterable[object]]:
        """The rows, in which lists and messages are texts."""
        return (map(_value, row) for row in self.grid)


def rows_as_cells(
    rows: Iterable[Mapping[str, object] | Struct],
    fields: Sequence[str] = (),
    digits: Mapping[str, int] | None = None,
) -> Cells:
    """Rows below a head: the fields, by default those of the first row.

    Args:
        rows: The rows.
        fields: The fields.
        digits: Number of decimals that a workbook shows of a field; of others `DIGITS`, unless all numbers are too
            small for them. None to show all numbers whole.
    """
    plain = plain_rows(rows)
    names = list(fields or (plain[0] if plain else ()))
    columns = [[row.get(name) for row in plain] for name in names]
    if digits is not None:
        columns = [_shown(values, digits.get(name)) for name, values in zip(names, columns, strict=True)]
    return Cells([names, *zip(*columns, strict=True)])


def _shown(values: list[object], digits: int | None) -> list[object]:
    """The values of a column, numbers with how a workbook shows them."""
    from postil.data.cells import ShownNumber  # noqa: PLC0415 - the help of commands does without it

    if digits is None:
        largest = max((abs(value) for value in values if isinstance(value, float)), default=0.0)
        if largest < 10 ** (1 - DIGITS):
            return values
        digits = DIGITS
    return [ShownNumber(value, digits) if isinstance(value, float) else value for value in values]


def file_bytes(path: FilePath, shown: str | Cells) -> bytes:
    """Encode what is shown for a file; cells are a workbook where the name ends in ``.xlsx``, and HTML is ASCII.

    Args:
        path: The file.
        shown: Its text, or its cells.

    Raises:
        UsageError: A workbook cannot hold the cells.
    """
    ending = PurePath(path).suffix.lower()
    if ending == ".html":  # which says no encoding, so a browser would take its own
        return str(shown).encode("ascii", "xmlcharrefreplace")
    if ending != ".xlsx" or not isinstance(shown, Cells):
        return str(shown).encode(errors="backslashreplace")
    from postil.data.workbooks import workbook  # noqa: PLC0415 - only workbooks need it

    return workbook(str(path), shown.rows())


def joined(value: object) -> object:
    """A list as one text, and a pair in it with a colon, as ids of article and comment are given; others as they are.

    >>> joined([("a7", "c3"), ("a9", "c1")])
    'a7:c3; a9:c1'
    """
    if not isinstance(value, list | tuple):
        return value
    return "; ".join(":".join(map(str, each)) if isinstance(each, list | tuple) else str(each) for each in value)


def _value(value: object) -> object:
    value = joined(value)
    return spoken(value) if isinstance(value, str) else value


def grid_as(form: Text, grid: Grid | Table, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Lay a table out, or cells that are text already.

    Args:
        form: The format.
        grid: The table.
        names: Names of metrics in the table, by their specs.

    >>> print(grid_as("table", [["system", "bleu-4"], ["a", "0.5"]]), end="")
    system  bleu-4
    ------  ------
    a          0.5
    """
    cells = grid if isinstance(grid, list) else grid.grid(typeset=form in {"latex", "html"})
    named = [{} if head == "system" else names for head in cells[0]] if cells else []
    return LAYOUTS[form](
        [[ESCAPES[form](labelled(cell, of)) for cell, of in zip(row, named, strict=True)] for row in cells]
    )


def value_with_interval(
    value: float, low: float | None = None, high: float | None = None, digits: int = 3, *, zero: bool = False
) -> str:
    """``.523 [.481, .562]``; the value alone where there is no interval.

    Args:
        value: The value.
        low: Lower end of the interval; None where there is none.
        high: Upper end.
        digits: Number of decimals.
        zero: True for a 0 before the point.

    >>> value_with_interval(0.5227, 0.481, -0.02), value_with_interval(2.5e8, -1e-17, 3e8)
    ('.523 [.481, -.020]', '2.500e+08 [0, 3.000e+08]')
    """
    ends = [] if low is None or high is None else [low, high]
    first, *others = plain_numbers([value, *ends], digits, zero=zero)
    return f"{first} [{', '.join(others)}]" if others else first


def short(number: float) -> str:
    """Three decimals, without a 0 before the point, nor a sign before 0.

    >>> short(0.5227), short(-0.0001)
    ('.523', '.000')
    """
    return pointed(f"{number:.3f}")


def noted(notes: Iterable[str]) -> Iterator[str]:
    """Remarks that are notes of a result.

    Args:
        notes: The notes.
    """
    return (Message("note: {note}", note=note) for note in notes)


def listed(names: Sequence[str], last: str = "and", most: int | None = None) -> str:
    """A list of names in a sentence.

    Args:
        names: The names.
        last: The word before the last one.
        most: Number of names that are given where there are two more at least; None for all.


    >>> listed(["a", "b", "c"]), listed(["a"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    if most is not None and len(names) > most + 1:
        return f"{', '.join(names[:most])} {last} {len(names) - most:,} more"
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _padded(grid: Grid) -> Grid:
    """Names to the left, numbers to the right; wide characters take two columns."""
    widths = [max(map(display_width, column)) for column in zip(*grid, strict=True)]
    return [
        [
            cell + " " * (width - display_width(cell)) if place == 0 else " " * (width - display_width(cell)) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in grid
    ]


def _table(rows: Grid) -> str:
    rows = _padded(rows)
    rule = ["-" * display_width(cell) for cell in rows[0]]
    return "".join("  ".join(row).rstrip() + "\n" for row in (rows[0], rule, *rows[1:]))


def _markdown(rows: Grid) -> str:
    rule = ["---", *["---:"] * (len(rows[0]) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (rows[0], rule, *rows[1:]))


def _latex(rows: Grid) -> str:
    head, *lines = map(latex_line, rows)
    above = ["\\begin{tabular}{l" + "r" * (len(rows[0]) - 1) + "}", r"\toprule", head, r"\midrule"]
    return "\n".join([*above, *lines, r"\bottomrule", r"\end{tabular}", ""])


def _html(rows: Grid) -> str:
    head, *others = rows
    lines = [
        f'<tr><th scope="row" style="text-align:left">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, *cells in others
    ]
    names = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = ["<tbody>", *lines, "</tbody>"]
    return "\n".join(['<table class="dataframe">', f"<thead><tr>{names}</tr></thead>", *body, "</table>", ""])


ESCAPES: Final[Mapping[Text, Callable[[str], str]]] = {
    "table": one_line,
    "markdown": markdown_cell,
    "latex": lambda text: latex_text(text).replace("τ-", r"$\tau$-").replace("Δ", r"$\Delta$"),
    "html": lambda text: escape(one_line(text)),
}
"""Functions that write a text as a cell of each format."""

LAYOUTS: Final[Mapping[Text, Callable[[Grid], str]]] = {
    "table": _table,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
"""Functions that make a table of cells that are written in each format."""


def card(text: str, about: str, width: int) -> str:
    """A text as a paragraph, and a second text below it, indented.

    Args:
        text: The text.
        about: The text below; may be empty.
        width: Number of columns.

    >>> print(card("1. It rained on Ely all night.", "score 0.5", 22), end="")
    1. It rained on Ely
       all night.
       score 0.5
    """
    wide, later = max(width, 20), "   "
    lines = wrap(one_line(text), wide, subsequent_indent=later)
    # Ids and files stay whole.
    lines += wrap(one_line(about), wide, initial_indent=later, subsequent_indent=later, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def excerpt(text: str, width: int = 80) -> str:
    """Truncate a text for a cell, on one line.

    Args:
        text: The text.
        width: Maximum number of characters.
    """
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"
