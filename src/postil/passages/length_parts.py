"""Parts of a passage ranking that say how much of it is the length of the passages."""

from __future__ import annotations

from typing import ClassVar

from postil.results.names import ranking
from postil.results.parts import Estimate, Part, Ranged

__all__ = ["GainByLength", "LengthThird", "ListCorrelation"]


class ListCorrelation(Ranged, frozen=True, kw_only=True, omit_defaults=True):
    """A rank correlation within lists of passages, the mean over the lists.

    Args:
        value: The mean; None where no list has a coefficient.
        low: Lower end of its 95 % confidence interval; None where there is none.
        high: Upper end.
        lists: Number of lists that have a coefficient.
        reason: The reason why no list has one, in words.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    lists: int
    reason: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.value is None) != (self.lists == 0):
            raise ValueError(f"expected a value where lists have one, got {self.value} of {self.lists} lists")


class LengthThird(Part, frozen=True, kw_only=True):
    """A third of the passages of each list, by their number of words.

    Args:
        ncg: nCG within it, the mean over the lists; None where it has no grade above 0 in any list.
        n: Number of passages, of all lists together.
        shortest: Smallest number of words of one of them; None where there is none.
        longest: Largest number of words.
    """

    ncg: float | None
    n: int
    shortest: int | None
    longest: int | None


class GainByLength(Part, frozen=True, kw_only=True):
    """A passage ranking and the length of the passages: nCG among passages of similar length, rank correlations.

    Args:
        measure: The measure.
        leave_one_out: True if each passage left its reference.
        k: The rank cutoff within thirds.
        ncg: Length-stratified nCG at k: the mean over the thirds of a list that have a grade above 0, then over lists.
        thirds: The short, the middle and the long third.
        spearman: Spearman correlation of scores and grades.
        partial: The same with the number of words partialled out.
        with_length: Spearman correlation of scores and numbers of words.
    """

    measure: str
    leave_one_out: bool
    k: int
    ncg: Estimate
    thirds: tuple[LengthThird, LengthThird, LengthThird]
    spearman: ListCorrelation
    partial: ListCorrelation
    with_length: ListCorrelation

    THIRDS: ClassVar = ("short", "middle", "long")
    """Names of the thirds."""

    @property
    def name(self) -> str:
        """Name of the ranking, as `Gain.name`."""
        return ranking(self.measure, self.leave_one_out)
