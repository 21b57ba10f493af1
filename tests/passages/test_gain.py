from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.errors import InvalidInput, Undefined, UsageError
from postil.meta.permutation import sign_flips
from postil.meta.resampling import bootstrap_counts, interval, p_value
from postil.passages.gain import GainCurve, Ranked, gain_curve, gain_differences, normalized_gains

if TYPE_CHECKING:
    from collections.abc import Sequence

GRADES = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
SCORES = st.sampled_from([-math.inf, -1.0, 0.0, 0.5])
ROWS = st.lists(st.tuples(SCORES, GRADES), min_size=1, max_size=6)


def expected_gains(scores: Sequence[float], grades: Sequence[float]) -> np.ndarray:
    """Cumulative gain at every rank cutoff."""
    ranked = Ranked(np.array(scores, np.float64), np.array(grades, np.float64))
    return ranked.gains(np.arange(1, len(grades) + 1)).ravel()


def over_all_orders(rows: list[tuple[float, float]]) -> list[float]:
    """The mean cumulative gain over every order in which scores fall."""
    orders = [
        order
        for order in itertools.permutations(rows)
        if all(one[0] >= other[0] for one, other in itertools.pairwise(order))
    ]
    return np.mean([np.cumsum([grade for _, grade in order]) for order in orders], axis=0).tolist()


def at_cuts(gains: np.ndarray, cuts: list[int]) -> np.ndarray:
    """Values at each cut, the last beyond the end."""
    return gains[np.minimum(cuts, len(gains)) - 1]


# ---- one list --------------------------------------------------------------------------------------------------------


@given(ROWS)
def test_expected_gain_is_the_mean_over_all_orders_of_ties(rows: list[tuple[float, float]]) -> None:
    scores, grades = zip(*rows, strict=True)
    np.testing.assert_allclose(expected_gains(scores, grades), over_all_orders(rows), rtol=1e-12, atol=1e-12)


@given(ROWS)
def test_normalised_gain_divides_by_the_best_sum_of_as_many(rows: list[tuple[float, float]]) -> None:
    scores, grades = zip(*rows, strict=True)
    if not any(grades):
        with pytest.raises(Undefined, match="no grade is above 0"):
            normalized_gains(scores, grades)
        return
    found = normalized_gains(scores, grades)
    best = [max(map(sum, itertools.combinations(grades, k))) for k in range(1, len(grades) + 1)]
    np.testing.assert_allclose(found, np.array(over_all_orders(rows)) / best, rtol=1e-12, atol=1e-12)
    assert found.min() >= 0
    assert found.max() <= 1
    assert found[-1] == 1


def test_scores_that_differ_by_rounding_noise_are_tied() -> None:
    assert expected_gains([0.1 + 0.2, 0.3], [0, 1]).tolist() == [0.5, 1.0]
    assert expected_gains([0.3 + 2e-12, 0.3], [0, 1]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e-14, 1.0, 1e60])
def test_scores_of_any_magnitude_are_ranked(size: float) -> None:
    scores = [3 * size, 2 * size, (1 + 1e-13) * size, size]
    assert expected_gains(scores, [0, 1, 2, 4]).tolist() == [0, 1, 4, 7]


def test_huge_scores_are_ranked_too() -> None:
    assert expected_gains([1e308, math.inf, -1e308, -math.inf], [1, 2, 3, 4]).tolist() == [2, 3, 6, 10]


@pytest.mark.parametrize(
    ("scores", "grades", "message"),
    [
        ([1, 2, 3], [0, 1, -0.5], r"^grades\[2\]: expected a finite number of at least 0, got -0\.5$"),
        ([1, 2], [0, math.nan], r"^grades\[1\]: .* got nan$"),
        ([1, 2], [math.inf, 0], r"^grades\[0\]: .* got inf$"),
        ([1, math.nan], [0, 1], r"^scores\[1\]: expected a number, got NaN$"),
        ([1, 2], [1], r"^grades: expected one for each of 2 scores, got 1$"),
    ],
)
def test_bad_columns(scores: list[float], grades: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        normalized_gains(scores, grades)


def test_no_rows() -> None:
    with pytest.raises(Undefined, match="no rows"):
        normalized_gains([], [])


# ---- curves ----------------------------------------------------------------------------------------------------------

KS = [1, 2, 4, 50]


def some_rows(*, seed: int = 1, n: int = 60, topics: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties, grades and topics, in no order."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, n) / 7, rng.integers(0, 4, n) / 2, rng.integers(0, topics, n) * 10 + 3


def test_the_mean_over_topics() -> None:
    scores, grades, topics = some_rows()
    curve = gain_curve(scores, grades, topics, KS)
    each = [at_cuts(normalized_gains(scores[topics == t], grades[topics == t]), KS) for t in (3, 13, 23, 33, 43)]
    assert curve.by_topic is not None
    np.testing.assert_allclose(curve.by_topic, each, rtol=1e-13)
    np.testing.assert_allclose(curve.ncg, np.mean(each, axis=0), rtol=1e-13)
    assert (curve.cutoffs, curve.n, curve.pool, curve.ties) == ((1, 2, 4, 50), 60, "topic", "expected")
    assert curve.topics.tolist() == [3, 13, 23, 33, 43]
    # Bands: the topics' curves averaged, each as often as it was drawn.
    drawn = bootstrap_counts(5, 1000, curve.seed) @ np.array(each) / 5
    np.testing.assert_allclose(curve.samples, drawn, rtol=1e-13)
    assert curve.low is not None
    assert curve.high is not None
    for column in range(len(KS)):
        band = interval(drawn[:, column])
        assert (curve.low[column], curve.high[column]) == pytest.approx((band.low, band.high), rel=1e-13)


def test_one_list_of_all_rows() -> None:
    scores, grades, topics = some_rows()
    curve = gain_curve(scores, grades, topics, KS, pool="all", resamples=20)
    np.testing.assert_allclose(curve.ncg, at_cuts(normalized_gains(scores, grades), KS), rtol=1e-13)
    assert curve.by_topic is None
    assert curve.left_out == ()


@pytest.mark.parametrize("ties", ["expected", "key"])
def test_resampled_topics_are_ranked_anew(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as writing the rows of each drawn topic down as often as it was drawn."""
    monkeypatch.setattr("postil.passages.gain.CELLS", 100)  # so that blocks of resamples are stitched together
    scores, grades, topics = some_rows(topics=3)
    grades[topics == 13] = 0
    curve = gain_curve(scores, grades, topics, KS, pool="all", ties=ties, resamples=40)  # type: ignore[arg-type]
    if ties == "key":  # the order of the rows, as a score without ties
        scores = -np.lexsort((np.arange(60), -scores)).argsort().astype(float)
    for copies, sample in zip(bootstrap_counts(3, 40, curve.seed), curve.samples, strict=True):
        rows = np.repeat(np.arange(60), copies[(topics - 3) // 10])
        if grades[rows].any():
            np.testing.assert_allclose(sample, at_cuts(normalized_gains(scores[rows], grades[rows]), KS), rtol=1e-12)
        else:
            assert np.isnan(sample).all()


@pytest.mark.parametrize("distinct", [3, 40, 400])
def test_a_gain_does_not_depend_on_larger_cutoffs(distinct: int) -> None:
    generator = np.random.default_rng(3)
    scores = generator.integers(0, distinct, 400).astype(float)
    grades = generator.choice([0.0, 0.1, 0.7, 2.0], 400)
    topics = generator.choice(9, 400, p=np.arange(1, 10) / 45)
    every = [1, 5, 60, 399, 400, 900]
    whole = gain_curve(scores, grades, topics, every, pool="all", resamples=200)
    for most in range(1, len(every)):
        some = gain_curve(scores, grades, topics, every[:most], pool="all", resamples=200)
        np.testing.assert_array_equal(some.ncg, whole.ncg[:most])
        np.testing.assert_array_equal(some.samples, whole.samples[:, :most])


def test_ties_by_key() -> None:
    # Tied: b (grade 0), a (2), c (1). By key a, b, c, so gains 2, 2, 3 of 2, 3, 3; by position b, a, c: 0, 2, 3.
    scores, grades, topics = [5, 5, 5], [0, 2, 1], [0, 0, 0]
    by_key = gain_curve(scores, grades, topics, [1, 2, 3], ties="key", keys=["b", "a", "c"])
    assert by_key.ncg.tolist() == [1, 2 / 3, 1]
    assert by_key.ties == "key"
    assert gain_curve(scores, grades, topics, [1, 2, 3], ties="key").ncg.tolist() == [0, 2 / 3, 1]
    # Rounding noise is no reason to be first.
    noisy = gain_curve([5, 5 - 1e-14, 5], grades, topics, [1], ties="key", keys=["b", "a", "c"])
    assert noisy.ncg.tolist() == [1]


def test_a_key_may_stand_in_two_topics_but_not_twice_in_a_list() -> None:
    columns = [1, 1, 1, 1], [1, 0, 0, 1], [0, 0, 1, 1], [1]
    keys = ["a", "b", "a", "b"]
    assert gain_curve(*columns, ties="key", keys=keys).ncg.tolist() == [0.5]
    with pytest.raises(InvalidInput, match=r"^keys: 'a' stands there twice"):
        gain_curve(*columns, ties="key", keys=keys, pool="all")


def test_topics_without_a_grade_are_left_out_and_named() -> None:
    curve = gain_curve([3, 2, 1, 9, 8, 7], [1, 0, 2, 0, 0, 0], [7, 7, 7, 9, 9, 4], [1])
    assert curve.ncg.tolist() == [0.5]
    assert curve.left_out == (4, 9)
    assert curve.topics.tolist() == [7]
    # In one list they take the first places: the cut 3 holds none of 3.
    pooled = gain_curve([3, 2, 1, 9, 8, 7], [1, 0, 2, 0, 0, 0], [7, 7, 7, 9, 9, 4], [3, 4], pool="all")
    assert pooled.ncg.tolist() == [0, 1 / 3]
    assert pooled.topics.tolist() == [4, 7, 9]


def test_one_topic_has_no_band() -> None:
    for pool in ("topic", "all"):
        curve = gain_curve([2, 1], [1, 2], [5, 5], [1], pool=pool)  # type: ignore[arg-type]
        assert (curve.ncg.tolist(), curve.low, curve.high) == ([0.5], None, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoffs": [1, 0]}, "rank cutoffs are integers of at least 1, got 1, 0"),
        ({"cutoffs": []}, "got none"),
        ({"cutoffs": [0.5]}, "got 0.5"),
        ({"cutoffs": [1], "keys": ["a", "b"]}, "with the tie rule 'key' alone"),
        ({"cutoffs": [1], "pool": "topics"}, "unknown pool 'topics'; did you mean 'topic'"),
        ({"cutoffs": [1], "ties": "random"}, "unknown tie rule 'random'"),
        ({"cutoffs": [1], "resamples": 0}, "at least one resample"),
    ],
)
def test_bad_requests(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gain_curve([1, 2], [0, 1], [0, 0], **options)  # type: ignore[arg-type]


def test_columns_of_other_lengths() -> None:
    with pytest.raises(InvalidInput, match=r"^topics: expected one for each of 2 rows, got 3"):
        gain_curve([1, 2], [0, 1], [0, 0, 0], [1])
    with pytest.raises(InvalidInput, match=r"^keys: expected one for each of 2 rows, got 1"):
        gain_curve([1, 2], [0, 1], [0, 0], [1], ties="key", keys=["a"])


def test_nothing_to_gain() -> None:
    for pool in ("topic", "all"):
        with pytest.raises(Undefined, match="no grade is above 0"):
            gain_curve([1, 2], [0, 0], [0, 0], [1], pool=pool)  # type: ignore[arg-type]


# ---- differences -----------------------------------------------------------------------------------------------------


def curves_of(*, pool: str = "topic", topics: int = 5, names: str = "abc") -> dict[str, GainCurve]:
    _, grades, topic = some_rows(topics=topics, n=20 * topics)
    rng = np.random.default_rng(3)
    return {
        name: gain_curve(rng.random(len(grades)) + number * grades, grades, topic, [2, 5], pool=pool)  # type: ignore[arg-type]
        for number, name in enumerate(names)
    }


def test_the_sign_flip_test_goes_through_all_patterns_of_few_topics() -> None:
    curves = curves_of()
    rows = gain_differences(curves)
    assert [(row.k, row.first, row.second) for row in rows] == [
        (k, *pair) for k in (2, 5) for pair in ("ab", "ac", "bc")
    ]
    for row in rows:
        column = (2, 5).index(row.k)
        one, other = curves[row.first], curves[row.second]
        assert one.by_topic is not None
        assert other.by_topic is not None
        d = one.by_topic[:, column] - other.by_topic[:, column]
        flipped = [abs(np.dot(signs, d)) for signs in itertools.product((1, -1), repeat=5)]
        assert row.p == sum(value >= abs(d.sum()) - 1e-12 for value in flipped) / 32
        assert row.value == pytest.approx(d.mean(), rel=1e-12)
        band = interval(one.samples[:, column] - other.samples[:, column])
        assert (row.low, row.high) == (band.low, band.high)
        assert row.test == "sign-flip"


def test_holm_over_the_pairs_of_a_cutoff() -> None:
    rows = gain_differences(curves_of(), [5])
    one, two, three = sorted(rows, key=lambda row: row.p)
    assert one.p_holm == min(1, 3 * one.p)
    assert two.p_holm == max(one.p_holm, min(1, 2 * two.p))
    assert three.p_holm == max(two.p_holm, three.p)


def test_random_patterns_of_many_topics() -> None:
    curves = curves_of(topics=16, names="ab")
    exact = gain_differences(curves, [2], flips=2**16)[0].p
    # 10,000 draws of a share p have the sd sqrt(p (1 - p)) / 100.
    drawn = gain_differences(curves, [2])[0].p
    assert drawn == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact)) / 100 + 1e-4)
    assert drawn == gain_differences(curves, [2])[0].p
    assert gain_differences(curves, [2], flips=9)[0].p >= 1 / 10


def test_a_measure_does_not_differ_from_itself() -> None:
    curve = curves_of()["a"]
    for row in gain_differences({"one": curve, "other": curve}):
        assert (row.value, row.low, row.high, row.p, row.p_holm) == (0, 0, 0, 1, 1)


def test_one_list_is_tested_by_bootstrap() -> None:
    curves = curves_of(pool="all", names="ab")
    row = gain_differences(curves, [5])[0]
    assert row.test == "bootstrap"
    assert row.p == p_value(curves["a"].samples[:, 1] - curves["b"].samples[:, 1])
    assert row.value == curves["a"].ncg[1] - curves["b"].ncg[1]


def test_curves_that_do_not_go_together() -> None:
    scores, grades, topics = some_rows()
    curve = gain_curve(scores, grades, topics, [2])
    for other in (
        gain_curve(scores, grades, topics, [3]),
        gain_curve(scores, grades, topics, [2], pool="all"),
        gain_curve(scores, grades, topics, [2], ties="key"),
        gain_curve(scores, grades, topics, [2], seed=5),
        gain_curve(scores, grades, topics, [2], resamples=9),
        gain_curve(scores[:50], grades[:50], topics[:50], [2]),
        gain_curve(scores, grades, topics + 1, [2]),
    ):
        with pytest.raises(UsageError, match="share all but the measure: b has other"):
            gain_differences({"a": curve, "b": other})
    with pytest.raises(UsageError, match="no rank cutoff 4; theirs are 2"):
        gain_differences({"a": curve, "b": curve}, [4])
    with pytest.raises(Undefined, match="two measures, got 1"):
        gain_differences({"a": curve})
    single = gain_curve([1, 2], [1, 2], [0, 0], [1])
    with pytest.raises(Undefined, match="two of them, and there is one"):
        gain_differences({"a": single, "b": single})


def test_gains_that_differ_by_rounding_noise_do_not_differ() -> None:
    def curve(noise: float) -> GainCurve:
        made = gain_curve([2, 1] * 8, [1, 2] * 8, np.repeat(range(8), 2), [1])
        assert made.by_topic is not None
        return replace(made, ncg=made.ncg + noise, by_topic=made.by_topic + noise, samples=made.samples + noise)

    (row,) = gain_differences({"one": curve(0.0), "other": curve(1e-16)})
    assert (row.value, row.low, row.high, row.p) == (0.0, 0.0, 0.0, 1.0)


def test_sign_flips_compare_sums_by_the_scores_in_them() -> None:
    # Differences of 1e-7, 1e-7 and -1e-7, with the noise of scores near .9: all patterns reach a sum of 1e-7 in size.
    other = np.array([[0.9], [0.1], [0.9]])
    one = other + np.array([[1e-7], [1e-7], [-1e-7]])
    assert np.ptp(np.abs(one - other)) > 0
    assert sign_flips(one, other, flips=100, seed=1).tolist() == [1.0]
