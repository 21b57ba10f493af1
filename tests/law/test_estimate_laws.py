"""Laws of estimated means: what must not change them, and what changes them in a known way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import law

from postil.data.rows import Judgement, Score
from postil.estimation.estimator import estimate
from postil.estimation.result import EstimateSettings
from postil.meta.estimation import LEAST_R2, Outputs, estimated, outputs_of
from postil.meta.table import Judged, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.estimation import Estimated, Target

TARGETS: tuple[Target, ...] = ("population", "items")


@st.composite
def designs(draw: st.DrawFn, *, complete: bool = False, holes: bool = True) -> Outputs:
    """Outputs with scores that mostly explain ratings of some items, which may lack those of some systems."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    items, systems, metrics = (draw(st.integers(*ends)) for ends in ((14, 40), (1, 5), (1, 4)))
    graded = items if complete else draw(st.integers(10, items))
    quality = generator.normal(size=(items, 1)) + generator.normal(size=(items, systems))
    scores = draw(st.sampled_from([0.3, 1.0])) * quality[..., None] + generator.normal(size=(items, systems, metrics))
    counts = generator.integers(1, 4, (items, systems))
    noise = generator.normal(size=(items, systems)) / np.sqrt(counts)
    missing = generator.random((items, systems)) < draw(st.sampled_from([0.0, 0.2]))
    missing[:2] = False
    rated = (np.arange(items)[:, None] < graded) & ~(missing & (holes and not complete))
    grades = np.where(rated, np.round(2 * (quality + noise)) / 2 + 3, np.nan)
    return Outputs(scores, grades, counts * rated, draw(st.sampled_from([None, 0.5])))


def both(outputs: Outputs, changed: Outputs, target: Target) -> tuple[Estimated, Estimated]:
    found = estimated(outputs, target)
    assume(found.fit is not None and abs(found.fit.r_squared - LEAST_R2) > 1e-6)
    return found, estimated(changed, target)


def same(one: Estimated, other: Estimated) -> None:
    assert one.used == other.used
    assert other.means == pytest.approx(one.means, abs=1e-7)
    assert other.covariance == pytest.approx(one.covariance, abs=1e-7)


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.integers(0, 2**16))
def test_a_constant_on_all_scores_of_a_system_changes_nothing(outputs: Outputs, target: Target, seed: int) -> None:
    shift = np.random.default_rng(seed).normal(0, 10, outputs.scores.shape[1:])
    same(*both(outputs, replace(outputs, scores=outputs.scores + shift), target))


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.sampled_from([-1.0, 1e-3, -40.0, 1e6]))
def test_unit_and_sign_of_a_score_change_nothing(outputs: Outputs, target: Target, factor: float) -> None:
    scores = outputs.scores.copy()
    scores[..., 0] *= factor
    same(*both(outputs, replace(outputs, scores=scores), target))


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.sampled_from([0.0, 0.1, -7.0]))
def test_a_constant_score_changes_nothing(outputs: Outputs, target: Target, constant: float) -> None:
    scores = np.concatenate([outputs.scores, np.full((*outputs.grades.shape, 1), constant)], axis=2)
    same(*both(outputs, replace(outputs, scores=scores), target))


@law(12, 12)
@given(designs(holes=False), st.sampled_from(TARGETS), st.integers(0, 2**16))
def test_a_constant_on_all_scores_of_an_item_changes_no_difference(outputs: Outputs, target: Target, seed: int) -> None:
    """The systems share their graded items: else their means lie over different items."""
    assume(outputs.is_crossed)
    items, _, metrics = outputs.scores.shape
    shift = np.random.default_rng(seed).normal(size=(items, 1, metrics))
    found, changed = both(outputs, replace(outputs, scores=outputs.scores + shift), target)
    assume(found.used == changed.used)
    assert np.diff(changed.means) == pytest.approx(np.diff(found.means), abs=1e-7)


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.sampled_from([(1.0, 2.0), (-3.0, 0.01), (6.0, -1.0)]))
def test_estimates_follow_the_scale_of_the_grades(outputs: Outputs, target: Target, line: tuple[float, float]) -> None:
    start, slope = line
    noise = None if outputs.rater_variance is None else slope**2 * outputs.rater_variance
    changed = replace(outputs, grades=start + slope * outputs.grades, rater_variance=noise)
    found, other = both(outputs, changed, target)
    assert other.means == pytest.approx(start + slope * found.means, abs=1e-7)
    assert np.sqrt(np.diag(other.covariance)) == pytest.approx(
        abs(slope) * np.sqrt(np.diag(found.covariance)), abs=1e-7
    )


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.integers(0, 2**16))
def test_order_is_irrelevant(outputs: Outputs, target: Target, seed: int) -> None:
    generator = np.random.default_rng(seed)
    items, systems, metrics = map(generator.permutation, outputs.scores.shape)
    changed = Outputs(
        outputs.scores[items][:, systems][..., metrics],
        outputs.grades[items][:, systems],
        outputs.counts[items][:, systems],
        outputs.rater_variance,
    )
    found, other = both(outputs, changed, target)
    assert other.means == pytest.approx(found.means[systems], abs=1e-7)
    assert other.covariance == pytest.approx(found.covariance[np.ix_(systems, systems)], abs=1e-7)


@law(12, 12)
@given(designs(complete=True), st.sampled_from(TARGETS))
def test_all_items_graded_gives_the_means_of_the_grades(outputs: Outputs, target: Target) -> None:
    found = estimated(outputs, target)
    assert found.means == pytest.approx(outputs.grades.mean(axis=0), abs=1e-9)
    if target == "population":
        assert found.covariance == pytest.approx(found.human_covariance, abs=1e-9)


@law(12, 12)
@given(designs(), st.sampled_from(TARGETS), st.booleans())
def test_the_covariance_is_symmetric_with_a_positive_diagonal(outputs: Outputs, target: Target, scores: bool) -> None:
    covariance: NDArray[np.float64] = estimated(outputs, target, scores=scores).covariance
    assert covariance == pytest.approx(covariance.T, abs=1e-12)
    assert (np.diag(covariance) > 0).all()


@law(12, 12)
@given(designs(), st.integers(0, 2**16))
def test_order_of_rows_and_names_is_irrelevant(outputs: Outputs, seed: int) -> None:
    """The whole result, letters and ranks included, but for the order of what it lists."""
    scores = [Score(f"i{i}", f"s{s}", f"m{m}", float(value), "") for (i, s, m), value in np.ndenumerate(outputs.scores)]
    ratings = [
        Judgement(f"i{i}", f"s{s}", "ann", float(value))
        for (i, s), value in np.ndenumerate(outputs.grades)
        if not np.isnan(value)
    ]
    generator = np.random.default_rng(seed)
    found = []
    for order in (lambda rows: rows, lambda rows: [rows[place] for place in generator.permutation(len(rows))]):
        rated = outputs_of(Scored(order(scores)), Judged(order(ratings)))
        found.append(estimate(rated, settings=EstimateSettings(postil="0")))
    one, other = found
    assume(one.r_squared is not None and abs(one.r_squared - LEAST_R2) > 1e-6)
    assert [(row.letters, row.rank_low, row.rank_high) for row in one.systems] == [
        (row.letters, row.rank_low, row.rank_high) for row in other.systems
    ]
    assert [row.mean for row in other.systems] == pytest.approx([row.mean for row in one.systems], abs=1e-7)
    assert [row.p for row in other.differences] == pytest.approx([row.p for row in one.differences], abs=1e-6)
