"""Results of commenters: suggestions, scores against readers, rankings, trainings and updates."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from postil.data.parts import Part
from postil.data.suggestions import Suggestions
from postil.metrics.result import SystemScore
from postil.results.base import Result

__all__ = [
    "HUMAN",
    "CommenterResult",
    "CommenterTexts",
    "EvaluationSettings",
    "GridPoint",
    "GridSearch",
    "GridValue",
    "PeriodScores",
    "RankingDifference",
    "RankingMeasure",
    "RankingResult",
    "ReferenceCounts",
    "SuggestionsResult",
    "TrainingPeriod",
    "TrainingResult",
    "TrainingStep",
    "UndefinedScorer",
    "UpdateResult",
    "value_text",
]

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


HUMAN: Final = "human"
"""Name of the system whose candidates are the comments that were set aside."""


class CommenterTexts(Part, frozen=True, kw_only=True):
    """Statistics of a system's suggestions, independent of references.

    Args:
        system: The system.
        hash: Hash of the model's folder; None where it did not come from one.
        nothing: Number of articles without a suggestion.
        words: Mean number of words per suggestion; None where there are none.
        distinct_1: Share of distinct words among all words.
        distinct_2: Share of distinct bigrams among all bigrams.
        age: Mean age of the suggested comments at the date of their article, in days; None without dates.
        dated: Number of suggestions whose age is known.
        later: Number of suggestions that were written after their article.
    """

    system: str
    hash: str | None
    nothing: int
    words: float | None
    distinct_1: float | None
    distinct_2: float | None
    age: float | None = None
    dated: int = 0
    later: int = 0


class TrainingPeriod(Part, frozen=True, kw_only=True):
    """The time of the articles that a commenter was trained on, against those of an evaluation.

    Args:
        system: The commenter.
        articles: Number of training articles.
        undated: Number of training articles without a date.
        first: Date of the oldest training article; None without dates.
        last: Date of the newest training article; None without dates.
        dated: Number of articles of the evaluation with a date.
        earlier: Number of these that are not newer than the newest training article.
        shared: Number of articles of the evaluation that are training articles.
    """

    system: str
    articles: int
    undated: int
    first: str | None
    last: str | None
    dated: int
    earlier: int
    shared: int


class PeriodScores(Part, frozen=True, kw_only=True):
    """Scores of a system for the articles of a period.

    Args:
        system: The system.
        period: Name of the period, such as ``2024-Q1``, or ``2/4`` for the second of four.
        first: Date of its oldest article.
        last: Date of its newest article.
        articles: Number of its articles.
        days: Days from the newest training article to the middle of the period; None if that is not known.
        scores: Score by metric.
    """

    system: str
    period: str
    first: str
    last: str
    articles: int
    days: float | None
    scores: dict[str, float]


class ReferenceCounts(Part, frozen=True, kw_only=True):
    """Number of references per article: the smallest, the largest and the mean."""

    least: int
    most: int
    mean: float


class EvaluationSettings(Part, frozen=True, kw_only=True):
    """Options of `postil evaluate`, and the source of its weights."""

    split: str
    weights: str | None
    scale: str | None
    seed: int


class RankingMeasure(Part, frozen=True, kw_only=True):
    """Mean of a ranking measure over articles.

    Args:
        scorer: Name of the scorer.
        measure: ``recall@k`` or ``mrr``; of threads ``ndcg@k``, ``pairwise`` or ``pairwise near in time``. Higher is
            better, at most 1.
        value: The mean over articles.
        low: Lower end of its 95 % confidence interval over resamples of articles.
        high: Upper end.
        n: Number of articles.
        comments: Number of comments that were ranked.
    """

    scorer: str
    measure: str
    value: float
    low: float
    high: float
    n: int
    comments: int


class RankingDifference(Part, frozen=True, kw_only=True):
    """The difference of the first scorer and another, on the same lists and resamples.

    Args:
        scorer: The first scorer.
        minus: The other one.
        measure: The ranking measure.
        value: The first one's value minus the other's.
        low: Lower end of its 95 % confidence interval.
        high: Upper end.
    """

    scorer: str
    minus: str
    measure: str
    value: float
    low: float
    high: float


class UndefinedScorer(Part, frozen=True, kw_only=True):
    """A scorer that has no value, and why."""

    scorer: str
    reason: str


class CommenterResult(Result, frozen=True, kw_only=True, tag="commenters"):
    """The scores of commenters against readers' comments.

    Args:
        scores: One row per system and metric.
        suggestions: One row per system.
        articles: Number of articles.
        left_out: Number of articles with one comment alone, or all the same.
        references: Number of references per article.
        settings: Options of the command.
        remarks: Notes on the numbers.
        training: Time of the training articles of each commenter, if these are known.
        periods: Scores by period, if asked for.
    """

    scores: tuple[SystemScore, ...]
    suggestions: tuple[CommenterTexts, ...]
    articles: int
    left_out: int
    references: ReferenceCounts
    settings: EvaluationSettings
    remarks: tuple[str, ...]
    training: tuple[TrainingPeriod, ...] = ()
    periods: tuple[PeriodScores, ...] = ()


class SuggestionsResult(Result, frozen=True, kw_only=True, tag="suggestions"):
    """The suggestions for articles.

    Args:
        suggestions: One row per article.
    """

    suggestions: tuple[Suggestions, ...]


class RankingResult(Result, frozen=True, kw_only=True, tag="evaluation"):
    """Ranking of articles' own comments against sampled negatives.

    Args:
        rows: One row per scorer and measure.
        differences: The first scorer against each other one.
        absent: The scorers without a value.
        grid: Choice of the network's hyperparameters; None without one.
    """

    rows: tuple[RankingMeasure, ...]
    differences: tuple[RankingDifference, ...]
    absent: tuple[UndefinedScorer, ...]
    grid: GridSearch | None = None
