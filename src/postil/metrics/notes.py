"""Notes on scores that may mislead: of copies of references, of another language, and over ``near`` references.

A similarity-weighted mean of the weights, ``over=near`` or ``kernel``, can be the wrong aggregation. Such a score holds
the mean weight of a candidate's references. Where these get worse as the candidate gets better, it works against
itself; and where many references share few distinct weights, those that resemble a candidate are few among those that
only share its common words. On either kind of data it was found to correlate less with human scores than the weighted
maximum; ``docs/findings/references.md`` has the figures.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from postil.data.explain import are
from postil.data.ranking import without_noise
from postil.kernel.python.interning import SPACELESS
from postil.metrics.reference_aggregation import Over, averages_weights
from postil.results.names import copies_remark
from postil.text.han import advice_for
from postil.text.stop_words import STOP_LISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.metrics.base import Metric
    from postil.metrics.references import References
    from postil.text.tokens import Tokens

__all__ = ["NearSigns", "ReferenceCopies", "Writing", "language_remarks", "writing_of"]

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


Keys: TypeAlias = "NDArray[np.uint64]"

_OF_SET: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd factor that keeps equal texts of different sets apart."""


class ReferenceCopies:
    """The candidates that are word for word a reference of their set, but for white space around them.

    Texts are compared by 64 bits of their hash, so that memory grows by eight bytes per reference.

    >>> copies = ReferenceCopies()
    >>> copies.bind(["a b", "c", "a b"], np.array([0, 2, 3]))
    >>> copies.see([" a b", "c", "a"], np.array([0, 1, 1])).tolist(), copies.found, copies.seen
    ([1, 0, 0], 1, 3)
    """

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self.seen = 0
        """Number of candidates so far."""
        self.found = 0
        """Number of them that are references of their item."""

    def bind(self, texts: Sequence[object], offsets: NDArray[np.int64]) -> None:
        """Take the references of the next candidates.

        Args:
            texts: m texts or lists of tokens, set after set.
            offsets: int64[sets + 1], first text of each set.
        """
        self._keys = np.sort(_keys(texts, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))

    def see(self, texts: Sequence[object], sets: NDArray[np.integer]) -> NDArray[np.int64]:
        """Count the references that each candidate is, and the candidates that are any.

        Args:
            texts: n texts or lists of tokens.
            sets: Integers[n], the set of references for each.

        Returns:
            int64[n].
        """
        keys = _keys(texts, sets)
        first, behind = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        self.seen += len(keys)
        self.found += int(np.count_nonzero(behind > first))
        return np.asarray(behind - first, np.int64)

    @property
    def remark(self) -> str:
        """The number of copies, in words; empty without any."""
        return copies_remark(self.found, self.seen)


def _keys(texts: Iterable[object], sets: NDArray[np.integer]) -> Keys:
    """One key per text and set."""
    plain = (hash(text.strip() if isinstance(text, str) else tuple(text)) for text in texts)  # type: ignore[arg-type]
    hashes = np.fromiter(plain, np.int64, len(sets)).view(np.uint64)
    return np.asarray(hashes ^ (sets.astype(np.uint64) * _OF_SET), np.uint64)


AT_SPACES: Final = frozenset({"13a", "ptb", "space"})
"""Tokenizers that split words at spaces and refuse no text; `words` does, and `rouge` says itself what it drops."""
OF_CHINESE: Final = frozenset({"jieba", "rjieba"})
SEPARATED: Final = 6
"""Characters between two spaces, on average, below which somebody has separated the words."""


def language_remarks(metrics: Mapping[str, Metric], tokenizer: str, texts: Sequence[str], what: str) -> Iterator[str]:
    """Yield a remark for each metric and for the tokenizer where they are not for the language of the texts.

    Args:
        metrics: The metrics, by spec.
        tokenizer: Name of the tokenizer.
        texts: The texts, of which the first ones are looked at.
        what: Name of the texts, in the plural.

    >>> from postil.metrics.spec import parse_metric
    >>> texts = ["Das ist nicht der Ort, an dem wir uns mit den anderen getroffen haben."]
    >>> list(language_remarks({"meteor": parse_metric("meteor")}, "words", texts, "references"))
    ['meteor is for English, and the references are German; params=other fits them']
    """
    writing = writing_of(texts)
    if any(metric.needs_words for metric in metrics.values()):
        yield from _of_tokenizer(tokenizer, writing, texts, what)
    if writing.is_english:
        return
    of_english: dict[str, list[str]] = {}
    for spec, metric in metrics.items():
        if metric.for_other_languages:
            of_english.setdefault(metric.for_other_languages, []).append(spec)
    for parameter, specs in of_english.items():
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


MANY: Final = 10.0
"""Smallest number of references per distinct weight, median of the sets, that counts as many."""

SHARE: Final = 0.5
"""Smallest share of candidates that are references elsewhere, as in leave-one-out or halves."""

FALLS: Final = -0.1
"""Largest correlation at which the mean weight of the references counts as falling while the own weight rises."""


class NearSigns:
    """The signs in references and candidates; see the module.

    *Many references with few distinct weights*: in at least half of the sets there are ten or more references for each
    distinct weight. Sets whose references all have one weight have nothing to average and do not count as such.

    *The mean weight of the references falls as the own weight rises*: at least half of the candidates are, word for
    word, references of other sets, which tells their own weight w, and there

        sum x y <= -.1 sqrt(sum x^2 sum y^2),  x = w - m,  y = m - o,

    where m is the mean weight of the candidate's references and o that of the sets that it is a reference in. With
    leave-one-out of n texts, ``y = -x / (n - 1)`` exactly; two halves that are each other's references have some of it.

    Args:
        metrics: Metrics by the spec that the user wrote.
        references: The references that they are bound to.

    >>> from postil.metrics.references import References
    >>> from postil.metrics.spec import parse_metric
    >>> from postil.text.tokens import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> texts = [["b"], ["c"], ["a"], ["c"], ["a"], ["b"]]  # each of a, b and c against the others
    >>> references = References(
    ...     vocabulary.encode_tokens(texts), np.array([0, 2, 4, 6]), np.array([0.5, 0.0, 1.0, 0.0, 1.0, 0.5])
    ... )
    >>> signs = NearSigns({"w-rouge-l(over=near)": parse_metric("w-rouge-l(over=near)")}, references)
    >>> signs.see(vocabulary.branch().encode_tokens([["a"], ["b"], ["c"]]), np.arange(3, dtype=np.int32))
    >>> for line in signs.remarks():
    ...     print(line.partition(",")[0])
    w-rouge-l(over=near): 3 of 3 candidates are references of other items
    """

    def __init__(self, metrics: Mapping[str, Metric], references: References) -> None:
        self._names: dict[str, list[str]] = {}
        for spec, metric in metrics.items():
            if averages_weights(metric):
                self._names.setdefault(Over.of(metric).name, []).append(spec)
        self.asked = bool(self._names)
        """True if a metric averages the weights; without one nothing is computed."""
        self._seen = self._elsewhere = 0
        self._moments = np.zeros(3)
        if not self.asked:
            return
        sizes = np.diff(references.offsets)
        of_set = np.repeat(np.arange(len(sizes)), sizes)
        self._each_weight = _references_of_each_weight(references.weights, of_set, sizes)
        self._means = np.add.reduceat(references.weights, references.offsets[:-1]) / sizes
        self._highest = float(np.abs(references.weights).max())
        self._by_tokens = bool(len(references.tokens.ids))
        self._texts: dict[bytes | str, int] = {}
        text = np.array([self._texts.setdefault(key, len(self._texts)) for key in self._keys(references.tokens)])
        # Of each text, and of each text in each set: how often it is there, its weights and its sets' mean weights.
        values = np.stack([np.ones(len(text)), references.weights, self._means[of_set]])
        self._places, place = np.unique(text * len(sizes) + of_set, return_inverse=True)
        self._of_text = _sums(text, values, len(self._texts))
        self._of_place = _sums(place, values, len(self._places))

    def see(self, candidates: Tokens, sets: NDArray[np.int32]) -> None:
        """Count the next candidates.

        Args:
            candidates: n texts, encoded with the vocabulary of the references or a branch of it.
            sets: int32[n], index of the set of references of each candidate.
        """
        if not self.asked:
            return
        text = np.array([self._texts.get(key, -1) for key in self._keys(candidates)], dtype=np.int64)
        self._seen += len(text)
        known = np.flatnonzero(text >= 0)
        text, own = text[known], sets[known].astype(np.int64)
        key = text * len(self._means) + own
        place = np.minimum(np.searchsorted(self._places, key), len(self._places) - 1)
        n, weight, mean = self._of_text[:, text] - self._of_place[:, place] * (self._places[place] == key)
        there = n > 0.5
        self._elsewhere += int(there.sum())
        own_mean, n = self._means[own[there]], n[there]
        x, y = (
            without_noise(each, self._highest) for each in (weight[there] / n - own_mean, own_mean - mean[there] / n)
        )
        self._moments += [x @ y, x @ x, y @ y]

    def remarks(self) -> Iterator[str]:
        """One warning per sign and aggregation; none if no metric averages the weights."""
        for over, specs in self._names.items():
            yield from self._remarks(", ".join(specs), over)

    def _keys(self, tokens: Tokens) -> Iterator[bytes | str]:
        """Keys of texts: their tokens, or their characters if the references were not tokenized."""
        if not self._by_tokens:
            yield from tokens.raw_texts()
            return
        ids = tokens.ids.tobytes()
        ends = (tokens.offsets * tokens.ids.itemsize).tolist()
        yield from (ids[begin:end] for begin, end in pairwise(ends))

    def _remarks(self, names: str, over: str) -> Iterator[str]:
        if self._each_weight >= MANY:
            yield (
                f"{names}: {self._each_weight:.3g} references for each distinct weight (median of the items); with "
                f"many references and few distinct weights over={over} can correlate less with human scores than "
                "over=max"
            )
        xy, xx, yy = self._moments
        if self._elsewhere and self._elsewhere >= SHARE * self._seen and xy <= FALLS * np.sqrt(xx * yy) < 0:
            yield (
                f"{names}: {self._elsewhere:,} of {self._seen:,} candidates "
                f"{are(self._elsewhere)} references of other items, as in "
                "leave-one-out or in halves, and the mean weight of a candidate's references falls as its own weight "
                f"rises; over={over} follows that mean, against the ranking within an item, and over=max less so"
            )


def _references_of_each_weight(
    weights: NDArray[np.float64], of_set: NDArray[np.int64], sizes: NDArray[np.int64]
) -> float:
    """Number of references per distinct weight, median of the sets; a set with a single weight counts as 0."""
    order = np.lexsort((weights, of_set))
    new = np.concatenate([[True], (np.diff(weights[order]) > 0) | (np.diff(of_set[order]) > 0)])
    distinct = np.bincount(of_set[order][new], minlength=len(sizes))
    return float(np.median(np.where(distinct > 1, sizes / distinct, 0.0)))


def _sums(group: NDArray[np.int64], values: NDArray[np.float64], groups: int) -> NDArray[np.float64]:
    """Sum each row of values by group: float64[rows, groups]."""
    return np.stack([np.bincount(group, row, groups) for row in values])
