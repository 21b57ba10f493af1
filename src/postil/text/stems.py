"""Stemming with Snowball, through PyStemmer, and Porter's stemmer as rouge-score uses it.

``english`` is the stemmer of METEOR. The METEOR 1.5 jar has the Snowball rules of before version 3, and so has
PyStemmer 2: equal there on every pair tried. Snowball 3, in PyStemmer 3, added a few rules (``biologist`` and
``biology`` share a stem now, ``organizer`` and ``organ`` no longer), so `stems_signature` names the version.

``rouge`` is the stemmer of rouge-score: `porter_stem` for words of more than three characters.

Porter, M. (1980): An algorithm for suffix stripping. The extensions: twelve stems of irregular forms; ``dies`` and
``died`` become ``die``; ``y`` becomes ``i`` only behind a consonant (``enjoy`` stays), and then in short words too;
``-alli`` is removed first, and what is left goes through the step again; ``-fulli`` and ``-logi``; a vowel and a
consonant alone are a short syllable. PyStemmer's ``porter`` is another variant: of 178,503 words of English news,
comments and Wikipedia articles it stems 1,538 in another way.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Final

import Stemmer  # type: ignore[import-not-found]

from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STEMMERS", "porter_stem", "stems", "stems_signature"]

_IRREGULAR: Final = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
# In the order in which they are tried: the first that a word ends with is the only one.
_STEP_2: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
    ("logi", "log"),
)
_STEP_3: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4: Final = tuple(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split()  # noqa: SIM905 - a table
)


def porter_stem(word: str) -> str:
    """The stem of a lower-case word.

    >>> [porter_stem(word) for word in ("meetings", "dies", "enjoyed", "rationally", "skies")]
    ['meet', 'die', 'enjoy', 'ration', 'sky']
    """
    irregular = _IRREGULAR.get(word)
    if irregular is not None:
        return irregular
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    return _tidy(_step_4(_step_3(_step_2(word))))


def _shape(text: str) -> str:
    """``c`` for each consonant and ``v`` for each vowel; ``y`` is a vowel behind a consonant."""
    shape = ""
    for character in text:
        vowel = character in "aeiou" or (character == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(text: str) -> int:
    """Number m of a stem of the form [C](VC){m}[V]."""
    return _shape(text).count("vc")


def _ends_short(text: str) -> bool:
    """True if a stem ends in consonant, vowel, consonant other than w, x and y, or is a vowel and a consonant."""
    shape = _shape(text)
    return (shape.endswith("cvc") and text[-1] not in "wxy") or shape == "vc"


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    stem = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if "v" not in _shape(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _shape(stem).endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _step_2(word[:-2])
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            measured = f"{stem}l" if suffix == "logi" else stem  # so that geology is short, too
            return stem + replacement if _measure(measured) else word
    return word


def _step_3(word: str) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + replacement if _measure(stem) else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            removed = _measure(stem) > 1 and (suffix != "ion" or stem.endswith(("s", "t")))
            return stem if removed else word
    return word


def _tidy(word: str) -> str:
    """Without a last e, and with one l for two, where enough of the word is left."""
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


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
