"""The ranker by features: the mean logit of a logistic regression and of small boosted trees.

Features of an article and a comment tell whether the comment belongs to the article:

| feature | value |
|---|---|
| ``tfidf_V`` | TF-IDF cosine of the comment and view V of the article |
| ``shared_idf_V``, ``highest_idf_V`` | sum and maximum of the idf of the words that both have; 0 for none |
| ``cosine_V`` | cosine of the static vectors of both texts |
| ``less_hub_V`` | the same less the comment's mean cosine with view V of up to 500 training articles |
| ``log_length`` | ln(1 + number of words of the comment) |
| ``mean_idf``, ``top_idf`` | mean idf of the comment's distinct words, and of the three with the highest |
| ``first_person``, ``second_person`` | share of its words that mean *I* or *we*, and *you* |
| ``question`` | 1 if it has a question mark, else 0 |

Views of words are ``article`` (title and content) and ``title``; of vectors also ``opening`` (the first 80 units of the
content) and ``sentence`` (the most similar sentence; its hub is the mean over all sentences). A model that reads titles
alone has the view ``title`` alone. A word that no training text has counts as one that is in one of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.comments.rankers import ArticleTexts, CommentTexts, Ranker, shared_idf, take
from postil.data.arrays import WHOLE, AnyArray, Expected
from postil.encoders.static import WordEncoder, open_static
from postil.errors import InvalidInput
from postil.learners.boosting import Trees
from postil.learners.linear import Logistic
from postil.text.tokenizers import stored_tokenizer
from postil.text.tokens import Ragged, Tokens, Vocabulary
from postil.text.vectors import summed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.rankers import Scores, Stored
    from postil.comments.weightings import Idf
    from postil.data.model_folders import Model
    from postil.encoders.base import Encoder

__all__ = [
    "AS_WRITTEN",
    "COMMENT_FEATURES",
    "FIRST_PERSON",
    "OPENING",
    "SECOND_PERSON",
    "VECTORS",
    "CommentFeatures",
    "FeatureModel",
    "FeatureRanker",
    "RelevanceFeatures",
    "TextVectors",
    "hubs_of",
    "open_feature_ranker",
    "person_ids",
    "sentences",
]

OPENING: Final = 80
"""Number of units (words or subwords) of an opening; about 60 words of English."""
SENTENCES: Final = 40
"""Most sentences of a text that are compared with a comment."""
SHORTEST: Final = 8
"""Fewest characters of a sentence."""
_ENDS: Final = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_LONGEST: Final = 100_000
"""Characters of a text that are split into sentences; none needs more for its first ones."""


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Unit vectors of texts: the sum of the vectors of their units, divided by its length.

    Args:
        encoder: Static vectors.
        tokenizer: Name of the tokenizer whose tokens they are looked up by, if they are of words.
        written: True to look words up as they stand first, where the vectors tell upper from lower case; models of
            earlier versions did not.
    """

    encoder: Encoder
    tokenizer: str
    written: bool = True

    @property
    def tells_case(self) -> bool:
        """True if the vectors are of words in upper and lower case."""
        return isinstance(self.encoder, WordEncoder) and self.encoder.vectors.cased

    def unit(self, texts: Sequence[str], longest: int | None = None) -> NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: n texts.
            longest: Number of units of each text that are read; None for all.

        Returns:
            float32[n, d], rounded to half precision, as models keep them; zeros for a text without a known unit.
        """
        encoded = self.encoder.encode(self._tokens(texts))
        rows, offsets = encoded.rows, encoded.offsets
        if longest is not None:
            sizes = np.diff(offsets)
            kept = np.arange(len(rows)) - np.repeat(offsets[:-1], sizes) < longest
            rows, offsets = rows[kept], np.concatenate([[0], np.cumsum(np.minimum(sizes, longest))])
        sums = summed_rows(encoded.vectors, rows, offsets)
        lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        found = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
        return np.asarray(found.astype(np.float16).astype(np.float32)[encoded.texts])

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        if self.encoder.reads_tokens:
            split = stored_tokenizer(self.tokenizer)
            return Vocabulary().encode(texts, split, allow_han=True, keep_texts=self.written)
        return Tokens(np.zeros(0, np.int32), np.zeros(len(texts) + 1, np.int64), Vocabulary(), texts)


def sentences(text: str) -> list[str]:
    r"""Split a text into sentences, at full stops, question and exclamation marks and line ends.

    Args:
        text: The text.

    Returns:
        The first 40 of at least 8 characters.

    >>> sentences("It rains again. Take a coat!\nNo. 今天下了一整天的雨。我没有带伞出门吗？")
    ['It rains again.', 'Take a coat!', '今天下了一整天的雨。', '我没有带伞出门吗？']
    """
    found = (part.strip() for part in _ENDS.split(text[:_LONGEST]))
    return [part for part in found if len(part) >= SHORTEST][:SENTENCES]


COMMENT_FEATURES: Final = ("log_length", "mean_idf", "top_idf", "first_person", "second_person", "question")
"""Features of a comment alone."""
VIEWS: Final = ("article", "title", "opening", "sentence")
"""Views of an article by vectors; those by words are the first two."""
FIRST_PERSON: Final = ("i", "I", "me", "my", "mine", "myself", "we", "us", "our", "i'm", "I'm", "我", "我们", "咱们")
"""Words that mean *I* or *we*, as tokenizers leave them."""
SECOND_PERSON: Final = ("you", "You", "your", "yours", "yourself", "you're", "u", "ur", "你", "你们", "您", "妳")
"""Words that mean *you*."""
HUB_ARTICLES: Final = 500
"""Most training articles whose mean vector is a hub."""
_DECIMALS: Final = 6
"""Decimals of cosines of vectors, since products of other shapes differ in their last digits."""
_BLOCK: Final = 4096
"""Number of comments that are encoded together."""


@dataclass(frozen=True, eq=False)
class CommentFeatures:
    """Words, columns and vectors of n comments, which the features are computed from.

    Args:
        words: Their words.
        columns: float32[n, 6], `COMMENT_FEATURES`.
        vectors: float16[n, d], their unit vectors; None without vectors.
    """

    words: Ragged
    columns: NDArray[np.float32]
    vectors: NDArray[np.float16] | None

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, which: NDArray[np.int64]) -> CommentFeatures:
        """Some of the comments.

        Args:
            which: int64[m], their indices.
        """
        vectors = None if self.vectors is None else self.vectors[which]
        return CommentFeatures(take(self.words, which), self.columns[which], vectors)


class _Weighed(NamedTuple):
    """The distinct words of comments: the comment, the word, its idf, and its weight, and the norm of each comment."""

    owners: NDArray[np.int64]
    terms: NDArray[np.int32]
    idf: NDArray[np.float64]
    weights: NDArray[np.float64]
    norms: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RelevanceFeatures:
    """The features of pairs of article and comment, with what they are computed from.

    Args:
        idf: float64[words], the idf of each word; the highest one for words that no training text has.
        persons: Ids of the words of the first and of the second person.
        with_content: True if contents are read, False for titles alone.
        text_vectors: The vectors; None for words only.
        hubs: float32[views, d], the mean vector of each view over training articles.
    """

    idf: NDArray[np.float64]
    persons: tuple[NDArray[np.int32], NDArray[np.int32]]
    with_content: bool
    text_vectors: TextVectors | None = None
    hubs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @property
    def views(self) -> tuple[str, ...]:
        """Views of an article by vectors."""
        return VIEWS if self.with_content else ("title",)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns."""
        of_words = VIEWS[:2] if self.with_content else ("title",)
        of_vectors = self.views if self.text_vectors else ()
        return (
            *(f"{name}_{view}" for view in of_words for name in ("tfidf", "shared_idf", "highest_idf")),
            *(f"cosine_{view}" for view in of_vectors),
            *(f"less_hub_{view}" for view in of_vectors),
            *COMMENT_FEATURES,
        )

    def comments(self, comments: CommentTexts) -> CommentFeatures:
        """Compute what is needed of comments, once for all articles.

        Args:
            comments: n comments.
        """
        vectors = None
        if self.text_vectors is not None:
            raw, encode = comments.texts, self.text_vectors.unit
            blocks = [encode(raw[at : at + _BLOCK]).astype(np.float16) for at in range(0, len(raw), _BLOCK)]
            vectors = np.concatenate([np.zeros((0, self.hubs.shape[1]), np.float16), *blocks])
        sizes = comments.words.lengths
        columns = np.zeros((len(sizes), len(COMMENT_FEATURES)), np.float32)
        columns[:, 0] = np.log1p(sizes)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        for column, person in zip((3, 4), self.persons, strict=True):
            found = np.bincount(owners, np.isin(comments.words.ids, person), minlength=len(sizes))
            columns[:, column] = found / np.maximum(sizes, 1)
        columns[:, 5] = [("?" in text) or ("？" in text) for text in comments.texts]
        return self.with_idf(CommentFeatures(comments.words, columns, vectors))

    def with_idf(self, comments: CommentFeatures) -> CommentFeatures:
        """Compute the features of comments that depend on the idf anew.

        Args:
            comments: n comments.
        """
        starts, terms, _ = comments.words.counted()
        sizes = np.diff(starts)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        weights = self._idf_of(terms)
        columns = comments.columns.copy()
        columns[:, 1] = np.bincount(owners, weights, minlength=len(sizes)) / np.maximum(sizes, 1)
        order = np.lexsort((-weights, owners))
        best = np.arange(len(order)) - np.repeat(starts[:-1], sizes) < 3
        top = np.bincount(owners, weights[order] * best, minlength=len(sizes))
        columns[:, 2] = top / np.maximum(np.minimum(sizes, 3), 1)
        return replace(comments, columns=columns)

    def pairs(self, articles: ArticleTexts, comments: Sequence[CommentFeatures]) -> list[NDArray[np.float64]]:
        """Compute the features of articles and comments.

        Args:
            articles: n articles.
            comments: For each article m comments.

        Returns:
            For each article float64[m, features].
        """
        weighed = [self._weighed(some.words) for some in comments]
        by_words = [self._by_words(articles.words, weighed)] if self.with_content else []
        by_words.append(self._by_words(articles.titles, weighed))
        blocks = [*by_words, *([self._by_vectors(articles, comments)] if self.text_vectors else [])]
        return [
            np.hstack([*(block[at] for block in blocks), some.columns.astype(np.float64)])
            for at, some in enumerate(comments)
        ]

    def _idf_of(self, terms: NDArray[np.int32]) -> NDArray[np.float64]:
        highest = self.idf.max(initial=0.0)
        known = terms < len(self.idf)
        return np.where(known, self.idf[np.where(known, terms, 0)], highest) if len(self.idf) else np.zeros(len(terms))

    def _weighed(self, comments: Ragged) -> _Weighed:
        """The distinct words of n comments."""
        bounds, terms, times = comments.counted()
        owners, idf = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), self._idf_of(terms)
        weights = times * idf
        norms = np.sqrt(np.bincount(owners, weights**2, minlength=len(bounds) - 1))
        return _Weighed(owners, terms, idf, weights, np.where(norms > 0, norms, 1.0))

    def _by_words(self, articles: Ragged, comments: Sequence[_Weighed]) -> list[NDArray[np.float64]]:
        """For each article float64[m, 3]: TF-IDF cosine, and sum and maximum of the idf of shared words."""
        starts, terms, counts = articles.counted()
        idf = self._idf_of(terms)
        found = []
        for (begin, end), some in zip(pairwise(starts.tolist()), comments, strict=True):
            words, weights = terms[begin:end], counts[begin:end] * idf[begin:end]
            weights = weights / (np.sqrt((weights**2).sum()) or 1.0)
            out = np.zeros((len(some.norms), 3))
            beyond = int(words.max(initial=-1)) + 1  # no word of the article; a folder may have any there
            places = np.zeros(beyond + 1, np.int32)
            places[words] = np.arange(1, len(words) + 1)
            at = places[np.minimum(some.terms, beyond)]
            shared = np.flatnonzero(at)
            owner, rare = some.owners[shared], some.idf[shared]
            dots = np.bincount(owner, weights[at[shared] - 1] * some.weights[shared], minlength=len(out))
            out[:, 0] = dots / some.norms
            out[:, 1] = np.bincount(owner, rare, minlength=len(out))
            np.maximum.at(out[:, 2], owner, rare)
            found.append(out)
        return found

    def _by_vectors(self, articles: ArticleTexts, comments: Sequence[CommentFeatures]) -> list[NDArray[np.float64]]:
        """For each article float64[m, 2 * views]: cosines, and the same less the hub."""
        assert self.text_vectors is not None  # noqa: S101 - for the type checker
        found = []
        for views, some in zip(article_vectors(self.text_vectors, articles.texts, self.views), comments, strict=True):
            assert some.vectors is not None  # noqa: S101 - for the type checker
            several = np.vstack([self.hubs, views])
            products = (some.vectors.astype(np.float32) @ several.T).astype(np.float64)
            hubs, cosines = products[:, : len(self.hubs)], products[:, len(self.hubs) :]
            if self.with_content:
                cosines = np.hstack([cosines[:, :3], cosines[:, 3:].max(axis=1, keepdims=True)])
            found.append(np.hstack([cosines, cosines - hubs]).round(_DECIMALS))
        return found


def article_vectors(
    vectors: TextVectors, texts: Sequence[tuple[str, str]], views: Sequence[str]
) -> list[NDArray[np.float32]]:
    """Unit vectors of the views of articles.

    Args:
        vectors: The vectors.
        texts: Title and content of each of n articles.
        views: Names of the views, of which ``sentence`` is the last.

    Returns:
        For each article float32[k, d], a row for each view; k is larger with several sentences.
    """
    titles = [title for title, _ in texts]
    if tuple(views) == ("title",):
        return [row[None] for row in vectors.unit(titles)]
    wholes = [f"{title}\n{content}" for title, content in texts]
    lists = [sentences(whole) or [whole] for whole in wholes]
    article, title = vectors.unit(wholes), vectors.unit(titles)
    opening = vectors.unit([content or title for title, content in texts], OPENING)
    bounds = np.cumsum([0, *map(len, lists)]).tolist()
    each = vectors.unit([sentence for some in lists for sentence in some])
    return [
        np.vstack([article[at], title[at], opening[at], each[begin:end]])
        for at, (begin, end) in enumerate(pairwise(bounds))
    ]


def hubs_of(vectors: TextVectors, texts: Sequence[tuple[str, str]], *, with_content: bool) -> NDArray[np.float32]:
    """Compute the mean vector of each view over articles; that of sentences over the means of articles.

    Args:
        vectors: The vectors.
        texts: Title and content of the training articles; 500 of them, evenly spaced, are read if there are more.
        with_content: False for titles alone.

    Returns:
        float32[views, d].
    """
    chosen = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), HUB_ARTICLES)).astype(int)).tolist()
    views = VIEWS if with_content else ("title",)
    each = article_vectors(vectors, [texts[at] for at in chosen], views)
    rows = [np.vstack([one[: len(views) - 1], one[len(views) - 1 :].mean(axis=0, keepdims=True)]) for one in each]
    return np.asarray(np.mean(np.stack(rows), axis=0, dtype=np.float64), np.float32)


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
class FeatureRanker(Ranker):
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
        arrays: dict[str, AnyArray] = {
            "words.ids": self.stored.words.ids,
            "words.offsets": self.stored.words.offsets,
            "features.idf": self.features.idf,
            "features.comments": self.stored.columns,
        }
        if self.stored.vectors is not None:
            arrays |= {"features.vectors": self.stored.vectors, "features.hubs": self.features.hubs}
        return arrays | self.model.arrays()

    def take(self, comments: NDArray[np.int64]) -> FeatureRanker:
        """See `Ranker`."""
        return replace(self, stored=self.stored.take(comments))

    def extend(self, comments: Ragged, texts: Sequence[str]) -> FeatureRanker:
        """See `Ranker`."""
        new, old = self.features.comments(CommentTexts(comments, texts)), self.stored
        vectors = None
        if old.vectors is not None and new.vectors is not None:
            vectors = np.concatenate([old.vectors, new.vectors])
        columns = np.concatenate([old.columns, new.columns])
        return replace(self, stored=CommentFeatures(Ragged.concatenate([old.words, new.words]), columns, vectors))

    def reweighted(self, frequencies: NDArray[np.int64], starts: NDArray[np.int64], idf: Idf) -> FeatureRanker:
        """See `Ranker`."""
        features = replace(self.features, idf=shared_idf(frequencies, self.stored.words, starts, idf, 1))
        return replace(self, features=features, stored=features.with_idf(self.stored))

    def _score(self, columns: list[NDArray[np.float64]]) -> Scores:
        if not columns:
            return []
        logits = self.model.logits(np.concatenate(columns))
        return np.split(logits, np.cumsum([len(each) for each in columns])[:-1])


def open_feature_ranker(model: Model, vocabulary: Vocabulary, words: Ragged) -> FeatureRanker:
    """Open the ranker of a model folder.

    Args:
        model: The folder.
        vocabulary: Its vocabulary.
        words: The words of its comments.

    Raises:
        InvalidInput: It is damaged.
        MissingExtra: The packages that read its vectors are not installed.
    """
    array, n = model.array, len(words)
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
