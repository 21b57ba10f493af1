"""Results of `postil agreement`."""

from __future__ import annotations

from postil.data.parts import Part
from postil.meta.parts import Agreement
from postil.raters.options import CompetenceModel
from postil.results.base import Result

__all__ = ["AgreementResult", "AnnotatorCompetence", "Consistency", "PlanRevision"]


class AgreementResult(Result, frozen=True, kw_only=True, tag="agreement"):
    """Inter-annotator agreement of a campaign or of a table of ratings.

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


class PlanRevision(Part, frozen=True, kw_only=True):
    """Revision of the plan of a campaign: the items that were added at one time.

    Args:
        number: Number of the revision; 1 is the first plan.
        time: Time in UTC, as in ISO 8601.
        items: Number of items, gold ones included.
        known: Number of items of the files that were left out, as the campaign had them already.
        ratings: Number of ratings so far, repeated ones included.
    """

    number: int
    time: str
    items: int
    known: int
    ratings: int


class Consistency(Part, frozen=True, kw_only=True):
    """The ratings of an annotator beside others that they should equal.

    Args:
        annotator: The annotator's pseudonym.
        n: Number of ratings.
        equal: The share that is equal.
        apart: Mean absolute difference.
        above: Mean difference, above 0 where the annotator's rating (the second one) is the higher.
    """

    annotator: str
    n: int
    equal: float
    apart: float
    above: float


class AnnotatorCompetence(Part, frozen=True, kw_only=True):
    """The competence of an annotator.

    Args:
        annotator: The annotator's pseudonym.
        competence: From 0 to 1: for the one-factor model the share of the variance of the grades that follows the
            texts, for MACE the probability that a rating follows the text instead of a guess.
    """

    annotator: str
    competence: float
