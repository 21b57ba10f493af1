"""Stemming with Snowball, through PyStemmer, and the stems of rouge-score.

``english`` is the stemmer of METEOR. The METEOR 1.5 jar has the Snowball rules of before version 3, and so has
PyStemmer 2: equal there on every pair tried. Snowball 3, in PyStemmer 3, added a few rules (``biologist`` and
``biology`` share a stem now, ``organizer`` and ``organ`` no longer), so `stems_signature` names the version.

``rouge`` is the stemmer of rouge-score: `postil.text.porter` for words of more than three characters.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

import Stemmer  # type: ignore[import-not-found]

from postil.errors import UnknownName
from postil.text.porter import porter_stem

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STEMMERS", "stems", "stems_signature"]

STEMMERS: tuple[str, ...] = tuple(sorted([*Stemmer.algorithms(), "rouge"]))
"""``rouge``, and the algorithms that the installed PyStemmer has, among them ``english``, ``porter`` and ``french``."""


def stems(words: Sequence[str], algorithm: str = "english") -> list[str]:
    """Return the stem of each word.

    Words are not lower-cased: an upper-case ending is not an ending. A word that has a lone surrogate,
    and so no UTF-8 form, is its own stem. Safe to call from several threads.

    Args:
        words: n words.
        algorithm: A name of `STEMMERS`.

    Returns:
        n stems, in the order of the words.

    Raises:
        UnknownName: There is no such algorithm.

    >>> stems(["running", "runs", "cats", "easily", "我们"])
    ['run', 'run', 'cat', 'easili', '我们']
    >>> stems(["chantons"], "french")
    ['chanton']
    """
    _check(algorithm)
    if algorithm == "rouge":
        return [porter_stem(word) if len(word) > 3 else word for word in words]
    stemmer = Stemmer.Stemmer(algorithm, 0)
    try:
        return list(stemmer.stemWords(words))
    except UnicodeEncodeError:
        return [word if _has_surrogate(word) else stemmer.stemWord(word) for word in words]


def stems_signature(algorithm: str = "english") -> str:
    """Return the entry of a stemmer in signatures: the algorithm, and the version of PyStemmer if it is from there.

    Raises:
        UnknownName: There is no such algorithm.

    >>> stems_signature("porter").startswith("porter-")
    True
    """
    _check(algorithm)
    if algorithm == "rouge":
        return algorithm
    return f"{algorithm}-{metadata.version('PyStemmer')}"  # Stemmer.version() is out of date in some releases


def _check(algorithm: str) -> None:
    UnknownName.check("stemmer", algorithm, STEMMERS)


def _has_surrogate(word: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in word)
