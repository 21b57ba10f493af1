"""The scale that grades are given on."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.data.arguments import check_arguments, check_fields
from postil.data.explain import out_of_range, shown
from postil.data.weights import DEFAULT, weigh_grades
from postil.errors import UsageError
from postil.messages import Blank, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SCALE_SETTING", "Scale"]

SCALE_SETTING: Final = Setting("scale", Blank("LOW:HIGH"), python="postil.Scale(LOW, HIGH)")
"""The setting of a scale, for messages that ask for one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale of grades: its lowest and highest grade, and the rubric.

    Args:
        low: The lowest grade, finite.
        high: The highest grade, finite and above `low`.
        words: Names of the grades, from the lowest up; no number depends on them.

    Raises:
        UsageError: The two ends are not finite numbers, or `high` is not above `low`.

    >>> Scale(1, 5, words=("useless", "poor", "fair", "good", "excellent"))
    Scale(low=1.0, high=5.0, words=('useless', 'poor', 'fair', 'good', 'excellent'))
    """

    low: float
    high: float
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        object.__setattr__(self, "words", tuple(self.words))
        if not 0 < self.high - self.low < math.inf:
            raise UsageError(f"a scale's highest grade is above its lowest, got {self.low:g} to {self.high:g}")

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Parse a scale as written on the command line.

        Args:
            text: `HIGH`, then the lowest grade is 0, or `LOW:HIGH`.

        Returns:
            The scale, without words.

        Raises:
            UsageError: The text is neither, or its numbers make no scale.

        >>> str(Scale.parse("5")), str(Scale.parse("1:5"))
        ('0:5', '1:5')
        """
        check_arguments(cls.parse, locals())
        low, colon, high = text.partition(":")
        try:
            ends = (float(low), float(high)) if colon else (0.0, float(low))
        except ValueError:
            ends = math.nan, math.nan
        if not all(map(math.isfinite, ends)):
            raise UsageError(f"scale {shown(text)}: expected HIGH or LOW:HIGH, for example 5 or 1:5")
        return cls(*ends)

    def __str__(self) -> str:
        return ":".join(repr(end).removesuffix(".0") for end in (self.low, self.high))

    def check(self, grade: float) -> str | None:
        """Describe the problem with a grade, if there is one.

        Args:
            grade: The grade.

        Returns:
            None if the grade is on the scale, else the problem in words.

        >>> Scale(1, 5).check(4), Scale(1, 5).check(7)
        (None, 'expected a number from 1 to 5, got 7')
        """
        with suppress(TypeError):  # no number at all
            if self.low <= grade <= self.high:
                return None
        return out_of_range(grade, self.low, self.high)

    def weights(self, grades: Sequence[Sequence[float]], method: str = DEFAULT) -> list[list[float]]:
        """Turn the grades of references into weights.

        Args:
            grades: For each item the grades of its references.
            method: `score`, `minmax`, `item-max` or `signed`; see `METHODS`.

        Returns:
            The weights, in the shape of `grades`.

        Raises:
            UnknownName: There is no such method.
            UsageError: The method does not take grades, or does not go with this scale.
            InvalidInput: A grade is no number or is not on the scale; the message says which.

        >>> Scale(1, 5).weights([[5, 3], [], [1]], method="minmax")
        [[1.0, 0.5], [], [0.0]]
        """
        check_arguments(self.weights, locals())
        return weigh_grades(grades, method=method, scale=self)
