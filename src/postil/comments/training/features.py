"""Training of the ranker by features, in seconds: an article's own comments against those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.comments.feature_ranker import (
    AS_WRITTEN,
    FeatureModel,
    FeatureRanker,
    RelevanceFeatures,
    TextVectors,
    hubs_of,
    person_ids,
)
from postil.comments.rankers import ArticleTexts, CommentTexts, shared_idf
from postil.comments.training.ranker_vectors import stage_vectors
from postil.encoders.static import open_static
from postil.errors import MissingExtra, Undefined
from postil.learners.boosting import classifier_fit
from postil.learners.linear import Logistic
from postil.messages import Message
from postil.results.formats import counted
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.feature_ranker import CommentFeatures
    from postil.comments.options import RetrieverTrainOptions
    from postil.corpus.texts import CorpusTexts
    from postil.data.progress import OnMessage
    from postil.search.index import Index

__all__ = ["TrainedFeatures", "split_texts", "train_features"]


OWN: Final = 20_000
"""Most own comments that are fitted to."""
SIMILAR: Final = 20
"""Number of similar articles that negatives are drawn from."""
OTHERS: Final = 5
"""Number of random negatives for each own comment, beside one of a similar article."""
COPY_COSINE: Final = 0.98
L2: Final = 1.0


class TrainedFeatures(NamedTuple):
    """A fitted ranker by features.

    Args:
        ranker: The ranker.
        origin: Origin of its vectors; None without vectors.
        folder: Folder of its vectors, empty without vectors.
        pairs: Number of pairs that it was fitted to.
    """

    ranker: FeatureRanker
    origin: str | None
    folder: Path
    pairs: int

    @property
    def config(self) -> dict[str, object]:
        """Its settings in the model's configuration."""
        vectors = self.ranker.features.text_vectors
        return {
            "features": list(self.ranker.features.names),
            "vectors": vectors.encoder.signature if vectors else "",
            **({"vector_words": AS_WRITTEN} if vectors and vectors.tells_case else {}),
            "trees": len(trees.trees) if (trees := self.ranker.model.trees) else 0,
        }


def train_features(
    texts: CorpusTexts, index: Index, folder: Path, options: RetrieverTrainOptions, on_message: OnMessage
) -> TrainedFeatures:
    """Fit the ranker by features to the training set.

    Args:
        texts: The corpus.
        index: Its training articles.
        folder: Working directory of the training.
        options: Options of the training.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no folder of vectors.
        InvalidInput: The vectors or the corpus are damaged.
        MissingExtra: The packages that read or train the vectors are not installed.
        Undefined: There are no comments of two articles to learn from.
    """
    origin = stage_vectors(options.vectors, texts, folder, options.seed, on_message)
    articles, comments = split_texts(texts, "train", raw=True)
    starts, words = texts.starts("train"), texts.words()
    vocabulary = Vocabulary()
    vocabulary.encode_tokens([words])
    idf = shared_idf(index.collection.frequencies, comments.words, starts, options.idf, 1)
    with_content = texts.reads == "both"
    features = RelevanceFeatures(idf, person_ids(vocabulary), with_content)
    if origin is not None:
        vectors = TextVectors(open_static(str(folder / "static")), texts.corpus.tokenizer)
        hubs = hubs_of(vectors, articles.texts, with_content=with_content)
        features = RelevanceFeatures(idf, features.persons, with_content, vectors, hubs)
    stored = features.comments(comments)
    pairs = sample_pairs(index, articles, starts, options.seed, jobs=options.jobs)
    model = fit_model(features, articles, stored, pairs, seed=options.seed, on_message=on_message)
    own, total = int(pairs.own.sum()), len(stored)
    of = counted(own, "comment") if own == total else f"{own:,} of {counted(total, 'comment')}, sampled"
    names = features.names
    on_message(f"ranker fitted to {of}, and {len(pairs.own) - own:,} of other articles: {len(names)} features")
    return TrainedFeatures(FeatureRanker(features, model, stored), origin, folder / "static", len(pairs.own))


def split_texts(texts: CorpusTexts, split: str, *, raw: bool) -> tuple[ArticleTexts, CommentTexts]:
    """Articles and comments of a split as rankers read them.

    Args:
        texts: The corpus.
        split: The split.
        raw: True for the texts themselves too, which features are computed from.
    """
    articles, comments = [], []
    for article in texts.corpus.articles(split) if raw else ():
        articles.append((article.title, article.content or "" if texts.reads == "both" else ""))
        comments += [comment.text for comment in article.comments]
    return (
        ArticleTexts(texts.articles(split), texts.titles(split), articles),
        CommentTexts(texts.comments(split), comments),
    )


class TrainingPairs(NamedTuple):
    """P pairs of article and comment, those of an article one after the other.

    Args:
        articles: int64[P].
        comments: int64[P].
        own: bool[P], True for an article's own comment.
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    own: NDArray[np.bool_]


def sample_pairs(
    index: Index, articles: ArticleTexts, starts: NDArray[np.int64], seed: int, *, jobs: int = 1
) -> TrainingPairs:
    """Sample own comments of articles, and negatives: one of twenty similar articles and five of any, for each.

    Args:
        index: The n articles.
        articles: The same.
        starts: int64[n + 1], the index of each article's first comment.
        seed: Seed of the sampling.
        jobs: Number of search threads.

    Returns:
        The pairs, of at most 20,000 own comments.

    Raises:
        Undefined: Fewer than two articles have comments.
    """
    rng = np.random.default_rng(seed)
    total = int(starts[-1])
    if np.count_nonzero(np.diff(starts)) < 2:
        raise Undefined("expected two articles with comments, to learn which belong to an article")
    chosen = np.sort(rng.choice(total, min(total, OWN), replace=False))
    owners = np.searchsorted(starts, chosen, side="right") - 1
    each, first = np.unique(owners, return_index=True)
    some = articles.take(each)
    top = index.search(*some.words, min(SIMILAR + 1, len(index)), jobs=jobs).documents
    out = []
    for at, (article, own) in enumerate(zip(each.tolist(), np.split(chosen, first[1:]), strict=True)):
        begin, end = int(starts[article]), int(starts[article + 1])
        others = rng.integers(0, total - (end - begin), OTHERS * len(own))
        others[others >= begin] += end - begin
        near = top[at][(top[at] >= 0) & (top[at] != article)]
        words = some.words[0][some.words[1][at] : some.words[1][at + 1]]
        near = near[index.cosines(words, near) < COPY_COSINE][:SIMILAR]
        pool = np.concatenate([np.zeros(0, np.int64), *(np.arange(starts[n], starts[n + 1]) for n in near.tolist())])
        similar = rng.choice(pool, len(own)) if len(pool) else pool
        comments = np.concatenate([own, others, similar])
        out.append((np.full(len(comments), article), comments, np.arange(len(comments)) < len(own)))
    return TrainingPairs(*(np.concatenate(column) for column in zip(*out, strict=True)))


def fit_model(
    features: RelevanceFeatures,
    articles: ArticleTexts,
    comments: CommentFeatures,
    pairs: TrainingPairs,
    *,
    seed: int,
    on_message: Callable[[str], None],
) -> FeatureModel:
    """Fit a logistic regression and boosted trees to pairs.

    Args:
        features: Computes the features.
        articles: The articles.
        comments: The comments.
        pairs: Pairs of them.
        seed: Seed of the trees.
        on_message: Callback for status messages.

    Returns:
        The fitted model; without trees where scikit-learn is not installed or there are too few pairs.
    """
    each, first = np.unique(pairs.articles, return_index=True)
    lists = [comments.take(some) for some in np.split(pairs.comments, first[1:])]
    columns = np.concatenate(features.pairs(articles.take(each), lists))
    logistic = Logistic.fit(columns, pairs.own, L2)
    try:
        return FeatureModel(logistic, classifier_fit(columns, pairs.own, seed))
    except MissingExtra as error:
        on_message(
            Message("the ranker is a logistic regression alone, which is worse: {problem}", problem=error.message)
        )
    except Undefined as error:
        on_message(Message("the ranker is a logistic regression alone: {problem}", problem=error.message))
    return FeatureModel(logistic, None)
