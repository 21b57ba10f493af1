"""Results of `postil agreement`."""

from __future__ import annotations

from postil.campaigns.plan_result import PlanRevision
from postil.campaigns.quality_result import AnnotatorCompetence, CompetenceModel, Consistency
from postil.meta.parts import Agreement
from postil.results.base import Result

__all__ = ["AgreementResult"]


class AgreementResult(Result, frozen=True, kw_only=True, tag="agreement"):
    """Inter-annotator agreement of a campaign.

    Args:
        agreement: Over the first ratings of items that are not gold; None where there is none.
        reason: The reason where there is none; else empty.
        repeated: Intra-annotator agreement on repeated items.
        gold: Agreement of each annotator with the gold labels.
        revisions: Revisions of the plan; empty where no texts were added.
        competence: Competence of the annotators, as far as it is known.
        competence_model: Model of the competence.
    """

    agreement: Agreement | None
    reason: str
    repeated: tuple[Consistency, ...]
    gold: tuple[Consistency, ...]
    revisions: tuple[PlanRevision, ...] = ()
    competence: tuple[AnnotatorCompetence, ...] = ()
    competence_model: CompetenceModel = "mace"  # which had no name in results before
