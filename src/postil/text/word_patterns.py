"""Patterns of the words of running text, where nothing but their number and places count."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from postil.kernel.python.interning import SPACELESS, UNSPACED, word_class

__all__ = ["word_pattern"]

_ASCII_WORD: Final = re.compile(r"\w+(?:['-]\w+)*", re.ASCII)
_LETTERS: Final = 5
"""Number of characters of a word in an alphabet without spaces, such as Thai."""


def word_pattern(text: str) -> re.Pattern[str]:
    """The pattern of the words of a text, with their marks and joiners, apostrophes and hyphens.

    A character of Han or kana is a word, and so are a few of an alphabet without spaces.

    Args:
        text: The text.

    >>> text = "L’été, aujourd’hui; 今天"
    >>> word_pattern(text).findall(text)
    ['L’été', 'aujourd’hui', '今', '天']
    """
    return _ASCII_WORD if text.isascii() else _word()


@cache
def _word() -> re.Pattern[str]:
    han = SPACELESS["Han"] + SPACELESS["Japanese"]
    alphabets = "".join(SPACELESS[name] for name in SPACELESS if name not in {"Han", "Japanese"})
    part = rf"(?=\w)[^{UNSPACED}](?:(?![{UNSPACED}])[\w{word_class()}\u200c\u200d\xad])*"
    return re.compile(
        rf"(?=\w)[{han}]|(?=\w)[{alphabets}](?:[\w{word_class()}](?<=[{alphabets}])){{0,{_LETTERS - 1}}}"
        rf"|{part}(?:['’-]{part})*"
    )
