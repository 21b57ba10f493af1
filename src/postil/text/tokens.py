"""Vocabularies, texts as ragged arrays of token ids, and their units: n-grams and skip-grams, counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from postil.errors import InvalidInput, UsageError
from postil.kernel import Interner, count_terms, count_units
from postil.text.han import CANNOT_SPLIT, advice_for, spaceless_script
from postil.text.stems import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.text.tokenizers import Tokenizer

__all__ = ["Ragged", "Tokens", "Units", "Vocabulary", "ngram_units", "ranges"]


def ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ranges: ``begins[i], begins[i] + 1, …``, int64[sum of lengths].

    Args:
        begins: First number of each range, int64[n].
        lengths: Length of each range, int64[n].

    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(begins - before, lengths))


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """A ragged batch of n texts.

    Args:
        ids: int32[T], the token ids of all texts, concatenated.
        offsets: int64[n + 1]; text i is ``ids[offsets[i]:offsets[i + 1]]``.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, int64[n]."""
        return np.diff(self.offsets)

    def take(self, texts: NDArray[np.int64]) -> Self:
        """Some texts of the batch, in any order and any number of times.

        Args:
            texts: int64[k], their indices.

        >>> Ragged(np.array([0, 1, 2], np.int32), np.array([0, 2, 3])).take(np.array([1, 0, 1])).ids.tolist()
        [2, 0, 1, 2]
        """
        begins = self.offsets[texts]
        lengths = self.offsets[texts + 1] - begins  # not of all texts, of which a model may have millions
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return replace(self, ids=self.ids[ranges(begins, lengths)], offsets=offsets)

    @classmethod
    def concatenate(cls, batches: Sequence[Ragged]) -> Ragged:
        """Append batches to one another.

        Args:
            batches: At least one.
        """
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([each.lengths for each in batches]))])
        return Ragged(np.concatenate([each.ids for each in batches]), offsets.astype(np.int64))

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Count tokens: offsets of the texts, their distinct tokens, ascending, and how often each occurs."""
        return count_terms(np.ascontiguousarray(self.ids), np.ascontiguousarray(self.offsets))


@dataclass(frozen=True, eq=False, slots=True)
class Tokens(Ragged):
    """A ragged batch of n texts, with the vocabulary of its ids.

    Args:
        vocabulary: The vocabulary of the ids.
        texts: The n texts before tokenization, of a list of tokens its tokens joined by spaces; kept only if asked for.
        tokenizer: The tokenizer; None for lists of tokens.
    """

    vocabulary: Vocabulary
    texts: Sequence[str] | None = None
    tokenizer: Tokenizer | None = None
    splits: dict[str, Tokens] = field(default_factory=dict, init=False, repr=False)
    """The texts by other tokenizers, by name; see `split_by`."""

    def split_by(self, tokenizer: Tokenizer, base: Vocabulary | None = None, jobs: int = 1) -> Tokens:
        """The texts by another tokenizer; split once for each. Lists of tokens stay what they are.

        Args:
            tokenizer: The tokenizer.
            base: Vocabulary of its tokens, of which they get a branch; by default a new one.
            jobs: Number of threads; the result does not depend on it.

        Raises:
            UsageError: The texts were not kept beside their tokens.
        """
        known = self.splits.get(tokenizer.name)
        if known is None or (base is not None and not known.vocabulary.begins_as(base)):
            into = Vocabulary() if base is None else base.branch()
            if self.tokenizer is None:
                words, bounds = self.vocabulary.words(), pairwise(self.offsets.tolist())
                lists = [[words[i] for i in self.ids[begin:end].tolist()] for begin, end in bounds]
                known = replace(into.encode_tokens(lists), texts=self.texts)
            elif self.texts is None:
                raise UsageError("the metric reads texts, not tokens; encode them with keep_texts=True")
            else:
                known = into.encode(self.texts, tokenizer, jobs, allow_han=True, keep_texts=True)
            self.splits[tokenizer.name] = known
        return known

    def truncated(self, longest: NDArray[np.int64]) -> Tokens:
        """The first tokens of each text.

        Args:
            longest: Largest number of tokens of each text, int64[n].

        >>> Vocabulary().encode_tokens([["to", "be", "or"], ["not"]]).truncated(np.array([2, 2])).lengths.tolist()
        [2, 1]
        """
        kept = np.arange(len(self.ids)) - np.repeat(self.offsets[:-1], self.lengths) < np.repeat(longest, self.lengths)
        offsets = np.concatenate([[0], np.cumsum(np.minimum(self.lengths, longest))])
        return Tokens(self.ids[kept], offsets, self.vocabulary)

    def take(self, texts: NDArray[np.int64]) -> Self:
        """See `Ragged.take`."""
        kept = None if self.texts is None else [self.texts[i] for i in texts.tolist()]
        return replace(Ragged.take(self, texts), texts=kept)

    def raw_texts(self) -> Sequence[str]:
        """The texts before tokenization; where they were not kept, and of lists of tokens, the tokens joined by spaces.

        >>> Vocabulary().encode_tokens([["to", "be"], []]).raw_texts()
        ['to be', '']
        """
        if self.texts is not None:
            return self.texts
        known, bounds = self.vocabulary.words(), pairwise(self.offsets.tolist())
        return [" ".join(known[i] for i in self.ids[begin:end].tolist()) for begin, end in bounds]

    def stemmed(self, algorithm: str) -> Tokens:
        """The texts with the id of each word's stem in its place.

        Args:
            algorithm: A name of `postil.text.stems.STEMMERS`.
        """
        return replace(self, ids=self.vocabulary.stem_ids(algorithm)[self.ids])

    def words(self, text: int) -> list[str]:
        """Tokens of one text as words.

        >>> from postil.text.tokenizers import tokenizer
        >>> Vocabulary().encode(["A rose is a rose."], tokenizer("words")).words(0)
        ['a', 'rose', 'is', 'a', 'rose']
        """
        known = self.vocabulary.words()
        return [known[i] for i in self.ids[self.offsets[text] : self.offsets[text + 1]]]


@dataclass(frozen=True, eq=False, slots=True)
class _StemIds:
    """Stem ids of the first words of a vocabulary; equal stems have equal ids."""

    interner: Interner = field(default_factory=Interner)
    ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


class Vocabulary:
    """Token ids in the order of first occurrence: the same texts in the same order give the same ids.

    A *branch* starts as a copy of its base and appends its own words. Each batch of candidates is encoded with a branch
    of its own, so that references keep their ids and a stream of candidates of any length takes bounded memory. A base
    with branches is frozen.

    >>> from postil.text.tokenizers import tokenizer
    >>> base = Vocabulary()
    >>> base.encode(["to be or not to be"], tokenizer("words")).ids.tolist()
    [0, 1, 2, 3, 0, 1]
    >>> base.branch().encode(["not so"], tokenizer("words")).ids.tolist(), len(base)
    ([3, 4], 4)
    """

    def __init__(self, base: Vocabulary | None = None) -> None:
        self._base = base
        # A new vocabulary is empty and so false: compare with None.
        self._interner: Interner = Interner() if base is None else base._interner.branch()  # noqa: SLF001 - its own class
        self._stems: dict[str, _StemIds] = {}

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """Make the vocabulary in which the id of each word is its place.

        Args:
            words: The words, each once.
        """
        known = cls()
        known.encode_tokens([words])
        return known

    def __len__(self) -> int:
        return len(self._interner)

    def branch(self) -> Vocabulary:
        """Make a vocabulary that starts with the words of this one, which is frozen from then on.

        Raises:
            ValueError: This is a branch itself.
        """
        if self._base is not None:
            raise ValueError("a branch of a vocabulary has no branches of its own")
        return Vocabulary(self)

    def begins_as(self, other: Vocabulary) -> bool:
        """True if this is that vocabulary or a branch of it."""
        return self is other or self._base is other

    def words(self, start: int = 0) -> list[str]:
        """Words from id ``start`` on, in the order of their ids."""
        return self._interner.words(start)

    def flags(self, lowered: frozenset[str], start: int = 0) -> NDArray[np.uint8]:
        """Flags of the words whose lower-case form is in a set, uint8[words - start].

        Args:
            lowered: Words in lower case.
            start: Id of the first word.

        >>> from postil.text.tokenizers import tokenizer
        >>> vocabulary = Vocabulary()
        >>> _ = vocabulary.encode(["The cat"], tokenizer("space"))
        >>> vocabulary.flags(frozenset({"the", "a"})).tolist()
        [1, 0]
        """
        return self._interner.flags(lowered, start)

    def encode(
        self,
        texts: Sequence[str],
        tokenizer: Tokenizer,
        jobs: int = 1,
        *,
        allow_han: bool = False,
        keep_texts: bool = False,
    ) -> Tokens:
        """Tokenize texts and assign token ids; new words are added.

        Args:
            texts: n texts.
            tokenizer: The tokenizer.
            jobs: Number of threads; the result does not depend on it.
            allow_han: True if ``words`` may split texts in scripts without spaces, at their spaces and punctuation.
            keep_texts: True to keep the texts beside the ids, for what reads more than tokens.

        Returns:
            Tokens of n texts.

        Raises:
            InvalidInput: A text is in a script without spaces, the tokenizer is ``words`` and that is not allowed;
                ``line`` counts the texts from 1.
            TypeError: Something is not a str.
            ValueError: This vocabulary has branches.
        """
        if tokenizer.native is None:
            for index, text in enumerate(texts):
                if not isinstance(text, str):
                    raise TypeError(f"text {index}: expected str, got {type(text).__name__}")
            tokens = self.encode_tokens(tokenizer.split_all(texts))
            return replace(tokens, texts=list(texts) if keep_texts else None, tokenizer=tokenizer)
        ids, offsets, han = self._interner.encode(texts, tokenizer.native, jobs)
        if han >= 0 and not allow_han:
            script = spaceless_script(texts[han])
            problem = f"{script} {CANNOT_SPLIT}; expected another tokenizer: {advice_for(script)}"
            raise InvalidInput(problem, where="texts", line=han + 1)
        return Tokens(ids, offsets, self, list(texts) if keep_texts else None, tokenizer)

    def encode_tokens(self, token_lists: Sequence[Sequence[str]], *, keep_texts: bool = False) -> Tokens:
        """Assign token ids to texts that are lists of tokens; new words are added.

        Args:
            token_lists: n lists of tokens.
            keep_texts: True to keep the tokens of each text joined by spaces, for what reads more than tokens.

        Raises:
            TypeError: A token is not a str.
            ValueError: This vocabulary has branches.

        >>> Vocabulary().encode_tokens([["to", "be"], [], ["be"]]).offsets.tolist()
        [0, 2, 2, 3]
        """
        ids, offsets = self._interner.encode_tokens(token_lists)
        return Tokens(ids, offsets, self, [" ".join(tokens) for tokens in token_lists] if keep_texts else None)

    def stem_ids(self, algorithm: str = "english") -> NDArray[np.int32]:
        """Stem id of each word, int32[words]; words with the same stem have the same id.

        Each word is stemmed once and cached.

        >>> from postil.text.tokenizers import tokenizer
        >>> vocabulary = Vocabulary()
        >>> _ = vocabulary.encode(["runs run ran"], tokenizer("words"))
        >>> vocabulary.stem_ids().tolist()
        [0, 0, 1]
        """
        known = self._stems.get(algorithm)
        if known is None:
            if self._base is None:
                known = _StemIds()
            else:
                ids = self._base.stem_ids(algorithm)
                known = _StemIds(self._base._stems[algorithm].interner.branch(), ids)  # noqa: SLF001 - its own class
        if len(known.ids) < len(self):
            new, _ = known.interner.encode_tokens([stems(self.words(len(known.ids)), algorithm)])
            known = _StemIds(known.interner, np.concatenate([known.ids, new]))
        self._stems[algorithm] = known
        return known.ids


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """Distinct units of each of n texts with their counts, as a compressed sparse row (CSR) matrix.

    Args:
        grams: int32[U, size], word ids of each of the U distinct units, in order of first occurrence.
        offsets: int64[n + 1]; text i has the entries ``offsets[i]:offsets[i + 1]``.
        units: int32[E], the unit of each entry, in order of first occurrence in its text.
        counts: int32[E], its count in the text.
    """

    grams: NDArray[np.int32]
    offsets: NDArray[np.int64]
    units: NDArray[np.int32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def distinct(self) -> int:
        """Number of distinct units of all texts."""
        return len(self.grams)

    @property
    def types(self) -> NDArray[np.int64]:
        """Number of distinct units of each text, int64[n]."""
        return np.diff(self.offsets)

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of units of each text, with repeats, int64[n]."""
        sums = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return np.diff(sums[self.offsets])


def ngram_units(tokens: Tokens, n: int = 1, gap: int = 0, *, up_to: bool = False) -> Units:
    """Count the n-grams of each text.

    Args:
        tokens: n texts.
        n: Number of words of a unit, 1 to 9.
        gap: Number of words skipped between two words of a unit: ``n=2, gap=1`` are the pairs (t[i], t[i + 2]).
        up_to: True to skip fewer words as well: (t[i], t[i + 1]) too.

    Returns:
        Units; they never cross texts.

    >>> from postil.text.tokenizers import tokenizer
    >>> from postil.text.tokens import Vocabulary
    >>> units = ngram_units(Vocabulary().encode(["a b a b", "b a"], tokenizer("space")), n=2)
    >>> units.grams.tolist(), units.offsets.tolist(), units.units.tolist(), units.counts.tolist()
    ([[0, 1], [1, 0]], [0, 2, 3], [0, 1, 1], [2, 1, 1])
    """
    return Units(*count_units(tokens.ids, tokens.offsets, n, gap, up_to))
