from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from postil.data.rows import Judgement, Score
from postil.meta.table import join
from postil.meta.variance_components import GROWTH, rater_variance
from table_p import table_p

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
    more = {
        "pool": v["rater"] / k,
        "item": 0,
        "system": v["item"] / n + v["rater"] / k + v["item:rater"] / (n * k),
    }
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
