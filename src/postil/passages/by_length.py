"""Rankings of passages and the length of the passages: nCG within thirds by length, and rank correlations."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.ranking import TOLERANCE, dense_ranks, joined, tied
from postil.messages import Message, Setting
from postil.meta.coefficient_kinds import kind_of
from postil.meta.column_correlations import (
    Texts,
    correlate_ranks,
    partial_correlations,
    rank_coefficient,
    ratio,
    starts_of,
)
from postil.meta.resampling import Draws, bootstrap_counts, estimate, means_of_groups, sums_by_item
from postil.passages.gain import LINE_RESAMPLES, PassageRankings
from postil.passages.options import STRATA_K, Pool
from postil.passages.result import GainByLength, LengthThird, ListCorrelation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.kernel.arrays import Floats, Int32s, Int64s

__all__ = [
    "THIRDS",
    "LengthCorrelations",
    "ListThirds",
    "PooledThirds",
    "RankingsByLength",
    "length_correlations",
    "length_thirds",
]

THIRDS: Final = 3
"""Number of strata of a list."""

WIDTH: Final = 64
"""Number of rows at the top of a list that are looked at first: most resamples have k rows among them."""

CELLS: Final = 2**20
"""Largest number of values in a working array."""


def length_thirds(words: Int64s, lists: Int64s) -> Int64s:
    """Cut each list of passages into thirds by their number of words.

    A passage is in the third ``floor(3 (s + t) / (2 n))`` of its list of n passages, where s of them are shorter and
    t are not longer, itself among these: the third in which the middle of the passages of its length lies. So passages
    of one length are never parted, and the order of the rows has no influence. A third can be empty.

    Args:
        words: int64[n], number of words of each passage.
        lists: int64[n], list of each passage.

    Returns:
        int64[n], 0 for the short, 1 for the middle, 2 for the long third.

    >>> length_thirds(np.array([9, 4, 7, 7, 7, 30]), np.zeros(6, np.int64)).tolist()
    [2, 0, 1, 1, 1, 2]
    """
    order = np.lexsort((words, lists))
    starts = starts_of(lists[order])
    blocks = starts_of(lists[order], words[order])
    sizes = np.diff([*starts, len(words)])
    which = np.searchsorted(starts, blocks, side="right") - 1
    ends = np.append(blocks[1:], len(words))
    # s and t are the places of the block's two ends within its list.
    third = THIRDS * (blocks + ends - 2 * starts[which]) // (2 * sizes[which])
    found = np.empty(len(words), np.int64)
    found[order] = np.repeat(third, ends - blocks)
    return found


def _defined_mean(values: Floats, axis: int) -> Floats:
    """Mean of the values that are not NaN; NaN where all are.

    Args:
        values: float64[...].
        axis: The axis that the mean is over.
    """
    there = ~np.isnan(values)
    return ratio(np.where(there, values, 0.0).sum(axis=axis), there.sum(axis=axis).astype(np.float64))


@dataclass(frozen=True, eq=False)
class ListThirds:
    """Thirds of several lists, each list ranked by itself.

    Args:
        grades: float64[n], 0 or more; each list has one above 0.
        lists: int64[n], list of each passage, from 0 without a gap.
        thirds: int64[n], see `length_thirds`.
        counts: int32[R, lists], multiplicities of the lists in each resample.
        k: The rank cutoff within a third.
    """

    grades: Floats
    lists: Int64s
    thirds: Int64s
    counts: Int32s
    k: int

    def gains(self, scores: Floats) -> tuple[Floats, Floats]:
        """Compute length-stratified nCG of a ranking.

        Args:
            scores: float64[n], higher is better; ties have their expected gain.

        Returns:
            float64[1 + R], the mean over lists of the mean over their thirds, then that of each resample; float64[3],
            the mean over lists of each third, NaN where it has no grade above 0 in any.
        """
        shares = _share(self._gains(scores), self._best).reshape(-1, THIRDS)
        by_list = _defined_mean(shares, 1)
        return np.append(by_list.mean(), self.counts @ by_list / len(by_list)), _defined_mean(shares, 0)

    @cached_property
    def _strata(self) -> tuple[Int64s, Int64s, Int64s]:
        """Rows by stratum, the stratum of each of them, and the first row of each stratum that has any."""
        stratum = self.lists * THIRDS + self.thirds
        order = np.argsort(stratum, kind="stable")
        return order, stratum[order], starts_of(stratum[order])

    @cached_property
    def _best(self) -> Floats:
        return self._gains(self.grades)

    def _gains(self, scores: Floats) -> Floats:
        """Expected gain at k within each third of each list, float64[3 lists]."""
        rows, stratum, starts = self._strata
        # One integer per tie of a stratum, ascending from its best: sorted faster than two columns.
        place = stratum * len(rows) - dense_ranks(scores[rows][:, None], starts)[:, 0]
        down = np.argsort(place)
        blocks = starts_of(place[down])
        sizes = np.diff(blocks, append=len(rows))
        within = stratum[blocks]
        above = blocks - starts[np.searchsorted(starts, blocks, side="right") - 1]
        sums = np.add.reduceat(self.grades[rows[down]], blocks)
        taken = sums * ((self.k - above) / sizes).clip(0.0, 1.0)
        return np.asarray(np.bincount(within, taken, THIRDS * (int(self.lists.max()) + 1)), np.float64)


@dataclass(frozen=True, eq=False)
class PooledThirds:
    """Thirds of one list of the passages of several groups; the groups are resampled, and the thirds stay.

    Args:
        grades: float64[n], 0 or more, one above 0.
        groups: int64[n], group of each passage, from 0 without a gap.
        thirds: int64[n], see `length_thirds`.
        counts: int32[R, groups], multiplicities of the groups in each resample.
        k: The rank cutoff within a third.
    """

    grades: Floats
    groups: Int64s
    thirds: Int64s
    counts: Int32s
    k: int

    def gains(self, scores: Floats) -> tuple[Floats, Floats]:
        """Compute length-stratified nCG of a ranking.

        Args:
            scores: float64[n], higher is better; ties have their expected gain.

        Returns:
            float64[1 + R], the mean over the thirds, then that of each resample, NaN where it drew no grade above 0;
            float64[3], nCG of each third.
        """
        shares = _share(self._gains(scores), self._best)
        return _defined_mean(shares, 1), shares[0]

    @cached_property
    def _counts(self) -> Int32s:
        """All groups once, then the resamples."""
        return np.vstack([np.ones((1, self.counts.shape[1]), np.int32), self.counts])

    @cached_property
    def _best(self) -> Floats:
        return self._gains(self.grades)

    def _gains(self, scores: Floats) -> Floats:
        """Expected gain at k within each third, of all passages and of each resample, float64[1 + R, 3]."""
        found = np.zeros((len(self._counts), THIRDS))
        for third in range(THIRDS):
            rows = np.flatnonzero(self.thirds == third)
            if len(rows):
                found[:, third] = _top_gains(scores[rows], self.grades[rows], self.groups[rows], self._counts, self.k)
        return found


def _share(gain: Floats, most: Floats) -> Floats:
    """Gain / best gain; NaN where that is 0. Sums in different orders differ in their last digits, hence the cut."""
    return ratio(np.minimum(gain, most), most)


def _top_gains(scores: Floats, grades: Floats, groups: Int64s, counts: Int32s, k: int) -> Floats:
    """Expected gain at one rank cutoff in each resample, float64[R], from no more of the list than it takes.

    Args:
        scores: float64[n], higher is better.
        grades: float64[n].
        groups: int64[n].
        counts: int32[R, groups].
        k: The rank cutoff.
    """
    scores = joined(scores)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(starts_of(scores[order])[1:], len(order))
    block = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    found = np.zeros(len(counts))
    left, width = np.arange(len(counts)), max(WIDTH, 2 * k)
    while len(left):
        blocks = int(block[min(width, len(order)) - 1]) + 1
        top = order[: ends[blocks - 1]]
        drawn, item = np.unique(groups[top], return_inverse=True)
        ones = np.ones(len(top))
        sums = [sums_by_item(item, block[: len(top)], values, len(drawn)) for values in (ones, grades[top])]
        short = np.zeros(len(left), bool)
        step = max(1, CELLS // blocks)
        for at in range(0, len(left), step):
            some = left[at : at + step]
            rows, gains = (each(counts[some][:, drawn]) for each in sums)
            taken = k - (np.cumsum(rows, axis=1) - rows)
            found[some] = (gains * (taken / np.maximum(rows, 1.0)).clip(0.0, 1.0)).sum(axis=1)
            short[at : at + step] = rows.sum(axis=1) < k
        left, width = left[short & (len(top) < len(order))], 8 * width
    return found


FEWEST: Final = 4
"""Smallest number of passages of a list with coefficients; partial ones of three are 1, -1 or undefined."""

COEFFICIENTS: Final = ("spearman", "partial", "with_length")

FEW_PASSAGES: Final = f"fewer than {FEWEST} passages"
EQUAL_GRADES: Final = "equal grades"
EQUAL_LENGTHS: Final = "equal numbers of words"
EQUAL_SCORES: Final = "equal scores"
LENGTHS: Final = "scores in the order of the lengths"
GRADES: Final = "grades in the order of the lengths"


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


@dataclass(frozen=True, slots=True)
class LengthCorrelations:
    """Correlations of one ranking.

    Args:
        spearman: Spearman correlation of scores and grades.
        partial: The same with the number of words partialled out.
        with_length: Spearman correlation of scores and numbers of words.
    """

    spearman: ListCorrelation
    partial: ListCorrelation
    with_length: ListCorrelation


def length_correlations(
    scores: Floats,
    grades: Floats,
    words: Floats,
    groups: Int64s,
    counts: Int32s,
    *,
    pool: Pool,
    jobs: int = 1,
) -> list[LengthCorrelations]:
    """Correlate rankings of passages with their grades and lengths, by ranks.

    ``partial = (r_sg - r_sw r_gw) / sqrt((1 - r_sw^2) (1 - r_gw^2))`` of scores s, grades g and numbers of words w,
    each r a Spearman correlation over the passages of a list. With ``topic`` each group is a list, and the value is
    the mean over the lists that have one. The 95 % percentile bootstrap confidence interval resamples groups; with
    ``all`` ranks are those within each resample.

    Args:
        scores: float64[n, M], higher is better; minus infinity for what is ranked last.
        grades: float64[n].
        words: float64[n], number of words of each passage.
        groups: int64[n], group of each passage, from 0 without a gap.
        counts: int32[R, groups], multiplicities of the groups in each resample.
        pool: ``topic`` for one list per group, ``all`` for one list.
        jobs: Number of threads; results do not depend on it.

    Returns:
        One per column. A coefficient that no list has has the reason: fewer than four passages, equal grades, scores
        or numbers of words, or scores or grades that the number of words determines.

    >>> scores, grades = np.array([[1.0], [3.0], [2.0], [4.0]]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> none = np.zeros((0, 1), np.int32)
    >>> of = length_correlations(scores, grades, np.array([1.0, 2, 8, 4]), np.zeros(4, np.int64), none, pool="all")
    >>> of[0].spearman.value, round(of[0].partial.value, 4), of[0].with_length.value
    (0.8, 0.8729, 0.4)
    """
    order = np.argsort(groups, kind="stable")
    rows = _Rows(scores[order], grades[order], words[order], groups[order].astype(np.int32))
    if pool == "topic":
        starts = starts_of(rows.groups)
        of_lists = rows.in_lists(starts)
        every = np.vstack([np.ones((1, counts.shape[1]), np.int32), counts])
        samples = [means_of_groups(each, every) for each in of_lists]
    else:
        starts = np.zeros(1, np.int64)
        samples = rows.in_one_list(counts, jobs)
        of_lists = [each[:1] for each in samples]
    return [
        LengthCorrelations(
            *(
                rows.told(which, column, starts, lists[:, column], drawn[:, column], counts.shape[1])
                for which, lists, drawn in zip(COEFFICIENTS, of_lists, samples, strict=True)
            )
        )
        for column in range(scores.shape[1])
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Passages by group.

    Args:
        scores: float64[n, M].
        grades: float64[n].
        words: float64[n].
        groups: int32[n], ascending from 0 without a gap.
    """

    scores: Floats
    grades: Floats
    words: Floats
    groups: Int32s

    def in_lists(self, starts: Int64s) -> list[Floats]:
        """The coefficients within each list, three times float64[lists, M]."""
        ranks = dense_ranks(np.column_stack([self._columns, self.grades]), starts)
        with_grades = correlate_ranks(ranks[:, :-1], ranks[:, -1], starts, "spearman")
        with_words = correlate_ranks(ranks[:, :-2], ranks[:, -2], starts, "spearman")
        few = np.diff(starts, append=len(self.grades)) < FEWEST
        with_grades[few], with_words[few] = np.nan, np.nan
        return _three(with_grades, with_words)

    def in_one_list(self, counts: Int32s, jobs: int) -> list[Floats]:
        """The coefficients of all passages, then those of each resample, three times float64[1 + R, M]."""

        def found(columns: Floats, other: Floats) -> Floats:
            texts = Texts(columns, other, self.groups, np.zeros_like(self.groups))
            of = kind_of("spearman").resampled(texts, counts, "pool", Draws(jobs=jobs))
            return np.vstack([of.values, of.samples])

        if len(self.grades) < FEWEST:
            return [np.full((1 + len(counts), self.scores.shape[1]), np.nan)] * len(COEFFICIENTS)
        return _three(found(self._columns, self.grades), found(self.scores, self.words))

    @property
    def _columns(self) -> Floats:
        return np.column_stack([self.scores, self.words])

    def told(  # noqa: PLR0917 - one coefficient of one column
        self, which: str, column: int, starts: Int64s, of_lists: Floats, samples: Floats, items: int
    ) -> ListCorrelation:
        """A coefficient of one column, or the reason why there is none."""
        lists = int((~np.isnan(of_lists)).sum())
        if not lists:
            return ListCorrelation(lists=0, reason=self._why_undefined(which, column, starts))
        around = estimate(samples, items)
        return ListCorrelation(value=around.value, low=around.low, high=around.high, lists=lists)

    def _why_undefined(self, which: str, column: int, starts: Int64s) -> str:
        ends = [*starts[1:].tolist(), len(self.grades)]
        reasons = Counter(
            self._why(which, column, slice(start, end)) for start, end in zip(starts.tolist(), ends, strict=True)
        )
        if len(reasons) == 1:
            return next(iter(reasons))
        return f"no topic has one: {', '.join(f'{reason} ({n})' for reason, n in reasons.items())}"

    def _why(self, which: str, column: int, rows: slice) -> str:
        """The reason why a list has no coefficient."""
        scores, grades, words = self.scores[rows, column], self.grades[rows], self.words[rows]
        if len(grades) < FEWEST:
            return FEW_PASSAGES
        for reason, values, absent in (
            (EQUAL_GRADES, grades, "with_length"),
            (EQUAL_LENGTHS, words, "spearman"),
            (EQUAL_SCORES, scores, ""),
        ):
            if which != absent and not dense_ranks(values[:, None]).any():
                return reason
        with_length = rank_coefficient("spearman", scores[:, None], words, np.zeros(1, np.int64))[0, 0]
        return LENGTHS if 1 - with_length**2 <= TOLERANCE else GRADES


def _three(with_grades: Floats, with_words: Floats) -> list[Floats]:
    """Scores with grades, the same given the words, scores with words; the last column of the first is the words."""
    plain, grades_with_words = with_grades[:, :-1], with_grades[:, -1:]
    return [plain, partial_correlations(plain, with_words, grades_with_words), with_words]
