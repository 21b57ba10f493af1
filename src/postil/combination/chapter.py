"""The chapter of a combination: verdict, out-of-fold grades against ratings, weights, notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.combination.view import columns_table, fits_table, head, verdict
from postil.data.explain import counted
from postil.results.names import control
from postil.results.numbers import number
from postil.results.page.blocks import Chapter, Facts, Picture, Section, facts, left_out, sentences
from postil.results.page.chapters import signatures
from postil.results.plots.lines import Curve, curves
from postil.results.plots.points import ScatterPanel, scatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.combination.result import CombinationFit, CombinationResult
    from postil.results.table import Table

__all__ = ["chapter", "pictures"]

GROUPS: Final = 10
"""Largest number of groups of texts on a calibration line."""


def chapter(result: CombinationResult, key: str) -> Chapter:
    """The chapter of a combination.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    parts = (
        Section("out-of-fold", "Grades of items that a fit has not seen", (*pictures(result), fits_table(result))),
        Section("columns", "Metrics", (columns_table(result),)),
        Section("notes", "Notes", sentences(result.notes)),
        Section("data", "Data", (Facts(tuple(left_out(result.excluded))),)),
        Section("settings", "Settings", (_settings(result), _signatures(result))),
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
        ("lower is better", ", ".join(given.lower_is_better)),
        ("hash of scores and ratings", given.data),
        ("postil", given.postil),
    )


def _signatures(result: CombinationResult) -> Table:
    rows = [(result.metric, result.signature), *((column.metric, column.signature) for column in result.columns)]
    return signatures(rows)


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
