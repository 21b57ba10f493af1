"""Studies as text: their tables, each below its caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from postil.escaping import visible
from postil.render.formats import counted, grid_as
from postil.render.numbers import DASH, interval, number
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from postil.records.results import StudyCell, StudyResult, StudyTable
    from postil.render.formats import Grid

__all__ = ["cell_text", "study_text", "summary", "table_rows", "view"]

INDENT: Final = "… "
"""Before the name of a row that belongs to the one above."""


def view(result: StudyResult) -> View:
    """The tables of a study as rows and grids.

    Args:
        result: The study.
    """
    tables = [table for part in result.parts for table in part.tables]
    rows = [{"table": table.key, **row} for table in tables for row in table_rows(table)]
    return View(
        rows=rows,
        grids=[_grid(table) for table in tables],
        fields=tuple(dict.fromkeys(name for row in rows for name in row)),
        head=result.title,
        remarks=result.conclusion,
    )


def study_text(form: Literal["table", "markdown"], result: StudyResult, keys: Collection[str] = ()) -> str:
    """A study, or some of its tables, as text.

    Args:
        form: Format of the tables.
        result: The study.
        keys: Tables, by key; if there are none, all of the study with its words.
    """
    blocks = [f"# {result.title}", result.data, *result.conclusion] if not keys else []
    for part in result.parts:
        tables = [table for table in part.tables if not keys or table.key in keys]
        blocks += [f"## {part.title}", *part.words] if not keys else []
        blocks += [f"{table.caption}\n\n{grid_as(form, _grid(table))}".rstrip() for table in tables]
    if not keys:
        blocks += ["## Settings", "\n".join(f"- {name}: {value}" for name, value in result.settings)]
    return visible("\n\n".join(filter(None, blocks)) + "\n")


def table_rows(table: StudyTable) -> list[dict[str, object]]:
    """The rows of a table with all digits; an interval has columns of its own.

    Args:
        table: The table.
    """
    rows = []
    for row in table.rows:
        if row.kind == "group":
            continue
        cells: dict[str, object] = {table.head[0] or "row": row.name}
        for name, cell in zip(table.head[1:], row.cells, strict=True):
            if isinstance(cell, tuple):
                cells |= {name: cell[0], f"{name} low": cell[1], f"{name} high": cell[2]}
            else:
                cells[name] = cell
        rows.append(cells)
    return rows


def cell_text(cell: StudyCell, digits: int) -> tuple[str, str]:
    """The text of a cell, and its interval.

    Args:
        cell: The cell.
        digits: Number of decimals.
    """
    if isinstance(cell, tuple):
        return number(cell[0], digits), interval(cell[1], cell[2], digits)
    if isinstance(cell, float):
        return number(cell, digits), ""
    return (DASH if cell is None else cell if isinstance(cell, str) else f"{cell:,}"), ""


def _grid(table: StudyTable) -> Grid:
    return [list(table.head), *_lines(table)]


def _lines(table: StudyTable) -> Iterator[list[str]]:
    for row in table.rows:
        cells = [" ".join(cell_text(cell, row.digits)).strip() for cell in row.cells]
        yield [INDENT * (row.kind == "control") + row.name, *(cells or [""] * (len(table.head) - 1))]


def summary(result: StudyResult) -> str:
    """The title, and the numbers of tables and pictures.

    Args:
        result: The study.
    """
    sizes = (sum(len(part.tables) for part in result.parts), sum(len(part.pictures) for part in result.parts))
    return f"{', '.join(map(counted, sizes, ('table', 'picture')))}: {result.title}"
