"""View of the result of `postil combine fit`."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.results.formats import listed, noted, value_with_interval
from postil.results.names import control
from postil.results.numbers import signed
from postil.results.table import Figure, Interval, Name, Number, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.combination.result import CombinationColumn, CombinationResult
    from postil.data.parts import Estimate

__all__ = ["columns_table", "fits_table", "head", "verdict", "view"]

CONTROLS: Final = "controls only"
DIFFERENCE: Final = "difference"

Line = tuple[str, "Estimate | None", "Estimate | None", "float | None"]
"""Name of a row, correlation over all texts, that within items, and root mean squared error."""


def lines(result: CombinationResult) -> Iterator[Line]:
    """The combination, the controls alone and their difference.

    Args:
        result: The result.
    """
    yield "combination", result.combination.pool, result.combination.item, result.combination.rmse
    if result.controls is not None:
        yield CONTROLS, result.controls.pool, result.controls.item, result.controls.rmse
    if result.difference is not None:
        yield DIFFERENCE, result.difference.pool, result.difference.item, None


def view(result: CombinationResult) -> View:
    """The combination, the controls alone, their difference, and each metric by itself.

    Args:
        result: The result.
    """
    said = f"{result.settings.method} of {counted(len(result.columns), 'metric')}"
    alone = "" if result.controls is None else f"; controls only {_cell(result.controls.pool)}"
    return View(
        line=f"{said}, out-of-fold Pearson {_cell(result.combination.pool)}{alone}",
        rows=list(_rows(result)),
        grids=[fits_table(result), columns_table(result)],
        head=head(result),
        remarks=[
            *([f"controls only: {listed(list(map(control, result.controls.columns)))}"] if result.controls else ()),
            *noted(result.notes),
            *(f"excluded: {each}" for each in result.excluded),
        ],
        signatures=[result.signature],
    )


def fits_table(result: CombinationResult) -> Table:
    """The combination, the controls alone and their difference, out of fold.

    Args:
        result: The result.
    """
    return Table(
        key="combination",
        caption="Pearson correlation of out-of-fold grades with mean ratings, 95 % confidence intervals over items in "
        "brackets, and root mean squared error in grades; the difference is on the same resamples",
        rows=list(lines(result)),
        columns=(
            Name("out of fold", itemgetter(0)),
            Interval("Pearson", "value", at=itemgetter(1), signed=_is_difference),
            Interval("within items", "value", at=itemgetter(2), signed=_is_difference),
            Number("RMSE", itemgetter(3)),
        ),
        kind=lambda line: "control" if line[0] == CONTROLS else "",
    )


def _is_difference(line: Line) -> bool:
    return line[0] == DIFFERENCE


def columns_table(result: CombinationResult) -> Table:
    """Each metric alone.

    Args:
        result: The result.
    """
    weighted = any(column.weight is not None for column in result.columns)
    boosted = any(column.gain is not None for column in result.columns)
    weights = "; weights of the ridge regression on all texts, in grades per standard deviation" if weighted else ""
    gains = "; gain: share in the reduction of the squared error by the trees" if boosted else ""
    return Table(
        key="columns",
        caption=f"Each metric alone on the same texts{weights}{gains}",
        rows=result.columns,
        columns=(
            Name("metric", "metric", plain="metric alone"),
            Interval("Pearson", "value", at=attrgetter("pool")),
            Interval("within items", "value", at=attrgetter("item")),
            *([Figure("weight", _weight)] if weighted else ()),
            *([Number("gain", "gain")] if boosted else ()),
        ),
    )


def _weight(column: CombinationColumn) -> str | None:
    return None if column.weight is None else signed(column.weight).replace("\N{MINUS SIGN}", "-")


def _rows(result: CombinationResult) -> Iterator[dict[str, object]]:
    for name, pool, item, rmse in lines(result):
        signature = result.signature if name == "combination" else ""
        yield {"name": name, **_parts(pool, item), "rmse": rmse, "weight": None, "gain": None, "signature": signature}
    for column in result.columns:
        numbers = {"rmse": None, "weight": column.weight, "gain": column.gain, "signature": column.signature}
        yield {"name": column.metric, **_parts(column.pool, column.item), **numbers}


def _parts(pool: Estimate | None, item: Estimate | None) -> dict[str, object]:
    return {
        f"{prefix}{part}": None if value is None else getattr(value, field)
        for prefix, value in (("", pool), ("within_", item))
        for part, field in (("pearson", "value"), ("low", "low"), ("high", "high"))
    }


def _cell(value: Estimate | None) -> str:
    return "-" if value is None else value_with_interval(value.value, value.low, value.high)


def head(result: CombinationResult) -> str:
    """One line about the method and the data.

    Args:
        result: The result.
    """
    given = result.settings
    bounded = ", monotone" if given.monotone else ""
    aspect = f", aspect {given.aspect}" if given.aspect else ""
    return (
        f"{result.metric}: {given.method}{bounded} of {counted(len(result.columns), 'metric')}; "
        f"{counted(len(result.texts.items), 'text')} of {counted(result.items, 'item')} and "
        f"{counted(result.systems, 'system')}{aspect}, {given.folds} folds of items"
    )


def verdict(result: CombinationResult) -> str:
    """Sentence about the combination beside the controls alone.

    Args:
        result: The result.
    """
    both = result.difference.pool if result.difference is not None else None
    if both is None or both.low is None or both.high is None:
        return ""
    if both.low <= 0 <= both.high:
        return "on new items the combination correlates with the ratings no better than length and mean weight alone"
    more = "more" if both.value > 0 else "less"
    value = value_with_interval(both.value, both.low, both.high)
    return f"on new items the combination correlates {more} with the ratings than the controls alone, by {value}"
