"""How the training of a generator went, as text and as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from postil.records.results import SCHEMA, to_json
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from postil.app.training.generators import GeneratorTrained
    from postil.render.formats import Format

__all__ = ["draw_losses", "losses_as"]


def losses_as(form: Format, trained: GeneratorTrained) -> str:
    """A row a measurement; the best on dev, which the model is, is marked.

    Args:
        form: The format.
        trained: What was trained.
    """
    rows = [{**row, "perplexity": math.exp(row["dev"]), "best": row["step"] == trained.step} for row in trained.history]
    if form == "json":
        return to_json({"schema": SCHEMA, "kind": "training", "rows": rows})
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    grid = [["step", "epoch", "loss", "dev", "perplexity", ""]]
    grid += [
        [
            f"{row['step']:,}",
            f"{row['epoch'] + 1}",
            f"{row['loss']:.3f}",
            f"{row['dev']:.3f}",
            f"{row['perplexity']:,.1f}",
            "best" if row["best"] else "",
        ]
        for row in rows
    ]
    return grid_as(form, grid)


def draw_losses(path: Path, histories: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Draw the loss on dev of one model or several; of one that in training too.

    Args:
        path: The picture: ``.svg``, ``.png`` or ``.pdf``.
        histories: A name -> a row a measurement.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The file is of another kind.
    """
    from postil.plots import Curve, curves, save  # noqa: PLC0415 - matplotlib

    def curve(name: str, rows: Sequence[Mapping[str, Any]], column: str) -> Curve:
        x, y = (np.array([row[which] for row in rows], dtype=np.float64) for which in ("step", column))
        return Curve(name, x, y)

    series = [curve(f"{name}, dev", rows, "dev") for name, rows in histories.items()]
    if len(histories) == 1:
        series += [curve(f"{name}, training", rows, "loss") for name, rows in histories.items()]
    save(curves(series, xlabel="steps", ylabel="-log P a word"), path, "Loss by steps of training")
