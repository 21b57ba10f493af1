"""A table of 55 texts, 151 grades and two metrics, whose numbers an audit is checked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.grades import Scale
from postil.data.rows import Judgement, Score
from postil.meta.table import join

if TYPE_CHECKING:
    from postil.meta.table import Table


def rows_p() -> tuple[list[Score], list[Judgement]]:
    """12 items by 5 systems with holes, metrics m, j and control:length, raters r0 to r2 on the scale 1:5."""
    scores, judgements = [], []
    for i in range(12):
        for s in range(5):
            if (5 * i + s) % 11 == 10:
                continue
            item, system = f"q{i:02}", "ABCDE"[s]
            q = (2 * i + 3 * s + (i * s) % 4) % 9
            values = {
                "m": (q + (7 * i + 5 * s) % 6) / 4,
                "j": 1 + min(4, (q + (3 * i + s) % 4) // 2),
                "control:length": 10 + 3 * q + (5 * i + 7 * s) % 13,
            }
            scores += [Score(item, system, name, float(value)) for name, value in values.items()]
            judgements += [
                Judgement(item, system, f"r{r}", float(1 + min(4, (q + (i + s + r) % 3) // 2)))
                for r in range(3)
                if r < 2 or (i + s) % 4
            ]
    return scores, judgements


def table_p() -> Table:
    """The same, joined."""
    return join(*rows_p(), scale=Scale(1, 5))
