"""Controls of weighted metrics: figures worked out by hand, and what must hold whatever the texts."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import postil
from exploration import examples
from postil import kernel
from postil.errors import UsageError
from postil.metrics import reference_aggregation
from postil.metrics.background import DocumentFrequencies
from postil.metrics.base import PairwiseScorer
from postil.metrics.controls import ControlOptions, Controls
from postil.metrics.metric_set import MetricSet, parse_all
from postil.metrics.references import References
from postil.text.tokens import Vocabulary
from postil.version import VERSION

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from postil.kernel import Overlap

    Floats = NDArray[np.float64]

ROUGE = "w-rouge-l(beta=1)"
SPECS = [
    "w-bleu-2",
    "w-meteor",
    "w-meteor(characters=true,params=other)",
    "w-rouge-2",
    "w-rouge-l",
    "w-rouge-l(over=mean)",
    "w-cider",
    "w-cider-d",
    "delta-bleu",
]
SOME = ["w-bleu-2", "w-rouge-l", "w-cider"]
PAIRWISE = [
    "w-meteor",
    "w-meteor(corpus=mean,params=other)",
    "w-meteor(corpus=chosen)",
    "w-meteor(penalty=outside)",
    "w-meteor(characters=true,over=top-2,params=other)",
    "w-meteor(characters=true,params=other)",
    "w-rouge-1",
    "w-rouge-2(corpus=pooled)",
    "w-rouge-su4",
    "w-rouge-l",
    "w-rouge-l(over=mean)",
    "w-rouge-l(over=near)",
    "w-cider(order=1)",
    "w-cider",
    "w-cider-d",
]
"""Metrics that compare a candidate with each reference by itself."""

Sets = list[list[tuple[str, float]]]
"""For each set its references with their weights."""


def bind(
    sets: Sets,
    specs: Iterable[str],
    options: ControlOptions | None = None,
    background: DocumentFrequencies | None = None,
) -> tuple[Vocabulary, MetricSet, Controls]:
    vocabulary = Vocabulary()
    tokens = vocabulary.encode_tokens([text.split() for row in sets for text, _ in row])
    weights = np.array([weight for row in sets for _, weight in row])
    references = References(tokens, np.cumsum([0, *map(len, sets)]), weights)
    metrics = MetricSet(parse_all(specs), references, background=background, tokenizer="space")
    return vocabulary, metrics, Controls(metrics, options)


def controls(  # noqa: PLR0917
    sets: Sets,
    candidates: Sequence[str],
    of_set: Sequence[int] | None = None,
    specs: Iterable[str] = (ROUGE,),
    options: ControlOptions | None = None,
    background: DocumentFrequencies | None = None,
    jobs: int = 1,
    cuts: Sequence[int] = (),
) -> dict[str, Floats]:
    """The controls of candidates, by default one for each set, in batches that end at the cuts."""
    vocabulary, _, made = bind(sets, specs, options, background)
    numbers = np.array(range(len(sets)) if of_set is None else of_set, dtype=np.int32)
    found: dict[str, list[Floats]] = {}
    for begin, end in pairwise([0, *cuts, len(candidates)]):
        tokens = vocabulary.branch().encode_tokens([text.split() for text in candidates[begin:end]])
        for name, scores in made.scores(tokens, numbers[begin:end], jobs):
            found.setdefault(name, []).append(scores)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def plain(
    sets: Sets, candidates: Sequence[str], of_set: Sequence[int], specs: Iterable[str], *, weighted: bool = False
) -> dict[str, Floats]:
    """The metrics themselves; without weights unless asked."""
    even: Sets = sets if weighted else [[(text, 1.0) for text, _ in row] for row in sets]
    vocabulary, metrics, _ = bind(even, specs)
    tokens = vocabulary.branch().encode_tokens([text.split() for text in candidates])
    stats = metrics.measure(tokens, np.array(of_set, dtype=np.int32))
    return {spec: metrics.items(spec, values) for spec, values in stats.items()}


def draws(found: dict[str, Floats], spec: str = ROUGE) -> Floats:
    """float64[draws, n]."""
    names = [name for name in found if name.startswith(f"control:shuffled({spec},draw=")]
    assert names == [f"control:shuffled({spec},draw={draw})" for draw in range(1, len(names) + 1)]
    return np.array([found[name] for name in names])


# ---- by hand ---------------------------------------------------------------------------------------------------------
# ROUGE-L with beta 1 is F = 2 P R / (P + R), P = max_j s_j LCS_j / |c|, R = max_j s_j LCS_j / |r_j|.

FOUR = [("a b", 0.5), ("a c", 1.0), ("c d", 0.75), ("b", 0.75)]
"""With the candidate "a b" they have the LCS 2, 1, 0 and 1; alone they give F = 1, 1/2, 0 and 2 1/2 1 / (3/2) = 2/3."""


def test_top() -> None:
    # "a c" alone has the highest weight: F = 1/2. In the second set "a c" and "b" share it: P = 1/2, R = 1, F = 2/3.
    tied = [("a b", 0.5), ("a c", 0.75), ("b", 0.75)]
    assert controls([FOUR, tied], ["a b", "a b"])["control:top(w-rouge-l(beta=1))"] == pytest.approx([1 / 2, 2 / 3])


def test_best_without_a_tie_at_the_last_place() -> None:
    # The best three are "a c", "c d" and "b", which tie but are all in: P = 1/2, R = 1, F = 2/3.
    found = controls([FOUR], ["a b"], options=ControlOptions(draws=1, best=3))
    assert found["control:best-3(w-rouge-l(beta=1))"] == pytest.approx([2 / 3])
    assert "control:best-5(w-rouge-l(beta=1))" not in found


def test_best_is_the_mean_over_choices_among_the_tied() -> None:
    # "a c" is in; beside it "c d" (P = R = 1/2, F = 1/2) or "b" (R = 1, F = 2/3), in the mean 7/12.
    name = "control:best-2(w-rouge-l(beta=1))"
    for seed in range(3):
        (value,) = controls([FOUR], ["a b"], options=ControlOptions(draws=1, best=2, choices=4, seed=seed))[name]
        steps = (value - 1 / 2) * 6 * 4  # how many of the four choices were "b"
        assert steps == pytest.approx(round(steps))
    (value,) = controls([FOUR], ["a b"], options=ControlOptions(draws=1, best=2, choices=2000))[name]
    assert value == pytest.approx(7 / 12, abs=0.006)  # three standard errors


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e-13, 1e-100])
def test_weights_are_tied_in_relation_to_their_size(size: float) -> None:
    # "a c" has the highest weight; in the second set it shares it with "b", by a chain of ties.
    chain = [
        ("b", 0.9 * size),
        ("a c", 0.9 * size * (1 + 1.8e-12)),
        ("b", 0.9 * size * (1 + 9e-13)),
        ("a b", 0.2 * size),
    ]
    sets = [[(text, weight * size) for text, weight in FOUR], chain]
    found = controls(sets, ["a b", "a b"], options=ControlOptions(draws=1, best=1, choices=50))
    assert found["control:top(w-rouge-l(beta=1))"] == pytest.approx([1 / 2, 2 / 3])
    assert found["control:best-1(w-rouge-l(beta=1))"][0] == pytest.approx(1 / 2)
    assert 1 / 2 < found["control:best-1(w-rouge-l(beta=1))"][1] < 2 / 3  # now one, now the other


def test_tiny_scores_are_tied_in_relation_to_their_size() -> None:
    # BLEU-4 of 60 words that are not in the reference is 1.7e-17, with one of them 9.5e-14.
    words = [f"w{i}" for i in range(60)]
    others = ["x"] * 60
    row = [(" ".join(others), 0.25), (" ".join(["w7", *others]), 1.0), (" ".join([*others, "w9"]), 0.5)]
    found = controls([row], [" ".join(words)], specs=["w-bleu-4"])
    assert found["control:nearest(w-bleu-4)"].tolist() == [0.75]


def test_nearest() -> None:
    # "a b" is nearest to "a b". To "p q" three are as near, F = 1/2, with weights 1, 1/4 and 0.4: mean 0.55.
    tied = [("p z", 1.0), ("q z", 0.25), ("p w", 0.4), ("z z", 0.9)]
    found = controls([FOUR, tied], ["a b", "p q"])
    assert found["control:nearest(w-rouge-l(beta=1))"] == pytest.approx([0.5, 0.55])


def test_an_empty_candidate() -> None:
    # It is as far from every reference: the mean weight is 3/4. All else is 0.
    found = controls([FOUR], [""], options=ControlOptions(draws=2))
    assert found["control:nearest(w-rouge-l(beta=1))"] == pytest.approx([0.75])
    assert sum(found.values()).sum() == pytest.approx(0.75)


def test_length() -> None:
    sets = [FOUR, [("x", 1.0)]]
    assert controls(sets, ["a b", "", "x y z"], [0, 1, 1])["control:length"].tolist() == [2, 0, 3]


def test_shuffled_weights_are_those_of_the_set_in_another_order() -> None:
    # Each candidate is one of the references, which share no word, so its score is the weight of that reference.
    sets: Sets = [[("a", 0.25), ("b", 0.5), ("c", 1.0)], [("d", 0.1), ("e", 0.9)]]
    found = draws(controls(sets, list("abcde"), [0, 0, 0, 1, 1], options=ControlOptions(draws=600)))
    assert found.shape == (600, 5)
    assert np.sort(found[:, :3]) == pytest.approx(np.tile([0.25, 0.5, 1.0], (600, 1)))
    assert np.sort(found[:, 3:]) == pytest.approx(np.tile([0.1, 0.9], (600, 1)))
    orders = [tuple(np.argsort(row)) for row in found[:, :3]]
    times = [orders.count(order) for order in permutations(range(3))]
    assert sum(times) == 600
    assert all(65 <= count <= 135 for count in times)  # 100 expected; the standard deviation is 9


def test_shuffled_weights_give_the_value_of_an_order() -> None:
    # Every order of the four weights over LCS 2, 1, 0, 1 and lengths 2, 2, 2, 1.
    values = set()
    for one, two, _, four in permutations([0.5, 1.0, 0.75, 0.75]):
        precision, recall = max(one, two / 2, four / 2), max(one, two / 2, four)
        values.add(round(2 * precision * recall / (precision + recall), 9))
    found = draws(controls([FOUR], ["a b"], options=ControlOptions(draws=200)))
    assert {round(value, 9) for value in found[:, 0].tolist()} == values


# ---- document frequencies --------------------------------------------------------------------------------------------

THREE: Sets = [[("a b", 1.0), ("a c", 0.5), ("d", 0.25)], [("a b", 0.5), ("b d", 1.0)], [("e f", 1.0)]]
KEPT: Sets = [[("a b", 1.0)], [("b d", 1.0)], [("e f", 1.0)]]


@pytest.mark.parametrize("spec", ["w-cider", "w-cider-d"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_document_frequencies_stay_those_of_all_references(spec: str, elsewhere: bool) -> None:
    vocabulary = Vocabulary()
    texts = ["a b", "a", "c d", "d"] if elsewhere else [text for row in THREE for text, _ in row]
    offsets = np.arange(5) if elsewhere else np.array([0, 3, 5, 6])
    counted = DocumentFrequencies.of(
        References(vocabulary.encode_tokens([text.split() for text in texts]), offsets), "space"
    )
    given = counted if elsewhere else None
    candidates = ["a c", "b d d", "e"]
    found = controls(THREE, candidates, specs=[spec], options=ControlOptions(draws=1, best=1), background=given)
    vocabulary, metrics, _ = bind(KEPT, [spec], background=counted)
    tokens = vocabulary.branch().encode_tokens([text.split() for text in candidates])
    expected = metrics.items(spec, metrics.measure(tokens, np.arange(3, dtype=np.int32))[spec])
    assert found[f"control:top({spec})"] == pytest.approx(expected)
    assert found[f"control:best-1({spec})"] == pytest.approx(expected)
    assert (expected > 0).all()


def test_a_single_item_with_a_background() -> None:
    counted = DocumentFrequencies.of(
        References(Vocabulary().encode_tokens([["a"], ["a", "b"], ["c"]]), np.arange(4)), "space"
    )
    found = controls(THREE[:1], ["a c"], specs=["w-cider"], options=ControlOptions(draws=1), background=counted)
    assert found["control:nearest(w-cider)"].tolist() == [0.5]


# ---- pairs -----------------------------------------------------------------------------------------------------------


def test_each_pair_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def counted(overlap: Overlap, *rest: object) -> Floats:
        compared.append(len(overlap))
        return kernel.meteor(overlap, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("postil.metrics.meteor.meteor", counted)
    tied = [("a b", 0.5), ("a c", 0.75), ("b", 0.75)]
    options = ControlOptions(draws=10, best=1, choices=7)
    controls([FOUR, tied], ["a b", "b c", "d"], [0, 1, 1], specs=["w-meteor"], options=options)
    assert sum(compared) == 4 + 3 + 3


# ---- laws ------------------------------------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(["run", "runs", "the", "cat", "我们"]), max_size=6).map(" ".join)
WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(1e-6, 1.0)


@st.composite
def problems(draw: st.DrawFn, most: int = 4) -> tuple[Sets, list[str], list[int]]:
    """At least two sets, as CIDEr needs, and candidates with the numbers of their sets."""
    sets = draw(st.lists(st.lists(st.tuples(TEXTS, WEIGHTS), min_size=1, max_size=most), min_size=2, max_size=3))
    candidates = draw(st.lists(TEXTS, min_size=1, max_size=4))
    return sets, candidates, [draw(st.integers(0, len(sets) - 1)) for _ in candidates]


@examples(30)
@given(problems(), st.randoms(use_true_random=False))
def test_pairs_give_what_texts_give_to_the_last_bit(
    problem: tuple[Sets, list[str], list[int]], random: random.Random
) -> None:
    sets, candidates, of_set = problem
    vocabulary, metrics, _ = bind(sets, PAIRWISE)
    scorers = {spec: metrics.scorer(spec) for spec in PAIRWISE}
    references = scorers["w-cider"].references  # with the document frequencies
    weights = references.weights
    tokens = vocabulary.branch().encode_tokens([text.split() for text in candidates])
    numbers = np.array(of_set, dtype=np.int32)
    singles = reference_aggregation.SingleReferenceScorer(metrics.metrics, references, None)
    bounds, pairs = references.pairs(numbers)
    found = singles.compared(tokens, numbers)
    keep = np.array([random.random() < 0.5 for _ in weights])
    keep[references.offsets[:-1]] = True
    kept = keep[pairs]
    some = np.concatenate([[0], np.cumsum(kept)])[bounds]
    for spec, scorer in scorers.items():
        assert isinstance(scorer, PairwiseScorer), spec
        alone = scorer.joined(found[spec], np.ones(len(pairs)), np.arange(len(pairs) + 1))
        assert scorer.items(alone).tobytes() == singles.scores(tokens, numbers)[spec].tobytes(), spec
        expected = scorer.reweighted(weights[::-1].copy()).stats(tokens, numbers)
        assert scorer.joined(found[spec], weights[::-1][pairs], bounds).tobytes() == expected.tobytes(), spec
        expected = metrics.metrics[spec].against_unweighted(references.subset(keep)).stats(tokens, numbers)
        assert scorer.joined(found[spec][kept], np.ones(kept.sum()), some).tobytes() == expected.tobytes(), spec


@examples(30)
@given(problems(), st.randoms(use_true_random=False))
def test_several_weights_at_once_give_what_each_gives_to_the_last_bit(
    problem: tuple[Sets, list[str], list[int]], random: random.Random
) -> None:
    sets, candidates, of_set = problem
    specs = ["w-bleu-2", "w-bleu-4(smooth=method0)", "delta-bleu", "w-rouge-l(reading=union)"]
    vocabulary, metrics, _ = bind(sets, specs)
    tokens = vocabulary.branch().encode_tokens([text.split() for text in candidates])
    weights = np.array([[random.random() for row in sets for _ in row] for _ in range(3)])
    for spec in specs:
        scorer = metrics.scorer(spec)
        matches = scorer.references.match(tokens, np.array(of_set, dtype=np.int32))
        together = scorer.measure_each(matches, weights)
        for row, stats in zip(weights, together, strict=True):
            assert stats.tobytes() == scorer.reweighted(row).measure(matches).tobytes(), spec


@examples(30)
@given(problems(), st.lists(WEIGHTS, min_size=3, max_size=3))
def test_shuffling_equal_weights_changes_nothing(
    problem: tuple[Sets, list[str], list[int]], weights: list[float]
) -> None:
    sets, candidates, of_set = problem
    sets = [[(text, weight) for text, _ in row] for row, weight in zip(sets, weights, strict=False)]
    found = controls(sets, candidates, of_set, SPECS, ControlOptions(draws=2, choices=2))
    for spec, expected in plain(sets, candidates, of_set, SPECS, weighted=True).items():
        assert (draws(found, spec) == expected).all(), spec


@examples(30)
@given(problems(), st.integers(4, 6))
def test_the_best_of_no_more_than_k_are_all(problem: tuple[Sets, list[str], list[int]], best: int) -> None:
    found = controls(*problem, SPECS, ControlOptions(draws=1, best=best))
    for spec, expected in plain(*problem, SPECS).items():
        assert found[f"control:best-{best}({spec})"] == pytest.approx(expected, abs=1e-12), spec


@examples(30)
@given(problems(most=1))
def test_a_single_reference(problem: tuple[Sets, list[str], list[int]]) -> None:
    sets, _, of_set = problem
    found = controls(*problem, SPECS, ControlOptions(draws=2, best=1))
    without, itself = plain(*problem, SPECS), plain(*problem, SPECS, weighted=True)
    for spec in SPECS:
        assert found[f"control:nearest({spec})"].tolist() == [sets[number][0][1] for number in of_set], spec
        assert found[f"control:top({spec})"] == pytest.approx(without[spec], abs=1e-12), spec
        assert found[f"control:best-1({spec})"] == pytest.approx(without[spec], abs=1e-12), spec
        assert (draws(found, spec) == itself[spec]).all(), spec


@examples(30)
@given(problems(), st.data())
def test_neither_threads_nor_batches_change_a_bit(
    problem: tuple[Sets, list[str], list[int]], data: st.DataObject
) -> None:
    options = ControlOptions(draws=2, best=2, choices=3)
    found = controls(*problem, SPECS, options)
    cut = data.draw(st.integers(0, len(problem[1])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_aggregation, "BLOCK", 1)  # candidate by candidate
        again = controls(*problem, SPECS, options, jobs=3, cuts=[cut])
    assert list(again) == list(found)
    for name, values in found.items():
        assert again[name].tobytes() == values.tobytes(), name


def test_seeds() -> None:
    row = [(text, weight) for text, weight in zip("abcdefgh", np.linspace(0.1, 0.8, 8).tolist(), strict=True)]

    def of(seed: int) -> list[bytes]:
        made = controls([row], list("abcdefgh"), [0] * 8, options=ControlOptions(draws=3, seed=seed))
        return [scores.tobytes() for scores in draws(made)]

    assert of(1) == of(1)
    assert len({*of(1), *of(2)}) == 6  # draws and seeds differ
    fewer = controls([row], list("abcdefgh"), [0] * 8, options=ControlOptions(draws=2, seed=1))
    assert [scores.tobytes() for scores in draws(fewer)] == of(1)[:2]


# ---- names -----------------------------------------------------------------------------------------------------------


def test_every_control_has_a_signature() -> None:
    _, metrics, made = bind([FOUR, FOUR], ["rouge-l", "w-rouge-1", "w-cider"], ControlOptions(draws=2, best=3, seed=7))
    found = controls([FOUR, FOUR], ["a", "b"], specs=metrics.metrics, options=ControlOptions(draws=2, best=3))
    assert list(made.signatures) != []
    assert {*made.signatures} == {*found}
    first = metrics.signatures["w-rouge-1"]
    assert {name: made.signatures[name] for name in made.signatures if "cider" not in name} == {
        "control:shuffled(w-rouge-1,draw=1)": f"{first}|control:shuffled|seed:7",
        "control:shuffled(w-rouge-1,draw=2)": f"{first}|control:shuffled|seed:7",
        "control:best-3(w-rouge-1)": f"{first}|control:best-3|ties:1e-12|choices:20|seed:7",
        "control:top(w-rouge-1)": f"{first}|control:top|ties:1e-12",
        "control:nearest(w-rouge-1)": f"{first}|control:nearest|ties:mean:1e-12",
        "control:length": f"control:length|tokenizer:space|postil:{VERSION}",
    }


def test_without_weights_the_length_is_the_only_control() -> None:
    found = controls([FOUR], ["b c a"], specs=["rouge-l"])
    assert {name: scores.tolist() for name, scores in found.items()} == {"control:length": [3.0]}
    assert [*bind([FOUR], ["rouge-l"])[2].signatures] == ["control:length"]


@pytest.mark.parametrize("name", ["draws", "best", "choices"])
def test_numbers_from_1(name: str) -> None:
    with pytest.raises(UsageError, match=f"controls: {name}: expected at least 1, got 0"):
        ControlOptions(**{name: 0})


# ---- postil.score ----------------------------------------------------------------------------------------------------


def test_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [["the cat sat", "a dog", "it rained"], ["rain fell", "a cat"], ["dogs bark", "dogs run", "the cat", "no"]]
    weights = [[1.0, 0.5, 0.25], [0.5, 0.5], [0.25, 1.0, 0.75, 0.75]]
    given = {"weights": weights, "metrics": ["rouge-l", *SOME], "controls": ControlOptions(draws=3, best=2)}
    candidates = ["the cat", "rain", "dogs run fast"]
    result = postil.score(candidates, texts, **given)  # type: ignore[arg-type]
    expected = controls(
        [list(zip(*row, strict=True)) for row in zip(texts, weights, strict=True)],
        candidates,
        specs=["rouge-l", *SOME],
        options=ControlOptions(draws=3, best=2),
    )
    assert [name for name in result.items if name.startswith("control:")] == list(expected)
    assert {*result.items} == {*result.signatures}
    assert [*result.corpus] == ["rouge-l", *SOME]  # controls have no corpus score
    for name, values in expected.items():
        assert result.items[name].tobytes() == values.tobytes(), name
    monkeypatch.setattr("postil.scoring.calls.CHUNK", 2)
    again = postil.score(candidates, texts, jobs=3, **given)  # type: ignore[arg-type]
    assert {name: values.tobytes() for name, values in again.items.items()} == {
        name: values.tobytes() for name, values in result.items.items()
    }
