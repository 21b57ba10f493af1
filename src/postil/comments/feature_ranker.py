"""The ranker by features: the mean logit of a logistic regression and of small boosted trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.ranked_texts import CommentTexts
from postil.comments.rankers import joined, shared_idf
from postil.comments.relevance_features import (
    COMMENT_FEATURES,
    FIRST_PERSON,
    SECOND_PERSON,
    CommentFeatures,
    RelevanceFeatures,
)
from postil.comments.text_vectors import TextVectors
from postil.data.arrays import WHOLE, Expected
from postil.encoders.static import open_static
from postil.errors import InvalidInput
from postil.learners.boosting import Trees
from postil.learners.linear import Logistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.ranked_texts import ArticleTexts, Texts
    from postil.comments.store import Model
    from postil.data.arrays import AnyArray
    from postil.search.segment import Idf
    from postil.text.tokens import Vocabulary

    Stored = Sequence[NDArray[np.int64]]
    Scores = list[NDArray[np.float64]]

__all__ = ["AS_WRITTEN", "VECTORS", "FeatureModel", "FeatureRanker", "open_feature_ranker", "person_ids"]

AS_WRITTEN: Final = "as written"
"""Setting of models whose vectors tell upper from lower case and were looked up so; earlier versions lack it."""
VECTORS: Final = "vectors"
"""Folder of the static vectors within a model folder."""
_HIGHEST: Final = 1e300


@dataclass(frozen=True, eq=False, slots=True)
class FeatureModel:
    """Logits of an article's own comments from features.

    Args:
        logistic: Logistic regression.
        trees: Boosted trees, whose logits are averaged with its own; None for the regression alone.
    """

    logistic: Logistic
    trees: Trees | None

    def logits(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logit of each row, float64[n].

        Args:
            columns: float64[n, m], features.
        """
        found = self.logistic.predict(columns)
        return found if self.trees is None else (found + self.trees.predict(columns)) / 2

    def arrays(self) -> dict[str, AnyArray]:
        """Arrays that a model folder keeps of it, by name."""
        trees = {} if self.trees is None else self.trees.arrays()
        return {f"features.{name}": array for name, array in {"logistic": self.logistic.table(), **trees}.items()}

    @classmethod
    def open(cls, model: Model, columns: int, *, boosted: bool) -> FeatureModel:
        """Open the arrays of a model folder.

        Args:
            model: The folder.
            columns: Number of features.
            boosted: True if it has trees.

        Raises:
            InvalidInput: It has no such arrays.
        """

        def array(name: str, *shape: int | None) -> NDArray[np.float64]:
            expected = Expected("float64", shape, low=-_HIGHEST)
            return np.asarray(model.array(f"ranker/features.{name}", expected))

        logistic = Logistic.of(array("logistic", columns + 1, 3))
        if (logistic.scale <= 0).any():
            file = str(model.path / "ranker/features.logistic.npy")
            raise InvalidInput(f"expected standard deviations above 0; {WHOLE}", where=file)
        if not boosted:
            return cls(logistic, None)
        gain, nodes = array("gain", columns + 1), array("trees", None, 5)
        offsets = Expected("int64", (None,), end=len(nodes))
        trees = Trees.of(nodes, np.asarray(model.array("ranker/features.tree_offsets", offsets)), gain)
        if not all(tree.sound(columns) for tree in trees.trees):
            problem = f"expected nodes of {columns} columns, each but the root below one before it; {WHOLE}"
            raise InvalidInput(problem, where=str(model.path / "ranker/features.trees.npy"))
        return cls(logistic, trees)


@dataclass(frozen=True, eq=False)
class FeatureRanker:
    """A ranker by features, with what they need of stored comments computed in advance.

    Args:
        features: Computes the features.
        model: Their weights.
        stored: The stored comments.
    """

    features: RelevanceFeatures
    model: FeatureModel
    stored: CommentFeatures

    def score_stored(self, articles: ArticleTexts, comments: Stored) -> Scores:
        """See `Ranker`."""
        return self._score(self.columns_stored(articles, comments))

    def score_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> Scores:
        """See `Ranker`."""
        return self._score(self.columns_texts(articles, comments))

    def columns_stored(self, articles: ArticleTexts, comments: Stored) -> list[NDArray[np.float64]]:
        """Features of articles and stored comments.

        Args:
            articles: The n articles.
            comments: For each article int64[m], the indices of stored comments.

        Returns:
            For each article float64[m, features].
        """
        some = [self.stored.take(each) for each in comments]
        if any(each.vectors is not None and not np.isfinite(each.vectors).all() for each in some):
            raise InvalidInput(f"expected finite numbers; {WHOLE}", where="ranker/features.vectors.npy")
        return self.features.pairs(articles, some)

    def columns_texts(self, articles: ArticleTexts, comments: Sequence[CommentTexts]) -> list[NDArray[np.float64]]:
        """Features of articles and other comments.

        Args:
            articles: The n articles.
            comments: For each article its m comments.

        Returns:
            For each article float64[m, features].
        """
        return self.features.pairs(articles, [self.features.comments(each) for each in comments])

    def over(self, comments: CommentTexts) -> FeatureRanker:
        """The same ranker with other stored comments.

        Args:
            comments: The comments.
        """
        return replace(self, stored=self.features.comments(comments))

    def arrays(self) -> dict[str, AnyArray]:
        """See `Ranker`."""
        ids, offsets = self.stored.words
        arrays: dict[str, AnyArray] = {"words.ids": ids, "words.offsets": offsets, "features.idf": self.features.idf}
        arrays["features.comments"] = self.stored.columns
        if self.stored.vectors is not None:
            arrays |= {"features.vectors": self.stored.vectors, "features.hubs": self.features.hubs}
        return arrays | self.model.arrays()

    def take(self, comments: NDArray[np.int64]) -> FeatureRanker:
        """See `Ranker`."""
        return replace(self, stored=self.stored.take(comments))

    def extend(self, comments: Texts, texts: Sequence[str]) -> FeatureRanker:
        """See `Ranker`."""
        new, old = self.features.comments(CommentTexts(comments, texts)), self.stored
        vectors = None
        if old.vectors is not None and new.vectors is not None:
            vectors = np.concatenate([old.vectors, new.vectors])
        columns = np.concatenate([old.columns, new.columns])
        return replace(self, stored=CommentFeatures(joined(old.words, new.words), columns, vectors))

    def reweighted(self, frequencies: NDArray[np.int64], starts: NDArray[np.int64], idf: Idf) -> FeatureRanker:
        """See `Ranker`."""
        features = replace(self.features, idf=shared_idf(frequencies, self.stored.words, starts, idf, 1))
        return replace(self, features=features, stored=features.with_idf(self.stored))

    def _score(self, columns: list[NDArray[np.float64]]) -> Scores:
        if not columns:
            return []
        logits = self.model.logits(np.concatenate(columns))
        return np.split(logits, np.cumsum([len(each) for each in columns])[:-1])


def open_feature_ranker(model: Model, vocabulary: Vocabulary, words: Texts) -> FeatureRanker:
    """Open the ranker of a model folder.

    Args:
        model: The folder.
        vocabulary: Its vocabulary.
        words: The words of its comments.

    Raises:
        InvalidInput: It is damaged.
        MissingExtra: The packages that read its vectors are not installed.
    """
    array, n = model.array, len(words[1]) - 1
    idf = np.asarray(array("ranker/features.idf", Expected("float64", (len(vocabulary),), low=0)))
    columns = np.asarray(array("ranker/features.comments", Expected("float32", (n, len(COMMENT_FEATURES)), low=0)))
    features = RelevanceFeatures(idf, person_ids(vocabulary), model.kind == "ir-tc")
    vectors = None
    if signature := model.setting("vectors", str):
        encoder = open_static(str(model.path / VECTORS))
        if encoder.signature != signature:
            problem = f"expected vectors {signature}, got {encoder.signature}; {WHOLE}"
            raise InvalidInput(problem, where=str(model.path / VECTORS))
        expected = Expected("float32", (len(features.views), None), low=-1)
        hubs = np.asarray(array("ranker/features.hubs", expected))
        vectors = np.asarray(array("ranker/features.vectors", Expected("float16", (n, hubs.shape[1]))))
        written = model.config.get("vector_words") == AS_WRITTEN
        text_vectors = TextVectors(encoder, model.setting("tokenizer", str), written)
        features = replace(features, text_vectors=text_vectors, hubs=hubs)
    if model.config.get("features") != list(features.names):
        raise InvalidInput(
            f"expected the features {', '.join(features.names)}; {WHOLE}",
            where=str(model.path / "config.json"),
            field="features",
        )
    fitted = FeatureModel.open(model, len(features.names), boosted=model.setting("trees", int) > 0)
    return FeatureRanker(features, fitted, CommentFeatures(words, columns, vectors))


def person_ids(vocabulary: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Ids of the words of the first and of the second person.

    Args:
        vocabulary: A vocabulary without a base; words that it lacks have no id.
    """
    first, second = (vocabulary.branch().encode_tokens([list(words)]).ids for words in (FIRST_PERSON, SECOND_PERSON))
    return first[first < len(vocabulary)], second[second < len(vocabulary)]
