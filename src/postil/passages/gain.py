"""Normalized cumulative gain (nCG; no discount, so not nDCG) of rankings, compared with tests of their differences."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.data.ranking import best_first, difference, joined
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import Message, Setting
from postil.meta.permutation import sign_flips
from postil.meta.resampling import RESAMPLES, SEED, Draws, bootstrap_counts, interval, p_value
from postil.meta.significance import holm
from postil.passages.options import Pool
from postil.passages.result import FLIPS, Gain, GainCurvePoints, GainDifference, ranking, smallest_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = [
    "LINE_RESAMPLES",
    "GainCurve",
    "PassageRanking",
    "PassageRankings",
    "Ranked",
    "Ties",
    "gain_curve",
    "gain_differences",
    "normalized_gains",
    "share_of_best",
]


class Ranked:
    """Rows in the order of their scores, the rows of a tie as one block; with keys no row is tied.

    Args:
        scores: float64[n], higher is better.
        grades: float64[n], 0 or more.
        keys: n keys that break ties.
    """

    def __init__(
        self,
        scores: NDArray[np.float64],
        grades: NDArray[np.float64],
        keys: Sequence[str] | Sequence[int] | None = None,
    ) -> None:
        scores = joined(scores)
        self._order = best_first(scores, keys=keys)
        self._grades = grades[self._order]
        falling = scores[self._order]
        last = np.ones(len(scores), bool)
        if keys is None:
            last[:-1] = falling[1:] != falling[:-1]
        self._ends = np.flatnonzero(last)

    @classmethod
    def best(cls, grades: NDArray[np.float64]) -> Ranked:
        """Rows in the order of their grades.

        Args:
            grades: float64[n].
        """
        return cls(grades, grades)

    def gains(
        self,
        cutoffs: NDArray[np.int64],
        counts: NDArray[np.int32] | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> NDArray[np.float64]:
        """Gain of L lists at each rank cutoff, float64[L, cutoffs].

        Over a block, and over the copies of a row, the expected gain grows evenly: a straight line from end to end.

        Args:
            cutoffs: int64[c], rank cutoffs.
            counts: int32[L, g], number of copies of the rows of each group in each list; by default one list with one
                of each row.
            groups: int64[n], group of each row, with ``counts``.
        """
        rows, blocks = self._copies(int(cutoffs.max()), counts, groups)
        gains = self._sums(rows * self._grades[: rows.shape[1]], blocks)
        rows = self._sums(rows, blocks)
        # One call of interp for all lists: each list has its own stretch of the axis.
        apart = (rows[:, -1].max() + 1) * np.arange(len(rows))[:, None]
        at = np.minimum(cutoffs, rows[:, -1:]) + apart
        return np.asarray(np.interp(at, (rows + apart).ravel(), gains.ravel()), np.float64)

    def _copies(
        self, longest: int, counts: NDArray[np.int32] | None, groups: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.float64], int]:
        """Copies of the best rows in each list, and their number of blocks, which hold the largest cutoff in all lists.

        Rows below the largest cutoff are never looked at, and there may be many of them.
        """
        most = len(self._ends)
        blocks = min(int(np.searchsorted(self._ends, longest - 1)) + 1, most)
        while True:
            rows = self._order[: self._ends[blocks - 1] + 1]
            if counts is None or groups is None:
                return np.ones((1, len(rows))), blocks
            copies = counts[:, groups[rows]].astype(np.float64)
            if blocks == most or copies.sum(axis=1).min() >= longest:
                return copies, blocks
            blocks = min(blocks + blocks // 4 + 1, most)

    def _sums(self, values: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
        """Sums of each list up to the end of each of the first blocks, with a 0 before them."""
        sums = np.zeros((len(values), blocks + 1))
        sums[:, 1:] = np.cumsum(values, axis=1)[:, self._ends[:blocks]]
        return sums


def share_of_best(
    ranked: Ranked,
    best: Ranked,
    cutoffs: NDArray[np.int64],
    counts: NDArray[np.int32] | None = None,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Gain divided by the best possible gain.

    Args:
        ranked: Rows in their order.
        best: The same rows in their best order.
        cutoffs: int64[c], rank cutoffs.
        counts: int32[L, g], see `Ranked.gains`.
        groups: int64[n], see `Ranked.gains`.

    Returns:
        float64[L, c], from 0 to 1; NaN where a list has no grade above 0.

    >>> scores, grades = np.array([3.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0])
    >>> share_of_best(Ranked(scores, grades), Ranked.best(grades), np.array([1, 3])).tolist()
    [[0.5, 1.0]]
    """
    gain, most = ranked.gains(cutoffs, counts, groups), best.gains(cutoffs, counts, groups)
    # Sums in different orders differ in their last digits, so a best ranking could come out above 1.
    share = np.full(most.shape, np.nan)
    np.divide(np.minimum(gain, most), most, out=share, where=most > 0)
    return share


Ties: TypeAlias = Literal["expected", "key"]
"""`expected` takes the mean over all orders of tied rows; `key` puts the lower key first, as `Ranking` does."""

CELLS: Final = 2**18
"""Largest number of cells of a block of resamples; larger arrays are fresh memory each time, at twice the time."""


@dataclass(frozen=True, slots=True, eq=False)
class GainCurve:
    """nCG of one ranking at several rank cutoffs.

    Args:
        cutoffs: The rank cutoffs.
        ncg: float64[c], nCG at each cutoff, from 0 to 1; higher is better.
        low: float64[c], the 2.5th percentile over resamples of the topics; None with a single topic.
        high: float64[c], the 97.5th percentile; None with a single topic.
        n: Number of ranked rows.
        topics: int32[t], the topics that count, ascending.
        left_out: Topics without a grade above 0, which have no nCG; none with `all`, where their rows stay in the list.
        pool: `topic` if each topic was ranked by itself, `all` if all rows were in one list.
        ties: The tie rule.
        by_topic: float64[t, c], nCG of each topic; None with `all`, where topics have none of their own.
        samples: float64[R, c], nCG in each resample, NaN where it drew no grade above 0.
        seed: The seed of the resamples.
    """

    cutoffs: tuple[int, ...]
    ncg: Floats
    low: Floats | None
    high: Floats | None
    n: int
    topics: Int32s
    left_out: tuple[int, ...]
    pool: Pool
    ties: Ties
    by_topic: Floats | None
    samples: Floats
    seed: int


def normalized_gains(scores: ArrayLike, grades: ArrayLike) -> Floats:
    """Normalized cumulative gain (nCG) at every rank cutoff: expected gain / the best possible sum of as many grades.

    Source: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text Informativeness Measures to Passage
    Interestingness Evaluation", equation 11. The gain is the mean over all orders of tied rows: a tie of t rows with
    grades that sum to g adds ``g j / t`` where j of its rows are above the cutoff. Ties are relative, by chains
    (`postil.data.ranking`).

    Args:
        scores: float64[n], higher is better; infinities are allowed.
        grades: float64[n], 0 or more.

    Returns:
        float64[n], from 0 to 1.

    Raises:
        InvalidInput: A score is NaN, or a grade is negative or not finite; says which.
        Undefined: There are no rows, or no grade is above 0.

    >>> normalized_gains([0.9, 0.5, 0.5, 0.1], [1, 0, 3, 2]).round(3).tolist()
    [0.333, 0.5, 0.667, 1.0]
    """
    values, gains = _columns(scores, grades)
    if not gains.any():
        raise Undefined("no grade is above 0, so there is nothing to gain")
    return share_of_best(Ranked(values, gains), Ranked.best(gains), np.arange(1, len(gains) + 1)).ravel()


def gain_curve(
    scores: ArrayLike,
    grades: ArrayLike,
    topics: ArrayLike,
    cutoffs: Sequence[int],
    *,
    pool: Pool = "topic",
    ties: Ties = "expected",
    keys: Sequence[str] | Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> GainCurve:
    """Compute nCG at several rank cutoffs, averaged over topics or in one list, with a bootstrap over topics.

    In a list shorter than a cutoff, the cutoff takes all of it. A resample draws topics with replacement. With `all` it
    ranks the rows of the drawn topics anew, a topic that was drawn twice with two copies of each row.

    Args:
        scores: float64[n], higher is better; infinities are allowed. Ties as in `normalized_gains`.
        grades: float64[n], 0 or more.
        topics: int32[n], the number of each row's topic (or fold).
        cutoffs: Rank cutoffs k, each 1 or more.
        pool: `topic` or `all`.
        ties: `expected` or `key`.
        keys: n keys for `key`, unique in a list; by default the positions of the rows.
        resamples: Number of resamples.
        seed: The seed.

    Raises:
        InvalidInput: A score is NaN, a grade is negative or not finite, or a key stands twice in a list.
        UsageError: A cutoff below 1, no cutoff, or keys without the rule `key`; `UnknownName` for another pool or rule.
        Undefined: There are no rows, or no grade is above 0.

    >>> curve = gain_curve([3, 2, 1, 2, 1], [1, 0, 2, 0, 0], [7, 7, 7, 9, 9], [1, 2, 3])
    >>> curve.ncg.round(3).tolist(), curve.topics.tolist(), curve.left_out
    ([0.5, 0.333, 1.0], [7], (9,))
    >>> gain_curve([3, 2, 1, 2, 1], [1, 0, 2, 0, 1], [7, 7, 7, 9, 9], [1, 2], pool="all").ncg.round(3).tolist()
    [0.5, 0.333]
    """
    for kind, name, known in (("pool", pool, get_args(Pool)), ("tie rule", ties, get_args(Ties))):
        UnknownName.check(kind, name, known)
    values, gains = _columns(scores, grades)
    k = np.array(cutoffs)
    if not len(k) or k.dtype.kind not in "iu" or k.min() < 1:
        raise UsageError(f"rank cutoffs are integers of at least 1, got {', '.join(map(str, cutoffs)) or 'none'}")
    if keys is not None and ties != "key":
        raise UsageError("keys break ties with the tie rule 'key' alone")
    numbers, topic = np.unique(np.asarray(topics), return_inverse=True)
    for argument, size in (("topics", len(topic)), ("keys", len(gains) if keys is None else len(keys))):
        if size != len(gains):
            raise InvalidInput(f"expected one for each of {len(gains)} rows, got {size}", where=argument)
    rich = np.bincount(topic, gains) > 0
    if not rich.any():
        raise Undefined("no grade is above 0, so there is nothing to gain")
    rows = _Rows(values, gains, ties, keys)
    counted = rich if pool == "topic" else np.ones_like(rich)
    counts = bootstrap_counts(int(counted.sum()), resamples, seed)
    by_topic = _topic_gains(rows, topic, rich, k) if pool == "topic" else None
    if by_topic is not None:
        ncg, samples = by_topic.mean(axis=0), counts @ by_topic / len(by_topic)
    else:
        ncg, samples = _list_gains(rows, topic, counts, k)
    band = None if counted.sum() < 2 or np.isnan(samples).all() else np.nanpercentile(samples, (2.5, 97.5), axis=0)
    return GainCurve(
        cutoffs=tuple(k.tolist()),
        ncg=ncg,
        low=None if band is None else band[0],
        high=None if band is None else band[1],
        n=len(gains),
        topics=numbers[counted].astype(np.int32),
        left_out=tuple(numbers[~counted].tolist()),
        pool=pool,
        ties=ties,
        by_topic=by_topic,
        samples=samples,
        seed=seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Scores and grades with their tie rule."""

    scores: Floats
    grades: Floats
    ties: Ties
    keys: Sequence[str] | Sequence[int] | None

    def ranked(self, rows: Int64s) -> Ranked:
        """Rank some of the rows."""
        if self.ties == "expected":
            return Ranked(self.scores[rows], self.grades[rows])
        keys = rows.tolist() if self.keys is None else [self.keys[row] for row in rows]
        try:
            return Ranked(self.scores[rows], self.grades[rows], keys)
        except InvalidInput as error:  # the row that it names is counted within the list
            raise InvalidInput(error.problem, where="keys") from None


def _topic_gains(rows: _Rows, topic: NDArray[np.intp], rich: Booleans, k: Int64s) -> Floats:
    """Compute nCG of each topic that has a grade above 0, float64[topics, c]."""
    lists = np.split(np.argsort(topic, kind="stable"), np.cumsum(np.bincount(topic))[:-1])
    return np.concatenate(
        [
            share_of_best(rows.ranked(some), Ranked.best(rows.grades[some]), k)
            for some, kept in zip(lists, rich, strict=True)
            if kept
        ]
    )


def _list_gains(rows: _Rows, topic: NDArray[np.intp], counts: Int32s, k: Int64s) -> tuple[Floats, Floats]:
    """Compute nCG of one list, float64[c], and of each of its resamples, float64[R, c]."""
    n = len(rows.grades)
    one_list, best = rows.ranked(np.arange(n)), Ranked.best(rows.grades)
    step = max(1, CELLS // n)
    blocks = (counts[start : start + step] for start in range(0, len(counts), step))
    samples = np.concatenate([share_of_best(one_list, best, k, block, topic) for block in blocks])
    return share_of_best(one_list, best, k)[0], samples


def gain_differences(
    curves: Mapping[str, GainCurve], cutoffs: Sequence[int] | None = None, *, flips: int = FLIPS
) -> tuple[GainDifference, ...]:
    """Compare every two rankings at each rank cutoff.

    The interval is a paired bootstrap over topics. The p of `sign-flip` is the share of sign patterns whose mean
    difference is as large as the observed one, when each topic's difference changes its sign with probability 1/2: over
    all sign patterns where there are at most `flips` of them, else over as many random ones and the observed one. Where
    all rows are in one list topics have no differences of their own, and p is that of the bootstrap (see
    `resampling.p_value`).

    Args:
        curves: By ranking; all over the same rows, with the same cutoffs, rules, resamples and seed.
        cutoffs: The rank cutoffs to compare at; by default all of the curves.
        flips: Number of sign patterns.

    Returns:
        One row per cutoff and pair, by cutoff, then in the order of the curves.

    Raises:
        UsageError: The curves do not go together, or have no such cutoff.
        Undefined: Fewer than two curves, or fewer than two topics.

    >>> grades, topics = [1, 0, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2]
    >>> measures = {"good": [2, 1, 3, 0, 1, 2], "length": [1, 3, 2, 3, 1, 2]}
    >>> curves = {name: gain_curve(scores, grades, topics, [1, 2]) for name, scores in measures.items()}
    >>> [(row.first, row.second, row.value, row.p) for row in gain_differences(curves, [1])]
    [('good', 'length', 1.0, 0.5)]
    """
    if len(curves) < 2:
        raise Undefined(f"a difference needs two measures, got {len(curves)}")
    one = next(iter(curves.values()))
    for name, curve in curves.items():
        if _terms(curve) != _terms(one):
            raise UsageError(
                f"curves that are compared share all but the measure: {name} has other rows, cutoffs, rules, resamples "
                f"or seed than {next(iter(curves))}"
            )
    for k in cutoffs or ():
        if k not in one.cutoffs:
            raise UsageError(f"the curves have no rank cutoff {k}; theirs are {', '.join(map(str, one.cutoffs))}")
    if len(one.topics) < 2:
        raise Undefined("a test over topics needs two of them, and there is one")
    wanted = dict.fromkeys(cutoffs or one.cutoffs)
    return tuple(row for k in wanted for row in _compared(curves, k, one.cutoffs.index(k), flips))


def _compared(curves: Mapping[str, GainCurve], k: int, column: int, flips: int) -> Iterator[GainDifference]:
    """Compare all pairs at one rank cutoff."""
    pairs = list(combinations(curves, 2))
    values = [float(difference(*(curves[name].ncg[column] for name in pair))) for pair in pairs]
    samples = [difference(*(curves[name].samples[:, column] for name in pair)) for pair in pairs]
    by_topic = {name: curve.by_topic[:, column] for name, curve in curves.items() if curve.by_topic is not None}
    if by_topic:
        test = "sign-flip"
        seed = next(iter(curves.values())).seed
        one, other = (np.stack([by_topic[name] for name in side], axis=1) for side in zip(*pairs, strict=True))
        p = sign_flips(one, other, flips, seed)
    else:
        test, p = "bootstrap", np.array([p_value(differences) for differences in samples])
    for (first, second), value, drawn, alone, corrected in zip(pairs, values, samples, p, holm(p), strict=True):
        around = interval(drawn)
        yield GainDifference(
            first=first,
            second=second,
            k=k,
            value=value,
            low=around.low,
            high=around.high,
            p=float(alone),
            p_holm=float(corrected),
            test=test,
        )


def _terms(curve: GainCurve) -> tuple[object, ...]:
    """The terms that two comparable curves share."""
    same = (curve.cutoffs, curve.n, curve.topics.tolist(), curve.left_out)
    return (*same, curve.pool, curve.ties, curve.samples.shape, curve.seed)


def _columns(scores: ArrayLike, grades: ArrayLike) -> tuple[Floats, Floats]:
    """Check scores and grades, and return them as arrays."""
    values, gains = np.array(scores, np.float64), np.array(grades, np.float64)
    if values.shape != gains.shape or values.ndim != 1:
        raise InvalidInput(f"expected one for each of {values.size} scores, got {gains.size}", where="grades")
    if not len(values):
        raise Undefined("there are no rows to rank")
    for row in np.flatnonzero(np.isnan(values)):
        raise InvalidInput("expected a number, got NaN", where=f"scores[{row}]")
    for row in np.flatnonzero(~(np.isfinite(gains) & (gains >= 0))):
        raise InvalidInput(f"expected a finite number of at least 0, got {gains[row]:g}", where=f"grades[{row}]")
    return values, gains


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
                lists = Message(", or rank by {pool}, which has a test by sign flips", pool=Setting("pool", "topic"))
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
