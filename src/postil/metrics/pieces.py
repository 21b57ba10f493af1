"""Texts in other pieces than tokens: characters, words without their punctuation marks, sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.kernel import overlap
from postil.text.tokenizers import native_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.kernel import Overlap
    from postil.text.tokenizers import Native
    from postil.text.tokens import Tokens, Vocabulary

__all__ = ["Characters", "Cut", "MarkedWords", "PieceMatches", "Pieces", "Sentences"]

MOST: Final = 1 << 22
"""Approximate number of pieces of references that are matched at a time, which bounds memory (32 MiB)."""


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Texts in pieces.

    Args:
        tokens: The pieces as token ids.
        sentences: int64[s + 1], offsets of sentences in all pieces; those of the texts where no sentences are cut.
    """

    tokens: Tokens
    sentences: NDArray[np.int64]

    def part(self, begin: int, end: int) -> Pieces:
        """Some texts in a row.

        Args:
            begin: Index of the first.
            end: Index after the last.
        """
        tokens = self.tokens
        first, last = (int(tokens.offsets[i]) for i in (begin, end))
        inside = slice(*np.searchsorted(self.sentences, [first, last + 1]))
        offsets = tokens.offsets[begin : end + 1] - first
        return Pieces(replace(tokens, ids=tokens.ids[first:last], offsets=offsets), self.sentences[inside] - first)


@dataclass(frozen=True, slots=True)
class Cut(ABC):
    """A way to cut texts into pieces, as a value."""

    @abstractmethod
    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """Cut texts.

        Args:
            tokens: The texts.
            vocabulary: Vocabulary of the pieces; new ones are added.
            jobs: Number of threads; the result does not depend on it.

        Raises:
            UsageError: The texts were not kept beside their tokens.
        """


@dataclass(frozen=True, slots=True)
class Characters(Cut):
    """Characters of the texts themselves.

    Args:
        lowercase: True for those of the lower-cased text.
        whitespace: True to keep white space.

    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode_tokens([["A", "b"]], keep_texts=True)
    >>> Characters(whitespace=True)(texts, Vocabulary(), 1).tokens.words(0)
    ['A', ' ', 'b']
    """

    lowercase: bool = False
    whitespace: bool = False

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        native: Native = "every-character" if self.whitespace else "characters"
        return _split(_lowered(tokens, lowercase=self.lowercase), native, vocabulary, jobs)


@dataclass(frozen=True, slots=True)
class MarkedWords(Cut):
    """Words between white space; a punctuation mark at the end of one, else at its begin, is a word of its own.

    Args:
        lowercase: True for those of the lower-cased text.
    """

    lowercase: bool = False

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        return _split(_lowered(tokens, lowercase=self.lowercase), "marks", vocabulary, jobs)


@dataclass(frozen=True, slots=True)
class Sentences(Cut):
    r"""Words of the lines of a text; a list of tokens is one sentence.

    Args:
        stem: Name of a stemmer for the words, or empty.

    >>> from postil.text.tokenizers import tokenizer
    >>> from postil.text.tokens import Vocabulary
    >>> texts = Vocabulary().encode(["A b.\n\nC!", "d"], tokenizer("words"), keep_texts=True)
    >>> pieces = Sentences()(texts, Vocabulary(), 1)
    >>> pieces.tokens.offsets.tolist(), pieces.sentences.tolist()
    ([0, 3, 4], [0, 2, 3, 4])
    """

    stem: str = ""

    def __call__(self, tokens: Tokens, vocabulary: Vocabulary, jobs: int) -> Pieces:
        """See `Cut`."""
        if tokens.tokenizer is None:
            again = vocabulary.encode_tokens([tokens.words(i) for i in range(len(tokens))])
            sentences = again.offsets
        else:
            lines = [[line for line in text.split("\n") if line] for text in _texts(tokens)]
            parts = vocabulary.encode([line for text in lines for line in text], tokens.tokenizer, jobs, allow_han=True)
            sentences = parts.offsets
            again = replace(parts, offsets=sentences[np.cumsum([0, *map(len, lines)])])
        return Pieces(again.stemmed(self.stem) if self.stem else again, sentences)


def _texts(tokens: Tokens) -> Sequence[str]:
    if tokens.texts is None:
        raise UsageError("the metric reads texts, not tokens; encode them with keep_texts=True")
    return tokens.texts


def _lowered(tokens: Tokens, *, lowercase: bool) -> Sequence[str]:
    texts = _texts(tokens)
    return [text.lower() for text in texts] if lowercase else texts


def _split(texts: Sequence[str], native: Native, vocabulary: Vocabulary, jobs: int) -> Pieces:
    tokens = vocabulary.encode(texts, native_tokenizer(native), jobs)
    return Pieces(tokens, tokens.offsets)


@dataclass(frozen=True, eq=False, slots=True)
class PieceMatches:
    """Candidates and their references in pieces.

    Args:
        candidates: n texts.
        references: m texts, set after set.
        sets: int32[n], the set of references of each candidate.
        set_offsets: int64[k + 1]; set s is the references ``set_offsets[s]:set_offsets[s + 1]``.
        jobs: Number of threads.
    """

    candidates: Pieces
    references: Pieces
    sets: NDArray[np.int32]
    set_offsets: NDArray[np.int64]
    jobs: int

    def count(
        self, count: Callable[[Overlap, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """Counts of all pairs of candidate and reference, int64[pairs, c], from some candidates at a time.

        Args:
            count: Function from an overlap, and the offsets of the sentences of its candidates and of its references,
                to counts of its pairs.
        """
        parts = []
        for begin, end in self._blocks():
            sets = self.sets[begin:end]
            first, last = (int(sets.min()), int(sets.max()) + 1) if len(sets) else (0, 0)
            inside = self.set_offsets[first : last + 1]
            own, theirs = self.candidates.part(begin, end), self.references.part(int(inside[0]), int(inside[-1]))
            part = overlap(
                own.tokens.ids,
                own.tokens.offsets,
                sets - np.int32(first),
                theirs.tokens.ids,
                theirs.tokens.offsets,
                inside - inside[0],
                self.jobs,
            )
            parts.append(count(part, own.sentences, theirs.sentences))
        return np.concatenate(parts)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Ranges of candidates whose references have about `MOST` pieces; at least one range, if an empty one."""
        of_set = np.diff(self.references.tokens.offsets[self.set_offsets])
        work = np.concatenate([[0], np.cumsum(of_set[self.sets])])
        begin, last = 0, len(self.sets)
        while begin < last or begin == 0:
            end = max(begin + 1, int(np.searchsorted(work, work[begin] + MOST, side="right")) - 1)
            yield begin, min(end, last)
            begin = end
