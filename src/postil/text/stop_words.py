"""Stop words: function words that say little about the topic of a text.

The lists stand in ``stop_lists/``, one file per language. They were put together by hand from the closed word classes
of each language (articles, pronouns, prepositions, conjunctions, auxiliaries, particles) and a few frequent adverbs; no
other list was copied. They fit lower-cased tokens of the tokenizer ``words``, so they also hold what it leaves of
``don't`` and ``l'eau``; the Chinese one fits the tokens of jieba, punctuation among them.

Another list gives other scores, so a signature names the list and a hash of it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import UnknownName
from postil.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STOP_LISTS", "stop_words", "stop_words_signature", "without_stop_words"]

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
    UnknownName.check("stop list", lang, STOP_LISTS)
    lines = resources.files(__package__).joinpath("stop_lists", f"{lang}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def stop_words_signature(lang: str) -> str:
    """Return the entry of a list in signatures: its language and a hash of its words in sorted order.

    Raises:
        UnknownName: There is no such list.

    >>> import re
    >>> re.fullmatch("en-[0-9a-f]{8}", stop_words_signature("en")) is not None
    True
    """
    words = "\n".join(sorted(stop_words(lang)))
    return f"{lang}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def without_stop_words(tokens: Tokens, stop: str, stops: Sequence[str] | None = None) -> Tokens:
    """Remove the words of a stop list from texts; the words on either side of one become neighbors.

    Args:
        tokens: n texts.
        stop: A name of `STOP_LISTS`, or ``none``.
        stops: The list of each text, in place of one for all.

    Raises:
        UnknownName: There is no such list.

    >>> from postil.text.tokens import Vocabulary
    >>> tokens = Vocabulary().encode_tokens([["end", "of", "the", "line"], ["the"]])
    >>> without_stop_words(tokens, "en").lengths.tolist()
    [2, 0]
    """
    lists = [stop] if stops is None else list(dict.fromkeys(stops))
    if lists == ["none"]:
        return tokens
    kept = np.ones(len(tokens.ids), bool)
    for each in lists:
        if each != "none":
            stopped = tokens.vocabulary.flags(stop_words(each))[tokens.ids] > 0
            kept &= (
                ~stopped if stops is None else ~(stopped & np.repeat([one == each for one in stops], tokens.lengths))
            )
    offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[tokens.offsets]
    return Tokens(tokens.ids[kept], offsets, tokens.vocabulary)
