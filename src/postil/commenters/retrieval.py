"""IR-T and IR-TC: comments of similar articles, the most relevant first.

Paper: Automatic Article Commenting (ACL 2018), section 5 and supplement C.1. Two stages: `similar` articles of the
training set are found by TF-IDF cosine (equation C.1) over titles (IR-T) or titles and contents (IR-TC); the union of
their comments is ranked by a convolutional relevance model (C.2), or by the TF-IDF cosine of article and comment where
there is no torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.arrays import WHOLE, Expected
from postil.commenters.base import Held, Provenance, Source, Suggestion, Suggestions
from postil.commenters.filtering import Screen
from postil.commenters.rankers import ByBoth, ByPairs, ByRelevance, ByWords
from postil.commenters.search import Index
from postil.commenters.store import Model, ModelWriter
from postil.commenters.string_array import Strings
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.commenters.rankers import Ranker
    from postil.records.row_files import FilePath
    from postil.records.rows import Article
    from postil.text.tokens import Tokens

__all__ = ["KINDS", "RANKERS", "SIMILAR", "Retriever", "Shelf", "save_retriever"]

KINDS: Final = ("ir-t", "ir-tc")
RANKERS: Final = ("relevance", "tf-idf", "both")
SIMILAR: Final = 20
SAME: Final = 0.98
"""From this cosine on an article is a copy of the one to comment on."""


@dataclass(frozen=True, eq=False)
class Shelf:
    """The comments that can be suggested.

    Args:
        articles: Ids of the training articles.
        languages: Their languages, empty where unknown.
        starts: int64[articles + 1], where the comments of each begin.
        ids: Ids of the comments.
        texts: What they say.
    """

    articles: Strings
    languages: Strings
    starts: NDArray[np.int64]
    ids: Strings
    texts: Strings


def save_retriever(
    new: ModelWriter, index: Index, shelf: Shelf, words: Sequence[str], *, ranker: Mapping[str, NDArray[Any]]
) -> None:
    """Write a retriever into a model folder; a relevance model is written beside it by who trained it.

    Args:
        new: The folder in the making.
        index: The training articles.
        shelf: Their comments.
        words: The words, by id.
        ranker: What the ranker keeps: ``vectors`` of the comments, or their words as ``words.ids`` and
            ``words.offsets``, and for their cosine the ``rarity`` (idf) of each word.
    """
    for name, values in index.arrays().items():
        new.array(f"index/{name}", values)
    for name, strings in (
        ("articles", shelf.articles),
        ("languages", shelf.languages),
        ("ids", shelf.ids),
        ("texts", shelf.texts),
    ):
        new.array(f"comments/{name}.data", strings.data)
        new.array(f"comments/{name}.offsets", strings.offsets)
    new.array("comments/starts", np.asarray(shelf.starts))
    for name, values in ranker.items():
        new.array(f"ranker/{name}", values)
    new.words(words)


@dataclass(frozen=True, eq=False)
class Retriever:
    """A commenter that retrieves; `open` it.

    Args:
        model: Its folder.
        screen: What may be suggested.
        jobs: Threads of the search.
    """

    model: Model
    screen: Screen = field(default_factory=Screen)
    jobs: int = 1

    @classmethod
    def open(cls, folder: FilePath, *, screen: Screen | None = None, jobs: int = 1) -> Retriever:
        """Open a retriever; its arrays are mapped into memory.

        Args:
            folder: The folder that ``postil train ir-t`` or ``ir-tc`` made.
            screen: What may be suggested.
            jobs: Threads of the search.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: It ranks by a relevance model and torch is not installed.
        """
        model = Model.open(folder, KINDS)
        if model.config.get("ranker") != "tf-idf" and find_spec("torch") is None:
            raise MissingExtra("the relevance model", "nn")
        if model.config.get("ranker") != "relevance" and not (model.path / "ranker" / "rarity.npy").is_file():
            problem = "made by an earlier postil, without ranker/rarity.npy; train it anew"
            raise InvalidInput(problem, where=str(folder))
        return cls(model, screen or Screen(), jobs)

    @classmethod
    def load(cls, folder: FilePath) -> Retriever:
        """See `postil.commenters.base.Commenter`; `open` with the usual screen."""
        return cls.open(folder)

    def save(self, folder: FilePath) -> None:
        """Write the model to another folder.

        Args:
            folder: The folder to make.
        """
        self.model.copy(folder)

    @property
    def with_content(self) -> bool:
        """Whether contents are looked at."""
        return self.model.kind == "ir-tc"

    @property
    def parts(self) -> tuple[str, ...]:
        """The fields of an article that are looked at."""
        return ("title", "content") if self.with_content else ("title",)

    def has_input(self, article: Article) -> bool:
        """True if what is looked at of an article has a word; without one it is similar to no other.

        Args:
            article: The article.
        """
        return bool(len(self._tokens([article]).ids))

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Suggest comments that readers wrote under similar articles.

        An article of the training set with the same id, or with a cosine of .98 or more, is not looked at.

        Args:
            articles: The articles.
            k: How many comments an article, at most.

        Returns:
            The suggestions for each article; none for an article that shares no word with any other, and so for one
            with `has_input` false.

        Raises:
            UsageError: k is below 1.
            InvalidInput: Two articles have one id, or an article has a text that cannot be cut into words.
        """
        if k < 1:
            raise UsageError(f"expected at least one comment an article, got {k}")
        if len({article.id for article in articles}) < len(articles):
            raise InvalidInput("expected an id that no other article has", where="articles", field="id")
        if not articles:
            return []
        tokens = self._tokens(articles)
        found = self._similar(articles, tokens)
        queries = self.ranker.articles(tokens.ids, tokens.offsets)
        return [self._suggest(article, place, found[place], queries, k) for place, article in enumerate(articles)]

    def rank(self, articles: Sequence[Article]) -> list[NDArray[np.float64]]:
        """How relevant each article's own comments are to it.

        Args:
            articles: Articles with comments. For one with `has_input` false there is nothing that a comment can be
                relevant to; leave it out.

        Returns:
            For each article float64[comments], high is good.
        """
        tokens = self._tokens(articles)
        queries = self.ranker.articles(tokens.ids, tokens.offsets)
        scores = []
        for place, article in enumerate(articles):
            said = self._encoded([comment.text for comment in article.comments])
            scores.append(self.ranker.given(queries, place, said.ids, said.offsets))
        return scores

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
    def shelf(self) -> Shelf:
        """The comments."""
        articles, array = len(self.index), self.model.array
        texts = Strings.open(array, "comments/texts")
        return Shelf(
            Strings.open(array, "comments/articles", articles),
            Strings.open(array, "comments/languages", articles),
            np.asarray(array("comments/starts", Expected("int64", (articles + 1,), end=len(texts)))),
            Strings.open(array, "comments/ids", len(texts)),
            texts,
        )

    @cached_property
    def ranker(self) -> Ranker:
        """What ranks comments."""
        kind = self.model.setting("ranker", str)
        if kind == "relevance":
            return self._by_relevance()
        ids, offsets = self._words_of_comments()
        rare = self.model.array("ranker/rarity", Expected("float64", (len(self._vocabulary),), low=0))
        words = ByWords(np.asarray(rare), ids, offsets)
        return words if kind == "tf-idf" else ByBoth(self._by_relevance(), words, self.model.setting("mixture", float))

    def _by_relevance(self) -> Ranker:
        try:
            from postil.commenters.nn.relevance import Relevance  # noqa: PLC0415 - it needs torch
        except ImportError as error:
            raise MissingExtra("the relevance model", "nn") from error
        relevance = Relevance.open(self.model.path / "relevance")
        if relevance.options.form == "interaction":
            return ByPairs(relevance, *self._words_of_comments())
        expected = Expected("float32", (len(self.shelf.texts), relevance.options.output))
        return ByRelevance(relevance, np.asarray(self.model.array("ranker/vectors", expected)))

    def _words_of_comments(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        ids = self.model.array("ranker/words.ids", Expected("int32"))
        offsets = Expected("int64", (len(self.shelf.texts) + 1,), end=len(ids))
        return np.asarray(ids), np.asarray(self.model.array("ranker/words.offsets", offsets))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        known = Vocabulary()
        known.encode_tokens([self.model.words()])
        return known

    def _encoded(self, texts: Sequence[str]) -> Tokens:
        """Texts as numbers; words that the model does not know have higher ones."""
        cut = tokenizer(self.model.setting("tokenizer", str))
        tokens = self._vocabulary.branch().encode(texts, cut, allow_han=True)
        return replace(tokens, ids=np.where(tokens.ids < len(self._vocabulary), tokens.ids, np.int32(2**31 - 1)))

    def _tokens(self, articles: Sequence[Article]) -> Tokens:
        return self._encoded(["\n".join(getattr(article, part) or "" for part in self.parts) for article in articles])

    def _similar(self, articles: Sequence[Article], tokens: Tokens) -> list[NDArray[np.int64]]:
        """The training articles most like each article, without itself and copies."""
        wanted, most = self.model.setting("similar", int), max(1, len(self.index))
        found: list[NDArray[np.int64]] = []
        likest = self.index.search(tokens.ids, tokens.offsets, min(2 * wanted, most), jobs=self.jobs)
        for place, (article, best) in enumerate(zip(articles, likest.documents, strict=True)):
            ids = tokens.ids[tokens.offsets[place] : tokens.offsets[place + 1]]
            documents = best
            others = self._others(article, ids, documents)
            # Copies, such as those of a weekly title, may stand before.
            while len(others) < wanted and documents[-1] >= 0 and len(documents) < most:
                k = min(4 * len(documents), most)
                more = self.index.search(ids, np.array([0, len(ids)]), k, jobs=self.jobs)
                documents = more.documents[0]
                others = self._others(article, ids, documents)
            found.append(others[:wanted])
        return found

    def _others(self, article: Article, ids: NDArray[np.int32], documents: NDArray[np.int32]) -> NDArray[np.int64]:
        """Of documents those that are not the article itself, or a copy."""
        there = documents[documents >= 0]
        there = there[self.index.cosines(ids, there) < SAME]
        names = [self.shelf.articles[place] != article.id for place in there.tolist()]
        return np.asarray(there[np.array(names, dtype=bool)], dtype=np.int64)

    def _suggest(self, article: Article, place: int, similar: NDArray[np.int64], queries: Any, k: int) -> Suggestions:
        shelf = self.shelf
        spans = [np.arange(shelf.starts[document], shelf.starts[document + 1]) for document in similar.tolist()]
        places = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
        if not len(places):
            return Suggestions(article.id, ())
        owners = np.repeat(similar, [len(span) for span in spans])
        scores = self.ranker.kept(queries, place, places)
        texts = [shelf.texts[comment] for comment in places.tolist()]
        languages = [shelf.languages[owner] or None for owner in owners.tolist()]
        sifted = self.screen.sift(texts, scores, k=k, keys=places.tolist(), languages=languages, language=article.lang)

        def source(position: int) -> Source:
            return Source(shelf.articles[int(owners[position])], shelf.ids[int(places[position])])

        suggestions = tuple(
            Suggestion(
                texts[one.position],
                float(scores[one.position]),
                rank,
                Provenance.retrieved(
                    self.model.kind, self.model.hash, [source(position) for position in (one.position, *one.merged)]
                ),
            )
            for rank, one in enumerate(sifted.kept, 1)
        )
        held = tuple(Held(texts[position], reason, source(position)) for position, reason in sifted.held)
        return Suggestions(article.id, suggestions, held)
