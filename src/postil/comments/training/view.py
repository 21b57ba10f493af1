"""View of the training of a generator, and the curves of its losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.comments.ranking_view import search_tables
from postil.plots.lines import Curve, curves
from postil.plots.picture import save
from postil.results.formats import counted
from postil.results.table import Count, Figure, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from postil import plots
    from postil.comments.training.result import TrainingResult

__all__ = ["draw_losses", "loss_curves", "view"]


def view(result: TrainingResult) -> View:
    """Show one row per dev evaluation; the best one, which became the model, is marked.

    Args:
        result: The training.
    """
    table = Table(
        key="training",
        rows=result.rows,
        columns=(
            Name("step", lambda row: f"{row.step:,}"),
            Count("epoch", lambda row: row.epoch + 1, separated=False),
            Number("loss", "loss", zero=True),
            Number("dev", "dev", zero=True),
            Figure("perplexity", lambda row: f"{row.perplexity:,.1f}"),
            Text("", lambda row: "best" if row.best else ""),
        ),
    )
    size = counted(len(result.rows), "dev evaluation")
    best = [f"; best perplexity {row.perplexity:,.1f} at step {row.step:,}" for row in result.rows if row.best]
    return View(line=size + "".join(best), rows=result.rows, grids=[table, *search_tables(result.grid)])


def loss_curves(trainings: Mapping[str, TrainingResult]) -> plots.Figure:
    """Draw the dev loss of one or several models; for a single one the training loss too.

    Args:
        trainings: Trainings by name.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    series = []
    for name, result in trainings.items():
        steps = np.array([row.step for row in result.rows], dtype=np.float64)
        series.append(Curve(f"{name}, dev", steps, np.array([row.dev for row in result.rows])))
        if len(trainings) == 1:
            series.append(Curve(f"{name}, training", steps, np.array([row.loss for row in result.rows])))
    return curves(series, xlabel="steps", ylabel="nats per token")


def draw_losses(path: Path, trainings: Mapping[str, TrainingResult]) -> None:
    """Write the picture of `loss_curves`.

    Args:
        path: The picture: ``.svg``, ``.png`` or ``.pdf``.
        trainings: Trainings by name.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The file is of another kind.
    """
    save(loss_curves(trainings), path, "Cross-entropy by steps of training")
