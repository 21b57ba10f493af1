"""Language of a text, by py3langid: a naive Bayes classifier of byte n-grams whose model is in the package.

Its probabilities are calibrated over lengths, so that names, code or five words are told from a text in a language.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from postil.data.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["detect_language", "primary_language", "sentence_languages"]

_PIECES: Final = 20
_PIECE: Final = 500
"""A long text is looked at in 20 pieces of 500 characters, spread over it."""
_SURE: Final = 0.7
"""Least probability of the language of a piece, and least share of it in the pieces whose language can be told."""
_TOLD: Final = 0.25
"""Share of the letters of a text that must be in such pieces; names, tables and code are in the others."""
_FEWEST: Final = 12
"""Fewest letters that tell a language; one of a script without an alphabet counts as three."""

_ALONE: Final = 25
"""Fewest letters of the only sentence of a page in a language, so that it is believed to be in it."""

_NO_WORDS: Final = re.compile(r"https?://\S+|www\.\S+|(?<!\S)\S+@\S+|[\d_]+")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_WHOLE_WORDS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_VARIETIES: Final = {"wuu": "zh", "yue": "zh", "ary": "ar", "arz": "ar"}
"""Languages of three letters that are written nearly as one of two."""


def primary_language(tag: str) -> str:
    """The language of a BCP 47 tag.

    Args:
        tag: The tag.

    >>> primary_language("en-GB"), primary_language("zh_Hans")
    ('en', 'zh')
    """
    return re.split("[-_]", tag.strip().lower())[0]


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
        count = _letters(piece)
        letters += count
        lang = _language_of(piece) if count >= _FEWEST else None
        if lang:
            votes[lang] += count
    if votes.total() <= letters * _TOLD:
        return None
    lang, most = votes.most_common(1)[0]
    return lang if most >= _SURE * votes.total() else None


def sentence_languages(
    sentences: Sequence[str], blocks: Sequence[int], main: str | None = None
) -> tuple[str | None, ...]:
    """Languages of the sentences of a page, smoothed over its blocks.

    A sentence whose own language can be told is in it, if it is the page's, or if the page has more of it or the
    sentence is long. The others are in the language of most letters of such sentences of their block, else in that of
    the page.

    Args:
        sentences: n sentences.
        blocks: The block of each, by number; the sentences of one stand together.
        main: The page's language as it was found or named; by default the one of most letters.

    Returns:
        The language of each, as `detect_language` names it; None where nothing on the page tells.

    >>> page = ["The lock keeper wrote everything down.", "Er schrieb alles in ein grünes Buch.", "Nine left.", "Neun."]
    >>> sentence_languages([*page[::2], *page[1::2]], [0, 0, 1, 1])
    ('en', 'en', 'de', 'de')
    """
    found = [detect_language(sentence) for sentence in sentences]
    letters = [_letters(sentence) for sentence in sentences]
    if main is None:
        main = _heaviest(found, letters)
    known = {lang for lang in found if lang is not None and (lang == main or _vouched(lang, found, letters))}
    found = [lang if lang in known else None for lang in found]
    for places in grouped((block, place) for place, block in enumerate(blocks)).values():
        usual = _heaviest([found[at] for at in places], [letters[at] for at in places]) or main
        for at in places:
            found[at] = found[at] or usual
    return tuple(found)


def _vouched(lang: str, found: Sequence[str | None], letters: Sequence[int]) -> bool:
    """True if a page has enough of a language to believe that a sentence is in it."""
    own = [count for each, count in zip(found, letters, strict=True) if each == lang]
    return len(own) > 1 or max(own) >= _ALONE


def _heaviest(found: Sequence[str | None], letters: Sequence[int]) -> str | None:
    """The language of most letters, the first of them; None where none is known."""
    votes = Counter[str]()
    for lang, count in zip(found, letters, strict=True):
        if lang is not None:
            votes[lang] += count
    return votes.most_common(1)[0][0] if votes else None


def _letters(text: str) -> int:
    return len(_LETTERS.findall(text)) + 2 * len(_WHOLE_WORDS.findall(text))


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
