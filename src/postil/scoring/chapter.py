"""The chapter and pictures of scores of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.results.formats import listed
from postil.results.numbers import number
from postil.results.page.blocks import Chapter, Paragraph, Section, isolated
from postil.results.page.chapters import forests, signatures
from postil.results.plots.forest import IntervalRow
from postil.scoring.view import scores_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.metrics.result import ScoreResult
    from postil.results.page.blocks import Picture

__all__ = ["chapter", "pictures", "scored"]

NAMED: Final = 3
"""Number of metrics that a sentence names."""


def chapter(found: ScoreResult, key: str) -> Chapter:
    """The chapter of scores of systems.

    Args:
        found: The scores.
        key: Prefix of the chapter's ids.
    """
    of = {row.metric: row.signature for row in found.scores}
    systems = len({row.system for row in found.scores})
    said = f"{counted(systems, 'system')}, {counted(len(of), 'metric')}"
    parts = (
        Section("scores", "Scores", (scores_table("system", found.scores, n=True),)),
        Section("settings", "Settings", (signatures(of.items()),)),
    )
    conclusion = scored(found)
    shown = (Paragraph(conclusion),) if conclusion else ()
    return Chapter(key, "Scores of systems", said, shown, parts, (("scores", found.scores),))


def scored(found: ScoreResult) -> str:
    """The system with the highest score by each metric.

    Args:
        found: The scores.
    """
    best: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.metric for row in found.scores):
        rows = [row for row in found.scores if row.metric == name]
        top = max(rows, key=lambda row: row.score)
        best.setdefault(top.system, []).append(f"{isolated(name)} ({number(top.score)})")
    systems = len({row.system for row in found.scores})
    if systems < 2:
        return ""
    said = [f"{isolated(system)} has the highest {listed(names, most=NAMED)}" for system, names in best.items()]
    return f"Of {counted(systems, 'system')} {'; '.join(said)}."


def pictures(result: ScoreResult) -> Iterator[Picture]:
    """The scores of all metrics together, and of each.

    Args:
        result: The scores.
    """
    return forests("Corpus scores", [IntervalRow(row.system, row.score, group=row.metric) for row in result.scores])
