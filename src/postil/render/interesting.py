"""View of `postil interesting`: ranked passages with the units that make their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.escaping import one_line
from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import InterestingResult

__all__ = ["summary", "view"]

SHOWN: Final = 80
"""Number of characters of a passage in a table."""


def view(result: InterestingResult) -> View:
    """Show ranked passages; rows have whole texts, tables their beginnings.

    Args:
        result: The result.
    """
    grid = [["passage", result.measure, "top units"]]
    for each in result.passages:
        text = f"{each.rank}. {one_line(each.text)}"
        grid.append(
            [
                text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…",
                "-" if each.score is None else f"{each.score:.4f}",
                ", ".join(map(str, each.reasons)),
            ]
        )
    rows = [{name: getattr(each, name) for name in each.__struct_fields__} for each in result.passages]
    return View(rows=rows, grids=[grid])


def summary(result: InterestingResult) -> str:
    """Number of passages, the measure, and the first passage.

    Args:
        result: The result.
    """
    first = "".join(f"; first: {each.text}" for each in result.passages[:1])
    return f"{counted(len(result.passages), 'passage')} by {result.measure}{first}"
