"""The plan: the annotators of each item, the presentation order of each annotator, and how even both are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, combinations, groupby
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.campaigns.item_assignment import assign_items, distribute_items, generator
from postil.campaigns.result import PlanBalance, PlannedAnnotator, PlannedPair, PlanResult
from postil.data.groups import grouped
from postil.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.campaigns.models import Groups, Presentation

__all__ = [
    "MAX_ANNOTATORS",
    "Plan",
    "further_items",
    "insert_items",
    "plan",
    "presentation_order",
]


def presentation_order(
    items: list[int],
    gold: frozenset[int],
    articles: tuple[str, ...],
    repeat_rate: float,
    random: np.random.Generator,
    *,
    together: bool,
) -> tuple[Presentation, ...]:
    """Draw the presentation order of an annotator.

    Every item gets a position between 0 and 1. The c items of an article, in random order, are at ``(j + u) / c`` for
    j = 0 … c - 1 with one u that is uniform in [0, 1): each of them is uniform in [0, 1), and they are 1 / c apart.
    Items to be kept together share the position u.

    Args:
        items: Numbers of the annotator's items.
        gold: Numbers of the gold items, which are not repeated.
        articles: Article of each item of the campaign.
        repeat_rate: Share of the annotator's items that are repeated, half of the order later.
        random: Random number generator.
        together: True to keep the items of an article together.
    """
    if not items:
        return ()
    number = np.unique([articles[item] for item in items], return_inverse=True)[1]
    tie = random.random(len(items))
    start = random.random(int(number.max()) + 1)[number]
    position = start if together else (_rank_within(number, tie) + start) / np.bincount(number)[number]
    # Only the first half can be repeated half of the order later.
    repeatable = np.flatnonzero(np.array([item not in gold for item in items]) & (position < 0.5))
    wanted = round(repeat_rate * (len(items) - len(gold)))
    chosen = random.permutation(repeatable)[:wanted]
    shown = [*((item, 1) for item in items), *((items[index], 2) for index in chosen.tolist())]
    positions, ties = np.concatenate([position, position[chosen] + 0.5]), np.concatenate([tie, tie[chosen]])
    return tuple(shown[index] for index in np.lexsort((ties, positions)).tolist())


def _rank_within(group: NDArray[np.int64], tie: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank of each element among those of its group, from 0."""
    order = np.lexsort((tie, group))
    counts = np.bincount(group)
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def insert_items(
    order: tuple[Presentation, ...],
    answered: Collection[Presentation],
    new: Sequence[int],
    random: np.random.Generator,
    articles: Sequence[str] | None = None,
    *,
    held: int = 0,
) -> tuple[Presentation, ...]:
    """Insert new items at random positions of an order, after the item that is on the annotator's screen.

    With `articles`, the new items of an article come in a row, and no row of one article is broken up.

    Args:
        order: Presentation order of the annotator.
        answered: Presentations that the annotator has answered.
        new: Numbers of the new items.
        random: Random number generator.
        articles: Article of each item of the campaign, to insert the items of an article together; None to insert each
            by itself.
        held: Number of items after that on the screen which stay where they are.
    """
    done = set(answered)
    now = next((position for position, shown in enumerate(order) if shown not in done), len(order) - 1)
    last = max((position for position, shown in enumerate(order) if shown in done), default=-1)
    head = min(len(order), max(now, last) + 1 + held)
    while articles and 0 < head < len(order) and articles[order[head][0]] == articles[order[head - 1][0]]:
        head += 1
    tail = _runs(order[head:], articles)
    count = len({articles[item] for item in new}) if articles else len(new)
    slots = set(random.choice(len(tail) + count, count, replace=False).tolist())
    shuffled = random.permutation(new).tolist()
    if articles:
        place = {articles[item]: number for number, item in enumerate(shuffled)}
        shuffled.sort(key=lambda item: place[articles[item]])
    fresh, old = iter(_runs([(item, 1) for item in shuffled], articles)), iter(tail)
    runs = (next(fresh) if slot in slots else next(old) for slot in range(len(tail) + count))
    return (*order[:head], *chain.from_iterable(runs))


def _runs(shown: Sequence[Presentation], articles: Sequence[str] | None) -> list[list[Presentation]]:
    """Consecutive presentations of one article; each by itself without articles."""
    if articles is None:
        return [[one] for one in shown]
    return [list(run) for _, run in groupby(shown, key=lambda one: articles[one[0]])]


SEED: Final = 20181
MAX_ANNOTATORS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Item assignment with presentation orders; `plan` makes it.

    Args:
        annotators: Pseudonyms of the annotators.
        articles: Article of each item.
        annotators_per_item: Number of annotators per item.
        seed: Random seed.
        orders: Presentation order of each annotator.
        gold: Numbers of the gold items, which every annotator gets.
        overlapping: Numbers of the items with one annotator more.
        by_item: True if all items of an article have the same annotators.
    """

    annotators: tuple[str, ...]
    articles: tuple[str, ...]
    annotators_per_item: int
    seed: int
    orders: tuple[tuple[Presentation, ...], ...]
    gold: frozenset[int] = frozenset()
    overlapping: frozenset[int] = frozenset()
    by_item: bool = False

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.articles)

    @property
    def short(self) -> int:
        """Number of items with fewer annotators than planned."""
        return sum(
            len(people) < self.annotators_per_item + (item in self.overlapping)
            for item, people in enumerate(self.assigned())
            if item not in self.gold
        )

    def statistics(self, groups: Groups = "articles") -> PlanResult:
        """Compute the loads of annotators, their overlaps, and how independent and spread the orders are.

        Args:
            groups: Name of the groups of items, for words about them.
        """
        assigned = self.assigned()
        shared = Counter(pair for people in assigned for pair in combinations(people, 2))
        loads = Counter(annotator for people in assigned for annotator in people)
        pairs = list(combinations(range(len(self.annotators)), 2))
        overlaps = grouped((number, shared[pair]) for pair in pairs for number in pair)
        return PlanResult(
            texts=self.items,
            annotators_per_item=self.annotators_per_item,
            gold=len(self.gold),
            order_correlation=self._order_correlation(),
            median_gap=self._median_gap(),
            annotators=tuple(
                PlannedAnnotator(
                    annotator=name,
                    texts=loads[number],
                    gold=len(self.gold),
                    repeated=sum(again > 1 for _, again in order),
                    least_shared=min(overlaps.get(number, ()), default=0),
                    most_shared=max(overlaps.get(number, ()), default=0),
                )
                for number, (name, order) in enumerate(zip(self.annotators, self.orders, strict=True))
            ),
            pairs=tuple(
                PlannedPair(first=self.annotators[first], second=self.annotators[second], texts=shared[first, second])
                for first, second in pairs
            ),
            overlapping=len(self.overlapping),
            by_item=self.by_item,
            groups=groups,
        )

    def balance(self, left: Collection[str]) -> PlanBalance | None:
        """Compute how even loads and overlaps are.

        Args:
            left: Pseudonyms of the annotators who were removed.

        Returns:
            The balance; None without annotators.
        """
        active = [number for number, name in enumerate(self.annotators) if name not in left]
        if not active:
            return None
        assigned = self.assigned()
        counts = Counter(number for people in assigned for number in people)
        loads = {number: counts[number] for number in active}
        together = Counter(pair for people in assigned for pair in combinations(people, 2))
        shared = [together[pair] for pair in combinations(active, 2)]
        most, fewest = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
        tolerance = max(Counter(self.articles).values(), default=1) if self.by_item else 1
        even = loads[most] - loads[fewest] <= tolerance
        return PlanBalance(
            most=self.annotators[most],
            most_items=loads[most],
            fewest=self.annotators[fewest],
            fewest_items=loads[fewest],
            tolerance=tolerance,
            missing=0 if even else further_items(list(loads.values()), self.annotators_per_item),
            least_shared=min(shared, default=0),
            most_shared=max(shared, default=0),
            short=self.short,
        )

    def reassign(
        self,
        removed: str,
        answered: Mapping[str, Collection[Presentation]] | None = None,
        *,
        left: Collection[str] = (),
    ) -> Plan:
        """Give the open items of an annotator to the others.

        Nobody gets an item twice. Loads end up equal, as far as those who may take the items allow, and overlaps are
        made as even as swaps of two items can make them. New items come at random positions after the item that is on
        an annotator's screen; the order of the old ones stays. Gold and repeated items are not reassigned. An item that
        all others already have stays with fewer annotators (`short`).

        In a plan by item, the open items of an article go to one annotator, in a row, wherever somebody has none of
        that article; loads are then equal in articles.

        Args:
            removed: Pseudonym of the annotator.
            answered: Presentations that each annotator has answered.
            left: Annotators who were removed before.

        Raises:
            UnknownName: There is no such annotator.
        """
        UnknownName.check("annotator", removed, self.annotators)
        answered = answered or {}
        number = self.annotators.index(removed)
        done = set(answered.get(removed, ()))
        shown = self.orders[number]
        unassigned = [item for item, again in shown if again == 1 and (item, 1) not in done and item not in self.gold]
        random = generator(self.seed, "reassign", number)
        others = [other for other, name in enumerate(self.annotators) if name not in {removed, *left}]
        assigned = [
            [person for person in people if person != number or (item, 1) in done]
            for item, people in enumerate(self.assigned())
        ]
        taken = self._distribute(unassigned, others, assigned, random) if others else {}
        orders = list(self.orders)
        orders[number] = tuple(presentation for presentation in shown if presentation in done)
        for other in others:
            new = [item for item in unassigned if taken.get(item) == other]
            if new:
                seen = answered.get(self.annotators[other], ())
                runs = self.articles if self.by_item else None
                orders[other] = insert_items(self.orders[other], seen, new, random, runs)
        return replace(self, orders=tuple(orders))

    def _distribute(
        self,
        unassigned: Sequence[int],
        others: Sequence[int],
        assigned: Sequence[Collection[int]],
        random: np.random.Generator,
    ) -> dict[int, int]:
        """Choose an annotator for each unassigned item: by article in a plan by item, as far as that goes."""
        if not self.by_item:
            return distribute_items(unassigned, others, assigned, random)
        numbers = {article: number for number, article in enumerate(dict.fromkeys(self.articles))}
        people: list[set[int]] = [set() for _ in numbers]
        for article, of_item in zip(self.articles, assigned, strict=True):
            people[numbers[article]].update(of_item)
        open_articles = list(dict.fromkeys(numbers[self.articles[item]] for item in unassigned))
        by_article = distribute_items(open_articles, others, list(map(sorted, people)), random)
        taken = {
            item: by_article[number] for item in unassigned if (number := numbers[self.articles[item]]) in by_article
        }
        rest = [item for item in unassigned if item not in taken]
        having = [[*of_item, taken[item]] if item in taken else of_item for item, of_item in enumerate(assigned)]
        return taken | distribute_items(rest, others, having, random)

    def assigned(self) -> list[list[int]]:
        """List the numbers of the annotators of each item; none for gold items."""
        assigned: list[list[int]] = [[] for _ in self.articles]
        for number, order in enumerate(self.orders):
            for item, again in order:
                if again == 1 and item not in self.gold:
                    assigned[item].append(number)
        return assigned

    def _order_correlation(self) -> float | None:
        """Correlation of an item's relative positions in two orders, over all pairs of annotators who share it."""
        positions: list[list[float]] = [[] for _ in self.articles]
        for order in self.orders:
            for position, (item, again) in enumerate(order):
                if again == 1:
                    positions[item].append((position + 0.5) / len(order))
        both = np.array([pair for of_item in positions for pair in combinations(of_item, 2)]).reshape(-1, 2)
        both = np.concatenate([both, both[:, ::-1]])  # a pair has no first one
        if len(both) < 4 or not both.std(axis=0).all():
            return None
        return float(np.corrcoef(both.T)[0, 1])

    def _median_gap(self) -> float | None:
        gaps = []
        for order in self.orders:
            last: dict[str, int] = {}
            for position, (item, again) in enumerate(order):
                if again == 1:
                    article = self.articles[item]
                    if article in last:
                        gaps.append(position - last[article])
                    last[article] = position
        return float(np.median(gaps)) if gaps else None


def plan(
    items: Iterable[tuple[str, str]],
    annotators: int | Sequence[str],
    annotators_per_item: int,
    *,
    seed: int = SEED,
    gold: Collection[int] = (),
    repeat_rate: float = 0.0,
    together: bool = False,
    balance: Literal["system", "article"] = "system",
    overlap: float = 0.0,
    by_item: bool = False,
    first: Collection[int] = (),
) -> Plan:
    """Assign every item to the same number of annotators, at random within a balanced block design.

    Loads differ by at most one. Overlaps of two annotators differ by at most one: always with two annotators per item,
    with more wherever a search finds such a design. Items of each system, or of each article, are spread evenly over
    annotators. Presentation orders are independent of one another: an item is equally likely at each position, and
    the items of one article are evenly spread with a random start.

    The items of an overlap have one annotator more, in a block design of their own: a random choice, spread evenly over
    systems or articles. Overlaps of two annotators may then differ by two. By item, all this holds for articles in
    place of items: all items of an article have the same annotators, loads in articles differ by at most one, and
    articles of different sizes are spread evenly.

    Args:
        items: Article and system of each item.
        annotators: Pseudonyms of the annotators, or their number (A1, A2 and so on).
        annotators_per_item: Number of annotators per item.
        seed: Random seed.
        gold: Numbers of the gold items, which every annotator gets, whatever `annotators_per_item` is.
        repeat_rate: Share of an annotator's items that are repeated, half of the order later; from 0 to 0.5.
        together: True to keep the items of an article together, the articles in random order.
        balance: Attribute of items that is spread evenly over annotators.
        overlap: Share of the items (of the articles, by item) with one annotator more, from 0 to 1.
        by_item: True to assign the items of an article to the same annotators.
        first: Numbers of the gold items that come first in every order.

    Raises:
        UsageError: There are no items, or a number is out of its range.

    >>> made = plan([("a1", "x"), ("a1", "y"), ("a2", "x"), ("a2", "y"), ("a3", "x"), ("a3", "y")], 4, 2)
    >>> found = made.statistics()
    >>> [one.texts for one in found.annotators], {pair.texts for pair in found.pairs}
    ([3, 3, 3, 3], {1})
    """
    keys = list(items)
    names = (
        tuple(f"A{number}" for number in range(1, annotators + 1)) if isinstance(annotators, int) else tuple(annotators)
    )
    _check(keys, names, annotators_per_item, gold, repeat_rate)
    _check_overlap(overlap, annotators_per_item, len(names))
    gold_items = frozenset(gold)
    assigned = assign_items(
        keys,
        len(names),
        annotators_per_item,
        seed=seed,
        gold=gold_items,
        balance=balance,
        overlap=overlap,
        by_item=by_item,
    )
    articles = tuple(article for article, _ in keys)
    orders = tuple(
        presentation_order(
            sorted([*gold_items, *mine]),
            gold_items,
            articles,
            repeat_rate,
            generator(seed, "order", number),
            together=together,
        )
        for number, mine in enumerate(assigned.items)
    )
    leading = frozenset(first)
    orders = tuple(tuple(sorted(order, key=lambda shown: shown[0] not in leading)) for order in orders)
    return Plan(names, articles, annotators_per_item, seed, orders, gold_items, assigned.overlapping, by_item)


def _check(
    keys: list[tuple[str, str]],
    names: tuple[str, ...],
    annotators_per_item: int,
    gold: Collection[int],
    repeat_rate: float,
) -> None:
    if not keys:
        raise UsageError("there are no items to annotate")
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise UsageError("annotators: expected distinct, non-empty names")
    if not 1 <= len(names) <= MAX_ANNOTATORS:
        raise UsageError(f"annotators: expected a number from 1 to {MAX_ANNOTATORS}, got {len(names)}")
    if not 1 <= annotators_per_item <= len(names):
        raise UsageError(
            f"annotators per item: expected a number from 1 to {len(names)}, the number of annotators; "
            f"got {annotators_per_item}"
        )
    if not 0 <= repeat_rate <= 0.5:
        raise UsageError(f"repeat rate: expected a share from 0 to 0.5, got {repeat_rate}")
    for item in gold:
        if not 0 <= item < len(keys):
            raise UsageError(f"gold: there is no item {item}")


def _check_overlap(overlap: float, annotators_per_item: int, annotators: int) -> None:
    if not 0 <= overlap <= 1:
        raise UsageError(f"overlap: expected a share from 0 to 1, got {overlap}")
    if overlap and annotators_per_item == annotators:
        raise UsageError(
            f"overlap: items with one annotator more than {annotators_per_item} need {annotators_per_item + 1} "
            f"annotators, and there are {annotators}; plan more annotators, or fewer per item"
        )


def further_items(loads: Sequence[int], annotators_per_item: int) -> int | None:
    """Compute the number of further items after which loads can differ by at most one.

    Args:
        loads: Number of items of each annotator.
        annotators_per_item: Number of annotators of each further item, all of them different.

    Returns:
        The smallest number; None where there is none.

    >>> further_items([5, 5, 4], 2), further_items([10, 10, 0], 1), further_items([10, 10, 0], 2)
    (0, 9, 18)
    >>> further_items([10, 0], 2) is None
    True
    """
    count, each, most = len(loads), min(annotators_per_item, len(loads)), max(loads)

    def even(items: int) -> bool:
        level, over = divmod(sum(loads) + each * items, count)
        return level - min(loads) <= items and most <= level + (over > 0)

    if even(0):
        return 0
    if each == count:
        return None
    beyond = 1
    while not even(beyond):
        beyond *= 2
    return bisect_left(range(beyond), True, key=even)  # noqa: FBT003 - the first number that is
