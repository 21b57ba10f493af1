"""The section of a passage ranking on the length of the passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.render.formats import counted
from postil.render.numbers import interval, number
from postil.render.page.blocks import Cell, Facts, Paragraph, Row, Table
from postil.render.page.tables import NONE, plain_value
from postil.render.page.words import capital
from postil.render.passages import CORRELATIONS, undefined_correlations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import Estimate, GainByLength, LengthThird, ListCorrelation
    from postil.render.page.blocks import Block
    from postil.render.page.gains import Gains

__all__ = ["gains_by_length"]

SAID = (
    "A measure that merely prefers long passages, or short ones, has a high nCG where these have high grades, but not "
    "among passages of similar length. Scores that agree with grades beyond length have a partial correlation above 0."
)


def gains_by_length(look: Gains) -> Iterator[Block]:
    """A table with one row per ranking, the thirds, and the reasons of missing correlations.

    Args:
        look: The numbers.
    """
    rows = {row.name: row for row in look.result.by_length}
    if not rows:
        return
    yield Paragraph(SAID)
    yield _table(look, rows)
    thirds = next(iter(rows.values()))
    facts = [
        (f"{name} third", _size(third)) for name, third in zip(thirds.THIRDS, thirds.thirds, strict=True) if third.n
    ]
    absent = ((f"undefined: {which}", reason) for which, reason in undefined_correlations(rows.values()))
    yield Facts((*facts, *absent))


def _table(look: Gains, rows: dict[str, GainByLength]) -> Table:
    first = next(iter(rows.values()))
    several = len(look.groups) > 1
    lines: list[Row] = []
    for group in look.groups:
        if several:
            lines.append(Row(capital(group.title), (), "group"))
        lines += [_row(look, rows[name], several) for name in group.names if name in rows]
    if look.baselines:
        lines.append(Row("Baselines, which use no reference", (), "group"))
        lines += [_row(look, rows[name], several) for name in look.baselines if name in rows]
    list_of = "the list" if look.result.settings.pool == "all" else "each topic"
    caption = (
        f"nCG@{first.k:,} by length: the mean of three thirds of {list_of} by number of words, and each third; "
        "Spearman correlation of scores and grades, the same with the number of words partialled out, and that of "
        "scores and numbers of words"
    )
    if any(row.ncg.low is not None for row in rows.values()):
        caption += f"; 95 % confidence intervals over {look.units} in brackets"
    head = ("measure", "in thirds", *first.THIRDS, *CORRELATIONS.values())
    return Table("by-length", caption, head, tuple(lines))


def _row(look: Gains, row: GainByLength, several: bool) -> Row:  # noqa: FBT001
    cells = (
        _cell(row.ncg),
        *(plain_value(third.ncg) for third in row.thirds),
        *map(_cell, (row.spearman, row.partial, row.with_length)),
    )
    return Row(look.short[row.name], cells, full=row.name if several else "")


def _cell(found: Estimate | ListCorrelation) -> Cell:
    return NONE if found.value is None else Cell(number(found.value), interval(found.low, found.high), found.value)


def _size(third: LengthThird) -> str:
    words = f"{third.shortest:,}" if third.shortest == third.longest else f"{third.shortest:,} to {third.longest:,}"
    return f"{counted(third.n, 'passage')} of {words} words"
