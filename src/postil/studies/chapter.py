"""The chapter of a study: its own tables and pictures, in its own order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from postil.passages.view import curve
from postil.results.page.blocks import Block, Chapter, Facts, Paragraph, Picture, Section
from postil.results.plots.bars import amounts
from postil.results.plots.lines import curves
from postil.results.plots.points import ScatterPanel, scatter
from postil.studies.view import study_table, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.results.page.blocks import Numbers
    from postil.results.plots import Figure
    from postil.studies.result import StudyPart, StudyPicture, StudyResult

__all__ = ["chapter", "pictures"]


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
