"""Pairs of texts: the pairs of an article's systems that are compared, and the sides that annotators see them on."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final

import msgspec

from postil.campaigns.item_assignment import generator
from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.data.fields import coerce_ids
from postil.data.groups import grouped
from postil.data.row_files import PLAIN, read
from postil.data.rows import Choice, Id, Row, check_choice
from postil.errors import UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from postil.campaigns.models import Item, Presentation
    from postil.data.reading import Reading

__all__ = [
    "GoldPreference",
    "PairKey",
    "asks_for_pairs",
    "balanced_sides",
    "new_gold",
    "pair_items",
    "pairs_per_item",
    "planned_pairs",
    "read_gold",
    "single_texts",
]

GRADE_OF: Final[Mapping[Choice, int]] = {"a": 1, "tie": 2, "b": 3}
"""Grade that a preference is stored as: 1 for the first text of the pair, 2 for a tie, 3 for the second one."""

PairKey = tuple[str, frozenset[str]]
"""An article and two systems."""

Sides = dict[tuple[int, int, int], int]
"""1 where the first text of a pair is on the right, else 0, by annotator, item and round."""


class GoldPreference(Row, frozen=True, gc=False):
    """Row of a file of gold preferences."""

    item: Id
    system_a: Id
    system_b: Id
    preference: Choice

    def __post_init__(self) -> None:
        coerce_ids(self, "item", "system_a", "system_b")
        check_choice(self.preference)


def read_gold(path: str, rubric: Rubric, reading: Reading = PLAIN) -> dict[PairKey, GoldPreference]:
    """Read the gold preferences of a campaign.

    Args:
        path: File of gold preferences (item, system_a, system_b, preference).
        rubric: The rubric.
        reading: Options of reading the file.

    Raises:
        InvalidInput: A row is invalid, or a pair is there twice; names the row.
    """
    rows = read(path, GoldPreference, reading)
    found: dict[PairKey, GoldPreference] = {}
    for index, row in enumerate(rows):
        if GRADE_OF[row.preference] not in rubric.grades:
            raise rows.places.error(index, "preference", "expected a or b, as the rubric has no ties; got tie")
        key = row.item, frozenset((row.system_a, row.system_b))
        if key in found:
            problem = f"{row.system_a} and {row.system_b} of {row.item} are there twice; leave one of the rows out"
            raise rows.places.error(index, "item", problem)
        found[key] = row
    return found


def with_gold_preferences(items: Sequence[Item], gold: Mapping[PairKey, GoldPreference], path: str) -> list[Item]:
    """Add gold labels to pairs.

    Args:
        items: The pairs.
        gold: Gold preferences, by article and systems.
        path: Their file.

    Raises:
        UsageError: There is no such pair.
    """
    numbers = {(item.item, frozenset((item.system, item.other_system))): place for place, item in enumerate(items)}
    found = list(items)
    for key, row in gold.items():
        place = numbers.get(key)
        if place is None:
            problem = f"there is no pair of {row.system_a} and {row.system_b} of {row.item}"
            raise UsageError(f"{path}: {problem}; correct the names, or leave the row out")
        turned: dict[Choice, Choice] = {"a": "b", "b": "a", "tie": "tie"}
        choice = row.preference if found[place].system == row.system_a else turned[row.preference]
        found[place] = msgspec.structs.replace(found[place], gold=float(GRADE_OF[choice]))
    return found


def single_texts(items: Iterable[Item]) -> Iterator[Item]:
    """Take pairs apart.

    Args:
        items: Single texts or pairs.

    Yields:
        The texts; one that is in several pairs comes several times.
    """
    for item in items:
        yield msgspec.structs.replace(item, other_system="", other_text="")
        if item.other_system:
            yield msgspec.structs.replace(
                item, system=item.other_system, text=item.other_text, other_system="", other_text=""
            )


def pair_items(items: Sequence[Item], per_item: int, seed: int, always: Collection[PairKey] = ()) -> list[Item]:
    """Pair the texts of each article.

    Pairs of systems are compared equally often, as far as articles have texts of them: each article takes those that
    were taken least often, at random among equals. Of the systems of a pair each is the first one equally often.

    Args:
        items: Texts, at most one per article and system.
        per_item: Number of pairs per article; 0 for all.
        seed: Random seed.
        always: Articles and systems of pairs that are taken in any case.

    Raises:
        UsageError: An article has one text, or two of one system, or contexts that differ between its texts.

    >>> from postil.campaigns.models import Item
    >>> texts = [Item(item=article, system=system, text=article + system) for article in "abc" for system in "xyz"]
    >>> found = pair_items(texts, 1, seed=1)
    >>> [item.item for item in found], sorted("".join(sorted(item.system + item.other_system)) for item in found)
    (['a', 'b', 'c'], ['xy', 'xz', 'yz'])
    """
    random = generator(seed, "pairs", 0)
    texts = grouped((item.item, item) for item in items)
    taken: Counter[frozenset[str]] = Counter()
    first: Counter[tuple[str, str]] = Counter()
    found: dict[str, list[Item]] = {}
    for article in random.permutation(list(texts)).tolist():
        there = _checked(texts[article])
        pairs: list[list[str]] = random.permutation(list(combinations(sorted(there), 2))).tolist()
        pairs.sort(key=lambda pair: ((article, frozenset(pair)) not in always, taken[frozenset(pair)]))
        forced = sum((article, frozenset(pair)) in always for pair in pairs)
        found[article] = []
        for one, other in pairs[: max(per_item, forced) if per_item else None]:
            taken[frozenset((one, other))] += 1
            a, b = (one, other) if first[one, other] <= first[other, one] else (other, one)
            first[a, b] += 1
            found[article].append(
                msgspec.structs.replace(there[a], other_system=b, other_text=there[b].text, gold=None)
            )
    return [item for article in texts for item in found[article]]


def _checked(texts: Sequence[Item]) -> dict[str, Item]:
    """Texts of an article by system."""
    article = texts[0].item
    found = {text.system: text for text in texts}
    if len(found) < len(texts):
        twice = next(text.system for text in texts if text.sample > 1)
        raise UsageError(f"pairs: expected one text per system, got several of {twice} for {article}")
    if len(found) < 2:
        raise UsageError(f"pairs: expected texts of two systems or more, got one for {article}, of {texts[0].system}")
    if any(text.context != texts[0].context for text in texts):
        raise UsageError(
            "pairs: expected the same context for all texts of {article}; name other columns: {context}",
            article=article,
            context=Setting("context"),
        )
    return found


def balanced_sides(
    orders: Sequence[Sequence[Presentation]], pairs: Mapping[int, str], random: np.random.Generator
) -> Sides:
    """Choose which text of a pair is on the left, at random and balanced.

    Each text of a pair is on the left for about half of its annotators, for about half of an annotator's pairs, and for
    about half of those of the same systems. A repeated pair has its sides exchanged.

    Args:
        orders: Presentations of each annotator.
        pairs: Name of the systems of each item, by its number; presentations of other items have no sides.
        random: Random number generator.

    >>> from postil.campaigns.item_assignment import generator
    >>> orders, names = [[(0, 1), (1, 1), (0, 2)], [(0, 1), (1, 1)]], {0: "x : y", 1: "x : y"}
    >>> made = balanced_sides(orders, names, generator(1, "sides", 1))
    >>> made[0, 0, 1] + made[1, 0, 1], made[0, 0, 1] + made[0, 1, 1], made[0, 0, 1] + made[0, 0, 2]
    (1, 1, 1)
    """
    people = grouped(
        (item, person) for person, order in enumerate(orders) for item, again in order if again == 1 and item in pairs
    )
    lean: Counter[object] = Counter()
    made: Sides = {}
    for item in random.permutation(sorted(people)).tolist():
        for person in random.permutation(people[item]).tolist():
            leanings: dict[object, int] = {("item", item): 4, (person, pairs[item]): 2, ("person", person): 1}
            so_far = sum(weight * lean[key] for key, weight in leanings.items())
            side = int(random.integers(2)) if so_far == 0 else int(so_far < 0)
            made[person, item, 1], made[person, item, 2] = side, 1 - side
            for key in leanings:
                lean[key] += 2 * side - 1
    return made


def asks_for_pairs(given: str | None, rubric: str | None) -> bool:
    """True if a campaign is about pairs of texts.

    Args:
        given: The option: ``all``, or a number; None if it is not there.
        rubric: A file, or a language; None if it is not given.

    Raises:
        InvalidInput: A field of the file is invalid; names the field.
    """
    return given is not None or (rubric is not None and rubric not in LANGUAGES and Rubric.read(rubric).kind == "pair")


def pairs_per_item(given: str | None, rubric: Rubric, rows: str) -> int | None:
    """Number of pairs per article that a campaign asks for.

    Args:
        given: The option: ``all``, or a number; None if it is not there.
        rubric: Rubric of the campaign.
        rows: Rows that the items come from.

    Returns:
        The number, 0 for all; None for a campaign of single texts.

    Raises:
        UsageError: The option, the rubric and the rows do not go together.
    """
    if given is None and rubric.kind != "pair":
        return None
    if rubric.kind != "pair":
        raise UsageError(
            '{pairs} needs a rubric of kind = "pair", got {kind}; leave {rubric} out for ours',
            pairs=Setting("pairs"),
            kind=rubric.kind,
            rubric=Setting("rubric"),
        )
    if rows != "candidates":
        raise UsageError("pairs are texts of two systems: give candidate rows (item, system, text)")
    if given is None or given == "all":
        return 0
    if not (given.isascii() and given.isdecimal() and int(given) > 0):
        raise UsageError(
            "{pairs}: expected all, or the number of pairs per item, got '{got}'", pairs=Setting("pairs"), got=given
        )
    return int(given)


def planned_pairs(
    texts: Sequence[Item],
    per_item: int,
    gold: Mapping[PairKey, GoldPreference],
    path: str,
    *,
    seed: int,
    sampled: Callable[[Sequence[Item]], Sequence[Item]] = lambda texts: texts,
) -> list[Item]:
    """Pair texts, with gold labels.

    Args:
        texts: The texts.
        per_item: Number of pairs per article; 0 for all.
        gold: Gold preferences, by article and systems.
        path: Their file.
        seed: Random seed.
        sampled: Function that samples texts by article; those with a gold label stay.

    Raises:
        UsageError: An article does not have one text of each of two systems or more, or there is no pair of a gold
            preference.
    """
    kept = {article for article, _ in gold}
    marked = [msgspec.structs.replace(text, gold=0.0) if text.item in kept else text for text in texts]
    made = pair_items(sampled(marked), per_item, seed, always=gold)
    return with_gold_preferences(made, gold, path)


def new_gold(path: str, there: Sequence[Item], rubric: Rubric, reading: Reading) -> dict[PairKey, GoldPreference]:
    """Read the gold preferences of texts that are added to a campaign; those that it has already are left out.

    Args:
        path: File of gold preferences.
        there: Pairs of the campaign.
        rubric: The rubric.
        reading: Options of reading the file.

    Raises:
        InvalidInput: A row is invalid; names the row.
        UsageError: The campaign has the pair without this label.
    """
    labels = read_gold(path, rubric, reading)
    known = {(item.item, frozenset((item.system, item.other_system))): item for item in there}
    for key in labels.keys() & known.keys():
        (labelled,) = with_gold_preferences([known[key]], {key: labels[key]}, path)
        if labelled.gold != known[key].gold:
            row = labels[key]
            pair = f"{path}: the campaign has the pair of {row.system_a} and {row.system_b} of {row.item}"
            raise UsageError(f"{pair} without this label; a pair becomes gold when it is added, not later")
        del labels[key]
    return labels
