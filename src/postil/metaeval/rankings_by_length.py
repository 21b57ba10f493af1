"""Rankings of passages and the length of the passages: nCG within thirds by length, rank correlations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.messages import Message, Setting
from postil.metaeval.length_correlations import EQUAL_GRADES, FEW_PASSAGES, FEWEST, length_correlations
from postil.metaeval.length_thirds import THIRDS, ListThirds, PooledThirds, length_thirds
from postil.metaeval.passage_rankings import LINE_RESAMPLES
from postil.metaeval.resampling import bootstrap_counts, estimate
from postil.records.results import GainByLength, LengthThird
from postil.records.ties import tied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.metaeval.passage_rankings import PassageRankings

__all__ = ["STRATA_K", "RankingsByLength"]

STRATA_K: Final = 5
"""Default rank cutoff within thirds."""


@dataclass(frozen=True, eq=False)
class RankingsByLength:
    """Rankings of t passages, with the number of words of each.

    Topics without a grade above 0 are no lists of their own, as in nCG; in one list of all, their passages stay.

    Args:
        rankings: The rankings.
        words: int64[t], number of words of each passage.
        k: The rank cutoff within thirds.
    """

    rankings: PassageRankings
    words: NDArray[np.int64]
    k: int = STRATA_K

    def rows(self) -> tuple[GainByLength, ...]:
        """One row per ranking; resamples are those of nCG, of correlations in one list the first of them."""
        rankings, draws = self.rankings, self.rankings.draws
        scores = [each.scores[self._kept] for each in rankings.rankings]
        words, grades = self.words[self._kept], rankings.grades[self._kept]
        clusters = int(self._groups.max()) + 1
        counts = bootstrap_counts(clusters, draws.resamples, draws.seed)
        if rankings.pool == "topic":
            cut: ListThirds | PooledThirds = ListThirds(grades, self._groups, self._thirds, counts, self.k)
            fewer = counts
        else:
            cut = PooledThirds(grades, self._groups, self._thirds, counts, self.k)
            fewer = counts[:LINE_RESAMPLES]
        with ThreadPoolExecutor(draws.jobs) as threads:
            found = list(threads.map(cut.gains, scores))
        correlations = length_correlations(
            np.column_stack(scores),
            grades,
            words.astype(np.float64),
            self._groups,
            fewer,
            pool=rankings.pool,
            jobs=draws.jobs,
        )
        return tuple(
            GainByLength(
                measure=ranking.measure,
                leave_one_out=ranking.leave_one_out,
                k=self.k,
                ncg=estimate(samples, clusters),
                thirds=(self._third(0, shares), self._third(1, shares), self._third(2, shares)),
                spearman=of.spearman,
                partial=of.partial,
                with_length=of.with_length,
            )
            for ranking, (samples, shares), of in zip(rankings.rankings, found, correlations, strict=True)
        )

    def notes(self) -> Iterator[str]:
        """Notes on thirds that a cutoff takes whole, and on topics without rank correlations."""
        lists = int(self._lists.max()) + 1
        most = int(np.bincount(self._lists * THIRDS + self._thirds).max())
        if most <= self.k:
            yield Message(
                "no third of a list by length has more than {count} passage, so nCG@{k} by length is 1 for every "
                "ranking; choose a lower {strata_k}",
                "no third of a list by length has more than {count} passages, so nCG@{k} by length is 1 for every "
                "ranking; choose a lower {strata_k}",
                count=most,
                k=self.k,
                strata_k=Setting("strata_k"),
            )
        grades = self.rankings.grades[self._kept]
        highest, lowest = np.zeros(lists), np.full(lists, np.inf)
        np.maximum.at(highest, self._lists, grades)
        np.minimum.at(lowest, self._lists, grades)
        few = np.bincount(self._lists) < FEWEST
        equal = tied(highest, lowest) & ~few
        reasons = ((FEW_PASSAGES, int(few.sum())), (EQUAL_GRADES, int(equal.sum())))
        without = [f"{n} with {reason}" for reason, n in reasons if n]
        if without and lists > 1:
            yield f"rank correlations leave out {int((few | equal).sum())} of {lists} topics: {', '.join(without)}"

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """The passages of the lists that count."""
        rankings = self.rankings
        if rankings.pool == "all":
            return np.arange(len(rankings.groups))
        group = np.unique(rankings.groups, return_inverse=True)[1]
        return np.flatnonzero((np.bincount(group, rankings.grades) > 0)[group])

    @cached_property
    def _groups(self) -> NDArray[np.int64]:
        """Group of each passage, from 0 without a gap."""
        return np.asarray(np.unique(self.rankings.groups[self._kept], return_inverse=True)[1], np.int64)

    @cached_property
    def _lists(self) -> NDArray[np.int64]:
        """List of each passage."""
        return self._groups if self.rankings.pool == "topic" else np.zeros_like(self._groups)

    @cached_property
    def _thirds(self) -> NDArray[np.int64]:
        return length_thirds(self.words[self._kept], self._lists)

    def _third(self, number: int, shares: NDArray[np.float64]) -> LengthThird:
        words = self.words[self._kept][self._thirds == number]
        return LengthThird(
            ncg=None if np.isnan(shares[number]) else float(shares[number]),
            n=len(words),
            shortest=int(words.min()) if len(words) else None,
            longest=int(words.max()) if len(words) else None,
        )
