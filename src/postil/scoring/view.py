"""Corpus scores for people: one row per system and one column per metric, the chapter of a page and its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.data.groups import grouped
from postil.metrics.citations import sacrebleu_lines
from postil.metrics.result import ScoreResult, SystemScore
from postil.results.formats import listed
from postil.results.names import falls_by_signature
from postil.results.numbers import number
from postil.results.page.blocks import Chapter, Paragraph, Picture, Section, isolated
from postil.results.page.chapters import forests, signatures
from postil.results.plots.forest import IntervalRow
from postil.results.systems_table import SystemsTable
from postil.results.table import Count, Name, Number, Table, crossed
from postil.results.views import View, best
from postil.scoring.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["chapter", "pictures", "score_table", "scored", "scores_table", "view"]


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
        grids=[scores_table("system", result.scores, n=True, percent=as_percent(result))],
        remarks=[
            *(f"{metric}: {signature}" for metric, signature in signatures.items()),
            *sacrebleu_lines(signatures, like=result.like == "sacrebleu"),
            *_of_program(result),
        ],
        systems=score_table("system", result.scores, "text"),
    )


def as_percent(result: ScoreResult) -> bool:
    """True if tables show the scores times 100, as the program does whose numbers they are.

    Args:
        result: Scores of systems.
    """
    return result.like in PROGRAMS and PROGRAMS[result.like].percent


def _of_program(result: ScoreResult) -> Iterator[str]:
    """The program whose numbers these are, and its paper."""
    if result.like in PROGRAMS:
        times = "; scores × 100" if as_percent(result) else ""
        yield f"as {result.like} computes them{times}; cite {PROGRAMS[result.like].paper}"


def scores_table(head: str, scores: Sequence[SystemScore], *, n: bool, percent: bool = False) -> Table:
    """One row per system and one column per metric.

    Args:
        head: Title of the first column.
        scores: Scores, system by system.
        n: True to show the number of candidates.
        percent: True to show the scores times 100.
    """
    cell = Number("", _times_100, digits=2, zero=True) if percent else Number("", "score", digits=4, zero=True)
    return crossed(
        scores,
        Name(head, "system"),
        "metric",
        cell,
        key="scores",
        caption="Corpus scores of each system over all its texts",
        beside=[Count("texts", "n", plain="n", separated=False)] if n else (),
    )


def _times_100(row: SystemScore) -> float:
    return 100.0 * row.score


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
        Section("scores", "Scores", (scores_table("system", found.scores, n=True, percent=as_percent(found)),)),
        Section("settings", "Settings", (signatures(of.items()),)),
    )
    conclusion = scored(found)
    shown = (Paragraph(conclusion),) if conclusion else ()
    return Chapter(key, "Scores of systems", said, shown, parts, (("scores", found.scores),))


def scored(found: ScoreResult) -> str:
    """The system with the best score by each metric.

    Args:
        found: The scores.
    """
    of_metrics = grouped((row.metric, row) for row in found.scores).values()
    tops = (
        (_falls(rows[0]), (min if _falls(rows[0]) else max)(rows, key=lambda row: row.score)) for rows in of_metrics
    )
    best = grouped(((top.system, falls), f"{isolated(top.metric)} ({number(top.score)})") for falls, top in tops)
    systems = len({row.system for row in found.scores})
    if systems < 2:
        return ""
    said = [
        f"{isolated(system)} has the {'lowest' if falls else 'highest'} {listed(names, most=NAMED)}"
        for (system, falls), names in best.items()
    ]
    return f"Of {counted(systems, 'system')} {'; '.join(said)}."


def _falls(row: SystemScore) -> bool:
    return falls_by_signature(row.metric, row.signature)


def pictures(result: ScoreResult) -> Iterator[Picture]:
    """The scores of all metrics together, and of each.

    Args:
        result: The scores.
    """
    return forests("Corpus scores", [IntervalRow(row.system, row.score, group=row.metric) for row in result.scores])
