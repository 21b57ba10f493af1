"""`postil annotate quality`: flags, and what is printed."""

from __future__ import annotations

from postil.campaigns.quality_of_ratings import QualityOptions
from postil.campaigns.quality_of_ratings import quality as measured_quality
from postil.cli.command import command
from postil.cli.errors import emit
from postil.cli.options import CampaignArgument, FormatOption
from postil.results.views import show

__all__ = ["quality"]


@command
def quality(
    campaign: CampaignArgument,
    options: QualityOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Measure the quality of each annotator's ratings, those who need attention first.

    Gold items, attention checks, repeated items, time per rating, agreement with the mean of the others and its drift,
    and the competence that a one-factor model, MACE or the model of Dawid and Skene infers from the ratings.

    Example: postil annotate quality campaign.db
    """
    emit(show(format, measured_quality(campaign, options)), format)
