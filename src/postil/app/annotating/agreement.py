"""How far the annotators of a campaign agree: with one another, with themselves, and with what is known."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from postil.annotation.export import judgements
from postil.errors import Undefined
from postil.metaeval.agreement import agreement
from postil.metaeval.resampling import RESAMPLES, SEED
from postil.records.results import AgreementResult, Consistency

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.annotation.models import Rating
    from postil.annotation.rubric import Rubric

__all__ = ["agreement_of"]


def agreement_of(
    ratings: Sequence[Rating], rubric: Rubric, *, resamples: int = RESAMPLES, seed: int = SEED
) -> AgreementResult:
    """Compute the agreement of the annotators of a campaign.

    Args:
        ratings: The ratings of the campaign.
        rubric: Its rubric.
        resamples: Number of resamples of the items.
        seed: Seed of the resamples.
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
    return AgreementResult(
        agreement=found, reason=reason, repeated=tuple(_consistency(again)), gold=tuple(_consistency(known))
    )


def _consistency(pairs: Mapping[str, Sequence[tuple[float, float]]]) -> Iterator[Consistency]:
    for name in sorted(pairs):
        differences = [given - right for given, right in pairs[name]]
        yield Consistency(
            annotator=name,
            n=len(differences),
            equal=fmean(difference == 0 for difference in differences),
            apart=fmean(map(abs, differences)),
            above=fmean(differences),
        )
