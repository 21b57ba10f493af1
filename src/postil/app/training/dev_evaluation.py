"""How well rankers find the comments of dev articles among those of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.commenters.nn.batches import Ragged
from postil.commenters.rankers import TfidfRanker
from postil.commenters.ranking_evaluation import evaluate, popularity, sample_negatives
from postil.errors import Undefined
from postil.metaeval.resampling import bootstrap_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.app.corpus.texts import CorpusTexts
    from postil.app.progress import Say
    from postil.commenters.nn.relevance import Relevance
    from postil.commenters.ranking_evaluation import RankingTask, Scorer
    from postil.records.results import RankingResult

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["INTERPOLATION_WEIGHT", "Asked"]

INTERPOLATION_WEIGHTS: Final = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
"""How many times the cosine of words is tried beside relevance."""
INTERPOLATION_WEIGHT: Final = 20.0
"""Where dev is too small to say."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What dev is asked: lists of comments for its articles, and who scores them.

    Args:
        lists: An article's own comments and those of others.
        scorers: The scorers by name.
        seed: Seed of the resamples.
    """

    lists: RankingTask
    scorers: dict[str, Scorer]
    seed: int

    @classmethod
    def of(
        cls,
        texts: CorpusTexts,
        by_words: TfidfRanker,
        relevance: Relevance | None,
        *,
        sampled: int,
        seed: int,
        say: Say,
    ) -> Asked | None:
        """The questions of a corpus; None where it has no dev set, or one that is too small.

        Args:
            texts: The corpus.
            by_words: Ranks by the cosine of words.
            relevance: The network, if there is one.
            sampled: Among how many comments of other articles each comment is to be found.
            seed: Seed of all that is drawn.
            say: Takes words for people.
        """
        if "dev" not in texts.corpus.splits:
            return None
        try:
            lists = sample_negatives(texts.starts("dev"), sampled, seed)
        except Undefined as error:
            say(f"no evaluation on dev: {error}")
            return None
        articles, comments = texts.articles("dev"), texts.comments("dev")
        scorers: dict[str, Scorer] = {}
        if relevance is not None:
            scorers["relevance"] = _once(_by_relevance(relevance, articles, comments))
        scorers["tf-idf"] = _once(_by_words(by_words, articles, comments))
        votes = [
            np.nan if comment.upvotes is None else float(comment.upvotes)
            for article in texts.corpus.articles("dev")
            for comment in article.comments
        ]
        return cls(lists, scorers | {"upvotes": popularity(votes)}, seed)

    def interpolation_weight(self) -> float:
        """How many times the cosine of words is added to relevance to find most; the least of equally good ones."""
        one = np.ones((1, len(self.lists)), dtype=np.int32)
        found = evaluate(
            self.lists, {str(share): self._both(share) for share in INTERPOLATION_WEIGHTS}, one, cutoffs=(1,)
        )
        by_share = {row.scorer: row.value for row in found.rows if row.measure == "mrr"}
        return max(INTERPOLATION_WEIGHTS, key=lambda share: (by_share[str(share)], -share))

    def evaluated(self, interpolation_weight: float | None) -> RankingResult:
        """How well each scorer finds the articles' own comments.

        Args:
            interpolation_weight: How many times the cosine of words is added to relevance, if it is.
        """
        scorers = (
            self.scorers if interpolation_weight is None else {"both": self._both(interpolation_weight), **self.scorers}
        )
        return evaluate(self.lists, scorers, bootstrap_counts(len(self.lists), seed=self.seed))

    def _both(self, share: float) -> Scorer:
        relevance, words = self.scorers["relevance"], self.scorers["tf-idf"]
        return lambda articles, comments: (
            np.asarray(relevance(articles, comments)) + share * np.asarray(words(articles, comments))
        )


def _once(scorer: Scorer) -> Scorer:
    """A scorer that keeps its answer; it is asked about the same lists."""
    kept: list[Any] = []

    def score(articles: NDArray[np.int64], comments: NDArray[np.int64]) -> Any:
        if not kept:
            kept.append(scorer(articles, comments))
        return kept[0]

    return score


def _by_words(ranker: TfidfRanker, articles: Texts, comments: Texts) -> Scorer:
    of_dev = TfidfRanker(ranker.idf, *comments)

    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = np.empty(len(places))
        starts = np.concatenate([[0], (np.diff(queries) != 0).nonzero()[0] + 1, [len(queries)]])
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            article = int(queries[first])
            begin, end = articles[1][article], articles[1][article + 1]
            query = articles[0][begin:end], np.array([0, end - begin])
            (scores[first:last],) = of_dev.score_stored(query, [places[first:last]])
        return scores

    return score


def _by_relevance(relevance: Relevance, articles: Texts, comments: Texts) -> Scorer:
    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float32]:
        return relevance.score_pairs(Ragged(*articles), Ragged(*comments), queries, places)

    return score
