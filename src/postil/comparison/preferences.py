"""Comparison of systems by paired preferences: win rates, strengths, and how well strengths explain them.

Strengths are those of the model of Bradley and Terry (1952), with the ties of Davidson (1970). With strengths s,
natural logarithms, and the number nu that says how frequent ties are::

    P(i over j) = exp(s_i) / d,  P(tie) = nu exp((s_i + s_j) / 2) / d,  P(j over i) = exp(s_j) / d

where d makes the three add up to 1. Without ties nu is 0, and the odds of i over j are ``exp(s_i - s_j)``.

Without ties the likelihood has a finite maximum if and only if no group of systems is preferred to all others every
time (Ford 1957). With ties, which lead from either system to the other, it also needs a cycle of wins, such as a pair
with wins both ways: else all winners may be infinitely stronger while ties become as much more frequent. Where either
is missing, half a preference each way is added to every pair that was compared, which makes the maximum finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.comparison.result import PreferenceSettings, PreferencesResult, PreferredPair, PreferredSystem
from postil.data.fields import as_id
from postil.data.parts import Estimate
from postil.errors import InvalidInput, Undefined, UnknownName
from postil.meta.resampling import CELLS, DRAWS, Draws, bootstrap_counts, estimate
from postil.meta.significance import NORMAL, compact_letters, holm, rank_ranges
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.data.row_locations import RowLocations
    from postil.data.rows import PairPreference
    from postil.kernel.arrays import Booleans, Floats, Int32s, Int64s

__all__ = ["LOSS", "TIE", "WIN", "Pairs", "Seen", "Strengths", "check_once", "groups_apart", "preferred_systems"]

Seen: TypeAlias = "dict[tuple[str, frozenset[str], str], int]"
"""Indexes of preferences by item, systems and annotator."""

WIN, TIE, LOSS = range(3)
"""Outcomes of a pair, for its first system, in the order of counts."""

ADDED: Final = 0.5
"""Number of preferences that are added each way where systems are separated."""

STEPS: Final = 100
"""Largest number of Newton steps."""

TOLERANCE: Final = 1e-10
"""Largest gradient, per preference, at the maximum."""

LARGEST: Final = 25.0
"""Largest absolute value of log nu: a resample may lack the ties that the data have."""

LEVEL: Final = 0.05

FEW: Final = 20
"""Number of items below which intervals are too narrow."""

NAMED: Final = 3
"""Largest number of systems of a group, or of pairs, that a sentence names."""


def preferred_systems(
    preferences: Iterable[PairPreference],
    baseline: str | None = None,
    draws: Draws = DRAWS,
    *,
    places: RowLocations | None = None,
) -> PreferencesResult:
    """Compare systems by paired preferences: win rates, and strengths in the model of Bradley, Terry and Davidson.

    Intervals are 95 % percentile bootstrap intervals with items as clusters. The variance of a difference of strengths
    in its test is the larger of the bootstrap's and the model's, which also holds where every resample is alike.

    Args:
        preferences: The preferences; each once.
        baseline: The system whose strength is 0; None for a mean strength of 0.
        draws: Random draws of the items.
        places: Locations of the rows, for messages.

    Raises:
        InvalidInput: An annotator judged a pair of an item twice; says where.
        UnknownName: There is no such system.
        Undefined: There is no preference, or no comparison connects two groups of systems.

    >>> from postil.data.rows import PairPreference
    >>> rows = [PairPreference(str(n), "base", "new", "A1", "baab"[n % 4]) for n in range(7)]
    >>> found = preferred_systems(rows)
    >>> [(row.system, row.wins, row.losses, round(row.strength, 3)) for row in found.systems]
    [('base', 4, 3, 0.144), ('new', 3, 4, -0.144)]
    """
    table = _Table(preferences, places)
    baseline = None if baseline is None else as_id(baseline)
    if baseline is not None and baseline not in table.systems:
        raise UnknownName("system", baseline, list(table.systems))
    found = _Fitted(table, baseline, draws)
    pairs = found.pairs()
    return PreferencesResult(
        preferences=table.n,
        items=table.items,
        annotators=table.annotators,
        systems=found.systems(pairs),
        pairs=pairs,
        tie_parameter=float(found.all.ties[0]) if found.model.ties else None,
        left=table.left(draws),
        separated=found.is_separated,
        baseline=baseline,
        notes=tuple(_notes(table, found, pairs)),
        settings=PreferenceSettings(resamples=draws.resamples, seed=draws.seed),
    )


class _Table:
    """Preferences as numbers of outcomes of pairs of systems, by item."""

    def __init__(self, preferences: Iterable[PairPreference], places: RowLocations | None) -> None:
        names: dict[str, int] = {}
        items: dict[str, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        seen: Seen = {}
        people, cells, owners, sides = set(), [], [], []
        for index, row in enumerate(preferences):
            check_once(seen, row, index, places)
            a, b = (names.setdefault(name, len(names)) for name in (row.system_a, row.system_b))
            outcome = {"a": WIN, "tie": TIE, "b": LOSS}[row.preference]
            pair = pairs.setdefault((min(a, b), max(a, b)), len(pairs))
            cells.append(3 * pair + (outcome if a < b else LOSS - outcome))
            owners.append(items.setdefault(row.item, len(items)))
            people.add(row.annotator)
            sides.append(0 if row.left is None or outcome == TIE else 1 if row.left == row.preference else -1)
        self.where = f"{places.where}: " if places else ""
        if not cells:
            raise Undefined(f"{self.where}there is no preference")
        self.n, self.items, self.annotators = len(cells), len(items), len(people)
        self.systems = tuple(names)
        self.first, self.second = np.array([*pairs], np.int64).T
        self._cells, self._owners, self._sides = (np.array(each, np.int64) for each in (cells, owners, sides))

    def counts(self, multiplicities: Int32s) -> Floats:
        """Numbers of outcomes where each item counts several times: float64[R, P, 3] from int32[R, items]."""
        size = 3 * len(self.first)
        rows = [np.bincount(self._cells, of_item[self._owners], minlength=size) for of_item in multiplicities]
        return np.array(rows, np.float64).reshape(-1, len(self.first), 3)

    def left(self, draws: Draws) -> Estimate | None:
        """Share of the decided preferences that are for the text on the left; None where no side is known."""
        decided = self._sides != 0
        if not decided.any():
            return None
        _, owners, n = np.unique(self._owners[decided], return_inverse=True, return_counts=True)
        left = np.bincount(owners, self._sides[decided] > 0)
        drawn = bootstrap_counts(len(n), draws.resamples, draws.seed)
        return estimate(np.concatenate([[left.sum() / n.sum()], (drawn @ left) / (drawn @ n)]), len(n))


def check_once(seen: Seen, row: PairPreference, index: int, places: RowLocations | None) -> None:
    """Refuse a preference of an annotator for a pair that has one already.

    Args:
        seen: Indexes of the preferences so far, to which this one is added.
        row: The preference.
        index: Its index.
        places: Locations of the rows, for messages.

    Raises:
        InvalidInput: There is another one; says where.
    """
    key = row.item, frozenset((row.system_a, row.system_b)), row.annotator
    first = seen.setdefault(key, index)
    if first == index:
        return
    lines = (first + 1, index + 1) if places is None else (places.line(first), places.line(index))
    problem = (
        f"expected one preference of {row.annotator} for {row.system_a} and {row.system_b} of item {row.item}, got "
        f"another one on line {lines[0]}"
    )
    if places is None:
        raise InvalidInput(problem, where="preferences", line=lines[1])
    raise places.error(index, "annotator", problem)


class _Fitted:
    """Strengths, win rates and shares of all preferences, and of resamples of the items."""

    def __init__(self, table: _Table, baseline: str | None, draws: Draws) -> None:
        self.table = table
        size = len(table.systems)
        apart = groups_apart(size, table.first, table.second)
        if len(apart) > 1:
            raise _apart([[table.systems[place] for place in group] for group in apart], table.where)
        self.counts = table.counts(np.ones((1, table.items), np.int32))
        self._places = table.first, table.second
        self.model = Pairs(size, table.first, table.second, ties=bool(self.counts[..., TIE].any()))
        self.all = self.model.fit(self.counts)
        self.is_separated = bool(self.all.separated[0])
        self._base = None if baseline is None else table.systems.index(baseline)
        self._order = sorted(range(size), key=lambda place: (-self.all.values[0, place], table.systems[place]))
        drawn = bootstrap_counts(table.items, draws.resamples, draws.seed)
        step = max(1, CELLS // max(3 * len(table.first), (size + 1) ** 2))
        blocks = [self._resampled(drawn[at : at + step]) for at in range(0, len(drawn), step)]
        self._strengths, self._rates, self._excess = (np.concatenate(of, axis=0) for of in zip(*blocks, strict=True))
        self._covariance = self.model.covariance(self.all, self.counts)[0]

    def _resampled(self, drawn: Int32s) -> tuple[Floats, Floats, Floats]:
        """Strengths and win rates of systems, and shares of pairs less those by the model."""
        counts = self.table.counts(drawn)
        found = self.model.fit(counts)
        return found.values, self._win_rates(counts), _shares(counts) - self._expected(found)

    def _win_rates(self, counts: Floats) -> Floats:
        """Win rates, float64[R, S]; NaN of systems that a resample lacks."""
        won, n = self._sums(counts @ [1.0, 0.5, 0.0], counts @ [0.0, 0.5, 1.0]), self._sums(*[counts.sum(axis=2)] * 2)
        return np.asarray(np.divide(won, n, out=np.full_like(won, np.nan), where=n > 0), np.float64)

    def _sums(self, of_first: Floats, of_second: Floats) -> Floats:
        """Sums over the pairs of each system, float64[R, S], of numbers of their first and second systems."""
        names = np.arange(len(self.table.systems))
        firsts, seconds = ((places[:, None] == names).astype(np.float64) for places in self._places)
        return np.asarray(of_first @ firsts + of_second @ seconds, np.float64)

    def _expected(self, found: Strengths) -> Floats:
        """Win rates of the first systems of pairs by the model, float64[R, P]."""
        return np.asarray(self.model.probabilities(found) @ [1.0, 0.5, 0.0], np.float64)

    def pairs(self) -> tuple[PreferredPair, ...]:
        """All pairs of systems, the stronger one first."""
        places = {
            frozenset(pair): place
            for place, pair in enumerate(zip(self.table.first.tolist(), self.table.second.tolist(), strict=True))
        }
        rows = [
            self._pair(better, worse, places.get(frozenset((better, worse))))
            for better, worse in combinations(self._order, 2)
        ]
        tested = [place for place, row in enumerate(rows) if row.p is not None]
        adjusted = dict(zip(tested, holm([rows[place].p or 0.0 for place in tested]).tolist(), strict=True))
        return tuple(replace(row, p_holm=adjusted.get(place)) for place, row in enumerate(rows))

    def _pair(self, better: int, worse: int, place: int | None) -> PreferredPair:
        contrast = np.zeros(len(self.table.systems))
        contrast[[better, worse]] = 1, -1
        found = self._interval(contrast)
        deviation = self._deviation(contrast)
        counts = np.zeros(3) if place is None else self.counts[0, place]
        if place is not None and self.table.first[place] != better:
            counts = counts[::-1]
        wins, ties, losses = map(int, counts)
        n = wins + ties + losses
        return PreferredPair(
            first=self.table.systems[better],
            second=self.table.systems[worse],
            n=n,
            wins=wins,
            ties=ties,
            losses=losses,
            win_rate=(wins + ties / 2) / n if n else None,
            expected=self._expected_of(found.value),
            p_fit=None if place is None else self._p_fit(place),
            difference=found.value,
            low=found.low,
            high=found.high,
            p=None if deviation is None else _p_value(found.value / deviation),
            p_holm=None,
        )

    def _expected_of(self, difference: float) -> float:
        """Win rate by the model at a difference of strengths."""
        half, nu = difference / 2, float(self.all.ties[0])
        win, loss = math.exp(half), math.exp(-half)
        return (win + nu / 2) / (win + nu + loss)

    def _p_fit(self, place: int) -> float | None:
        """p-value of no difference between a pair's share and that by the model; None where it must be the same."""
        if self.is_separated or self.table.items < 2 or len(self.table.first) < len(self.table.systems):
            return None  # without a cycle of pairs the model reproduces all shares
        excess = float((_shares(self.counts) - self._expected(self.all))[0, place])
        drawn = self._excess[:, place]
        drawn = drawn[~np.isnan(drawn)]
        win, tie, _ = self.model.probabilities(self.all)[0, place]
        variance = (win + tie / 4 - (win + tie / 2) ** 2) / self.counts[0, place].sum()
        return _p_value(excess / math.sqrt(max(float(drawn.var()), variance)))

    def _deviation(self, contrast: Floats) -> float | None:
        """Standard deviation of a contrast of strengths: the larger of the bootstrap's and the model's."""
        if self.table.items < 2:
            return None
        drawn = self._strengths @ contrast
        return math.sqrt(max(float(drawn.var()), float(contrast @ self._covariance @ contrast)))

    def _interval(self, contrast: Floats) -> Estimate:
        """A contrast of strengths with its interval: of resamples, or, of separated systems, by its deviation."""
        value = float(self.all.values[0] @ contrast)
        deviation = self._deviation(contrast)
        if deviation is not None and self.is_separated:
            return Estimate(value=value, low=value - NORMAL * deviation, high=value + NORMAL * deviation)
        return estimate(np.concatenate([[value], self._strengths @ contrast]), self.table.items)

    def systems(self, pairs: Sequence[PreferredPair]) -> tuple[PreferredSystem, ...]:
        """The systems, the strongest first."""
        names = [self.table.systems[place] for place in self._order]
        significant = np.zeros((len(names), len(names)), bool)
        for row in pairs:
            one, other = names.index(row.first), names.index(row.second)
            significant[one, other] = significant[other, one] = row.p_holm is not None and row.p_holm < LEVEL
        groups = zip(rank_ranges(significant), compact_letters(significant), strict=True)
        return tuple(self._system(place, *of) for place, of in zip(self._order, groups, strict=True))

    def _system(self, place: int, ranks: tuple[int, int], letters: str) -> PreferredSystem:
        wins, ties, losses = (
            int(self._sums(self.counts[..., one], self.counts[..., other])[0, place])
            for one, other in ((WIN, LOSS), (TIE, TIE), (LOSS, WIN))
        )
        rate = self._win_rates(self.counts)[0, place]
        rates = estimate(np.concatenate([[rate], self._rates[:, place]]), self.table.items)
        contrast = np.full(len(self.table.systems), -1 / len(self.table.systems) if self._base is None else 0.0)
        if self._base is not None:
            contrast[self._base] -= 1
        contrast[place] += 1
        found = self._interval(contrast)
        return PreferredSystem(
            system=self.table.systems[place],
            n=wins + ties + losses,
            wins=wins,
            ties=ties,
            losses=losses,
            win_rate=rates.value,
            win_low=rates.low,
            win_high=rates.high,
            strength=found.value,
            low=found.low,
            high=found.high,
            rank_low=ranks[0],
            rank_high=ranks[1],
            letters=letters,
        )


def _shares(counts: Floats) -> Floats:
    """Wins and half of the ties as a share, float64[R, P]; NaN of pairs without a preference."""
    n = counts.sum(axis=2)
    return np.asarray(np.divide(counts @ [1.0, 0.5, 0.0], n, out=np.full_like(n, np.nan), where=n > 0), np.float64)


def _p_value(z: float) -> float:
    """The p-value, two-sided, of a standard normal deviate."""
    return math.erfc(abs(z) / math.sqrt(2))


def _apart(groups: Sequence[Sequence[str]], where: str) -> Undefined:
    def named(group: Sequence[str]) -> str:
        return ", ".join(group[:NAMED]) + (f" and {len(group) - NAMED} more" if len(group) > NAMED else "")

    return Undefined(
        f"{where}no preference connects {named(groups[0])} with {named(groups[1])}, so their strengths cannot be "
        "compared; compare them in files of their own, or collect preferences between them"
    )


def _notes(table: _Table, found: _Fitted, pairs: Sequence[PreferredPair]) -> Iterator[str]:
    """Notes on what makes the numbers doubtful."""
    if found.is_separated:
        yield (
            "some systems are preferred to all others every time, or never, or there are ties alone, so that no finite "
            "strengths fit best: half a preference each way was added to each pair, which bounds them; go by win rates"
        )
    if table.items < 2:
        yield "an interval needs preferences for two items"
    elif table.items < FEW:
        yield f"intervals of fewer than {FEW} items are too narrow"
    if uncompared := [row for row in pairs if not row.n]:
        some = ", ".join(f"{row.first} and {row.second}" for row in uncompared[:NAMED])
        more = f" and {len(uncompared) - NAMED} more" if len(uncompared) > NAMED else ""
        yield f"pairs without a preference, whose difference rests on other pairs: {len(uncompared)} ({some}{more})"
    tested = [row for row in pairs if row.p_fit is not None]
    for row, p in zip(tested, holm([row.p_fit or 0.0 for row in tested]).tolist(), strict=True):
        if p < LEVEL and row.win_rate is not None:
            yield (
                f"{row.first} against {row.second}: the win rate is {row.win_rate:.3f}, and {row.expected:.3f} by the "
                f"strengths (Holm-adjusted p {p:.2g}); no single order of the systems explains these preferences"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Strengths of S systems in R sets of preferences.

    Args:
        values: float64[R, S], of which each row adds up to 0.
        ties: nu, float64[R]; 0 in the model without ties.
        separated: bool[R], True where preferences were added, without which there is no finite maximum.
    """

    values: Floats
    ties: Floats
    separated: Booleans


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of systems that were compared.

    Args:
        systems: Number of systems, which the pairs connect.
        first: First system of each pair, int64[P].
        second: Second system, int64[P].
        ties: True for the model with ties.
    """

    systems: int
    first: Int64s
    second: Int64s
    ties: bool

    def fit(self, counts: Floats) -> Strengths:
        """Maximize the likelihood of each of R sets of preferences, by Newton steps that are halved while it falls.

        Args:
            counts: float64[R, P, 3], numbers of `WIN`, `TIE` and `LOSS`.

        >>> pairs = Pairs(2, np.array([0]), np.array([1]), ties=False)
        >>> found = pairs.fit(np.array([[[3.0, 0, 1]], [[4, 0, 0]]]))
        >>> np.exp(found.values[:, 0] - found.values[:, 1]).round(6).tolist(), found.separated.tolist()
        ([3.0, 9.0], [False, True])
        """
        counts, separated = self.finite(counts)
        found = np.zeros((len(counts), self.systems + 1))
        found[~counts[..., TIE].any(axis=1), -1] = -LARGEST
        likelihood = self._likelihood(found, counts)
        total = counts.sum(axis=(1, 2))
        for _ in range(STEPS):
            gradient, information = self._derivatives(found, counts)
            if (np.abs(gradient).max(axis=1) <= TOLERANCE * total).all():
                break
            step = np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], np.float64)
            found, likelihood = self._stepped(found, likelihood, step, counts)
        values = found[:, :-1] - found[:, :-1].mean(axis=1, keepdims=True)
        return Strengths(values, np.exp(found[:, -1]) * self.ties, separated)

    def finite(self, counts: Floats) -> tuple[Floats, Booleans]:
        """Add preferences where the likelihood has no finite maximum.

        Args:
            counts: float64[R, P, 3].

        Returns:
            float64[R, P, 3], and bool[R], True where something was added.
        """
        wins = np.zeros((len(counts), self.systems, self.systems), bool)
        wins[:, self.first, self.second] = counts[..., WIN] > 0
        wins[:, self.second, self.first] = counts[..., LOSS] > 0
        leads = wins.copy()
        for one, other in ((self.first, self.second), (self.second, self.first)):
            leads[:, one, other] |= counts[..., TIE] > 0
        cyclic = (wins & _reachable(wins).transpose(0, 2, 1)).any(axis=(1, 2))
        separated = np.asarray(~(_reachable(leads).all(axis=(1, 2)) & cyclic))
        added = np.array([ADDED, 0.0, ADDED]) * separated[:, None, None]
        return counts + added, separated

    def covariance(self, found: Strengths, counts: Floats) -> Floats:
        """Covariance of strengths by the curvature of the likelihood, which takes preferences for independent.

        Args:
            found: Strengths that `fit` found.
            counts: float64[R, P, 3], as given to `fit`.

        Returns:
            float64[R, S, S].
        """
        parameters = np.column_stack([found.values, np.log(np.maximum(found.ties, np.exp(-LARGEST)))])
        _, information = self._derivatives(parameters, self.finite(counts)[0])
        return np.asarray(np.linalg.inv(information)[:, :-1, :-1], np.float64)

    def probabilities(self, found: Strengths) -> Floats:
        """Probabilities of the outcomes of each pair.

        Args:
            found: Strengths that `fit` found.

        Returns:
            float64[R, P, 3].
        """
        with np.errstate(divide="ignore"):
            log_ties = np.log(found.ties)
        return np.exp(self._logarithms(np.column_stack([found.values, log_ties])))

    def _logarithms(self, parameters: Floats) -> Floats:
        """Logarithms of the probabilities of outcomes, float64[R, P, 3]."""
        half = (parameters[:, self.first] - parameters[:, self.second]) / 2
        tie = np.broadcast_to(parameters[:, -1:] if self.ties else np.float64(-np.inf), half.shape)
        scores = np.stack([half, tie, -half], axis=2)
        largest = scores.max(axis=2, keepdims=True)
        return np.asarray(scores - largest - np.log(np.exp(scores - largest).sum(axis=2, keepdims=True)), np.float64)

    def _likelihood(self, parameters: Floats, counts: Floats) -> Floats:
        logarithms = self._logarithms(parameters)
        terms = np.multiply(counts, logarithms, out=np.zeros_like(counts), where=counts > 0)
        return np.asarray(terms.sum(axis=(1, 2)), np.float64)

    def _derivatives(self, parameters: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Gradient, float64[R, S + 1], and information, float64[R, S + 1, S + 1], made regular.

        Strengths have no origin, which a constraint on their sum gives them; without ties log nu is no parameter.
        """
        p = np.exp(self._logarithms(parameters))
        n = counts.sum(axis=2)
        lead = p[..., WIN] - p[..., LOSS]
        excess = (counts[..., WIN] - counts[..., LOSS] - n * lead) / 2
        gradient = np.zeros((len(counts), self.systems + 1))
        information = np.zeros((len(counts), self.systems + 1, self.systems + 1))
        information[:, :-1, :-1] = 1.0 / self.systems
        spread = n * (1 - p[..., TIE] - lead**2) / 4
        beside = -n * lead * p[..., TIE] / 2
        names = np.arange(self.systems)
        of_first, of_second = ((places[:, None] == names).astype(np.float64) for places in (self.first, self.second))
        gradient[:, :-1] = excess @ (of_first - of_second)
        information[:, names, names] += spread @ (of_first + of_second)
        for one, other in ((self.first, self.second), (self.second, self.first)):
            information[:, one, other] -= spread
        information[:, :-1, -1] = beside @ (of_first - of_second)
        information[:, -1, :-1] = information[:, :-1, -1]
        if self.ties:
            gradient[:, -1] = (counts[..., TIE] - n * p[..., TIE]).sum(axis=1)
            information[:, -1, -1] = (n * p[..., TIE] * (1 - p[..., TIE])).sum(axis=1)
        else:
            information[:, -1, -1] = 1.0
        return gradient, information

    def _stepped(self, found: Floats, likelihood: Floats, step: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """The parameters after a step, halved in those sets where the likelihood would fall."""
        size = np.ones((len(found), 1))
        while True:
            tried = found + size * step
            tried[:, -1] = np.clip(tried[:, -1], -LARGEST, LARGEST)
            after = self._likelihood(tried, counts)
            worse = after < likelihood - 1e-9 * np.abs(likelihood)
            if not worse.any():
                return tried, after
            size[worse] /= 2


def _reachable(beats: Booleans) -> Booleans:
    """Systems that each system leads to by a chain, bool[R, S, S]."""
    found = np.asarray(beats | np.eye(beats.shape[1], dtype=bool))
    length = 1
    while length < beats.shape[1]:
        found = np.matmul(found.astype(np.float32), found.astype(np.float32)) > 0
        length *= 2
    return found


def groups_apart(systems: int, first: Int64s, second: Int64s) -> list[list[int]]:
    """Groups of systems that no comparison connects, in the order of their first systems.

    Args:
        systems: Number of systems.
        first: First system of each pair that was compared.
        second: Second system.

    >>> groups_apart(4, np.array([0, 2]), np.array([3, 1]))
    [[0, 3], [1, 2]]
    """
    beside = np.zeros((1, systems, systems), bool)
    beside[0, first, second] = beside[0, second, first] = True
    found = dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in _reachable(beside)[0])
    return [list(group) for group in found]
