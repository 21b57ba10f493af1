"""METEOR's alignment and score for every candidate and its references.

Places in the candidate are sets, as bits of integers. A word of the reference has a set of partners for each stage;
where words occur often, the searches look at the few partners that can matter.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from heapq import merge
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from postil.kernel.python.checks import check_offsets, check_places, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.kernel.python.overlap import Overlap

    Distance: TypeAlias = Callable[[int, int], int]

__all__ = ["EXACT", "STEM", "SYNONYM", "Alignment", "Pair", "Partners", "beam_search", "fewest_crossings", "meteor"]

EXACT, STEM, SYNONYM = range(3)
NO_CHUNK: Final = -1
NARROW: Final = 16
"""Number of states of the first, quick search for the fewest crossings."""
STATES: Final = 1000
"""Largest number of states of the search for the fewest crossings."""
STEPS: Final = 1 << 22
"""Largest number of its steps, or one for each word of the reference."""

Pair: TypeAlias = tuple[int, int, int]
"""Reference position, candidate position, stage."""
Partners: TypeAlias = tuple[int, int, int]
"""Partners of a word of the reference by stage, as sets of places."""
Chain: TypeAlias = "tuple[Chain, Pair] | None"
"""Pairs, the last one first."""


class Alignment(NamedTuple):
    """An alignment that was found.

    Args:
        pairs: The pairs, in the order of the reference.
        chunks: Number of runs of pairs that are adjacent on both sides.
        cut: True if the search left alignments out, so that another one could be better.
    """

    pairs: list[Pair]
    chunks: int
    cut: bool = False


class _Path(NamedTuple):
    """A partial alignment of METEOR 1.5."""

    exact: int = 0
    """Exact matches. Stems and synonyms count for nothing here, whatever their weight in the score."""
    chunks: int = 0
    """Closed chunks."""
    distance: int = 0
    open_end: int = NO_CHUNK
    """The candidate position that would continue the open chunk."""
    used: int = 0
    pairs: Chain = None

    def rank(self) -> tuple[int, int, int]:
        """Sort key; smaller is better."""
        return -self.exact, self.chunks, self.distance

    def take(self, at: int, place: int, stage: int, distance: int) -> _Path:
        """Match reference word ``at`` with candidate word ``place``."""
        return _Path(
            self.exact + (stage == EXACT),
            self.chunks + (self.open_end not in (NO_CHUNK, place)),
            self.distance + distance,
            place + 1,
            self.used | 1 << place,
            (self.pairs, (at, place, stage)),
        )

    def close(self, distance: int = 0) -> _Path:
        """Close the open chunk."""
        chunks = self.chunks + (self.open_end != NO_CHUNK)
        return self._replace(chunks=chunks, distance=self.distance + distance, open_end=NO_CHUNK)


def beam_search(rows: Sequence[Partners], length: int, beam: int) -> Alignment:
    """The beam search of METEOR 1.5.

    The reference is read from left to right. Each path takes each free partner of the word, in order, or none; after
    each word the paths are sorted, stably, by `_Path.rank` and the first ``beam`` are kept. A word whose only partner
    has no other is always taken. A pair's distance counts for the steps of its path after it.

    Args:
        rows: Partners of each word of the reference.
        length: Number of words of the candidate.
        beam: Number of paths kept; 40 in METEOR 1.5.

    >>> beam_search([(1, 0, 0), (0, 0, 0), (2, 0, 0)], 2, 40)
    Alignment(pairs=[(0, 0, 0), (2, 1, 0)], chunks=2, cut=False)
    """
    once = twice = 0
    for row in rows:
        for places in row:
            once, twice = once | places, twice | once & places
    distance_of = partial(_distance, _bits_of_places(length.bit_length()))
    paths = [_Path()]
    for at, row in enumerate(rows):
        only = row[EXACT] | row[STEM] | row[SYNONYM]
        if only and not only & only - 1 and only & ~twice:
            place, stage = only.bit_length() - 1, next(stage for stage, places in enumerate(row) if places)
            paths = sorted((path.take(at, place, stage, 0) for path in paths), key=_Path.rank)
        elif only:
            longer = (_extensions(path, at, row, distance_of) for path in paths)
            paths = list(islice(merge(*longer, key=_Path.rank), beam))
        else:
            paths = sorted((path.close() for path in paths), key=_Path.rank)
    best = min((path.close() for path in paths), key=_Path.rank)
    return Alignment(_in_order(best.pairs), best.chunks)


def _extensions(path: _Path, at: int, row: Partners, distance_of: Distance) -> Iterator[_Path]:
    """The path with each free partner, and with none; the best first, so that few are made."""
    yield from (path.take(at, *step) for step in _steps(path, at, row[:1], 0, distance_of))
    before = distance_of(row[EXACT] & ~path.used, at)
    yield from (path.take(at, *step) for step in _steps(path, at, row[1:], before, distance_of))
    yield path.close(before + sum(distance_of(places & ~path.used, at) for places in row[1:]))


def _steps(
    path: _Path, at: int, stages: Sequence[int], before: int, distance_of: Distance
) -> Iterator[tuple[int, int, int]]:
    """Free partners, their stage and the distance of those before: those that go on with the chunk, then the others."""
    first = EXACT if len(stages) == 1 else STEM
    free = [places & ~path.used for places in stages]
    if path.open_end != NO_CHUNK:
        goes_on = 1 << path.open_end
        for stage, places in enumerate(free, first):
            if places & goes_on:
                earlier = sum(distance_of(others, at) for others in free[: stage - first])
                yield path.open_end, stage, before + earlier + distance_of(places & goes_on - 1, at)
    done = before
    for stage, places in enumerate(free, first):
        for place in _each(places):
            if place != path.open_end:
                yield place, stage, done
            done += abs(at - place)


def fewest_crossings(rows: Sequence[Partners], states: int = STATES) -> Alignment:
    """The alignment of METEOR's first paper (Banerjee and Lavie 2005), stage by stage: equal words, then equal stems.

    Of the alignments with most matches it is the one with the fewest crossings, pairs of pairs in another order on both
    sides; of these the one with the fewest chunks. The reference is read from left to right, and after each word there
    is a state for each set of places that are used. Above a number of states, or of steps in all, the worst are
    dropped.

    Args:
        rows: Partners of each word of the reference, of two stages.
        states: Largest number of states.

    >>> fewest_crossings([(0b101, 0, 0), (0b010, 0, 0)])  # a b against a b a
    Alignment(pairs=[(0, 0, 0), (1, 1, 0)], chunks=1, cut=False)
    """
    pairs: dict[int, tuple[int, int]] = {}
    cut = False
    for stage in (EXACT, STEM):
        used = sum(1 << place for place, _ in pairs.values())
        of_class = [
            0 if at in pairs else (row[EXACT] if stage == EXACT else row[EXACT] | row[STEM]) & ~used
            for at, row in enumerate(rows)
        ]
        search = _Crossings(of_class, {at: place for at, (place, _) in pairs.items()})
        if search.choices:
            best, short = search.search(min(NARROW, states), None)
            if short:
                wide, short = search.search(states, best.crossings)
                best = wide if wide[:2] < best[:2] else best
            found, cut = {at: place for at, place, _ in _in_order(best.pairs)}, cut or short
        else:
            found = search.forced
        pairs |= {at: (place, stage) for at, place in found.items() if at not in pairs}
    chunks, before = 0, (-2, -2)
    for at in sorted(pairs):
        chunks, before = chunks + (before != (at - 1, pairs[at][0] - 1)), (at, pairs[at][0])
    return Alignment([(at, *pairs[at]) for at in sorted(pairs)], chunks, cut)


class _State(NamedTuple):
    """A partial alignment: its choices alone cost something, as all else is the same in all."""

    crossings: int = 0
    chunks: int = 0
    open_end: int = NO_CHUNK
    used: int = 0
    pairs: Chain = None


WORST: Final = _State(crossings=1 << 62)


class _Crossings:
    """The search of one stage.

    A class of words that occurs as often on both sides is aligned in order, since undoing a crossing of equal words
    costs nothing; so are the chosen words of other classes. Where the candidate has fewer words of a class, some of the
    reference's are left out; where it has more, some of its own are.

    Args:
        of_class: For each word of the reference the free places of its class, 0 for none.
        aligned: Place of each word that was aligned before.
    """

    def __init__(self, of_class: Sequence[int], aligned: Mapping[int, int]) -> None:
        self.forced = dict(aligned)
        """Place of each word of the reference that has no choice."""
        self.choices: dict[int, _Choice] = {}
        """The other words that have partners."""
        self._count = len(of_class)
        counts, seen = Counter(of_class), Counter[int]()
        listed = {places: list(_each(places)) for places in counts}
        for at, places in enumerate(of_class):
            if not places:
                continue
            own, theirs, number = places.bit_count(), counts[places], seen[places]
            seen[places] += 1
            if own == theirs:
                self.forced[at] = listed[places][number]
            else:
                first, last = sorted((number, number + own - theirs))
                allowed = listed[places][max(0, first) : last + 1]
                self.choices[at] = _Choice(places, allowed, own > theirs, theirs - number - 1)
        crossing = _CrossingsWith(self.forced, self._count)
        self._cost = {
            (at, place): crossing.count(at, place) for at, choice in self.choices.items() for place in choice.allowed
        }
        # For each word the number of states that the next one with a choice may have.
        self._states = [STATES] * self._count
        steps = {at: len(choice.allowed) if choice.must else 2 for at, choice in self.choices.items()}
        for at, after in pairwise(self.choices):
            self._states[at] = max(1, min(STATES, STEPS // (steps[after] * len(steps))))
        self._least = [0] * (self._count + 1)
        for at in reversed(range(self._count)):
            choice = self.choices.get(at)
            some = min(self._cost[at, place] for place in choice.allowed) if choice and choice.must else 0
            self._least[at] = self._least[at + 1] + some

    def search(self, states: int, most: int | None) -> tuple[_State, bool]:
        """Find the fewest crossings with a largest number of states, of alignments up to a number of crossings.

        Returns:
            The best state, `WORST` if none was left, and True if some were dropped.
        """
        beam, cut = [_State()], False
        places = max(1, STEPS // max(1, len(self.choices)))
        for at in range(self._count):
            if at in self.forced:
                beam = [self._taken(state, at, self.forced[at], choice=False) for state in beam]
                continue
            if at not in self.choices:
                beam = [_closed(state) for state in beam]
                continue
            proposed = list[_State]()
            for state in beam:
                several = list(islice(self._next(state, at), places + 1))
                cut = cut or len(several) > places
                proposed += several[:places]
            if most is not None:
                proposed = [state for state in proposed if state.crossings + self._least[at + 1] <= most]
            distinct: dict[tuple[int, int], _State] = {}
            for state in sorted(proposed, key=lambda state: state[:2]):
                distinct.setdefault((state.used, state.open_end), state)
            kept = min(states, self._states[at])
            beam, cut = list(distinct.values())[:kept], cut or len(distinct) > kept
        return min(map(_closed, beam), key=lambda state: state[:2], default=WORST), cut

    def _next(self, state: _State, at: int) -> Iterator[_State]:
        """A state with each place that the next word may take, and with none where its class has words to spare."""
        choice = self.choices[at]
        free = choice.places & ~state.used
        if choice.must:
            after = (choice.places & state.used).bit_length()  # equal words keep their order
            for place in choice.allowed:
                if place >= after:
                    yield self._taken(state, at, place)
            return
        if free:
            yield self._taken(state, at, (free & -free).bit_length() - 1)
        if free.bit_count() <= choice.left:
            yield _closed(state)

    def _taken(self, state: _State, at: int, place: int, *, choice: bool = True) -> _State:
        crossings = self._cost[at, place] + (state.used >> place + 1).bit_count() if choice else 0
        return _State(
            state.crossings + crossings,
            state.chunks + (state.open_end not in (NO_CHUNK, place)),
            place + 1,
            state.used | (1 << place if choice else 0),
            (state.pairs, (at, place, 0)),
        )


class _Choice(NamedTuple):
    """A word of the reference that has a choice."""

    places: int
    """Places of its class."""
    allowed: list[int]
    """Places that it may have."""
    must: bool
    """True if it has one of them, as its class has more places than words; else it has the first free one, or none."""
    left: int
    """Number of words of its class behind it."""


def _closed(state: _State) -> _State:
    return state._replace(chunks=state.chunks + (state.open_end != NO_CHUNK), open_end=NO_CHUNK)


class _CrossingsWith:
    """Number of pairs that a pair would cross, of some that are there.

    Args:
        pairs: Place of each aligned word of the reference.
        count: Number of words of the reference.
    """

    def __init__(self, pairs: Mapping[int, int], count: int) -> None:
        self._before = [0] * (count + 1)
        for at in range(count):
            self._before[at + 1] = self._before[at] | (1 << pairs[at] if at in pairs else 0)
        self._all = self._before[count]

    def count(self, at: int, place: int) -> int:
        """Number of pairs before the word and behind the place, or the other way round."""
        before = self._before[at]
        return (before >> place).bit_count() + (self._all & ~before & (1 << place) - 1).bit_count()


def _in_order(pairs: Chain) -> list[Pair]:
    found: list[Pair] = []
    while pairs is not None:
        pairs, pair = pairs
        found.append(pair)
    return found[::-1]


def _each(places: int) -> Iterator[int]:
    """The places of a set, in order."""
    while places:
        low = places & -places
        yield low.bit_length() - 1
        places ^= low


@cache
def _bits_of_places(bits: int) -> list[int]:
    """For each bit of numbers below a power of 2 the set of those places that have it."""
    found = []
    for bit in range(bits):
        block, width = (1 << (1 << bit)) - 1 << (1 << bit), 1 << bit + 1
        while width < 1 << bits:
            block, width = block | block << width, width * 2
        found.append(block)
    return found


def _distance(of_bits: Sequence[int], places: int, at: int) -> int:
    """Sum of the distances of places from a position."""
    below = places & (1 << at) - 1
    above = places ^ below
    return at * (below.bit_count() - above.bit_count()) + _sum(of_bits, above) - _sum(of_bits, below)


def _sum(of_bits: Sequence[int], places: int) -> int:
    return sum((places & each).bit_count() << bit for bit, each in enumerate(of_bits))


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
