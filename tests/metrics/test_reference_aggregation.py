"""One score from the references of a set: max, mean, top-k, near, kernel; and what speaks against ``over=near``."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.errors import UsageError
from postil.metrics import reference_aggregation as over_module
from postil.metrics.controls import ControlOptions
from postil.metrics.meteor import Meteor
from postil.metrics.metric_set import parse_all
from postil.metrics.reference_aggregation import NearSigns, Over, SingleReferenceScorer
from postil.metrics.references import References
from postil.metrics.rouge import RougeL
from postil.metrics.spec import parse_metric
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence


C = ["a c b", "x", "a b"]
R = [["a b c d", "b", "a c b"], ["y"], ["b a", "q"]]
S = [[0.5, 0.4, 0.75], [1.0], [0.25, 1.0]]
"""With beta = 1 the first candidate's F are 4/7 (LCS 2 of 3 and 4), 1/2 (1 of 3 and 1) and 1; the third's 1/2 and 0."""

OVERS = ["mean", "top-1", "top-2", "top-3", "top-999999999"]


def items(spec: str, weights: list[list[float]] | None = None) -> list[float]:
    return postil.score(C, R, weights=weights, metrics=[spec], tokenizer="space").items[spec].tolist()


@pytest.mark.parametrize(
    ("over", "plain", "weighted"),
    [
        ("mean", [(4 / 7 + 1 / 2 + 1) / 3, 0, 1 / 4], [(0.5 * 4 / 7 + 0.4 / 2 + 0.75) / 3, 0, 0.25 / 2 / 2]),
        # (K + 1) / K times sum s F / (1 + sum F); sum F = 29/14 and 1/2
        (
            "near",
            [4 / 3 * (29 / 14) / (43 / 14), 0, 3 / 2 * (1 / 2) / (3 / 2)],
            [4 / 3 * (0.5 * 4 / 7 + 0.4 / 2 + 0.75) / (43 / 14), 0, 3 / 2 * 0.125 / (3 / 2)],
        ),
        ("top-1", [1, 0, 1 / 2], [0.75, 0, 0.125]),
        ("top-2", [(1 + 4 / 7) / 2, 0, 1 / 4], [(0.75 + 0.5 * 4 / 7) / 2, 0, 0.125 / 2]),
        ("top-3", [(4 / 7 + 1 / 2 + 1) / 3, 0, 1 / 4], [(0.5 * 4 / 7 + 0.4 / 2 + 0.75) / 3, 0, 0.125 / 2]),
    ],
)
def test_rouge_l_by_hand(over: str, plain: list[float], weighted: list[float]) -> None:
    assert items(f"rouge-l(beta=1,over={over})") == pytest.approx(plain)
    assert items(f"w-rouge-l(beta=1,over={over})", S) == pytest.approx(weighted)


@pytest.mark.parametrize("parameters", ["", "stages=exact", "params=other", "characters=true", "params=2005"])
@pytest.mark.parametrize("over", OVERS)
def test_the_definition(parameters: str, over: str) -> None:
    """Every reference by itself through the metric as it is without `over`, then a plain mean."""
    name = f"w-meteor({parameters}{',' if parameters else ''}"
    expected = []
    for candidate, references, weights in zip(C, R, S, strict=True):
        alone = postil.score(
            [candidate] * len(references),
            [[reference] for reference in references],
            weights=[[weight] for weight in weights],
            metrics=[f"{name}corpus=mean)"],
            tokenizer="space",
        )
        values = np.sort(alone.items[f"{name}corpus=mean)"])[::-1]
        expected.append(values[: None if over == "mean" else int(over[4:])].mean())
    result = postil.score(C, R, weights=S, metrics=[f"{name}over={over})"], tokenizer="space")
    assert result.items[f"{name}over={over})"] == pytest.approx(expected)
    assert result.corpus[f"{name}over={over})"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("name", ["meteor", "meteor(params=other,corpus=mean)", "rouge-l(beta=2)"])
def test_over_one_reference_all_agree(name: str) -> None:
    head, _, rest = name.removesuffix(")").partition("(")
    specs = [f"w-{head}({rest}{',' if rest else ''}over={over})" for over in ("max", *OVERS)]
    result = postil.score(C, [row[:1] for row in R], weights=[row[:1] for row in S], metrics=specs)
    first = result.items[specs[0]]
    assert first.any()
    for spec in specs[1:]:
        assert result.items[spec] == pytest.approx(first, rel=1e-15), spec


def test_the_best_single_reference_is_what_meteor_chooses() -> None:
    assert items("w-meteor(over=top-1)", S) == items("w-meteor(corpus=mean)", S)


@pytest.mark.parametrize("spec", ["rouge-l", "meteor"])
def test_max_is_the_default_and_changes_no_bit(spec: str) -> None:
    assert parse_metric(f"{spec}(over=max)") == parse_metric(spec)
    assert str(parse_metric(spec)).endswith(",over=max)")


def test_near_is_a_mean_of_weights_and_not_of_likeness() -> None:
    """A good reference and three bad ones with the same words: the candidate is like each, and graded as most are."""
    references, weights = [["a b", "a b", "a b", "a b"]], [[0.1, 0.1, 0.1, 0.9]]
    specs = ["w-rouge-l(over=near)", "w-rouge-l", "rouge-l(over=near)"]
    found = postil.score(["a b"], references, weights=weights, metrics=specs).corpus
    assert found[specs[0]] == pytest.approx(1.2 / 5 * 5 / 4)
    assert found[specs[1]] == pytest.approx(0.9)
    assert found[specs[2]] == 1.0


def test_near_falls_where_a_bad_reference_is_like_the_candidate() -> None:
    """No maximum and no mean of products can do that: the likeness to the second reference makes the score lower."""
    weights = [[1.0, 0.0]]
    unlike, like = (
        postil.score(["a b"], [["a c", text]], weights=weights, metrics=["w-rouge-l(over=near)"]).corpus
        for text in ("x y", "a b")
    )
    assert like["w-rouge-l(over=near)"] < unlike["w-rouge-l(over=near)"]


def test_meteor_has_a_corpus_score_that_goes_with_over() -> None:
    assert Meteor().corpus == "stats"
    assert Meteor(over="mean").corpus == Meteor(over="top-3").corpus == "mean"
    assert str(parse_metric("meteor(over=top-3)")) == (
        "meteor(params=en,stages=exact+stem,characters=false,corpus=mean,over=top-3)"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "rouge-l(over=median)",
            "rouge-l: over: expected max, mean, near, kernel or top-K with K from 1, got 'median'",
        ),
        ("meteor(over=top-0)", "meteor: over: expected max, mean, near, kernel or top-K with K from 1, got 'top-0'"),
        ("meteor(over=top-03)", "got 'top-03'"),
        ("meteor(over=top)", "got 'top'"),
        ("rouge-l(over=top--1)", "got 'top--1'"),
        ("rouge-l(reading=union,over=mean)", "reading=union joins the references, and leaves over=mean nothing"),
        (
            "meteor(corpus=stats,over=mean)",
            "corpus=stats needs the one reference that over=max chooses; with over=mean",
        ),
        ("meteor(over=top-2,corpus=chosen)", "take corpus=mean, or leave it out"),
        ("rouge-l(over=kernel)", "1 for every text without them; take w-rouge-l(over=kernel)"),
        ("w-meteor(tau=0.1)", "meteor: tau is the width of over=kernel, and over=max has none; leave it out"),
        ("w-rouge-l(over=near,tau=0.2)", "over=near has none"),
        ("w-rouge-l(over=kernel,tau=0)", "rouge-l: tau: expected a number above 0 and below 1,000,000, got 0"),
        ("w-rouge-l(over=kernel,tau=-1)", "below 1,000,000, got -1"),
        ("w-rouge-l(over=kernel,tau=wide)", "tau: expected a number, got 'wide'"),
        ("w-rouge-l(reading=best,over=kernel)", "reading=best chooses a reference"),
    ],
)
def test_what_makes_no_sense(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_metric(spec)
    assert message in str(caught.value)


def test_rouge_l_through_a_kernel_by_hand() -> None:
    kernels = np.exp(np.array([4 / 7, 1 / 2, 1]) / 0.2)
    expected = [kernels @ S[0] / kernels.sum(), 0.0, (0.25 * np.exp(0.5 / 0.2) + 1) / (np.exp(0.5 / 0.2) + 1)]
    expected[1] = 1.0  # the one reference, however unlike the text
    assert items("w-rouge-l(beta=1,over=kernel,tau=0.2)", S) == pytest.approx(expected)


def test_a_weight_acts_on_the_positive_part_of_a_similarity() -> None:
    similarities, bounds = np.array([-0.5, 0.25, -0.25, -0.75]), np.array([0, 2, 4])
    weights = np.array([0.5, 0.5, 0.0, 1.0])
    found = {
        over: Over(over).scores(similarities, weights, bounds).tolist()
        for over in ("max", "mean", "top-1", "near", "kernel")
    }
    kernel = [0.5, (0.0 + np.exp(-0.5 / 0.1)) / (1 + np.exp(-0.5 / 0.1))]
    assert found == {
        "max": [0.125, -0.25],
        "mean": [-0.1875, -0.5],
        "top-1": [0.125, -0.25],
        "near": [1.5 * 0.125 / 1.25, 0.0],
        "kernel": pytest.approx(kernel),
    }


def test_a_very_narrow_kernel_stays_finite() -> None:
    found = Over("kernel", 1e-320).scores(np.array([-1.0, 1.0]), np.array([1.0, 0.25]), np.array([0, 2]))
    assert found.tolist() == [0.25]


def test_tau_stands_in_the_spec_of_a_kernel_alone() -> None:
    assert str(parse_metric("w-meteor(over=kernel)")) == (
        "w-meteor(params=en,stages=exact+stem,characters=false,corpus=mean,over=kernel,tau=0.1)"
    )
    assert parse_metric("w-rouge-l(over=kernel,tau=.1)") == parse_metric("w-rouge-l(over=kernel)")
    assert parse_metric("w-rouge-l(over=kernel,tau=.2)") != parse_metric("w-rouge-l(over=kernel)")
    assert "tau" not in str(parse_metric("w-rouge-l(over=near)"))


def test_controls_of_a_kernel() -> None:
    """Those without weights do not exist; the nearest reference is that of the highest F."""
    spec = "w-rouge-l(beta=1,over=kernel)"
    result = postil.score(C, R, weights=S, metrics=[spec], controls=ControlOptions(draws=20), tokenizer="space")
    kernels = np.exp(np.array([4 / 7, 1 / 2, 1]) / 0.1)
    draws = {round(float(result.items[f"control:shuffled({spec},draw={draw})"][0]), 9) for draw in range(1, 21)}
    assert draws <= {round(float(kernels @ weights / kernels.sum()), 9) for weights in permutations(S[0])}
    assert len(draws) > 2
    rest = {name: found.tolist() for name, found in result.items.items() if "shuffled" not in name and name != spec}
    assert rest == {
        f"control:nearest({spec})": pytest.approx([0.75, 1.0, 0.25]),
        f"control:mean-weight({spec})": pytest.approx([0.55, 1.0, 0.625]),
        "control:length": [3.0, 1.0, 2.0],
    }
    assert set(result.signatures) == set(result.items)


def test_blocks_of_pairs_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = ["w-rouge-l(over=mean)", "w-meteor(over=top-2)", "w-rouge-l(over=near)", "w-meteor(over=kernel)"]
    whole = postil.score(C, R, weights=S, metrics=specs)
    for block in (1, 2, 3, 4):
        monkeypatch.setattr(over_module, "BLOCK", block)
        parts = postil.score(C, R, weights=S, metrics=specs)
        for spec in specs:
            assert parts.items[spec].tobytes() == whole.items[spec].tobytes(), (spec, block)


def test_no_candidates() -> None:
    vocabulary = Vocabulary()
    references = References(vocabulary.encode_tokens([["a"], ["b"]]), np.array([0, 2]))
    none = vocabulary.branch().encode_tokens([])
    for metric in (RougeL(), Meteor(over="top-2"), RougeL(over="near"), RougeL(over="kernel", weighted=True)):
        assert metric.against(references).stats(none, np.zeros(0, np.int32)).shape == (0, 2)
    assert SingleReferenceScorer({"r": RougeL()}, references).scores(none, np.zeros(0, np.int32))["r"].shape == (0,)


def test_controls_of_a_mean() -> None:
    """Shuffled weights go through the same mean; `top` is the plain mean over the references of the highest weight."""
    spec = "w-rouge-l(beta=1,over=mean)"
    result = postil.score(C, R, weights=S, metrics=[spec], controls=ControlOptions(draws=20), tokenizer="space")
    draws = {round(float(result.items[f"control:shuffled({spec},draw={draw})"][0]), 9) for draw in range(1, 21)}
    possible = {
        round(sum(s * f for s, f in zip(weights, (4 / 7, 1 / 2, 1), strict=True)) / 3, 9)
        for weights in permutations(S[0])
    }
    assert draws <= possible
    assert len(draws) > 2
    assert result.items[f"control:top({spec})"].tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert result.items[f"control:nearest({spec})"].tolist() == pytest.approx([0.75, 1.0, 0.25])


def test_metrics_of_one_kind_compare_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = SingleReferenceScorer.scores
    monkeypatch.setattr(SingleReferenceScorer, "scores", lambda self, *args: asked.append(1) or real(self, *args))
    specs = ["rouge-l(over=mean)", "w-rouge-l(over=mean)", "w-rouge-l(over=top-2)", "rouge-l(over=mean,beta=1)"]
    postil.score(C, R, weights=S, metrics=specs)
    assert len(asked) == 2


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
