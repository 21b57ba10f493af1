"""Corpus scores: one row per system and one column per metric, with the signatures below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.explain import counted
from postil.metrics.result import SystemScore
from postil.results.names import falls_by_signature
from postil.results.systems_table import SystemsTable
from postil.results.table import Count, Name, Number, crossed
from postil.results.views import View, best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.metrics.result import ScoreResult
    from postil.results.table import Table

__all__ = ["score_table", "scores_table", "view"]


def view(result: ScoreResult) -> View:
    """See `postil.results.views`.

    Args:
        result: Scores of systems.
    """
    signatures = {row.metric: row.signature for row in result.scores}
    texts = sum({row.system: row.n for row in result.scores}.values())
    return View(
        line=scores_summary("system", result.scores, counted(texts, "text")),
        rows=result.scores,
        fields=SystemScore.__struct_fields__,
        grids=[scores_table("system", result.scores, n=True)],
        remarks=[f"{metric}: {signature}" for metric, signature in signatures.items()],
        systems=score_table("system", result.scores, "text"),
    )


def scores_table(head: str, scores: Sequence[SystemScore], *, n: bool) -> Table:
    """One row per system and one column per metric.

    Args:
        head: Title of the first column.
        scores: Scores, system by system.
        n: True to show the number of candidates.
    """
    return crossed(
        scores,
        Name(head, "system"),
        "metric",
        Number("", "score", digits=4, zero=True),
        key="scores",
        caption="Corpus scores of each system over all its texts",
        beside=[Count("texts", "n", plain="n", separated=False)] if n else (),
    )


def score_table(head: str, scores: Sequence[SystemScore], unit: str) -> SystemsTable:
    """The scores as a table of systems.

    Args:
        head: Title of the first column.
        scores: Scores, system by system.
        unit: Name of one of the texts that `SystemScore.n` counts.
    """
    signatures = {row.metric: row.signature for row in scores}
    return SystemsTable(
        table=scores_table(head, scores, n=True),
        unit=unit,
        lower_is_better=frozenset(name for name, text in signatures.items() if falls_by_signature(name, text)),
        signatures=signatures,
    )


def scores_summary(noun: str, scores: Sequence[SystemScore], over: str) -> str:
    """Numbers of systems and metrics, and the best score by each metric.

    Args:
        noun: Name of a system.
        scores: Scores.
        over: Number of texts, in words.
    """
    systems = counted(len({row.system for row in scores}), noun)
    falling = {row.metric for row in scores if falls_by_signature(row.metric, row.signature)}
    metrics = counted(len({row.metric for row in scores}), "metric")
    return f"{systems}, {metrics}, {over}; {best(((row.metric, row.system, row.score) for row in scores), falling)}"
