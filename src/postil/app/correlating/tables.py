"""The tables of `postil correlate` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.app.correlating.files import PEOPLE
from postil.escaping import one_line
from postil.records.names import CEILING, ONE, family, metric_of
from postil.records.names import PEOPLE as SIDES
from postil.render.formats import counted, grid_as, short, value_with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.correlating.files import Findings
    from postil.metaeval.correlation import Correlation
    from postil.metaeval.significance import Difference
    from postil.render.formats import Grid

__all__ = ["all_rows", "called", "chosen_differences", "correlation_grid", "difference_grid", "disagreement", "head"]

FEW: Final = 6
"""Of so many metrics all pairs are shown where none belong together."""
LEVEL: Final = 0.05
CALLED: Final = {**SIDES, CEILING: "ceiling"}


def head(found: Findings) -> str:
    """What the numbers are over, in a line."""
    table = found.table
    aspect = f", {table.aspect}" if table.aspect else ""
    over = {"pool": "all texts together", "item": "mean of the items", "system": "means of the systems"}
    texts, items, systems = (
        counted(len(each), what) for each, what in ((table, "text"), (table.items, "item"), (table.systems, "system"))
    )
    return one_line(
        f"{texts} ({items}, {systems}), "
        f"{counted(len(table.ratings.grades), 'grade')} by {counted(len(table.ratings.names), 'annotator')}{aspect}; "
        f"{over[found.options.by]}; 95 % intervals over items"
    )


def correlation_grid(found: Findings) -> Grid:
    """A row a metric, control and side of people; a column a coefficient."""
    coefficients = found.options.coefficients
    lines: dict[str, dict[str, str]] = {name: {} for name in _names(found)}
    for row in all_rows(found):
        cell = value_with_interval(row.value, row.low, row.high)
        lines.setdefault(called(row.metric, found), {})[row.coefficient] = cell
    if found.human and found.human.ceiling is not None and "pearson" in coefficients:
        lines[called(CEILING, found)] = {"pearson": short(found.human.ceiling)}
    head = ["metric", *coefficients]
    return [head, *([name, *(cells.get(each, "-") for each in coefficients)] for name, cells in lines.items())]


def all_rows(found: Findings) -> Iterator[Correlation]:
    """The coefficients of metrics and controls, then those of people."""
    yield from found.correlations.rows
    if found.human:
        yield from found.human.rows


def called(name: str, found: Findings) -> str:
    """The name of a line; what is over all texts says so where the other lines are not.

    Args:
        name: A metric, a control or a side of people.
        found: What was found.
    """
    over = ", all texts" if name in {ONE, CEILING} and found.options.by != "pool" else ""
    return CALLED.get(name, name) + over


def _names(found: Findings) -> list[str]:
    """Each metric, followed by its controls; then what belongs to none."""
    table = found.table
    controls = [*(name for name in table.metrics if name.startswith("control:")), *table.draws]
    of: dict[str, list[str]] = {}
    for name in controls:
        of.setdefault(metric_of(name), []).append(name)
    named = [name for name in table.metrics if name not in controls]
    ordered = [each for name in named for each in (name, *of.get(name, ()))]
    return [*ordered, *(name for name in controls if name not in ordered)]


def chosen_differences(found: Findings) -> list[Difference]:
    """The differences that a reader asks for first: a weighted metric against its plain form and its controls.

    Where no metrics belong together so, all of a few metrics, and none of many.
    """
    rows = [row for each in found.differences for row in each.rows]
    related = [row for row in rows if family(row.first) == family(row.second)]
    return related or (rows if len(found.table.metrics) <= FEW else [])


def difference_grid(rows: Sequence[Difference], coefficients: Sequence[str]) -> Grid:
    """A row a pair, the weighted metric first; ``*`` where Holm's p is below .05.

    Args:
        rows: The differences.
        coefficients: The columns.
    """
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        turn = row.second.startswith("w-") and not row.first.startswith("w-")
        first, second = (row.second, row.first) if turn else (row.first, row.second)
        ends = (-row.value, -row.high, -row.low) if turn else (row.value, row.low, row.high)
        mark = "*" if row.p_holm is not None and row.p_holm < LEVEL else " "
        lines.setdefault(f"{first} - {second}", {})[row.coefficient] = value_with_interval(*ends) + mark
    return [
        ["difference (* p < .05)", *coefficients],
        *([pair, *(cells.get(each, "-") for each in coefficients)] for pair, cells in lines.items()),
    ]


def disagreement(found: Findings, first: str, second: str) -> str:
    """The texts on which two opinions differ most, each with what it says.

    Args:
        found: What was found.
        first: A metric.
        second: Another, or people.
    """
    rows = found.disagreements[first, second]
    opinions = [first] if second == PEOPLE else [first, second]
    grid = [["where they differ most", *opinions, "grade", "difference"]]
    for row in rows:
        numbers = (*row.normalised, row.grade, row.difference)
        grid.append([f"{row.item} by {row.system}", *(f"{number:.2f}" for number in numbers)])
    lines = grid_as("table", grid).splitlines()
    texts = (found.texts.get((row.item, row.system)) for row in rows)
    return "\n" + "".join(
        f"{line}\n" + (f"    {one_line(text)}\n" if text else "")
        for line, text in zip(lines, (None, None, *texts), strict=True)
    )
