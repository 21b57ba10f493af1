"""Team-draft interleaving of the suggestions of two models (Radlinski, Kurup and Joachims 2008, section 5.2.2).

As in a match where two captains choose players: before each round a coin decides which model picks first, and each
picks its best text that is not yet in the list. A reader who has no preference then clicks equally often on the texts
of either, wherever in the list they look; `postil compare --interleaved` analyses what readers did.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from postil.corpus.duplicates import BigramSets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["team_draft"]


def team_draft(
    first: Sequence[str], second: Sequence[str], k: int, seed: bytes | int, threshold: float = 0.6
) -> list[tuple[int, int]]:
    """Interleave two lists of texts.

    A text that both have belongs to the model that picks it first, and near duplicates count as one text.

    Args:
        first: The texts of team 0, best first.
        second: Those of team 1.
        k: Largest number of texts.
        seed: Seed of the coin; the same seed gives the same list.
        threshold: Smallest `jaccard_similarity` of near duplicates.

    Returns:
        The team and the index in that team's list, by rank. It is shorter than ``k`` where a round is impossible
        since either model has no text left, whichever picks first: another text would favor the model with more.

    >>> team_draft(["Bring a coat.", "Stay at home."], ["bring a coat", "What a storm!"], 2, seed=4)
    [(0, 0), (1, 1)]
    """
    texts = [*first, *second]
    owners = np.repeat([0, 1], [len(first), len(second)])
    near = BigramSets(texts)
    starts = (0, len(first))
    left = np.ones(len(texts), bool)
    picked: list[tuple[int, int]] = []

    def best(team: int, left: NDArray[np.bool_]) -> int | None:
        """The best text of a team among those that are left."""
        found = np.flatnonzero(left & (owners == team))
        return int(found[0]) if len(found) else None

    def turn(order: tuple[int, ...], left: NDArray[np.bool_]) -> tuple[list[int], NDArray[np.bool_]] | None:
        """The picks of teams, one after the other, and what is left then; None if one has no text to pick."""
        picks = []
        for team in order:
            pick = best(team, left)
            if pick is None:
                return None
            picks.append(pick)
            left = left & (near.jaccard(pick) < threshold)
        return picks, left

    while len(picked) < k and left.any():
        size = min(2, k - len(picked))
        either = [turn(order[:size], left) for order in ((0, 1), (1, 0))]
        chosen = either[_coin(seed, len(picked))]
        if chosen is None or None in either:
            break
        picks, left = chosen
        picked += [(int(owners[pick]), pick - starts[owners[pick]]) for pick in picks]
    return picked


def _coin(seed: bytes | int, rank: int) -> int:
    """A fair coin that gives the same sides in every version of Python."""
    key = seed if isinstance(seed, bytes) else str(seed).encode()
    return sha256(b"%d:%b" % (rank, key)).digest()[0] & 1
