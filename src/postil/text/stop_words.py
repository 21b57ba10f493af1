"""Stop words: the words that say little of what a text is about.

The lists stand in ``stop_lists/``, a file a language. They were put together by hand from the closed word classes of
each language (articles, pronouns, prepositions, conjunctions, auxiliaries, particles) and a few frequent adverbs; no
other list was copied. They fit lower-cased tokens of the tokenizer ``words``, so they also hold what it leaves of
``don't`` and ``l'eau``; the Chinese one fits the tokens of jieba, punctuation among them.

Another list gives other scores, so a signature names the list and a hash of it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from postil.errors import UnknownName

__all__ = ["STOP_LISTS", "stop_words", "stop_words_signature"]

STOP_LISTS: tuple[str, ...] = ("de", "en", "es", "fr", "it", "nl", "pt", "ru", "sv", "zh")
"""The languages that have a list, by their two letters."""


@cache
def stop_words(lang: str) -> frozenset[str]:
    """Return the stop words of a language.

    Args:
        lang: A name of `STOP_LISTS`.

    Returns:
        The words, in lower case.

    Raises:
        UnknownName: There is no such list.

    >>> [word in stop_words("en") for word in ("the", "don", "cat")]
    [True, True, False]
    """
    if lang not in STOP_LISTS:
        raise UnknownName("stop list", lang, STOP_LISTS)
    lines = resources.files(__package__).joinpath("stop_lists", f"{lang}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def stop_words_signature(lang: str) -> str:
    """Return what a result's signature says of a list: the language and a hash of the words, whatever their order.

    Raises:
        UnknownName: There is no such list.

    >>> import re
    >>> re.fullmatch("en-[0-9a-f]{8}", stop_words_signature("en")) is not None
    True
    """
    words = "\n".join(sorted(stop_words(lang)))
    return f"{lang}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
