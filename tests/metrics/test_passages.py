"""Measures of passages and their pools: values worked out by hand, and plain readings."""

from __future__ import annotations

import math
from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.metrics.folds import FOLDS, folds_of
from postil.metrics.passage_measures import Cosine, FScore, KullbackLeibler, Length, measure_passages
from postil.metrics.passage_pools import UNITS, PassageCollection, Pools, informativeness, interestingness, one_pool
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import MEASURES, parse_measure
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path


SEED = 20181


def read(pools: Pools) -> dict[int, tuple[set[int], set[int]]]:
    """For each scored passage: the passages of its reference, and those of them that leave it."""
    found = {}
    for pool in range(len(pools)):
        begin, end = pools.reference_offsets[pool], pools.reference_offsets[pool + 1]
        inside = pools.references[begin:end].tolist()
        assert len(set(inside)) == len(inside)
        for at in range(pools.text_offsets[pool], pools.text_offsets[pool + 1]):
            own = pools.own_of(at)
            assert ((begin <= own) & (own < end)).all(), "own references are of the passage's pool"
            assert int(pools.texts[at]) not in found, "a passage is scored once"
            found[int(pools.texts[at])] = set(inside), set(pools.references[own].tolist())
    return found


def weights_of(pools: Pools) -> dict[int, float]:
    return dict(zip(pools.references.tolist(), pools.weights.tolist(), strict=True))


# Informativeness: rows 0 1 3 are of topic 0, rows 2 4 of topic 1, row 5 of topic 2, where nothing is informative
TOPICS = [0, 0, 1, 0, 1, 2]
TOPIC_WEIGHTS = [1.0, 0.0, 0.25, 0.5, 0.0, 0.0]


def test_what_is_informative_for_a_topic_is_its_reference_and_leaves_it_alone() -> None:
    pools = informativeness(TOPICS, TOPIC_WEIGHTS)
    assert read(pools) == {0: ({0, 3}, {0}), 1: ({0, 3}, set()), 3: ({0, 3}, {3}), 2: ({2}, {2}), 4: ({2}, set())}
    assert weights_of(pools) == {0: 1.0, 3: 0.5, 2: 0.25}


def test_a_topic_without_informative_passages_is_not_scored() -> None:
    pools = informativeness(TOPICS, TOPIC_WEIGHTS)
    assert len(pools) == 2
    assert 5 not in pools.texts


def test_nothing_informative_at_all() -> None:
    with pytest.raises(Undefined, match="no passage has a grade above 0"):
        informativeness([0, 1], [0.0, 0.0])
    with pytest.raises(Undefined, match="no passage has a grade above 0"):
        interestingness([0, 1], [0.0, 0.0], [0, 1], [0, 1])


def test_everything_inside_is_the_same_without_anyone_leaving() -> None:
    pools = informativeness(TOPICS, TOPIC_WEIGHTS)
    inside = pools.all_inside()
    assert [leaving for _, leaving in read(inside).values()] == [set()] * 5
    for name in ("reference_offsets", "references", "weights", "text_offsets", "texts"):
        np.testing.assert_array_equal(getattr(inside, name), getattr(pools, name))


def test_even_pools_have_the_same_passages_with_weight_1() -> None:
    pools = informativeness(TOPICS, TOPIC_WEIGHTS)
    assert read(pools.unweighted()) == read(pools)
    assert pools.unweighted().weights.tolist() == [1.0, 1.0, 1.0]
    assert pools.weights.tolist() != [1.0, 1.0, 1.0], "the pools themselves stay as they are"


def test_numbers_of_the_kernel() -> None:
    pools = informativeness(TOPICS, TOPIC_WEIGHTS)
    assert (pools.references.dtype, pools.texts.dtype, pools.weights.dtype) == (np.int32, np.int32, np.float64)
    for name in ("reference_offsets", "text_offsets", "own", "own_begins", "own_ends"):
        assert getattr(pools, name).dtype == np.int64, name


# Interestingness: three topics, a fold each; rows 0 3 4 say the same, and so do 1 5


def others() -> Pools:
    topics = [0, 0, 1, 1, 2, 2]
    weights = [1.0, 0.0, 0.5, 0.25, 0.75, 1.0]
    return interestingness(topics, weights, [7, 8, 9, 7, 7, 8], [0, 1, 2])


def test_the_reference_is_what_is_informative_in_other_folds_without_equal_texts() -> None:
    assert read(others()) == {
        0: ({2, 3, 4, 5}, {3, 4}),
        1: ({2, 3, 4, 5}, {5}),
        2: ({0, 4, 5}, set()),
        3: ({0, 4, 5}, {0, 4}),
        4: ({0, 2, 3}, {0, 3}),
        5: ({0, 2, 3}, set()),  # row 1 says the same and is not informative
    }


def test_weights_are_those_of_the_topic_that_a_passage_was_graded_for() -> None:
    pools = others()
    assert sorted(zip(pools.references.tolist(), pools.weights.tolist(), strict=True)) == sorted(
        2 * [(0, 1.0), (2, 0.5), (3, 0.25), (4, 0.75), (5, 1.0)]  # each is in the pools of the two other folds
    )


def test_a_text_of_several_topics_is_pooled_once_on_demand() -> None:
    topics = [0, 0, 1, 1, 2, 2]
    weights = [1.0, 0.0, 0.5, 0.25, 0.75, 1.0]
    pools = interestingness(topics, weights, [7, 8, 9, 7, 7, 8], [0, 1, 2], once=True)
    assert read(pools) == {
        0: ({2, 4, 5}, {4}),  # rows 3 and 4 say the same; the grade of 4 is higher
        1: ({2, 4, 5}, {5}),
        2: ({0, 5}, set()),  # as 0 and 4 do
        3: ({0, 5}, {0}),
        4: ({0, 2}, {0}),
        5: ({0, 2}, set()),
    }
    assert pools.weights.tolist() == [0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 0.5]
    assert [leaving for _, leaving in read(pools.all_inside()).values()] == [set()] * 6


def test_texts_pooled_once_against_a_plain_reading() -> None:
    rng = np.random.default_rng(4)
    topics, same = rng.integers(0, 9, 200), rng.integers(0, 60, 200)
    weights = np.where(rng.random(200) < 0.5, rng.integers(1, 4, 200) / 3, 0.0)
    folds = folds_of(9, 4, seed=SEED)
    expected = {}
    for passage in range(200):
        inside = [r for r in range(200) if weights[r] > 0 and folds[topics[r]] != folds[topics[passage]]]
        best = {text: max(weights[r] for r in inside if same[r] == text) for text in {same[r] for r in inside}}
        first = {text: next(r for r in inside if same[r] == text and weights[r] == best[text]) for text in best}
        expected[passage] = set(first.values()), {r for r in first.values() if same[r] == same[passage]}
    assert read(interestingness(topics, weights, same, folds, once=True)) == expected


def test_many_passages_against_a_plain_reading() -> None:
    rng = np.random.default_rng(3)
    topics, same = rng.integers(0, 9, 300), rng.integers(0, 120, 300)
    weights = np.where(rng.random(300) < 0.4, rng.random(300), 0.0)
    folds = folds_of(9, 4, seed=SEED)
    expected = {}
    for passage in range(300):
        inside = {r for r in range(300) if weights[r] > 0 and folds[topics[r]] != folds[topics[passage]]}
        expected[passage] = inside, {r for r in inside if same[r] == same[passage]}
    assert read(interestingness(topics, weights, same, folds)) == expected


@pytest.mark.parametrize("folds", [[0, 0], [0]])
def test_one_fold_has_no_others(folds: list[int]) -> None:
    topics = list(range(len(folds)))
    with pytest.raises(Undefined, match="two topics at least, and there is one"):
        interestingness(topics, [1.0] * len(topics), topics, folds)


def test_all_that_is_informative_in_one_fold() -> None:
    with pytest.raises(Undefined, match='in the fold of "bread", so its passages have no reference'):
        interestingness([0, 1], [0.0, 1.0], [0, 1], [0, 1], names=["ducks", "bread"])
    with pytest.raises(Undefined, match="every informative passage is in one fold"):
        interestingness([0, 1], [0.0, 1.0], [0, 1], [0, 1])


# Folds


def test_copies_of_a_text_take_no_more_than_their_places() -> None:
    n = 3000
    topics, ones = np.arange(n) % 6, np.ones(n)
    pools = interestingness(topics, ones, np.zeros(n), np.arange(6))
    assert len(pools.own_of(0)) == n * 5 // 6, "all of the other topics leave"
    assert len(pools.own) == len(pools.references) == 5 * n
    fewer, same = pools.distinct()
    assert (len(fewer.texts), len(fewer.own_lists()[1])) == (6, 5 * n)
    assert (fewer.texts[same] == pools.texts % 6).all()
    assert fewer.text_offsets.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_passages_without_a_run_stay_as_they_are() -> None:
    pools = one_pool([0, 0, 1, 2, 1], references=[2], weights=[0.5], texts=[0, 1, 2, 3, 4])
    fewer, same = pools.distinct()
    assert (fewer.texts.tolist(), same.tolist()) == ([0, 1, 2, 3], [0, 1, 2, 3, 2])
    assert [fewer.own_of(place).tolist() for place in range(4)] == [[], [], [0], []]
    assert others().distinct()[0].texts.tolist() == others().texts.tolist()


@pytest.mark.parametrize("by", ["seed", "order", "consecutive"])
@pytest.mark.parametrize(("topics", "folds"), [(2, 12), (12, 12), (63, 12), (43, 12), (5, 2), (1, 12), (0, 12)])
def test_folds_differ_by_one_topic_at_most(by: str, topics: int, folds: int) -> None:
    found = folds_of(topics, folds, by=by, seed=SEED)  # type: ignore[arg-type]
    assert (len(found), found.dtype) == (topics, np.int32)
    sizes = Counter(found.tolist())
    assert sorted(sizes) == list(range(min(folds, topics)))
    assert not sizes or max(sizes.values()) - min(sizes.values()) <= 1


def test_folds_by_order() -> None:
    assert folds_of(7, 3, by="order", seed=1).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert folds_of(7, 3, by="order", seed=2).tolist() == folds_of(7, 3, by="order", seed=1).tolist()


def test_folds_that_are_runs() -> None:
    assert folds_of(7, 3, by="consecutive", seed=1).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert folds_of(63, by="consecutive", seed=1).tolist() == sorted(folds_of(63, by="order", seed=1).tolist())


def test_folds_by_seed() -> None:
    one, again, other = (folds_of(63, seed=seed).tolist() for seed in (SEED, SEED, SEED + 1))
    assert one == again
    assert one != other
    assert one != folds_of(63, by="order", seed=SEED).tolist()
    assert max(one) == FOLDS - 1 == 11


def test_folds_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="folds: expected at least 2, got 1"):
        folds_of(5, 1, seed=SEED)
    with pytest.raises(UnknownName, match="unknown way to make folds 'ordr'; did you mean 'order'"):
        folds_of(5, by="ordr", seed=SEED)  # type: ignore[arg-type]


FAMILIES = ("f1", "kl", "js", "logsim", "rouge", "tf-idf")
BASELINES = ("interest", "length", "random")
OVERLAP = [name for name in MEASURES if name not in {*BASELINES, "cosine"}]


def collection(texts: list[list[str]] | list[str]) -> PassageCollection:
    return PassageCollection(Vocabulary().encode_tokens([t.split() if isinstance(t, str) else t for t in texts]))


# The reference is "a b a" with weight 1 and "b c" with weight .5: c is 2 2 1 for a b c, and 2 1.5 .5 with weights.
# All passages together: a b c three times each, d once, of 10. In 2, 3, 2 and 1 of 5 passages.
TEXTS = ["a b a", "b c", "a b d", "c c", ""]
WEIGHTS = [1.0, 0.5, 0.0, 0.0, 0.0]
IDF = {"a": 1 + log(6 / 3), "b": 1 + log(6 / 4), "c": 1 + log(6 / 3), "d": 1 + log(6 / 2)}


def value(spec: str, text: str, *, inside: bool = False) -> float:
    pools = informativeness([0] * 5, WEIGHTS)
    values = parse_measure(spec).values(collection(TEXTS), pools.all_inside() if inside else pools)
    return float(values[pools.texts.tolist().index(TEXTS.index(text))])


OUTSIDE = [
    # two of three distinct words of "a b d" are among three; c alone of one
    ("f1-1", "a b d", 2 * 2 / (3 + 3)),
    ("f1-1", "c c", 2 * 1 / (1 + 3)),
    ("f1-1(beta=2)", "c c", 5 * 1 / (4 * 3 + 1)),
    # the largest weight of a passage with the word: a and b 1, c .5
    ("w-f1-1", "a b d", 2 * 2 / (3 + 3)),
    ("w-f1-1", "c c", 2 * 0.5 / (1 + 3)),
    # ab of {ab, bd} and {ab, ba, bc}
    ("f1-2", "a b d", 2 * 1 / (2 + 3)),
    # ad of {ad} and {aa}
    ("f1-sk", "a b d", 0.0),
    # with nothing between as well: ad ab bd of one, aa ab ba bc of the other
    ("f1-sk(upto=true)", "a b d", 2 * 1 / (3 + 4)),
    # p = .4 .4 .2, |S| = 3, shares of all passages .3 each
    ("kl-1", "a b d", 0.4 * log(0.4 * 4 / 1.3) * 2 + 0.2 * log(0.2 * 4 / 0.3)),
    ("kl-1", "c c", 0.4 * log(0.4 * 3 / 0.3) * 2 + 0.2 * log(0.2 * 3 / 2.3)),
    # p = .5 .375 .125
    ("w-kl-1", "a b d", 0.5 * log(0.5 * 4 / 1.3) + 0.375 * log(0.375 * 4 / 1.3) + 0.125 * log(0.125 * 4 / 0.3)),
    # against 0 0 1: means .2 .2 .6
    ("js-1", "c c", (0.4 * log(2) * 2 + 0.2 * log(0.2 / 0.6) + log(1 / 0.6)) / 2),
    # against 1/3 1/3 0 and 1/3 of d: means 11/30 11/30 1/10 1/6
    ("js-1", "a b d", (2 * 0.4 * log(12 / 11) + 0.2 * log(2) + 2 / 3 * log(10 / 11) + 1 / 3 * log(2)) / 2),
    # a = ln(1 + 5/3) for both words, b = ln 3, which is more
    ("logsim-1", "a b d", 0.8 * log(8 / 3) / log(3)),
    # a = ln(1 + 2 5/2) = ln 6, b = ln 2
    ("logsim-1", "c c", 0.2 * log(2) / log(6)),
    # |R| = 4: a = ln(7/3) for both, b = ln 3 and ln 2.5
    ("w-logsim-1", "a b d", 0.5 * log(7 / 3) / log(3) + 0.375 * log(7 / 3) / log(2.5)),
    # a and b in the first, b in the second, of 3 + 2 words
    ("rouge-1", "a b d", (2 + 1) / 5),
    # both c meet the one c of the second
    ("rouge-1", "c c", 1 / 5),
    ("w-rouge-1", "a b d", (1.0 * 2 + 0.5 * 1) / 5),
    ("w-rouge-1", "c c", 0.5 * 1 / 5),
    ("tf-idf-1", "c c", IDF["c"] / sqrt(4 * IDF["a"] ** 2 + 4 * IDF["b"] ** 2 + IDF["c"] ** 2)),
    ("length", "a b d", 1 / 3),
    ("length(inverse=false)", "a b d", 3.0),
    ("random", "a b d", 0.0),
]


@pytest.mark.parametrize(("spec", "text", "expected"), OUTSIDE)
@pytest.mark.parametrize("inside", [False, True])
def test_values_by_hand(spec: str, text: str, expected: float, inside: bool) -> None:
    """Passages outside the reference have the same value with and without leave-one-out."""
    assert value(spec, text, inside=inside) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        # "a b a" in {a, b, c}; without itself {b, c} is left
        ("f1-1", 2 * 2 / (2 + 3), 2 * 1 / (2 + 2)),
        ("w-f1-1", 2 * 2 / (2 + 3), 2 * 0.5 / (2 + 2)),
        # p = .4 .4 .2, and without itself .5 for b and c
        (
            "kl-1",
            0.4 * log(0.4 * 4 / 2.3) + 0.4 * log(0.4 * 4 / 1.3) + 0.2 * log(0.2 * 4 / 0.3),
            0.5 * log(0.5 * 4 / 1.3) + 0.5 * log(0.5 * 4 / 0.3),
        ),
        # a = ln(1 + 2 5/3), ln(1 + 5/3); without itself |R| = 2, a = ln(1 + 2/3), b = ln 2
        ("logsim-1", 0.4 * log(3) / log(13 / 3) + 0.4 * log(8 / 3) / log(3), 0.5 * log(5 / 3) / log(2)),
        # 3 of itself and b of the other, of 5; without itself b of two
        ("rouge-1", 4 / 5, 1 / 2),
    ],
)
def test_with_and_without_itself_by_hand(spec: str, inside: float, outside: float) -> None:
    assert value(spec, "a b a", inside=True) == pytest.approx(inside, rel=1e-14)
    assert value(spec, "a b a") == pytest.approx(outside, rel=1e-14)


def test_a_passage_without_units() -> None:
    for spec, expected in {"kl-1": math.inf, "js-1": math.inf, "length": 0.0}.items():
        assert value(spec, "") == expected
        assert value(f"{spec.partition('-')[0]}-2", "") == expected if spec != "length" else True
    for family in ("f1", "logsim", "rouge", "tf-idf"):
        assert value(f"{family}-1", "") == 0.0
    # of "c c" and "b c" nothing is left as skip-grams
    assert value("kl-sk", "c c") == math.inf


def test_nothing_left_of_a_reference_is_no_number_and_ranks_last() -> None:
    pools = informativeness([0, 0], [1.0, 0.0])
    texts = collection(["a b", "a"])
    for spec in OVERLAP:
        measure = parse_measure(spec)
        values = measure.values(texts, pools)
        assert math.isnan(values[0]), spec
        assert math.isnan(values[1]) is spec.endswith(("-3", "-sk")), spec  # of which "a b" has none
        assert measure.ranked(values)[0] == -math.inf, spec
    # the reference holds no unit at all, whoever leaves it
    assert np.isnan(parse_measure("f1-3").values(texts, pools.all_inside())).all()


def test_what_is_small_and_good_is_turned_for_ranking() -> None:
    values = np.array([0.5, np.inf, np.nan, 2.0])
    assert KullbackLeibler().ranked(values).tolist() == [-0.5, -math.inf, -math.inf, -2.0]
    assert FScore().ranked(values).tolist() == [0.5, math.inf, -math.inf, 2.0]
    assert {name for name in MEASURES if parse_measure(name).better == "low"} == {
        f"{family}-{unit}" for family in ("kl", "js") for unit in UNITS
    }


# Names


def test_every_family_has_every_unit() -> None:
    assert set(OVERLAP) == {f"{family}-{unit}" for family in FAMILIES for unit in UNITS}


@pytest.mark.parametrize("name", MEASURES)
def test_the_printed_spec_parses_back(name: str) -> None:
    for spec in (name, *([] if name in BASELINES else [f"w-{name}"])):
        measure = parse_measure(spec)
        assert str(measure).partition("(")[0] == spec
        assert parse_measure(str(measure)) == measure
        assert hash(parse_measure(str(measure))) == hash(measure)
        assert measure.weighted is spec.startswith("w-")


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("f1-4", UnknownName, "unknown measure 'f1-4'; did you mean 'f1-3'?"),
        ("w-logsim", UnknownName, "unknown measure 'w-logsim'; did you mean 'w-logsim-"),
        (
            "f1-sk(up_to=true)",
            UnknownName,
            "unknown parameter of f1-sk 'up_to'; did you mean 'upto'? Known: upto, beta",
        ),
        ("kl-1(unit=2)", UnknownName, "unknown parameter of kl-1 'unit'"),
        ("f1-1(upto=true)", UsageError, "f1-1: upto goes with skip-grams, f1-sk; leave it out"),
        ("f1-sk(upto=yes)", UsageError, "upto: expected true or false, got 'yes'"),
        ("f1-1(beta=0)", UsageError, "f1-1: beta: expected a positive number, got 0.0"),
        ("f1-1(beta=1e-200)", UsageError, "beta: expected a positive number from 1e-6 to 1e6, got 1e-200"),
        ("f1-1(beta=-1)", UsageError, "beta: expected a positive number"),
        ("kl-1(beta=1)", UnknownName, "unknown parameter of kl-1 'beta'"),
        ("w-length", UsageError, "w-length: no reference changes length; leave out w-"),
        ("w-random", UsageError, "w-random: no reference changes random; leave out w-"),
        ("f1-1,f1-2", UnknownName, "unknown measure 'f1-1,f1-2'"),
        ("", UsageError, "measure '': expected name or name(parameter=value,…)"),
    ],
)
def test_specs_that_cannot_be(spec: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        parse_measure(spec)
    assert message in str(caught.value)


def test_words_for_length_are_those_that_are_left() -> None:
    """Without stop words and anchors' length in anchors: `PassageCollection.tokens`, not `PassageCollection.words`."""
    left, all_words = (Vocabulary().encode_tokens([["a"] * n]) for n in (2, 5))
    pools = informativeness([0], [1.0])
    assert Length().values(PassageCollection(left, all_words), pools).tolist() == [0.5]


def random_passages(seed: int, n: int = 1000) -> tuple[list[list[str]], np.ndarray, np.ndarray]:
    """Texts of 0 to 20 words, some common and many rare, with copies among them; grades in thirds."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, 401)
    texts = [rng.choice(400, size, p=chance / chance.sum()).astype(str).tolist() for size in rng.integers(0, 21, n)]
    for copy in rng.choice(n, n // 20, replace=False):
        texts[copy] = texts[rng.integers(n)]
    grades = np.where(rng.random(n) < 0.35, rng.integers(1, 4, n) / 3, 0.0)
    return texts, rng.integers(0, n // 6, n), grades


@pytest.mark.parametrize("about", ["one topic", "other topics"])
def test_repeated_passages_score_as_if_each_were_scored_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, about: str
) -> None:
    """To the last bit; a third of the passages are copies."""
    texts, topics, weights = random_passages(11, 300)
    texts = [texts[number % 20] if number % 3 else text for number, text in enumerate(texts)]
    words: dict[tuple[str, ...], int] = {}
    same = [words.setdefault(tuple(text), len(words)) for text in texts]
    if about == "one topic":
        pools = one_pool(same, np.arange(100, 300), np.maximum(weights, 0.1)[100:], np.arange(250))
    else:
        pools = interestingness(topics, weights, same, folds_of(50, 3, seed=7))
    Vectors(("1", "2", "3"), np.eye(3, dtype=np.float32)).save(tmp_path / "v")
    specs = [f"{w}{name}" for w in ("", "w-") for name in (*(f"{family}-1" for family in FAMILIES), "cosine")]
    measures = [parse_measure(f"{spec}(vectors={tmp_path / 'v'})" if "cosine" in spec else spec) for spec in specs]
    found = measure_passages(measures, collection(texts), pools)
    assert len(pools.distinct()[0].texts) < len(pools.texts) * 0.9
    monkeypatch.setattr(Pools, "distinct", lambda pools: (pools, np.arange(len(pools.texts))))
    alone = measure_passages(measures, collection(texts), pools)
    for spec, measure in zip(specs, measures, strict=True):
        assert found[measure].tobytes() == alone[measure].tobytes(), spec


def test_together_is_as_one_after_the_other() -> None:
    texts, topics, weights = random_passages(9, 200)
    measures = [
        parse_measure(spec) for spec in (*OVERLAP, *BASELINES, "f1-1(beta=3)", "f1-sk(upto=true)", "w-kl-2", "w-f1-1")
    ]
    pools = informativeness(topics, weights)
    tokens = Vocabulary().encode_tokens(texts)
    pages = zip(topics.tolist(), texts, strict=True)
    passages = [Passage(str(topic), str(row), " ".join(text)) for row, (topic, text) in enumerate(pages)]
    together = measure_passages(measures, PassageCollection(tokens, passages=passages), pools)
    assert list(together) == measures
    for measure in measures:
        alone = measure.values(PassageCollection(tokens, passages=passages), pools)
        np.testing.assert_array_equal(alone, together[measure], err_msg=str(measure))


def test_bags_are_counted_once() -> None:
    texts = collection(["a b", "b c"])
    assert texts.bags("1") is texts.bags("1")
    assert texts.bags("sk") is not texts.bags("sk", upto=True)
    assert len(texts) == 2
    shares = texts.bags("1").share
    assert shares.tolist() == [0.25, 0.5, 0.25]


@pytest.mark.parametrize("spec", ["kl-1", "js-1"])
def test_a_divergence_from_itself_is_zero(spec: str) -> None:
    # Each passage is its own reference, and with KL the whole collection: the terms cancel up to rounding.
    random = np.random.default_rng(1)
    for _ in range(50):
        words = [str(word) for word in random.integers(0, 9, random.integers(2, 40))]
        texts = Vocabulary().encode_tokens([words, words, words])
        pools = informativeness([0, 0, 0], [1.0, 1.0, 1.0]).all_inside()
        measure = parse_measure(spec)
        assert set(measure.values(PassageCollection(texts), pools).tolist()) == {0.0}


WORDS = ("a", "b", "c", "d")


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    array = np.random.default_rng(7).normal(size=(4, 5)).astype(np.float32)
    found = Vectors(WORDS, array, {})
    found.save(tmp_path / "v")
    return found


@pytest.fixture
def texts() -> list[list[str]]:
    rng = np.random.default_rng(8)
    return [[*rng.choice([*WORDS, "unknown"], size=rng.integers(0, 6))] for _ in range(30)]


def plain(vectors: Vectors, text: list[str], references: list[tuple[list[str], float]]) -> float:
    def total(words: list[str]) -> np.ndarray:
        known = [vectors.array[WORDS.index(word)].astype(float) for word in words if word in WORDS]
        return np.sum(known, axis=0) if known else np.zeros(5)

    if not references:
        return float("nan")
    r, s = sum(weight * total(words) for words, weight in references), total(text)
    norms = np.linalg.norm(r) * np.linalg.norm(s)
    return float(r @ s / norms) if norms else 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_informativeness(
    vectors: Vectors, tmp_path: Path, texts: list[list[str]], *, weighted: bool, inside: bool
) -> None:
    topics = np.repeat([0, 1, 2], 10)
    weights = np.random.default_rng(9).choice([0, 0.25, 1], 30)
    weights[20:] = [1, *[0] * 9]  # a topic with one informative passage, which has nothing left without itself
    pools = informativeness(topics, weights)
    pools = pools.all_inside() if inside else pools
    measure = Cosine(weighted=weighted, vectors=str(tmp_path / "v"))
    values = measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)
    for text, value in zip(pools.texts.tolist(), values.tolist(), strict=True):
        references = [
            (texts[j], weights[j] if weighted else 1.0)
            for j in range(30)
            if topics[j] == topics[text] and weights[j] > 0 and (inside or j != text)
        ]
        assert value == pytest.approx(plain(vectors, texts[text], references), abs=1e-9, nan_ok=True)


def test_equal_texts_leave(vectors: Vectors, tmp_path: Path) -> None:
    texts = [["a", "b"], ["c"], ["a", "b"], ["d", "a"]]
    pools = interestingness([0, 0, 1, 1], [1, 1, 1, 0.5], [0, 1, 0, 2], [0, 1])
    measure = Cosine(weighted=True, vectors=str(tmp_path / "v"))
    values = measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)
    of_text = dict(zip(pools.texts.tolist(), values.tolist(), strict=True))
    assert of_text[0] == pytest.approx(plain(vectors, texts[0], [(texts[3], 0.5)]))
    assert of_text[2] == pytest.approx(plain(vectors, texts[2], [(texts[1], 1.0)]))


def test_nothing_but_rounding_is_left(vectors: Vectors, tmp_path: Path) -> None:
    del vectors
    weights = [0.1, 0.7, 0.3, 1.0]  # three equal texts leave; the other informative one has no vector
    pools = interestingness([0, 1, 1, 1, 1], [1, *weights], [0, 0, 0, 0, 1], [0, 1])
    texts = [["a", "b", "c"], *[["a", "b", "c"]] * 3, ["unknown"]]
    measure = Cosine(weighted=True, vectors=str(tmp_path / "v"))
    assert measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)[0] == 0.0


def test_signature_and_unknown_words(vectors: Vectors, tmp_path: Path) -> None:
    collection = PassageCollection(Vocabulary().encode_tokens([["a", "x", "b", "y"]]))
    measure = Cosine(vectors=str(tmp_path / "v"))
    assert measure.notes(collection) == (f"vectors:{vectors.signature}",)
    assert measure.coverage(collection, Preprocessing()) == "50.0% of the words have no vector"


def test_words_of_passages_are_looked_up_as_they_stand_then_in_lower_case(tmp_path: Path) -> None:
    """As in Google's vectors: names and acronyms are there in upper case alone."""
    words = ("Obama", "rice", "Rice", "The", "White_House")
    Vectors(words, np.eye(5, dtype=np.float32), {}).save(tmp_path / "v")
    texts = ["The Rice of Obama", "obama, rice", "RICE", "Obama", "the rice of obama"]
    passages = [Passage("t", str(n), text) for n, text in enumerate(texts)]
    how = Preprocessing(stop="en", stem="porter")
    collection = how.collection(passages, RowLocations("passages"))
    model = Vectors.open(tmp_path / "v")
    sums = collection.vector_sums(model)
    assert sums.vectors[:4].tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert sums.vectors[4].tolist() == sums.vectors[0].tolist()  # one text with the first, by their words
    assert sums.known.tolist() == [2, 1, 1, 1, 2]
    measure = Cosine(vectors=str(tmp_path / "v"))
    assert measure.notes(collection) == (f"vectors:{model.signature}", "case:written")
    values = measure.values(collection, informativeness([0] * 5, [0, 0, 0, 1, 0]).all_inside())
    assert values.round(4).tolist() == [0.7071, 0.0, 0.0, 1.0, 0.7071]
    cut = how.collection(passages, RowLocations("passages"), longest=np.full(5, 2))
    assert cut.vector_sums(model).vectors[0].tolist() == [0, 0, 1, 0, 0]


def test_anchors_are_looked_up_as_they_stand_then_in_lower_case(tmp_path: Path) -> None:
    Vectors(("White House", "rice"), np.eye(2, dtype=np.float32), {}).save(tmp_path / "v")
    passages = [Passage("t", "1", "", ("White  House", "Rice")), Passage("t", "2", "", ("WHITE HOUSE",))]
    collection = Preprocessing(anchors=True).collection(passages, RowLocations("passages"))
    assert collection.vector_sums(Vectors.open(tmp_path / "v")).vectors.tolist() == [[1, 1], [0, 0]]


def test_what_cannot_be(tmp_path: Path) -> None:
    collection, pools = PassageCollection(Vocabulary().encode_tokens([["a"]])), informativeness([0], [1])
    with pytest.raises(UsageError, match=r"cosine\(vectors=FOLDER\)"):
        parse_measure("cosine").values(collection, pools)
    with pytest.raises(InvalidInput, match="expected word vectors that postil vectors train"):
        parse_measure(f"cosine(vectors={tmp_path / 'none'})").values(collection, pools)
