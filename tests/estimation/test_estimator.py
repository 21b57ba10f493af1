"""Estimated means of systems: the worked values of the method's definition, its cases, and PPI++ by ppi-python."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import postil
from postil.data.rows import Judgement, Score
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.estimation.estimator import estimate
from postil.estimation.result import EstimateResult, EstimateSettings, SystemDifference, SystemEstimate
from postil.meta.estimation import outputs_of
from postil.meta.table import Judged, Scored
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from postil.meta.estimation import Target

SYSTEMS = "ABC"
DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def grade(item: int, system: int) -> int:
    return 1 + (item**2 + 2 * system * item + system) % 5


SCORES = {"f1": lambda i, s: grade(i, s) + ((3 * i + 2 * s) % 4) / 2, "f2": lambda i, s: (7 * i + s) % 6}


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
    rated = Judged(judgements() if ratings is None else ratings)
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


class Worked(NamedTuple):
    """Values by system, where they are lists of three; variances of A and C, and the covariance of A and B between."""

    means: Sequence[float]
    human: Sequence[float]
    v: Sequence[float]
    r2: float
    efficiency: Sequence[float]
    weights: Sequence[float]
    slopes: Sequence[float] = (1.5, 1.5, 1.368321)


MEANS, HUMAN = [3.001013, 3.319104, 3.997727], [3.166667, 3.388889, 3.944444]
BOTH = {"r2": 0.493972, "weights": [0.307949, -0.128500]}
WORKED: Mapping[str, tuple[Sequence[str], list[Judgement], str, Worked]] = {
    "population": (
        *(("f1", "f2"), judgements(), "population"),
        Worked(MEANS, HUMAN, [0.278375, 0.062769, 0.124057], efficiency=[1.140892, 1.148459], **BOTH),
    ),
    "items": (
        *(("f1", "f2"), judgements(), "items"),
        Worked(MEANS, HUMAN, [0.048115, 0.005817, 0.031143], efficiency=[1.732951, 1.706236], **BOTH),
    ),
    "one rating": (
        *(("f1", "f2"), judgements(second=False), "items"),
        Worked(
            *([2.935202, 3.148324, 3.945747], [3.111111, 3.222222, 3.888889], [0.159841, 0.015074, 0.094495]),
            *(0.488389, [1.954609, 1.951376], [0.324774, -0.138077], [1.5, 1.5, 1.369959]),
        ),
    ),
    "not used": (
        *(("f2",), judgements(), "population"),
        Worked(HUMAN, HUMAN, [0.320388, 0.075936, 0.137260], 0.031146, [1.0, 1.0], [0.0], [0.0, 0.0, 0.0]),
    ),
    "holes": (
        *(("f1", "f2"), judgements(without=lambda i, s: s in HOLES.get(str(i), "")), "population"),
        Worked(
            *([3.227923, 3.191656, 3.986171], [3.437500, 3.187500, 3.928571], [0.281778, 0.088692, 0.154127]),
            *(0.381205, [1.149869, 1.185072], [0.229135, -0.147582], [1.5, 1.5, 1.408549]),
        ),
    ),
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_table(name: str) -> None:
    scores, ratings, target, expected = WORKED[name]
    result = found(score_rows(scores), ratings, target=target)
    assert means(result) == near(expected.means)
    assert [row(result, system).human_mean for system in SYSTEMS] == near(expected.human)
    assert result.r_squared == near(expected.r2)
    efficiency = result.relative_efficiency
    assert [efficiency.means, efficiency.differences] == near(expected.efficiency)
    assert [each.weight for each in result.scores] == near(expected.weights)
    assert [row(result, system).slope for system in SYSTEMS] == near(expected.slopes)
    if name == "items":
        assert result.rater_variance == near(0.166667)
    assert result.scores_used == (name != "not used")
    slope = float(result.scores_used)
    assert (result.common_slope, result.item_slope, result.crossed) == (slope, slope, True)
    v_aa, v_ab, v_cc = expected.v
    t = {9: 2.306004135, 8: 2.364624252, 7: 2.446911851}
    for system, variance in (("A", v_aa), ("C", v_cc)):
        each = row(result, system)
        assert ((each.high - each.mean) / t[each.n]) ** 2 == near(variance)
    both = pair(result, "A", "B")
    v_bb = _variance(result, "B", t)
    df = min(row(result, "A").n, row(result, "B").n)
    assert (v_aa + v_bb - ((both.high - both.value) / t[df]) ** 2) / 2 == pytest.approx(v_ab, abs=2e-6)


def _variance(result: EstimateResult, system: str, t: dict[int, float]) -> float:
    each = row(result, system)
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
    assert ((each.high - each.mean) / 2.306004135) ** 2 == near(0.328222)
    assert ((each.human_high - each.human_mean) / 2.306004135) ** 2 == near(0.361111)
    assert result.common_slope == near(1)
    assert (result.item_slope, result.crossed, result.relative_efficiency.differences) == (None, False, None)
    assert result.differences == ()
    assert (each.rank_low, each.rank_high, each.letters) == (1, 1, "a")


# Cases


def test_few_graded_items_leave_the_ratings_alone() -> None:
    result = found(ratings=judgements(items=5))
    assert result.notes[0] == ("scores not used: 5 graded items (8 needed); the results are those of the ratings alone")
    assert not result.scores_used
    for each in result.systems:
        assert (each.mean, each.low, each.high) == (each.human_mean, each.human_low, each.human_high)


def test_scores_that_explain_little_leave_the_ratings_alone_to_the_last_bit() -> None:
    result, alone = found(score_rows(["f2"])), found(score_rows(["f2"]), method="human")
    assert result.notes[0] == (
        "scores not used: they explain 3 % of the variance of the grades (5 % needed); the results are those of the "
        "ratings alone"
    )
    assert result.differences == alone.differences
    for one, other in zip(result.systems, alone.systems, strict=True):
        assert (one.mean, one.low, one.high) == (other.mean, other.low, other.high)
        assert (one.slope, other.slope) == (0.0, None)


def test_one_graded_item_of_a_system_has_a_mean_and_no_interval() -> None:
    result = found(ratings=judgements(without=lambda i, s: s == "B" and i > 0))
    b = row(result, "B")
    assert (b.n, b.low, b.high, b.human_low, b.human_high) == (1, None, None, None, None)
    assert 1 <= b.mean <= 5
    assert [(each.system, each.other, each.reason) for each in result.undefined] == [("B", "", "one graded item")]
    assert (pair(result, "A", "B").p, pair(result, "A", "B").low) == (None, None)
    assert pair(result, "A", "C").p_holm == pair(result, "A", "C").p
    assert set(b.letters) >= set(row(result, "A").letters)


@pytest.mark.parametrize("method", ["crossed", "human"])
def test_one_graded_item_has_means_alone(method: Any) -> None:
    result = found(ratings=judgements(items=1), method=method)
    assert {each.reason for each in result.undefined} == {"one graded item"}
    assert [row(result, system).mean for system in SYSTEMS] == [1.0, 2.5, 3.0]
    assert result.curve == ()
    assert result.relative_efficiency.means is None
    assert Result.from_json(result.to_json()) == result
    if method == "crossed":
        assert result.notes[0].startswith("scores not used: 1 graded item (8 needed)")
        assert (result.r_squared, [each.weight for each in result.scores]) == (None, [None, None])


def test_each_system_on_one_item_of_its_own() -> None:
    result = found(ratings=judgements(without=lambda i, s: i != SYSTEMS.index(s)), target="items")
    assert {each.reason for each in result.undefined} == {"one graded item"}
    assert len(result.undefined) == 3


def test_equal_grades_of_all_systems_have_no_interval() -> None:
    result = found(ratings=[Judgement(str(i), s, "ann", 5.0) for i in range(9) for s in SYSTEMS])
    assert {each.reason for each in result.undefined} == {"all grades of all systems are 5"}
    assert [each.mean for each in result.systems] == [5.0] * 3
    assert all(each.low is None for each in result.systems)
    assert all(each.p is None for each in result.differences)
    assert {each.letters for each in result.systems} == {"a"}


def test_equal_grades_of_each_system_have_no_interval() -> None:
    result = found(ratings=[Judgement(str(i), s, "ann", float("ABC".index(s))) for i in range(9) for s in SYSTEMS])
    assert {each.reason for each in result.undefined} == {"all grades of each system are equal"}


def test_equal_grades_of_one_system_have_a_moderated_interval_and_a_note() -> None:
    rows = [each for each in judgements() if each.system != "A"]
    result = found(ratings=[*rows, *(Judgement(str(i), "A", "ann", 5.0) for i in range(9))])
    a = row(result, "A")
    assert a.low < a.mean < (a.high or 0)
    assert "all 9 grades of A are 5" in result.notes


def test_mostly_equal_grades_of_a_system_have_a_note() -> None:
    scores = [Score(str(i), "A", "f", float(i % 7), "") for i in range(30)]
    for low, said in ((2, True), (3, False)):
        rated = [Judgement(str(i), "A", "ann", 4.0 if i < low else 5.0) for i in range(20)]
        note = "most grades of A are 5: its CI may cover less than 95 %"
        assert (note in found(scores, rated).notes) is said


def test_what_lacks_something_is_excluded_counted_and_named() -> None:
    scores = [*score_rows(), *(Score(str(i), "D", metric, 1.0, f"{metric}|v1") for i in range(12) for metric in SCORES)]
    kept = [
        each for each in scores if (each.item, each.system, each.metric) not in {("3", "A", "f1"), ("4", "B", "f2")}
    ]
    rated = [*judgements(), Judgement("99", "A", "ann", 3.0)]
    result = found(kept, rated)
    assert list(map(str, result.excluded)) == [
        "systems without grades: 1 (D)",
        "not scored by every metric: 2 (item 4 by B, item 3 by A)",
        "items without all systems, excluded with their grades: 2 (3, 4)",
        "judged but not scored: 1 (item 99 by A)",
    ]
    assert (result.items, result.graded, [each.n for each in result.systems]) == (10, 7, [7, 7, 7])
    alone = found(kept, rated, method="human")
    assert list(map(str, alone.excluded)) == ["systems without grades: 1 (D)"]
    assert (alone.items, alone.graded, row(alone, "A").n) == (13, 10, 10)


def test_a_system_whose_items_are_all_excluded_is_excluded_too() -> None:
    extra = [Score(str(i), "D", metric, 1.0, f"{metric}|v1") for i in (0, 20) for metric in SCORES]
    result = found([*score_rows(), *extra], [*judgements(), Judgement("20", "D", "ann", 1.0)])
    assert [each.system for each in result.systems] == ["C", "B", "A"]
    assert means(result) == near([3.001013, 3.319104, 3.997727])
    assert [str(each) for each in result.excluded] == [
        "systems whose grades are all excluded: 1 (D)",
        "items without all systems, excluded with their grades: 1 (20)",
    ]


def test_a_system_without_one_of_the_scores_is_not_called_one_without_grades() -> None:
    scores = [each for each in score_rows() if (each.system, each.metric) != ("B", "f2")]
    result = found(scores)
    assert [each.system for each in result.systems] == ["C", "A"]
    assert [each.why for each in result.excluded] == [
        "systems whose grades are all excluded",
        "not scored by every metric",
    ]


def test_nothing_joins() -> None:
    with pytest.raises(
        Undefined, match=r"36 scored \(such as item 0 by A\), 1 judged \(such as x by A\), 0 not scored"
    ):
        found(ratings=[Judgement("x", "A", "ann", 1.0)])


def test_repeated_ratings_by_one_annotator_count_as_one() -> None:
    result = found(ratings=[*judgements(), Judgement("0", "A", "ann", 5.0)])
    assert [str(each) for each in result.excluded] == [
        "graded more than once by one annotator, the mean taken: 1 (item 0 by A)"
    ]


def test_systems_without_a_shared_item_have_a_note() -> None:
    result = found(ratings=judgements(without=lambda i, s: (s == "A" and i % 2 == 0) or (s == "B" and i % 2 == 1)))
    note = "no graded item is shared by A and B: their difference is taken as one of independent means"
    assert note in result.notes


def test_systems_graded_on_different_items_are_centered_by_system_alone() -> None:
    result = found(ratings=judgements(without=lambda i, s: "ABC"[i % 3] != s))
    assert not result.crossed
    assert result.item_slope is None


def test_identical_systems_have_no_difference_to_test() -> None:
    scores = [Score(str(i), s, "f", float(i % 4), "") for i in range(20) for s in "AB"]
    rated = [Judgement(str(i), s, "ann", float(i % 4)) for i in range(12) for s in "AB"]
    result = found(scores, rated)
    assert [(each.system, each.other) for each in result.undefined] == [("A", "B")]
    assert result.differences[0].p is None


def test_intervals_of_width_0_where_these_items_are_all_graded_and_raters_agree() -> None:
    rows = [
        Judgement(str(i), s, who, float(grade(i, "ABC".index(s)))) for i in range(12) for s in SYSTEMS for who in "ab"
    ]
    result = found(ratings=rows, target="items")
    assert result.undefined == ()
    assert all(each.low == each.mean == each.high for each in result.systems)
    assert {each.p for each in result.differences} == {0.0}
    assert Result.from_json(result.to_json()) == result


def test_one_rating_per_output_has_a_note_for_these_items() -> None:
    result = found(ratings=judgements(second=False), target="items")
    assert result.rater_variance is None
    assert any("second ratings of some outputs would allow it" in note for note in result.notes)


def test_graded_items_that_differ_from_the_others_have_a_note() -> None:
    scores = [Score(str(i), s, "meteor", float(i) + (s == "B"), "") for i in range(60) for s in "AB"]
    rated = [Judgement(str(i), s, "ann", float(i % 5)) for i in range(40, 60) for s in "AB"]
    (note,) = [note for note in found(scores, rated).notes if "sampled" in note]
    z = found(scores, rated).scores[0].balance_z
    assert note == f"graded items score {z:.1f} standard errors higher on meteor: were they sampled at random?"
    falling = [Score(each.item, each.system, "meteor", -each.score, "") for each in scores]
    assert any("standard errors lower on meteor" in note for note in found(falling, rated).notes)


def test_controls_only_where_they_are_named() -> None:
    controls = [Score(each.item, each.system, "control:length", each.score, "") for each in score_rows(["f2"])]
    drawn = [
        Score(each.item, each.system, f"control:shuffled(f1,draw={d})", 1.0, "") for each in controls for d in (0, 1)
    ]
    result = found([*score_rows(), *controls, *drawn])
    assert [each.metric for each in result.scores] == ["f1", "f2"]
    assert result.signatures == {"f1": "f1|v1", "f2": "f2|v1"}
    named = found([*score_rows(), *controls, *drawn], metrics=("control:length", "f1"))
    assert [each.metric for each in named.scores] == ["control:length", "f1"]
    with pytest.raises(UnknownName, match="draw=0"):
        found([*score_rows(), *drawn], metrics=("control:shuffled(f1,draw=0)",))
    with pytest.raises(UsageError, match="all scores are controls, which are used where metrics names them"):
        found([*controls, *drawn])


def test_a_constant_score_has_no_weight() -> None:
    constant = [Score(each.item, each.system, "one", 1.0, "") for each in score_rows(["f1"])]
    result = found([*score_rows(), *constant])
    assert means(result) == near([3.001013, 3.319104, 3.997727])
    assert result.scores[-1].weight == 0
    assert result.scores[-1].balance_z is None


def test_the_curve_is_the_formula_of_plans() -> None:
    scores = [Score(str(i), s, "f", float((i * 7 + j * 3) % 11), "") for i in range(70) for j, s in enumerate("AB")]
    rated = [
        Judgement(str(i), s, who, float((i * 7 + j * 3) % 11 // 3) + (i + k) % 2)
        for i in range(20)
        for j, s in enumerate("AB")
        for k, who in enumerate(["ann", "bob"])
    ]
    result = found(scores, rated)
    assert [each.graded for each in result.curve] == [8, 10, 15, 20, 30, 40, 60, 70]
    at_twenty = result.curve[3]
    width = sum((each.human_high or 0) - (each.human_low or 0) for each in result.systems) / 2
    assert at_twenty.human_mean_width == pytest.approx(width, rel=0.05)
    assert at_twenty.mean_width < at_twenty.human_mean_width
    assert result.curve[0].mean_width > result.curve[-1].mean_width
    assert found(method="ppi", metrics=("f1",)).curve == ()
    assert found(score_rows(systems="A"), judgements("A")).curve[0].difference_width is None


@pytest.mark.parametrize(("grades", "unit"), [(1e99, 1e99), (1e-100, 1e-100), (1.0, 1e90), (1e90, 1.0)])
@pytest.mark.parametrize("target", ["population", "items"])
def test_huge_and_tiny_numbers(grades: float, unit: float, target: Target) -> None:
    scores = [Score(each.item, each.system, each.metric, unit * each.score, each.signature) for each in score_rows()]
    rated = [Judgement(each.item, each.system, each.annotator, grades * each.grade) for each in judgements()]
    result, usual = found(scores, rated, target=target), found(target=target)
    for one, other in zip(result.systems, usual.systems, strict=True):
        assert [one.mean, one.low] == pytest.approx([grades * other.mean, grades * other.low], rel=1e-9)
        assert one.letters == other.letters
    assert Result.from_json(result.to_json()) == result


# PPI++: ppi_mean_ci(alpha=0.05) and ppi_mean_pointestimate of ppi-python 0.2.3, lambda estimated, on the worked table

PPI = {
    ("f1", "A"): [2.886622, 2.014862, 3.758382],
    ("f1", "B"): [3.284623, 2.371994, 4.197253],
    ("f1", "C"): [3.958652, 3.431370, 4.485935],
    ("f2", "A"): [3.166667, 2.056234, 4.277099],
    ("f2", "B"): [3.388889, 2.429970, 4.347808],
    ("f2", "C"): [3.936684, 3.393953, 4.479416],
}


@pytest.mark.parametrize("metric", ["f1", "f2"])
def test_ppi_is_that_of_ppi_python(metric: str) -> None:
    result = found(method="ppi", metrics=(metric,))
    for system in SYSTEMS:
        each = row(result, system)
        assert [each.mean, each.low, each.high] == near(PPI[metric, system])
        assert 0 <= (each.slope or 0) <= 1
    assert (result.scores_used, result.r_squared, result.scores[0].weight) == (True, None, None)


def arrays_of(system: str, sign: int = 1) -> tuple[list[float], list[float], list[float]]:
    """Mean grades of the graded items of the worked table, and scores by f1 of these and of the others."""
    ratings: dict[str, list[float]] = {}
    for each in judgements():
        if each.system == system:
            ratings.setdefault(each.item, []).append(each.grade)
    scores = {each.item: sign * each.score for each in score_rows(["f1"]) if each.system == system}
    graded = [scores.pop(item) for item in ratings]
    return [sum(each) / len(each) for each in ratings.values()], graded, list(scores.values())


@pytest.mark.parametrize("method", ["crossed", "human", "ppi"])
def test_three_arrays_are_one_system(method: str) -> None:
    for system in SYSTEMS:
        grades, graded, rest = arrays_of(system)
        whole = postil.estimate({"f1": [*graded, *rest]}, [*grades, *[None] * len(rest)], method=method)
        assert postil.estimate_mean(np.array(grades), graded, pd.Series(rest), method=method) == whole.systems[0]


@pytest.mark.parametrize("sign", [1, -1])
def test_three_arrays_have_the_numbers_of_ppi_python(sign: int) -> None:
    for system in SYSTEMS:
        found = postil.estimate_mean(*arrays_of(system, sign), method="ppi", lower_is_better=sign < 0)
        assert [found.mean, found.low, found.high] == near(PPI["f1", system])


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (([1, 2], [1], [1]), "scores_graded: expected a score for each of 2 grades, got 1"),
        (([1, 2], [1, 2], 3), "scores_ungraded: expected a list or a column, got int"),
        (([None], [1], [1]), "grades: expected at least one grade, got none"),
        (([1, "a"], [1, 2], [1]), 'grades:2: expected a number, got "a"'),
    ],
)
def test_three_arrays_that_do_not_fit(arrays: tuple[Any, Any, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as error:
        postil.estimate_mean(*arrays)
    assert str(error.value).startswith(problem)


def test_ppi_of_a_metric_for_which_lower_is_better() -> None:
    falling = [Score(each.item, each.system, "edits", -each.score, "") for each in score_rows(["f1"])]
    result = found(falling, method="ppi", lower_is_better=("edits",))
    assert [row(result, system).mean for system in SYSTEMS] == near([PPI["f1", system][0] for system in SYSTEMS])
    assert {each.slope for each in found(falling, method="ppi").systems} == {0.0}


def test_ppi_of_what_it_is_not_for() -> None:
    with pytest.raises(UsageError, match="ppi takes one score, and there are 2; choose one: metrics=NAME"):
        found(method="ppi")
    with pytest.raises(UsageError, match='use target="population"'):
        found(method="ppi", metrics=("f1",), target="items")
    with pytest.raises(
        Undefined, match='ppi needs items without a grade, and all 12 of A have one; use method="human"'
    ):
        found(ratings=judgements(items=12), method="ppi", metrics=("f1",))


def test_ppi_of_one_graded_item() -> None:
    result = found(ratings=judgements(items=1), method="ppi", metrics=("f1",))
    assert {each.reason for each in result.undefined} == {"one graded item"}
    assert result.notes == ("groups are rough below 20 graded items, and there are 1",)


def test_ppi_of_a_constant_score_is_that_of_the_ratings() -> None:
    result = found([Score(str(i), s, "one", 1.0, "") for i in range(12) for s in SYSTEMS], method="ppi")
    assert [each.mean for each in result.systems] == near([each.human_mean for each in result.systems])
    assert {each.slope for each in result.systems} == {0.0}


# Judged web threads (DSTC7), where everything is known


def threads() -> list[dict[str, Any]]:
    path = DATA / "judged" / "dstc7" / "dstc7_joined.en.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return sorted(map(json.loads, lines), key=lambda thread: str(thread["id"]))


@pytest.mark.parametrize("target", ["population", "items"])
def test_forty_threads_and_a_stand_in_for_a_good_judge(target: Target) -> None:
    """Grades: relevance of every 25th thread; score: informativeness by the same people, of all."""
    scores, rated = [], []
    relevance: dict[str, list[float]] = {}
    for place, thread in enumerate(threads()):
        for each in thread["candidates"]:
            name = each["system"]
            scores.append(Score(thread["id"], name, "judge", sum(each["informativeness"]) / 3, ""))
            relevance.setdefault(name, []).append(sum(each["relevance"]) / 3)
            if place % 25 == 0:
                rated += [Judgement(thread["id"], name, str(who), grade) for who, grade in enumerate(each["relevance"])]
    result = found(scores, rated, target=target)
    assert (result.items, result.graded, result.annotators, len(result.systems)) == (1000, 40, 3, 10)
    human, team = row(result, "Human"), row(result, "TeamA")
    assert human.mean == near(3.683832)
    several = sum((each.p_holm or 0) < 0.05 for each in result.differences)
    if target == "items":
        assert ([human.low, human.high], several) == (near([3.538684, 3.828979]), 25)
        return
    assert several == 24
    assert [human.human_mean, human.human_low, human.human_high] == near([3.808333, 3.572591, 4.044076])
    assert [human.low, human.high] == near([3.537499, 3.830164])
    assert [team.mean, team.low, team.high, team.slope] == near([2.308989, 2.160207, 2.457771, 1.005703])
    mid = row(result, "TeamCE")
    assert [mid.mean, mid.low, mid.high] == near([3.126219, 2.953421, 3.299017])
    efficiency = result.relative_efficiency
    assert [efficiency.means, efficiency.differences] == near([2.892271, 2.841838])
    assert [result.rater_variance, result.r_squared] == near([1.376667, 0.681511])
    assert [result.scores[0].weight, result.common_slope, result.item_slope] == near([0.583006, 1, 1])
    for each in result.systems:
        assert each.low < sum(relevance[each.system]) / 1000 < each.high
    (note,) = [note for note in result.notes if "miss" in note]
    assert note == (
        "predictions miss grades by less than raters differ (variance 0.22 against 0.46); widths for more items are "
        "upper bounds"
    )
