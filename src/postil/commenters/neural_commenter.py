"""Seq2seq, Att and Att-TC: comments that a network writes.

Paper: Automatic Article Commenting (ACL 2018), section 5 and supplement C.1. An encoder reads the title (Seq2seq, Att)
or title and content (Att-TC), a decoder writes a comment word by word, with attention (Att, Att-TC) or without. What is
suggested says with which training comment it shares most.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from postil.arrays import WHOLE, Expected
from postil.commenters.base import Copied, Held, Provenance, Source, Suggestion, Suggestions
from postil.commenters.copying import Runs
from postil.commenters.filtering import Screen
from postil.commenters.nn.batches import SPECIAL, Ragged
from postil.commenters.store import Model, ModelWriter
from postil.commenters.string_array import Strings
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.records.arguments import check_fields
from postil.records.explain import shown
from postil.text.tokenizers import is_han_text, tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.commenters.nn.generator import Generator, Written
    from postil.records.row_files import FilePath
    from postil.records.rows import Article

__all__ = ["ATTENTION", "KINDS", "READS", "DecodingOptions", "NeuralCommenter", "Trove", "said", "save_generator"]

KINDS: Final = ("seq2seq", "att", "att-tc")
READS: Final = {"title": ("title",), "content": ("content",), "both": ("title", "content")}
ATTENTION: Final = {"seq2seq": "none", "att": "dot", "att-tc": "dot"}
"""The default attention of each kind; ``dot`` is Luong's *general*, see `postil.commenters.nn.attention`."""


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """How comments are written.

    Args:
        how: ``beam``: the text with the highest score (see ``length``) that a beam search finds, which need not be
            the most probable one; ``greedy``: always the most probable word; ``nucleus``: each word drawn from the
            most probable ones (Holtzman et al. 2020).
        beam: How many beginnings a beam search keeps.
        length: A text is scored by log P / n to this power, n being the number of its words and of the token that
            ends it. So 1 maximizes the mean of log P per token, and 0 log P itself, which favors short texts.
        nucleus: What share of probability is drawn from.
        temperature: Scores are divided by it before drawing; low is careful.
        repeats: No run of so many words comes twice in a text; 0 allows it.
        shortest: Words a text has at least.
        longest: Words it has at most.
        seed: Decides what is drawn.
    """

    how: Literal["beam", "greedy", "nucleus"] = "beam"
    beam: int = 5
    length: float = 1.0
    nucleus: float = 0.9
    temperature: float = 1.0
    repeats: int = 3
    shortest: int = 3
    longest: int = 50
    seed: int = 20181

    def __post_init__(self) -> None:
        check_fields(self)
        if self.how not in ("beam", "greedy", "nucleus"):
            raise UsageError(f"how: expected beam, greedy or nucleus, got {self.how}")
        if self.seed < 0:
            raise UsageError(f"seed: expected at least 0, got {self.seed}")
        if self.beam < 1 or self.repeats < 0 or not 1 <= self.shortest <= self.longest:
            raise UsageError("expected a beam from 1, repeats from 0, and shortest from 1 to longest")
        if not (0 <= self.length < math.inf and 0 < self.nucleus <= 1 and 0 < self.temperature < math.inf):
            raise UsageError("expected length from 0, nucleus above 0 to 1, and a temperature above 0")

    @property
    def width(self) -> int:
        """Beginnings that are kept of each text."""
        return self.beam if self.how == "beam" else 1


@dataclass(frozen=True, eq=False)
class Trove:
    """The comments that a generator was trained on, to tell what it copies.

    Args:
        runs: Their runs of words.
        articles: Ids of the training articles.
        starts: int64[articles + 1], where the comments of each begin.
        ids: Ids of the comments.
    """

    runs: Runs
    articles: Strings
    starts: NDArray[np.int64]
    ids: Strings

    def source(self, comment: int) -> Source:
        """Where a comment stood.

        Args:
            comment: Which.
        """
        article = int(np.searchsorted(self.starts, comment, side="right")) - 1
        return Source(self.articles[article], self.ids[comment])


def save_generator(new: ModelWriter, words: Sequence[str], trove: Trove) -> None:
    """Write a generator into a model folder; its network is written beside it by who trained it.

    Args:
        new: The folder in the making.
        words: The words, by id.
        trove: The training comments.
    """
    new.words(words)
    new.array("comments/words", trove.runs.ids)
    new.array("comments/order", trove.runs.order)
    new.array("comments/starts", np.asarray(trove.starts))
    for name, strings in (("articles", trove.articles), ("ids", trove.ids)):
        new.array(f"comments/{name}.data", strings.data)
        new.array(f"comments/{name}.offsets", strings.offsets)


@dataclass(frozen=True, eq=False)
class NeuralCommenter:
    """A commenter that writes; `open` it.

    Args:
        model: Its folder.
        screen: What may be suggested.
        decoding: How comments are written.
        device: Where: ``cpu`` or ``cuda``.
    """

    model: Model
    screen: Screen = field(default_factory=Screen)
    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    device: str = "cpu"

    @classmethod
    def open(
        cls,
        folder: FilePath,
        *,
        screen: Screen | None = None,
        decoding: DecodingOptions | None = None,
        device: str = "cpu",
    ) -> NeuralCommenter:
        """Open a generator.

        Args:
            folder: The folder that ``postil train seq2seq``, ``att`` or ``att-tc`` made.
            screen: What may be suggested.
            decoding: How comments are written.
            device: Where: ``cpu`` or ``cuda``.

        Raises:
            InvalidInput: There is no such model, or it is damaged.
            MissingExtra: torch is not installed.
        """
        opened = cls(Model.open(folder, KINDS), screen or Screen(), decoding or DecodingOptions(), device)
        _, wanted = opened.parts, opened.generator.network.words.num_embeddings - SPECIAL
        if len(opened.words) < wanted:
            problem = f"expected {wanted:,} words or more, as in the network, got {len(opened.words):,}; {WHOLE}"
            raise InvalidInput(problem, where=str(opened.model.file("words.txt")))
        return opened

    @classmethod
    def load(cls, folder: FilePath) -> NeuralCommenter:
        """See `postil.commenters.base.Commenter`; `open` with the usual screen and decoding."""
        return cls.open(folder)

    def save(self, folder: FilePath) -> None:
        """Write the model to another folder.

        Args:
            folder: The folder to make.
        """
        self.model.copy(folder)

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Write comments.

        Args:
            articles: The articles.
            k: How many comments an article, at most.

        Returns:
            The suggestions for each article, with `Written.score` as their score; none for an article with `has_input`
            false.

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
        read = self._read(articles)
        some = np.diff(read.offsets) > 0  # [articles]
        # An article without words adds nothing to `ids`, so that the others only need its offset gone.
        written = iter(self.generator.write(Ragged(read.ids, read.offsets[np.append(some, True)]), k, self.decoding))
        return [
            self._suggest(article, next(written), k) if there else Suggestions(article.id, ())
            for article, there in zip(articles, some.tolist(), strict=True)
        ]

    @property
    def parts(self) -> tuple[str, ...]:
        """The fields of an article that are read."""
        reads = self.model.setting("reads", str)
        if reads not in READS:
            problem = f"expected {', '.join(READS)}, got {shown(reads)}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.model.path / "config.json"), field="reads")
        return READS[reads]

    def has_input(self, article: Article) -> bool:
        """True if what is read of an article has a word, which need not be a known one.

        Args:
            article: The article.
        """
        return bool(len(self._read([article]).ids))

    @cached_property
    def generator(self) -> Generator:
        """The network."""
        try:
            from postil.commenters.nn.generator import Generator  # noqa: PLC0415 - it needs torch
        except ImportError as error:
            raise MissingExtra(f"the model {self.model.kind}", "nn") from error
        return Generator.open(self.model.path / "generator", self.device)

    @cached_property
    def trove(self) -> Trove:
        """The comments that it was trained on."""
        array = self.model.array
        runs, articles = Runs.open(array, "comments"), Strings.open(array, "comments/articles")
        starts = array("comments/starts", Expected("int64", (len(articles) + 1,), end=len(runs)))
        return Trove(runs, articles, np.asarray(starts), Strings.open(array, "comments/ids", len(runs)))

    @cached_property
    def words(self) -> list[str]:
        """The words, by id."""
        return self.model.words()

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        known = Vocabulary()
        known.encode_tokens([self.words])
        return known

    def _read(self, articles: Sequence[Article]) -> Ragged:
        """Articles as numbers; words that the model does not know have higher ones."""
        cut = tokenizer(self.model.setting("tokenizer", str))
        texts = ["\n".join(getattr(article, part) or "" for part in self.parts) for article in articles]
        tokens = self._vocabulary.branch().encode(texts, cut, allow_han=True)
        return Ragged(np.where(tokens.ids < len(self.words), tokens.ids, np.int32(2**31 - 1)), tokens.offsets)

    def _suggest(self, article: Article, written: Sequence[Written], k: int) -> Suggestions:
        ids = [[word - SPECIAL for word in text.words] for text in written]
        cut = self.model.setting("tokenizer", str)
        texts = [said([self.words[word] for word in some], cut) for some in ids]
        sifted = self.screen.sift(texts, [text.score for text in written], k=k)
        suggestions = tuple(
            Suggestion(
                texts[one.position],
                written[one.position].score,
                rank,
                Provenance.generated(self.model.kind, self.model.hash, self._copied(ids[one.position])),
            )
            for rank, one in enumerate(sifted.kept, 1)
        )
        held = tuple(Held(texts[position], reason) for position, reason in sifted.held)
        return Suggestions(article.id, suggestions, held)

    def _copied(self, ids: list[int]) -> Copied | None:
        run = self.trove.runs.longest(ids)
        if run is None:
            return None
        words = [self.words[word] for word in ids[run.begin : run.begin + run.words]]
        return Copied(said(words, self.model.setting("tokenizer", str)), run.words, self.trove.source(run.text))


_CLITIC: Final = re.compile(r"(?<=[a-z]) (?=(?:s|re|ve|ll|d|m)\b)|(?<=n) (?=t\b)")
_BEFORE: Final = re.compile(r" (?=[,.;:!?)\]}%…])|(?<=[(\[{]) ")
_HAN: Final = re.compile(r"(?<=[^\x00-\u2e7f]) | (?=[^\x00-\u2e7f])")


def said(words: Sequence[str], cut: str) -> str:
    """Words as a text for people to read.

    Spaces are left out where none belong, and what the tokenizer ``words`` took away (apostrophes, capitals) is given
    back where that is certain. The tokenizer finds the same words in it.

    Args:
        words: The words.
        cut: The name of the tokenizer that they are from.

    >>> said(["i", "don", "t", "know"], "words"), said(["你", "知道", "吗", "？"], "rjieba")
    ("I don't know", '你知道吗？')
    """
    plain = " ".join(words)
    text = plain
    if cut == "words":
        text = re.sub(r"\bi\b", "I", _CLITIC.sub("'", plain))
        text = text[:1].upper() + text[1:]
    elif cut != "space":
        text = _BEFORE.sub("", plain)
    if is_han_text(text):
        text = _HAN.sub("", text)
    return text if tokenizer(cut).split(text) == list(words) else plain
