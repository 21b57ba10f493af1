"""Detection of Han texts for the tokenizer ``words``, which takes whole Han sentences for words."""

from __future__ import annotations

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


class HanTexts:
    """A count of the Han texts that `words` has split at their spaces and punctuation, with a limit.

    Args:
        tokenizer: The tokenizer of the texts; with another than ``words`` nothing is counted.
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
        """Index of the first Han text among all that were seen."""
        self._asked = tokenizer.name == "words"

    def see(self, texts: Iterable[object]) -> None:
        """Count the next texts; a value that is no text counts as any other.

        Args:
            texts: Texts before tokenization.
        """
        for text in texts:
            if self._asked and isinstance(text, str) and not text.isascii() and is_han_text(text.lower()):
                self.first = self.texts if self.first < 0 else self.first
                self.han += 1
            self.texts += 1

    @property
    def many(self) -> bool:
        """True if they are more than `SHARE` of the texts."""
        return self.han > SHARE * self.texts

    def check(self, refuse: Callable[[int, str], InvalidInput]) -> None:
        """Refuse texts of which too many are Han texts.

        Args:
            refuse: Function from the index of a text and a problem to the error with its location.

        Raises:
            InvalidInput: They are; the first of them is named.
        """
        if self.many:
            are = "is" if self.han == 1 else "are"
            raise refuse(
                self.first,
                f"{CANNOT_SPLIT}, and {self.han:,} of {self.texts:,} {self.what} {are}; "
                f"expected another tokenizer: {ADVICE}",
            )

    @property
    def remark(self) -> str:
        """A note on the few Han texts; empty without any."""
        if not self.han:
            return ""
        are = "is" if self.han == 1 else "are"
        return (
            f"{self.han:,} of {self.texts:,} {self.what} {are} Han text, which the tokenizer words does not split; "
            "jieba, rjieba and characters do"
        )
