"""What a page says of a study: its own tables and pictures, which are laid out in the result itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from postil.app.report.blocks import Block, Cell, Chapter, Facts, Part, Picture, Sheet, Words
from postil.app.report.blocks import Line as SheetLine
from postil.app.report.pictures import curve
from postil.app.report.words import DASH, interval, number
from postil.plots import amounts, curves, svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.app.report.results import Study, StudyCell, StudyPicture, StudyRow, StudyTable

__all__ = ["study_chapter", "study_rows", "study_sheet"]


def study_chapter(found: Study, key: str) -> Chapter:
    """All that a study says, in its own order.

    Args:
        found: The study.
        key: A word that tells the chapter's ids from those of others.
    """
    parts = [Part(part.key, part.title, (*_blocks(found, place),)) for place, part in enumerate(found.parts)]
    if found.settings:
        parts.append(Part("settings", "Settings", (Facts(found.settings),)))
    return Chapter(key, found.title, found.data, tuple(map(Words, found.conclusion)), tuple(parts))


def study_rows(table: StudyTable) -> list[dict[str, object]]:
    """A table with all digits; an interval has columns of its own.

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


def study_sheet(table: StudyTable) -> Sheet:
    """A table as a page shows it.

    Args:
        table: The table.
    """
    wordy = {column for row in table.rows for column, cell in enumerate(row.cells) if isinstance(cell, str)}
    lines = (
        SheetLine(
            row.name,
            tuple(replace(_cell(cell, row), words=column in wordy) for column, cell in enumerate(row.cells)),
            row.kind,
        )
        for row in table.rows
    )
    return Sheet(table.key, table.caption, table.head, tuple(lines))


def _blocks(found: Study, place: int) -> Iterator[Block]:
    part = found.parts[place]
    yield from map(Words, part.words)
    for table in part.tables:
        yield study_sheet(table)
    for picture in part.pictures:
        yield Picture(picture.title, picture.caption, _drawn(picture))


def _cell(cell: StudyCell, row: StudyRow) -> Cell:
    if cell is None:
        return Cell(DASH)
    if isinstance(cell, str):
        return Cell(cell)
    if isinstance(cell, tuple):
        return Cell(number(cell[0], row.digits), interval(cell[1], cell[2], row.digits), cell[0])
    return Cell(f"{cell:,}" if isinstance(cell, int) else number(cell, row.digits), value=float(cell))


def _drawn(picture: StudyPicture) -> str:
    if picture.curves:
        drawn = curves(
            [curve(line, line.measure) for line in picture.curves],
            xlabel=picture.xlabel,
            ylabel=picture.ylabel,
            log=True,
        )
        names = "; ".join(line.measure for line in picture.curves)
    else:
        drawn = amounts(picture.names, picture.counts, aside=picture.aside)
        names = "; ".join(picture.names)
    return svg(drawn, f"{picture.caption}: {names}")
