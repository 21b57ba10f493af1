"""Results of `postil weights plan`."""

from __future__ import annotations

from postil.data.rows import PlannedReference
from postil.results.base import Result

__all__ = ["WeightsPlanResult"]


class WeightsPlanResult(Result, frozen=True, kw_only=True, tag="weights-plan"):
    """A plan of which references to grade; any beginning of its rows is a plan.

    Args:
        budget: Number of references to grade.
        rows: The references, in the order in which to grade them.
        covered: Value of the plan after each tenth of the budget, as a share of the value of all references.
        notes: Notes on the data and the numbers.
    """

    budget: int
    rows: tuple[PlannedReference, ...]
    covered: tuple[float, ...]
    notes: tuple[str, ...]
