"""Opening the ranker of a model folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from postil.comments.feature_ranker import open_feature_ranker
from postil.comments.rankers import EmbeddingRanker, InteractionRanker, InterpolatedRanker, TfidfRanker
from postil.data.arrays import Expected
from postil.errors import MissingExtra

if TYPE_CHECKING:
    from postil.comments.ranked_texts import Texts
    from postil.comments.rankers import Ranker
    from postil.comments.store import Model
    from postil.text.tokens import Vocabulary

__all__ = ["NETWORKS", "open_ranker"]

NETWORKS = frozenset({"relevance", "both"})
"""Rankers that have a network."""


def open_ranker(model: Model, vocabulary: Vocabulary, comments: int) -> Ranker:
    """Open the ranker of a retriever.

    Args:
        model: The model folder.
        vocabulary: Its vocabulary.
        comments: Number of its comments.

    Raises:
        InvalidInput: The folder is damaged.
        MissingExtra: What the ranker needs is not installed.
    """
    kind = model.setting("ranker", str)
    if kind == "relevance":
        return _by_relevance(model, comments)
    words = _words(model, comments)
    if kind == "features":
        return open_feature_ranker(model, vocabulary, words)
    idf = model.array("ranker/idf", Expected("float64", (len(vocabulary),), low=0))
    by_words = TfidfRanker(np.asarray(idf), *words)
    if kind == "tf-idf":
        return by_words
    return InterpolatedRanker(
        (
            (_by_relevance(model, comments), 1.0),
            (by_words, model.setting("interpolation_weight", float)),
            (open_feature_ranker(model, vocabulary, words), model.setting("feature_weight", float)),
        )
    )


def _by_relevance(model: Model, comments: int) -> Ranker:
    try:
        from postil.comments.nn.relevance import Relevance  # noqa: PLC0415 - it needs torch
    except ImportError as error:
        raise MissingExtra("the relevance model", "nn") from error
    relevance = Relevance.open(model.path / "relevance")
    if relevance.options.architecture == "interaction":
        return InteractionRanker(relevance, *_words(model, comments))
    expected = Expected("float32", (comments, relevance.options.output_dim))
    return EmbeddingRanker(relevance, np.asarray(model.array("ranker/vectors", expected)))


def _words(model: Model, comments: int) -> Texts:
    ids = model.array("ranker/words.ids", Expected("int32"))
    offsets = Expected("int64", (comments + 1,), end=len(ids))
    return np.asarray(ids), np.asarray(model.array("ranker/words.offsets", offsets))
