"""Dev evaluation of retrievers: ranking of articles' own comments against sampled negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.commenters.nn.batches import Ragged
from postil.commenters.rankers import TfidfRanker
from postil.commenters.ranking_evaluation import evaluate, popularity, sample_negatives
from postil.errors import Undefined
from postil.metaeval.resampling import bootstrap_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from postil.app.corpus.texts import CorpusTexts
    from postil.app.progress import OnMessage
    from postil.commenters.nn.relevance import Relevance
    from postil.commenters.ranking_evaluation import RankingTask, Scorer
    from postil.records.results import RankingResult

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["INTERPOLATION_WEIGHT", "DevRanking"]

INTERPOLATION_WEIGHTS: Final = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
"""Weights of the TF-IDF cosine, beside relevance, that are tried on dev."""
ENOUGH_NEGATIVES: Final = 20
"""Number of comments of other articles that an evaluation needs."""
INTERPOLATION_WEIGHT: Final = 20.0
"""The weight where dev is missing or too small."""


@dataclass(frozen=True, eq=False)
class DevRanking:
    """Ranking task of a dev set, and its scorers.

    Args:
        task: Articles' own comments with sampled negatives.
        scorers: Scorers by name.
        seed: Seed of the resamples.
    """

    task: RankingTask
    scorers: dict[str, Scorer]
    seed: int

    @classmethod
    def of(
        cls,
        texts: CorpusTexts,
        tfidf: TfidfRanker,
        relevance: Relevance | None,
        *,
        negatives: int,
        seed: int,
        on_message: OnMessage,
    ) -> DevRanking | None:
        """Sample the ranking task of a corpus; None where it has no dev set, or one that is too small.

        Args:
            texts: The corpus.
            tfidf: Ranker by the TF-IDF cosine.
            relevance: The relevance model, if there is one.
            negatives: Number of comments of other articles that each comment is ranked among; fewer where dev is small.
            seed: Seed of everything random.
            on_message: Callback for status messages.
        """
        if "dev" not in texts.corpus.splits:
            return None
        starts = texts.starts("dev")
        others = int(starts[-1] - np.diff(starts).max())
        if ENOUGH_NEGATIVES <= others < negatives:
            on_message(f"dev is small: comments are ranked among {others:,} of other articles, not {negatives:,}")
            negatives = others
        try:
            task = sample_negatives(starts, negatives, seed)
        except Undefined as error:
            on_message(f"no evaluation on dev: {error}")
            return None
        articles, comments = texts.articles("dev"), texts.comments("dev")
        scorers: dict[str, Scorer] = {}
        if relevance is not None:
            scorers["relevance"] = _cached(_by_relevance(relevance, articles, comments))
        scorers["tf-idf"] = _cached(_by_tfidf(tfidf, articles, comments))
        votes = [
            np.nan if comment.upvotes is None else float(comment.upvotes)
            for article in texts.corpus.articles("dev")
            for comment in article.comments
        ]
        return cls(task, scorers | {"upvotes": popularity(votes)}, seed)

    def interpolation_weight(self) -> float:
        """Weight of the TF-IDF cosine with the highest mean reciprocal rank; the lowest of tied ones."""
        once = np.ones((1, len(self.task)), dtype=np.int32)
        scorers = {str(weight): self._both(weight) for weight in INTERPOLATION_WEIGHTS}
        found = evaluate(self.task, scorers, once, cutoffs=(1,))
        mrr = {row.scorer: row.value for row in found.rows if row.measure == "mrr"}
        return max(INTERPOLATION_WEIGHTS, key=lambda weight: (mrr[str(weight)], -weight))

    def evaluate(self, interpolation_weight: float | None) -> RankingResult:
        """Evaluate each scorer.

        Args:
            interpolation_weight: Weight of the TF-IDF cosine where the ranker is ``both``, else None.
        """
        both = {} if interpolation_weight is None else {"both": self._both(interpolation_weight)}
        return evaluate(self.task, both | self.scorers, bootstrap_counts(len(self.task), seed=self.seed))

    def _both(self, weight: float) -> Scorer:
        relevance, words = self.scorers["relevance"], self.scorers["tf-idf"]
        return lambda articles, comments: (
            np.asarray(relevance(articles, comments)) + weight * np.asarray(words(articles, comments))
        )


def _cached(scorer: Scorer) -> Scorer:
    """Cache the scores of a scorer, which is always called with the same task."""
    scores: list[ArrayLike] = []

    def score(articles: NDArray[np.int64], comments: NDArray[np.int64]) -> ArrayLike:
        if not scores:
            scores.append(scorer(articles, comments))
        return scores[0]

    return score


def _by_tfidf(ranker: TfidfRanker, articles: Texts, comments: Texts) -> Scorer:
    dev = TfidfRanker(ranker.idf, *comments)

    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = np.empty(len(places))
        starts = np.concatenate([[0], (np.diff(queries) != 0).nonzero()[0] + 1, [len(queries)]])
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            article = int(queries[first])
            begin, end = articles[1][article], articles[1][article + 1]
            query = articles[0][begin:end], np.array([0, end - begin])
            (scores[first:last],) = dev.score_stored(query, [places[first:last]])
        return scores

    return score


def _by_relevance(relevance: Relevance, articles: Texts, comments: Texts) -> Scorer:
    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float32]:
        return relevance.score_pairs(Ragged(*articles), Ragged(*comments), queries, places)

    return score
