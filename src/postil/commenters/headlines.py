"""Headlines without a network: the title of a similar article, and the first words of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.commenters.neural_commenter import detokenize
from postil.commenters.search import Index
from postil.text.tokenizers import stored_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.commenters.ranked_texts import Texts

__all__ = ["first_words", "nearest_titles"]


def nearest_titles(train: Texts, titles: Sequence[str], asked: Texts, words: int, *, jobs: int = 1) -> list[str]:
    """Titles of the most similar training articles, by TF-IDF cosine.

    Args:
        train: Texts of the n training articles: ids int32[T] and offsets int64[n + 1].
        titles: Their n titles.
        asked: Texts of the articles that need a title.
        words: Size of the vocabulary.
        jobs: Number of threads; the result does not depend on it.

    Returns:
        One title per article, empty where no training article shares a word with it.

    >>> import numpy as np
    >>> train = np.array([0, 1, 2, 3], np.int32), np.array([0, 2, 4])
    >>> nearest_titles(train, ["Rain", "Chess"], (np.array([3, 9], np.int32), np.array([0, 1, 2])), 10)
    ['Chess', '']
    """
    best = Index.of(*train, words, jobs=jobs).search(*asked, 1, jobs=jobs).documents
    return [titles[found] if found >= 0 else "" for found in best[:, 0].tolist()]


def first_words(text: str, count: int, tokenizer_name: str) -> str:
    """The first words of a text.

    Args:
        text: The text.
        count: Maximum number of words.
        tokenizer_name: Name of the tokenizer that splits it.

    >>> first_words("It rains, and it pours.", 3, "words")
    'It rains and'
    """
    return detokenize(stored_tokenizer(tokenizer_name).split(text)[:count], tokenizer_name)
