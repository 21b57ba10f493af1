"""Laws over all measures of passages: what must hold for each, whatever its formula."""

from __future__ import annotations

import math
from contextlib import chdir
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import law

from postil.metrics.passage_measures import measure_passages
from postil.metrics.passage_pools import PassageCollection, informativeness, interestingness
from postil.metrics.spec import MEASURES, parse_measure
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from hypothesis.strategies import DrawFn
    from numpy.typing import NDArray

    from postil.metrics.passage_pools import Pools

LAW = law(40, python=12)
EXACT = 1e-12

BASELINES = ["length", "length(inverse=false)", "random"]
COSINE = "cosine(vectors=v)"
# The measure interest reads sentences of a page and no bags of words: it has laws of its own.
PLAIN = [COSINE, *(name for name in MEASURES if name not in {*BASELINES, "cosine", "interest"})]
PLAIN += ["f1-1(beta=2)", "f1-sk(upto=true,beta=0.5)", "kl-sk(upto=true)", "logsim-sk(upto=true)"]
WEIGHTED = [f"w-{spec}" for spec in PLAIN]
SPECS = PLAIN + WEIGHTED + BASELINES


@pytest.fixture(scope="module", autouse=True)
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Vectors that COSINE names: those of words in all directions."""
    folder = tmp_path_factory.mktemp("laws")
    array = np.random.default_rng(4).normal(size=(6, 3)).astype(np.float32)
    Vectors(tuple("abcdef"), array).save(folder / "v")
    with chdir(folder):
        yield


def of(*families: str, specs: list[str] = SPECS) -> list[str]:
    """The specs of some families."""
    measures = {spec: parse_measure(spec) for spec in specs}
    return [spec for spec, measure in measures.items() if getattr(measure, "family", measure.name) in families]


def of_words(specs: list[str] = SPECS) -> list[str]:
    """The specs over single words."""
    return [spec for spec in specs if getattr(parse_measure(spec), "unit", "1") == "1"]


@dataclass(frozen=True)
class Problem:
    """Passages as words, the topic of each, and how informative it is."""

    texts: list[list[str]]
    topics: list[int]
    weights: list[float]

    @property
    def same(self) -> list[int]:
        """A number for each text, equal where the words are."""
        return [self.texts.index(text) for text in self.texts]

    def about(self) -> Pools:
        """Informativeness."""
        return informativeness(self.topics, self.weights)

    def others(self) -> Pools:
        """Interestingness, with a fold for each topic."""
        return interestingness(self.topics, self.weights, self.same, range(max(self.topics) + 1))

    @property
    def has_others(self) -> bool:
        """True if every passage has informative ones of other topics."""
        return len({topic for topic, weight in zip(self.topics, self.weights, strict=True) if weight > 0}) > 1

    def pools(self) -> list[Pools]:
        """All protocols: with passages in their reference, without, and against other topics where there are some."""
        about = self.about()
        return [about.all_inside(), about, *([self.others()] if self.has_others else [])]


def values(problem: Problem, pools: Pools, specs: Sequence[str], jobs: int = 1) -> dict[str, NDArray[np.float64]]:
    """float64[n] by spec: the measures of all passages, NaN where one is not scored."""
    measures = {spec: parse_measure(spec) for spec in specs}
    collection = PassageCollection(Vocabulary().encode_tokens(problem.texts))
    found = measure_passages(list(measures.values()), collection, pools, jobs)
    every = {spec: np.full(len(problem.texts), np.nan) for spec in specs}
    for spec, measure in measures.items():
        every[spec][pools.texts] = found[measure]
    return every


def close(one: dict[str, NDArray[np.float64]], other: dict[str, NDArray[np.float64]]) -> None:
    for spec, expected in other.items():
        np.testing.assert_allclose(one[spec], expected, rtol=EXACT, atol=EXACT, err_msg=spec)


def equal(one: dict[str, NDArray[np.float64]], other: dict[str, NDArray[np.float64]]) -> None:
    for spec, expected in other.items():
        np.testing.assert_array_equal(one[spec], expected, err_msg=spec)


@st.composite
def problems(draw: DrawFn) -> Problem:
    """Few words, so that texts share many; copies; some passages empty; something informative."""
    texts = draw(st.lists(st.lists(st.sampled_from("abcdef"), max_size=7), min_size=2, max_size=8))
    texts += [texts[i] for i in draw(st.lists(st.integers(0, len(texts) - 1), max_size=2))]
    n = len(texts)
    topics = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.0, 0.0, 0.25, 1 / 3, 0.7, 1.0]), min_size=n, max_size=n))
    assume(any(weights))
    return Problem(texts, topics, weights)


def test_every_measure_is_under_the_laws() -> None:
    assert {spec.partition("(")[0] for spec in SPECS if not spec.startswith("w-")} == set(MEASURES) - {"interest"}


@LAW
@given(problems())
def test_values_stay_in_range(problem: Problem) -> None:
    for pools in problem.pools():
        for spec, found in values(problem, pools, SPECS).items():
            family = getattr(parse_measure(spec), "family", "")
            high = {"kl": math.inf, "js": math.log(2), "": math.inf}.get(family, 1.0)
            there = found[~np.isnan(found)]
            finite = there[np.isfinite(there)] if family == "js" else there
            assert (finite >= (-1.0 if COSINE in spec else 0.0)).all(), spec
            assert (finite <= high + EXACT).all(), spec


@LAW
@given(problems())
def test_only_a_passage_without_units_is_infinitely_far(problem: Problem) -> None:
    """And it is never before any other: a divergence is infinite, a likeness 0. But a cosine may be below that."""
    for pools in problem.pools():
        for spec, found in values(problem, pools, [spec for spec in SPECS if spec != "random"]).items():
            measure = parse_measure(spec)
            unit, gap = {"2": (2, 0), "3": (3, 0), "sk": (2, 1)}.get(getattr(measure, "unit", "1"), (1, 0))
            shortest = unit if getattr(measure, "upto", False) else unit + (unit - 1) * gap
            empty = np.array([len(text) < shortest for text in problem.texts]) & ~np.isnan(found)
            assert (found[empty] == (math.inf if measure.better == "low" else 0.0)).all(), spec
            assert np.isfinite(found[~empty & ~np.isnan(found)]).all(), spec
            ranked = measure.ranked(found)
            assert COSINE in spec or ranked[empty].max(initial=-math.inf) <= ranked[~np.isnan(found)].min(
                initial=math.inf
            ), spec


@LAW
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter_to_words(problem: Problem, random: Random) -> None:
    mixed = replace(problem, texts=[random.sample(text, len(text)) for text in problem.texts])
    for pools in (problem.about(), problem.about().all_inside()):
        close(values(mixed, pools, of_words()), values(problem, pools, of_words()))


@LAW
@given(problems())
def test_texts_may_be_read_backwards(problem: Problem) -> None:
    """Every n-gram and skip-gram is turned round, and so are those of the reference."""
    turned = replace(problem, texts=[text[::-1] for text in problem.texts])
    for pools in problem.pools():
        close(values(turned, pools, SPECS), values(problem, pools, SPECS))


@LAW
@given(problems(), st.permutations("abcdef"))
def test_what_the_words_are_called_does_not_matter(problem: Problem, names: list[str]) -> None:
    """But to vectors, which are found by name."""
    called = dict(zip("abcdef", names, strict=True))
    renamed = replace(problem, texts=[[called[word] for word in text] for text in problem.texts])
    specs = [spec for spec in SPECS if COSINE not in spec]
    for pools in problem.pools():
        close(values(renamed, pools, specs), values(problem, pools, specs))


@LAW
@given(problems(), st.data())
def test_the_order_of_passages_does_not_matter(problem: Problem, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(problem.texts))))
    mixed = Problem(*([column[i] for i in order] for column in (problem.texts, problem.topics, problem.weights)))
    for before, after in zip(problem.pools(), mixed.pools(), strict=True):
        expected = {spec: found[order] for spec, found in values(problem, before, SPECS).items()}
        close(values(mixed, after, SPECS), expected)


@LAW
@given(problems())
def test_even_weights_are_no_weights(problem: Problem) -> None:
    evenly = replace(problem, weights=[float(weight > 0) for weight in problem.weights])
    for before, after in zip(problem.pools(), evenly.pools(), strict=True):
        plain = values(problem, before, PLAIN)
        equal(values(evenly, after, PLAIN), plain)
        weighted = values(evenly, after, WEIGHTED)
        equal({spec: weighted[f"w-{spec}"] for spec in PLAIN}, plain)


@LAW
@given(problems(), st.sampled_from([0.5, 0.3, 1e-3]))
def test_what_the_scale_of_the_weights_changes(problem: Problem, scale: float) -> None:
    """Nothing for KL, JS, TF-IDF and cosine; F1 and ROUGE shrink with it; for LogSim see the next test."""
    scaled = replace(problem, weights=[weight * scale for weight in problem.weights])
    for before, after in zip(problem.pools(), scaled.pools(), strict=True):
        same = of("kl", "js", "tf-idf", "cosine", specs=WEIGHTED)
        close(values(scaled, after, same), values(problem, before, same))
        shrunk = values(problem, before, of("f1", "rouge", specs=WEIGHTED))
        close(values(scaled, after, list(shrunk)), {spec: scale * found for spec, found in shrunk.items()})


def test_why_logsim_is_exempt() -> None:
    """R is a a b, S is a: ln(1 + 3) and ln(1 + 2), with weight .5 ln(1 + 1.5) and ln(1 + 1), so the ratio changes."""
    problem = Problem([["a", "a", "b"], ["a"]], [0, 0], [1.0, 0.0])
    half = replace(problem, weights=[0.5, 0.0])
    before, after = (
        values(each, each.about().all_inside(), ["w-logsim-1"])["w-logsim-1"][1] for each in (problem, half)
    )
    assert before == pytest.approx(2 / 3 * math.log(3) / math.log(4))
    assert after == pytest.approx(2 / 3 * math.log(2) / math.log(2.5))


@LAW
@given(problems())
def test_leaving_a_reference_changes_only_those_who_leave(problem: Problem) -> None:
    for pools in problem.pools()[1:]:
        without, inside = values(problem, pools, SPECS), values(problem, pools.all_inside(), SPECS)
        stay = pools.texts[pools.own_ends == pools.own_begins]
        for spec in SPECS:
            assert without[spec][stay].tobytes() == inside[spec][stay].tobytes(), spec


@LAW
@given(problems())
def test_leave_one_out_is_a_reference_that_never_had_the_passage(problem: Problem) -> None:
    found = values(problem, problem.about(), PLAIN + WEIGHTED)
    for i, weight in enumerate(problem.weights):
        if not weight:
            continue
        poorer = replace(problem, weights=[*problem.weights[:i], 0.0, *problem.weights[i + 1 :]])
        topic = [w for t, w in zip(poorer.topics, poorer.weights, strict=True) if t == problem.topics[i]]
        if not any(topic):
            assert all(math.isnan(found[spec][i]) for spec in found)
            continue
        by_hand = values(poorer, poorer.about().all_inside(), list(found))
        close({spec: found[spec][i : i + 1] for spec in found}, {spec: by_hand[spec][i : i + 1] for spec in found})


@LAW
@given(problems())
def test_other_topics_lose_equal_texts_as_if_they_had_never_had_them(problem: Problem) -> None:
    if not problem.has_others:
        return
    pools = problem.others()
    found = values(problem, pools, PLAIN + WEIGHTED)
    for i in np.repeat(pools.texts, pools.own_ends - pools.own_begins).tolist():
        elsewhere = zip(problem.topics, problem.weights, problem.same, strict=True)
        weights = [w if t != problem.topics[i] and s != problem.same[i] else 0.0 for t, w, s in elsewhere]
        if not any(weights):
            assert all(math.isnan(found[spec][i]) for spec in found)
            continue
        by_hand = values(problem, informativeness([0] * len(weights), weights).all_inside(), list(found))
        close({spec: found[spec][i : i + 1] for spec in found}, {spec: by_hand[spec][i : i + 1] for spec in found})


@LAW
@given(problems(), st.lists(st.sampled_from("abcxyz"), max_size=9))
def test_what_else_is_in_the_collection(problem: Problem, text: list[str]) -> None:
    """It changes the background of KL and the document frequencies of TF-IDF, and nothing else."""
    more = Problem([*problem.texts, text], [*problem.topics, 3], [*problem.weights, 0.0])
    rest = [spec for spec in SPECS if spec not in of("kl", "tf-idf")]
    before, after = (values(each, each.about(), rest) for each in (problem, more))
    close({spec: found[:-1] for spec, found in after.items()}, before)


@LAW
@given(problems())
def test_a_copy_of_the_whole_reference_is_as_good_as_can_be(problem: Problem) -> None:
    """Over words; KL, smoothed, has its best elsewhere."""
    rows = zip(problem.texts, problem.topics, problem.weights, strict=True)
    whole = [word for text, topic, weight in rows if weight and topic == 0 for word in text]
    assume(whole)
    more = Problem([*problem.texts, whole], [*problem.topics, 0], [*problem.weights, 0.0])
    specs = of_words(of("f1", "js", "logsim", "rouge", "tf-idf", "cosine", specs=PLAIN))
    for spec, found in values(more, more.about().all_inside(), specs).items():
        assert found[-1] == pytest.approx(0.0 if spec.startswith("js") else 1.0, abs=EXACT), spec


@LAW
@given(problems(), st.data())
def test_raising_one_weight_never_lowers_f1_or_rouge(problem: Problem, data: st.DataObject) -> None:
    i = data.draw(st.sampled_from([i for i, weight in enumerate(problem.weights) if weight]))
    raised = replace(problem, weights=[*problem.weights[:i], 1.0, *problem.weights[i + 1 :]])
    specs = of("f1", "rouge", specs=WEIGHTED)
    for before, after in zip(problem.pools(), raised.pools(), strict=True):
        lower, higher = values(problem, before, specs), values(raised, after, specs)
        for spec in specs:
            there = ~np.isnan(lower[spec])
            assert (higher[spec][there] >= lower[spec][there] - EXACT).all(), spec


@LAW
@given(problems())
def test_jobs_change_no_bit(problem: Problem) -> None:
    for pools in problem.pools():
        one, three = (values(problem, pools, SPECS, jobs) for jobs in (1, 3))
        for spec in SPECS:
            assert one[spec].tobytes() == three[spec].tobytes(), spec


@LAW
@given(problems())
def test_f1_is_the_harmonic_mean_of_what_beta_weighs(problem: Problem) -> None:
    """A small beta leaves precision, a large one recall."""
    specs = ["f1-1", "f1-1(beta=1e-5)", "f1-1(beta=9e5)"]
    for pools in problem.pools():
        found = np.stack(list(values(problem, pools, specs).values()), axis=1)
        for f, precision, recall in found[found[:, 0] > 0]:
            assert f == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-6)
