"""`postil annotate agreement`: agreement on the ratings of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.campaigns.calls import open_campaign
from postil.campaigns.consistency import with_gold_labels, with_themselves
from postil.campaigns.export import judgements
from postil.campaigns.inferred_grades import inferred_grades
from postil.campaigns.rubric import ratings_of
from postil.data.scale import Scale
from postil.errors import Undefined
from postil.messages import Message
from postil.options import Flag, options
from postil.raters.options import AgreementOptions
from postil.raters.result import AgreementResult, AnnotatorCompetence
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Rating
    from postil.campaigns.quality import InferredGrades
    from postil.campaigns.rubric import Rubric

__all__ = ["CampaignAgreementOptions", "agreement", "agreement_of"]


@options
class CampaignAgreementOptions(AgreementOptions):
    """Options of `postil annotate agreement`.

    Args:
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    aspect: Annotated[str | None, Flag(metavar="NAME")] = None


def agreement(url: str, options: CampaignAgreementOptions) -> AgreementResult:
    """Measure inter-annotator agreement on the ratings so far.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        UnknownName: There is no such aspect.
    """
    with open_campaign(url, read_only=True) as store:
        rubric, ratings = ratings_of(store.results.ratings(), store.rubric(), options.aspect)
        revisions = store.results.revisions(ratings)
    return replace(agreement_of(ratings, rubric, options), revisions=revisions if len(revisions) > 1 else ())


def agreement_of(
    ratings: Sequence[Rating], rubric: Rubric, options: AgreementOptions, inferred: InferredGrades | None = None
) -> AgreementResult:
    """Measure inter-annotator agreement, and the consistency of annotators.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
        inferred: Competence of the annotators, where it is known already.
    """
    from postil.meta.agreement import FEWEST  # noqa: PLC0415 - it loads statistics
    from postil.meta.agreement import agreement as measure  # noqa: PLC0415
    from postil.meta.resampling import Draws  # noqa: PLC0415

    found = None
    reason: str = Message("agreement needs grades, and there are none")
    rows = list(judgements(ratings, single_texts=True))
    if rows:
        try:
            labels, scale = (rubric.grades, None) if rubric.grades else (None, Scale(0, 1))  # marks are shares of texts
            draws = Draws(resamples=options.resamples, seed=options.seed)
            found = measure(rows, labels=labels, scale=scale, draws=draws, fewest=FEWEST)
            reason = ""
            if rubric.kind == "pair":  # neither text of a pair is the higher grade
                found = replace(found, raters=tuple(replace(rater, severity=None) for rater in found.raters))
        except Undefined as error:
            reason = error.message
    known = (inferred or inferred_grades(ratings, rubric)).competence
    return AgreementResult(
        agreement=found,
        reason=reason,
        repeated=with_themselves(ratings),
        gold=with_gold_labels(ratings),
        competence=tuple(AnnotatorCompetence(annotator=name, competence=value) for name, value in known.items()),
        competence_model="one-factor",
    )
