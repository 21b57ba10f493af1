"""Text becomes numbers once, at the door: a vocabulary and ragged ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import InvalidInput
from postil.kernel import Interner
from postil.text.han import ADVICE, CANNOT_SPLIT
from postil.text.stems import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.text.tokenizers import Tokenizer

__all__ = ["Tokens", "Vocabulary"]


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """A ragged batch of n texts.

    Args:
        ids: int32[T], the word ids of all texts behind one another.
        offsets: int64[n + 1]; text i is ``ids[offsets[i]:offsets[i + 1]]``.
        vocabulary: What the ids mean.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, int64[n]."""
        return np.diff(self.offsets)

    def words(self, text: int) -> list[str]:
        """The tokens of one text as words.

        >>> from postil.text import tokenizer
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
    """Token <-> id, in the order of first sight: the same texts in the same order give the same ids.

    A *branch* begins as its base and adds its own words behind. Candidates are encoded with branches, each for a while,
    so that references keep their ids and a stream of candidates of any length takes bounded memory. A base that has
    branches cannot grow.

    >>> from postil.text import tokenizer
    >>> base = Vocabulary()
    >>> base.encode(["to be or not to be"], tokenizer("words")).ids.tolist()
    [0, 1, 2, 3, 0, 1]
    >>> base.branch().encode(["not so"], tokenizer("words")).ids.tolist(), len(base)
    ([3, 4], 4)
    """

    def __init__(self, base: Vocabulary | None = None) -> None:
        self._base = base
        # A new vocabulary is empty and so false: ask for None.
        self._interner: Interner = Interner() if base is None else base._interner.branch()  # noqa: SLF001 - its own class
        self._stems: dict[str, _StemIds] = {}

    def __len__(self) -> int:
        return len(self._interner)

    def branch(self) -> Vocabulary:
        """A vocabulary that begins with the words of this one, which can no longer grow.

        Raises:
            ValueError: This is a branch itself.
        """
        if self._base is not None:
            raise ValueError("a branch of a vocabulary has no branches of its own")
        return Vocabulary(self)

    def begins_as(self, other: Vocabulary) -> bool:
        """Whether this is that vocabulary or a branch of it."""
        return self is other or self._base is other

    def words(self, start: int = 0) -> list[str]:
        """The words from id ``start`` on, in the order of their ids."""
        return self._interner.words(start)

    def flags(self, lowered: frozenset[str], start: int = 0) -> NDArray[np.uint8]:
        """Which words are in a set when they are lower-cased, uint8[words - start].

        Args:
            lowered: Words in lower case.
            start: The first word asked for.

        >>> from postil.text import tokenizer
        >>> vocabulary = Vocabulary()
        >>> _ = vocabulary.encode(["The cat"], tokenizer("space"))
        >>> vocabulary.flags(frozenset({"the", "a"})).tolist()
        [1, 0]
        """
        return self._interner.flags(lowered, start)

    def encode(self, texts: Sequence[str], tokenizer: Tokenizer, jobs: int = 1, *, allow_han: bool = False) -> Tokens:
        """Split and number texts; new words are added.

        Args:
            texts: n texts.
            tokenizer: How to split them.
            jobs: Threads; the result does not depend on it.
            allow_han: Whether ``words`` may cut Han texts, at their spaces and punctuation.

        Returns:
            Tokens of n texts.

        Raises:
            InvalidInput: A text is Han text, the tokenizer is ``words`` and that is not allowed; ``line`` counts the
                texts from 1.
            TypeError: Something is not a str.
            ValueError: This vocabulary has branches.
        """
        if tokenizer.native is None:
            for index, text in enumerate(texts):
                if not isinstance(text, str):
                    raise TypeError(f"text {index}: expected str, got {type(text).__name__}")
            return self.encode_tokens(tokenizer.split_all(texts))
        ids, offsets, han = self._interner.encode(texts, tokenizer.native, jobs)
        if han >= 0 and not allow_han:
            raise InvalidInput(f"{CANNOT_SPLIT}; expected another tokenizer: {ADVICE}", where="texts", line=han + 1)
        return Tokens(ids, offsets, self)

    def encode_tokens(self, token_lists: Sequence[Sequence[str]]) -> Tokens:
        """Number texts that are already lists of tokens; new words are added.

        Raises:
            TypeError: A token is not a str.
            ValueError: This vocabulary has branches.

        >>> Vocabulary().encode_tokens([["to", "be"], [], ["be"]]).offsets.tolist()
        [0, 2, 2, 3]
        """
        ids, offsets = self._interner.encode_tokens(token_lists)
        return Tokens(ids, offsets, self)

    def stem_ids(self, algorithm: str = "english") -> NDArray[np.int32]:
        """For each word the id of its stem, int32[words]; words with one stem have one id.

        Each word is stemmed once, however often this is asked.

        >>> from postil.text import tokenizer
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
