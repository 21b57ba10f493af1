"""Shares of signs in the texts of comments, such as question marks and links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["SHARES", "text_shares"]

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
