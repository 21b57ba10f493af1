"""Training of the ranker by features, in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from postil.app.training.ranker_vectors import stage_vectors
from postil.commenters.feature_fit import fit_model, sample_pairs
from postil.commenters.feature_ranker import AS_WRITTEN, FeatureRanker, person_ids
from postil.commenters.ranked_texts import ArticleTexts, CommentTexts
from postil.commenters.rankers import shared_idf
from postil.commenters.relevance_features import RelevanceFeatures, hubs_of
from postil.commenters.text_vectors import TextVectors
from postil.render.formats import counted
from postil.text.static_encoders import open_static
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from postil.app.corpus.texts import CorpusTexts
    from postil.app.progress import OnMessage
    from postil.app.training.options import RetrieverTrainOptions
    from postil.commenters.search import Index

__all__ = ["TrainedFeatures", "split_texts", "train_features"]


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
