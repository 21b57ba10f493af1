"""Unicode forms of a text, in time that grows with its length alone."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final, Literal
from unicodedata import category, is_normalized, normalize

__all__ = ["is_composed", "marks", "normalized"]

MOST_MARKS: Final = 64
"""Number of combining marks after one another that are put in order at once; no word of a language has as many."""

SHORT: Final = 1000
"""Length of a text up to which the number of its marks does not matter."""


def normalized(form: Literal["NFC", "NFKC"], text: str) -> str:
    r"""A text in a Unicode form.

    Python puts combining marks that follow one another in their order by comparing them with each other, so that a
    run of n marks takes n² steps. Longer runs than `MOST_MARKS` are normalized in pieces here.

    Args:
        form: Name of the form.
        text: The text.

    >>> normalized("NFC", "Cre\u0300me"), len(normalized("NFC", "a" + "\u0323\u0301" * 100_000))
    ('Crème', 200000)
    """
    if len(text) <= SHORT or text.isascii():
        return normalize(form, text)
    places = [0, *(run.end() for run in _long_run().finditer(text)), len(text)]
    return "".join(normalize(form, text[begin:end]) for begin, end in pairwise(places))


def is_composed(text: str) -> bool:
    """True if a text is in NFC.

    Args:
        text: The text.
    """
    if len(text) <= SHORT or text.isascii():
        return is_normalized("NFC", text)
    return normalized("NFC", text) == text


@cache
def marks() -> str:
    """All combining marks (Mn, Mc and Me) of Python's Unicode, in one string."""
    # Of the planes that have any: it takes 10 ms, and is asked once per process, for a text beyond ASCII.
    codes = map(chr, (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)))
    return "".join(one for one in codes if category(one)[0] == "M")


@cache
def _long_run() -> re.Pattern[str]:
    return re.compile(rf"[{marks()}]{{{MOST_MARKS}}}")
