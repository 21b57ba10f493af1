"""Answers that are all cut off, as those of a model that thinks at length: nothing better comes, and all are paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.errors import PostilError

if TYPE_CHECKING:
    from postil.endpoint.chat import Answer

__all__ = ["AllCut", "CutWatch"]

FEW: Final = 6
"""Number of answers, all cut off and of no use, after which a run ends: more than the samples of one text."""


class AllCut(PostilError):  # noqa: N818 - says what has happened
    """All answers so far are cut off.

    Args:
        answers: Number of them.
        tokens: Maximum number of tokens of each.
        thinks: True if the model was seen to think.
    """

    def __init__(self, answers: int, tokens: int, *, thinks: bool) -> None:
        thought = " in the model's thoughts" if thinks else ""
        super().__init__(f"the first {answers} answers are all cut off at {tokens:,} tokens{thought}")


class CutWatch:
    """Watch over the first answers of a run.

    Args:
        tokens: Maximum number of tokens of each.

    >>> from postil.endpoint.chat import Answer
    >>> watch = CutWatch(16)
    >>> for _ in range(6):
    ...     watch.see(Answer(text="<think>Is it", finish_reason="length"), useful=False)
    Traceback (most recent call last):
    ...
    postil.endpoint.cut_answers.AllCut: the first 6 answers are all cut off at 16 tokens in the model's thoughts
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._cut: int | None = 0

    @property
    def watches(self) -> bool:
        """True as long as no answer was of use, or came to its end."""
        return self._cut is not None

    def see(self, answer: Answer, *, useful: bool) -> None:
        """Take an answer into account.

        Args:
            answer: The answer.
            useful: True if it was of use all the same.

        Raises:
            AllCut: It is one too many.
        """
        if self._cut is None:
            return
        if useful or not answer.cut:
            self._cut = None
            return
        self._cut += 1
        if self._cut == FEW:
            raise AllCut(self._cut, self._tokens, thinks=answer.thought)

    def rest(self) -> None:
        """Watch no more, as something of use was seen elsewhere."""
        self._cut = None
