"""Competence of the annotators of a campaign, and the grades that it implies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from postil.campaigns.consistency import with_gold_labels
from postil.campaigns.quality import InferredGrades
from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Rating
    from postil.campaigns.rubric import Rubric
    from postil.raters.result import CompetenceModel

__all__ = ["inferred_grades"]


def inferred_grades(ratings: Sequence[Rating], rubric: Rubric, model: CompetenceModel = "one-factor") -> InferredGrades:
    """Infer the competence of annotators from their ratings of one another's items, and of those whose grade is known.

    Gold items and attention checks are items with a known grade for the model; training and repeated items are left
    out. Whoever missed attention checks has a competence of at most ``(passed + 1) / (checks + 1)``.

    Args:
        ratings: Ratings of a campaign.
        rubric: Rubric of the campaign.
        model: Model of the competence.
    """
    import numpy as np  # noqa: PLC0415 - it takes long to load

    from postil.meta.score_matrix import Judged  # noqa: PLC0415 - the same
    from postil.raters.competence import infer, weighted_means  # noqa: PLC0415 - it loads statistics

    if not rubric.grades:
        reason = Message("competence is estimated from grades, and this campaign has marks")
        return InferredGrades({}, {}, {}, reason)
    first = [one for one in ratings if one.round == 1 and (one.gold is None or one.purpose != "training")]
    known = {one.number: one.gold for one in first if one.gold is not None}
    if len({one.number for one in first}) == len(known):
        return InferredGrades({}, {}, {}, Message("competence needs grades, and there are none"))
    judged = Judged(Judgement(str(one.number), "", one.annotator, one.grade) for one in first)
    keys = list(judged.rows)
    numbers = [int(item) for item, _ in keys]
    given = judged.of(keys)
    try:
        found = infer(given, model, np.array([known.get(number, math.nan) for number in numbers]))
    except Undefined as error:
        return InferredGrades({}, {}, {}, error.message)
    checks = with_gold_labels(ratings, "attention")
    most = {one.annotator: (round(one.n * one.equal) + 1) / (one.n + 1) for one in checks}
    competence = np.minimum(found.competence, [most.get(name, 1.0) for name in given.names])
    told = zip(given.names, competence.tolist(), found.identified.tolist(), strict=True)
    weighted = zip(numbers, weighted_means(given, competence).tolist(), strict=True)
    expected = zip(numbers, found.expected.tolist(), strict=True)
    return InferredGrades(
        {name: value for name, value, identified in told if identified},
        {number: grade for number, grade in weighted if number not in known},
        {number: grade for number, grade in expected if number not in known},
    )
