"""Preferences of readers for one of two models whose suggestions were interleaved.

The credit of a model in an impression is the number of its suggestions that were clicked plus the number that were
answered less the number that were hidden; the model with more credit wins the impression. The preference is that of
Chapelle, Joachims, Radlinski and Yue (2012, Large-scale validation and analysis of interleaved search evaluation)::

    (wins + ties / 2) / (wins + ties + losses) - 1/2

over the impressions with an event: one in which nothing was done says nothing of either model. Their credit is the
number of clicks, which is the measure ``clicked`` here.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comparison.result import (
    InterleavedPair,
    InterleavedRank,
    InterleavingResult,
    Preference,
    PreferenceSettings,
)
from postil.data.parts import Excluded
from postil.data.suggestions import EVENTS, Impression
from postil.errors import InvalidInput, Undefined, UnknownName
from postil.meta.resampling import DRAWS, Draws, estimate
from postil.meta.significance import holm
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from postil.data.row_locations import RowLocations
    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["LEAST_P", "interleaved_preferences", "sign_flip_p", "sign_test"]

CREDIT: Final = "credit"
"""Name of the measure that has all events."""

DETECTABLE: Final = 0.05
"""Preference that the needed number of impressions is for."""

UNFAIR: Final = 0.001
"""p-value of the balance of teams, after Holm's correction, below which no fair coin made them."""

FEW: Final = 20
"""Number of articles below which intervals are too narrow."""

QUANTILES: Final = 1.959964 + 0.841621
"""Sum of the normal quantiles at .975 and .8: for the level .05 of a two-sided test, and its power."""

WEIGHTS: Final = (1, 1, -1)
"""Credit of an event, in the order of `EVENTS`."""

LEAST_P: Final = 1e-9
"""Smallest p-value that is given."""

DECIMALS: Final = 10
"""Decimals of p-values; rounding errors are below them."""

REACH: Final = 16
"""Standard deviations beyond which a sum has no probability: by Hoeffding's inequality less than 1e-55."""


def interleaved_preferences(
    impressions: Iterable[Impression],
    baseline: str | None = None,
    draws: Draws = DRAWS,
    *,
    places: RowLocations | None = None,
) -> InterleavingResult:
    """Compare models by what readers did with their interleaved suggestions.

    Intervals are 95 % percentile bootstrap intervals with articles as clusters. The sign test takes impressions with a
    winner for independent. The sign-flip test flips the sum of wins less losses of whole articles, so that it holds
    where an article favors one model and has many impressions.

    Args:
        impressions: The impressions; each once.
        baseline: The model to compare with; by default the first. In pairs without it, it is their first one.
        draws: Random draws of the articles.
        places: Locations of the rows, for messages.

    Raises:
        InvalidInput: An impression is there twice; says where.
        UnknownName: There is no such model.
        Undefined: No impression has an event at a suggestion of either model.

    >>> from postil.data.suggestions import Impression
    >>> rows = [Impression(str(n), f"a{n}", ("base", "new"), (n % 2, 1 - n % 2), (n % 2 + 1,)) for n in range(8)]
    >>> [(row.model, row.measure, row.wins, row.losses, row.preference) for row in interleaved_preferences(rows).rows]
    [('new', 'credit', 0, 8, -0.5), ('new', 'clicked', 0, 8, -0.5)]
    """
    log = ImpressionCounts(impressions, places)
    names = list(dict.fromkeys(name for pair in log.pairs for name in pair.names))
    baseline = names[0] if baseline is None and names else baseline
    if baseline not in names:
        raise UnknownName("model", str(baseline), names)
    compared = [_Compared(pair, int(pair.names[1] == baseline)) for pair in log.pairs]
    rows = [row for pair in compared for row in pair.preferences(draws)]
    if not rows:
        where = f"{places.where}: " if places else ""
        raise Undefined(f"{where}no suggestion of either model was clicked, answered or hidden; there is no preference")
    ranks = [row for pair in compared for row in pair.ranks()]
    unfair = [row for row, p in zip(ranks, holm([row.p_balance for row in ranks]).tolist(), strict=True) if p < UNFAIR]
    pairs = [pair.part(unfair) for pair in compared]
    return InterleavingResult(
        baseline=baseline,
        impressions=sum(pair.impressions for pair in pairs),
        pairs=tuple(pairs),
        rows=tuple(_adjusted(rows)),
        ranks=tuple(ranks),
        left_out=(Excluded.of("not shown", log.not_shown),) if log.not_shown else (),
        notes=tuple(_notes(log, unfair, rows, pairs)),
        settings=PreferenceSettings(resamples=draws.resamples, seed=draws.seed),
    )


class _Compared:
    """Comparison of a model with the baseline."""

    def __init__(self, counts: PairCounts, base: int) -> None:
        self.counts = counts
        self.order = [base, 1 - base]
        self.baseline, self.model = (counts.names[place] for place in self.order)
        self.owners = counts.owners
        self.events = counts.events[:, self.order]
        self.there: Booleans = np.asarray(self.events.any(axis=(1, 2)))

    def preferences(self, draws: Draws) -> Iterator[Preference]:
        """The preference by credit, and by each kind of event that there is."""
        credit = self.events * WEIGHTS
        yield from self._preference(CREDIT, credit, self.there, draws)
        for place, name in enumerate(EVENTS):
            of_event = credit[:, :, place : place + 1]
            yield from self._preference(name, of_event, np.asarray(of_event.any(axis=(1, 2))), draws)

    def _preference(self, measure: str, credit: Int64s, there: Booleans, draws: Draws) -> Iterator[Preference]:
        """The preference by the credit of events, int64[n, 2, k], in the impressions that have some."""
        if not there.any():
            return
        of_both = credit.sum(axis=2)
        winner = np.sign(of_both[there, 1] - of_both[there, 0])
        articles, n = _by_article(self.owners[there], winner)
        samples = _resampled(articles, n, draws)
        found = estimate(np.concatenate([[winner.mean() / 2], samples]), len(n))
        wins, losses = int((winner > 0).sum()), int((winner < 0).sum())
        total = of_both.sum(axis=0).tolist() if measure == CREDIT else np.abs(of_both).sum(axis=0).tolist()
        yield Preference(
            model=self.model,
            baseline=self.baseline,
            measure=measure,
            model_events=total[1],
            baseline_events=total[0],
            impressions=len(winner),
            wins=wins,
            ties=len(winner) - wins - losses,
            losses=losses,
            preference=found.value,
            low=found.low,
            high=found.high,
            share=wins / (wins + losses) if wins + losses else None,
            p_sign=sign_test(wins, losses),
            p_articles=sign_flip_p(articles),
            p_holm=None,
        )

    def part(self, unfair: Sequence[InterleavedRank]) -> InterleavedPair:
        """Numbers of impressions, the number that is needed, and whether the pair is none of the unfair ranks'."""
        credit = (self.events * WEIGHTS).sum(axis=2)[self.there]
        winner = np.sign(credit[:, 1] - credit[:, 0])
        needed = _needed(self.owners[self.there], winner)
        return InterleavedPair(
            model=self.model,
            baseline=self.baseline,
            impressions=self.counts.impressions,
            shown=len(self.there),
            outcomes=len(winner),
            articles=len(np.unique(self.owners)),
            needed=None if needed is None else int(np.ceil(needed * len(self.there) / len(winner))),
            detectable=DETECTABLE,
            balanced=all({row.model, row.baseline} != set(self.counts.names) for row in unfair),
        )

    def ranks(self) -> Iterator[InterleavedRank]:
        """Suggestions and events at each rank that has a suggestion of either model."""
        teams, events = self.counts.teams, self.counts.events_at_ranks[:, self.order]
        for place, (of_base, of_model) in enumerate(events.tolist()):
            base, model = (teams[:, place] == team for team in self.order)
            if not (base.any() or model.any()):
                continue
            differences, _ = _by_article(self.owners, model.astype(np.int64) - base)
            p = sign_flip_p(differences)
            yield InterleavedRank(
                model=self.model,
                baseline=self.baseline,
                rank=place + 1,
                of_model=int(model.sum()),
                of_baseline=int(base.sum()),
                p_balance=1.0 if p is None else p,
                **{f"model_{name}": n for name, n in zip(EVENTS, of_model, strict=True)},
                **{f"baseline_{name}": n for name, n in zip(EVENTS, of_base, strict=True)},
            )


def _by_article(owners: Int64s, values: Int64s) -> tuple[Int64s, Int64s]:
    """Sums of values by article, and their numbers."""
    _, places, n = np.unique(owners, return_inverse=True, return_counts=True)
    return np.bincount(places, values).astype(np.int64), n


def _resampled(sums: Int64s, n: Int64s, draws: Draws) -> Floats:
    """Preferences in resamples of the articles, float64[resamples].

    Most articles have the same few sums and numbers, so the number of articles of each kind is drawn, and a log of a
    million articles needs no more memory than one of a thousand.
    """
    kinds, numbers = np.unique(np.column_stack([sums, n]), axis=0, return_counts=True)
    drawn = np.random.default_rng(draws.seed).multinomial(len(n), numbers / len(n), draws.resamples)
    resampled = drawn @ kinds
    return np.asarray(resampled[:, 0] / resampled[:, 1] / 2, np.float64)


def _needed(owners: Int64s, winner: Int64s) -> float | None:
    """Number of impressions with an event for a test of a preference of `DETECTABLE`; None where none has a winner.

    The variance of the preference of n of them is ``d (1 - t) / (4 n)``: t is the share of ties, and d the design
    effect, the variance with articles as clusters as a multiple of that of independent impressions, at least 1.
    """
    decided = float(np.abs(winner).mean()) if len(winner) else 0.0
    if not decided:
        return None
    sums, n = _by_article(owners, winner)
    mean = winner.mean()
    independent = float(((winner - mean) ** 2).sum())
    clustered = float(((sums - n * mean) ** 2).sum())
    effect = max(1.0, clustered / independent) if independent else 1.0
    return effect * decided / 4 * (QUANTILES / DETECTABLE) ** 2


def _adjusted(rows: Sequence[Preference]) -> Iterator[Preference]:
    """Add p after Holm's correction for the pairs, measure by measure."""
    corrected: dict[int, float] = {}
    for measure in (CREDIT, *EVENTS):
        p = {at: row.p_articles for at, row in enumerate(rows) if row.measure == measure and row.p_articles is not None}
        corrected.update(zip(p, holm([*p.values()]).tolist(), strict=True))
    for at, row in enumerate(rows):
        yield replace(row, p_holm=corrected.get(at))


def _notes(
    log: ImpressionCounts,
    unfair: Sequence[InterleavedRank],
    rows: Sequence[Preference],
    pairs: Sequence[InterleavedPair],
) -> Iterator[str]:
    """Notes on what makes preferences doubtful, and on events that count for nobody."""
    for row in unfair:
        yield (
            f"rank {row.rank} has {row.of_model:,} suggestions of {row.model} and {row.of_baseline:,} of "
            f"{row.baseline} (p {row.p_balance:.2g}), which a fair coin does not give: impressions are missing, or the "
            "lists are of another making"
        )
    if log.shown_by_events:
        yield f"impressions with an event that are not marked as shown, counted as shown: {len(log.shown_by_events):,}"
    if uncounted := sum(pair.uncounted for pair in log.pairs):
        yield f"events at suggestions of neither model, not counted: {uncounted:,}"
    if any(row.low is None for row in rows):
        yield "an interval needs impressions with an event of two articles"
    for pair in pairs:
        if 1 < pair.articles < FEW:
            names = f"{pair.model} against {pair.baseline}"
            yield f"{names}: intervals of fewer than {FEW} articles are too narrow; p (articles) holds"


def sign_flip_p(values: ArrayLike) -> float | None:
    """Compute the p-value of a sum whose terms have either sign with probability 1/2.

    The probabilities of all sums are the inverse Fourier transform of the characteristic function, the product of
    ``cos(v t)`` over the values v, so that no pattern of signs is drawn or enumerated.

    Args:
        values: Integers[n], such as wins less losses of each article.

    Returns:
        The probability of a sum at least as far from 0, at least `LEAST_P`; None where all values are 0.

    >>> sign_flip_p([1, 1, 1, 1, 0]), sign_flip_p([2, -1]), sign_flip_p([0])
    (0.125, 1.0, None)
    """
    given = np.asarray(values, np.int64)
    sizes, numbers = np.unique(np.abs(given[given != 0]), return_counts=True)
    if not len(sizes):
        return None
    observed = abs(int(given.sum()))
    deviation = math.sqrt(numbers @ sizes.astype(np.float64) ** 2)
    farthest = min(int(sizes @ numbers), math.ceil(REACH * deviation))
    if observed > farthest:
        return LEAST_P
    length = 1 << (2 * farthest).bit_length()
    angles = 2 * np.pi / length * np.arange(length // 2 + 1)
    transform = np.ones(len(angles))
    for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
        transform *= np.cos(size * angles) ** number
    of_sums = np.fft.irfft(transform, length)
    p = 2 * of_sums[observed : farthest + 1].sum() if observed else 1.0
    return round(float(min(1.0, max(LEAST_P, p))), DECIMALS)


def sign_test(wins: int, losses: int) -> float | None:
    """Sign test, two-sided: the exact binomial p-value of wins and losses that are equally likely.

    Args:
        wins: Number of wins.
        losses: Number of losses.

    Returns:
        The p-value; None where there are none.

    >>> sign_test(4, 0), sign_test(6, 2), sign_test(0, 0)
    (0.125, 0.2890625, None)
    """
    return sign_flip_p(np.repeat([1, -1], [wins, losses]))


class PairCounts:
    """Events of the impressions of two models that were displayed.

    Args:
        names: The models.

    Attributes:
        impressions: Number of impressions, displayed or not.
        uncounted: Number of events at suggestions of neither model.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.impressions = 0
        self.uncounted = 0
        self._articles: dict[str, int] = {}
        self._owners = array("q")
        self._events = array("q")
        self._lists: dict[tuple[int | None, ...], int] = {}
        self._list_of = array("q")
        self._at_ranks: Counter[tuple[int, int, int]] = Counter()

    def add(self, row: Impression) -> None:
        """Count an impression that was displayed.

        Args:
            row: The impression, of the two models in either order.
        """
        turned = row.models != self.names
        teams = tuple([None if team is None else team ^ turned for team in row.teams])
        self._list_of.append(self._lists.setdefault(teams, len(self._lists)))
        self._owners.append(self._articles.setdefault(row.article, len(self._articles)))
        counts = [0] * (2 * len(EVENTS))
        for event, ranks in enumerate((row.clicked, row.answered, row.hidden)):
            for rank in ranks:
                team = teams[rank - 1]
                if team is None:
                    self.uncounted += 1
                else:
                    counts[team * len(EVENTS) + event] += 1
                    self._at_ranks[rank, team, event] += 1
        self._events.extend(counts)

    @property
    def owners(self) -> Int64s:
        """The article of each impression, int64[n]."""
        return np.array(self._owners, np.int64)

    @property
    def events(self) -> Int64s:
        """Numbers of suggestions by impression, model and event, int64[n, 2, 3]; see `EVENTS`."""
        return np.array(self._events, np.int64).reshape(-1, 2, len(EVENTS))

    @property
    def teams(self) -> Int64s:
        """The model of each suggestion, int64[n, ranks]: 0 or 1, -1 for neither and where there is no suggestion."""
        ranks = max(map(len, self._lists), default=0)
        lists = [
            [-1 if team is None else team for team in teams] + [-1] * (ranks - len(teams)) for teams in self._lists
        ]
        found = np.array(lists, np.int64).reshape(-1, ranks)
        return found[np.array(self._list_of, np.int64)]

    @property
    def events_at_ranks(self) -> Int64s:
        """Numbers of impressions by rank, model of the suggestion there and event at it, int64[ranks, 2, 3]."""
        found = np.zeros((max(map(len, self._lists), default=0), 2, len(EVENTS)), np.int64)
        for (rank, team, event), n in self._at_ranks.items():
            found[rank - 1, team, event] = n
        return found


class ImpressionCounts:
    """Events of a log, by pair of models in the order of their first impressions.

    Args:
        impressions: The impressions.
        places: Locations of the rows, for messages.

    Raises:
        InvalidInput: An impression is there twice; says where.

    Attributes:
        pairs: The pairs.
        not_shown: Impressions that were not displayed, and have no event.
        shown_by_events: Impressions that were not displayed by what the log says, and have an event.
    """

    def __init__(self, impressions: Iterable[Impression], places: RowLocations | None = None) -> None:
        self.not_shown: list[str] = []
        self.shown_by_events: list[str] = []
        found: dict[frozenset[str], PairCounts] = {}
        rows: dict[str, int] = {}
        for index, row in enumerate(impressions):
            first = rows.setdefault(row.impression, index)
            if first != index:
                raise _repeated(row.impression, first, index, places)
            pair = found.setdefault(frozenset(row.models), PairCounts(row.models))
            pair.impressions += 1
            if not row.shown and not (row.clicked or row.answered or row.hidden):
                self.not_shown.append(row.impression)
                continue
            if not row.shown:
                self.shown_by_events.append(row.impression)
            pair.add(row)
        self.pairs = list(found.values())


def _repeated(name: str, first: int, index: int, places: RowLocations | None) -> InvalidInput:
    lines = (first + 1, index + 1) if places is None else (places.line(first), places.line(index))
    problem = f"expected one row per impression, got '{name}' of line {lines[0]} again"
    if places is None:
        return InvalidInput(problem, where="impressions", line=lines[1], field="impression")
    return places.error(index, "impression", problem)
