"""Seq2seq, Att and Att-TC: commenters that generate.

Paper: Automatic Article Commenting (ACL 2018), section 5 and supplement C.1. An encoder reads the title (Seq2seq, Att)
or title and content (Att-TC), an autoregressive decoder generates a comment, with attention (Att, Att-TC) or without.
Every suggestion names the training comment that it overlaps most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.comments.nn.batches import concatenate_texts
from postil.comments.nn.token_ids import SPECIAL
from postil.comments.options import DecodingOptions
from postil.comments.text_arrays import SpanIndex, StringArray
from postil.corpus.forgotten import is_placeholder
from postil.data.arrays import WHOLE, AnyArray, Expected
from postil.data.explain import shown
from postil.data.model_folders import Model, ModelWriter
from postil.data.suggestions import Filtered, Overlap, Provenance, Source, Suggestion, Suggestions
from postil.errors import InvalidInput, UsageError, needs
from postil.screening.filtering import CandidateFilter, RepeatLimit
from postil.text.tokenizers import is_han_text, stored_tokenizer
from postil.text.tokens import Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from postil.comments.nn.decoding import Hypothesis
    from postil.comments.nn.generator import Generator
    from postil.corpus.store import Field
    from postil.data.rows import Article
    from postil.data.streams import FilePath

__all__ = ["ATTENTION", "KINDS", "READS", "CopyIndex", "NeuralCommenter", "detokenize", "save_generator"]

KINDS: Final = ("seq2seq", "att", "att-tc")
READS: Final[Mapping[str, tuple[Field, ...]]] = {
    "title": ("title",),
    "content": ("content",),
    "both": ("title", "content"),
    "comments": ("comments",),
}
"""The parts of an article behind each value of ``reads``."""
ATTENTION: Final[Mapping[str, Literal["general", "none"]]] = {"seq2seq": "none", "att": "general", "att-tc": "general"}
"""Default attention of each kind; see `postil.comments.nn.recurrent`."""


@dataclass(frozen=True, eq=False)
class CopyIndex:
    """The training comments, for copy detection.

    Args:
        spans: Index of their word sequences.
        articles: Ids of the training articles.
        starts: int64[articles + 1], the index of each article's first comment.
        ids: Ids of the comments.
    """

    spans: SpanIndex
    articles: StringArray
    starts: NDArray[np.int64]
    ids: StringArray

    def source(self, comment: int) -> Source:
        """Source of a comment.

        Args:
            comment: Its index.
        """
        return Source(self.articles[int(self.owner(comment))], self.ids[comment])

    def owner(self, comments: ArrayLike) -> NDArray[np.int64]:
        """Indices of the articles of comments.

        Args:
            comments: The indices of the comments.
        """
        return np.asarray(np.searchsorted(self.starts, comments, side="right") - 1, np.int64)

    def arrays(self) -> dict[str, AnyArray]:
        """Arrays that a model folder keeps, by name."""
        found: dict[str, AnyArray] = {
            "comments/words": self.spans.ids,
            "comments/order": self.spans.order,
            "comments/starts": np.asarray(self.starts),
        }
        for name, strings in (("articles", self.articles), ("ids", self.ids)):
            found |= {f"comments/{name}.data": strings.data, f"comments/{name}.offsets": strings.offsets}
        return found

    def take(self, articles: NDArray[np.int64], comments: NDArray[np.int64]) -> CopyIndex:
        """The index of some of the articles and comments.

        Args:
            articles: int64[n], indices of articles, ascending.
            comments: int64[m], indices of comments of these articles, ascending.
        """
        owners = np.searchsorted(articles, self.owner(comments))
        starts = np.append(0, np.cumsum(np.bincount(owners, minlength=len(articles)))).astype(np.int64)
        return CopyIndex(self.spans.take(comments), self.articles.take(articles), starts, self.ids.take(comments))


def save_generator(new: ModelWriter, words: Sequence[str], copy_index: CopyIndex) -> None:
    """Write a generator into a model folder, apart from its network.

    Args:
        new: The folder in the making.
        words: The vocabulary, by id.
        copy_index: The training comments.
    """
    new.words(words)
    for name, values in copy_index.arrays().items():
        new.array(name, values)


@dataclass(frozen=True, eq=False)
class NeuralCommenter:
    """A commenter that generates; `open` it.

    Args:
        model: Its folder.
        candidate_filter: Filter of suggestions.
        decoding: Decoding options.
        device: ``cpu`` or ``cuda``.
    """

    model: Model
    candidate_filter: CandidateFilter = field(default_factory=CandidateFilter)
    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    device: str = "cpu"

    @classmethod
    def open(
        cls,
        folder: FilePath,
        *,
        candidate_filter: CandidateFilter | None = None,
        decoding: DecodingOptions | None = None,
        device: str = "cpu",
    ) -> NeuralCommenter:
        """Open a generator.

        Args:
            folder: The folder that ``postil train seq2seq``, ``att`` or ``att-tc`` made.
            candidate_filter: Filter of suggestions.
            decoding: Decoding options.
            device: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: torch is not installed.
        """
        opened = cls(
            Model.open(folder, KINDS), candidate_filter or CandidateFilter(), decoding or DecodingOptions(), device
        )
        _, wanted = opened.parts, opened.generator.network.words.num_embeddings - SPECIAL
        if len(opened.words) < wanted:
            problem = f"expected {wanted:,} words or more, as in the network, got {len(opened.words):,}; {WHOLE}"
            raise InvalidInput(problem, where=str(opened.model.file("words.txt")))
        return opened

    def comment(self, articles: Sequence[Article], k: int, *, repeats: RepeatLimit | None = None) -> list[Suggestions]:
        """Generate comments.

        Args:
            articles: The articles.
            k: Maximum number of suggestions per article.
            repeats: The repeat limit of a run that these articles go on with; by default they are a run.

        Returns:
            The suggestions for each article, with `Hypothesis.score` as their score; none for an article without
            `has_input`.

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
        read = self._read(articles)
        some = read.lengths > 0  # [articles]
        # An article without words contributes nothing to `ids`, so dropping its offset leaves the others intact.
        written = iter(self.generator.generate(Ragged(read.ids, read.offsets[np.append(some, True)]), k, self.decoding))
        repeats = self.candidate_filter.repeats() if repeats is None else repeats
        return [
            self._suggest(article, next(written), k, repeats) if there else Suggestions(article.id, ())
            for article, there in zip(articles, some.tolist(), strict=True)
        ]

    @property
    def kind(self) -> str:
        """The kind of the model, such as ``att``."""
        return self.model.kind

    @property
    def parts(self) -> tuple[str, ...]:
        """Fields of an article that the encoder reads."""
        reads = self.model.setting("reads", str)
        if reads not in READS:
            problem = f"expected {', '.join(READS)}, got {shown(reads)}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.model.path / "config.json"), field="reads")
        return READS[reads]

    def has_input(self, article: Article) -> bool:
        """True if `parts` of an article contain a word, which may be out of vocabulary.

        Args:
            article: The article.
        """
        return bool(len(self._read([article]).ids))

    @cached_property
    def generator(self) -> Generator:
        """The network."""
        with needs(f"the model {self.model.kind}", "neural"):
            from postil.comments.nn.generator import Generator  # noqa: PLC0415 - it needs torch
        return Generator.open(self.model.path / "generator", self.device)

    @cached_property
    def copy_index(self) -> CopyIndex:
        """The training comments."""
        array = self.model.array
        spans, articles = SpanIndex.open(array, "comments"), StringArray.open(array, "comments/articles")
        starts = array("comments/starts", Expected("int64", (len(articles) + 1,), end=len(spans)))
        return CopyIndex(spans, articles, np.asarray(starts), StringArray.open(array, "comments/ids", len(spans)))

    @cached_property
    def words(self) -> list[str]:
        """The vocabulary, by id."""
        return self.model.words()

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.of(self.words)

    def _read(self, articles: Sequence[Article]) -> Ragged:
        """Token ids of articles; out-of-vocabulary words have the highest id."""
        if (most := self._content_words) is None:
            return self._encode(["\n".join(_text_of(article, part) for part in self.parts) for article in articles])
        titles, contents = (self._encode([_text_of(article, part) for article in articles]) for part in self.parts)
        return concatenate_texts(titles, contents, most)

    @property
    def _content_words(self) -> int | None:
        """Number of words of a content that are read; None for no limit but the network's."""
        if "content_words" not in self.model.config:
            return None
        most = self.model.setting("content_words", int)
        if most < 1 or self.parts != READS["both"]:
            problem = f"expected at least 1, for a model that reads titles and contents, got {most}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.model.path / "config.json"), field="content_words")
        return most

    def _encode(self, texts: list[str]) -> Ragged:
        split = stored_tokenizer(self.model.setting("tokenizer", str))
        tokens = self._vocabulary.branch().encode(texts, split, allow_han=True)
        return Ragged(np.where(tokens.ids < len(self.words), tokens.ids, np.int32(2**31 - 1)), tokens.offsets)

    def _suggest(self, article: Article, written: Sequence[Hypothesis], k: int, repeats: RepeatLimit) -> Suggestions:
        ids = [[word - SPECIAL for word in text.tokens] for text in written]
        tokenizer_name = self.model.setting("tokenizer", str)
        texts = [detokenize([self.words[word] for word in some], tokenizer_name) for some in ids]
        forgotten = {
            place: "has a word that was forgotten"
            for place, some in enumerate(ids)
            if any(is_placeholder(self.words[word]) for word in some)
        }
        scores = [text.score for text in written]
        result = self.candidate_filter.apply(texts, scores, k=k, reasons=forgotten, repeats=repeats)
        suggestions = tuple(
            Suggestion(
                texts[one.position],
                written[one.position].score,
                rank,
                Provenance.generated(self.model.kind, self.model.hash, self._overlap(ids[one.position])),
            )
            for rank, one in enumerate(result.accepted, 1)
        )
        repeats.add(one.text for one in suggestions)
        filtered = tuple(Filtered(texts[position], reason) for position, reason in result.filtered)
        return Suggestions(article.id, suggestions, filtered, result.nothing)

    def _overlap(self, ids: list[int]) -> Overlap | None:
        span = self.copy_index.spans.longest(ids)
        if span is None:
            return None
        words = [self.words[word] for word in ids[span.begin : span.begin + span.words]]
        text = detokenize(words, self.model.setting("tokenizer", str))
        return Overlap(text, span.words, self.copy_index.source(span.text))


def _text_of(article: Article, part: str) -> str:
    """A part of an article; all its comments are one text, in their order."""
    if part == "comments":
        return "\n".join(comment.text for comment in article.comments)
    text: str | None = getattr(article, part)
    return text or ""


_CLITIC: Final = re.compile(r"(?<=[a-z]) (?=(?:s|re|ve|ll|d|m)\b)|(?<=n) (?=t\b)")
_BEFORE: Final = re.compile(r" (?=[,.;:!?)\]}%…])|(?<=[(\[{]) ")
_HAN: Final = re.compile(r"(?<=[^\x00-\u2e7f]) | (?=[^\x00-\u2e7f])")


def detokenize(words: Sequence[str], tokenizer_name: str) -> str:
    """Join tokens into readable text.

    Spaces are removed where none belong, and apostrophes and capitals that the tokenizer ``words`` removed are restored
    where that is certain. Tokenizing the result gives the same words.

    Args:
        words: The tokens.
        tokenizer_name: The name of their tokenizer.

    >>> detokenize(["i", "don", "t", "know"], "words"), detokenize(["你", "知道", "吗", "？"], "rjieba")
    ("I don't know", '你知道吗？')
    """
    plain = " ".join(words)
    text = plain
    if tokenizer_name in {"words", "words-2"}:
        text = re.sub(r"\bi\b", "I", _CLITIC.sub("'", plain))
        text = text[:1].upper() + text[1:]
    elif tokenizer_name != "space":
        text = _BEFORE.sub("", plain)
    if is_han_text(text):
        text = _HAN.sub("", text)
    return text if stored_tokenizer(tokenizer_name).split(text) == list(words) else plain
