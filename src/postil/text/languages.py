"""Language of a text, by py3langid: a naive Bayes classifier of byte n-grams whose model is in the package.

Its probabilities are calibrated over lengths, so that names, code or five words are told from a text in a language.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

__all__ = ["detect_language"]

_PIECES: Final = 20
_PIECE: Final = 500
"""A long text is looked at in 20 pieces of 500 characters, spread over it."""
_SURE: Final = 0.7
"""Least probability of the language of a piece, and least share of it in the pieces whose language can be told."""
_TOLD: Final = 0.25
"""Share of the letters of a text that must be in such pieces; names, tables and code are in the others."""
_FEWEST: Final = 12
"""Fewest letters that tell a language; one of a script without an alphabet counts as three."""

_NO_WORDS: Final = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[\d_]+")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_WHOLE_WORDS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_VARIETIES: Final = {"wuu": "zh", "yue": "zh", "ary": "ar", "arz": "ar"}
"""Languages of three letters that are written nearly as one of two."""


def detect_language(text: str) -> str | None:
    """Return the language of a text.

    Args:
        text: The text. Of a long one, some 10,000 characters spread over it are looked at.

    Returns:
        Two letters of ISO 639-1 (``no`` for Norwegian Bokmål); None where it cannot be told: a text that is too short,
        in several languages, in none, or in one that has no two letters.

    >>> detect_language("The baker closed early because nobody wanted bread.")
    'en'
    >>> detect_language("面包师很早就关门了，因为没有人想买面包。")
    'zh'
    >>> detect_language("Tom, Meg, Bill") is None
    True
    """
    votes, letters = Counter[str](), 0
    for piece in _pieces(text):
        count = len(_LETTERS.findall(piece)) + 2 * len(_WHOLE_WORDS.findall(piece))
        letters += count
        lang = _language_of(piece) if count >= _FEWEST else None
        if lang:
            votes[lang] += count
    if votes.total() <= letters * _TOLD:
        return None
    lang, most = votes.most_common(1)[0]
    return lang if most >= _SURE * votes.total() else None


def _pieces(text: str) -> list[str]:
    """Parts of a text without addresses and numbers."""
    last = len(text) - _PIECE
    starts = [0] if last <= 0 else sorted({i * last // (_PIECES - 1) for i in range(_PIECES)})
    if 0 < last < _PIECE * _PIECES:
        starts = list(range(0, len(text), _PIECE))
    return [_NO_WORDS.sub(" ", text[start : start + _PIECE]) for start in starts]


def _language_of(piece: str) -> str | None:
    """The probable language of a part of a text, None where none is."""
    chances = Counter[str]()
    for lang, chance in _identifier().rank(piece):
        chances[_VARIETIES.get(lang, lang)] += chance
    lang, chance = chances.most_common(1)[0]
    return lang if chance >= _SURE and len(lang) == 2 else None


@cache
def _identifier() -> LanguageIdentifier:
    """The classifier, which takes half a second to load."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
