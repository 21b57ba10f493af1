"""METEOR's alignments, against searches that look at everything."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.kernel import python
from postil.kernel.python.meteor import STATES, beam_search, fewest_crossings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.kernel.python.meteor import Partners

compiled = pytest.importorskip("postil.kernel._compiled")

KERNELS = [python, compiled]
TEXTS = st.lists(st.integers(0, 4), max_size=9)


class Path(NamedTuple):
    """A path of METEOR 1.5, as its program has it."""

    exact: int = 0
    chunks: int = 0
    distance: int = 0
    open_end: int = -1
    pairs: tuple[tuple[int, int, int], ...] = ()

    def rank(self) -> tuple[int, int, int]:
        return -self.exact, self.chunks, self.distance

    def close(self) -> Path:
        return self._replace(chunks=self.chunks + (self.open_end >= 0), open_end=-1)

    def longer(self, at: int, row: Sequence[tuple[int, int]]) -> Iterator[Path]:
        path = self
        for place, stage in row:
            if all(place != used for _, used, _ in self.pairs):
                breaks = self.open_end not in {-1, place}
                pairs = (*self.pairs, (at, place, stage))
                yield Path(path.exact + (stage == 0), path.chunks + breaks, path.distance, place + 1, pairs)
                path = path._replace(distance=path.distance + abs(at - place))
        yield path.close()


def plain_beam(rows: Sequence[Partners], length: int, beam: int) -> tuple[list[tuple[int, int, int]], int]:
    """Every step of every path, sorted."""
    options = [
        [(place, stage) for stage, places in enumerate(row) for place in range(length) if places >> place & 1]
        for row in rows
    ]
    partners = Counter(place for row in options for place, _ in row)
    paths = [Path()]
    for at, row in enumerate(options):
        longer = [each for path in paths for each in path.longer(at, row)]
        if len(row) == 1 and partners[row[0][0]] == 1:
            longer = [path for path in longer if path.pairs and path.pairs[-1][0] == at]
        paths = sorted(longer, key=Path.rank)[:beam]
    best = min((path.close() for path in paths), key=Path.rank)
    return list(best.pairs), best.chunks


def partners_of(candidate: Sequence[int], reference: Sequence[int], stems: Sequence[int]) -> list[Partners]:
    def places(wanted: Sequence[bool]) -> int:
        return sum(1 << place for place, is_one in enumerate(wanted) if is_one)

    return [
        (
            places([mine == word for mine in candidate]),
            places([mine != word and stems[mine] == stems[word] for mine in candidate]),
            places([mine != word and abs(mine - word) == 3 for mine in candidate]),
        )
        for word in reference
    ]


@examples(300)
@given(TEXTS, TEXTS, st.lists(st.integers(0, 2), min_size=5, max_size=5), st.sampled_from([1, 3, 40]))
def test_the_beam_makes_few_steps_and_loses_none(
    candidate: list[int], reference: list[int], stems: list[int], beam: int
) -> None:
    rows = partners_of(candidate, reference, stems)
    found = beam_search(rows, len(candidate), beam)
    assert (found.pairs, found.chunks) == plain_beam(rows, len(candidate), beam)


def crossings(pairs: Sequence[tuple[int, int]]) -> int:
    return sum((a - b) * (i - j) < 0 for (a, i), (b, j) in combinations(pairs, 2))


def chunks(pairs: Sequence[tuple[int, int]]) -> int:
    return sum(not k or pairs[k - 1] != (at - 1, place - 1) for k, (at, place) in enumerate(pairs))


def all_alignments(candidate: Sequence[int], reference: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    def further(at: int, pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        if at == len(reference):
            yield pairs
            return
        yield from further(at + 1, pairs)
        for place, word in enumerate(candidate):
            if word == reference[at] and all(place != used for _, used in pairs):
                yield from further(at + 1, [*pairs, (at, place)])

    yield from further(0, [])


@examples(200)
@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_of_all_alignments_with_most_matches_the_one_with_fewest_crossings(
    candidate: list[int], reference: list[int]
) -> None:
    every = [(-len(pairs), crossings(pairs), chunks(pairs)) for pairs in all_alignments(candidate, reference)]
    found = fewest_crossings([(exact, 0, 0) for exact, _, _ in partners_of(candidate, reference, range(5))])
    pairs = [(at, place) for at, place, _ in found.pairs]
    assert (-len(pairs), crossings(pairs), chunks(pairs)) == min(every)
    assert (found.chunks, found.cut) == (chunks(pairs), False)


def test_stems_are_aligned_after_words() -> None:
    """The second word could be the stem of the first place, which its equal takes."""
    rows = partners_of([0, 1], [1, 0, 1], [0, 0])
    assert fewest_crossings(rows).pairs == [(1, 0, 0), (2, 1, 0)]
    rows = partners_of([0, 2, 0], [1, 0], [0, 0, 1])
    assert fewest_crossings(rows).pairs == [(0, 2, 1), (1, 0, 0)]  # of equal words the first, whatever comes after


def table(kernel: object, candidate: list[int], reference: list[int], *, fewest: bool) -> NDArray[np.float64]:
    ids = [np.array(words, dtype=np.int32) for words in (candidate, reference)]
    stems = np.array([0, 0, 1, 2, 3, 4, 5, 6], dtype=np.int32)
    offsets = [np.array([0, len(words)]) for words in (candidate, reference)]
    one = np.zeros(1, np.int32)
    overlap = kernel.overlap(stems[ids[0]], offsets[0], one, stems[ids[1]], offsets[1], np.array([0, 1]))  # type: ignore[attr-defined]
    given = ([0.85, 0.2, 0.6, 0.75], [1.0, 0.6, 0.8], 40, *ids, np.zeros(8, np.uint8), None, None)
    found: NDArray[np.float64] = kernel.meteor(overlap, np.ones(1), *given, crossings=fewest)  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("fewest", [False, True])
@pytest.mark.parametrize("words", [1, 3, 8])
@pytest.mark.parametrize(("longest", "count"), [(12, 100), (600, 1)])
def test_kernels_agree_on_texts_that_repeat_words(fewest: bool, words: int, longest: int, count: int) -> None:
    """Long ones have so many partners that the compiled kernel does not list them; the others are listed."""
    rng = np.random.default_rng(words)
    for _ in range(count):
        texts = [rng.integers(0, words, rng.integers(longest // 2, longest)).tolist() for _ in range(2)]
        one, other = (table(kernel, *texts, fewest=fewest) for kernel in KERNELS)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_search_that_is_cut_short_says_so(kernel: object) -> None:
    rng = np.random.default_rng(1)
    hard = [rng.integers(0, 8, 60).tolist() for _ in range(2)]
    assert table(kernel, *hard, fewest=True)[0, 8] == 1.0
    assert table(kernel, hard[0], hard[0], fewest=True)[0, 8] == 0.0
    assert table(kernel, *hard, fewest=False)[0, 8] == 0.0


def test_the_states_are_enough_for_short_texts() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        candidate, reference = (rng.zipf(1.5, 20).clip(max=30).tolist() for _ in range(2))
        rows = [(exact, 0, 0) for exact, _, _ in partners_of(candidate, reference, range(31))]
        few, many = fewest_crossings(rows), fewest_crossings(rows, STATES * 10)
        assert few.cut or few == many
