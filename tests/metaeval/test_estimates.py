"""Estimated means of systems: the worked values of the method's definition, its cases, and PPI++ by ppi-python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.metaeval.estimates import estimate
from postil.metaeval.rated_outputs import outputs_of
from postil.metaeval.score_matrix import Rated, Scored
from postil.records.results import EstimateResult, EstimateSettings, SystemDifference, SystemEstimate
from postil.records.rows import Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SYSTEMS = "ABC"
SETTINGS = EstimateSettings(postil="0")


def grade(item: int, system: int) -> int:
    return 1 + (item**2 + 2 * system * item + system) % 5


SCORES = {
    "f1": lambda i, s: grade(i, s) + ((3 * i + 2 * s) % 4) / 2,
    "f2": lambda i, s: (7 * i + s) % 6,
}


def score_rows(metrics: Iterable[str] = ("f1", "f2"), systems: str = SYSTEMS) -> list[Score]:
    """Scores of twelve items."""
    return [
        Score(str(i), SYSTEMS[s], metric, float(SCORES[metric](i, s)), f"{metric}|v1")
        for metric in metrics
        for i in range(12)
        for s in map(SYSTEMS.index, systems)
    ]


def judgements(
    systems: str = SYSTEMS,
    *,
    second: bool = True,
    items: int = 9,
    without: Callable[[int, str], bool] = lambda _i, _s: False,
) -> list[Judgement]:
    """Ratings of the first items; those with even numbers have a second one."""
    rows = []
    for i in range(items):
        for s in map(SYSTEMS.index, systems):
            if without(i, SYSTEMS[s]):
                continue
            rows.append(Judgement(str(i), SYSTEMS[s], "ann", float(grade(i, s))))
            if second and i % 2 == 0:
                rows.append(Judgement(str(i), SYSTEMS[s], "bob", float(min(5, grade(i, s) + (i // 2 + s) % 2))))
    return rows


def found(
    scores: Sequence[Score] | None = None, ratings: Sequence[Judgement] | None = None, **options: Any
) -> EstimateResult:
    given = score_rows() if scores is None else scores
    metrics = options.pop("metrics", ())
    settings = EstimateSettings(postil="0", lower_is_better=options.pop("lower_is_better", ()))
    use = options.get("method") != "human"
    rated = Rated(judgements() if ratings is None else ratings)
    return estimate(outputs_of(Scored(given), rated, metrics, scores=use), **options, settings=settings)


def row(result: EstimateResult, system: str) -> SystemEstimate:
    return next(each for each in result.systems if each.system == system)


def pair(result: EstimateResult, *names: str) -> SystemDifference:
    return next(each for each in result.differences if {each.first, each.second} == {*names})


def means(result: EstimateResult) -> list[float]:
    return [row(result, system).mean for system in SYSTEMS]


def near(expected: object) -> Any:
    return pytest.approx(expected, abs=1e-6)


HOLES = {"0": "A", "1": "BC", "2": "C"}


@pytest.mark.parametrize(
    ("scores", "ratings", "target", "expected"),
    [
        (
            ("f1", "f2"),
            judgements(),
            "population",
            {
                "means": [3.001013, 3.319104, 3.997727],
                "human": [3.166667, 3.388889, 3.944444],
                "v": [0.278375, 0.062769, 0.124057],
                "r2": 0.493972,
                "efficiency": [1.140892, 1.148459],
                "weights": [0.307949, -0.128500],
                "slopes": [1.5, 1.5, 1.368321],
            },
        ),
        (
            ("f1", "f2"),
            judgements(),
            "items",
            {
                "means": [3.001013, 3.319104, 3.997727],
                "human": [3.166667, 3.388889, 3.944444],
                "v": [0.048115, 0.005817, 0.031143],
                "r2": 0.493972,
                "efficiency": [1.732951, 1.706236],
                "weights": [0.307949, -0.128500],
                "slopes": [1.5, 1.5, 1.368321],
                "rater_variance": 0.166667,
            },
        ),
        (
            ("f1", "f2"),
            judgements(second=False),
            "items",
            {
                "means": [2.935202, 3.148324, 3.945747],
                "human": [3.111111, 3.222222, 3.888889],
                "v": [0.159841, 0.015074, 0.094495],
                "r2": 0.488389,
                "efficiency": [1.954609, 1.951376],
                "weights": [0.324774, -0.138077],
                "slopes": [1.5, 1.5, 1.369959],
            },
        ),
        (
            ("f2",),
            judgements(),
            "population",
            {
                "means": [3.166667, 3.388889, 3.944444],
                "human": [3.166667, 3.388889, 3.944444],
                "v": [0.320388, 0.075936, 0.137260],
                "r2": 0.031146,
                "efficiency": [1.0, 1.0],
                "weights": [0.0],
                "slopes": [0.0, 0.0, 0.0],
            },
        ),
        (
            ("f1", "f2"),
            judgements(without=lambda i, s: s in HOLES.get(str(i), "")),
            "population",
            {
                "means": [3.227923, 3.191656, 3.986171],
                "human": [3.437500, 3.187500, 3.928571],
                "v": [0.281778, 0.088692, 0.154127],
                "r2": 0.381205,
                "efficiency": [1.149869, 1.185072],
                "weights": [0.229135, -0.147582],
                "slopes": [1.5, 1.5, 1.408549],
            },
        ),
    ],
    ids=["population", "items", "one rating", "not used", "holes"],
)
def test_worked_table(scores: Sequence[str], ratings: list[Judgement], target: Any, expected: dict[str, Any]) -> None:
    result = found(score_rows(scores), ratings, target=target)
    assert means(result) == near(expected["means"])
    assert [row(result, system).human_mean for system in SYSTEMS] == near(expected["human"])
    assert result.r_squared == near(expected["r2"])
    efficiency = result.relative_efficiency
    assert [efficiency.means, efficiency.differences] == near(expected["efficiency"])
    assert [each.weight for each in result.scores] == near(expected["weights"])
    assert [row(result, system).slope for system in SYSTEMS] == near(expected["slopes"])
    if "rater_variance" in expected:
        assert result.rater_variance == near(expected["rater_variance"])
    assert result.scores_used == (expected["efficiency"] != [1.0, 1.0])
    slope = float(result.scores_used)
    assert (result.common_slope, result.item_slope, result.crossed) == (slope, slope, True)
    v_aa, v_ab, v_cc = expected["v"]
    t = {9: 2.306004135, 8: 2.364624252, 7: 2.446911851}
    for system, variance in (("A", v_aa), ("C", v_cc)):
        each = row(result, system)
        assert each.high is not None
        assert ((each.high - each.mean) / t[each.n]) ** 2 == near(variance)
    both = pair(result, "A", "B")
    assert both.high is not None
    v_bb = _variance(result, "B", t)
    df = min(row(result, "A").n, row(result, "B").n)
    assert (v_aa + v_bb - ((both.high - both.value) / t[df]) ** 2) / 2 == pytest.approx(v_ab, abs=2e-6)


def _variance(result: EstimateResult, system: str, t: dict[int, float]) -> float:
    each = row(result, system)
    assert each.high is not None
    return float(((each.high - each.mean) / t[each.n]) ** 2)


def test_worked_intervals_differences_and_groups() -> None:
    population, items = found(), found(target="items")
    a = row(population, "A")
    assert [a.low, a.high, a.human_low, a.human_high] == near([1.784337, 4.217689, 1.861404, 4.471929])
    assert [each.balance_z for each in population.scores] == near([0.768473, -1])
    both = pair(items, "A", "C")
    assert [both.p, both.p_holm] == near([0.000634, 0.001901])
    assert [row(items, system).letters for system in SYSTEMS] == ["b", "ab", "a"]
    assert [(row(items, s).rank_low, row(items, s).rank_high) for s in SYSTEMS] == [(2, 3), (1, 3), (1, 2)]
    assert [each.system for each in items.systems] == ["C", "B", "A"]
    assert (both.first, both.value) == ("C", near(3.997727 - 3.001013))


def test_one_system_has_no_item_slope() -> None:
    result = found(score_rows(systems="A"), judgements("A"))
    each = row(result, "A")
    assert [each.mean, each.human_mean, result.r_squared, each.slope] == near([3.074165, 3.166667, 0.364306, 1.5])
    assert [score.weight for score in result.scores] == near([0.307957, -0.024282])
    assert each.high is not None
    assert each.human_high is not None
    assert ((each.high - each.mean) / 2.306004135) ** 2 == near(0.328222)
    assert ((each.human_high - each.human_mean) / 2.306004135) ** 2 == near(0.361111)
    assert result.common_slope == near(1)
    assert (result.item_slope, result.crossed, result.relative_efficiency.differences) == (None, False, None)
    assert result.differences == ()
    assert (each.rank_low, each.rank_high, each.letters) == (1, 1, "a")
