"""Ideas that were measured once, each beside the untrained sum."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.interest.features import FEATURES, cues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.interest.rankings import Floats, Graded

__all__ = ["ideas", "parts"]

COUNTED: Final = {
    "no one, nobody, nothing, none": r"\b(?:no one|nobody|nothing|none|no other)\b",
    "ever, record, last": r"\b(?:ever|records?|last)\b",
    "unique, sole, single, alone": r"\b(?:unique|sole|solely|single|alone)\b",
    "contrasts: but, although, despite": r"\b(?:but|however|although|though|despite|instead|yet|nevertheless)\b",
    "surprising, secret, strange, rare": r"\b(?:surpris\w+|unexpected\w*|unusual\w*|strange\w*|rare\w*|secret\w*)\b",
    "death": r"\b(?:die[sd]?|dead|deaths?|kill\w*|murder\w*)\b",
    "numbers": r"\b\d[\d,.]*\b|\b(?:hundred|thousand|million|billion)s?\b",
    "years": r"\b1\d{3}\b|\b20\d{2}\b",
    "quotation marks": '["“”]',
    "you": r"\b(?:you|your)\b",
}
"""Further cues, by their pattern."""


def parts(graded: Graded) -> dict[str, Floats]:
    """The features, in standard deviations from the mean of the page."""
    return dict(zip(FEATURES, graded.rated.features.T, strict=True))


def ideas(graded: Graded) -> Iterator[tuple[str, Floats]]:
    """Rankings by name."""
    part = parts(graded)
    whole = part["cues"] + part["names"] + part["overlap"]
    yield "cues alone", part["cues"]
    yield "names alone", part["names"]
    yield "overlap alone", part["overlap"]
    yield "without cues", part["names"] + part["overlap"]
    yield "without names", part["cues"] + part["overlap"]
    yield "without overlap", part["cues"] + part["names"]
    yield "cues without *best*", _cues(graded, without="superlative: best") + part["names"] + part["overlap"]
    yield "plus length", whole + part["length"]
    yield "minus length", whole - part["length"]
    yield "divided by the number of words", (whole - whole.min()) / np.maximum(graded.words, 1)
    for name, pattern in COUNTED.items():
        found = re.compile(pattern, re.IGNORECASE)
        counts = np.array([len(found.findall(text)) for text in graded.texts], np.float64)
        yield f"plus {name}", whole + graded.standard(counts)


def _cues(graded: Graded, without: str) -> Floats:
    counts = [sum(each != without for each in cues(text)) for text in graded.texts]
    return graded.standard(np.array(counts, np.float64))
