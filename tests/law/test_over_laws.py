"""Laws of reference aggregation: what holds under every ``over`` of every metric that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from specs import OVER
from strategies import Problem, law, problems, scores

from postil.metrics.controls import ControlOptions, Controls

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAW = law(15, python=6)
EXACT = 1e-12
MEANS = ["max", "mean", "top-1", "top-2", "near"]
"""The aggregations that exist without weights too."""
KERNEL = ["kernel", "kernel,tau=0.02", "kernel,tau=3"]


def specs(overs: list[str], head: str = "w-") -> list[str]:
    """Every metric under some aggregations."""
    return [f"{head}{with_over(metric, over)}" for metric in OVER for over in overs]


def with_over(metric: str, over: str) -> str:
    """The spec of a metric with its ``over``."""
    name, _, rest = metric.removesuffix(")").partition("(")
    return f"{name}({rest}{',' if rest else ''}over={over})"


def empty(problem: Problem) -> NDArray[np.bool_]:
    return np.array([not text for text in problem.candidates])


def rows_of(problem: Problem) -> list[list[float]]:
    """The weights of the references of each candidate."""
    return [problem.weights[s] for s in problem.sets]


@LAW
@given(problems())
def test_weights_of_1_give_the_metric_without_weights(problem: Problem) -> None:
    weighted, plain = (scores(problem.evenly(1.0), specs(MEANS, head)) for head in ("w-", ""))
    for spec in specs(MEANS, ""):
        np.testing.assert_allclose(weighted.items[f"w-{spec}"], plain.items[spec], rtol=EXACT, atol=EXACT, err_msg=spec)


@LAW
@given(problems())
def test_the_kernel_of_weights_of_1_is_1(problem: Problem) -> None:
    for spec, found in scores(problem.evenly(1.0), specs(KERNEL)).items.items():
        np.testing.assert_allclose(found, ~empty(problem), rtol=EXACT, err_msg=spec)


@LAW
@given(problems(), st.data())
def test_raising_a_weight_lowers_no_score(problem: Problem, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, len(problem.references) - 1))
    j = data.draw(st.integers(0, len(problem.references[s]) - 1))
    raised = [list(row) for row in problem.weights]
    raised[s][j] = data.draw(st.floats(raised[s][j], 1.0))
    asked = specs(MEANS + KERNEL)
    before, after = scores(problem, asked), scores(problem.with_weights(raised), asked)
    for spec in asked:
        assert (after.items[spec] >= before.items[spec] - EXACT).all(), spec


@LAW
@given(problems(), st.data())
def test_a_copy_of_a_reference_of_weight_1_scores_highest(problem: Problem, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, len(problem.references) - 1))
    text = data.draw(st.lists(st.sampled_from(["run", "the", "cat"]), min_size=1, max_size=4))
    references, weights = list(problem.references), list(problem.weights)
    references[s], weights[s] = [*references[s], text], [*weights[s], 1.0]
    copy = Problem(references, weights, [text], [s])
    for spec, found in scores(copy, specs(["max", "top-1"])).items.items():
        assert found == pytest.approx([1.0], abs=1e-6), spec


@LAW
@given(problems())
def test_a_kernel_lies_between_the_lowest_and_the_highest_weight(problem: Problem) -> None:
    rows, some = rows_of(problem), ~empty(problem)
    low, high = (np.array([pick(row) for row in rows]) for pick in (min, max))
    for spec, found in scores(problem, specs(KERNEL)).items.items():
        assert ((found >= low - EXACT) & (found <= high + EXACT))[some].all(), spec


@LAW
@given(problems())
def test_a_narrow_kernel_is_the_nearest_weight_and_a_wide_one_the_mean(problem: Problem) -> None:
    narrow, wide, some = specs(["kernel,tau=1e-6"]), specs(["kernel,tau=1e5"]), ~empty(problem)
    results = scores(problem, narrow + wide)
    vocabulary = results.metrics.references.tokens.vocabulary.branch()
    candidates = vocabulary.encode_tokens(problem.candidates, keep_texts=True)
    controls = dict(
        Controls(results.metrics, ControlOptions(draws=1)).scores(candidates, np.array(problem.sets, dtype=np.int32))
    )
    means = np.array([np.mean(row) for row in rows_of(problem)])
    for one, other in zip(narrow, wide, strict=True):
        np.testing.assert_allclose(results.items[one][some], controls[f"control:nearest({one})"][some], atol=1e-6)
        np.testing.assert_allclose(results.items[other][some], means[some], atol=2e-5, err_msg=other)
        np.testing.assert_allclose(controls[f"control:mean-weight({other})"], means, rtol=EXACT)
