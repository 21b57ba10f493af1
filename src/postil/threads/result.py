"""Parts of the results about orders of threads."""

from __future__ import annotations

from postil.comments.result import RankingDifference, RankingMeasure
from postil.data.parts import Excluded, Part, Ranged
from postil.data.suggestions import RankedComment
from postil.results.base import Result

__all__ = ["FeatureWeight", "RankedCommentsResult", "ThreadOrdersResult", "ThreadSettings"]


class FeatureWeight(Ranged, frozen=True, kw_only=True):
    """The weight of a feature in a model of quality.

    Args:
        feature: Name of the feature.
        weight: Points per standard deviation within threads: the predicted change of the share of the other comments
            that a comment beats, or with labels, of people who would show it.
        low: Lower end of its 95 % confidence interval over resamples of threads.
        high: Upper end.
        predicts: False for what is in the fit alone, and not in the prediction.
    """

    feature: str
    weight: float
    low: float
    high: float
    predicts: bool


class ThreadSettings(Part, frozen=True, kw_only=True):
    """Options of an evaluation of orders of threads.

    Args:
        target: ``votes``, ``grades`` or ``labels``.
        split: The split of the corpus.
        folds: Number of folds of a cross-fit; None where models were trained before.
        seed: Seed of resamples and folds.
        resamples: Number of resamples.
        tokenizer: The tokenizer.
    """

    target: str
    split: str
    folds: int | None
    seed: int
    resamples: int
    tokenizer: str


class ThreadOrdersResult(Result, frozen=True, kw_only=True, tag="thread-orders"):
    """Orders of threads against readers' votes or people's grades.

    Args:
        rows: One row per order and measure.
        differences: Paired differences of the models' orders and others.
        excluded: Threads that are not in the numbers, by reason; and labels.
        weights: Weights of a model of quality that was trained.
        settings: Options of the command.
        remarks: Notes on the numbers.
    """

    rows: tuple[RankingMeasure, ...]
    differences: tuple[RankingDifference, ...]
    excluded: tuple[Excluded, ...]
    weights: tuple[FeatureWeight, ...] = ()
    settings: ThreadSettings
    remarks: tuple[str, ...]


class RankedCommentsResult(Result, frozen=True, kw_only=True, tag="ranked-comments"):
    """The ranked comments of threads.

    Args:
        comments: The comments, article by article, most relevant first.
    """

    comments: tuple[RankedComment, ...]
