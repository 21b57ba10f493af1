"""What a difference allows to say, in the words that all chapters use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ABOVE",
    "ALPHA",
    "BELOW",
    "SIGNIFICANTLY",
    "UNCLEAR",
    "VERDICTS",
    "finding",
    "first_minus_second",
    "is_clear",
    "verdict",
]

ABOVE: Final = "significantly higher than"
BELOW: Final = "significantly lower than"
UNCLEAR: Final = "not significantly different from"
VERDICTS: Final = (ABOVE, BELOW, UNCLEAR)

ALPHA: Final = 0.05

SIGNIFICANTLY: Final = (
    "“Significantly” means that the 95 % confidence interval of the difference excludes 0 and that the Holm-adjusted "
    "p, where there is a test, is below .05."
)
"""Definition of the word, once per chapter."""


class Tested(Protocol):
    """A difference of two numbers with its interval and its test."""

    @property
    def value(self) -> float:
        """The first minus the second."""

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % confidence interval."""

    @property
    def high(self) -> float | None:
        """Upper end."""

    @property
    def p_holm(self) -> float | None:
        """Holm-adjusted p; None where there is no test."""

    def reversed(self) -> Self:
        """The second minus the first."""


At = TypeVar("At", str, int)
AnyDifference = TypeVar("AnyDifference", bound=Tested)


def is_clear(row: Tested) -> bool:
    """True if the confidence interval excludes 0 and the Holm-adjusted p, where there is one, is below .05."""
    return finding(row.value, row.low, row.high, row.p_holm) != UNCLEAR


def verdict(row: Tested) -> str:
    """The finding of a difference about its first side, one of `VERDICTS`."""
    return finding(row.value, row.low, row.high, row.p_holm)


def finding(value: float, low: float | None, high: float | None, p_holm: float | None) -> str:
    """One of `VERDICTS`.

    Args:
        value: The difference.
        low: Lower end of its 95 % confidence interval.
        high: Upper end.
        p_holm: Holm-adjusted p; None where there is no test.
    """
    if low is None or high is None or low <= 0 <= high or (p_holm is not None and p_holm >= ALPHA):
        return UNCLEAR
    return ABOVE if value > 0 else BELOW


def first_minus_second(
    rows: Mapping[tuple[str, str, At], AnyDifference], first: str, second: str, at: At
) -> AnyDifference | None:
    """The difference of two names at a coefficient or rank cutoff, reversed where it is stored the other way.

    Args:
        rows: The differences.
        first: A name.
        second: Another.
        at: The coefficient or rank cutoff.
    """
    if found := rows.get((first, second, at)):
        return found
    turned = rows.get((second, first, at))
    if turned is None or turned.low is None or turned.high is None:
        return None
    return turned.reversed()
