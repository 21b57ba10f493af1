"""The coefficients: what each is called, and what it asks of texts and systems.

What each computes is in `postil.meta.coefficient_kinds`; a new one is an entry here and an entry there, since one entry
would make options, tables and pages load the statistics.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from postil.data.groups import grouped
from postil.errors import UnknownName, UsageError
from postil.messages import Setting
from postil.results.formats import listed, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.meta.parts import Correlation

__all__ = [
    "CHOICES",
    "LEVELS",
    "TABLE",
    "By",
    "Coefficient",
    "Measure",
    "check_names",
    "known",
    "linear",
    "tied_notes",
    "titled",
]

By: TypeAlias = Literal["pool", "item", "system", "within-system"]
"""Aggregation level: all texts; the texts of each item, then the mean over items; the means of systems; the texts of
each system, then the mean over systems."""

LEVELS: Final[tuple[By, ...]] = get_args(By)
"""All levels."""

Measure: TypeAlias = Literal["pearson", "spearman", "kendall-b", "kendall-c", "acc-eq", "pa", "spa"]
"""Name of a coefficient of correlation or an accuracy in ranking pairs."""

_KENDALL: Final = "Kendall's coefficients have no test here; look at the intervals"

_FEW: Final = MappingProxyType(dict.fromkeys(LEVELS, 200))


class Coefficient(NamedTuple):
    """A coefficient of correlation, or an accuracy in ranking pairs.

    Args:
        name: Its name, as commands take it.
        title: Its label in tables.
        phrase: Its name in sentences.
        gloss: Explanation for those who choose among names; empty where the name says it.
        levels: The levels at which it exists.
        most: Largest number of resamples, by level, where it takes fewer than others; they take long.
        accuracy: True for a share of pairs that are ranked as people rank them.
        linear: True for one of moments, which the reliability of the ratings bounds.
        ties: True for one that counts ties as answers, so that it exists where all scores are equal.
        soft: True for one that weighs pairs of systems by p-values, from their texts of the same items.
        untested: The reason why it has no test of differences between metrics, in words; empty where it has one.
    """

    name: Measure
    title: str
    phrase: str
    gloss: str = ""
    levels: tuple[By, ...] = LEVELS
    most: Mapping[By, int] = MappingProxyType({})
    accuracy: bool = False
    linear: bool = False
    ties: bool = False
    soft: bool = False
    untested: str = ""

    @property
    def of_systems(self) -> bool:
        """True where it exists for systems alone."""
        return self.levels == ("system",)

    def check(self, by: str) -> None:
        """Refuse a level at which it does not exist.

        Args:
            by: The level.

        Raises:
            UnknownName: There is no such level.
            UsageError: It compares systems, and the level is another.
        """
        UnknownName.check("level", by, LEVELS)
        if by not in self.levels:
            need, got = Setting("by", self.levels[0]), Setting("by", by)
            raise UsageError(
                "{measure} compares systems, so it needs {need}, got {got}", measure=self.name, need=need, got=got
            )


TABLE: Final[Mapping[str, Coefficient]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Coefficient("pearson", "Pearson", "pearson", linear=True),
            Coefficient("spearman", "Spearman", "spearman"),
            Coefficient("kendall-b", "Kendall τ-b", "kendall-b", most=_FEW, untested=_KENDALL),
            Coefficient("kendall-c", "Kendall τ-c", "kendall-c", most=_FEW, untested=_KENDALL),
            Coefficient(
                name="acc-eq",
                title="accuracy with ties",
                phrase="pairwise accuracy with ties",
                gloss="accuracy with ties",
                most={"pool": 200},
                accuracy=True,
                ties=True,
            ),
            Coefficient("pa", "pairwise accuracy", "pairwise accuracy", levels=("system",), accuracy=True),
            Coefficient(
                name="spa",
                title="soft pairwise accuracy",
                phrase="soft pairwise accuracy",
                gloss="accuracy in ranking systems",
                levels=("system",),
                most={"system": 200},
                accuracy=True,
                soft=True,
            ),
        )
    }
)
"""The coefficients, by name."""

*_FIRST, _LAST = (f"{each.name} ({each.gloss})" if each.gloss else each.name for each in TABLE.values())

CHOICES: Final = f"{', '.join(_FIRST)} or {_LAST}"
"""Their names in a sentence, with what they are."""


def known(name: str) -> Coefficient:
    """The coefficient of a name.

    Args:
        name: The name.

    Raises:
        UnknownName: There is none.

    >>> known("spa").of_systems
    True
    """
    UnknownName.check("coefficient", name, TABLE)
    return TABLE[name]


def check_names(names: Sequence[str]) -> None:
    """See that some names are those of coefficients.

    Args:
        names: The names.

    Raises:
        UnknownName: One is not.
        UsageError: There are none.
    """
    for name in names:
        known(name)
    if not names:
        raise UsageError(f"no coefficient: expected at least one of {', '.join(TABLE)}")


def linear(names: Iterable[str]) -> list[str]:
    """Those coefficients that the reliability of the ratings bounds.

    >>> linear(["spearman", "pearson", "mine"])
    ['pearson']
    """
    return [name for name in names if name in TABLE and TABLE[name].linear]


def titled(coefficient: str) -> str:
    """Label of a coefficient.

    >>> titled("kendall-b"), titled("mine")
    ('Kendall τ-b', 'mine')
    """
    return TABLE[coefficient].title if coefficient in TABLE else coefficient


def tied_notes(rows: Iterable[Correlation], named: Callable[[str], str] = str) -> Iterator[str]:
    """A note on metrics whose best threshold ties every pair, level by level.

    Args:
        rows: Accuracies.
        named: Function that marks a name that users gave.
    """
    for (coefficient, by), tied in grouped(((row.coefficient, row.by), row) for row in rows if row.all_tied).items():
        which = listed([named(row.metric) for row in tied])
        yield (
            f"{coefficient} by {by} of {which}: the best threshold ties every pair of texts, so "
            f"{short(tied[0].value)} is what the same score for all would get, and shows nothing of an order"
        )
