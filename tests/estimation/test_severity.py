"""Estimates without severities of annotators: known means, laws, and coverage and efficiency by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.rows import Judgement, Score
from postil.estimation.estimator import estimate
from postil.estimation.result import EstimateResult, EstimateSettings
from postil.meta.estimation import estimated, outputs_of
from postil.meta.significance import student_quantile
from postil.meta.table import Judged, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.choices import Rule
    from postil.meta.estimation import Target

ITEMS, SYSTEMS, ANNOTATORS = 40, 6, 6


def rows_of(grades: NDArray[np.float64]) -> list[Judgement]:
    """Judgements of float64[items, systems, annotators], NaN where there is none."""
    there = np.argwhere(~np.isnan(grades)).tolist()
    return [Judgement(f"i{i}", f"s{s}", f"r{a}", float(grades[i, s, a])) for i, s, a in there]


def found(
    grades: NDArray[np.float64],
    rule: Rule = "remove",
    target: Target = "population",
    scores: NDArray[np.float64] | None = None,
) -> EstimateResult:
    scored = None
    if scores is not None:
        scored = Scored(Score(f"i{i}", f"s{s}", "m", float(value), "m|v1") for (i, s), value in np.ndenumerate(scores))
    rated = outputs_of(scored, Judged(rows_of(grades)), severity=rule)
    return estimate(rated, target, "crossed" if scored else "human", settings=EstimateSettings(postil="0"))


# Annotators who differ by constants alone


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("rule", ["auto", "remove"])
@pytest.mark.parametrize("with_scores", [False, True])
def test_constants_alone_leave_means_of_these_items_without_error(holes: bool, rule: Rule, with_scores: bool) -> None:
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, (20, 3)).astype(np.float64)
    quality[:, 2] = quality[:, 1]
    grades = quality[..., None] + np.array([0.1, 2.1, 4.1])
    if holes:
        grades[::3, 0, 0] = grades[1::3, 1, 2] = grades[5, :, 1] = np.nan
    scores = quality + rng.normal(size=quality.shape) if with_scores else None
    result = found(grades, rule, "items", scores)
    assert result.rater_variance == 0
    assert result.severity.removed
    assert result.undefined == ()
    for row in result.systems:
        assert row.low == row.mean == row.high
        assert row.human_low == row.human_mean == row.human_high
    assert {(row.first, row.second): row.p for row in result.differences}.items() >= {(("s1", "s2"), 1.0)}
    values = {row.value == 0: {row.p} for row in result.differences}
    assert values == {True: {1.0}, False: {0.0}}
    assert not any("errors" in note for note in result.notes)


def test_severities_that_are_kept_are_noise_of_raters() -> None:
    quality = np.random.default_rng(3).integers(1, 6, (20, 3)).astype(np.float64)
    grades = quality[..., None] + np.array([0.0, 2.0, 4.0])
    result = found(grades, "keep", "items")
    assert result.rater_variance == pytest.approx(4.0)
    assert (result.severity.removed, result.severity.p) == (False, 0.0)
    assert all(row.low is not None and row.low < row.mean for row in result.systems)


def test_a_population_and_ungraded_items_still_have_intervals() -> None:
    quality = np.random.default_rng(3).integers(1, 6, (20, 3)).astype(np.float64)
    grades = quality[..., None] + np.array([0.0, 2.0, 4.0])
    grades[10:] = np.nan
    scores = np.random.default_rng(4).normal(size=quality.shape)
    for target in ("population", "items"):
        assert all(
            row.low is not None and row.high is not None and row.low < row.high
            for row in found(grades, "remove", target, scores).systems
        )


# Laws


def drawn(seed: int, *, complete: bool) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    quality = 3 + rng.normal(size=(16, 1, 1)) + 0.5 * rng.normal(size=(1, 4, 1)) + 0.6 * rng.normal(size=(16, 4, 1))
    grades = quality + rng.normal(0, 0.8, 5) + 0.6 * rng.normal(size=(16, 4, 5))
    missing = rng.random(grades.shape) < 0.5
    missing[:3] = False
    return np.where(missing & (not complete), np.nan, grades)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("target", ["population", "items"])
def test_a_constant_of_an_annotator_changes_every_mean_by_one_number_and_nothing_else(
    seed: int, complete: bool, target: Target
) -> None:
    grades = drawn(seed, complete=complete)
    scores = drawn(seed, complete=True).mean(axis=2) + np.random.default_rng(seed).normal(size=grades.shape[:2])
    before = found(grades, "remove", target, scores)
    after = found(grades + 1.7 * (np.arange(5) == 2), "remove", target, scores)
    moved = [one.mean - other.mean for one, other in zip(after.systems, before.systems, strict=True)]
    assert moved == pytest.approx([moved[0]] * len(moved), abs=1e-9)
    assert moved[0] > 0
    for one, other in zip(after.systems, before.systems, strict=True):
        assert (one.system, one.letters, one.rank_low, one.rank_high) == (
            *(other.system, other.letters, other.rank_low, other.rank_high),
        )
        assert one.high - one.low == pytest.approx(other.high - other.low, abs=1e-9)
    for first, second in zip(after.differences, before.differences, strict=True):
        assert [first.value, first.low, first.high, first.p] == pytest.approx(
            [second.value, second.low, second.high, second.p], abs=1e-9
        )
    assert after.rater_variance == pytest.approx(before.rater_variance, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_removal_changes_no_mean_of_a_complete_table(seed: int) -> None:
    grades = drawn(seed, complete=True)
    removed, kept = found(grades, "remove"), found(grades, "keep")
    for one, other in zip(removed.systems, kept.systems, strict=True):
        assert [one.mean, one.low, one.high] == pytest.approx([other.mean, other.low, other.high], abs=1e-9)


def test_names_of_annotators_are_irrelevant() -> None:
    grades = drawn(0, complete=False)
    renamed = np.random.default_rng(1).permutation(5)
    one, other = found(grades), found(grades[..., renamed])
    assert [row.mean for row in one.systems] == pytest.approx([row.mean for row in other.systems], abs=1e-9)
    assert [row.low for row in one.differences] == pytest.approx([row.low for row in other.differences], abs=1e-9)


def test_automatic_removal_is_that_of_the_test() -> None:
    grades = drawn(0, complete=False)
    assert found(grades, "auto") == found(grades, "auto")
    assert found(grades, "auto").systems == found(grades, "remove").systems
    alike = np.random.default_rng(2).normal(size=(16, 4, 5))
    assert found(alike, "auto").systems == found(alike, "keep").systems


# Notes


def test_one_rating_per_output_does_not_tell_severity() -> None:
    rng = np.random.default_rng(0)
    grades = np.full((12, 2, 3), np.nan)
    grades[np.arange(12)[:, None], np.arange(2), rng.integers(0, 3, (12, 2))] = rng.integers(1, 6, (12, 2))
    note = "one rating per output: second ratings of some outputs would tell severity from quality"
    result = found(grades)
    assert result.severity is None
    assert note in result.notes
    assert note not in found(np.where(np.arange(3) == 0, 3.0 + np.arange(12)[:, None, None] % 3, np.nan)).notes


def test_positions_have_no_severity() -> None:
    rng = np.random.default_rng(0)
    rows = [
        Judgement(f"i{i}", f"s{s}", str(place + 1), float(rng.integers(1, 6) + 2 * place))
        for i in range(12)
        for s in range(2)
        for place in range(1 + (i + s) % 2)
    ]
    result = estimate(
        outputs_of(None, Judged(rows), severity="remove"), method="human", settings=EstimateSettings(postil="0")
    )
    assert result.severity is None
    assert any("numbered from 1, by position" in note for note in result.notes)
    named = [Judgement(row.item, row.system, f"r{row.annotator}", row.grade) for row in rows]
    found = outputs_of(None, Judged(named), severity="remove").severity
    assert found is not None


def test_predictions_that_miss_less_than_raters_differ() -> None:
    rng = np.random.default_rng(1)
    quality = rng.normal(size=(30, 3))
    grades = quality[..., None] + rng.normal(0, 1, (30, 3, 2))
    scores = grades.mean(axis=2) + 0.1 * rng.normal(size=(30, 3))
    (note,) = [note for note in found(grades, "auto", "population", scores).notes if "miss" in note]
    assert note.startswith("predictions miss grades by less than raters differ (variance 0.0")
    assert note.endswith("; widths for more items are upper bounds")
    assert "shares" not in note
    rated = Judged(rows_of(grades))
    for signature, said in (("judge(model=m,anchors=none)", False), ("judge(model=m,anchors=nearest)|x", True)):
        scored = Scored(Score(f"i{i}", f"s{s}", "m", float(x), signature) for (i, s), x in np.ndenumerate(scores))
        notes = estimate(outputs_of(scored, rated), settings=EstimateSettings(postil="0")).notes
        assert any("the judge, which saw ratings, shares the errors of their raters" in note for note in notes) is said


# Simulation


def complete(_: np.random.Generator) -> NDArray[np.bool_]:
    return np.ones((ITEMS, SYSTEMS, ANNOTATORS), bool)


def two_of_six(rng: np.random.Generator) -> NDArray[np.bool_]:
    return np.asarray(rng.random((ITEMS, SYSTEMS, ANNOTATORS)).argsort(axis=2) < 2)


def three_of_six(rng: np.random.Generator) -> NDArray[np.bool_]:
    return np.asarray(rng.random((ITEMS, SYSTEMS, ANNOTATORS)).argsort(axis=2) < 3)


def one_and_a_fifth(rng: np.random.Generator) -> NDArray[np.bool_]:
    counts = np.where(rng.random((ITEMS, SYSTEMS)) < 0.2, 2, 1)
    return np.asarray(rng.random((ITEMS, SYSTEMS, ANNOTATORS)).argsort(axis=2) < counts[..., None])


def one_annotator_per_system(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Every system has an annotator of its own; a fifth of the outputs another one, who alone tell severity."""
    there = np.broadcast_to(np.eye(SYSTEMS, dtype=bool), (ITEMS, SYSTEMS, ANNOTATORS)).copy()
    for item, system in np.argwhere(rng.random((ITEMS, SYSTEMS)) < 0.2).tolist():
        there[item, system, (system + rng.integers(1, ANNOTATORS)) % ANNOTATORS] = True
    return there


DESIGNS = {
    each.__name__: each for each in (complete, two_of_six, three_of_six, one_and_a_fifth, one_annotator_per_system)
}


def simulated(
    design: str, draws: int, rules: tuple[Rule, ...], severity: float, seed: int = 11
) -> dict[Rule, tuple[float, float]]:
    """Coverage of the intervals of differences, and their mean squared error, by rule."""
    rng = np.random.default_rng(seed)
    systems, biases = rng.normal(0, 0.4, SYSTEMS), severity * np.linspace(-1, 1, ANNOTATORS)
    first, second = np.triu_indices(SYSTEMS, 1)
    t = student_quantile(0.975, ITEMS - 1)
    covered: dict[Rule, list[float]] = {rule: [] for rule in rules}
    squares: dict[Rule, list[float]] = {rule: [] for rule in rules}
    for _ in range(draws):
        quality = 3 + systems + rng.normal(0, 0.6, (ITEMS, 1)) + rng.normal(0, 0.5, (ITEMS, SYSTEMS))
        by_rater = rng.normal(0, 0.3, (ITEMS, 1, ANNOTATORS)) + rng.normal(0, 0.7, (ITEMS, SYSTEMS, ANNOTATORS))
        grades = np.where(DESIGNS[design](rng), quality[..., None] + rng.permutation(biases) + by_rater, np.nan)
        rated = Judged(rows_of(grades))
        for rule in rules:
            outputs = outputs_of(None, rated, severity=rule)
            order = [int(name[1:]) for name in outputs.systems]
            at = estimated(outputs.outputs)
            means, v = at.means, at.covariance
            error = means[first] - means[second] - (systems[order][first] - systems[order][second])
            variance = v[first, first] + v[second, second] - 2 * v[first, second]
            covered[rule].append(float((np.abs(error) <= t * np.sqrt(variance)).mean()))
            squares[rule].append(float((error**2).mean()))
    return {rule: (float(np.mean(covered[rule])), float(np.mean(squares[rule]))) for rule in rules}


@pytest.mark.parametrize("design", DESIGNS)
def test_coverage_of_differences_with_severities_up_to_two_grades(design: str) -> None:
    coverage, _ = simulated(design, 60, ("auto",), severity=2.0)["auto"]
    assert 0.92 <= coverage <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "severity"),
    [
        *((design, severity) for design in list(DESIGNS)[:4] for severity in (0.0, 0.5, 2.0)),
        ("one_annotator_per_system", 2.0),
    ],
)
def test_coverage_of_differences_in_two_thousand_draws(design: str, severity: float) -> None:
    coverage, _ = simulated(design, 2000, ("auto",), severity)["auto"]
    assert 0.93 <= coverage <= 0.97


@pytest.mark.parametrize("design", ["complete", "three_of_six", "two_of_six"])
def test_removal_costs_nothing_where_annotators_do_not_differ(design: str) -> None:
    of = simulated(design, 60, ("auto", "keep"), severity=0.0)
    assert of["auto"][1] <= 1.01 * of["keep"][1]


@pytest.mark.slow
@pytest.mark.parametrize("design", ["complete", "three_of_six", "two_of_six"])
def test_removal_costs_nothing_in_two_thousand_draws(design: str) -> None:
    of = simulated(design, 2000, ("auto", "remove", "keep"), severity=0.0)
    assert max(of["auto"][1], of["remove"][1]) <= 1.01 * of["keep"][1]
