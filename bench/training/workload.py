"""Made-up articles and comments: word numbers by Zipf's law, lengths as in the paper. The same in every run."""

from __future__ import annotations

import numpy as np

from postil.comments.nn.batches import Commented
from postil.text.tokens import Ragged

__all__ = ["VOCABULARY", "workload"]

SEED = 20181
VOCABULARY = 30_000
COMMENTS = 27
"""An article, as in the paper."""
COMMENT_WORDS = 17


def workload(articles: int, words: int, *, spread: float, comments: float = 3.0) -> Commented:
    """Articles of so many words on the average, with comments.

    Args:
        articles: How many.
        words: The mean of a normal distribution of lengths.
        spread: Its standard deviation.
        comments: The shape of the gamma distribution of comments' lengths; the higher, the more alike.
    """
    rng = np.random.default_rng(SEED)
    share = np.cumsum(1 / np.arange(1, VOCABULARY - 3))

    def texts(lengths: np.ndarray) -> Ragged:
        ids = np.searchsorted(share, rng.random(int(lengths.sum())) * share[-1]).astype(np.int32)
        return Ragged(ids, np.concatenate([[0], np.cumsum(lengths)]))

    lengths = np.clip(np.rint(rng.normal(words, spread, articles)), 1, None).astype(np.int64)
    drawn = rng.gamma(comments, COMMENT_WORDS / comments, articles * COMMENTS)
    of_comments = np.clip(np.rint(drawn), 1, 50).astype(np.int64)
    return Commented(texts(lengths), texts(of_comments), np.arange(articles + 1) * COMMENTS)
