"""The stemmer ``rouge`` against NLTK's, as rouge-score uses it."""

from __future__ import annotations

import random
import re

import pytest
from originals import DATA, mohler

from postil.text.stems import porter_stem

pytestmark = pytest.mark.parity

ENDINGS = (
    "ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness fulness ousness "
    "aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment "
    "ent ion ou ism ate iti ous ive ize ed ing eed ied ies sses ss s y e ll l at bl iz"
)
IRREGULAR = "sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed"


def _check(words: set[str]) -> None:
    stemmer = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    assert {word: porter_stem(word) for word in words} == {word: stemmer.stem(word) for word in words}


def test_endings() -> None:
    rng = random.Random(1980)  # noqa: S311 - words, not secrets
    endings, words = ENDINGS.split(), {*IRREGULAR.split(), "succeed"}
    for _ in range(20_000):
        head, tail = rng.choices("aeiouybcdlstwxz9", k=rng.randint(0, 6)), rng.choices(endings, k=rng.randint(0, 3))
        words.add("".join(head + tail))
    _check(words)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the data folder POSTIL_DATA")
def test_words_of_answers() -> None:
    texts = mohler()
    _check(set(re.findall("[a-z0-9]+", " ".join(texts.candidates))))
