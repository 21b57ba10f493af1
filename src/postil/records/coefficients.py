"""The coefficients: what each is called, and what it asks of texts and systems."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TABLE", "Coefficient", "known", "titled"]


class Coefficient(NamedTuple):
    """A coefficient of correlation, or an accuracy in ranking pairs.

    Args:
        name: Its name, as commands take it.
        title: Its label in tables.
        phrase: Its name in sentences.
        accuracy: True for a share of pairs that are ranked as people rank them.
        of_systems: True where it exists for systems alone.
        linear: True for one of moments, which the reliability of the ratings bounds.
        ties: True for one that counts ties as answers, so that it exists where all scores are equal.
        soft: True for one that weighs pairs of systems by p-values, from their texts of the same items.
    """

    name: str
    title: str
    phrase: str
    accuracy: bool = False
    of_systems: bool = False
    linear: bool = False
    ties: bool = False
    soft: bool = False


TABLE: Final[Mapping[str, Coefficient]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Coefficient("pearson", "Pearson", "pearson", linear=True),
            Coefficient("spearman", "Spearman", "spearman"),
            Coefficient("kendall-b", "Kendall τ-b", "kendall-b"),
            Coefficient("kendall-c", "Kendall τ-c", "kendall-c"),
            Coefficient("acc-eq", "accuracy with ties", "pairwise accuracy with ties", accuracy=True, ties=True),
            Coefficient("pa", "pairwise accuracy", "pairwise accuracy", accuracy=True, of_systems=True),
            Coefficient(
                "spa", "soft pairwise accuracy", "soft pairwise accuracy", accuracy=True, of_systems=True, soft=True
            ),
        )
    }
)
"""The coefficients, by name."""


def known(name: str) -> Coefficient:
    """The coefficient of a name.

    Args:
        name: The name.

    Raises:
        UnknownName: There is none.

    >>> known("spa").of_systems
    True
    """
    if name not in TABLE:
        raise UnknownName("coefficient", name, TABLE)
    return TABLE[name]


def titled(coefficient: str) -> str:
    """Label of a coefficient.

    >>> titled("kendall-b"), titled("mine")
    ('Kendall τ-b', 'mine')
    """
    return TABLE[coefficient].title if coefficient in TABLE else coefficient
