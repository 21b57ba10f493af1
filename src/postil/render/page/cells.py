"""Cells of tables, and tables cut after a number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.render.numbers import DASH, interval, number, p_value, signed
from postil.render.page.blocks import Cell, Sheet
from postil.render.page.lookup import ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.records.results import Correlation, Difference, Estimate, GainDifference
    from postil.render.page.blocks import Line

__all__ = ["NONE", "difference", "ended", "of_p", "plain_value", "whole", "with_interval"]

ROWS: Final = 1000
"""Largest number of rows of a table on the page; the CSV files have all."""

NONE: Final = Cell(DASH)
"""The cell of a missing number."""


def whole(n: int) -> Cell:
    """A count."""
    return Cell(f"{n:,}", value=n)


def plain_value(value: float | None) -> Cell:
    """A number without an interval, if there is one."""
    return NONE if value is None else Cell(number(value), value=value)


def with_interval(row: Correlation | Estimate | None) -> Cell:
    """A number with its interval, if there is one."""
    return NONE if row is None else Cell(number(row.value), interval(row.low, row.high), row.value)


def difference(row: Difference | GainDifference | None) -> Cell:
    """A difference, if there is one; strong where its test holds after Holm's correction."""
    if row is None:
        return NONE
    strong = row.p_holm is not None and row.p_holm < ALPHA
    return Cell(signed(row.value), interval(row.low, row.high), row.value, strong)


def of_p(p: float | None) -> Cell:
    """A p-value, if there is one."""
    return NONE if p is None else Cell(p_value(p), value=p)


def ended(key: str, caption: str, head: tuple[str, ...], lines: Sequence[Line]) -> Sheet:
    """A table of at most `ROWS` rows.

    Args:
        key: Identifier, for ids and file names.
        caption: Its caption.
        head: Labels of the columns.
        lines: All rows.
    """
    more = f" (the first {ROWS:,} rows of {len(lines):,})" if len(lines) > ROWS else ""
    return Sheet(key, caption + more, head, tuple(lines[:ROWS]))
