"""Ratings by aspect, where annotators grade several aspects of an item at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.campaigns.models import Rating
    from postil.campaigns.rubric import Rubric

__all__ = ["ratings_by_aspect", "ratings_of"]


def ratings_of(ratings: Sequence[Rating], rubric: Rubric, aspect: str | None = None) -> tuple[Rubric, list[Rating]]:
    """Select the grades of one aspect.

    Args:
        ratings: Ratings of a campaign.
        rubric: Its rubric.
        aspect: Name of the aspect; None for the first one, or for the question of a rubric with one.

    Returns:
        A rubric with the question and scale of the aspect, and the ratings with its grades and gold labels.

    Raises:
        UnknownName: There is no such aspect.
    """
    scales = rubric.scales
    names = [scale.name for scale in scales]
    if aspect is not None and aspect not in names:
        raise UnknownName("aspect", aspect, names)
    number = 0 if aspect is None else names.index(aspect)
    found = list(_selected(ratings, names[number], number)) if rubric.aspects else list(ratings)
    return scales[number], found


def ratings_by_aspect(
    ratings: Sequence[Rating], rubric: Rubric, *, every: bool = False
) -> list[tuple[Rubric, list[Rating]]]:
    """Select the grades of each aspect; see `ratings_of`.

    Args:
        ratings: Ratings of a campaign.
        rubric: Its rubric.
        every: True to keep grades of gold items that have no label of the aspect, which statistics leave out.
    """
    if not (every and rubric.aspects):
        return [ratings_of(ratings, rubric, scale.name) for scale in rubric.scales]
    return [
        (scale, [_of_aspect(one, scale.name, number) for one in ratings]) for number, scale in enumerate(rubric.scales)
    ]


def _selected(ratings: Iterable[Rating], aspect: str, number: int) -> Iterable[Rating]:
    for one in ratings:
        found = _of_aspect(one, aspect, number)
        if one.gold is None or found.gold is not None:  # a gold item without a label of this aspect says nothing of it
            yield found


def _of_aspect(one: Rating, aspect: str, number: int) -> Rating:
    golds = one.golds or (() if one.gold is None else (one.gold, *[None] * (len(one.grades) - 1)))
    gold = golds[number] if golds else None
    return msgspec.structs.replace(one, aspect=aspect, grade=one.grades[number], gold=gold, golds=golds)
