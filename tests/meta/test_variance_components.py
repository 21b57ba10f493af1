"""Variance components and their bootstrap."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.rows import Judgement, Score
from postil.meta import reliability
from postil.meta.reliability import GROWTH, component_intervals, design_of, rater_variance, resampled_components
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.table import Ratings, join
from table_p import table_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.reliability import Design


SHROUT_FLEISS = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]


def table(grades):
    """A table of grades by (item, system, rater)."""
    texts = dict.fromkeys((item, system) for item, system, _ in grades)
    return join(
        [Score(str(item), str(system), "m", 0.0) for item, system in texts],
        [
            Judgement(str(item), str(system), str(rater), float(grade))
            for (item, system, rater), grade in grades.items()
        ],
    )


def crossed(values):
    """A table of float64[items, systems, raters]."""
    return table(dict(np.ndenumerate(values)))


def estimates(found):
    return {each.component: each.estimate for each in found.components}


def with_grades(given, grades):
    return replace(given, ratings=replace(given.ratings, grades=grades))


def mean_squares(values):
    """Mean square of every effect of a complete array, by its axes: that of all axes is the residual."""
    axes = range(values.ndim)
    found = {}
    for effect in [each for size in range(1, values.ndim + 1) for each in itertools.combinations(axes, size)]:
        parts = [
            (-1) ** (len(effect) - len(some)) * values.mean(tuple(set(axes) - set(some)), keepdims=True)
            for size in range(len(effect) + 1)
            for some in itertools.combinations(effect, size)
        ]
        freedom = math.prod(values.shape[axis] - 1 for axis in effect)
        found[effect] = (np.broadcast_to(sum(parts), values.shape) ** 2).sum() / freedom
    return found


def test_shrout_and_fleiss():
    found = rater_variance(crossed(np.array(SHROUT_FLEISS)[:, None]))
    assert found.design == "text x rater"
    assert estimates(found) == pytest.approx({"text": 2.555556, "rater": 5.244444, "residual": 1.019444}, abs=5e-7)
    assert sum(each.share for each in found.components) == pytest.approx(1)
    (level,) = found.levels
    assert (level.by, level.k, level.reason) == ("pool", 4, None)
    assert (level.g, level.phi, level.ceiling) == pytest.approx((0.909316, 0.620051, math.sqrt(0.909316)), abs=5e-7)
    assert [each.k for each in level.growth] == list(GROWTH) == [1, 2, 3, 5, 10]
    one = level.growth[0]
    assert (one.g, one.phi, one.ceiling) == pytest.approx((0.714841, 0.289764, math.sqrt(0.714841)), abs=5e-7)


def test_every_rating_by_another_rater():
    grades = {(i, "a", f"{i}-{r}"): grade for i, row in enumerate(SHROUT_FLEISS) for r, grade in enumerate(row)}
    found = rater_variance(table(grades))
    assert found.design == "ratings within text"
    assert estimates(found) == pytest.approx({"text": 1.244444, "within": 6.263889}, abs=5e-7)
    one = found.levels[0].growth[0]
    assert (one.g, one.phi) == pytest.approx((0.165742, 0.165742), abs=5e-7)


def test_worked_table():
    found = rater_variance(table_p())
    assert found.design == "item x system x rater"
    assert estimates(found) == pytest.approx(
        {
            "item": -0.044745,
            "system": -0.035861,
            "rater": 0.004480,
            "item:system": 1.431241,
            "item:rater": -0.084231,
            "system:rater": -0.037263,
            "residual": 0.412635,
        },
        abs=5e-7,
    )
    assert [each.share for each in found.components if each.estimate < 0] == [0, 0, 0, 0]
    pool, item, system = found.levels
    assert (pool.by, item.by, system.by) == ("pool", "item", "system")
    for level in (pool, item):
        assert (level.k, level.g, level.ceiling) == pytest.approx((2.661290, 0.902256, 0.949872), abs=5e-7)
        assert level.growth[0].g == pytest.approx(0.776213, abs=5e-7)
    assert (pool.phi, item.phi) == pytest.approx((0.901299, item.g), abs=5e-7)
    assert (system.g, system.phi, system.reason) == (None, None, "the estimated variance between systems is 0")
    assert system.ceiling == pytest.approx(0.949872, abs=5e-7)


def test_complete_tables_give_the_analysis_of_variance():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, (7, 4, 3)) + rng.normal(0, 1, (7, 1, 1)) + rng.normal(0, 2, (1, 4, 3))
    squares = mean_squares(values)
    names = dict(enumerate(("item", "system", "rater")))
    expected = {"residual": squares[0, 1, 2]}
    for one, other in itertools.combinations(names, 2):
        (third,) = set(names) - {one, other}
        between = squares[one, other] - squares[0, 1, 2]
        expected[f"{names[one]}:{names[other]}"] = between / values.shape[third]
    for one, name in names.items():
        pairs = [squares[pair] for pair in ((0, 1), (0, 2), (1, 2)) if one in pair]
        expected[name] = (squares[(one,)] - sum(pairs) + squares[0, 1, 2]) / (values.size / values.shape[one])
    assert estimates(rater_variance(crossed(values))) == pytest.approx(expected, abs=1e-10)


def test_raters_who_never_meet_again_give_the_nested_analysis_of_variance():
    values = np.random.default_rng(2).normal(0, 1, (6, 5, 3)) + np.arange(5)[:, None]
    found = rater_variance(table({(i, s, f"{i}-{s}-{r}"): value for (i, s, r), value in np.ndenumerate(values)}))
    squares = mean_squares(values.mean(axis=2))
    within = values.var(axis=2, ddof=1).mean()
    assert found.design == "ratings within item x system"
    assert estimates(found) == pytest.approx(
        {
            "item": (squares[(0,)] - squares[0, 1]) / 5,
            "system": (squares[(1,)] - squares[0, 1]) / 6,
            "item:system": squares[0, 1] - within / 3,
            "within": within,
        },
        abs=1e-10,
    )
    assert [level.by for level in found.levels] == ["pool", "item", "system"]
    # A rater who stays with an item cannot be told from it either.
    stays = rater_variance(table({(i, s, f"{i}-{r}"): value for (i, s, r), value in np.ndenumerate(values)}))
    assert estimates(stays) == estimates(found)


def test_holes_leave_the_estimates_unbiased():
    """Expected estimates are exact: those on the indicators of a component's levels sum to its coefficient."""
    given = table_p()
    text = np.repeat(np.arange(len(given)), given.ratings.counts)
    of_grade = {"item": given.item[text], "system": given.system[text], "rater": given.ratings.annotators}
    names = list(estimates(rater_variance(given)))
    for name in names:
        facets = [of_grade[facet] for facet in ("item:system:rater" if name == "residual" else name).split(":")]
        levels = np.unique(np.column_stack(facets), axis=0, return_inverse=True)[1].ravel()
        each = [
            list(estimates(rater_variance(with_grades(given, (levels == level).astype(np.float64)))).values())
            for level in range(levels.max() + 1)
        ]
        assert np.sum(each, axis=0) == pytest.approx([float(other == name) for other in names], abs=1e-9)


def test_coefficients_of_every_level():
    rng = np.random.default_rng(11)
    values = np.zeros((9, 6, 4))
    for shape in itertools.product((1, 9), (1, 6), (1, 4)):
        values += rng.normal(0, 1, shape)
    grades = {index: value for index, value in np.ndenumerate(values) if rng.random() < 0.8 and index[:2] != (3, 2)}
    given = table(grades)
    found = rater_variance(given)
    v = estimates(found)
    assert min(v.values()) > 0
    k = 1 / np.mean(1 / given.ratings.counts)
    n = 1 / np.mean(1 / np.bincount(given.system))
    true = {"item": v["system"] + v["item:system"], "system": v["system"]}
    true["pool"] = v["item"] + true["item"]
    relative = {
        "pool": (v["item:rater"] + v["system:rater"] + v["residual"]) / k,
        "item": (v["system:rater"] + v["residual"]) / k,
        "system": v["item:system"] / n + v["system:rater"] / k + v["residual"] / (n * k),
    }
    more = {"pool": v["rater"] / k, "item": 0, "system": v["item"] / n + v["rater"] / k + v["item:rater"] / (n * k)}
    for level in found.levels:
        by = level.by
        assert level.k == pytest.approx(k)
        assert level.g == pytest.approx(true[by] / (true[by] + relative[by]))
        assert level.phi == pytest.approx(true[by] / (true[by] + relative[by] + more[by]))
        if by == "system":
            seen = v["system"] + v["item:system"] / n
            error = (v["system:rater"] + v["residual"] / n) / k
            assert level.ceiling == pytest.approx(math.sqrt(seen / (seen + error)))
        else:
            assert level.ceiling == pytest.approx(math.sqrt(level.g))
        for values in ([each.g for each in level.growth], [each.phi for each in level.growth]):
            assert values == sorted(values)


def test_the_ceiling_is_reached_by_the_true_scores():
    """The true value of every text correlates with the mean of k raters as much as the ceiling says."""
    rng = np.random.default_rng(4)
    found, ceilings = [], []
    for _ in range(20):
        true = rng.normal(0, 1, 300)
        values = true[:, None] + rng.normal(0, 1, (300, 3))
        found.append(np.corrcoef(true, values.mean(axis=1))[0, 1])
        ceilings.append(rater_variance(crossed(values[:, None])).levels[0].ceiling)
    assert np.mean(ceilings) == pytest.approx(np.mean(found), abs=0.01)
    assert np.mean(ceilings) == pytest.approx(math.sqrt(3 / 4), abs=0.01)


def test_equal_grades_have_no_variance():
    found = rater_variance(crossed(np.full((4, 3, 2), 0.1)))
    assert set(estimates(found).values()) == {0.0}
    assert {each.share for each in found.components} == {None}
    assert [(each.g, each.phi, each.ceiling) for each in found.levels] == [(None, None, None)] * 3
    assert [each.reason for each in found.levels] == [
        f"the estimated variance between {of} is 0" for of in ("texts", "texts of an item", "systems")
    ]


def test_raters_who_agree():
    values = np.repeat(np.random.default_rng(5).normal(1e6, 1e-3, (8, 1, 1)), 3, axis=2)
    found = rater_variance(crossed(values))
    assert (found.components[1].estimate, found.components[2].estimate) == (0, 0)
    assert (found.levels[0].g, found.levels[0].phi, found.levels[0].ceiling) == (1, 1, 1)


@pytest.mark.parametrize(
    ("grades", "reason"),
    [
        ({(i, s, "ann"): i * s for i in range(3) for s in range(2)}, "no text has two grades"),
        ({(i, 0, i % 2): i for i in range(6)}, "no text has two grades"),
        ({(0, s, r): s + r for s in range(3) for r in range(2)}, "there is only one item"),
        ({(i, 0, r): 1e150 * i for i in range(3) for r in range(2)}, "grades beyond 1e+140 have no variance"),
        (
            {(0, 0, 0): 1, (0, 0, 1): 2, (1, 1, 0): 3, (1, 2, 0): 4, (2, 0, 1): 1, (2, 2, 1): 3},
            "no two grades share just the item, so the components cannot be told apart",
        ),
        (
            {(0, "a", 0): 1, (0, "a", 1): 2, (1, "b", 0): 3, (1, "b", 1): 2, (1, "c", 2): 1},
            "no two grades share just the system, so the components cannot be told apart",
        ),
        (
            {(0, "a", 0): 1, (0, "a", 1): 2, (0, "b", 0): 3, (1, "a", 0): 2},
            "every two grades share the item or the system or the rater, so the components cannot be told apart",
        ),
    ],
)
def test_components_that_cannot_be_told_apart(grades, reason):
    found = rater_variance(table(grades))
    assert (found.design, found.components, found.levels) == ("", (), ())
    assert found.reason.startswith(reason)


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
    monkeypatch.setattr(reliability, "BLOCK", block)
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
