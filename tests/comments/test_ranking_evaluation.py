from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.comments.ranking_evaluation import RankingTask, distinct, evaluate, popularity, sample_negatives
from postil.comments.result import RankingDifference, RankingMeasure, RankingResult, UndefinedScorer
from postil.errors import InvalidInput, Undefined, UsageError

SIZES = st.lists(st.integers(0, 4), min_size=2, max_size=6)


def starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def once(lists: RankingTask) -> np.ndarray:
    """A single resample: each article once."""
    return np.ones((1, len(lists)), np.int32)


def given_scores(scores: list[float] | np.ndarray) -> object:
    return lambda _articles, _comments: np.asarray(scores, np.float64)


def value(found: RankingResult, scorer: str, measure: str) -> float:
    return next(row.value for row in found.rows if (row.scorer, row.measure) == (scorer, measure))


# Two articles, n = 3. The first has own scores 5 and 1 among 4, 1, 0; the second 2 among 2, 2, 1.
WORKED = RankingTask(np.array([0, 1]), np.array([0, 1, 7, 8, 9, 2, 0, 1, 7]), np.array([0, 5, 9]), 3)
SCORES = [5, 1, 4, 1, 0, 2, 2, 2, 1]


def test_worked_out_by_hand() -> None:
    # 5 is first: recall@1 = recall@2 = 1, mrr = 1. 1 has one above it and ties with one, so it is 2nd or 3rd:
    # recall@1 = 0, recall@2 = 1/2, mrr = (1/2 + 1/3)/2 = 5/12. The mean of the article: 1/2, 3/4, 17/24.
    # 2 ties with two and is 1st, 2nd or 3rd: 1/3, 2/3, (1 + 1/2 + 1/3)/3 = 11/18.
    found = evaluate(WORKED, {"m": given_scores(SCORES)}, np.array([[2, 0], [1, 1], [0, 2]], np.int32), cutoffs=(1, 2))
    articles = {"recall@1": (1 / 2, 1 / 3), "recall@2": (3 / 4, 2 / 3), "mrr": (17 / 24, 11 / 18)}
    for row, (measure, (one, other)) in zip(found.rows, articles.items(), strict=False):
        middle, spread = (one + other) / 2, abs(one - other) / 2
        # The resamples are middle - spread, middle and middle + spread; their 2.5th percentile lies at 5 % of the way.
        expected = RankingMeasure(
            scorer="m",
            measure=measure,
            value=middle,
            low=middle - 0.95 * spread,
            high=middle + 0.95 * spread,
            n=2,
            comments=3,
        )
        assert (row.scorer, row.measure, row.n, row.comments) == ("m", measure, 2, 3)
        assert [row.value, row.low, row.high] == pytest.approx([expected.value, expected.low, expected.high], abs=2e-12)


def test_random_is_exact() -> None:
    # Of 4 places each is as likely: recall@1 = 1/4, recall@2 = 1/2, mrr = (1 + 1/2 + 1/3 + 1/4)/4 = 25/48.
    found = evaluate(WORKED, {}, once(WORKED), cutoffs=(1, 2))
    assert [(row.scorer, row.measure, row.value) for row in found.rows] == [
        ("random", "recall@1", 0.25),
        ("random", "recall@2", 0.5),
        ("random", "mrr", round(25 / 48, 12)),
    ]
    assert all(row.low == row.value == row.high for row in found.rows)
    assert (found.differences, found.absent) == ((), ())


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 3))
def test_ties_are_the_mean_over_all_orders(others: list[int], own: int) -> None:
    n = len(others)
    lists = RankingTask(np.array([0]), np.arange(n + 1), np.array([0, n + 1]), n)
    ranks = []
    for order in permutations(range(n + 1)):  # position 0 is the own comment
        ranked = sorted(order, key=lambda place: -[own, *others][place])  # stable: ties stay in the order drawn
        ranks.append(ranked.index(0) + 1)
    found = evaluate(lists, {"m": given_scores([own, *others])}, once(lists), cutoffs=(1, 2, 9))
    for k in (1, 2, 9):
        expected = Fraction(sum(rank <= k for rank in ranks), len(ranks))
        assert value(found, "m", f"recall@{k}") == pytest.approx(float(expected), abs=1e-11)
    expected = sum((Fraction(1, rank) for rank in ranks), Fraction(0)) / len(ranks)
    assert value(found, "m", "mrr") == pytest.approx(float(expected), abs=1e-11)


@given(SIZES, st.integers(1, 5), st.integers(0, 2**32))
def test_what_is_drawn(sizes: list[int], n: int, seed: int) -> None:
    begins = starts(sizes)
    if not sum(sizes) or sum(sizes) - max(sizes) < n:
        with pytest.raises(Undefined):
            sample_negatives(begins, n, seed)
        return
    lists = sample_negatives(begins, n, seed)
    assert lists.articles.tolist() == [article for article, size in enumerate(sizes) if size]
    assert lists.own == sum(sizes)
    articles, comments = lists.pairs
    assert len(articles) == len(comments) == lists.offsets[-1]
    for article, begin, end in zip(lists.articles, lists.offsets[:-1], lists.offsets[1:], strict=True):
        own = list(range(begins[article], begins[article + 1]))
        assert comments[begin : end - n].tolist() == own
        drawn = comments[end - n : end].tolist()
        assert len({*drawn, *own}) == n + len(own)
        assert all(0 <= comment < begins[-1] for comment in drawn)
        assert set(articles[begin:end].tolist()) == {article}
    again = sample_negatives(begins, n, seed)
    assert again.comments.tolist() == comments.tolist()


def test_comments_of_other_articles_are_equally_likely() -> None:
    drawn = [sample_negatives([0, 2, 5, 10], 3, seed).comments[2:5] for seed in range(500)]
    counts = np.bincount(np.concatenate(drawn), minlength=10)
    assert counts[:2].tolist() == [0, 0]
    # 500 draws with p = 3/8 have mean 187.5 and a deviation of 11.
    assert np.all(np.abs(counts[2:] - 187.5) < 50)


@pytest.mark.parametrize("size", [1e-100, 1e-14, 1e60])
def test_scores_of_any_magnitude_are_ranked(size: float) -> None:
    lists = sample_negatives(starts([2, 1, 3, 4]), 4, seed=1)
    scores = np.random.default_rng(1).random(len(lists.comments)).round(2)
    scorers = {"m": given_scores(scores), "scaled": given_scores(size * scores)}
    found = evaluate(lists, scorers, once(lists), cutoffs=(1, 3))
    assert {row.value for row in found.differences if row.minus == "scaled"} == {0.0}


def test_the_best_and_the_worst() -> None:
    lists = sample_negatives(starts([3, 2, 4]), 5)
    own = np.isin(np.arange(len(lists.comments)), [0, 1, 2, 8, 9, 15, 16, 17, 18])
    scorers = {"best": given_scores(np.where(own, np.inf, 0)), "worst": given_scores(np.where(own, -np.inf, 0))}
    found = evaluate(lists, scorers, once(lists), cutoffs=(1, 5, 6))
    assert [row.value for row in found.rows[:4]] == [1, 1, 1, 1]
    assert [row.value for row in found.rows[4:8]] == [0, 0, 1, round(1 / 6, 12)]


def test_noise_of_rounding_is_a_tie() -> None:
    lists = RankingTask(np.array([0]), np.arange(2), np.array([0, 2]), 1)
    found = evaluate(lists, {"m": given_scores([0.1 + 0.2, 0.3])}, once(lists), cutoffs=(1,))
    assert value(found, "m", "recall@1") == 0.5


def test_differences_are_paired() -> None:
    # The first scorer is better by 1 for the first article and by 0 for the second, whatever is drawn.
    lists = RankingTask(np.array([0, 1]), np.arange(4), np.array([0, 2, 4]), 1)
    scorers = {"m": given_scores([1, 0, 1, 0]), "tf-idf": given_scores([0, 1, 1, 0])}
    found = evaluate(lists, scorers, np.array([[2, 0], [0, 2]], np.int32), cutoffs=(1,))
    assert found.differences[0] == RankingDifference(
        scorer="m", minus="tf-idf", measure="recall@1", value=0.5, low=0.025, high=0.975
    )
    assert [(row.minus, row.measure) for row in found.differences] == [
        ("tf-idf", "recall@1"),
        ("tf-idf", "mrr"),
        ("random", "recall@1"),
        ("random", "mrr"),
    ]


def test_scorers_see_the_lists() -> None:
    lists = sample_negatives(starts([2, 0, 3]), 2)
    seen = []

    def scorer(articles: np.ndarray, comments: np.ndarray) -> np.ndarray:
        seen.append((articles.tolist(), comments.tolist()))
        return np.zeros(len(comments), np.float32)

    evaluate(lists, {"a": scorer, "b": scorer}, once(lists))
    assert seen[0] == seen[1] == ([0] * 4 + [2] * 5, lists.comments.tolist())


def test_popularity() -> None:
    lists = sample_negatives(starts([1, 1, 1]), 2)
    # 9 upvotes are ranked first, 5 second, 0 third.
    found = evaluate(lists, {"upvotes": popularity([5, 9, 0])}, once(lists), cutoffs=(1, 2))
    assert [row.value for row in found.rows[:3]] == pytest.approx([1 / 3, 2 / 3, (1 + 1 / 2 + 1 / 3) / 3])
    found = evaluate(lists, {"upvotes": popularity([5, np.nan, np.nan])}, once(lists))
    assert found.absent == (UndefinedScorer(scorer="upvotes", reason="2 of 3 comments have no upvotes"),)
    assert {row.scorer for row in found.rows} == {"random"}
    assert found.differences == ()


def test_wrong_use() -> None:
    lists = sample_negatives(starts([1, 1]), 1)
    with pytest.raises(UsageError, match="expected at least one sampled comment, got 0"):
        sample_negatives([0, 1, 2], 0)
    with pytest.raises(Undefined, match="no article has comments"):
        sample_negatives([0, 0])
    with pytest.raises(Undefined, match="expected 100 comments of other articles to sample from, got 2"):
        sample_negatives([0, 2, 4])
    with pytest.raises(UsageError, match="k: expected at least 1, got 0"):
        evaluate(lists, {}, once(lists), cutoffs=(1, 0))
    with pytest.raises(UsageError, match="random is always included"):
        evaluate(lists, {"random": given_scores([0])}, once(lists))
    with pytest.raises(UsageError, match=r"expected resamples of 2 articles, got an array of shape \(5, 3\)"):
        evaluate(lists, {}, np.ones((5, 3), np.int32))
    with pytest.raises(InvalidInput, match=r"m: expected 4 numbers, got an array of shape \(3,\)"):
        evaluate(lists, {"m": given_scores([1, 2, 3])}, once(lists))
    with pytest.raises(InvalidInput, match="m: a score is NaN"):
        evaluate(lists, {"m": given_scores([1, 2, 3, np.nan])}, once(lists))


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6), st.integers(1, 3))
def test_distinct_is_the_share_of_different_n_grams(texts: list[list[int]], n: int) -> None:
    grams = [tuple(text[place : place + n]) for text in texts for place in range(len(text) - n + 1)]
    ids = np.array([word for text in texts for word in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    if grams:
        assert distinct(ids, offsets, n) == len(set(grams)) / len(grams)
    else:
        with pytest.raises(Undefined, match="no text has"):
            distinct(ids, offsets, n)
