"""Structs that rows and results are made of: bases, numbers with intervals, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Self

import msgspec

from postil.messages import Listed, Message, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NAMED", "Estimate", "Excluded", "OptionalPart", "Part", "Ranged"]

NAMED: Final = 5
"""Number of excluded rows that are named."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the structs inside a result; unknown fields are ignored when one is read."""


class OptionalPart(Part, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the structs inside a result whose fields with a default are left out of the JSON."""


class Ranged(Part, frozen=True, kw_only=True):
    """Base of the structs with a confidence interval, whose ends are both None where there is none."""

    INTERVALS: ClassVar[tuple[tuple[str, str], ...]] = (("low", "high"),)
    """Names of the ends of each interval."""

    def __post_init__(self) -> None:
        """Refuse an interval with one end, or with its ends in the wrong order.

        Raises:
            ValueError: It is no interval; msgspec reports it as an invalid result.
        """
        for low, high in self._ends():
            if (low is None) != (high is None) or (low or 0) > (high or 0):
                raise ValueError(f"expected an interval from low to high, got {low} and {high}")

    @property
    def excludes_zero(self) -> bool:
        """True if the first interval is above 0 or below it."""
        low, high = next(self._ends())
        return low is not None and high is not None and not low <= 0 <= high

    def _ends(self) -> Iterator[tuple[float | None, float | None]]:
        return ((getattr(self, low), getattr(self, high)) for low, high in self.INTERVALS)


class Estimate(Ranged, frozen=True, kw_only=True):
    """A value with its 95 % percentile bootstrap confidence interval.

    Args:
        value: The value.
        low: The 2.5th percentile of the resampled values; None where there are too few items to resample.
        high: The 97.5th percentile; None as `low`.
    """

    value: float
    low: float | None
    high: float | None


class Excluded(Part, frozen=True, kw_only=True):
    """Rows that are not in the numbers, or not as they came.

    Args:
        why: The reason, in words.
        n: Number of rows.
        examples: The first few of them.
        kept: True where they are in the numbers, though not as they came; left out of the JSON of others.
    """

    why: str
    n: int
    examples: tuple[str, ...] = ()
    kept: bool | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, why: str, names: Sequence[str]) -> Self:
        """All of them, of which the first few are named."""
        return cls(why=why, n=len(names), examples=tuple(names[:NAMED]))

    @property
    def message(self) -> Message:
        """The reason, the number and the examples."""
        why, n, more, names = self.why, self.n, self.n - len(self.examples), Listed(self.examples, last=", ")
        if more:
            return Message("{why}: {n} ({names} and {more} more)", why=why, n=n, names=names, more=more)
        return Message("{why}: {n} ({names})", why=why, n=n, names=names)

    def __str__(self) -> str:
        return spoken(self.message)
