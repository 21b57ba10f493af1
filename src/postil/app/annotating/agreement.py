"""How far the annotators of a campaign agree: with one another, with themselves, and with what is known."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from postil.annotation.export import judgements
from postil.errors import Undefined
from postil.metaeval.agreement import agreement
from postil.metaeval.resampling import RESAMPLES, SEED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.annotation.models import Rating
    from postil.annotation.rubric import Rubric
    from postil.metaeval.agreement import Agreement

__all__ = ["CampaignAgreement", "Check", "agreement_of"]


@dataclass(frozen=True, slots=True)
class Check:
    """An annotator's grades beside others that they should equal.

    Args:
        annotator: The annotator's pseudonym.
        n: How many grades.
        equal: The share that is equal.
        apart: The mean distance.
        above: The mean difference, above 0 where the annotator's grade (the second one) is the higher.
    """

    annotator: str
    n: int
    equal: float
    apart: float
    above: float


@dataclass(frozen=True, slots=True, eq=False)
class CampaignAgreement:
    """How far the annotators of a campaign agree.

    Args:
        agreement: With one another, over first grades of texts that are not gold; None where there is none.
        reason: Why there is none; else empty.
        repeated: Each with themselves, where they had a text twice.
        gold: Each with the grade that is known.
    """

    agreement: Agreement | None
    reason: str
    repeated: tuple[Check, ...]
    gold: tuple[Check, ...]


def agreement_of(
    ratings: Sequence[Rating], rubric: Rubric, *, resamples: int = RESAMPLES, seed: int = SEED
) -> CampaignAgreement:
    """How far the annotators agree.

    Args:
        ratings: What annotators think.
        rubric: What they were asked.
        resamples: How many resamples the intervals are of.
        seed: Their seed.
    """
    found, reason = None, "agreement needs grades, and there are none"
    rows = list(judgements(ratings))
    if rows:
        try:
            found, reason = agreement(rows, labels=rubric.grades or None, resamples=resamples, seed=seed), ""
        except Undefined as error:
            reason = str(error)
    second = {(one.number, one.annotator): one.grade for one in ratings if one.round > 1}
    again: dict[str, list[tuple[float, float]]] = {}
    known: dict[str, list[tuple[float, float]]] = {}
    for one in ratings:
        if one.round == 1 and (one.number, one.annotator) in second:
            again.setdefault(one.annotator, []).append((second[one.number, one.annotator], one.grade))
        if one.round == 1 and one.gold is not None:
            known.setdefault(one.annotator, []).append((one.grade, one.gold))
    return CampaignAgreement(found, reason, tuple(_checks(again)), tuple(_checks(known)))


def _checks(pairs: Mapping[str, Sequence[tuple[float, float]]]) -> Iterator[Check]:
    for name in sorted(pairs):
        differences = [given - right for given, right in pairs[name]]
        yield Check(
            annotator=name,
            n=len(differences),
            equal=fmean(difference == 0 for difference in differences),
            apart=fmean(map(abs, differences)),
            above=fmean(differences),
        )
