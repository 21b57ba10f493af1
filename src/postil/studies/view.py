"""Studies as text and as chapters: their tables, each below its caption, and their pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from postil.data.escaping import visible
from postil.data.explain import counted
from postil.passages.view import curve
from postil.results.formats import grid_as
from postil.results.numbers import DASH, interval, number
from postil.results.page.blocks import Block, Chapter, Facts, Numbers, Paragraph, Picture, Section
from postil.results.plots.bars import amounts
from postil.results.plots.lines import curves
from postil.results.plots.points import ScatterPanel, scatter
from postil.results.table import Cell, Column, Name, Table, Value
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from postil.results.plots import Figure
    from postil.studies.result import StudyCell, StudyPart, StudyPicture, StudyResult, StudyRow, StudyTable

__all__ = ["cell_text", "chapter", "pictures", "study_text", "view"]

INDENT: Final = "… "
"""Before the name of a row that belongs to the one above."""


def view(result: StudyResult) -> View:
    """The tables of a study as rows and grids.

    Args:
        result: The study.
    """
    tables = [table for part in result.parts for table in part.tables]
    rows = [{"table": table.key, **row} for table in tables for row in table_rows(table)]
    sizes = (sum(len(part.tables) for part in result.parts), sum(len(part.pictures) for part in result.parts))
    return View(
        line=f"{', '.join(map(counted, sizes, ('table', 'picture')))}: {result.title}",
        rows=rows,
        grids=[study_table(table) for table in tables],
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
        blocks += [f"{table.caption}\n\n{grid_as(form, study_table(table))}".rstrip() for table in tables]
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


@dataclass(frozen=True, slots=True)
class _Number(Column):
    """A number of a study, with as many decimals as its row has."""

    def shown(self, value: Value, row: StudyRow) -> Cell:
        """See `Column`."""
        text, ends = cell_text(value, row.digits)
        return Cell(f"{text} {ends}".rstrip(), text, ends, words=self.words)


@dataclass(frozen=True, slots=True)
class _Words(_Number):
    """Words of a study, and numbers among them."""

    words: ClassVar[bool] = True


def study_table(table: StudyTable) -> Table:
    """A table of a study.

    Args:
        table: The table.
    """
    wordy = {place for row in table.rows for place, cell in enumerate(row.cells) if isinstance(cell, str)}
    return Table(
        key=table.key,
        caption=table.caption,
        rows=table.rows,
        columns=(
            Name(table.head[0], "name", plainly=lambda row: INDENT * (row.kind == "control") + row.name),
            *(
                (_Words if place in wordy else _Number)(head, itemgetter(place), at=attrgetter("cells"), none=DASH)
                for place, head in enumerate(table.head[1:])
            ),
        ),
        kind=attrgetter("kind"),
        groups=True,
    )


def chapter(found: StudyResult, key: str) -> Chapter:
    """The chapter of a study.

    Args:
        found: The study.
        key: Prefix of the chapter's ids.
    """
    parts = [Section(part.key, part.title, (*_blocks(part),)) for part in found.parts]
    if found.settings:
        parts.append(Section("settings", "Settings", (Facts(found.settings),)))
    conclusion = tuple(map(Paragraph, found.conclusion))
    return Chapter(key, found.title, found.data, conclusion, tuple(parts), tuple(_numbers(found)), leads=True)


def _numbers(found: StudyResult) -> Iterator[Numbers]:
    """The rows of the files beside the page."""
    for part in found.parts:
        yield from ((table.key, table_rows(table)) for table in part.tables)
        for picture in part.pictures:
            if picture.points:
                columns = {"human": picture.points.grades, **picture.points.scores}
                yield picture.key, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def pictures(found: StudyResult) -> Iterator[Picture]:
    """The pictures of a study.

    Args:
        found: The study.
    """
    return (_picture(picture) for part in found.parts for picture in part.pictures)


def _blocks(part: StudyPart) -> Iterator[Block]:
    yield from map(Paragraph, part.words)
    yield from map(study_table, part.tables)
    for picture in part.pictures:
        yield _picture(picture)


def _picture(picture: StudyPicture) -> Picture:
    draw: partial[Figure]
    if picture.curves:
        series = [curve(line, line.measure) for line in picture.curves]
        draw = partial(curves, series, xlabel=picture.xlabel, ylabel=picture.ylabel, log=True)
        names = [line.measure for line in picture.curves]
    elif picture.points is not None:
        grades, columns = np.asarray(picture.points.grades, np.float64), picture.points.scores
        notes = picture.notes or ("",) * len(columns)
        panels = [
            ScatterPanel(name, np.asarray(scores, np.float64), grades, note)
            for (name, scores), note in zip(columns.items(), notes, strict=True)
        ]
        draw = partial(scatter, panels, xlabel=picture.xlabel, ylabel=picture.ylabel)
        names = [f"{panel.title} {panel.note}" for panel in panels]
    else:
        draw = partial(amounts, picture.names, picture.counts, aside=picture.aside)
        names = list(picture.names)
    label = f"{picture.caption}: {'; '.join(names)}"
    return Picture(picture.key or picture.title, picture.title, picture.caption, label, draw)
