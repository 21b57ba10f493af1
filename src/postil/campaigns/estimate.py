"""Mean grades of systems while a campaign runs, and what more ratings would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from postil.campaigns.export import judgements
from postil.campaigns.pair_export import preferences
from postil.errors import Undefined
from postil.estimation.result import EstimateSettings
from postil.messages import Message
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Campaign, Rating
    from postil.comparison.preferences_result import PreferencesResult
    from postil.estimation.rating_budget import Prospects
    from postil.estimation.result import EstimateResult

__all__ = ["CampaignEstimate", "estimate_so_far"]


@dataclass(frozen=True, slots=True)
class CampaignEstimate:
    """Mean grades of systems from the ratings so far.

    Args:
        result: The estimate; None where there is none yet.
        reason: The reason, in words, where there is none.
        prospects: Expected intervals with more ratings.
        preferences: Strengths of systems, in a campaign of pairs.
    """

    result: EstimateResult | None = None
    reason: str = ""
    prospects: Prospects | None = None
    preferences: PreferencesResult | None = None


def estimate_so_far(ratings: Sequence[Rating], campaign: Campaign, articles: int) -> CampaignEstimate:
    """Estimate the mean grade of each system from the ratings so far, and what more ratings would bring.

    Args:
        ratings: Ratings of the campaign.
        campaign: Its settings.
        articles: Number of its articles.
    """
    if campaign.pairs is not None:
        return _strengths(ratings)
    from postil.estimation.estimator import estimate  # noqa: PLC0415 - it loads statistics
    from postil.estimation.rating_budget import FEWEST_ITEMS, prospects  # noqa: PLC0415 - the same
    from postil.meta.rated_outputs import outputs_of  # noqa: PLC0415 - the same
    from postil.meta.score_matrix import Judged  # noqa: PLC0415 - the same

    if campaign.rows != "candidates":
        kind = Message("readers' comments") if campaign.rows == "articles" else Message("passages")
        return CampaignEstimate(
            reason=Message("it compares systems, and the items of this campaign are {kind}", kind=kind)
        )
    rows = list(judgements(ratings))
    rated = len({row.item for row in rows})
    if rated < FEWEST_ITEMS:
        return CampaignEstimate(reason=_too_few(rated, FEWEST_ITEMS))
    found = outputs_of(None, Judged(rows), severity="auto")
    if sum(found.outputs.n > 1) < 2:
        return CampaignEstimate(reason=Message("it needs two systems, each with ratings on two articles or more"))
    result = estimate(found, method="human", settings=EstimateSettings(postil=VERSION))
    return CampaignEstimate(result, prospects=prospects(found.outputs, articles))


def _strengths(ratings: Sequence[Rating]) -> CampaignEstimate:
    """Strengths of systems from the preferences so far."""
    from postil.comparison.preference_statistics import preferred_systems  # noqa: PLC0415 - it loads statistics
    from postil.estimation.rating_budget import FEWEST_ITEMS  # noqa: PLC0415 - the same

    rows = list(preferences(ratings))
    rated = len({row.item for row in rows})
    if rated < FEWEST_ITEMS:
        return CampaignEstimate(reason=_too_few(rated, FEWEST_ITEMS))
    try:
        return CampaignEstimate(preferences=preferred_systems(rows))
    except Undefined:
        return CampaignEstimate(reason=Message("it needs preferences that connect all systems"))


def _too_few(rated: int, enough: int) -> Message:
    return Message("it needs {n} rated articles, and there are {rated}", n=enough, rated=rated)
