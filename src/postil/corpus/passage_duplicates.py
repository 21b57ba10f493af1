"""Merge near-duplicate passages: those of one topic with the same first and last characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.data.rows import Passage

__all__ = ["CHARACTERS", "Merged", "merge_duplicates"]

CHARACTERS: Final = 25
"""Number of characters that have to agree at either end."""


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The outcome of `merge_duplicates`.

    Args:
        passages: The remaining passages, in their order.
        groups: Number of them that stand for several.
        dropped: Number of passages that were removed.
    """

    passages: list[Passage]
    groups: int
    dropped: int


def merge_duplicates(passages: Iterable[Passage], characters: int = CHARACTERS) -> Merged:
    """Make one passage of those of a topic that start with the same characters and end with the same characters.

    The rule by which the pool of the INEX tweet contextualisation task was made (Gonzalez-Gallardo, SanJuan and
    Torres-Moreno, section 3.2). Of such passages the one with the highest grade stays, the first of them where several
    have it, at the place of the first of all; so its grade belongs to its text. A passage without a grade counts as the
    lowest. A text shorter than ``characters`` is compared whole.

    Args:
        passages: Passages of any topics, in any order.
        characters: Number of characters at either end, compared with case and white space.

    Raises:
        UsageError: ``characters`` is less than 1.

    >>> from postil.data.rows import Passage
    >>> rows = [Passage("t", 1, "The duck is a bird.", grade=0), Passage("t", 2, "The duck, a real bird.", grade=1)]
    >>> merged = merge_duplicates(rows, characters=5)
    >>> [row.id for row in merged.passages], merged.groups, merged.dropped
    (['2'], 1, 1)
    """
    if characters < 1:
        raise UsageError(f"passages are compared by at least 1 character at either end, got {characters}")
    best: dict[tuple[str, str, str], Passage] = {}
    several: set[tuple[str, str, str]] = set()
    dropped = 0
    for passage in passages:
        key = passage.topic, passage.text[:characters], passage.text[-characters:]
        known = best.setdefault(key, passage)
        if known is not passage:
            several.add(key)
            dropped += 1
            if _grade(passage) > _grade(known):
                best[key] = passage
    return Merged(list(best.values()), len(several), dropped)


def _grade(passage: Passage) -> float:
    return float("-inf") if passage.grade is None else passage.grade
