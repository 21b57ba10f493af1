"""Function words: those that say little about the topic of a text, and those that METEOR counts less.

The lists stand in ``stop_lists/``, one file per language. They were put together by hand from the closed word classes
of each language (articles, pronouns, prepositions, conjunctions, auxiliaries, particles) and a few frequent adverbs; no
other list was copied. They fit lower-cased tokens of the tokenizer ``words``, so they also hold what it leaves of
``don't`` and ``l'eau``; the Chinese one fits the tokens of jieba, punctuation among them.

METEOR 1.5 takes every word and punctuation mark of a relative frequency above one in a thousand. The list of this
package is made by that rule, from data whose licenses allow it (its head names them), and is not the list of the METEOR
program, which is LGPL: scores equal the program's to the last digits only where the program's own list is given.

Another list gives other scores, so a signature names the list and has a hash of it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from postil.errors import InvalidInput, UnknownName
from postil.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "STOP_LISTS",
    "function_words",
    "function_words_signature",
    "stop_words",
    "stop_words_signature",
    "without_stop_words",
]

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


_ENGLISH = "function_words.en.txt"


def function_words(path: Path | None = None) -> frozenset[str]:
    """Return a list of function words.

    Args:
        path: A UTF-8 file with one word per line. Empty lines and lines that begin with ``#`` are skipped. By default
            the English list of the package.

    Returns:
        The words as they stand in the file: texts are compared with them as their tokenizer leaves them.

    Raises:
        InvalidInput: The file cannot be read, is not UTF-8, or a line holds more than one word.

    >>> words = function_words()
    >>> [word in words for word in ("the", ",", "comment")]
    [True, True, False]
    """
    if path is None:
        content = resources.files(__package__).joinpath(_ENGLISH).read_bytes()
    else:
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            problem = f"expected a file of function words, one per line: {error.strerror}"
            raise InvalidInput(problem, where=str(path)) from error
    return _parse(content, str(path or _ENGLISH))


def function_words_signature(path: Path | None = None) -> str:
    """Return what a signature says of a list: 12 hexadecimal digits of a hash of the words, whatever their order.

    Args:
        path: As in `function_words`.

    Raises:
        InvalidInput: As `function_words`.

    >>> len(function_words_signature())
    12
    """
    content = "\n".join(sorted(function_words(path))).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:12]


def _parse(content: bytes, where: str) -> frozenset[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8 text", where=where, line=line) from error
    words: set[str] = set()
    for line, word in enumerate(text.split("\n"), 1):
        fields = word.split()
        if len(fields) == 1 and not word.startswith("#"):
            words.add(fields[0])
        elif len(fields) > 1 and not word.startswith("#"):
            raise InvalidInput(f"expected one word, got '{word.strip()[:60]}'", where=where, line=line)
    return frozenset(words)
