"""View, chapter and pictures of the result of `postil combine fit`."""

from __future__ import annotations

from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.combination.model import transformed
from postil.data.explain import counted
from postil.meta.parts import FEW_ITEMS
from postil.results.formats import listed, noted, value_with_interval
from postil.results.names import control
from postil.results.numbers import number, signed
from postil.results.page.blocks import Chapter, Facts, Picture, Section, facts, left_out, sentences
from postil.results.page.chapters import signatures
from postil.results.plots.lines import Curve, curves
from postil.results.plots.points import ScatterPanel, scatter
from postil.results.table import Figure, Interval, Name, Number, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.combination.result import CombinationColumn, CombinationFit, CombinationResult
    from postil.data.parts import Estimate

__all__ = ["chapter", "pictures", "view"]

CONTROLS: Final = "controls only"
DIFFERENCE: Final = "difference"

Line = tuple[str, "Estimate | None", "Estimate | None", "float | None"]
"""Name of a row, correlation over all texts, that within items, and root mean squared error."""

GROUPS: Final = 10
"""Largest number of groups of texts on a calibration line."""


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
        findings=[typical_error(result)],
        head=head(result),
        remarks=[
            *([f"controls only: {_controls(result.controls)}"] if result.controls else ()),
            *noted(result.notes),
            *(f"excluded: {each}" for each in result.excluded),
        ],
        signatures=[result.signature],
    )


def typical_error(result: CombinationResult) -> str:
    """Sentence on how far out-of-fold grades are off, and those by the controls alone.

    Args:
        result: The result.
    """

    def off(fit: CombinationFit) -> str:
        return f"{100 * fit.rmse:.0f} % of the maximum" if result.settings.shares else number(fit.rmse, 2)

    controls = result.controls
    alone = f"; by {_controls(controls)} alone: {off(controls)}" if controls is not None else ""
    return f"grades of items that a fit has not seen are off by {off(result.combination)} typically (RMSE){alone}"


def _controls(fit: CombinationFit) -> str:
    """The controls of a fit, which takes some as their logarithm: another length than that which `correlate` has."""
    return listed([f"logarithm of the {control(name)}" if transformed(name) else control(name) for name in fit.columns])


def fits_table(result: CombinationResult) -> Table:
    """The combination, the controls alone and their difference, out of fold.

    Args:
        result: The result.
    """
    return Table(
        key="combination",
        caption="Pearson correlation of out-of-fold grades with mean ratings, 95 % confidence intervals over items in "
        f"brackets, and root mean squared error in {_unit(result)}; the difference is on the same resamples",
        rows=list(lines(result)),
        columns=(
            Name("out of fold", itemgetter(0)),
            Interval("Pearson", "value", at=itemgetter(1), signed=_is_difference),
            Interval("within items", "value", at=itemgetter(2), signed=_is_difference),
            Number("RMSE", itemgetter(3)),
        ),
        kind=lambda line: "control" if line[0] == CONTROLS else "",
    )


def _unit(result: CombinationResult) -> str:
    return "shares of the maximum" if result.settings.shares else "grades"


def _is_difference(line: Line) -> bool:
    return line[0] == DIFFERENCE


def columns_table(result: CombinationResult) -> Table:
    """Each metric alone.

    Args:
        result: The result.
    """
    weighted = any(column.weight is not None for column in result.columns)
    boosted = any(column.gain is not None for column in result.columns)
    each = f"; weights of the ridge regression on all texts, in {_unit(result)} per standard deviation"
    weights = each if weighted else ""
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
    return None if column.weight is None else signed(column.weight).replace("−", "-")


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
    shares = "; grades are shares of the maximum of their item" if given.shares else ""
    return (
        f"{result.metric}: {given.method}{bounded} of {counted(len(result.columns), 'metric')}; "
        f"{counted(len(result.texts.items), 'text')} of {counted(result.items, 'item')} and "
        f"{counted(result.systems, 'system')}{aspect}, {given.folds} folds of items{shares}"
    )


def verdict(result: CombinationResult) -> str:
    """Sentence about the combination beside the controls alone.

    Args:
        result: The result.
    """
    both = result.difference.pool if result.difference is not None else None
    if both is None or both.low is None or both.high is None or result.items < FEW_ITEMS:
        return ""
    if both.low <= 0 <= both.high:
        return "on new items the combination correlates with the ratings no better than length and mean weight alone"
    more = "more" if both.value > 0 else "less"
    value = value_with_interval(both.value, both.low, both.high)
    return f"on new items the combination correlates {more} with the ratings than the controls alone, by {value}"


def chapter(result: CombinationResult, key: str) -> Chapter:
    """The chapter of a combination.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    of = [(result.metric, result.signature), *((column.metric, column.signature) for column in result.columns)]
    parts = (
        Section("out-of-fold", "Grades of items that a fit has not seen", (*pictures(result), fits_table(result))),
        Section("columns", "Metrics", (columns_table(result),)),
        Section("notes", "Notes", sentences(result.notes)),
        Section("data", "Data", (Facts(tuple(left_out(result.excluded))),)),
        Section("settings", "Settings", (_settings(result), signatures(of))),
    )
    return Chapter(
        key,
        "Combination of metrics",
        head(result),
        sentences(filter(None, [verdict(result)])),
        tuple(part for part in parts if part.blocks),
    )


def _settings(result: CombinationResult) -> Facts:
    given = result.settings
    return facts(
        ("command", given.command),
        ("method", given.method),
        ("ridge penalty", "" if given.penalty is None else f"{given.penalty:g}"),
        ("monotone in weights of references", "yes" if given.monotone else "no"),
        ("folds of items", f"{given.folds}"),
        ("resamples of items", f"{given.resamples:,} (seed {given.seed})"),
        ("controls", "" if result.controls is None else ", ".join(map(control, result.controls.columns))),
        ("scale", given.scale or ""),
        ("grades", "shares of the maximum of their item" if given.shares else ""),
        ("lower is better", ", ".join(given.lower_is_better)),
        ("hash of scores and ratings", given.data),
        ("postil", given.postil),
    )


def pictures(result: CombinationResult) -> Iterator[Picture]:
    """Out-of-fold grades against mean ratings, and their calibration line.

    Args:
        result: The result.
    """
    texts = result.texts
    ratings = np.asarray(texts.ratings, np.float64)
    found: list[tuple[str, Sequence[float], CombinationFit]] = [("combination", texts.grades, result.combination)]
    if result.controls is not None:
        found.append(("controls only", texts.controls, result.controls))
    columns = [(name, np.asarray(grades, np.float64), fit) for name, grades, fit in found]
    panels = [
        ScatterPanel(name, grades, ratings, f"Pearson {number(fit.pool.value)}" if fit.pool else "")
        for name, grades, fit in columns
    ]
    title = "Out-of-fold grades against ratings"
    caption = "Each text’s out-of-fold grade and mean rating, with the least-squares line"
    draw = partial(scatter, panels, xlabel="mean rating", ylabel="out-of-fold grade")
    yield Picture("grades", title, caption, f"{caption}; {counted(len(ratings), 'text')}", draw)
    series = []
    for name, grades, _ in columns:
        groups = np.array_split(np.argsort(grades, kind="stable"), min(GROUPS, len(grades)))
        means = np.array([[grades[rows].mean(), ratings[rows].mean()] for rows in groups])
        rising = np.flatnonzero(np.diff(means[:, 0], prepend=-np.inf) > 0)  # equal grades are one point
        series.append(Curve(name, means[rising, 0], means[rising, 1]))
    caption = "Mean rating of tenths of the texts by out-of-fold grade; on the dotted line grades are calibrated"
    draw = partial(curves, series, xlabel="out-of-fold grade", ylabel="mean rating", diagonal=True)
    yield Picture("calibration", "Calibration", caption, caption, draw)
