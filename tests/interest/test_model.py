"""Scores of a page by models of interest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.interest.model import UNTRAINED, InterestModel, page_scores

PAGE = [
    "The mill at Sutton is the oldest in the county.",
    "It was the first mill to burn peat, and the only one that never stopped.",
    "The mill burned peat in winter.",
    "Flour was sold on Fridays.",
    "...",
]
TRAINED = InterestModel(
    {"cues": 0.3, "names": -0.2, "overlap": 0.1, "length": 0.5},
    {"peat": 0.4, "mill": -0.1, "burned peat": 0.25, "burn": 0.2, "unseen": 9.0, "oldest mill": 9.0},
    "trained",
)


@pytest.mark.parametrize("model", [UNTRAINED, TRAINED])
def test_contributions_and_the_constant_add_up(model: InterestModel) -> None:
    found = page_scores(PAGE, model)
    for index, score in enumerate(found.scores[:-1].tolist()):
        reasons = found.reasons(index)
        assert math.fsum(each.part for each in reasons) + found.constant == pytest.approx(score)
        assert [each.part for each in reasons] == sorted((each.part for each in reasons), reverse=True)
    assert found.scores[-1] == -math.inf
    assert found.reasons(4) == ()
    assert found.scores[:-1].mean() == pytest.approx(0)


def test_the_untrained_sum_puts_cues_and_names_first() -> None:
    found = page_scores(PAGE)
    assert np.argsort(-found.scores)[:2].tolist() == [0, 1]
    assert [each.unit for each in found.reasons(0, 2)] == ["name: Sutton", "superlative: oldest"]


def test_words_and_pairs_have_their_weights_whatever_the_page() -> None:
    reasons = {each.unit: each.part for each in page_scores(PAGE, TRAINED).reasons(2)}
    assert {unit: reasons[unit] for unit in ("peat", "mill", "burned peat")} == {
        "peat": 0.4,
        "mill": -0.1,
        "burned peat": 0.25,
    }


@pytest.mark.parametrize("model", [UNTRAINED, TRAINED])
@pytest.mark.parametrize(
    "page",
    [[], [""], ["The oldest mill."], ["The oldest mill."] * 3, ["磨坊是最古老的。", "面粉在星期五出售。"], ["", "..."]],
)
def test_pages_without_differences(page: list[str], model: InterestModel) -> None:
    found = page_scores(page, model)
    assert len(found.scores) == len(page)
    assert not np.isnan(found.scores).any()
    for index, score in enumerate(found.scores.tolist()):
        assert math.fsum(each.part for each in found.reasons(index)) + found.constant == pytest.approx(score) or (
            score == -math.inf
        )


def test_equal_passages_have_equal_scores() -> None:
    assert len(set(page_scores(["The oldest mill.", "Rain.", "The oldest mill."]).scores.tolist())) == 2


@given(st.permutations(range(4)))
def test_the_order_of_the_passages_changes_nothing(order: list[int]) -> None:
    found = page_scores([PAGE[at] for at in order], TRAINED).scores
    np.testing.assert_allclose(found, page_scores(PAGE[:4], TRAINED).scores[order], atol=1e-12)


def test_stop_words_are_one_reason() -> None:
    words = {"the": 0.25, "of the": 0.5, "the mill": 0.125}
    found = page_scores(["Peat burned.", "The peat of the mill."], InterestModel({}, words))
    reasons = {each.unit: each.part for each in found.reasons(1)}
    assert reasons == {"common words": 0.75, "the mill": 0.125}
