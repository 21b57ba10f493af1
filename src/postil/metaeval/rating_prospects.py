"""Expected intervals of a running campaign: widths with more rated items, and with more ratings of each output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from postil.metaeval.rating_budget import Campaign, components_of

if TYPE_CHECKING:
    from postil.metaeval.estimation import Outputs

__all__ = ["MORE_ITEMS", "Prospect", "Prospects", "prospects"]

MORE_ITEMS: Final = 20
"""Number of items more whose worth is told."""


class Prospect(NamedTuple):
    """Expected intervals for a number of rated items.

    Args:
        items: Number of rated items.
        mean: Half the width of the 95 % interval of a system's mean.
        difference: The same of a difference of two systems.
    """

    items: int
    mean: float
    difference: float


class Prospects(NamedTuple):
    """Expected intervals now and with more ratings.

    Args:
        now: With the items that are rated, on average over systems.
        more: With `MORE_ITEMS` more.
        planned: With all items of the campaign; None where they are rated.
        twice: With the present items and one more rating of each output; None where no output has two ratings, so that
            the variance of raters is unknown.
    """

    now: Prospect
    more: Prospect
    planned: Prospect | None
    twice: Prospect | None


def prospects(outputs: Outputs, planned: int) -> Prospects:
    """Expected intervals of a campaign, from the variance components of the ratings so far.

    They are averages over systems; the estimand is the mean over the population of items.

    Args:
        outputs: The ratings so far, of two systems or more with two rated items or more each.
        planned: Number of items of the campaign.

    >>> import numpy as np
    >>> from postil.metaeval.estimation import Outputs
    >>> grades = np.array([[1.0, 2.0], [3.0, 3.0], [2.0, 5.0], [4.0, 4.0]])
    >>> found = prospects(Outputs(np.zeros((4, 2, 0)), grades, np.ones((4, 2), np.int64), None), 10)
    >>> [(each.items, round(each.mean, 2), round(each.difference, 2)) for each in found if each]
    [(4, 2.05, 2.25), (24, 0.55, 0.6), (10, 0.92, 1.01)]
    """
    n = max(2, round(float(outputs.n.mean())))
    k = 1 / float((1 / outputs.counts[outputs.rated]).mean())
    items, systems = max(n + MORE_ITEMS, planned), len(outputs.n)
    campaign = Campaign(components=components_of(outputs, None), items=items, systems=systems)

    def expected(n: int, k: float) -> Prospect:
        return Prospect(n, campaign.width(n, k) / 2, campaign.width(n, k, difference=True) / 2)

    return Prospects(
        now=expected(n, k),
        more=expected(n + MORE_ITEMS, k),
        planned=expected(planned, k) if planned > n else None,
        twice=expected(n, k + 1) if outputs.rater_variance is not None else None,
    )
