"""Scores of further metrics on a WMT test set, from score rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.data.row_locations import LocatedRows
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting
from postil.meta.score_matrix import Scored
from postil.metrics.spec import known_metric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from postil.data.rows import Score
    from postil.wmt.files import Level, Scores, WmtSet

    Metrics: TypeAlias = dict[str, Scores]

__all__ = ["OwnScores"]


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
    def read(cls, files: LocatedRows[Score] | None, test_set: WmtSet, systems: Collection[str]) -> OwnScores:
        """Read score rows, whose items are the numbers of the segments from 1; single draws of controls are ignored.

        Args:
            files: The rows; None for no further metrics.
            test_set: The test set.
            systems: The systems.

        Raises:
            InvalidInput: A row has no such segment or is there twice, or a metric lacks a score.
            UsageError: The test set has no texts to number the segments by, or a metric of that name.
        """
        if files is None:
            return cls({"sys": {}, "seg": {}}, {})
        if test_set.segments is None:
            raise UsageError(
                "{scores}: {path} has no sources or system-outputs to tell the segments by",
                scores=Setting("scores"),
                path=str(test_set.path),
            )
        whole: dict[tuple[str, str], float] = {}
        scored = Scored(LocatedRows(_rows(files, test_set.segments, whole), files.places), statistics=True)
        found: dict[Level, Metrics] = {"sys": {}, "seg": {}}
        for metric in scored.metrics:
            if any(metric in level for level in test_set.metrics.values()):
                raise UsageError(
                    "{scores}: {path} has a metric {metric}; give yours another name",
                    scores=Setting("scores"),
                    path=str(test_set.path),
                    metric=metric,
                )
            found["sys"][metric], found["seg"][metric] = {}, {}
            for system in systems:
                rows = _segments(scored, metric, system, test_set.segments)
                corpus = whole.get((metric, system))
                if corpus is None:
                    corpus = _corpus_score(scored, metric, rows)
                found["sys"][metric][system] = [corpus]
                found["seg"][metric][system] = scored.of(rows, [metric])[:, 0].tolist()
        return cls(found, scored.signatures)


def _rows(files: LocatedRows[Score], segments: int, whole: dict[tuple[str, str], float]) -> Iterator[Score]:
    """All rows; those without an item are kept by metric and system as well."""
    for place, row in enumerate(files):
        if row.item is None:
            whole[row.metric, row.system] = row.score
        elif not (row.item.isdecimal() and 1 <= int(row.item) <= segments):
            problem = f"expected the number of a segment, 1 to {segments:,}, got '{row.item}'"
            raise files.places.error(place, "item", problem)
        yield row


def _segments(scored: Scored, metric: str, system: str, segments: int) -> NDArray[np.int64]:
    """Rows of a system in the order of the segments, each with a score."""
    rows = [scored.rows.get((str(number), system), -1) for number in range(1, segments + 1)]
    there = np.array([row for row in rows if row >= 0], np.int64)
    n = int((~np.isnan(scored.of(there, [metric]))).sum())
    if n < segments:
        problem = f"{metric} has scores of {n:,} of {segments:,} segments by {system}; expected all"
        raise InvalidInput(problem, where=scored.where)
    return there


def _corpus_score(scored: Scored, name: str, rows: NDArray[np.int64]) -> float:
    """Corpus score of a system: of the sums of statistics where all segments have them, else the mean."""
    metric = known_metric(name, scored.signatures[name])
    statistics = scored.statistics.get(name)
    if metric is None or statistics is None:
        return float(scored.of(rows, [name]).mean())
    if statistics.shape[1] != metric.width:
        problem = f"{name}: expected {metric.width} statistics of each text, got {statistics.shape[1]}"
        raise InvalidInput(problem, where=scored.where)
    return float(metric.score(statistics[rows].sum(axis=0)[None])[0])
