"""Parts of the results about orders of threads."""

from __future__ import annotations

from postil.records.parts import Part, check_interval

__all__ = ["FeatureWeight", "ThreadSettings"]


class FeatureWeight(Part, frozen=True, kw_only=True):
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

    def __post_init__(self) -> None:
        check_interval(self.low, self.high)


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
