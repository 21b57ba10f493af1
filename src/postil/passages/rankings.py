"""Several rankings of the same graded passages, compared by nCG."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.messages import Message, Setting
from postil.passages.gain import gain_curve, gain_differences
from postil.passages.result import FLIPS, Gain, GainCurvePoints, smallest_p
from postil.results.names import ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.meta.resampling import Draws
    from postil.passages.gain import GainCurve, Pool
    from postil.passages.result import GainDifference

__all__ = ["LINE_RESAMPLES", "PassageRanking", "PassageRankings"]

SHORT, LONG = (5, 10, 20, 50, 100), (10, 100, 1000, 10_000)
"""Default rank cutoffs of lists per topic, and of one list."""

POINTS: Final = 60
"""Approximate number of points of a curve."""

LINE_RESAMPLES: Final = 200
"""Largest number of resamples for the band of a curve."""

LEVEL: Final = 0.05
FEW: Final = 5
"""Smallest number of topics or folds with a usable bootstrap."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PassageRanking:
    """Scores of t passages by one measure.

    Args:
        measure: The spec, as its user wrote it.
        leave_one_out: True if each passage left its reference while it was scored.
        is_baseline: True if no reference changes it.
        signature: All that the scores depend on.
        values: float64[t], the measure; NaN where nothing was left of the reference.
        scores: float64[t], the same with the sign that makes higher better, and minus infinity for NaN.
    """

    measure: str
    leave_one_out: bool
    is_baseline: bool
    signature: str
    values: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def name(self) -> str:
        """Name of the ranking in differences and curves."""
        return ranking(self.measure, self.leave_one_out)


@dataclass(frozen=True, eq=False, kw_only=True)
class PassageRankings:
    """Rankings of t passages, with their grades.

    Args:
        rankings: One per measure and protocol.
        grades: float64[t], 0 or more.
        groups: int64[t], the topic or fold of each passage; intervals are over them.
        pool: ``all`` for one list, ``topic`` for one list per topic and their mean.
        draws: Random draws of the groups.
    """

    rankings: Sequence[PassageRanking]
    grades: NDArray[np.float64]
    groups: NDArray[np.int64]
    pool: Pool
    draws: Draws

    def curves(self, cutoffs: Sequence[int] = ()) -> list[GainCurve]:
        """Compute nCG of each ranking.

        Args:
            cutoffs: Rank cutoffs; empty for some that suit the lists.
        """
        usual = tuple(k for k in (LONG if self.pool == "all" else SHORT) if k < self._longest) or (1,)
        return self._curves(sorted(set(cutoffs)) or usual, self.draws.resamples)

    def lines(self) -> tuple[GainCurvePoints, ...]:
        """Points of each ranking's curve at rank cutoffs of equal ratios, for pictures."""
        cutoffs = np.unique(np.geomspace(1, self._longest, POINTS).round().astype(int)).tolist()
        curves = self._curves(cutoffs, min(self.draws.resamples, LINE_RESAMPLES))
        return tuple(
            GainCurvePoints(
                measure=ranking.name,
                k=curve.cutoffs,
                ncg=tuple(curve.ncg.tolist()),
                low=None if curve.low is None else tuple(curve.low.tolist()),
                high=None if curve.high is None else tuple(curve.high.tolist()),
            )
            for ranking, curve in zip(self.rankings, curves, strict=True)
        )

    def _curves(self, cutoffs: Sequence[int], resamples: int) -> list[GainCurve]:
        def curve(ranking: PassageRanking) -> GainCurve:
            return gain_curve(
                ranking.scores,
                self.grades,
                self.groups,
                cutoffs,
                pool=self.pool,
                resamples=resamples,
                seed=self.draws.seed,
            )

        with ThreadPoolExecutor(self.draws.jobs) as threads:
            return list(threads.map(curve, self.rankings))

    @property
    def _longest(self) -> int:
        """Number of passages of the longest list."""
        return len(self.groups) if self.pool == "all" else int(np.bincount(self.groups).max())

    def gains(self, curves: Sequence[GainCurve], reference: str) -> tuple[Gain, ...]:
        """One row per ranking and rank cutoff.

        Args:
            curves: One curve per ranking, from `curves`.
            reference: ``topic`` or ``others``.
        """
        return tuple(
            Gain(
                measure=ranking.measure,
                k=k,
                ncg=float(curve.ncg[i]),
                low=None if curve.low is None else float(curve.low[i]),
                high=None if curve.high is None else float(curve.high[i]),
                reference=reference,
                pool=self.pool,
                leave_one_out=ranking.leave_one_out,
                signature=ranking.signature,
            )
            for ranking, curve in zip(self.rankings, curves, strict=True)
            for i, k in enumerate(curve.cutoffs)
        )

    def differences(self, curves: Sequence[GainCurve]) -> tuple[GainDifference, ...]:
        """Compare rankings of one protocol; none where there are fewer than two groups.

        Args:
            curves: One curve per ranking, from `curves`.
        """
        if len(curves[0].topics) < 2:
            return ()
        found: dict[tuple[str, str, int], GainDifference] = {}
        for some in self._protocols():
            for row in gain_differences({self.rankings[i].name: curves[i] for i in some}):
                found.setdefault((row.first, row.second, row.k), row)
        return tuple(found.values())

    def _protocols(self) -> Iterator[list[int]]:
        """Rankings that are compared: with passages in their references, then leave-one-out; baselines are in both."""
        alone = all(each.is_baseline for each in self.rankings)
        for leave in (False, True):
            some = [i for i, each in enumerate(self.rankings) if each.leave_one_out is leave or each.is_baseline]
            if len(some) > 1 and (alone or not all(self.rankings[i].is_baseline for i in some)):
                yield some

    def notes(self, groups: int, reference: str) -> Iterator[str]:
        """Notes on tests: where there is none, where none can reach significance, where intervals are too narrow.

        Args:
            groups: Number of topics or folds that count.
            reference: ``topic`` or ``others``.
        """
        empty = max(int(np.isnan(each.values).sum()) for each in self.rankings)
        if empty:
            yield f"passages with nothing left in their reference without themselves, ranked last: {empty}"
        if groups < 2:
            if len(self.rankings) > 1:
                yield "one topic: no intervals and no tests"
            return
        pairs = max((len(some) * (len(some) - 1) // 2 for some in self._protocols()), default=0)
        bootstrap = self.pool == "all"
        if groups < FEW:
            units = "folds" if bootstrap and reference == "others" else "topics"
            stars = ", and its stars mean little" if bootstrap and pairs else ""
            yield f"a bootstrap over {groups} {units}: its intervals are too narrow{stars}"
        least = smallest_p(groups, self.draws.resamples if bootstrap else None)
        if pairs and least * pairs >= LEVEL:
            test = f"{self.draws.resamples} resamples"
            if not bootstrap:
                test = f"sign flips of {groups} topics" if groups < FLIPS.bit_length() else f"{FLIPS:,} sign flips"
            fewer = ", or name fewer measures" if least < LEVEL else ""
            lists: str = ""
            if bootstrap and groups > FEW:
                by_topic = Setting("pool", "topic")
                lists = Message(", or rank by {pool}, which has a test by sign flips", pool=by_topic)
            yield Message(
                "{test} cannot show a difference after Holm's correction for {count} pair; "
                "look at the intervals{fewer}{lists}",
                "{test} cannot show a difference after Holm's correction for {count} pairs; "
                "look at the intervals{fewer}{lists}",
                count=pairs,
                test=test,
                fewer=fewer,
                lists=lists,
            )
