"""The language of texts, and remarks where a metric or the tokenizer is for another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.groups import grouped
from postil.kernel.python.interning import SPACELESS
from postil.text.han import advice_for
from postil.text.stop_words import STOP_LISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.metrics.base import Metric

__all__ = ["Writing", "language_remarks", "writing_of"]

FEWEST: Final = 12
"""Smallest number of words that tell a language."""
LEAST: Final = 0.15
"""Smallest share of them that are function words of it."""
DISTINCT: Final = 3
"""Smallest number of different ones."""
MORE: Final = 1.5
"""Least number of its function words for each that another language has."""

_SCRIPTS: Final = {
    "Latin": "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Cyrillic": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "Armenian": "\u0531-\u058f",
    "Hebrew": "\u0591-\u05f4",
    "Arabic": "\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Gurmukhi": "\u0a00-\u0a7f",
    "Gujarati": "\u0a80-\u0aff",
    "Oriya": "\u0b00-\u0b7f",
    "Tamil": "\u0b80-\u0bff",
    "Telugu": "\u0c00-\u0c7f",
    "Kannada": "\u0c80-\u0cff",
    "Malayalam": "\u0d00-\u0d7f",
    "Sinhala": "\u0d80-\u0dff",
    "Georgian": "\u10a0-\u10ff\u1c90-\u1cbf",
    "Ethiopic": "\u1200-\u139f",
    "Hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff",
    **SPACELESS,
}
_LETTERS: Final = {name: re.compile(rf"(?=[^\W\d_])[{characters}]") for name, characters in _SCRIPTS.items()}
_WORD: Final = re.compile(r"\w+")
_LATIN: Final = tuple(lang for lang in STOP_LISTS if lang not in {"ru", "zh"})
_NAMES: Final = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    "sv": "Swedish",
}
_TEXTS_IN: Final = {"Han": "Chinese", "Japanese": "Japanese", "Hangul": "Korean"}
"""Languages of scripts that one language has."""


class Writing(NamedTuple):
    """Script and language of some texts.

    Args:
        script: Name of the script of more than half of the letters, ``Japanese`` for Han with kana; else empty.
        language: Two letters of the language of texts in Latin letters; None where function words do not tell it.
    """

    script: str
    language: str | None

    @property
    def is_english(self) -> bool:
        """True unless script or function words say that it is something else."""
        return self.script in {"", "Latin"} and self.language in {None, "en"}

    @property
    def name(self) -> str:
        """Words for the texts: a language, or a script that several languages have."""
        if self.language:
            return _NAMES[self.language]
        return _TEXTS_IN.get(self.script, f"written in {self.script} letters")


def writing_of(texts: Iterable[str]) -> Writing:
    """Tell the script of some texts, and of Latin letters the language.

    Args:
        texts: The texts; some 200 are enough.

    >>> writing_of(["Das ist nicht der Ort, an dem wir uns mit den anderen getroffen haben."] * 3)
    Writing(script='Latin', language='de')
    >>> writing_of(["今日は天気がいいですね。"]).script, writing_of(["42"]).script
    ('Japanese', '')
    """
    joined = "\n".join(texts)
    letters = {name: len(found.findall(joined)) for name, found in _LETTERS.items()}
    total, script = sum(letters.values()), max(letters, key=letters.__getitem__)
    if script == "Han" and letters["Japanese"] * 20 > letters["Han"]:
        return Writing("Japanese", None)
    if not total or 2 * letters[script] <= total:
        both = letters["Han"] + letters["Japanese"]
        return Writing("Japanese", None) if letters["Japanese"] and 2 * both > total else Writing("", None)
    return Writing(script, _language(joined.lower()) if script == "Latin" else None)


def _language(text: str) -> str | None:
    """The language of Latin letters whose function words are by far the most."""
    words = [word for word in _WORD.findall(text) if word.isalpha()]
    if len(words) < FEWEST:
        return None
    found = {lang: list(filter(stop_words(lang).__contains__, words)) for lang in _LATIN}
    first, second = sorted(found, key=lambda lang: -len(found[lang]))[:2]
    enough = len(found[first]) >= max(LEAST * len(words), MORE * len(found[second]))
    return first if enough and len(set(found[first])) >= DISTINCT else None


AT_SPACES: Final = frozenset({"13a", "ptb", "sacrebleu:13a", "sacrebleu:intl", "space"})
"""Tokenizers that split words at spaces and refuse no text; `words` does, and `rouge` says itself what it drops."""
OF_CHINESE: Final = frozenset({"jieba", "rjieba"})
SEPARATED: Final = 6
"""Characters between two spaces, on average, below which somebody has separated the words."""


def language_remarks(metrics: Mapping[str, Metric], tokenizer: str, texts: Sequence[str], what: str) -> Iterator[str]:
    """Yield a remark for each metric and for the tokenizer where they are not for the language of the texts.

    Args:
        metrics: The metrics, by spec.
        tokenizer: Name of the tokenizer of the run.
        texts: The texts, of which the first ones are looked at.
        what: Name of the texts, in the plural.

    >>> from postil.metrics.spec import parse_metric
    >>> texts = ["Das ist nicht der Ort, an dem wir uns mit den anderen getroffen haben."]
    >>> list(language_remarks({"meteor": parse_metric("meteor")}, "words", texts, "references"))
    ['meteor is for English, and the references are German; params=other fits them']
    """
    writing = writing_of(texts)
    for each in dict.fromkeys(metric.own_tokenizer or tokenizer for metric in metrics.values() if metric.needs_words):
        yield from _of_tokenizer(each, writing, texts, what)
    if writing.is_english:
        return
    for parameter, specs in grouped((metric.for_other_languages, spec) for spec, metric in metrics.items()).items():
        if not parameter:
            continue
        are = "is" if len(specs) == 1 else "are"
        yield f"{', '.join(specs)} {are} for English, and the {what} are {writing.name}; {parameter} fits them"


def _of_tokenizer(tokenizer: str, writing: Writing, texts: Sequence[str], what: str) -> Iterator[str]:
    script = writing.script
    if tokenizer in AT_SPACES and script in SPACELESS and not _are_separated(texts):
        yield (
            f"the tokenizer {tokenizer} splits words at spaces, and the {what} are {writing.name}, without spaces; "
            f"what fits: {advice_for(script)}"
        )
    elif tokenizer in OF_CHINESE and script not in {"", "Latin", "Han"}:
        fits = advice_for(script) if script in SPACELESS else "words"
        yield f"the tokenizer {tokenizer} is for Chinese, and the {what} are {writing.name}; what fits: {fits}"


def _are_separated(texts: Sequence[str]) -> bool:
    """True if spaces separate the words of most texts."""
    runs = [run for text in texts for run in text.split()]
    return sum(map(len, runs)) < SEPARATED * len(runs)
