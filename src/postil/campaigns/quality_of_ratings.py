"""`postil annotate quality`: quality of the annotators' ratings, with their competence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

from postil.campaigns.calls import open_campaign
from postil.campaigns.inferred_grades import inferred_grades
from postil.campaigns.quality import annotator_quality
from postil.campaigns.quality_result import QualityResult
from postil.campaigns.rubric import ratings_of
from postil.errors import UnknownName
from postil.options import Flag, options
from postil.raters.result import CompetenceModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.campaigns.models import Rating
    from postil.campaigns.quality import InferredGrades
    from postil.campaigns.rubric import Rubric

__all__ = ["QualityOptions", "quality", "quality_of"]


@options
class QualityOptions:
    """Options of `postil annotate quality`.

    Args:
        model: Model of the competence of annotators: one-factor, mace or dawid-skene.
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    model: Annotated[CompetenceModel, Flag(metavar="NAME")] = "one-factor"
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None

    def __post_init__(self) -> None:
        UnknownName.check("model", self.model, get_args(CompetenceModel))


def quality(url: str, options: QualityOptions) -> QualityResult:
    """Measure the quality of each annotator's ratings.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        UnknownName: There is no such aspect.
    """
    with open_campaign(url, read_only=True) as store:
        rubric, ratings = ratings_of(store.results.ratings(), store.rubric(), options.aspect)
        lengths = store.results.lengths()
    return quality_of(ratings, lengths, rubric, options)


def quality_of(
    ratings: Sequence[Rating],
    lengths: Mapping[int, float],
    rubric: Rubric,
    options: QualityOptions,
    inferred: InferredGrades | None = None,
) -> QualityResult:
    """Measure the quality of each annotator's ratings.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        lengths: Length of each item's text by its number.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
        inferred: Competence of the annotators, where it is known already.
    """
    inferred = inferred or inferred_grades(ratings, rubric, options.model)
    return QualityResult(
        annotators=annotator_quality(ratings, lengths, rubric, inferred.competence),
        ratings=len(ratings),
        model=options.model,
        undefined=inferred.reason,
    )
