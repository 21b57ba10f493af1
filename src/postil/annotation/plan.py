"""Who grades what, and in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.annotation.block_design import teams
from postil.annotation.item_order import in_order, woven
from postil.annotation.load_balancing import share_out
from postil.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from postil.annotation.item_order import Turn

__all__ = ["MOST_ANNOTATORS", "SEED", "Plan", "PlanStatistics", "plan"]

SEED: Final = 20181
MOST_ANNOTATORS: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlanStatistics:
    """What a plan is like.

    Args:
        items: How many texts.
        each: How many annotators a text is meant to have.
        gold: How many texts everyone has.
        short: How many texts have fewer annotators than they are meant to.
        texts: How many texts each annotator has, gold and repeated ones not counted.
        repeated: How many texts each annotator has twice.
        pairs: How many of those texts every two annotators share.
        order: The correlation of where a text stands for one annotator and where for another, 0 for independent orders;
            None where no two annotators share two texts.
        gap: The median number of steps from a text to the next of the same article in an annotator's order; None where
            nobody has two of one article.
    """

    items: int
    each: int
    gold: int
    short: int
    texts: Mapping[str, int]
    repeated: Mapping[str, int]
    pairs: Mapping[tuple[str, str], int]
    order: float | None
    gap: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Who grades what, and in which order; `plan` makes it.

    Args:
        annotators: The annotators' pseudonyms.
        articles: The article of each text.
        each: How many annotators a text has.
        seed: The seed.
        orders: For each annotator the texts in order.
        gold: The texts that everyone has.
    """

    annotators: tuple[str, ...]
    articles: tuple[str, ...]
    each: int
    seed: int
    orders: tuple[tuple[Turn, ...], ...]
    gold: frozenset[int] = frozenset()

    @property
    def items(self) -> int:
        """How many texts there are."""
        return len(self.articles)

    def statistics(self) -> PlanStatistics:
        """What the plan is like."""
        on = self._teams()
        shared = Counter(pair for team in on for pair in combinations(team, 2))
        counts = Counter(annotator for team in on for annotator in team)
        names = self.annotators
        short = sum(len(team) < self.each for item, team in enumerate(on) if item not in self.gold)
        return PlanStatistics(
            items=self.items,
            each=self.each,
            gold=len(self.gold),
            short=short,
            texts={name: counts[number] for number, name in enumerate(names)},
            repeated={
                name: sum(again > 1 for _, again in order) for name, order in zip(names, self.orders, strict=True)
            },
            pairs={
                (names[first], names[second]): shared[first, second]
                for first, second in combinations(range(len(names)), 2)
            },
            order=self._likeness(),
            gap=self._gap(),
        )

    def reassign(
        self, leaver: str, answered: Mapping[str, Collection[Turn]] | None = None, *, gone: Collection[str] = ()
    ) -> Plan:
        """Give what an annotator has not answered to the others.

        Nobody gets a text twice. The others end up with equally many texts, as far as those who may take them allow,
        and then share them as evenly as an exchange of any two can make it. New texts come in random places after the
        text that an annotator has now; the order of the old ones stays. Gold and repeated texts are given to nobody.
        A text that everyone else has already stays with fewer annotators (`PlanStatistics.short`).

        Args:
            leaver: Who leaves.
            answered: What each annotator has answered.
            gone: Who left before.

        Raises:
            UnknownName: There is no such annotator.
        """
        if leaver not in self.annotators:
            raise UnknownName("annotator", leaver, self.annotators)
        answered = answered or {}
        number = self.annotators.index(leaver)
        done = set(answered.get(leaver, ()))
        turns = self.orders[number]
        orphans = [item for item, again in turns if again == 1 and (item, 1) not in done and item not in self.gold]
        random = _random(self.seed, "reassign", number)
        others = [other for other, name in enumerate(self.annotators) if name not in {leaver, *gone}]
        on = [
            [person for person in team if person != number or (item, 1) in done]
            for item, team in enumerate(self._teams())
        ]
        taken = share_out(orphans, others, on, random) if others else {}
        orders = list(self.orders)
        orders[number] = tuple(turn for turn in turns if turn in done)
        for other in others:
            new = [item for item in orphans if taken.get(item) == other]
            if new:
                orders[other] = woven(self.orders[other], answered.get(self.annotators[other], ()), new, random)
        return replace(self, orders=tuple(orders))

    def _teams(self) -> list[list[int]]:
        """Who has each text, gold texts aside."""
        on: list[list[int]] = [[] for _ in self.articles]
        for number, order in enumerate(self.orders):
            for item, again in order:
                if again == 1 and item not in self.gold:
                    on[item].append(number)
        return on

    def _likeness(self) -> float | None:
        """The correlation of the places of a text in two annotators' orders, over all two annotators who share it."""
        places: list[list[float]] = [[] for _ in self.articles]
        for order in self.orders:
            for place, (item, again) in enumerate(order):
                if again == 1:
                    places[item].append((place + 0.5) / len(order))
        both = np.array([pair for of_text in places for pair in combinations(of_text, 2)]).reshape(-1, 2)
        both = np.concatenate([both, both[:, ::-1]])
        if len(both) < 4 or not both.std(axis=0).all():
            return None
        return float(np.corrcoef(both.T)[0, 1])

    def _gap(self) -> float | None:
        gaps = []
        for order in self.orders:
            last: dict[str, int] = {}
            for place, (item, again) in enumerate(order):
                if again == 1:
                    article = self.articles[item]
                    if article in last:
                        gaps.append(place - last[article])
                    last[article] = place
        return float(np.median(gaps)) if gaps else None


def plan(
    items: Iterable[tuple[str, str]],
    annotators: int | Sequence[str],
    each: int,
    *,
    seed: int = SEED,
    gold: Collection[int] = (),
    repeats: float = 0.0,
    together: bool = False,
    balance: Literal["system", "article"] = "system",
) -> Plan:
    """Give every text to exactly so many annotators.

    Chance decides, within these bounds. Annotators have equally many texts, give or take one. Every two annotators
    share equally many: with two annotators a text give or take one, always; with more, give or take one wherever a
    search finds it. Of each system, or of each article, everyone has about as many texts as anyone. Each annotator has
    an order of their own, independent of the others': a text is equally likely in each place, and the texts of one
    article lie apart, evenly spread with a random start.

    Args:
        items: Article and system of each text.
        annotators: The annotators' pseudonyms, or how many there are (A1, A2 and so on).
        each: How many annotators a text has.
        seed: The seed.
        gold: The numbers of the texts that everyone has, whatever `each` is.
        repeats: The share of an annotator's texts that come again, half of the way later.
        together: Keep the texts of an article together, the articles in random order.
        balance: Of what everyone has about as many texts as anyone.

    Raises:
        UsageError: There are no texts, or a number is out of its range.

    >>> made = plan([("a1", "x"), ("a1", "y"), ("a2", "x"), ("a2", "y"), ("a3", "x"), ("a3", "y")], 4, 2)
    >>> sorted(made.statistics().texts.values()), set(made.statistics().pairs.values())
    ([3, 3, 3, 3], {1})
    """
    keys = list(items)
    names = (
        tuple(f"A{number}" for number in range(1, annotators + 1)) if isinstance(annotators, int) else tuple(annotators)
    )
    _check(keys, names, each, gold, repeats)
    everyones = frozenset(gold)
    random = _random(seed, "teams", 0)
    shuffled = [item for item in random.permutation(len(keys)).tolist() if item not in everyones]
    # Every stretch of the sequence of teams is balanced, so what shall be balanced stands together.
    shuffled.sort(key=lambda item: keys[item][balance == "system"])
    has: list[list[int]] = [sorted(everyones) for _ in names]
    for item, team in zip(shuffled, teams(len(names), each, len(shuffled), random), strict=True):
        for number in team:
            has[number].append(item)
    articles = tuple(article for article, _ in keys)
    orders = tuple(
        in_order(sorted(texts), everyones, articles, repeats, _random(seed, "order", number), together=together)
        for number, texts in enumerate(has)
    )
    return Plan(names, articles, each, seed, orders, everyones)


def _check(
    keys: list[tuple[str, str]], names: tuple[str, ...], each: int, gold: Collection[int], repeats: float
) -> None:
    if not keys:
        raise UsageError("there is no text to grade")
    if len(set(keys)) < len(keys):
        article, system = next(key for key, count in Counter(keys).items() if count > 1)
        raise UsageError(f"two texts are both {system} of {article}; texts need names of their own")
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise UsageError("annotators need names that differ")
    if not 1 <= len(names) <= MOST_ANNOTATORS:
        raise UsageError(f"annotators: expected a number from 1 to {MOST_ANNOTATORS}, got {len(names)}")
    if not 1 <= each <= len(names):
        raise UsageError(f"each: expected a number from 1 to {len(names)}, the number of annotators; got {each}")
    if not 0 <= repeats <= 0.5:
        raise UsageError(f"repeats: expected a share from 0 to 0.5, got {repeats}")
    for item in gold:
        if not 0 <= item < len(keys):
            raise UsageError(f"gold: there is no text {item}")


def _random(seed: int, purpose: str, number: int) -> np.random.Generator:
    """A source of chance of its own for each purpose, so that none moves another."""
    return np.random.default_rng([seed, *purpose.encode(), number])
