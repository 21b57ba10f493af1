"""View of the training of a generator, and the curves of its losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import to_builtins

from postil.plots import Curve, curves, save
from postil.render.formats import counted
from postil.render.ranking import search_grids
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from postil.plots import Figure
    from postil.records.results import TrainingResult

__all__ = ["draw_losses", "loss_curves", "summary", "view"]


def view(result: TrainingResult) -> View:
    """Show one row per dev evaluation; the best one, which became the model, is marked.

    Args:
        result: The training.
    """
    grid = [["step", "epoch", "loss", "dev", "perplexity", ""]]
    grid += [
        [
            f"{row.step:,}",
            f"{row.epoch + 1}",
            f"{row.loss:.3f}",
            f"{row.dev:.3f}",
            f"{row.perplexity:,.1f}",
            "best" if row.best else "",
        ]
        for row in result.rows
    ]
    return View(rows=[to_builtins(row) for row in result.rows], grids=[grid, *search_grids(result.grid)])


def loss_curves(trainings: Mapping[str, TrainingResult]) -> Figure:
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


def summary(result: TrainingResult) -> str:
    """Number of dev evaluations, and the best of them.

    Args:
        result: The training.
    """
    size = counted(len(result.rows), "dev evaluation")
    best = [f"; best perplexity {row.perplexity:,.1f} at step {row.step:,}" for row in result.rows if row.best]
    return size + "".join(best)
