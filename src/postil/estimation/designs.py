"""Layouts of raters, estimators of mean grades, and what these estimate."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ESTIMATORS", "LAYOUTS", "TARGETS", "Estimator", "Layout"]


class Layout(NamedTuple):
    """An assignment of raters to outputs.

    Args:
        name: Its name in results.
        title: Its label in tables.
        phrase: Words that it adds to a number of raters of each item.
        shared: True if the raters of an item rate all its systems, so that severities leave their differences.
    """

    name: Literal["item", "output"]
    title: str
    phrase: str
    shared: bool


class Estimator(NamedTuple):
    """An estimator of the mean grades of systems.

    Args:
        name: Its name, as commands take it.
        phrase: Description.
        scores: True if scores can help it.
        alone: True if it takes one score and one system at a time: it needs scores, and has no plans.
        quantiles: The distribution that its intervals are made by.
        slopes: Title of its slopes of systems.
    """

    name: str
    phrase: str
    scores: bool = True
    alone: bool = False
    quantiles: str = "Student’s t distribution"
    slopes: str = "Slope of grades on weighted scores by system"

    @property
    def joint(self) -> bool:
        """True if it uses the scores of all systems together."""
        return self.scores and not self.alone


LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "item": Layout("item", "by item", "the same for all systems", shared=True),
        "output": Layout("output", "by output", "drawn output by output", shared=False),
    }
)
"""The layouts, by name."""

ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Estimator("crossed", "difference estimator, all scores and systems together"),
            Estimator("human", "the ratings alone", scores=False),
            Estimator(
                "ppi",
                "PPI++ of each system",
                alone=True,
                quantiles="normal distribution",
                slopes="λ of PPI++ by system",
            ),
        )
    }
)
"""The estimators, by name; the first is the default."""

TARGETS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "population": "mean grade over the population that the items come from",
        "items": "mean over these items of the expected grade",
    }
)
"""The estimands, by name; the first is the default."""
