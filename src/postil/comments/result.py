"""Parts of the results of `postil evaluate`, and of commenters as they are saved."""

from __future__ import annotations

from postil.comments.training.result import GridSearch
from postil.data.suggestions import Suggestions
from postil.metrics.result import SystemScore
from postil.results.base import Result
from postil.results.parts import Part

__all__ = [
    "CommenterResult",
    "CommenterTexts",
    "EvaluationSettings",
    "PeriodScores",
    "RankingDifference",
    "RankingMeasure",
    "RankingResult",
    "ReferenceCounts",
    "SuggestionsResult",
    "TrainingPeriod",
    "UndefinedScorer",
]


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
    """The suggestions for articles, one row per article."""

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
