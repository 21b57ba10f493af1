"""Scores of further metrics on a WMT test set, from files of score rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.metrics.spec import known_metric

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from postil.app.item_scores import ScoreSources
    from postil.corpus.formats.wmt import Level, Scores, WmtSet
    from postil.records.rows import Score

    Metrics: TypeAlias = dict[str, Scores]

__all__ = ["Metrics", "OwnScores"]


@dataclass(frozen=True, slots=True)
class OwnScores:
    """Scores by level and metric.

    Args:
        metrics: The scores. That of a system is its corpus score, of a row without an item or of the statistics of its
            segments, else the mean over the segments.
        signatures: Signature of each metric.
    """

    metrics: Mapping[Level, Metrics]
    signatures: Mapping[str, str]

    @classmethod
    def read(cls, files: ScoreSources | None, test_set: WmtSet, systems: Collection[str]) -> OwnScores:
        """Read score rows, whose items are the numbers of the segments from 1.

        Args:
            files: The rows; None for no further metrics.
            test_set: The test set.
            systems: The systems; rows of others are ignored.

        Raises:
            InvalidInput: A row has no such segment or is there twice, or a metric lacks a score.
            UsageError: The test set has no texts to number the segments by, or a metric of that name.
        """
        if files is None:
            return cls({"sys": {}, "seg": {}}, {})
        if test_set.segments is None:
            raise UsageError(f"--scores: {test_set.path} has no sources or system-outputs to tell the segments by")
        found: dict[Level, Metrics] = {"sys": {}, "seg": {}}
        signatures: dict[str, str] = {}
        sums: dict[tuple[str, str], list[tuple[float, ...]]] = {}
        for place, row in enumerate(files.rows()):
            if row.system not in systems:
                continue
            signatures[row.metric] = row.signature
            if row.statistics:
                sums.setdefault((row.metric, row.system), []).append(row.statistics)
            level, number, size = _slot(row, test_set.segments)
            if not 1 <= number <= size:
                problem = f"expected the number of a segment, 1 to {size:,}, got '{row.item}'"
                raise files.error(place, "item", problem)
            none: list[float | None] = [None] * size
            scores = found[level].setdefault(row.metric, {}).setdefault(row.system, none)
            if scores[number - 1] is not None:
                raise files.error(place, "item", f"a second score of {row.metric} for {row.system}; keep one of them")
            scores[number - 1] = row.score
        for metric, signature in signatures.items():
            if any(metric in level for level in test_set.metrics.values()):
                raise UsageError(f"--scores: {test_set.path} has a metric {metric}; give yours another name")
            for system in systems:
                _check_complete(metric, found, system, test_set.segments, files.where)
                if metric in found["seg"]:
                    values = [value for value in found["seg"][metric][system] if value is not None]
                    whole = _corpus_score(metric, signature, values, sums.get((metric, system), []))
                    found["sys"].setdefault(metric, {}).setdefault(system, [whole])
        return cls(found, signatures)


def _slot(row: Score, segments: int) -> tuple[Level, int, int]:
    """Level of a score, its number from 1 at that level, and how many there are."""
    if row.item is None:
        return "sys", 1, 1
    return "seg", int(row.item) if row.item.isdecimal() else 0, segments


def _check_complete(metric: str, found: Mapping[Level, Metrics], system: str, segments: int, where: str) -> None:
    if metric in found["seg"]:
        n = sum(value is not None for value in found["seg"][metric].get(system, ()))
        if n < segments:
            problem = f"{metric} has scores of {n:,} of {segments:,} segments by {system}; expected all"
            raise InvalidInput(problem, where=where)
    elif system not in found["sys"][metric]:
        raise InvalidInput(f"{metric} has no score of {system}; expected one of every system", where=where)


def _corpus_score(name: str, signature: str, scores: Sequence[float], statistics: Sequence[tuple[float, ...]]) -> float:
    """Corpus score of a system: of the sums of statistics where all segments have them, else the mean."""
    metric = known_metric(signature.partition("|")[0]) or known_metric(name)
    if metric is None or len(statistics) < len(scores):
        return math.fsum(scores) / len(scores)
    sums = np.array([[math.fsum(column) for column in zip(*statistics, strict=True)]])
    return float(metric.score(sums)[0])
