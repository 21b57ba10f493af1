"""Many tests at once: adjusted p-values, and groups of systems that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from postil.kernel.arrays import Booleans

__all__ = ["MOST_SETS", "compact_letters", "rank_ranges"]

LETTERS: Final = 26
MOST_SETS: Final = 700
"""Largest number of sets that get letters; their number may double with every significant pair."""


def rank_ranges(significant: Booleans) -> list[tuple[int, int]]:
    """Best and worst rank of each system that the significant differences leave.

    From one plus the number of systems significantly above it, to all but those significantly below it. With
    Holm-adjusted tests all ranges hold at once with probability .95 (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> rank_ranges(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    [(1, 2), (1, 3), (2, 3)]
    """
    above, below = np.triu(significant).sum(axis=0), np.tril(significant).sum(axis=0)
    return list(zip((above + 1).tolist(), (len(significant) - below).tolist(), strict=True))


def compact_letters(significant: Booleans) -> list[str]:
    """Letters of each system, such that two share one unless they differ significantly (Piepho 2004).

    Starting with one set of all, each significant pair splits every set that holds both into two sets without one of
    them; sets inside others are dropped. The sets are named in the order of their systems. Above `MOST_SETS` of them no
    system has a letter.

    Args:
        significant: bool[S, S], symmetric, True where two systems differ significantly; the best system first.

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    sets = [frozenset(range(len(significant)))]
    for pair in map(frozenset, np.argwhere(np.triu(significant)).tolist()):
        rest = [each for each in sets if not pair <= each]
        split = dict.fromkeys(each - {system} for each in sets if pair <= each for system in pair)
        kept = (one for one in split if not any(one < each for each in split))
        sets = rest + [one for one in kept if not any(one <= each for each in rest)]
        if len(sets) > MOST_SETS:
            return [""] * len(significant)
    named = {each: _letter(place) for place, each in enumerate(sorted(sets, key=sorted))}
    return ["".join(letter for each, letter in named.items() if system in each) for system in range(len(significant))]


def _letter(place: int) -> str:
    """``a`` to ``z``; after these ``a1`` to ``z1``, and so on."""
    return chr(ord("a") + place % LETTERS) + (str(place // LETTERS) if place >= LETTERS else "")
