"""How `postil score` shows its numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from postil.app.names import summed
from postil.records.results import SCHEMA, to_json
from postil.render.formats import Format, grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.app.scoring.files import SystemScore
    from postil.render.formats import Grid

__all__ = ["scores_as"]


def scores_as(form: Format, scores: Sequence[SystemScore]) -> str:
    """Lay out corpus scores.

    Args:
        form: ``json``, ``jsonl`` and ``csv`` have a row a number; ``table``, ``markdown`` and ``latex`` one row per
            system and one column per metric. The table is followed by the signatures.
        scores: System by system.
    """
    rows = [asdict(score) for score in scores]
    if form == "json":
        return to_json({"schema": SCHEMA, "scores": rows, "aggregation": "corpus"})
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows)
    text = grid_as(form, _grid(scores))
    if form == "table":
        signatures = {score.metric: score.signature for score in scores}
        text += "\n" + "".join(f"{metric}: {signature}\n" for metric, signature in signatures.items())
        if different := summed(signatures):
            names = ", ".join(different)
            text += f"corpus scores; the means of item scores, which postil compare tests, differ for {names}\n"
    return text


def _grid(scores: Sequence[SystemScore]) -> Grid:
    metrics = list(dict.fromkeys(score.metric for score in scores))
    systems: dict[str, list[str]] = {}
    for score in scores:
        systems.setdefault(score.system, [str(score.n)]).append(f"{score.score:.4f}")
    return [["system", "n", *metrics], *([name, *cells] for name, cells in systems.items())]
