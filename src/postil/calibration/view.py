"""View of a calibration: precision against coverage, one row per threshold."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.calibration.result import CalibrationResult, CoveragePoint
from postil.comments.show_filter import COVERAGE
from postil.data.explain import counted
from postil.messages import Message, Setting
from postil.results.formats import excerpt, noted, value_with_interval
from postil.results.page.blocks import Picture
from postil.results.plots.figure import save
from postil.results.plots.lines import Curve, curves
from postil.results.table import Count, Interval, Name, Number, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from postil.results.plots import Figure

__all__ = ["draw_precision", "expectations", "pictures", "view"]

STEPS: Final = 10
"""Number of coverages that a table has."""


def view(result: CalibrationResult) -> View:
    """Make the view of a calibration.

    Args:
        result: The calibration.
    """
    remarks = [
        f"{one.n:,} {one.why}: {'; '.join(excerpt(text, 40) for text in one.examples)}" for one in result.excluded
    ]
    if result.points:
        how = (
            "precisions are expected ones, with intervals over resamples of the articles and the filter held fixed"
            if result.reorders
            else "Wilson intervals of the precision, with the filter held fixed"
        )
        remarks.append(
            f"the first {counted(result.depth, 'suggestion')} of an article; probabilities out of fold, by other "
            f"articles; {how}"
        )
    line = _line(result)
    reached = [_reaching(step / STEPS, result.points) for step in range(1, STEPS + 1) if result.points]
    measures = {"auc": "AUC", "precision": f"precision at coverage {COVERAGE:g}"}
    tables = (
        Table(
            rows=list(dict.fromkeys(reached)),
            columns=(
                Number("coverage", "coverage"),
                Number("threshold", "threshold"),
                Interval("precision", "precision"),
                Count("articles", "articles"),
            ),
        ),
        Table(
            rows=result.comparisons,
            columns=(
                Name("", lambda one: measures.get(one.measure, one.measure)),
                Interval("learned filter", "value", at=attrgetter("learned")),
                Interval("ranker's score", "value", at=attrgetter("score")),
                Interval("difference", "value", at=attrgetter("difference")),
            ),
        ),
    )
    return View(
        line=line,
        rows=result.points,
        fields=CoveragePoint.__struct_fields__,
        grids=[table for table in tables if table.rows],
        findings=expectations(result),
        head=line,
        remarks=[*remarks, *noted(result.notes)],
    )


def _reaching(coverage: float, points: Sequence[CoveragePoint]) -> CoveragePoint:
    return next((one for one in points if one.coverage >= coverage - 1e-9), points[-1])


def expectations(result: CalibrationResult) -> list[str]:
    """Sentences of what to expect of a filter, and of further labels.

    Args:
        result: The calibration.
    """
    return [_sentence(result), *_further(result)]


def _sentence(result: CalibrationResult) -> str:
    """A sentence of what to expect."""
    if not result.points or result.first_rate is None:
        return f"no filter: {result.reason}"
    point = _reaching(COVERAGE, result.points)
    of, good = round(100 * point.coverage), round(100 * point.coverage * point.precision)
    ends = f"{100 * point.low:.0f} to {100 * point.high:.0f}"
    by = "" if result.filter != "score" else " by the ranker's score, calibrated"
    without = f"without a filter the first one is for {100 * result.first_rate.value:.0f} of 100"
    return Message(
        "what to expect: with {coverage}{by}, {of} of 100 articles get a suggestion, and for about {good} of them the "
        "first is worth showing ({precision:.0f} %, 95 % interval {ends} %); {without}",
        coverage=Setting("coverage", COVERAGE),
        by=by,
        of=of,
        good=good,
        precision=100 * point.precision,
        ends=ends,
        without=without,
    )


def _further(result: CalibrationResult) -> Iterator[str]:
    """A sentence of what further labels bring."""
    if (more := result.further) is None or not result.points:
        return
    point = _reaching(COVERAGE, result.points)
    gain, half = more.gain, 50 * (point.high - point.low)
    yield Message(
        "{n} more labels are expected to change the precision of the surest three tenths by {gain:+.0f} points (in "
        "simulations {low:+.0f} to {high:+.0f}), and its interval from about ±{now:.0f} to ±{then:.0f} points",
        n=more.labels,
        gain=round(100 * gain.value),  # not a float, which may be -0
        low=round(100 * (gain.value if gain.low is None else gain.low)),
        high=round(100 * (gain.value if gain.high is None else gain.high)),
        now=half,
        then=half * more.width,
    )


def _line(result: CalibrationResult) -> str:
    share = f"{result.shown:,} to show"
    parts = [f"{counted(result.labels, 'label')} of {counted(result.articles, 'article')}", share]
    parts += [
        f"{name} {value_with_interval(found.value, found.low, found.high)}"
        for name, found in (("AUC", result.auc), ("of the ranker's score", result.ranker_auc))
        if found is not None
    ]
    return ", ".join(parts)


def draw_precision(path: Path, result: CalibrationResult) -> None:
    """Write the picture of `_precision`.

    Args:
        path: The picture: ``.svg``, ``.png`` or ``.pdf``.
        result: The calibration, with points.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The file is of another kind.
    """
    save(_precision(result), path, "Precision by coverage")


def _precision(result: CalibrationResult) -> Figure:
    """Draw precision against coverage.

    Args:
        result: The calibration, with points.
    """
    x, y, low, high = (
        np.array([getattr(one, name) for one in result.points]) for name in ("coverage", "precision", "low", "high")
    )
    return curves(
        [Curve("calibrated score" if result.filter == "score" else "filter", x, y, low, high)],
        xlabel="coverage: share of articles with a suggestion",
        ylabel="precision: share worth showing",
    )


def pictures(result: CalibrationResult) -> Iterator[Picture]:
    """The picture of precision against coverage, if there is something to draw.

    Args:
        result: The calibration.
    """
    if len(result.points) > 1:
        title = "Precision by coverage"
        yield Picture("precision", title, title, title, partial(_precision, result))
