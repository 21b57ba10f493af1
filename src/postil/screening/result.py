"""Results of `postil train screen` and `postil screen`, and their parts."""

from __future__ import annotations

from typing import Final, Literal

from postil.data.parts import Estimate, Excluded, OptionalPart, Part
from postil.results.base import Result

__all__ = [
    "CARRIED",
    "LEAST_OF_A_GROUP",
    "LEAST_OF_A_REASON",
    "Disagreement",
    "ScreenFairness",
    "ScreenGroup",
    "ScreenPoint",
    "ScreenReason",
    "ScreenTrainingResult",
    "ScreenedRow",
    "ScreeningResult",
    "TakenOver",
]


LEAST_OF_A_REASON: Final = 50
"""Smallest number of texts that a reason is learned from."""
LEAST_OF_A_GROUP: Final = 50
"""Smallest number of texts of a language or length that is told."""


class ScreenPoint(Part, frozen=True, kw_only=True):
    """A precision that thresholds are chosen for, and what they are worth on texts that had no part in the choice.

    Args:
        goal: The precision.
        threshold: The probability from which a text is held, chosen on all texts; None if no threshold reaches it.
        precision: Share of what is held that moderators held; None if nothing is held.
        recall: Share of what moderators held that is held.
        held: Number of texts that are held.
        texts: Number of texts that are decided on.
    """

    goal: float
    threshold: float | None
    precision: Estimate | None
    recall: Estimate | None
    held: int
    texts: int


class TakenOver(Part, frozen=True, kw_only=True):
    """Decisions that a screen could take over, held and kept, each at a precision.

    Args:
        goal: The precision of either decision that thresholds are chosen for.
        low: Probability up to which a text is kept; None if no threshold reaches the precision.
        high: Probability from which a text is held; None if no threshold reaches the precision.
        share: Share of the texts that it decides.
        right: Share of these decided as moderators did; None if it decides nothing.
        holds: Number of texts that it holds.
        keeps: Number of texts that it keeps.
        waiting: Number of texts that wait for a person.
    """

    goal: float
    low: float | None
    high: float | None
    share: float
    right: Estimate | None
    holds: int
    keeps: int
    waiting: int


class ScreenGroup(Part, frozen=True, kw_only=True):
    """Texts of a language or length.

    Args:
        by: ``language`` or ``length``.
        name: The language, or the range of numbers of characters.
        texts: Number of texts.
        base_rate: Share that moderators held.
        auc: Area under the ROC curve of the probability; None where all have one decision.
        precision: Share of what the screen holds that moderators held; None if it holds nothing.
        recall: Share of what moderators held that the screen holds; None if they held nothing.
    """

    by: Literal["language", "length"]
    name: str
    texts: int
    base_rate: float
    auc: Estimate | None
    precision: Estimate | None
    recall: Estimate | None


class ScreenReason(Part, frozen=True, kw_only=True):
    """A reason of moderators.

    Args:
        name: Its name.
        texts: Number of texts that were held for it.
        learned: True if it has a probability of its own.
        auc: Area under the ROC curve of this probability, against all other texts; None without one.
    """

    name: str
    texts: int
    learned: bool
    auc: Estimate | None = None


class ScreenFairness(Part, frozen=True, kw_only=True):
    """Texts that moderators kept and that name groups of people, beside those that name none.

    Every number but those of texts is None where either kept ones are fewer than 20.

    Args:
        by: ``all``, ``kind`` of group, or ``language`` of the texts.
        name: The kind or the language; empty for all.
        texts: Number of kept texts that name such a group.
        others: Number of kept texts, in the language if it is one, that name no group.
        held: Share of the former that the screen holds.
        others_held: Share of the latter that it holds.
        difference: The former share less the latter.
        probability: Mean probability of the former.
        others_probability: Mean probability of the latter.
        base_rate: Share that moderators held of all texts, kept or not, that name such a group.
        others_base_rate: Share that they held of those that name none.
    """

    by: Literal["all", "kind", "language"]
    name: str
    texts: int
    others: int
    held: Estimate | None
    others_held: Estimate | None
    difference: Estimate | None
    probability: float | None
    others_probability: float | None
    base_rate: float | None
    others_base_rate: float | None


class Disagreement(Part, frozen=True, kw_only=True):
    """A text that the screen is surest about against the moderators.

    Args:
        text: The text.
        decision: Decision of the moderators.
        probability: Probability that they hold it, by a fit that has not seen it.
        reason: Their reason, where they had one.
        article: Its article, where known.
        id: Its id, where known.
        row: File and line of its row, as in ``decisions.csv:7``.
    """

    text: str
    decision: Literal["keep", "hold"]
    probability: float
    reason: str | None = None
    article: str | None = None
    id: str | None = None
    row: str | None = None


class ScreenTrainingResult(Result, frozen=True, kw_only=True, tag="screen-training"):
    """A screen learned from decisions, with what it does to texts that its fits have not seen.

    Args:
        decisions: Number of decisions that it learned from.
        held: Number of texts that moderators held.
        split: Property that parts the texts that a fit has seen from those that it predicts: ``date``, ``author`` or
            ``text``.
        predicted: Number of texts that were predicted.
        base_rate: Share of these that moderators held.
        auc: Area under the ROC curve of the probability, by fits that have not seen the texts.
        threshold: Probability from which a text is held.
        goal: Precision that it is chosen for; None where no threshold reaches it, and it is one half.
        points: Precision against recall.
        taken_over: Decisions that it could take over.
        groups: Texts by language and length.
        reasons: Reasons, the most frequent first.
        attributes: The target of each attribute that it answers.
        not_toxic: Reasons, called spam or off topic, that TOXICITY leaves out; None where nothing answers it, or a
            reason that the user named.
        fairness: Kept texts that name groups of people beside the others, all of them first; empty where no list of
            terms is at hand.
        disagreements: Texts that it is surest about against the moderators.
        languages: Languages of most of the decisions, where known.
        encoder: Signature of the sentence encoder; empty without one.
        classifier: Signature of the text classifier; empty without one.
        excluded: Rows that are not in the numbers.
        notes: Notes on the numbers.
    """

    decisions: int
    held: int
    split: Literal["date", "author", "text"]
    predicted: int
    base_rate: float
    auc: Estimate | None
    threshold: float
    goal: float | None
    points: tuple[ScreenPoint, ...]
    taken_over: TakenOver
    groups: tuple[ScreenGroup, ...]
    reasons: tuple[ScreenReason, ...]
    attributes: dict[str, str]
    not_toxic: tuple[str, ...] | None = None
    fairness: tuple[ScreenFairness, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    languages: tuple[str, ...] = ()
    encoder: str = ""
    classifier: str = ""
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[str, ...] = ()


CARRIED: Final = ("article", "author", "date")
"""Fields of a text beside its id that a result has if the rows had them."""


class ScreenedRow(OptionalPart, frozen=True, kw_only=True):
    """A text that was screened.

    Args:
        id: Its id; by default its number among the rows.
        probability: Probability that moderators hold it.
        decision: ``hold`` from the screen's threshold on.
        reasons: Probability of each reason.
        text: The text.
        article: Its article, as its row has it.
        author: Its author, as its row has it.
        date: Its date, as its row has it.
    """

    id: str
    probability: float
    decision: Literal["keep", "hold"]
    reasons: dict[str, float]
    text: str
    article: str | None = None
    author: str | None = None
    date: str | None = None


class ScreeningResult(Result, frozen=True, kw_only=True, tag="screening"):
    """Texts that were screened.

    Args:
        rows: The texts, in the order of the file, or by probability.
        threshold: Probability from which a text is held.
        model: Hash of the screen.
    """

    rows: tuple[ScreenedRow, ...]
    threshold: float
    model: str
