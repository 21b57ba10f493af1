"""Features of comments in their thread, from which quality is predicted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from postil.threads.thread import Thread

__all__ = ["FEATURES", "features", "text_shares"]

SHARES: Final[Mapping[str, re.Pattern[str]]] = {
    "question marks": re.compile(r"[?？]"),
    "exclamation marks": re.compile(r"[!！]"),
    "quotation marks": re.compile(r"[\"“”„«»「」『』]"),
    "digits": re.compile(r"\d"),
    "line breaks": re.compile(r"\n"),
    "links": re.compile(r"https?://|www\."),
    "capitals": re.compile(r"[A-Z]"),
    "spaces": re.compile(r"[ \t]"),
}
"""Signs that are counted, by name; spaces tell short words from long ones."""
_SIGNS: Final = ("question marks", "exclamation marks", "quotation marks", "digits", "line breaks", "links", "capitals")
FEATURES: Final[Mapping[str, str]] = {
    "length": "ln(1 + words)",
    "squared length": "its square",
    "word length": "characters that are no space, per word",
    "sentence length": "ln(1 + words per sentence)",
    "lexical diversity": "distinct words / square root of words",
    "first person": "share of I, me, my, we, us, our",
    "second person": "share of you, your",
    "question": "1 if it ends with a question mark",
    "own words": "share of its distinct words that no other text of the thread has",
    "centrality": "mean TF-IDF cosine with the other comments",
    "title": "TF-IDF cosine with the title",
    "content": "TF-IDF cosine with the content",
    **{name: f"{name} per character, at most .2" for name in _SIGNS},
}
"""The features by name, with their formula."""

MOST: Final = 0.2
"""Largest share of a sign; more of it says no more."""
_FIRST: Final = frozenset(["i", "me", "my", "mine", "we", "us", "our", "ours", "im", "ive", "我", "俺", "咱"])
_SECOND: Final = frozenset(["you", "your", "yours", "u", "你", "您"])
_END: Final = re.compile(r"(?<![.!?。！？…])[.!?。！？…]+(?=\s|$|[^\x00-\x7f])|\n+")
_QUESTION: Final = re.compile(r"[?？][\s\"'”’)»」』]*$")


def text_shares(texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Count signs per character of each text.

    Args:
        texts: n texts.

    Returns:
        For each name of `SHARES` float64[n], the number of matches over the number of characters; 0 for an empty text.

    >>> text_shares(["Is it?", "No!!"])["question marks"].round(3).tolist()
    [0.167, 0.0]
    """
    sizes = np.maximum(1, np.fromiter(map(len, texts), np.int64, len(texts)))
    return {
        name: np.fromiter((len(pattern.findall(text)) for text in texts), np.int64, len(texts)) / sizes
        for name, pattern in SHARES.items()
    }


def features(thread: Thread) -> NDArray[np.float64]:
    """Compute the features of each comment.

    Args:
        thread: The thread of n comments.

    Returns:
        float64[n, len(FEATURES)], finite; see `FEATURES`.

    >>> from postil.threads.thread import Thread
    >>> from postil.data.rows import Article, Comment
    >>> made = features(Thread.of(Article("1", "Rain", (Comment("a", "Why rain? Why?"), Comment("b", "")))))
    >>> dict(zip(FEATURES, made[0].round(2).tolist()))["lexical diversity"], made.shape
    (1.15, (2, 19))
    """
    texts, words = thread.texts, thread.lengths.astype(np.float64)
    some = np.maximum(words, 1)
    letters = np.array([len("".join(text.split())) for text in texts], np.float64)
    sentences = np.array([max(1, len(_END.findall(text.strip()))) for text in texts], np.float64)
    distinct, own = thread.distinct()
    shares = text_shares(texts)
    columns = {
        "length": np.log1p(words),
        "squared length": np.log1p(words) ** 2,
        "word length": letters / some,
        "sentence length": np.log1p(words / sentences),
        "lexical diversity": distinct / np.sqrt(some),
        "first person": thread.counted(_FIRST) / some,
        "second person": thread.counted(_SECOND) / some,
        "question": np.array([bool(_QUESTION.search(text)) for text in texts], np.float64),
        "own words": own / np.maximum(distinct, 1),
        "centrality": thread.centrality(),
        "title": thread.cosines(thread.title),
        "content": thread.cosines(thread.content),
        **{name: np.minimum(shares[name], MOST) for name in _SIGNS},
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)
