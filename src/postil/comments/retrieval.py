"""IR-T and IR-TC: retrieve similar articles, rerank their comments.

Paper: Automatic Article Commenting (ACL 2018), section 5 and supplement C.1. Two stages: the nearest training articles
are retrieved by TF-IDF cosine (equation C.1) over titles (IR-T) or titles and contents (IR-TC); the union of their
comments is reranked by features, by a convolutional relevance model (C.2), by the TF-IDF cosine of article and comment,
or by all three.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.comments.candidate_pool import CandidatePool
from postil.comments.feature_ranker import FeatureRanker, open_feature_ranker
from postil.comments.index import Index, TopK, merge
from postil.comments.rankers import (
    ArticleTexts,
    CommentTexts,
    EmbeddingRanker,
    InteractionRanker,
    InterpolatedRanker,
    Ranker,
    TfidfRanker,
)
from postil.comments.reranker import Reranker, open_reranker, text_of
from postil.comments.sentence_vectors import MODEL, NUMBERS, SentenceVectors, article_text, open_sentence_vectors
from postil.comments.show_filter import FILE, SIGNALS, Selection, ShowFilter, text_signals
from postil.data.arrays import WHOLE, Expected
from postil.data.model_folders import Model
from postil.data.rows import Article, Comment
from postil.data.suggestions import Filtered, Provenance, Source, Suggestion, Suggestions
from postil.engine.base import Closing
from postil.errors import InvalidInput, MissingExtra, UsageError, needs
from postil.messages import Setting
from postil.screening.filtering import CandidateFilter, RepeatLimit
from postil.text.tokenizers import stored_tokenizer
from postil.text.tokens import Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from postil.comments.text_arrays import StringArray
    from postil.data.streams import FilePath
    from postil.encoders.endpoint_encoder import EncoderEndpoint
    from postil.engine import Engine, StatefulWorkers

__all__ = ["KINDS", "Neighbors", "Retriever", "Sharded", "check_endpoint", "needs_endpoint", "open_ranker"]

COPY_COSINE: Final = 0.98
"""Smallest cosine of an article and a copy of it."""
_ROUNDING: Final = 1e-6
"""More than the errors of a cosine."""


@dataclass(frozen=True, eq=False)
class Neighbors:
    """A search for similar articles.

    Args:
        index: The training articles.
        names: Their ids.
        wanted: Number of similar articles to find.
        jobs: Number of search threads.
        engine: Engine whose workers keep the index and search it; None for this process. The results are the same.
    """

    index: Index
    names: StringArray
    wanted: int
    jobs: int = 1
    engine: Engine | None = None

    def find(self, names: Sequence[str], words: Ragged) -> list[NDArray[np.int64]]:
        """Find the most similar articles of n articles.

        Args:
            names: The ids of the articles.
            words: Their words.

        Returns:
            For each article int64[m], training articles, the most similar first; fewer than wanted where no further
            one shares a word with it.
        """
        wanted, most = self.wanted, max(1, len(self.index))
        found: list[NDArray[np.int64]] = []
        top = self._search(words.ids, words.offsets, min(2 * wanted, most))
        for at, (name, documents, scores) in enumerate(zip(names, top.documents, top.scores, strict=True)):
            ids = words.ids[words.offsets[at] : words.offsets[at + 1]]
            others = self._others(name, ids, documents, scores)
            # Copies, such as those of a weekly title, may fill the first ranks: search deeper until enough others come.
            best = documents
            while len(others) < wanted and best[-1] >= 0 and len(best) < most:
                k = min(4 * len(best), most)
                deeper = self._search(ids, np.array([0, len(ids)]), k)
                best = deeper.documents[0]
                others = self._others(name, ids, best, deeper.scores[0])
            found.append(others[:wanted])
        return found

    @cached_property
    def _sharded(self) -> Sharded | None:
        """The index in shards that workers keep."""
        if self.engine is None or not len(self.index):
            return None
        return Sharded(self.engine, self.index.shards(min(self.engine.jobs, len(self.index))))

    def _search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> TopK:
        if self._sharded is None:
            return self.index.search(ids, offsets, k, jobs=self.jobs)
        return self._sharded.search(ids, offsets, k)

    def _others(
        self, name: str, ids: NDArray[np.int32], documents: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """The documents that are neither the article itself nor a copy of it."""
        found = documents[documents >= 0]
        other = np.array([one != name for one in self.names.texts(found.astype(np.int64))], dtype=bool)
        near = np.arange(len(found))
        if self.index.weighting == "tf-idf":  # a cosine of known words alone, so not below that of all words
            near = near[scores[: len(found)] > COPY_COSINE - _ROUNDING]
        other[near] &= self.index.cosines(ids, found[near]) < COPY_COSINE
        return np.asarray(found[other], dtype=np.int64)


class Sharded(Closing):
    """An index whose shards are kept by workers, on this machine or on many.

    Every shard has the collection statistics of the whole index, so results are those of the whole, to the last bit.
    Leaving ``with`` releases the shards.

    Args:
        engine: Runs the workers.
        parts: The shards, see `postil.comments.index.Index.shards`.

    >>> from postil.comments.index import Index
    >>> from postil.engine import open_engine
    >>> ids, offsets = np.array([0, 1, 1, 2, 0, 3], dtype=np.int32), np.array([0, 3, 6])
    >>> index = Index.of(ids, offsets, words=4)
    >>> with open_engine() as engine, Sharded(engine, index.shards(2)) as sharded:
    ...     sharded.search(np.array([3, 1], dtype=np.int32), np.array([0, 1, 2]), k=2).documents.tolist()
    [[1, -1], [0, -1]]
    """

    def __init__(self, engine: Engine, parts: Sequence[Index]) -> None:
        self._firsts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
        self._workers: StatefulWorkers[Index] = engine.start_workers(Index.prepare, parts)

    def search(self, ids: NDArray[np.int32], offsets: NDArray[np.int64], k: int) -> TopK:
        """See `postil.comments.index.Index.search`.

        Args:
            ids: int32[T].
            offsets: int64[n + 1].
            k: Number of documents per query.
        """
        return merge(self._workers.call(_search, (ids, offsets, k)), self._firsts, k)

    def close(self) -> None:
        """Release the shards."""
        self._workers.close()


def _search(shard: Index, request: tuple[NDArray[np.int32], NDArray[np.int64], int]) -> TopK:
    return shard.search(*request)


def needs_endpoint(model: Model) -> bool:
    """True if the sentence encoder of a model is behind an endpoint.

    Args:
        model: The model folder.
    """
    return model.config.get(MODEL) is not None


def check_endpoint(of: str, models: Iterable[Model]) -> None:
    """Check that an endpoint is named for a reason.

    Args:
        of: Name of the models.
        models: The model folders.

    Raises:
        UsageError: None of them has a sentence encoder behind an endpoint.
    """
    if not any(map(needs_endpoint, models)):
        raise UsageError(
            "{of}: expected a model with a sentence encoder behind an endpoint, got none; leave {encoder} out",
            of=of,
            encoder=Setting("encoder"),
        )


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
    by_words = TfidfRanker(words, np.asarray(idf))
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
    with needs("the relevance model", "neural"):
        from postil.comments.nn.relevance import Relevance  # noqa: PLC0415 - it needs torch
    relevance = Relevance.open(model.path / "relevance")
    if relevance.options.architecture == "interaction":
        return InteractionRanker(_words(model, comments), relevance)
    expected = Expected("float32", (comments, relevance.options.output_dim))
    return EmbeddingRanker(relevance, np.asarray(model.array("ranker/vectors", expected)))


def _words(model: Model, comments: int) -> Ragged:
    ids = model.array("ranker/words.ids", Expected("int32"))
    offsets = Expected("int64", (comments + 1,), end=len(ids))
    return Ragged(np.asarray(ids), np.asarray(model.array("ranker/words.offsets", offsets)))


KINDS: Final = ("ir-t", "ir-tc")

_SHARED: Final = frozenset({"index", "pool", "ranker", "sentences", "show_filter", "_vocabulary", "_neighbors"})
"""Parts that are open, which do not depend on the selection."""


@dataclass(frozen=True, eq=False)
class Retriever:
    """A commenter that retrieves; `open` it.

    Args:
        model: Its folder.
        candidate_filter: Filter of suggestions.
        jobs: Number of search threads.
        selection: Request to suggest only what is probably worth showing; None for everything.
        engine: Engine whose workers keep the index and search it, until it is closed; None for this process. The
            results are the same.
        reranker: Sentence encoder that reorders the best candidates; None for the ranker's order.
        endpoint: The endpoint that the filter's sentence encoder is behind; None where the user named none.
    """

    model: Model
    candidate_filter: CandidateFilter = field(default_factory=CandidateFilter)
    jobs: int = 1
    selection: Selection | None = None
    engine: Engine | None = None
    reranker: Reranker | None = None
    endpoint: EncoderEndpoint | None = None

    @classmethod
    def open(
        cls,
        folder: FilePath,
        *,
        candidate_filter: CandidateFilter | None = None,
        jobs: int = 1,
        selection: Selection | None = None,
        reranker: FilePath | None = None,
        endpoint: EncoderEndpoint | None = None,
    ) -> Retriever:
        """Open a retriever; its arrays are mapped into memory.

        Args:
            folder: The folder that ``postil train ir-t`` or ``ir-tc`` made.
            candidate_filter: Filter of suggestions.
            jobs: Number of search threads.
            selection: Request to suggest only what is probably worth showing.
            reranker: The sentence encoder that the model was trained with; None for the ranker's order.
            endpoint: The endpoint that the filter's sentence encoder is behind, as the user named it.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: It has a relevance model and torch is not installed, or the library of the reranker is not.
            UsageError: The selection needs labels that the model was never calibrated by, or other ones; the model was
                trained with another reranker or none; both selection and reranker are given; or there is an endpoint
                and the filter's sentence encoder is behind none.
        """
        model = Model.open(folder, KINDS)
        if endpoint is not None:
            check_endpoint(str(folder), [model])
        if model.setting("ranker", str) in {"relevance", "both"} and find_spec("torch") is None:
            raise MissingExtra("the relevance model", "neural")
        if selection is not None and reranker is not None:
            problem = "a reranker changes the first suggestions, by which the model was calibrated"
            raise UsageError(f"{folder}: {problem}; leave it out, or precision and coverage")
        by = None if reranker is None else open_reranker(model, reranker)
        found = cls(model, candidate_filter or CandidateFilter(), jobs, selection, reranker=by, endpoint=endpoint)
        if selection is not None:
            found.threshold  # noqa: B018 - before the first article
        return found

    def prepare(self) -> None:
        """Open and compute now what the first article would wait for.

        Raises:
            InvalidInput: The model is damaged.
            MissingExtra: What its ranker needs is not installed.
        """
        self.index.prepare()
        _ = self.pool, self.ranker, self.show_filter, self._neighbors
        if self.sentences is not None and self.show_filter is not None and self.show_filter.reorders:
            _ = self.sentences.encoder

    def selecting(self, selection: Selection | None) -> Retriever:
        """The same model with another selection; what is open of it is shared.

        Args:
            selection: Request to suggest only what is probably worth showing; None for everything.

        Raises:
            UsageError: The selection needs labels that the model was never calibrated by, or other ones.
        """
        other = replace(self, selection=selection)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name in _SHARED})
        other.threshold  # noqa: B018 - before the first article
        return other

    @property
    def kind(self) -> str:
        """The kind of the model, such as ``ir-tc``."""
        return self.model.kind

    @property
    def parts(self) -> tuple[str, ...]:
        """Fields of an article that are searched by."""
        return ("title", "content") if self.model.kind == "ir-tc" else ("title",)

    def has_input(self, article: Article) -> bool:
        """True if `parts` of an article contain a word; without one it is similar to no other.

        Args:
            article: The article.
        """
        return bool(len(self._read([article]).words.ids))

    def comment(self, articles: Sequence[Article], k: int, *, repeats: RepeatLimit | None = None) -> list[Suggestions]:
        """Suggest comments that readers wrote on similar articles.

        A training article with the same id, or with a cosine of .98 or more, is excluded.

        Args:
            articles: The articles.
            k: Maximum number of suggestions per article.
            repeats: The repeat limit of a run that these articles go on with; by default they are a run.

        Returns:
            The suggestions for each article; none for an article that shares no word with any other, and so for one
            with `has_input` false.

        Raises:
            UsageError: k is below 1.
            InvalidInput: Two articles have one id, or an article has a text that cannot be tokenized.
        """
        if k < 1:
            raise UsageError(f"expected at least one comment per article, got {k}")
        if len({article.id for article in articles}) < len(articles):
            raise InvalidInput("expected an id that no other article has", where="articles", field="id")
        if not articles:
            return []
        candidates = self._candidates(articles, read := self._read(articles))
        scores = self.ranker.score_stored(read, candidates)
        repeats = self.candidate_filter.repeats() if repeats is None else repeats
        learned = self.show_filter
        # A threshold was found on the first suggestions, and an encoder's filter orders these, so the rest waits.
        apart = learned is not None and (self.selection is not None or learned.reorders)
        wanted = learned.depth if learned is not None and apart else k
        if self.selection is None:
            wanted = max(wanted, k)
        if apart and learned is not None and learned.reorders and self.sentences is not None:
            self.sentences.prepare([article_text(*text) for text in read.texts], self.jobs)
        found: list[Suggestions] = []
        places: list[NDArray[np.int64]] = []
        for article, text, some, relevance in zip(articles, read.texts, candidates, scores, strict=True):
            row, place = self._suggest(article, text, some, relevance, k=wanted, repeats=repeats)
            if learned is not None and apart:
                (row,) = self._judged([article], [row], [place], learned, k)
            # Only what is shown counts for the articles that follow.
            repeats.add(one.text for one in row.suggestions)
            found.append(row)
            places.append(place)
        return found if learned is None or apart else self._judged(articles, found, places, learned, k)

    def first(self, articles: Sequence[Article], k: int) -> list[tuple[Suggestions, NDArray[np.int64]]]:
        """The first suggestions of each article by themselves, in the ranker's order and without a filter from labels.

        Args:
            articles: The articles.
            k: Maximum number of suggestions per article.

        Returns:
            For each article its suggestions, and int64[m], their indices in the `pool`.
        """
        candidates = self._candidates(articles, read := self._read(articles))
        scores = self.ranker.score_stored(read, candidates)
        return [
            self._suggest(article, text, some, relevance, k=k, repeats=RepeatLimit(0))
            for article, text, some, relevance in zip(articles, read.texts, candidates, scores, strict=True)
        ]

    @cached_property
    def show_filter(self) -> ShowFilter | None:
        """The filter learned from labels; None for a model that was never calibrated.

        Raises:
            InvalidInput: It is damaged, or of another ranker.
        """
        if FILE not in self.model.files:
            return None
        found = ShowFilter.open(self.model.file(FILE))
        if not set(found.columns) <= set(self.show_columns):
            problem = "it was calibrated with another ranker; calibrate it again: postil calibrate"
            raise InvalidInput(problem, where=str(self.model.path))
        return found

    @cached_property
    def threshold(self) -> float:
        """The lowest probability that `selection` shows; 0 without one.

        Raises:
            UsageError: The model was never calibrated, or its labels allow no such precision.
        """
        if self.selection is None:
            return 0.0
        if self.show_filter is None:
            problem = "this model was never calibrated, so nothing is known of what is worth showing"
            raise UsageError(
                f"{self.model.path}: {problem}; label suggestions (postil label), then fit them (postil calibrate)"
            )
        return self.selection.threshold(self.show_filter, str(self.model.path))

    @property
    def show_columns(self) -> tuple[str, ...]:
        """Names of the columns that a filter is learned over: the score, and the ranker's features or else signals.

        Both together are too many for the one or two hundred labels that an editor gives.
        """
        return ("score", *self._features, *(NUMBERS if self.sentences is not None else ()))

    @property
    def _features(self) -> tuple[str, ...]:
        """Names of the ranker's features, or else of signals."""
        return SIGNALS if self._feature_ranker is None else self._feature_ranker.features.names

    def show_rows(
        self,
        articles: Sequence[Article],
        texts: Sequence[Sequence[str]],
        places: Sequence[NDArray[np.int64]],
        columns: Sequence[str] | None = None,
        scores: Sequence[NDArray[np.float64]] | None = None,
    ) -> list[NDArray[np.float64]]:
        """Compute columns that a filter is learned over.

        Args:
            articles: The articles.
            texts: For each article its m suggestions.
            places: For each article int64[m], their indices in the `pool`, which sentence vectors are looked up by.
            columns: Names of the columns; by default `show_columns`.
            scores: For each article float64[m], their scores by the ranker, where these are known.

        Returns:
            For each article float64[m, columns].
        """
        wanted = self.show_columns if columns is None else columns
        features = bool(set(wanted) - {"score", *NUMBERS})
        comments = [tuple(Comment(str(at), text) for at, text in enumerate(each)) for each in texts]
        pairs = [msgspec.structs.replace(one, comments=own) for one, own in zip(articles, comments, strict=True)]
        ranker = self._feature_ranker if features else None
        read = self._read_threads(pairs) if scores is None or ranker is not None else None
        if scores is None and read is not None:
            scores = self.ranker.score_texts(*read)
        names, parts = ["score"], [list(scores or ())]
        if ranker is not None and read is not None:
            parts.append(ranker.columns_texts(*read))
        elif features:
            parts.append([text_signals(article, each) for article, each in zip(articles, texts, strict=True)])
        names += self._features if features else ()
        if not set(NUMBERS).isdisjoint(wanted) and self.sentences is not None:
            said = [self._texts(article) for article in articles]
            self.sentences.prepare([article_text(*text) for text in said], self.jobs)
            owners = [self.pool.owner(each) for each in places]
            given = zip(said, places, owners, texts, strict=True)
            parts.append([self.sentences.numbers(*text, place, owner, each) for text, place, owner, each in given])
            names += NUMBERS
        kept = [names.index(name) for name in wanted]
        return [np.column_stack(row)[:, kept] for row in zip(*parts, strict=True)]

    def _judged(
        self,
        articles: Sequence[Article],
        found: list[Suggestions],
        places: Sequence[NDArray[np.int64]],
        learned: ShowFilter,
        k: int,
    ) -> list[Suggestions]:
        """Suggestions with their probabilities, in their order; with a selection those that are worth showing."""
        texts = [[one.text for one in each.suggestions] for each in found]
        scores = [np.array([one.score for one in each.suggestions]) for each in found]
        known = None if self.reranker is not None else scores  # else scores are those of another encoder
        rows = self.show_rows(articles, texts, places, learned.columns, known)
        judged = [learned.judged(each, of) for each, of in zip(found, rows, strict=True)]
        if self.selection is None:
            return [learned.ordered(each, k) for each in judged] if learned.reorders else judged
        return [self.selection.apply(each, learned, self.threshold, k) for each in judged]

    def rank(self, articles: Sequence[Article]) -> list[NDArray[np.float64]]:
        """Score the relevance of each article's own comments.

        Args:
            articles: Articles with comments. Scores of an article with `has_input` false mean nothing; leave it out.

        Returns:
            For each article float64[comments], higher is better.
        """
        return self.ranker.score_texts(*self._read_threads(articles))

    def candidates(self, articles: Sequence[Article]) -> list[NDArray[np.int64]]:
        """Find the comments on the most similar training articles, without the article itself and copies of it.

        Args:
            articles: The articles.

        Returns:
            For each article int64[m], indices of comments in the `pool`.
        """
        return self._candidates(articles, self._read(articles))

    def features(self, articles: Sequence[Article], comments: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
        """Compute the features of articles and stored comments.

        Args:
            articles: n articles.
            comments: For each article int64[m], indices of comments in the `pool`, such as its `candidates`.

        Returns:
            For each article float64[m, features].

        Raises:
            UsageError: The model's ranker has no features.
        """
        return self._by_features.columns_stored(self._read(articles), comments)

    @cached_property
    def index(self) -> Index:
        """The training articles."""
        weighting, idf = self.model.setting("weighting", str), self.model.setting("idf", str)
        segments = self.model.setting("segments", int)
        if segments < 1:
            problem = f"expected 1 or more, got {segments}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.model.path / "config.json"), field="segments")
        return Index.of_arrays(
            lambda name, expected: self.model.array(f"index/{name}", expected),
            segments,
            weighting,  # type: ignore[arg-type]  # checked inside
            idf,  # type: ignore[arg-type]
            len(self._vocabulary),
        )

    @cached_property
    def pool(self) -> CandidatePool:
        """The training comments."""
        return CandidatePool.open(self.model.array, len(self.index))

    @cached_property
    def ranker(self) -> Ranker:
        """The ranker of candidates."""
        return open_ranker(self.model, self._vocabulary, len(self.pool))

    def encoded_by(self, sentences: SentenceVectors) -> Retriever:
        """The same model with other sentence vectors; what is open of it is shared.

        Args:
            sentences: The vectors of its articles and comments.
        """
        other = replace(self)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name in _SHARED})
        other.__dict__["sentences"] = sentences
        return other

    @cached_property
    def sentences(self) -> SentenceVectors | None:
        """Vectors of articles and comments by a sentence encoder; None for a model that has none."""
        return open_sentence_vectors(self.model, len(self.index), len(self.pool), self.endpoint)

    @property
    def _feature_ranker(self) -> FeatureRanker | None:
        """The part of the ranker that has features; None where none has."""
        ranker = self.ranker
        parts = [part for part, _ in ranker.parts] if isinstance(ranker, InterpolatedRanker) else [ranker]
        return next((part for part in parts if isinstance(part, FeatureRanker)), None)

    @property
    def _by_features(self) -> FeatureRanker:
        if (found := self._feature_ranker) is not None:
            return found
        raise UsageError(
            "{model}: its ranker has no features; train it again with {ranker} or both",
            model=f"{self.model.path}",
            ranker=Setting("ranker", "features"),
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.of(self.model.words())

    def _encode(self, texts: Sequence[str], branch: Vocabulary) -> Ragged:
        """Token ids of texts; words that the model does not know have ids after those that it knows."""
        return branch.encode(texts, stored_tokenizer(self.model.setting("tokenizer", str)), allow_han=True)

    def _read(self, articles: Sequence[Article], branch: Vocabulary | None = None) -> ArticleTexts:
        """Articles as rankers read them."""
        branch = branch or self._vocabulary.branch()
        parts = [tuple(getattr(article, part) or "" for part in self.parts) for article in articles]
        words = self._encode(["\n".join(some) for some in parts], branch)
        titles = self._encode([some[0] for some in parts], branch) if len(self.parts) > 1 else words
        return ArticleTexts(words, titles, list(map(self._texts, articles)))

    def _texts(self, article: Article) -> tuple[str, str]:
        """Title and content of an article, as far as they are searched by."""
        return article.title, article.content or "" if "content" in self.parts else ""

    def _read_threads(self, articles: Sequence[Article]) -> tuple[ArticleTexts, list[CommentTexts]]:
        """Articles and their comments as rankers read them."""
        branch = self._vocabulary.branch()  # so that a word that no training text has is the same in both
        read = self._read(articles, branch)
        texts = [[comment.text for comment in article.comments] for article in articles]
        return read, [CommentTexts(self._encode(some, branch), some) for some in texts]

    def _candidates(self, articles: Sequence[Article], read: ArticleTexts) -> list[NDArray[np.int64]]:
        starts = self.pool.starts
        return [
            np.concatenate([np.zeros(0, np.int64), *(np.arange(starts[one], starts[one + 1]) for one in some.tolist())])
            for some in self._neighbors.find([article.id for article in articles], read.words)
        ]

    @cached_property
    def _neighbors(self) -> Neighbors:
        wanted = self.model.setting("neighbors", int)
        return Neighbors(self.index, self.pool.articles, wanted, self.jobs, self.engine)

    def _suggest(
        self,
        article: Article,
        text: tuple[str, str],
        candidates: NDArray[np.int64],
        scores: NDArray[np.float64],
        *,
        k: int,
        repeats: RepeatLimit,
    ) -> tuple[Suggestions, NDArray[np.int64]]:
        """Suggestions for an article, and their indices in the pool."""
        pool, owners = self.pool, self.pool.owner(candidates)
        texts = pool.texts.texts(candidates)
        languages = {owner: pool.languages[owner] or None for owner in np.unique(owners).tolist()}
        if self.reranker is not None:
            scores = self.reranker.scores(text_of(*text), texts, scores)
        result = self.candidate_filter.apply(
            texts,
            scores,
            k=k,
            keys=candidates,
            languages=[languages[owner] for owner in owners.tolist()],
            language=article.lang,
            article="\n".join(filter(None, (article.title, article.content))),
            flags=pool.flags[candidates].tolist(),
            repeats=repeats,
        )

        def source(position: int) -> Source:
            return pool.source(int(candidates[position]))

        suggestions = tuple(
            Suggestion(
                texts[one.position],
                float(scores[one.position]),
                rank,
                Provenance.retrieved(
                    self.kind, self.model.hash, [source(position) for position in (one.position, *one.merged)]
                ),
            )
            for rank, one in enumerate(result.accepted, 1)
        )
        filtered = tuple(Filtered(texts[position], reason, source(position)) for position, reason in result.filtered)
        places = candidates[[one.position for one in result.accepted]]
        return Suggestions(article.id, suggestions, filtered, result.nothing), places
