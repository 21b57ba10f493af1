"""Interning: texts as token ids."""

from __future__ import annotations

import re
import string
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.kernel.python.checks import require
from postil.kernel.unicode_forms import marks, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "SPACELESS",
    "SPLIT",
    "UNSPACED",
    "Interner",
    "fold_words",
    "is_han_text",
    "is_spaceless_text",
    "unspaced_word",
    "word_class",
]

_WORD: Final = re.compile(r"\w+")
_JOINERS: Final = "\u200c\u200d"
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER: Final = re.compile(rf"(?=\w)[{_HAN}]")
_OTHER_THAN_HAN: Final = re.compile(rf"[^\W{_HAN}]+")
SPACELESS: Final = {
    "Han": _HAN,
    "Japanese": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f",  # kana
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Khmer": "\u1780-\u17ff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Tibetan": "\u0f00-\u0fff",
    "Javanese": "\ua980-\ua9df",
}
"""Characters of the scripts in which no spaces part words, for a class of a pattern, by the name of a text in it."""
UNSPACED: Final = "".join(SPACELESS.values())
"""All of them."""
_UNSPACED_CHARACTER: Final = re.compile(rf"(?=\w)[{UNSPACED}]")

_ROUGE: Final = re.compile(r"[a-z0-9]+")
_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_MARKS: Final = frozenset(string.punctuation)


@cache
def word_class() -> str:
    """Combining marks as ranges, for a class of a pattern."""
    codes = [*map(ord, marks())]
    lasts = [at for at in range(len(codes)) if codes[at + 1 : at + 2] != [codes[at] + 1]]
    firsts = [0, *(at + 1 for at in lasts[:-1])]
    return "".join(f"{chr(codes[one])}-{chr(codes[other])}" for one, other in zip(firsts, lasts, strict=True))


@cache
def _marked_word() -> re.Pattern[str]:
    parts = rf"[\w{word_class()}]"
    return re.compile(rf"\w{parts}*(?:[{_JOINERS}]+{parts}+)*")


@cache
def _other_word() -> re.Pattern[str]:
    """Runs of a word that are not in a script without spaces; marks and joiners do not part them."""
    return re.compile(rf"[^\W{UNSPACED}](?:[{word_class()}{_JOINERS}]*[^\W{UNSPACED}])*")


@cache
def unspaced_word() -> re.Pattern[str]:
    """A character of a script without spaces, or a run of other letters, digits and marks.

    >>> unspaced_word().findall("iPhone 15是新的")
    ['iPhone', '15', '是', '新', '的']
    """
    character = rf"(?=[\w{word_class()}])[{UNSPACED}]"
    return re.compile(rf"{character}|[^\W_{UNSPACED}](?:(?![{UNSPACED}])(?:[^\W_]|[{word_class()}]))*")


def fold_words(text: str) -> str:
    r"""A text as ``words`` splits it: without soft hyphens, in lower case, composed (NFC).

    >>> fold_words("Cre\u0300me co\u00adoperate")
    'crème cooperate'
    """
    if text.isascii():
        return text.lower()
    # After lower-casing: h with a line below is one character, its capital is not.
    return normalized("NFC", text.replace("\xad", "").lower())


def _split_words(text: str) -> list[str]:
    folded = fold_words(text)
    return (_WORD if folded.isascii() else _marked_word()).findall(folded)


def _split_characters(text: str) -> list[str]:
    return [character for character in text if not character.isspace()]


def _split_rouge(text: str) -> list[str]:
    return _ROUGE.findall(text.lower())


def _split_unspaced(text: str) -> list[str]:
    return (_ASCII_RUN if text.isascii() else unspaced_word()).findall(text)


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
    "unspaced": _split_unspaced,
    "every-character": list,
    "marks": _split_marks,
}
"""The tokens of a text by each splitting."""


def is_han_text(text: str) -> bool:
    r"""True if a text is written in Han characters.

    It is when it has a Han character and its Han characters are at least as many as its other words. Han are the CJK
    Unified Ideographs (U+3400-4DBF, 4E00-9FFF, F900-FAFF, 20000-3FFFF); the other words are the longest runs of ``\w``
    without any of them.

    >>> is_han_text("我喜欢iPhone")
    True
    >>> is_han_text("She sat the exam in 東京 last year")
    False
    """
    han = len(_HAN_CHARACTER.findall(text))
    return han > 0 and han >= len(_OTHER_THAN_HAN.findall(text))


def is_spaceless_text(folded: str) -> bool:
    """True if a text is in a script without spaces, so that ``words`` would take whole sentences for words.

    It is when its characters of `SPACELESS` that are letters or digits are at least as many as its other words.

    Args:
        folded: A text that `fold_words` returned.

    >>> is_spaceless_text("私はiphoneが好き"), is_spaceless_text("a bowl of น้ำ and a spoon of salt for everyone")
    (True, False)
    """
    found = len(_UNSPACED_CHARACTER.findall(folded))
    return found > 0 and found >= len(_other_word().findall(folded))


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
        require(not self._is_branch, "a branch has no branches of its own")
        self._frozen = True
        return Interner(self)

    def words(self, start: int = 0) -> list[str]:
        """Tokens from id ``start`` on."""
        require(start >= 0, "expected a start from 0")
        return [*self._base, *self._ids][start:]

    def flags(self, lowered: frozenset[str], start: int = 0) -> NDArray[np.uint8]:
        """1 for each token from id ``start`` on whose lower-case form is in the set, uint8[tokens]."""
        return np.array([word.lower() in lowered for word in self.words(start)], dtype=np.uint8)

    def encode(
        self, texts: Sequence[str], splitting: str, jobs: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """Tokenize and intern; for ``words`` also the index of the first text in a script without spaces, else -1."""
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"text {index}: expected str, got {type(text).__name__}")
        require(splitting in SPLIT, "expected space, words, characters, rouge, unspaced, every-character or marks")
        split = SPLIT[splitting]
        ids, offsets = self.encode_tokens([split(text) for text in texts])
        spaceless = (i for i, text in enumerate(texts) if splitting == "words" and is_spaceless_text(fold_words(text)))
        return ids, offsets, next(spaceless, -1)

    def encode_tokens(self, token_lists: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Intern texts that are already split."""
        require(not self._frozen, "this vocabulary has branches and cannot grow")
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
