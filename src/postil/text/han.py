"""Detection of texts that a tokenizer is not for.

``words`` takes whole sentences in Han characters for words, ``rouge`` drops all letters but a to z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from postil.kernel.python.interning import is_han_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from postil.errors import InvalidInput
    from postil.text.tokenizers import Tokenizer

__all__ = ["ADVICE", "CANNOT_SPLIT", "SHARE", "HanTexts"]

SHARE: Final = 0.1
"""Largest accepted share of Han texts: a forum in English has some comments in Chinese."""

ADVICE: Final = "jieba (or rjieba, the same words faster), characters, or space where the words are separated already"
"""Tokenizers that can split Han text, for messages."""

CANNOT_SPLIT: Final = "Han text cannot be split into words at spaces and punctuation"


def _is_han(text: str) -> bool:
    return is_han_text(text.lower())


def _loses_letters(text: str) -> bool:
    """True if less than half of the letters and digits are among a to z and 0 to 9."""
    letters = [character.isascii() for character in text if character.isalnum()]
    return 2 * sum(letters) < len(letters)


@dataclass(frozen=True, slots=True)
class _Unfit:
    """Texts that a tokenizer is not for.

    Args:
        is_unfit: True for such a text; asked only of texts that are not ASCII.
        name: Name of such a text.
        problem: The tokenizer's problem with it.
        remedy: Tokenizers to take instead.
        remark: The end of the remark on a few of them.
    """

    is_unfit: Callable[[str], bool]
    name: str
    problem: str
    remedy: str
    remark: str


_UNFIT: Final = {
    "words": _Unfit(
        _is_han, "Han text", CANNOT_SPLIT, ADVICE, "the tokenizer words does not split; jieba, rjieba and characters do"
    ),
    "rouge": _Unfit(
        _loses_letters,
        "text in other letters than a to z",
        "text in other letters than a to z is dropped by the tokenizer rouge",
        "words, or jieba for Chinese",
        "the tokenizer rouge drops; words, and jieba for Chinese, keep them",
    ),
}


class HanTexts:
    """A count of the texts that their tokenizer is not for, with a limit: Han texts for ``words``.

    Args:
        tokenizer: The tokenizer of the texts; with another than ``words`` and ``rouge`` nothing is counted.
        what: Name of the texts, in the plural.

    >>> from postil.text import tokenizer
    >>> met = HanTexts(tokenizer("words"), "comments")
    >>> met.see(["Nice weather today"] * 39 + ["哈哈哈"])
    >>> met.remark
    '1 of 40 comments is Han text, which the tokenizer words does not split; jieba, rjieba and characters do'
    """

    def __init__(self, tokenizer: Tokenizer, what: str) -> None:
        self.what = what
        self.texts = 0
        self.han = 0
        self.first = -1
        """Index of the first such text among all that were seen."""
        self._unfit = _UNFIT.get(tokenizer.name)

    def see(self, texts: Iterable[object]) -> None:
        """Count the next texts; a value that is no text counts as any other.

        Args:
            texts: Texts before tokenization.
        """
        is_unfit = self._unfit.is_unfit if self._unfit else None
        for text in texts:
            if is_unfit and isinstance(text, str) and not text.isascii() and is_unfit(text):
                self.first = self.texts if self.first < 0 else self.first
                self.han += 1
            self.texts += 1

    @property
    def many(self) -> bool:
        """True if they are more than `SHARE` of the texts."""
        return self.han > SHARE * self.texts

    def check(self, refuse: Callable[[int, str], InvalidInput]) -> None:
        """Refuse texts of which the tokenizer is not for too many.

        Args:
            refuse: Function from the index of a text and a problem to the error with its location.

        Raises:
            InvalidInput: They are; the first of them is named.
        """
        if self._unfit and self.many:
            are = "is" if self.han == 1 else "are"
            raise refuse(
                self.first,
                f"{self._unfit.problem}, and {self.han:,} of {self.texts:,} {self.what} {are}; "
                f"expected another tokenizer: {self._unfit.remedy}",
            )

    @property
    def remark(self) -> str:
        """A note on the few such texts; empty without any."""
        if not self._unfit or not self.han:
            return ""
        are = "is" if self.han == 1 else "are"
        of_which = f"{self.han:,} of {self.texts:,} {self.what} {are} {self._unfit.name}"
        return f"{of_which}, which {self._unfit.remark}"
