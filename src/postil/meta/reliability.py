"""Reliability of human ratings: split-half correlation, one annotator against the others, ceiling."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.data.ranking import without_noise
from postil.errors import Undefined, UsageError
from postil.meta.coefficient_kinds import kind_of
from postil.meta.coefficients import TABLE
from postil.meta.column_correlations import Texts, pearson, ratio, rows_by, starts_of
from postil.meta.correlation import Correlations, row_of
from postil.meta.parts import CEILING, HALVES, ONE, AnnotatorCorrelation, HumanAgreement, UndefinedResult
from postil.meta.resampling import DRAWS
from postil.meta.severity import severities
from postil.meta.system_accuracy import SOFT_SPLITS, fewer_patterns, why_no_accuracy
from postil.meta.text_accuracy import fewer_draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.meta.coefficients import By, Measure
    from postil.meta.parts import Correlation
    from postil.meta.resampling import Counts, Draws
    from postil.meta.table import Table

__all__ = ["SHARED", "SPLITS", "MultipleRatings", "Splits", "ceiling", "human_agreement"]

SHARED: Final = 10
"""Smallest number of shared texts for two annotators to count as a pair."""
DECIMALS: Final = 9
"""Number of decimals of grades that annotators are ordered by; those behind may be noise of floats."""

SPLITS: Final = 100
"""Default number of random splits."""


@dataclass(frozen=True, slots=True, eq=False)
class MultipleRatings:
    """The t texts with two ratings or more, and their r ratings.

    Args:
        item: int32[t], ascending from 0 without a gap.
        system: int32[t].
        sizes: int64[t], number of ratings of each text.
        annotators: int32[r], ascending within each text.
        grades: float64[r].
    """

    item: NDArray[np.int32]
    system: NDArray[np.int32]
    sizes: NDArray[np.int64]
    annotators: NDArray[np.int32]
    grades: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table) -> MultipleRatings:
        """Select the texts of a table that have two ratings or more.

        Raises:
            Undefined: There is one annotator only, or no text has two ratings.
        """
        ratings = table.ratings
        if len(ratings.names) < 2:
            raise Undefined(f"the only annotator is {ratings.names[0]}, so there is nobody to agree with")
        texts = ratings.counts >= 2
        if not texts.any():
            raise Undefined("no text has ratings by two annotators")
        several = np.repeat(texts, ratings.counts)
        return cls(
            item=np.unique(table.item[texts], return_inverse=True)[1].astype(np.int32),
            system=table.system[texts],
            sizes=ratings.counts[texts],
            annotators=ratings.annotators[several],
            grades=ratings.grades[several],
        )

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64[t], index of the first rating of each text."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def text(self) -> NDArray[np.int64]:
        """int64[r], text of each rating."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def rest(self) -> NDArray[np.float64]:
        """float64[r], mean of the other ratings of the text."""
        total = np.repeat(np.add.reduceat(self.grades, self.starts), self.sizes)
        sizes = np.repeat(np.add.reduceat(np.abs(self.grades), self.starts), self.sizes)
        return without_noise(total - self.grades, sizes) / np.repeat(self.sizes - 1, self.sizes)

    def shuffled(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """float64[r], ratings in random order within each text."""
        return self.grades[np.lexsort((rng.random(len(self.grades)), self.text))]

    def splits(self, n: int, seed: int, *, by_annotator: bool = False) -> Splits:
        """Split the ratings of each text at random into two groups, whose sizes differ by at most one.

        Args:
            n: Number of splits.
            seed: Their seed.
            by_annotator: True to order the annotators at random once per split, not once per text: where all rate all
                texts, a group is of the same annotators in each.
        """
        coins = np.random.Generator(np.random.PCG64(seed).advance(n * len(self.grades)))  # after all shuffles
        rng, sides = np.random.default_rng(seed), np.empty((n, len(self.grades)), bool)
        pairs = bool((self.sizes == 2).all())
        starts, text = self.starts, self.text
        ranks = self._ranks() if by_annotator else self.annotators
        for side in sides:
            if by_annotator:
                keys = rng.random(int(ranks.max()) + 1)[ranks]
                coin = np.full(len(self.sizes), bool(coins.integers(0, 2)))
            else:
                keys, coin = rng.random(len(self.grades)), coins.integers(0, 2, len(self.sizes)).astype(bool)
            if pairs:  # the same as below, faster
                side[::2] = (keys[::2] > keys[1::2]) ^ coin
                side[1::2] = ~side[::2]
                continue
            place = np.arange(len(keys)) - np.repeat(starts, self.sizes)
            side[np.lexsort((keys, text))] = (place % 2).astype(bool) ^ np.repeat(coin, self.sizes)
        return Splits(self, sides)

    def _ranks(self) -> NDArray[np.int64]:
        """int64[r], rank of the annotator of each rating, by texts and grades: neither names nor constants matter."""
        keys, every = [], np.unique(self.annotators, return_inverse=True)[1].astype(np.int32)
        for ratings in rows_by(every):
            apart = np.round(self.grades[ratings] - self.grades[ratings[0]], DECIMALS) + 0.0
            keys.append((self.text[ratings].tolist(), apart.tolist()))
        ranks = np.empty(len(keys), np.int64)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return ranks[every]

    def pairs_of_annotators(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Pearson correlation of each pair over the texts that both rated, and the number of these texts."""
        text, every = self.text, np.arange(len(self.grades))
        apart = range(1, int(self.sizes.max()))
        rows = [every[:-step][text[:-step] == text[step:]] for step in apart]
        first = np.concatenate(rows)
        second = first + np.repeat(apart, list(map(len, rows)))
        pair = self.annotators[first].astype(np.int64) * 2**32 + self.annotators[second]
        order = np.argsort(pair, kind="stable")
        starts = starts_of(pair[order])
        shared = np.diff([*starts, len(order)])
        found = pearson(self.grades[first[order], None], self.grades[second[order]], starts)[:, 0]
        counts = (shared >= SHARED) & ~np.isnan(found)
        return found[counts], shared[counts]

    def pairs_of_ratings(self, orders: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Pearson correlation of the first and the second rating of each text, one per order."""
        start = np.zeros(1, np.int64)
        found = np.concatenate(
            [pearson(order[self.starts, None], order[self.starts + 1], start)[0] for order in orders]
        )
        return np.asarray(found[~np.isnan(found)], np.float64)

    def why_undefined(self, by: By) -> str:
        """Reason why ratings have no correlation with ratings, in words."""
        if len(self.sizes) < 2:
            return "only one text has two ratings"
        if by == "system" and len(np.unique(self.system)) < 2:
            return "only one system"
        if by == "item" and np.bincount(self.item).max() < 2:
            return "no item has two texts with two ratings"
        if by == "within-system" and np.bincount(self.system).max() < 2:
            return "no system has two texts with two ratings"
        if self.item[-1] < 1:
            return "only one item, so there is no interval over items"
        return "the grades of one side are all the same"


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Random splits of the ratings of texts into two groups; made by `MultipleRatings.splits`.

    Args:
        rated: The t texts and their r ratings.
        sides: bool[splits, r], True in the first group.
    """

    rated: MultipleRatings
    sides: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.sides)

    def first(self, n: int) -> Splits:
        """The first n splits."""
        return Splits(self.rated, self.sides[:n])

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Mean ratings of the first and of the second group, float64[t] twice, for each split."""
        grades, pairs = self.rated.grades, bool((self.rated.sizes == 2).all())
        for side in self.sides:
            if pairs:  # the same as below, faster
                first, second = grades[::2], grades[1::2]
                yield np.where(side[::2], first, second), np.where(side[::2], second, first)
            else:
                yield self._means(side), self._means(~side)

    def _means(self, group: NDArray[np.bool_]) -> NDArray[np.float64]:
        grades, starts = self.rated.grades, self.rated.starts
        total, size = (np.add.reduceat(each * group, starts) for each in (grades, np.abs(grades)))
        return np.asarray(without_noise(total, size) / np.add.reduceat(group.astype(np.int64), starts), np.float64)


def ceiling(reliability: float | None, k: float) -> float:
    """The reliability ceiling: an expected upper bound of the correlation of anything with the mean of k ratings.

    The square root of the reliability of that mean, ``k r / (1 + (k - 1) r)`` (Spearman 1910, Brown 1910). It bounds
    the correlation in the population; in a sample a metric can exceed it by chance.

    Args:
        reliability: r, the correlation of two single ratings of a text; None if it is undefined.
        k: Number of ratings that the mean is over.

    Raises:
        Undefined: r is undefined, or it is not above 0.

    >>> round(ceiling(0.597, 2), 3)
    0.865
    """
    if reliability is None:
        raise Undefined("two ratings of a text have no correlation, since one side's grades are all the same")
    if reliability <= 0:
        raise Undefined(f"two ratings of a text correlate {reliability:.3f}, and a ceiling needs more than 0")
    return math.sqrt(k * reliability / (1 + (k - 1) * reliability))


def human_agreement(
    table: Table,
    coefficients: Sequence[Measure] = ("pearson", "spearman", "kendall-b"),
    by: By = "pool",
    draws: Draws = DRAWS,
    *,
    as_given: bool = False,
    splits: int = SPLITS,
) -> tuple[HumanAgreement, tuple[UndefinedResult, ...]]:
    """Human reference points for the correlations of metrics, over the texts with two ratings or more.

    A constant of an annotator is no disagreement, so ratings are taken without severities
    (`postil.meta.severity`) where these are significant. Others stay, since fractions of a grade that are chance
    would break the ties of grades at random. For the same reason halves are then drawn annotator by annotator.

    *Split-half correlation*: each text's ratings are split at random into two groups whose sizes differ by at most one,
    and the groups' means correlated; the mean over the splits (``sd`` is over them). Groups are drawn text by text, and
    annotator by annotator where severities are taken out. It is not a reliability: it is not
    stepped up from half the ratings to all of them. In its interval each resample of the items takes one of the splits
    in turn, which covers the chance in both. *One annotator against the others*: for each annotator, the coefficient
    between the annotator's ratings and the means of the other ratings of the same texts, at the level; the mean over
    annotators, weighted by their number of texts. In its interval each resample of the items takes all annotators. It
    exists for coefficients of correlation. *Reliability ceiling*: see `ceiling`.

    Args:
        table: A table of n texts; an annotator's name is only an id, and texts may have different annotators.
        coefficients: Names of the coefficients.
        by: Level; see `postil.meta.correlation.correlations`.
        draws: Random draws; the seed is that of the splits, too.
        as_given: True to leave severities in the ratings.
        splits: Number of random splits, at least 1.

    Returns:
        The reference points, and the undefined ones with reasons, among them the ceiling.

    Raises:
        Undefined: There is one annotator only, or no text has two ratings.
        UnknownName: There is no such coefficient or level.
        UsageError: Fewer than one split.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> scores = [Score(str(i), "a", "length", i, "") for i in range(12)]
    >>> judges = {"ann": 0, "bob": 6}
    >>> grades = [Judgement(str(i), "a", who, i + (i == differs)) for i in range(12) for who, differs in judges.items()]
    >>> found, _ = human_agreement(join(scores, grades), ["pearson"])
    >>> round(found.reliability, 4), found.rule, found.k, round(found.ceiling, 4)
    (0.9937, 'annotators', 2.0, 0.9984)
    """
    if splits < 1:
        raise UsageError(f"expected at least one split, got {splits}")
    given = MultipleRatings.of(table)
    found = severities(table.ratings)
    adjusts = found is not None and found.significant and found.told_apart and not as_given
    rated = MultipleRatings.of(replace(table, ratings=found.adjusted)) if found and adjusts else given
    halves = rated.splits(splits, draws.seed, by_annotator=adjusts)
    work = _Resampling(rated, table.ratings.names, draws.counts(int(rated.item[-1]) + 1), draws)
    names = tuple(dict.fromkeys(coefficients))
    rows = [work.split_half(halves, name, by) for name in names]
    against = [work.one_against_others(name, by) for name in names if not TABLE[name].accuracy]
    rows += [row for row, _ in against]
    reliability, rule, pairs = _reliability(given, splits, draws.seed)
    varying = bool((table.ratings.counts < len(table.ratings.names)).any())
    k = float(1 / np.mean(1 / table.ratings.counts))
    highest = beside = None
    try:
        highest = ceiling(reliability, k)
    except Undefined as why:
        rows.append(UndefinedResult(metric=CEILING, coefficient="pearson", by="pool", reason=why.message))
    if varying and adjusts:
        with suppress(Undefined):
            beside = ceiling(_reliability(rated, splits, draws.seed)[0], k)
    sorted_rows = Correlations.of(rows)
    return HumanAgreement(
        rows=sorted_rows.rows,
        reliability=reliability,
        rule=rule,
        pairs=pairs,
        k=k,
        ceiling=highest,
        n=len(given.sizes),
        left_out=len(table) - len(given.sizes),
        adjusted=adjusts,
        varying=varying,
        adjusted_ceiling=beside,
        annotators=tuple(one for _, several in against for one in several),
    ), sorted_rows.absent


@dataclass(frozen=True, slots=True, eq=False)
class _Resampling:
    """Correlations of ratings with ratings on resamples of the items."""

    rated: MultipleRatings
    names: tuple[str, ...]
    counts: Counts
    draws: Draws

    def split_half(self, halves: Splits, coefficient: Measure, by: By) -> Correlation | UndefinedResult:
        rated, kind = self.rated, kind_of(coefficient)
        counts = self.counts
        if kind.facts.ties:
            halves = halves.first(fewer_draws(rated.item, rated.system, by, len(halves)))
        if kind.facts.soft:
            halves, counts = halves.first(SOFT_SPLITS), counts[: kind.facts.most.get(by)]
        step, patterns = len(halves), fewer_patterns(self.counts.shape[1], self.draws.permutations)
        draws = replace(self.draws, permutations=patterns)
        parts = [
            kind.resampled(Texts(one[:, None], other, rated.item, rated.system), counts[split::step], by, draws)
            for split, (one, other) in enumerate(halves)
        ]
        values, samples = (np.concatenate(each) for each in zip(*((p.values, p.samples) for p in parts), strict=True))
        dropped = max(int(part.dropped[0]) for part in parts)
        why = why_no_accuracy(rated.system) if kind.facts.of_systems else rated.why_undefined(by)
        row = row_of(HALVES, coefficient, by, values, samples, parts[0].n, dropped, why)
        ones, others = map(np.column_stack, zip(*halves, strict=True))
        texts = Texts(ones, others, rated.item, rated.system)
        return kind.completed([row], {HALVES: ones}, texts, by, self.draws, patterns)[0]

    def one_against_others(
        self, coefficient: Measure, by: By
    ) -> tuple[Correlation | UndefinedResult, list[AnnotatorCorrelation]]:
        """The mean over annotators of the coefficient with the mean of the others, and that of each annotator."""
        rated, rest, text = self.rated, self.rated.rest, self.rated.text
        kind = kind_of(coefficient)
        counts = self.counts[: kind.facts.most.get(by)]
        rows, weights, values, samples = [], [], [], []
        for number, ratings in zip(np.unique(rated.annotators).tolist(), rows_by(rated.annotators), strict=True):
            texts = text[ratings]
            value = np.nan
            if len(texts) > 1:
                items, item = np.unique(rated.item[texts], return_inverse=True)
                of = item.astype(np.int32), np.unique(rated.system[texts], return_inverse=True)[1].astype(np.int32)
                sides = Texts(rated.grades[ratings, None], rest[ratings], *of)
                part = kind.resampled(sides, counts[:, items].copy(), by, self.draws)
                value = float(part.values[0])
                weights.append(len(texts))
                values.append(value)
                samples.append(part.samples[:, 0])
            rows.append(
                AnnotatorCorrelation(
                    annotator=self.names[number],
                    coefficient=coefficient,
                    by=by,
                    value=None if math.isnan(value) else value,
                    n=len(texts),
                )
            )
        shape = len(weights), len(counts)
        each = np.column_stack([np.array(values), np.array(samples).reshape(shape)]) if weights else np.zeros((0, 1))
        share = np.array(weights, np.float64)[:, None] * ~np.isnan(each)
        means = ratio((share * np.nan_to_num(each)).sum(axis=0), share.sum(axis=0))
        n = {"pool": len(rated.sizes), "item": int(rated.item[-1]) + 1}.get(by) or len(np.unique(rated.system))
        why = rated.why_undefined(by) if weights else "no annotator has two texts that others rated as well"
        return row_of(ONE, coefficient, by, means[:1], means[1:, None], n, 0, why), rows


def _reliability(
    rated: MultipleRatings, splits: int, seed: int
) -> tuple[float | None, Literal["annotators", "ratings"], int]:
    """Pearson correlation of two single ratings of a text, the rule it is the mean by, and the number of pairs."""
    each, shared = rated.pairs_of_annotators()
    if len(each):
        return float(np.average(each, weights=shared)), "annotators", len(each)
    rng = np.random.default_rng(seed)
    each = rated.pairs_of_ratings(rated.shuffled(rng) for _ in range(splits))  # no two annotators share enough texts
    return float(each.mean()) if len(each) else None, "ratings", len(each)
