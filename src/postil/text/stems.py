"""Stemming by Snowball's rules, and by Porter's as rouge-score uses them.

``english`` is the stemmer of METEOR, by the rules of Snowball before version 3, which the METEOR 1.5 jar has, and
``porter`` Porter's of Snowball. Both are restated here, as a compiled package for every Python and machine was needed
otherwise; they are equal to PyStemmer 2.2.0.3, whose version signatures keep, on all words tried. Snowball 3 added
a few rules (``biologist`` and ``biology`` share a stem, ``organizer`` and ``organ`` no longer). Other algorithms are
those of the snowballstemmer that is installed, and `stems_signature` names its version.

``rouge`` is the stemmer of rouge-score: `porter_stem` for words of more than three characters.

Porter, M. (1980): An algorithm for suffix stripping. The extensions: twelve stems of irregular forms; ``dies`` and
``died`` become ``die``; ``y`` becomes ``i`` only behind a consonant (``enjoy`` stays), and then in short words too;
``-alli`` is removed first, and what is left goes through the step again; ``-fulli`` and ``-logi``; a vowel and a
consonant alone are a short syllable. Snowball's ``porter`` is another variant: of 178,503 words of English news,
comments and Wikipedia articles it stems 1,538 in another way.
"""

from __future__ import annotations

import re
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Final

from postil.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

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
_RULES: Final = "2.2.0.3"
"""Version of PyStemmer whose stems those of ``english`` and ``porter`` are."""

_EXCEPTIONS: Final = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
} | {word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")}
_KEPT: Final = frozenset({"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"})
_VOWELS: Final = "aeiouy"
_REGION: Final = re.compile("[aeiouy][^aeiouy]")
_VOWEL_AND_Y: Final = re.compile("([aeiouy])y")
_PAST: Final = ("eedly", "ingly", "edly", "eed", "ing", "ed")
_PORTER_SECOND: Final[Mapping[str, str]] = {
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "abli": "able",
    "entli": "ent",
    "eli": "e",
    "izer": "ize",
    "ization": "ize",
    "ational": "ate",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "aliti": "al",
    "alli": "al",
    "fulness": "ful",
    "ousli": "ous",
    "ousness": "ous",
    "iveness": "ive",
    "iviti": "ive",
    "biliti": "ble",
}
_ENGLISH_SECOND: Final = {key: value for key, value in _PORTER_SECOND.items() if key != "eli"} | {
    "bli": "ble",
    "ogi": "og",
    "fulli": "ful",
    "lessli": "less",
    "li": "",
}
_PORTER_THIRD: Final = {"alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "", "ness": "", "ative": ""}
_ENGLISH_THIRD: Final = _PORTER_THIRD | {"tional": "tion", "ational": "ate"}
_ROUGE_SECOND: Final = {key: value for key, value in _PORTER_SECOND.items() if key != "abli"} | {
    "bli": "ble",
    "fulli": "ful",
    "logi": "log",
}
_ENGLISH_FOURTH: Final = frozenset(
    "al ance ence er ic able ible ant ement ment ent ion ism ate iti ous ive ize".split()  # noqa: SIM905 - a table
)
_PORTER_FOURTH: Final = _ENGLISH_FOURTH | {"ou"}
_DOUBLED: Final = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_ALL_DOUBLED: Final = (*(2 * letter for letter in "bcdfghjkmnpqrtvwx"), "yY")
"""Consonants of which one goes with an ending, by Snowball's rules and by those of rouge-score."""


def _marked(word: str) -> str:
    """A word whose consonants y are capitals."""
    if "y" not in word:
        return word
    return _VOWEL_AND_Y.sub(r"\1Y", "Y" + word[1:] if word[0] == "y" else word)


def _region(word: str, start: int = 0) -> int:
    """The place after the first vowel and consonant."""
    found = _REGION.search(word, start)
    return found.end() if found else len(word)


def _has_vowel(text: str) -> bool:
    return any(character in _VOWELS for character in text)


def _short(word: str, *, alone: bool) -> bool:
    """True if a word ends in a short syllable; a vowel and a consonant alone may be one."""
    if len(word) < 3:
        return alone and len(word) == 2 and word[0] in _VOWELS and word[1] not in _VOWELS
    return word[-3] not in _VOWELS and word[-2] in _VOWELS and word[-1] not in "aeiouywxY"


def _split(word: str, endings: Container[str]) -> tuple[str, str]:
    """A word before its longest ending, and the ending, which may be empty."""
    for length in range(min(7, len(word)), 1, -1):
        if word[-length:] in endings:
            return word[:-length], word[-length:]
    return word, ""


def _without_past(
    word: str, endings: Container[str], first: int, *, alone: bool, doubled: tuple[str, ...] = _DOUBLED
) -> str:
    stem, ending = _split(word, endings)
    if ending.startswith("ee"):
        return f"{stem}ee" if len(stem) >= first else word
    if not ending or not _has_vowel(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if stem.endswith(doubled):
        return stem[:-1]
    return f"{stem}e" if len(stem) == first and _short(stem, alone=alone) else stem


def _without_last(
    word: str, endings: Container[str], first: int, second: int, *, alone: bool, both: bool = True
) -> str:
    """The fourth and fifth step, in which a word may lose both e and l."""
    stem, ending = _split(word, endings)
    if ending and len(stem) >= second and (ending != "ion" or stem.endswith(("s", "t"))):
        word = stem
    rest = len(word) - 1
    if word.endswith("e") and (rest >= second or (rest >= first and not _short(word[:-1], alone=alone))):
        word = word[:-1]
        if not both:
            return word
    return word[:-1] if word.endswith("ll") and len(word) > second else word


def _english(given: str) -> str:
    """The stem of a word by Snowball's rules for English of before version 3."""
    if given in _EXCEPTIONS or len(given) < 3:
        return _EXCEPTIONS.get(given, given)
    plain = given.removeprefix("'")
    word = _marked(plain)
    was_marked = word != plain
    special = next((each for each in ("gener", "commun", "arsen") if word.startswith(each)), "")
    first = len(special) or _region(word)
    second = _region(word, first)
    word = _singular(next((word.removesuffix(each) for each in ("'s'", "'s", "'") if word.endswith(each)), word))
    if word not in _KEPT:
        word = _without_past(word, _PAST, first, alone=True)
        if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
            word = f"{word[:-1]}i"
        stem, ending = _split(word, _ENGLISH_SECOND)
        fits = ending not in {"ogi", "li"} or stem.endswith("l" if ending == "ogi" else tuple("cdeghkmnrt"))
        if ending and len(stem) >= first and fits:
            word = stem + _ENGLISH_SECOND[ending]
        stem, ending = _split(word, _ENGLISH_THIRD)
        if ending and len(stem) >= (second if ending == "ative" else first):
            word = stem + _ENGLISH_THIRD[ending]
        word = _without_last(word, _ENGLISH_FOURTH, first, second, alone=True, both=False)
    return word.replace("Y", "y") if was_marked else word


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    keeps = not word.endswith("s") or word.endswith(("us", "ss")) or not _has_vowel(word[:-2])
    return word if keeps else word[:-1]


def _porter(given: str) -> str:
    """The stem of a word by Snowball's form of Porter's rules."""
    word = _marked(given)
    was_marked = word != given
    first = _region(word)
    second = _region(word, first)
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _without_past(word, ("eed", "ing", "ed"), first, alone=False)
    if word.endswith(("y", "Y")) and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    for endings in (_PORTER_SECOND, _PORTER_THIRD):
        stem, ending = _split(word, endings)
        if ending and len(stem) >= first:
            word = stem + endings[ending]
    word = _without_last(word, _PORTER_FOURTH, first, second, alone=False)
    return word.replace("Y", "y") if was_marked else word


def porter_stem(given: str) -> str:
    """The stem of a lower-case word by Porter's rules as rouge-score has them.

    >>> [porter_stem(word) for word in ("meetings", "dies", "enjoyed", "rationally", "skies")]
    ['meet', 'die', 'enjoy', 'ration', 'sky']
    """
    if given in _IRREGULAR or len(given) < 3:
        return _IRREGULAR.get(given, given)
    word = _marked(given)
    was_marked = word != given
    first = _region(word)
    second = _region(word, first)
    if word.endswith("sses") or (word.endswith("ies") and len(word) != len("dies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("ied"):
        word = word[: -1 if len(word) == len("died") else -2]
    else:
        word = _without_past(word, ("eed", "ing", "ed"), first, alone=True, doubled=_ALL_DOUBLED)
    if word.endswith("y") and len(word) > 2:
        word = f"{word[:-1]}i"
    if word.endswith("alli") and len(word) - 4 >= first:
        word = word[:-2]
    stem, ending = _split(word, _ROUGE_SECOND)
    if ending and len(stem) + (ending == "logi") >= first:  # so that geology is short, too
        word = stem + _ROUGE_SECOND[ending]
    stem, ending = _split(word, _PORTER_THIRD)
    if ending and len(stem) >= first:
        word = stem + _PORTER_THIRD[ending]
    word = _without_last(word, _PORTER_FOURTH, first, second, alone=True)
    return word.replace("Y", "y") if was_marked else word


_OWN: Final[Mapping[str, Callable[[str], str]]] = {
    "english": _english,
    "porter": _porter,
    "rouge": lambda word: porter_stem(word) if len(word) > 3 else word,
}
_OTHERS: Final = (
    "arabic armenian basque catalan danish dutch finnish french german greek hindi hungarian indonesian irish italian "
    "lithuanian nepali norwegian portuguese romanian russian serbian spanish swedish tamil turkish yiddish"
)
STEMMERS: Final[tuple[str, ...]] = tuple(sorted((*_OWN, *_OTHERS.split())))
"""``rouge``, ``english``, ``porter``, and algorithms of snowballstemmer, such as ``french``."""


def stems(words: Sequence[str], algorithm: str = "english") -> list[str]:
    """Return the stem of each word.

    Words are not lower-cased: an upper-case ending is not an ending.

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
    stem = _OWN.get(algorithm)
    if stem is None:
        module = import_module(f"snowballstemmer.{algorithm}_stemmer")  # `snowballstemmer.stemmer` may ask PyStemmer
        stem = getattr(module, f"{algorithm.title()}Stemmer")().stemWord
    return list(map(stem, words))


def stems_signature(algorithm: str = "english") -> str:
    """Return the entry of a stemmer in signatures: the algorithm, and the version of the rules.

    Raises:
        UnknownName: There is no such algorithm.

    >>> stems_signature("porter")
    'porter-2.2.0.3'
    """
    _check(algorithm)
    if algorithm == "rouge":
        return algorithm
    return f"{algorithm}-{_RULES if algorithm in _OWN else metadata.version('snowballstemmer')}"


def _check(algorithm: str) -> None:
    UnknownName.check("stemmer", algorithm, STEMMERS)
