"""METEOR's alignment and score for every candidate and its references."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.kernel.python.overlap import Overlap

__all__ = ["Path", "align", "meteor"]

EXACT, STEM, SYNONYM = range(3)
NO_CHUNK: Final = -1


class Path(NamedTuple):
    """A partial alignment."""

    exact: int = 0
    """Exact matches. Stems and synonyms count for nothing here, whatever their weight in the score."""
    chunks: int = 0
    """Closed chunks: runs of matches that are adjacent on both sides."""
    distance: int = 0
    open_end: int = NO_CHUNK
    """The candidate position that would continue the open chunk."""
    used: frozenset[int] = frozenset()
    pairs: tuple[tuple[int, int, int], ...] = ()
    """(reference position, candidate position, stage) of each match."""

    def rank(self) -> tuple[int, int, int]:
        """Sort key; smaller is better."""
        return -self.exact, self.chunks, self.distance

    def take(self, at: int, place: int, stage: int) -> Path:
        """Match reference word ``at`` with candidate word ``place``."""
        return Path(
            self.exact + (stage == EXACT),
            self.chunks + (self.open_end not in (NO_CHUNK, place)),
            self.distance,
            place + 1,
            self.used | {place},
            (*self.pairs, (at, place, stage)),
        )

    def close(self) -> Path:
        """Close the open chunk."""
        return self._replace(chunks=self.chunks + (self.open_end != NO_CHUNK), open_end=NO_CHUNK)


def align(options: Sequence[Sequence[tuple[int, int]]], beam: int) -> Path:
    """The beam search of METEOR 1.5.

    The reference is read from left to right. Each path takes each free partner of the word, in order, or none; after
    each word the paths are sorted, stably, by `Path.rank` and the first ``beam`` are kept. A word whose only partner
    has no other is always taken.

    Args:
        options: For each word of the reference its partners, (candidate position, stage), exact ones first.
        beam: Number of paths kept; 40 in METEOR 1.5.

    >>> align([[(0, 0)], [], [(1, 0)]], 40).chunks
    2
    """
    partners = Counter(place for row in options for place, _ in row)
    paths = [Path()]
    for at, row in enumerate(options):
        if len(row) == 1 and partners[row[0][0]] == 1:
            paths = [path.take(at, *row[0]) for path in paths]
        else:
            paths = [longer for path in paths for longer in _extensions(path, at, row)]
        paths = sorted(paths, key=Path.rank)[:beam]
    return min((path.close() for path in paths), key=Path.rank)


def _extensions(path: Path, at: int, row: Sequence[tuple[int, int]]) -> list[Path]:
    """The path extended by each free partner, and by none. A pair's distance counts for those after it."""
    longer: list[Path] = []
    for place, stage in row:
        if place not in path.used:
            longer.append(path.take(at, place, stage))
            path = path._replace(distance=path.distance + abs(at - place))
    return [*longer, path.close()]


class _Side(NamedTuple):
    """A text: its classes (words or stems), its words, and the synsets of each word."""

    classes: list[int]
    words: list[int]
    synsets: list[frozenset[int]]


def _options(candidate: _Side, reference: _Side) -> list[list[tuple[int, int]]]:
    places = range(len(candidate.words))
    rows: list[list[tuple[int, int]]] = []
    for word, kind, synsets in zip(reference.words, reference.classes, reference.synsets, strict=True):
        exact = [(i, EXACT) for i in places if candidate.words[i] == word]
        stem = [(i, STEM) for i in places if candidate.words[i] != word and candidate.classes[i] == kind]
        synonym = [(i, SYNONYM) for i in places if candidate.words[i] != word and candidate.synsets[i] & synsets]
        rows.append(exact + stem + synonym)
    return rows


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

    Returns:
        float64[n, 8]: the score, and of the first best reference: weighted matches of the candidate and of the
        reference, weighted lengths of both, chunks (0 where the texts are the same), matches, the reference's weight.
    """
    del jobs
    _check(overlap, weights, candidate_words, reference_words, function, synset_offsets, synsets)
    require(
        len(parameters) == 4 and len(stage_weights) == 3 and beam > 0, "expected 4 parameters, 3 weights and a beam"
    )
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
    out = np.zeros((len(overlap), 8))
    begin = 0
    for row, classes, span in overlap.rows():
        candidate = side(classes, candidate_words, begin)
        begin += len(classes)
        best = (0.0, 0.0)
        for j in span:
            reference = side(overlap.references[j], reference_words, reference_begins[j])
            path = align(_options(candidate, reference), beam)
            own = theirs = 0.0
            for stage, weight in enumerate(stage_weights):
                own += weight * weigh([candidate.words[i] for _, i, s in path.pairs if s == stage])
                theirs += weight * weigh([reference.words[t] for t, _, s in path.pairs if s == stage])
            matches = len(path.pairs)
            same = path.chunks == 1 and matches == len(candidate.words) == len(reference.words)
            chunks = 0 if same else path.chunks
            lengths = weigh(candidate.words), weigh(reference.words)
            score = without = 0.0
            if own > 0.0 and theirs > 0.0:
                f_mean = 1.0 / ((1.0 - alpha) / (own / lengths[0]) + alpha / (theirs / lengths[1]))
                score = float(weights[j]) * (f_mean * (1.0 - (gamma * (chunks / matches) ** beta if chunks else 0.0)))
                without = float(weights[j]) * f_mean
            if j == span.start or ((without if outside else score), score) > best:
                best = (without if outside else score), score
                out[row] = score, own, theirs, *lengths, chunks, matches, weights[j]
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
