"""The result of `postil train`, and its parts."""

from __future__ import annotations

from typing import Literal, TypeAlias

from postil.results.base import Result
from postil.results.parts import Part

__all__ = ["GridPoint", "GridSearch", "GridValue", "TrainingResult", "TrainingStep", "UpdateResult", "value_text"]

GridValue: TypeAlias = bool | int | float | str | tuple[int, ...]
"""Value of an option in a grid of hyperparameters."""


def value_text(value: GridValue) -> str:
    """The value of an option as it is written in a grid.

    Args:
        value: The value.

    >>> value_text(0.5), value_text(True), value_text((1, 2))
    ('0.5', 'true', '1+2')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


class GridPoint(Part, frozen=True, kw_only=True):
    """A combination of hyperparameters.

    Args:
        values: Values by option.
        dev: Best value on dev.
        steps: Number of optimizer steps.
        chosen: True for the combination that the model is trained with.
    """

    values: dict[str, GridValue]
    dev: float
    steps: int
    chosen: bool = False


class GridSearch(Part, frozen=True, kw_only=True):
    """A choice of hyperparameters on dev.

    Args:
        measure: Measure on dev: ``loss``, nats per token, lower is better; or ``mrr``, mean reciprocal rank.
        epochs: Maximum number of epochs of each combination.
        points: The combinations, in the order of the grid.
    """

    measure: Literal["loss", "mrr"]
    epochs: int
    points: tuple[GridPoint, ...]

    def __post_init__(self) -> None:
        names = [point.values.keys() for point in self.points]
        if any(each != names[0] for each in names) or not any(point.chosen for point in self.points):
            raise ValueError("expected combinations of the same options, one of them chosen")

    @property
    def chosen(self) -> dict[str, GridValue]:
        """Values of the chosen combination."""
        return next(point.values for point in self.points if point.chosen)


class TrainingStep(Part, frozen=True, kw_only=True):
    """A dev evaluation during training.

    Args:
        step: Number of optimizer steps.
        epoch: The epoch, from 0.
        loss: Mean training loss since the row before, nats per token.
        dev: Token-level cross-entropy on dev, nats per token.
        perplexity: exp(dev).
        best: True for the step that became the model.
    """

    step: int
    epoch: int
    loss: float
    dev: float
    perplexity: float
    best: bool


class TrainingResult(Result, frozen=True, kw_only=True, tag="training"):
    """The training of a generator: one row per dev evaluation.

    Args:
        rows: The dev evaluations.
        grid: Choice of the hyperparameters; None without one.
    """

    rows: tuple[TrainingStep, ...]
    grid: GridSearch | None = None


class UpdateResult(Result, frozen=True, kw_only=True, tag="update"):
    """Articles and comments that were added to a retriever.

    Args:
        articles: Number of articles that were added.
        comments: Number of comments that were added.
        updated: Number of comments that took the place of one with the same id.
        kept_out: Number of comments that were left out since they were forgotten.
        held_out: Number of held-out comments of the corpus's test set, which are not added.
        words: Number of words that were added to the vocabulary.
        total_articles: Number of articles of the model now.
        total_comments: Number of comments of the model now.
        segments: Number of segments of its index.
        ranker: The ranker, which keeps its parameters.
        ranker_articles: Number of articles that the ranker was trained on.
        hash_before: Hash of the model before.
        hash: Hash of the model now.
    """

    articles: int
    comments: int
    updated: int
    kept_out: int
    held_out: int
    words: int
    total_articles: int
    total_comments: int
    segments: int
    ranker: str
    ranker_articles: int
    hash_before: str
    hash: str
