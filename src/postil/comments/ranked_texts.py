"""Articles as rankers read them: token ids, and the texts themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from postil.data.arrays import WHOLE
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ArticleTexts", "CommentTexts", "Texts", "take"]

Texts: TypeAlias = "tuple[NDArray[np.int32], NDArray[np.int64]]"
"""Token ids int32[T] and offsets int64[n + 1] of n texts."""


@dataclass(frozen=True, eq=False, slots=True)
class ArticleTexts:
    """n articles.

    Args:
        words: Their words: those of the title, or of title and content.
        titles: The words of their titles.
        texts: Title and content of each, the latter empty where it is not read; needed by rankers that read vectors.
    """

    words: Texts
    titles: Texts
    texts: Sequence[tuple[str, str]]

    def __len__(self) -> int:
        return len(self.words[1]) - 1

    def take(self, which: NDArray[np.int64]) -> ArticleTexts:
        """Some of the articles.

        Args:
            which: int64[m], their indices.
        """
        texts = [self.texts[at] for at in which.tolist()] if self.texts else ()
        return ArticleTexts(take(self.words, which), take(self.titles, which), texts)


@dataclass(frozen=True, eq=False, slots=True)
class CommentTexts:
    """n comments.

    Args:
        words: Their words; one that no vocabulary has must have the same id in articles.
        texts: The comments themselves.
    """

    words: Texts
    texts: Sequence[str]


def take(texts: Texts, which: NDArray[np.int64]) -> Texts:
    """Gather some of many texts.

    Args:
        texts: Token ids and offsets.
        which: int64[m], the indices of the texts.

    Raises:
        InvalidInput: An id is negative.
    """
    ids, offsets = texts
    sizes = offsets[which + 1] - offsets[which]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    taken = ids[np.repeat(offsets[which], sizes) + within]
    if taken.min(initial=0) < 0:
        problem = f"expected the words of comments as ids from 0, got {taken.min()}; {WHOLE}"
        raise InvalidInput(problem, where="ranker/words.ids.npy")
    return taken, starts
