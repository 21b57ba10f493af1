"""Measures of passages: values worked out by hand, and a plain reading of every formula."""

from __future__ import annotations

import math
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.rows import Passage
from postil.errors import UnknownName, UsageError
from postil.metrics.passage_measures import FScore, KullbackLeibler, Length, measure_passages
from postil.metrics.passage_pools import (
    UNITS,
    PassageCollection,
    Pools,
    folds_of,
    informativeness,
    interestingness,
    one_pool,
)
from postil.metrics.spec import MEASURES, parse_measure
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

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


# A plain reading of the formulas: dictionaries, one unit after the other.


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
