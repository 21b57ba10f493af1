"""A study as text: its tables, each below what it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from postil.app.report.read import typed
from postil.app.report.results import Study
from postil.app.report.studies import study_sheet
from postil.escaping import visible
from postil.render.formats import grid_as

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from postil.app.report.blocks import Sheet
    from postil.render.formats import Grid

__all__ = ["study_as"]

BELOW: Final = "… "
"""Before the name of a row that belongs to the one above."""


def study_as(form: Literal["table", "markdown"], study: Mapping[str, Any], keys: Collection[str] = ()) -> str:
    """Lay out a study, or some of its tables.

    Args:
        form: How.
        study: What is in ``study.json``.
        keys: Tables, each by its key; all if there are none, and then all words too.

    Raises:
        InvalidInput: It is no study.
    """
    (found,) = typed([study])
    if not isinstance(found, Study):
        raise TypeError(f"expected a study, got {type(found).__name__}")
    blocks = [f"# {found.title}", found.data, *found.conclusion] if not keys else []
    for part in found.parts:
        tables = [study_sheet(table) for table in part.tables if not keys or table.key in keys]
        blocks += [f"## {part.title}", *part.words] if not keys else []
        blocks += [f"{sheet.caption}\n\n{grid_as(form, _grid(sheet))}".rstrip() for sheet in tables]
    if not keys:
        blocks += ["## Settings", "\n".join(f"- {name}: {value}" for name, value in found.settings)]
    return visible("\n\n".join(filter(None, blocks)) + "\n")


def _grid(sheet: Sheet) -> Grid:
    return [list(sheet.head), *_rows(sheet)]


def _rows(sheet: Sheet) -> Iterator[list[str]]:
    for line in sheet.lines:
        name = f"{BELOW}{line.name}" if line.kind == "control" else line.name
        yield [name, *map(str, line.cells or [""] * (len(sheet.head) - 1))]
