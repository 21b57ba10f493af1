"""Han texts among others, for the tokenizer ``words``, which takes whole Han sentences for words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.kernel.python.interning import is_han_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from postil.errors import InvalidInput
    from postil.text.tokenizers import Tokenizer

__all__ = ["ADVICE", "CANNOT_SPLIT", "SHARE", "HanTexts"]

SHARE: Final = 0.1
"""The most of some texts that may be Han texts: a forum in English has some comments in Chinese."""

ADVICE: Final = "jieba (or rjieba, the same words faster), characters, or space where the words are separated already"
"""Which tokenizers can split it."""

CANNOT_SPLIT: Final = "Han text cannot be split into words at spaces and punctuation"


class HanTexts:
    """Counts the Han texts that `words` has cut at their spaces and punctuation, and says when they are too many.

    Args:
        tokenizer: What cuts the texts; with another than ``words`` nothing is counted.
        what: What the texts are, in the plural.

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
        """The place of the first Han text among all that were seen."""
        self._asked = tokenizer.name == "words"

    def see(self, texts: Iterable[object]) -> None:
        """Take the next texts; what is no text is counted as any other.

        Args:
            texts: Texts, as they come before they are cut.
        """
        for text in texts:
            if self._asked and isinstance(text, str) and not text.isascii() and is_han_text(text.lower()):
                self.first = self.texts if self.first < 0 else self.first
                self.han += 1
            self.texts += 1

    @property
    def many(self) -> bool:
        """Whether they are more than `SHARE` of the texts."""
        return self.han > SHARE * self.texts

    def check(self, refuse: Callable[[int, str], InvalidInput]) -> None:
        """Refuse texts of which too many are Han texts.

        Args:
            refuse: Makes the error for a text by its place, and says where it stands.

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
        """What to know of the few that there are; empty without any."""
        if not self.han:
            return ""
        are = "is" if self.han == 1 else "are"
        return (
            f"{self.han:,} of {self.texts:,} {self.what} {are} Han text, which the tokenizer words does not split; "
            "jieba, rjieba and characters do"
        )
