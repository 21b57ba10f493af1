"""Dev evaluation of retrievers: ranking of articles' own comments against those of other articles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.comments.nn.batches import Ragged
from postil.comments.ranking_evaluation import all_negatives, evaluate, popularity, sample_negatives
from postil.errors import Undefined
from postil.messages import Message
from postil.meta.resampling import bootstrap_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from postil.comments.nn.relevance import Relevance
    from postil.comments.rankers import ArticleTexts, Ranker, Texts
    from postil.comments.ranking_evaluation import RankingTask, Scorer
    from postil.comments.result import RankingResult
    from postil.data.progress import OnMessage

__all__ = ["WEIGHTS", "DevRanking", "Weights", "by_ranker", "by_relevance", "dev_task", "weighted"]

INTERPOLATION_WEIGHTS: Final = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
"""Weights of the TF-IDF cosine, beside relevance, that are tried on dev."""
ENOUGH_NEGATIVES: Final = 20
"""Number of comments of other articles that an evaluation needs."""
FEATURE_WEIGHTS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights of the logit of features, beside relevance, that are tried on dev."""


class Weights(NamedTuple):
    """Weights of the parts of the ranker ``both``, beside a relevance score of weight 1.

    Args:
        interpolation: Weight of the TF-IDF cosine.
        features: Weight of the logit of features.
    """

    interpolation: float
    features: float


WEIGHTS: Final = Weights(10.0, 2.0)
"""The weights where dev is missing or too small."""


@dataclass(frozen=True, eq=False)
class DevRanking:
    """Ranking task of a dev set, and its scorers.

    Args:
        task: Articles' own comments with negatives.
        scorers: Scorers by name, the one to compare first.
        seed: Seed of the resamples.
    """

    task: RankingTask
    scorers: Mapping[str, Scorer]
    seed: int

    @classmethod
    def of(cls, task: RankingTask, scorers: Mapping[str, Scorer], upvotes: ArrayLike, seed: int) -> DevRanking:
        """Prepare an evaluation; scores are computed once.

        Args:
            task: Articles' own comments with negatives.
            scorers: Scorers by name, the one to compare first.
            upvotes: float64[comments], the upvotes of all comments of dev; NaN where unknown.
            seed: Seed of the resamples.
        """
        cached = {name: _cached(scorer) for name, scorer in scorers.items()}
        return cls(task, cached | {"upvotes": popularity(upvotes)}, seed)

    def weights(self) -> Weights:
        """Weights of the parts of ``both`` with the highest mean reciprocal rank; the lowest of tied ones."""
        once = np.ones((1, len(self.task)), dtype=np.int32)
        tried = [Weights(*pair) for pair in product(INTERPOLATION_WEIGHTS, FEATURE_WEIGHTS)]
        found = evaluate(self.task, {str(each): self._both(each) for each in tried}, once, cutoffs=(1,))
        mrr = {row.scorer: row.value for row in found.rows if row.measure == "mrr"}
        return max(tried, key=lambda each: (mrr[str(each)], -each.interpolation, -each.features))

    def evaluate(self, weights: Weights | None) -> RankingResult:
        """Evaluate each scorer.

        Args:
            weights: Weights of the parts where the ranker is ``both``, else None.
        """
        both = {} if weights is None else {"both": self._both(weights)}
        return evaluate(self.task, both | dict(self.scorers), bootstrap_counts(len(self.task), seed=self.seed))

    def _both(self, weights: Weights) -> Scorer:
        return weighted(self.scorers, weights)


def weighted(scorers: Mapping[str, Scorer], weights: Weights) -> Scorer:
    """Return the scorer of the ranker ``both``.

    Args:
        scorers: Scorers of its parts: ``relevance``, ``tf-idf`` and ``features``.
        weights: Their weights.
    """
    parts = [scorers[name] for name in ("relevance", "tf-idf", "features")]

    def score(articles: NDArray[np.int64], comments: NDArray[np.int64]) -> NDArray[np.float64]:
        relevance, words, features = (np.asarray(part(articles, comments), np.float64) for part in parts)
        return np.asarray(relevance + weights.interpolation * words + weights.features * features)

    return score


def dev_task(starts: NDArray[np.int64], negatives: int, seed: int, on_message: OnMessage) -> RankingTask | None:
    """Make the ranking task of a dev set; None where it is too small.

    Args:
        starts: int64[articles + 1], the index of each article's first comment.
        negatives: Number of comments of other articles that each comment is ranked among, fewer where dev is small; 0
            for all.
        seed: Seed of the sampling.
        on_message: Callback for status messages.
    """
    others = int(starts[-1] - np.diff(starts).max())
    if ENOUGH_NEGATIVES <= others < negatives:
        on_message(f"dev is small: comments are ranked among {others:,} of other articles, not {negatives:,}")
        negatives = others
    try:
        return sample_negatives(starts, negatives, seed) if negatives else all_negatives(starts)
    except Undefined as error:
        on_message(Message("no evaluation on dev: {problem}", problem=error.message))
        return None


def by_ranker(ranker: Ranker, articles: ArticleTexts) -> Scorer:
    """Return the scorer of a ranker.

    Args:
        ranker: The ranker, whose stored comments are those that are scored.
        articles: The articles.
    """

    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        starts = np.flatnonzero(np.diff(queries, prepend=-1))
        lists = np.split(places, starts[1:])
        found = []
        for at in range(0, len(starts), _BLOCK):
            some = articles.take(queries[starts[at : at + _BLOCK]])
            found += ranker.score_stored(some, lists[at : at + _BLOCK])
        return np.concatenate(found)

    return score


_BLOCK: Final = 16
"""Number of articles that are scored together."""


def by_relevance(relevance: Relevance, articles: Texts, comments: Texts) -> Scorer:
    """Return the scorer of a relevance model.

    Args:
        relevance: The model.
        articles: The words of the articles.
        comments: The words of the comments.
    """

    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float32]:
        return relevance.score_pairs(Ragged(*articles), Ragged(*comments), queries, places)

    return score


def _cached(scorer: Scorer) -> Scorer:
    """Cache the scores of a scorer, which is always called with the same task."""
    scores: list[ArrayLike] = []

    def score(articles: NDArray[np.int64], comments: NDArray[np.int64]) -> ArrayLike:
        if not scores:
            scores.append(scorer(articles, comments))
        return scores[0]

    return score
