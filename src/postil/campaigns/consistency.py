"""Consistency of annotators: with their own ratings of repeated items, and with gold labels."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from postil.raters.result import Consistency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.campaigns.models import Purpose, Rating

__all__ = ["with_gold_labels", "with_themselves"]


def with_themselves(ratings: Sequence[Rating]) -> tuple[Consistency, ...]:
    """Compare each annotator's second rating of a repeated item with the first (intra-annotator agreement).

    Args:
        ratings: The ratings.
    """
    second = {(one.number, one.annotator): one.grade for one in ratings if one.round > 1}
    return tuple(
        _compare(
            (one.annotator, second[one.number, one.annotator], one.grade)
            for one in ratings
            if one.round == 1 and (one.number, one.annotator) in second
        )
    )


def with_gold_labels(ratings: Sequence[Rating], purpose: Purpose = "") -> tuple[Consistency, ...]:
    """Compare each annotator's first rating of a gold item with its label.

    Args:
        ratings: The ratings.
        purpose: Purpose of the gold items, see `postil.campaigns.models.Item`.
    """
    return tuple(
        _compare(
            (one.annotator, one.grade, one.gold)
            for one in ratings
            if one.round == 1 and one.gold is not None and one.purpose == purpose
        )
    )


def _compare(pairs: Iterable[tuple[str, float, float]]) -> Iterator[Consistency]:
    """One row per annotator, of the differences between ratings and their references."""
    differences: dict[str, list[float]] = {}
    for name, grade, reference in pairs:
        differences.setdefault(name, []).append(grade - reference)
    for name, mine in sorted(differences.items()):
        yield Consistency(
            annotator=name,
            n=len(mine),
            equal=fmean(difference == 0 for difference in mine),
            apart=fmean(map(abs, mine)),
            above=fmean(mine),
        )
