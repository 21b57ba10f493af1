"""The signs that speak against ``over=near``, by hand; tests/correlation/test_over_near.py has whole tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.metrics.metric_set import parse_all
from postil.metrics.notes import NearSigns
from postil.metrics.references import References
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

Set = dict[str, float]
"""References of one set with their weights."""


def said(
    sets: Sequence[Set], candidates: Sequence[tuple[str, int]] = (), specs: Sequence[str] = ("w-meteor(over=near)",)
) -> list[str]:
    """Scores of candidates, each with the number of its set, in batches of three."""
    vocabulary = Vocabulary()
    tokens = vocabulary.encode_tokens([text.split() for row in sets for text in row])
    weights = np.array([weight for row in sets for weight in row.values()])
    signs = NearSigns(parse_all(specs), References(tokens, np.cumsum([0, *map(len, sets)]), weights))
    for begin in range(0, len(candidates), 3):
        part = candidates[begin : begin + 3]
        encoded = vocabulary.branch().encode_tokens([text.split() for text, _ in part])
        signs.see(encoded, np.array([number for _, number in part], dtype=np.int32))
    return list(signs.remarks())


def one_out(*weights: float) -> tuple[list[Set], list[tuple[str, int]]]:
    """Texts t0, t1, … of these weights, each against the others."""
    texts = {f"t {i}": weight for i, weight in enumerate(weights)}
    sets = [{text: weight for text, weight in texts.items() if text != mine} for mine in texts]
    return sets, [(text, i) for i, text in enumerate(texts)]


def of(*levels: tuple[int, float]) -> Set:
    """So many references of each weight."""
    weights = [weight for n, weight in levels for _ in range(n)]
    return {f"r{i}": weight for i, weight in enumerate(weights)}


def test_many_references_with_few_distinct_weights() -> None:
    (line,) = said([of((10, 0.0), (10, 1.0))])
    assert line == (
        "w-meteor(over=near): 10 references for each distinct weight (median of the items); with many references and "
        "few distinct weights over=near can correlate less with human scores than over=max"
    )
    assert not said([of((10, 0.0), (9, 1.0))])  # 9.5 for each
    assert not said([of((30, 0.0), (20, 0.5)), of((5, 0.0), (1, 1.0)), of((5, 0.0), (5, 0.5))])  # the median: 5
    assert "12.5 references" in said([of((30, 0.0), (20, 0.25)), of((1, 0.0)), of((5, 0.0), (20, 1.0))])[0]


def test_weights_that_are_all_the_same_are_no_sign() -> None:
    assert not said([of((40, 1.0))])
    halves: list[Set] = [{"a": 0.1, "b": 0.1, "c": 0.1}, {"d": 0.1, "e": 0.1}]  # the first mean is .10000000000000002
    assert not said(halves, [("a", 1), ("b", 1), ("c", 1), ("d", 0), ("e", 0)])
    assert not said(*one_out(0.0, 0.0, 0.0))


def test_leave_one_out() -> None:
    (line,) = said(*one_out(0.9, 0.2, 0.4, 0.6))
    assert line.startswith(
        "w-meteor(over=near): 4 of 4 candidates are references of other items, as in leave-one-out or in halves, and "
        "the mean weight of a candidate's references falls as its own weight rises"
    )


def test_halves() -> None:
    # Means .7 and .3, so y = -.4 for the first half and .4 for the second. x = .6, .2 and -.2, -.6, and so
    # sum x y = -.64, sum x^2 = .8, sum y^2 = .64: -.894
    first, second = {"a": 0.9, "b": 0.5}, {"c": 0.5, "d": 0.1}
    candidates = [("a", 1), ("b", 1), ("c", 0), ("d", 0)]
    assert len(said([first, second], candidates)) == 1
    assert not said([{"a": 0.9, "b": 0.5}, {"c": 0.5, "d": 0.9}], candidates)  # halves of one mean


def test_a_mean_that_rises_is_no_sign() -> None:
    # "a" is a bad reference in the first set, of mean .6, and as a candidate meets the second, of mean .3: x = -.1 and
    # y = -.3. "b" is a good one in the third, of mean .5, and meets the fourth, of mean .7: x = .2 and y = .2.
    sets: list[Set] = [{"a": 0.2, "u": 1.0}, {"v": 0.2, "w": 0.4}, {"b": 0.9, "z": 0.1}, {"s": 0.6, "t": 0.8}]
    assert not said(sets, [("a", 1), ("b", 3)])


def test_copies_in_the_own_references_tell_nothing() -> None:
    sets, candidates = one_out(0.9, 0.2, 0.4, 0.6)
    own: Set = {"own": 0.5, "more": 0.25}
    assert not said([*sets, own], [*candidates, *[("own", 4)] * 5])  # 4 of 9 are references elsewhere
    assert len(said([*sets, own], [*candidates, *[("own", 4)] * 4])) == 1
    # Beside the references elsewhere, a copy in the own set changes nothing.
    assert len(said([{"t 0": 0.9, **sets[0]}, *sets[1:]], candidates)) == 1


@pytest.mark.parametrize(("others", "lines"), [(4, 1), (5, 0)])
def test_half_of_the_candidates(others: int, lines: int) -> None:
    """Other systems' texts are no references; a few short texts that happen to be are no design."""
    sets, candidates = one_out(0.9, 0.2, 0.4, 0.6)
    assert len(said(sets, [*candidates, *[("something else", i % 4) for i in range(others)]])) == lines


@pytest.mark.parametrize("specs", [["meteor(over=near)", "w-meteor", "w-rouge-l(over=mean)"], ["bleu-4"]])
def test_other_metrics_are_not_looked_at(specs: list[str]) -> None:
    assert not said(*one_out(0.9, 0.2, 0.4, 0.6), specs)


def test_a_kernel_has_the_same_signs_under_its_name() -> None:
    specs = ["w-meteor(over=kernel)", "w-rouge-l(over=near)", "w-rouge-l(over=kernel,tau=0.2)"]
    lines = said(*one_out(0.9, 0.2, 0.4, 0.6), specs)
    assert [(line.partition(": ")[0], line.partition("; ")[2].split()[0]) for line in lines] == [
        ("w-meteor(over=kernel), w-rouge-l(over=kernel,tau=0.2)", "over=kernel"),
        ("w-rouge-l(over=near)", "over=near"),
    ]
    assert "over=kernel can correlate less" in said([of((10, 0.0), (10, 1.0))], specs=specs)[0]


def test_the_control_is_the_mean_of_the_weights() -> None:
    specs = ["w-rouge-l(over=near)", "w-rouge-l", "w-meteor(over=mean)"]
    result = postil.score(
        ["a", "b", "c"],
        [["a b", "c"], ["d"], ["a b", "c", "e"]],
        weights=[[0.5, 0.25], [1.0], [0.0, 0.25, 0.5]],
        metrics=specs,
        controls=postil.ControlOptions(draws=1),
    )
    name = "control:mean-weight(w-rouge-l(over=near))"
    assert result.items[name].tolist() == pytest.approx([0.375, 1.0, 0.25])
    assert result.signatures[name] == f"{result.signatures[specs[0]]}|control:mean-weight"
    assert [each for each in result.items if "mean-weight" in each] == [name]
