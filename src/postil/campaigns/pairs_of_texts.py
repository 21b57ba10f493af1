"""Pairs of texts of `postil annotate plan` and `add`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.campaigns.pairs import pair_items, read_gold, with_gold_preferences
from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.errors import UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from postil.campaigns.models import Item
    from postil.campaigns.pairs import GoldPreference, Key
    from postil.data.reading import Reading

__all__ = ["asks_for_pairs", "new_gold", "pairs_per_item", "planned_pairs"]


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
    gold: Mapping[Key, GoldPreference],
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


def new_gold(path: str, there: Sequence[Item], rubric: Rubric, reading: Reading) -> dict[Key, GoldPreference]:
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
