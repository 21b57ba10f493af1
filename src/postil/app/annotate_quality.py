"""`postil annotate quality`: quality of the annotators' ratings, with their competence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

from postil.annotation.aspects import ratings_of
from postil.annotation.quality import annotator_quality, reading_length
from postil.app.annotate import open_campaign
from postil.errors import Undefined, UnknownName
from postil.options import Flag, options
from postil.records.quality_parts import CompetenceModel
from postil.records.results import QualityResult
from postil.records.rows import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.annotation.models import Rating
    from postil.annotation.rubric import Rubric

__all__ = ["InferredGrades", "QualityOptions", "inferred_grades", "quality", "quality_of"]


@options
class QualityOptions:
    """Options of `postil annotate quality`.

    Args:
        model: Model of the competence of annotators: mace or dawid-skene.
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    model: Annotated[CompetenceModel, Flag(metavar="NAME")] = "mace"
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None

    def __post_init__(self) -> None:
        if self.model not in get_args(CompetenceModel):
            raise UnknownName("model", self.model, get_args(CompetenceModel))


class InferredGrades(NamedTuple):
    """Competence of annotators, and the grades that it implies.

    Args:
        competence: Competence by annotator; without those who share no item with others.
        weighted: Mean grade weighted by competence, by number of the item.
        expected: Posterior mean of the grade, by number of the item.
        reason: The reason where there are none; else empty.
    """

    competence: Mapping[str, float]
    weighted: Mapping[int, float]
    expected: Mapping[int, float]
    reason: str = ""


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
        lengths = {number: reading_length(item.text) for number, item in enumerate(store.items())}
    return quality_of(ratings, lengths, rubric, options)


def quality_of(
    ratings: Sequence[Rating], lengths: Mapping[int, float], rubric: Rubric, options: QualityOptions
) -> QualityResult:
    """Measure the quality of each annotator's ratings.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        lengths: Length of each item's text by its number.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
    """
    inferred = inferred_grades(ratings, rubric, options.model)
    return QualityResult(
        annotators=annotator_quality(ratings, lengths, rubric, inferred.competence),
        ratings=len(ratings),
        model=options.model,
        undefined=inferred.reason,
    )


def inferred_grades(ratings: Sequence[Rating], rubric: Rubric, model: CompetenceModel = "mace") -> InferredGrades:
    """Infer the competence of annotators from their ratings of one another's items.

    Args:
        ratings: Ratings of a campaign; gold and repeated items are left out.
        rubric: Rubric of the campaign.
        model: Model of the competence.
    """
    from postil.metaeval.competence import infer, weighted_means  # noqa: PLC0415 - it loads statistics
    from postil.metaeval.score_matrix import Rated  # noqa: PLC0415 - the same

    if not rubric.grades:
        return InferredGrades({}, {}, {}, "competence is estimated from grades, and this campaign has marks")
    first = [one for one in ratings if one.round == 1 and one.gold is None]
    rows = [Judgement(str(one.number), "", one.annotator, one.grade) for one in first]
    if not rows:
        return InferredGrades({}, {}, {}, "competence needs grades, and there are none")
    rated = Rated(rows)
    keys = list(rated.rows)
    numbers = [int(item) for item, _ in keys]
    given = rated.of(keys)
    try:
        found = infer(given, model)
    except Undefined as error:
        return InferredGrades({}, {}, {}, str(error))
    known = zip(given.names, found.competence.tolist(), found.shared.tolist(), strict=True)
    return InferredGrades(
        {name: competence for name, competence, shared in known if shared},
        dict(zip(numbers, weighted_means(given, found.competence).tolist(), strict=True)),
        dict(zip(numbers, found.expected.tolist(), strict=True)),
    )
