"""Chapters of results: that which the capability of a kind makes, else the tables of its view.

What the chapters of several capabilities have in common stands here too: signatures, the settings of tests, the source
of weights, forests of scores.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from postil.capabilities import kind, load
from postil.data.explain import counted
from postil.data.groups import grouped
from postil.results.formats import listed
from postil.results.names import is_control, reads_weights
from postil.results.numbers import number
from postil.results.page.blocks import (
    Block,
    Chapter,
    Collapsed,
    Numbers,
    Paragraph,
    Picture,
    Section,
    collapsed,
    facts,
    isolated,
)
from postil.results.plots.forest import IntervalRow, intervals
from postil.results.table import Name, Record, Table, Text
from postil.results.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.results.base import Result

__all__ = ["DRAWN", "chapter", "forests", "resampled", "signature_rows", "signatures", "viewed", "with_weights"]

DRAWN: Final = 60
"""Number of systems that are drawn."""

SCORES: Final = "scores"
"""Key of the picture of all metrics together."""


def chapter(result: Result, key: str) -> Chapter:
    """The chapter of a result.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    capability, found = kind(str(result.__struct_config__.tag))
    if not found.chapter:
        return viewed(result, key)
    made: Chapter = load(capability, found.chapter)(result, key)
    return made


def viewed(result: Result, key: str, *drawn: Block) -> Chapter:
    """The chapter of the tables of the result's view.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
        drawn: Pictures above the tables.
    """
    view, name = view_of(result), str(result.__struct_config__.tag)
    title = kind(name)[1].title or name
    several = len(view.grids) > 1
    sheets = [_numbered(name, title, table, number if several else 0) for number, table in enumerate(view.grids, 1)]
    numbers = Section(f"{name}-numbers", "Numbers", (*drawn, *sheets, *map(Paragraph, view.remarks)))
    return Chapter(key, title, view.head, tuple(map(Paragraph, view.findings)), (numbers,))


def _numbered(name: str, title: str, table: Table, number: int) -> Table:
    """A table of a view, with a number where there are several."""
    shown = [replace(column, only="") for column in table.columns if column.only != "page"]
    key, caption = (f"{name}-{number}", f"{title}, table {number}") if number else (name, title)
    return replace(table, key=key, caption=caption, columns=shown, long=False)


def with_weights(made: Chapter, weights: str, signatures: Mapping[str, str]) -> Chapter:
    """The chapter with the source of weights beside its data and in the caption of each table of weighted metrics.

    Args:
        made: The chapter.
        weights: The source; empty where it is not known.
        signatures: Signature of each metric.
    """
    if not weights:
        return made
    weighted = [name for name, signature in signatures.items() if reads_weights(name, signature)]

    def said(block: Block) -> Block:
        if isinstance(block, Collapsed):
            return replace(block, blocks=tuple(map(said, block.blocks)))
        if isinstance(block, Table) and block.shows(weighted):
            return replace(block, caption=f"{block.caption}; {weights}")
        return block

    parts = tuple(replace(part, blocks=tuple(map(said, part.blocks))) for part in made.parts)
    return replace(made, data=f"{made.data}; {weights}", parts=parts)


def signatures(rows: Iterable[tuple[str, str]], noun: str = "metric") -> Table:
    """All that the numbers of each metric depend on.

    Args:
        rows: Pairs of metric and signature.
        noun: Name of what has signatures.
    """
    return Table(
        key="signatures",
        caption=f"Signatures: all that a {noun}’s numbers depend on",
        rows=list(rows),
        columns=(Name(noun, itemgetter(0)), Text("signature", itemgetter(1))),
        kind=lambda row: "control" if is_control(row[0]) else "",
        long=True,
    )


def signature_rows(noun: str, signatures: Mapping[str, str]) -> Numbers:
    """The same as rows of a file.

    Args:
        noun: Name of what has signatures.
        signatures: The signatures by name.
    """
    return "signatures", [{noun: name, "signature": text} for name, text in signatures.items()]


def resampled(
    settings: Record,
    notes: Sequence[str],
    signatures_of: Mapping[str, str],
    turned: Sequence[str],
    correlation: str = "",
) -> Iterator[Block]:
    """The settings of intervals and tests over items, and the signatures.

    Args:
        settings: The options of the command, with numbers of resamples and of permutations.
        notes: Notes.
        signatures_of: Signature of each metric.
        turned: Metrics for which lower is better.
        correlation: Level of the correlations, in words; empty without any.
    """
    yield facts(
        ("command", settings.command),
        ("correlation", correlation),
        ("lower is better", listed(list(map(isolated, turned)))),
        ("intervals", f"95 % bootstrap, {counted(settings.resamples, 'resample')} of the items"),
        ("tests", f"{counted(settings.permutations, 'permutation')} of the items; Holm’s correction"),
        *(("note", note) for note in notes),
        ("seed", str(settings.seed)),
        ("postil", settings.postil),
    )
    yield from collapsed(signatures(signatures_of.items()))


def forests(caption: str, rows: Sequence[IntervalRow]) -> Iterator[Picture]:
    """All metrics on one axis where it runs from 0 to 1 for each, then every metric by itself.

    Args:
        caption: Name of the numbers.
        rows: The numbers; the group of each is its metric.
    """
    metrics = grouped((row.group, row) for row in rows)
    if len(metrics) > 1 and len(rows) <= DRAWN and all(0 <= row.value <= 1 for row in rows):
        yield _forest(SCORES, caption, [row for of in metrics.values() for row in of])
    for metric, of in metrics.items():
        few = f", the first {DRAWN} of {len(of):,} systems" if len(of) > DRAWN else ""
        yield _forest(metric, f"{caption} by {isolated(metric)}{few}", of[:DRAWN])


def _forest(key: str, caption: str, rows: Sequence[IntervalRow]) -> Picture:
    if any(row.low is not None for row in rows):
        caption = f"{caption}, 95 % confidence intervals"
    said = "; ".join(f"{row.group} of {row.name} {number(row.value)}" for row in rows)
    return Picture(key, key, caption, f"{caption}: {said}", partial(intervals, rows))
