"""METEOR's alignment and score for every candidate and its references."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from postil.kernel.python.alignment import beam_search, fewest_crossings
from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.kernel.python.alignment import Partners
    from postil.kernel.python.overlap import Overlap

__all__ = ["meteor"]


class _Side(NamedTuple):
    """A text: its classes (words or stems), its words, and the synsets of each word."""

    classes: list[int]
    words: list[int]
    synsets: list[frozenset[int]]


def _partners(candidate: _Side, reference: _Side) -> list[Partners]:
    """Partners of each word of the reference; equal words have the same."""
    of_word, of_class = dict[int, int](), dict[int, int]()
    synsets = dict[int, frozenset[int]]()
    for place, (word, kind, senses) in enumerate(
        zip(candidate.words, candidate.classes, candidate.synsets, strict=True)
    ):
        of_word[word] = of_word.get(word, 0) | 1 << place
        of_class[kind] = of_class.get(kind, 0) | 1 << place
        synsets[word] = senses
    found: dict[int, Partners] = {}
    for word, kind, senses in zip(reference.words, reference.classes, reference.synsets, strict=True):
        if word not in found:
            exact, synonyms = of_word.get(word, 0), 0
            for other, theirs in synsets.items():
                synonyms |= of_word[other] if other != word and theirs & senses else 0
            found[word] = exact, of_class.get(kind, 0) & ~exact, synonyms
    return [found[word] for word in reference.words]


def meteor(  # noqa: PLR0917 - the kernel's arrays
    overlap: Overlap,
    weights: NDArray[np.float64],
    parameters: Sequence[float],
    stage_weights: Sequence[float],
    beam: int,
    candidate_words: NDArray[np.int32],
    reference_words: NDArray[np.int32],
    function: NDArray[np.uint8],
    synset_offsets: NDArray[np.int64] | None,
    synsets: NDArray[np.int32] | None,
    jobs: int = 1,
    outside: bool = False,  # noqa: FBT001, FBT002 - as the compiled kernel's
    crossings: bool = False,  # noqa: FBT001, FBT002 - as the compiled kernel's
) -> NDArray[np.float64]:
    """Score every candidate with its best reference; see :class:`postil.metrics.meteor.Meteor` for the formula.

    Args:
        overlap: Candidates and references by stems, or by words where the stem stage is off.
        weights: float64[m].
        parameters: alpha, beta, gamma, delta.
        stage_weights: Weights of exact, stem and synonym matches.
        beam: Paths kept by the alignment.
        candidate_words: The candidates' word ids, in the order of the overlap's.
        reference_words: The references' word ids.
        function: uint8[words], 1 for a function word.
        synset_offsets: int64[words + 1] and
        synsets: int32, the synsets of each word, sorted; None without the synonym stage.
        jobs: Threads of the compiled kernel.
        outside: True to choose the reference by weight times F alone, and of equal ones by the score.
        crossings: True for the alignment with the fewest crossings, without synonyms; equal texts have a chunk then.

    Returns:
        float64[n, 9]: the score, and of the first best reference: weighted matches of the candidate and of the
        reference, weighted lengths of both, chunks (0 where the texts are the same), matches, the reference's weight,
        and 1 if the search for its alignment was cut short.
    """
    del jobs
    require(not (crossings and synset_offsets is not None), "expected no synonyms with the fewest crossings")
    _check(overlap, weights, candidate_words, reference_words, function, synset_offsets, synsets)
    numbers = "expected 4 parameters, 3 weights and a beam"
    require(len(parameters) == 4 and len(stage_weights) == 3 and beam > 0, numbers)
    alpha, beta, gamma, delta = parameters

    def weigh(words: Sequence[int]) -> float:
        functions = int(function[words].sum()) if len(words) else 0
        return delta * (len(words) - functions) + (1.0 - delta) * functions

    def side(classes: list[int], ids: NDArray[np.int32], begin: int) -> _Side:
        words = ids[begin : begin + len(classes)].tolist()
        if synset_offsets is None or synsets is None:
            return _Side(classes, words, [frozenset()] * len(words))
        senses = [frozenset(synsets[synset_offsets[w] : synset_offsets[w + 1]].tolist()) for w in words]
        return _Side(classes, words, senses)

    reference_begins = np.cumsum([0, *map(len, overlap.references)]).tolist()
    out = np.zeros((len(overlap), 9))
    begin = 0
    for row, classes, span in overlap.rows():
        candidate = side(classes, candidate_words, begin)
        begin += len(classes)
        best = (0.0, 0.0)
        for j in span:
            reference = side(overlap.references[j], reference_words, reference_begins[j])
            rows = _partners(candidate, reference)
            found = fewest_crossings(rows) if crossings else beam_search(rows, len(candidate.words), beam)
            own = theirs = 0.0
            for stage, weight in enumerate(stage_weights):
                own += weight * weigh([candidate.words[i] for _, i, s in found.pairs if s == stage])
                theirs += weight * weigh([reference.words[t] for t, _, s in found.pairs if s == stage])
            matches = len(found.pairs)
            same = not crossings and found.chunks == 1 and matches == len(candidate.words) == len(reference.words)
            chunks = 0 if same else found.chunks
            lengths, score, without = (weigh(candidate.words), weigh(reference.words)), 0.0, 0.0
            if own > 0.0 and theirs > 0.0:
                f_mean = 1.0 / ((1.0 - alpha) / (own / lengths[0]) + alpha / (theirs / lengths[1]))
                score = float(weights[j]) * (f_mean * (1.0 - (gamma * (chunks / matches) ** beta if chunks else 0.0)))
                without = float(weights[j]) * f_mean
            if j == span.start or ((without if outside else score), score) > best:
                best = (without if outside else score), score
                out[row] = score, own, theirs, *lengths, chunks, matches, weights[j], found.cut
    return out


def _check(  # noqa: PLR0917 - the kernel's arrays
    overlap: Overlap,
    weights: NDArray[np.float64],
    candidate_words: NDArray[np.int32],
    reference_words: NDArray[np.int32],
    function: NDArray[np.uint8],
    synset_offsets: NDArray[np.int64] | None,
    synsets: NDArray[np.int32] | None,
) -> None:
    """Raise a ValueError where the arrays of `meteor` do not fit together."""
    overlap.check(weights)
    of_words = "expected a number of each word, and for each number whether it is a function word"
    for texts, ids in ((overlap.candidates, candidate_words), (overlap.references, reference_words)):
        require(len(ids) == sum(map(len, texts)), of_words)
        check_places(ids, len(function), of_words)
    require((function < 2).all(), of_words)
    require((synset_offsets is None) == (synsets is None), "expected synsets and their offsets")
    if synset_offsets is not None and synsets is not None:
        require(len(synset_offsets) == len(function) + 1, "expected synsets of each word")
        check_offsets(synset_offsets, len(synsets), "expected synsets of each word")
