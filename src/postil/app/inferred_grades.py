"""Competence of the annotators of a campaign, and the grades that it implies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.annotation.quality import InferredGrades
from postil.errors import Undefined
from postil.records.rows import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.annotation.models import Rating
    from postil.annotation.rubric import Rubric
    from postil.records.quality_parts import CompetenceModel

__all__ = ["inferred_grades"]


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
