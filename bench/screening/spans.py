"""Toxic characters of texts, by a fit of words to marked texts and by lists of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.screening.peers import badwords, packaged, words_of
from bench.screening.workload import random_folds
from postil.screening.features import count_grams
from postil.screening.fit import FOLDS, DecidedTexts, fitted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.screening.workload import MarkedText
    from postil.kernel.arrays import Booleans, Floats


def f1_of_characters(found: Iterable[tuple[int, int]], wanted: Iterable[tuple[int, int]]) -> float:
    """F1 of the characters of a text as SemEval-2021 task 5 has it: 1 where neither marks any, 0 where one does."""
    got, marked = (set[int]().union(*(range(*span) for span in spans)) for spans in (found, wanted))
    if not got or not marked:
        return float(not got and not marked)
    return 2 * len(got & marked) / (len(got) + len(marked))


def by_words(texts: list[MarkedText]) -> list[list[tuple[int, int]]]:
    """Spans by fits of the words of other texts, each with its n-grams alone, to whether it overlaps a marked span."""
    fold = random_folds(np.arange(len(texts)))
    bounds = [words_of(each.text) for each in texts]
    words = [[each.text[begin:end] for begin, end in spans] for each, spans in zip(texts, bounds, strict=True)]
    labels = [
        [any(begin < last and first < end for first, last in each.spans) for begin, end in spans]
        for each, spans in zip(texts, bounds, strict=True)
    ]
    found = list[list[tuple[int, int]]]([[] for _ in texts])
    for number in range(FOLDS):
        train = np.flatnonzero(fold != number)
        seen = _texts([word for at in train for word in words[at]])
        model = fitted(seen, np.array([label for at in train for label in labels[at]])[:, None])
        for at in np.flatnonzero(fold == number):
            likely = model.logits(_texts(words[at]))[:, 0] > 0
            found[at] = _joined(bounds[at], likely)
    return found


def _texts(words: list[str]) -> DecidedTexts:
    return DecidedTexts(count_grams(words), np.zeros((len(words), 0), np.float32))


def _joined(bounds: list[tuple[int, int]], likely: Booleans) -> list[tuple[int, int]]:
    """Spans of likely words, with what is between two successive ones."""
    found = list[tuple[int, int]]()
    for at, (begin, end) in enumerate(bounds):
        if not likely[at]:
            continue
        first = found.pop()[0] if at and likely[at - 1] else begin
        found.append((first, end))
    return found


def measured(texts: list[MarkedText]) -> dict[str, Floats]:
    """F1 of each text by each way to mark."""
    plain = [each.text for each in texts]
    spans = {"words, fitted": by_words(texts), "list of the package": packaged(plain)}
    if (lists := badwords("en")) is not None:
        spans["list of badwords-py"] = lists(plain)
    spans["nothing marked"] = [[] for _ in texts]
    return {
        name: np.array([f1_of_characters(one, each.spans) for one, each in zip(found, texts, strict=True)])
        for name, found in spans.items()
    }
