"""Bootstrap of variance components: all pairs compared one by one, the point estimate, and coverage."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.meta import variance_components
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.table import Ratings
from postil.meta.variance_components import component_intervals, design_of, resampled_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.variance_components import Design


def design(grades: NDArray[np.float64]) -> Design:
    """The design of float64[items, systems, raters], NaN where there is no rating."""
    there = ~np.isnan(grades)
    item, system = np.nonzero(there.any(axis=2))
    counts = there[item, system].sum(axis=1)
    ratings = Ratings(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        annotators=np.nonzero(there)[2].astype(np.int32),
        grades=grades[there],
        names=tuple(f"r{rater}" for rater in range(grades.shape[2])),
    )
    return design_of(ratings, item, system)


def drawn(seed: int, items: int = 6, systems: int = 3, raters: int = 3, holes: float = 0.2) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    grades = sum(rng.normal(size=shape) for shape in ((items, 1, 1), (1, 1, raters), (items, systems, raters)))
    return np.where(rng.random(grades.shape) < holes, np.nan, 100 + grades)


def by_pairs(of: Design, times: NDArray[np.int32]) -> dict[str, float]:
    """Components of one resample, from every pair of its ratings."""
    facets = tuple(of.facets)
    first = np.unique(of.facets[facets[0]], return_inverse=True)[1]
    rows = [(row, copy) for row in range(len(of.grades)) for copy in range(times[first[row]])]
    squares: dict[frozenset[str], list[float]] = {}
    for (one, copy), (other, again) in itertools.permutations(rows, 2):
        if first[one] == first[other] and copy != again:
            continue
        shared = frozenset(name for name in facets if of.facets[name][one] == of.facets[name][other])
        squares.setdefault(shared, []).append((of.grades[one] - of.grades[other]) ** 2 / 2)
    mean = {shared: float(np.mean(each)) for shared, each in squares.items()}
    if of.rest == "residual":
        mean[frozenset(facets)] = 0.0
    found = {}
    for size in range(1, len(facets) + 1):
        for component in itertools.combinations(facets, size):
            value = 0.0
            for some in range(size + 1):
                for shared in itertools.combinations(component, some):
                    value -= (-1) ** (size - some) * mean.get(frozenset(shared), np.nan)
            found[of.rest if size == len(facets) and of.rest == "residual" else ":".join(component)] = value
    return found if of.rest == "residual" else {**found, "within": mean[frozenset(facets)]}


@pytest.mark.parametrize("shape", [(6, 3, 3), (7, 1, 3)])
@pytest.mark.parametrize("block", [1, 2**22])
def test_resamples_are_those_of_all_pairs(
    shape: tuple[int, int, int], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variance_components, "BLOCK", block)
    of = design(drawn(1, *shape))
    found = resampled_components(of, draws=Draws(resamples=8, seed=3))
    items = len(np.unique(next(iter(of.facets.values()))))
    for place, times in enumerate(bootstrap_counts(items, 8, 3)):
        expected = by_pairs(of, times)
        assert list(found) == list(expected)
        assert [values[place] for values in found.values()] == pytest.approx(
            list(expected.values()), abs=1e-9, nan_ok=True
        )


def test_raters_who_never_meet_again() -> None:
    grades = np.full((5, 2, 20), np.nan)
    rng = np.random.default_rng(0)
    for place, (item, system) in enumerate(itertools.product(range(5), range(2))):
        grades[item, system, [2 * place, 2 * place + 1]] = rng.normal(size=2)
    of = design(grades)
    assert of.rest == "within"
    (times,) = bootstrap_counts(5, 1, 2)
    found = [float(values[0]) for values in resampled_components(of, draws=Draws(resamples=1, seed=2)).values()]
    assert found == pytest.approx(list(by_pairs(of, times).values()), abs=1e-9)


def test_intervals_hold_the_components_of_the_ratings() -> None:
    rng = np.random.default_rng(5)
    covered = {"item": 0, "item:system": 0, "residual": 0}
    true = {"item": 0.36, "item:system": 0.25, "residual": 0.49}
    for _ in range(100):
        grades = rng.normal(0, 0.6, (25, 1, 1)) + rng.normal(0, 0.5, (25, 4, 1)) + rng.normal(0, 0.7, (25, 4, 3))
        found = component_intervals(design(grades), draws=Draws(resamples=200))
        for name in covered:
            ends = found[name]
            covered[name] += ends is not None and ends.low <= true[name] <= ends.high
    assert min(covered.values()) >= 84


def test_the_same_seed_gives_the_same_intervals() -> None:
    of = design(drawn(2))
    assert component_intervals(of, draws=Draws(seed=1)) == component_intervals(of, draws=Draws(seed=1))
    assert component_intervals(of, draws=Draws(seed=1)) != component_intervals(of, draws=Draws(seed=2))
