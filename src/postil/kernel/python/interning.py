"""Interning: texts as token ids."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.checks import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["SPLIT", "UNSPACED", "Interner", "is_han_text"]

_WORD: Final = re.compile(r"\w+")
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER: Final = re.compile(rf"(?=\w)[{_HAN}]")
_OTHER_WORD: Final = re.compile(rf"[^\W{_HAN}]+")

_ROUGE: Final = re.compile(r"[a-z0-9]+")
UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters between which no spaces stand, for a class of a pattern."""
_UNSPACED_OR_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_MARKS: Final = frozenset(string.punctuation)


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _split_characters(text: str) -> list[str]:
    return [character for character in text if not character.isspace()]


def _split_rouge(text: str) -> list[str]:
    return _ROUGE.findall(text.lower())


def _split_marks(text: str) -> list[str]:
    """Words between white space; a punctuation mark at the end of one, else at its begin, is a token of its own."""
    tokens: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _MARKS:
            tokens += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in _MARKS:
            tokens += (word[0], word[1:])
        else:
            tokens.append(word)
    return tokens


SPLIT: Final[dict[str, Callable[[str], list[str]]]] = {
    "space": str.split,
    "words": _split_words,
    "characters": _split_characters,
    "rouge": _split_rouge,
    "unspaced": _UNSPACED_OR_WORD.findall,
    "every-character": list,
    "marks": _split_marks,
}
"""The tokens of a text by each splitting."""


def is_han_text(text: str) -> bool:
    r"""True if a text is written in Han characters, so that ``words`` would take whole sentences for words.

    It is when it has a Han character and its Han characters are at least as many as its other words. Han are the CJK
    Unified Ideographs (U+3400-4DBF, 4E00-9FFF, F900-FAFF, 20000-3FFFF); the other words are the longest runs of ``\w``
    without any of them.

    >>> is_han_text("我喜欢iPhone")
    True
    >>> is_han_text("She sat the exam in 東京 last year")
    False
    """
    han = len(_HAN_CHARACTER.findall(text))
    return han > 0 and han >= len(_OTHER_WORD.findall(text))


class Interner:
    """A vocabulary: ids are given to tokens in the order of their first occurrence.

    A branch sees the words of its base and adds its own behind them; it can be thrown away, so that a stream of
    candidates never makes the table of the references grow.
    """

    def __init__(self, base: Interner | None = None) -> None:
        self._is_branch = base is not None
        self._base: dict[str, int] = {} if base is None else base._ids  # noqa: SLF001 - its own class
        self._ids: dict[str, int] = {}
        self._frozen = False

    def __len__(self) -> int:
        return len(self._base) + len(self._ids)

    def branch(self) -> Interner:
        """Make a vocabulary that starts as a copy of this one; this one is frozen from then on."""
        if self._is_branch:
            raise ValueError("a branch has no branches of its own")
        self._frozen = True
        return Interner(self)

    def words(self, start: int = 0) -> list[str]:
        """Tokens from id ``start`` on."""
        if start < 0:
            raise ValueError("expected a start from 0")
        return [*self._base, *self._ids][start:]

    def flags(self, lowered: frozenset[str], start: int = 0) -> NDArray[np.uint8]:
        """1 for each token from id ``start`` on whose lower-case form is in the set, uint8[tokens]."""
        return np.array([word.lower() in lowered for word in self.words(start)], dtype=np.uint8)

    def encode(
        self, texts: Sequence[str], splitting: str, jobs: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """Tokenize and intern; also the index of the first Han text where ``splitting`` is ``words``, else -1."""
        del jobs
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"text {index}: expected str, got {type(text).__name__}")
        require(splitting in SPLIT, "expected space, words, characters, rouge, unspaced, every-character or marks")
        split = SPLIT[splitting]
        ids, offsets = self.encode_tokens([split(text) for text in texts])
        han = (index for index, text in enumerate(texts) if splitting == "words" and is_han_text(text.lower()))
        return ids, offsets, next(han, -1)

    def encode_tokens(self, token_lists: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Intern texts that are already split."""
        if self._frozen:
            raise ValueError("this vocabulary has branches and cannot grow")
        for index, tokens in enumerate(token_lists):
            if isinstance(tokens, str):
                raise TypeError(f"text {index}: expected a list of str, got str")
            for token in tokens:
                if not isinstance(token, str):
                    raise TypeError(f"text {index}: expected str, got {type(token).__name__}")
        offsets = np.zeros(len(token_lists) + 1, dtype=np.int64)
        np.cumsum([len(tokens) for tokens in token_lists], out=offsets[1:])
        ids = np.fromiter(self._intern(t for tokens in token_lists for t in tokens), dtype=np.int32, count=offsets[-1])
        return ids, offsets

    def _intern(self, tokens: Iterable[str]) -> Iterable[int]:
        base, ids, first_new = self._base, self._ids, len(self._base)
        for token in tokens:
            known = base.get(token)
            yield ids.setdefault(token, first_new + len(ids)) if known is None else known
