"""The section of a passage ranking on the length of the passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.page.blocks import Facts, Paragraph
from postil.passages.view import Ranking, lengths_table, undefined_correlations
from postil.results.formats import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.page.blocks import Block
    from postil.passages.gains import Gains
    from postil.passages.result import GainByLength, LengthThird
    from postil.results.table import Table

__all__ = ["gains_by_length"]

SAID: Final = (
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
    lines = [
        Ranking(title, title, {}, "group")
        if title
        else Ranking(look.short[name], look.full(name), {}, length=rows[name])
        for title, name in look.sections()
        if title or name in rows
    ]
    list_of = "the list" if look.result.settings.pool == "all" else "each topic"
    caption = (
        f"nCG@{first.k:,} by length: the mean of three thirds of {list_of} by number of words, and each third; "
        "Spearman correlation of scores and grades, the same with the number of words partialled out, and that of "
        "scores and numbers of words"
    )
    if any(row.ncg.low is not None for row in rows.values()):
        caption += f"; 95 % confidence intervals over {look.units} in brackets"
    return lengths_table(lines, caption)


def _size(third: LengthThird) -> str:
    words = f"{third.shortest:,}" if third.shortest == third.longest else f"{third.shortest:,} to {third.longest:,}"
    return f"{counted(third.n, 'passage')} of {words} words"
