"""Compare splitters of sentences on texts split by hand, and by their speed.

    python -m bench.sentences.run

Those of pysbd, sentencex, blingfire, syntok, nupunkt, NLTK's Punkt without a model and spaCy's sentencizer that are
installed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import time
from typing import TYPE_CHECKING

from bench.sentences.texts import split_texts
from postil.text.sentences import sentence_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bench.sentences.texts import SplitText

    Splitter = Callable[[str, str], list[tuple[int, int]]]

SECONDS = 2.0
"""Least time that a measurement of speed takes, where the first text does not take longer."""


def found(text: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Bounds of sentences that a library gives as strings; those that it has changed are left out."""
    bounds, end = list[tuple[int, int]](), 0
    for sentence in sentences:
        begin = text.find(sentence.strip(), end)
        if begin >= 0 and sentence.strip():
            end = begin + len(sentence.strip())
            bounds.append((begin, end))
    return bounds


def pysbd() -> Splitter:
    library = importlib.import_module("pysbd")
    made = {lang: library.Segmenter(language=lang, clean=False) for lang in library.languages.LANGUAGE_CODES}
    return lambda text, lang: found(text, made[lang].segment(text))


def sentencex() -> Splitter:
    library = importlib.import_module("sentencex")
    return lambda text, lang: found(text, library.segment(lang, text))


def blingfire() -> Splitter:
    library = importlib.import_module("blingfire")
    return lambda text, lang: library.text_to_sentences_and_offsets(text)[1]  # noqa: ARG005


def syntok() -> Splitter:
    library = importlib.import_module("syntok.segmenter")

    def split(text: str, lang: str) -> list[tuple[int, int]]:  # noqa: ARG001
        sentences = [one for paragraph in library.analyze(text) for one in paragraph]
        return [(one[0].offset, one[-1].offset + len(one[-1].value)) for one in sentences]

    return split


def nupunkt() -> Splitter:
    library = importlib.import_module("nupunkt")
    return lambda text, lang: library.sent_spans(text)  # noqa: ARG005


def nltk() -> Splitter:
    tokenizer = importlib.import_module("nltk.tokenize.punkt").PunktSentenceTokenizer()
    return lambda text, lang: list(tokenizer.span_tokenize(text))  # noqa: ARG005


def spacy() -> Splitter:
    pipeline = importlib.import_module("spacy").blank("xx")
    pipeline.add_pipe("sentencizer")
    return lambda text, lang: [(one.start_char, one.end_char) for one in pipeline(text).sents]  # noqa: ARG005


PEERS: tuple[Callable[[], Splitter], ...] = (pysbd, sentencex, blingfire, syntok, nupunkt, nltk, spacy)


def agreement(split: Splitter, texts: list[SplitText]) -> str:
    """Precision, recall and F1 of the boundaries within texts."""
    pairs = [(one.marks(split(one.text, one.lang)), one.marks(one.bounds)) for one in texts]
    right = sum(len(got & wanted) for got, wanted in pairs)
    got, wanted = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return f"{right / max(got, 1):.3f} {right / wanted:.3f} {2 * right / (got + wanted):.3f}"


def speed(split: Splitter, texts: list[SplitText]) -> float:
    """Megabytes of UTF-8 in a second, over English texts of some 11,000 characters."""
    text = "\n\n".join(one.text for one in texts if one.lang == "en")
    rounds, start = 0, time.perf_counter()
    while not rounds or time.perf_counter() - start < SECONDS:
        split(text, "en")
        rounds += 1
    return rounds * len(text.encode()) / (time.perf_counter() - start) / 1e6


def main() -> None:
    made, later = split_texts("boundaries"), split_texts("heldout")
    print(
        "P, R and F1 of boundaries     rules made by: en    other             written later: en    other         MB/s"
    )
    for peer in (None, *PEERS):
        name = peer.__name__ if peer else "postil"
        try:
            split = peer() if peer else sentence_bounds
        except ImportError:
            print(f"{name:18} not installed")
            continue
        version = f" {importlib.metadata.version(name)}" if peer else ""
        cells = [
            agreement(split, [one for one in texts if (one.lang == "en") == english])
            for texts in (made, later)
            for english in (True, False)
        ]
        print(f"{name + version:18} {'   '.join(cells)}   {speed(split, made):.2f}")


if __name__ == "__main__":
    main()
