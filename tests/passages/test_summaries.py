"""Scoring of summaries in Python: means, agreement of two references, notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.grades import Scale
from postil.data.rows import Candidate, Passage, TopicArticle
from postil.errors import InvalidInput, Undefined, UsageError
from postil.passages.summaries import SummariesOptions, score_summaries

if TYPE_CHECKING:
    from postil.passages.result import SummaryResult

QUICK = SummariesOptions(measures=("f1-1", "kl-1"), resamples=20)
POOL = [
    Passage("ducks", "1", "a b c", grade=2),
    Passage("ducks", "2", "b d", grade=1),
    Passage("ducks", "3", "x y", grade=0),
    Passage("bread", "1", "m o", grade=1),
    Passage("empty", "1", "nobody reads this", grade=0),
]
SUMMARIES = [
    Candidate("ducks", "good", "a b c d"),
    Candidate("ducks", "bad", "a y"),
    Candidate("bread", "good", "m n"),
    Candidate("bread", "bad", "z"),
    Candidate("ducks", "fair", "a b"),
    Candidate("bread", "fair", "m n p"),
]
ARTICLES = [TopicArticle("ducks", "a b y"), TopicArticle("bread", "m n"), TopicArticle("else", "q")]


def means(result: SummaryResult, reference: str = "passages") -> dict[tuple[str, str], float]:
    return {(row.measure, row.system): row.mean for row in result.scores if row.reference == reference}


def test_means_over_topics_by_hand() -> None:
    result, rows = score_summaries(POOL, SUMMARIES, QUICK)
    found = means(result)
    # ducks has the words a b c d, bread m o: good 8/8 and 2/4, bad 2/6 and 0, fair 4/6 and 2/5
    assert found["f1-1", "good"] == pytest.approx((1 + 1 / 2) / 2)
    assert found["f1-1", "bad"] == pytest.approx((2 / 6 + 0) / 2)
    assert found["f1-1", "fair"] == pytest.approx((4 / 6 + 2 / 5) / 2)
    assert {(row.n, row.better) for row in result.scores if row.measure == "kl-1"} == {(2, "low")}
    of_good = [row.score for row in rows if (row.system, row.metric) == ("good", "kl-1")]
    assert -np.mean(of_good) == pytest.approx(found["kl-1", "good"])  # rows are higher is better
    data = result.data
    assert (data.systems, data.topics, data.summaries, data.cut) == (3, 2, 6, 0)
    assert [str(each) for each in data.left_out] == ["topics without a passage above grade 0: 1 (empty)"]
    assert not result.agreement


def test_the_nine_measures_of_the_paper_are_the_default() -> None:
    result, _ = score_summaries(POOL, SUMMARIES, replace(QUICK, measures=("f1-1",)))
    assert {row.measure for row in result.scores} == {"f1-1"}
    more = [Passage("ducks", "4", "a b c d e", grade=1), Passage("bread", "4", "m o n p", grade=1)]
    result, _ = score_summaries([*POOL, *more], SUMMARIES, SummariesOptions(resamples=5))
    assert len({row.measure for row in result.scores}) == 9


def test_articles_are_a_second_reference_and_both_rankings_are_correlated() -> None:
    result, rows = score_summaries(POOL, SUMMARIES, QUICK, ARTICLES)
    found = means(result, "articles")
    # ducks has the words a b y, bread m n: good 4/7 and 1, bad 4/5 and 0, fair 4/5 and 4/5
    assert [found["f1-1", system] for system in ("good", "bad", "fair")] == pytest.approx([11 / 14, 2 / 5, 4 / 5])
    assert means(result) == means(score_summaries(POOL, SUMMARIES, QUICK)[0])  # the pool alone is its Omega
    by = {(row.metric, row.coefficient): row for row in result.agreement}
    assert set(by) == {(name, each) for name in QUICK.measures for each in ("pearson", "spearman", "kendall-b")}
    pool = [means(result)["f1-1", system] for system in ("good", "bad", "fair")]
    expected = np.corrcoef(pool, [11 / 14, 2 / 5, 4 / 5])[0, 1]
    assert by["f1-1", "pearson"].value == pytest.approx(expected)
    assert by["f1-1", "pearson"].by == "system"
    assert result.notes[-1] == "correlations over 3 systems mean little"
    assert by["kl-1", "pearson"].value > 0  # both sides point the same way
    assert {row.metric for row in rows} == {"f1-1", "kl-1", "f1-1, articles", "kl-1, articles"}


def test_a_topic_without_an_article_is_left_out_there() -> None:
    result, _ = score_summaries(POOL, SUMMARIES, QUICK, ARTICLES[:1])
    assert {row.reference: row.n for row in result.scores} == {"passages": 2, "articles": 1}
    assert "topics without an article: 1 (bread)" in map(str, result.data.left_out)
    with pytest.raises(InvalidInput, match="articles: expected articles on topics of the passages, got none"):
        score_summaries(POOL, SUMMARIES, QUICK, ARTICLES[2:])


def test_missing_summaries_count_and_are_named() -> None:
    result, _ = score_summaries(POOL, [*SUMMARIES[:3], Candidate("bread", "bad", "...")], QUICK)
    assert means(result)["f1-1", "bad"] == pytest.approx((2 / 6 + 0) / 2)
    told = [str(each) for each in result.data.left_out]
    assert "summaries without a word, scored as texts that share nothing with the reference: 1 (bread by bad)" in told
    result, _ = score_summaries(POOL, SUMMARIES[:3], QUICK)
    assert means(result)["f1-1", "bad"] == pytest.approx((2 / 6 + 0) / 2)
    told = [str(each) for each in result.data.left_out]
    assert "missing summaries, scored as texts that share nothing with the reference: 1 (bread by bad)" in told


def test_long_summaries_are_cut_before_stop_words_leave() -> None:
    long = [Candidate("ducks", "good", "the the a b c d"), *SUMMARIES[2:3]]
    whole, cut = (score_summaries(POOL, long, replace(QUICK, max_words=words, stop="en"))[0] for words in (6, 4))
    assert (whole.data.cut, cut.data.cut) == (0, 1)
    first = {words: score_summaries(POOL, long, replace(QUICK, max_words=words))[0] for words in (6, 3)}
    assert (first[6].data.cut, first[3].data.cut) == (0, 1)
    assert "|max-words:4|" in cut.scores[0].signature
    # "a" is a stop word: of "the the a b" there is b, one of the four words b c d
    assert means(cut)["f1-1", "good"] < means(whole)["f1-1", "good"]


def test_summaries_of_other_topics_are_named() -> None:
    result, _ = score_summaries(POOL, [*SUMMARIES, Candidate("unknown", "good", "a")], QUICK)
    assert "summaries of other topics: 1 (unknown by good)" in map(str, result.data.left_out)


def test_one_topic_has_no_intervals() -> None:
    result, _ = score_summaries(POOL[:3], SUMMARIES, QUICK)
    assert {(row.low, row.high) for row in result.scores} == {(None, None)}
    assert result.notes == ("one topic: no intervals",)


def test_the_scale_weighs_passages() -> None:
    result, _ = score_summaries(POOL, SUMMARIES, replace(QUICK, measures=("w-f1-1",), scale=Scale(0, 4)))
    # a b c weigh 2/4, d 1/4, m 1/4
    assert means(result)["w-f1-1", "good"] == pytest.approx((2 * 1.75 / 8 + 2 * 0.25 / 4) / 2)


@pytest.mark.parametrize(
    ("summaries", "message"),
    [
        ([], "summaries: expected summaries, got none"),
        (
            [*SUMMARIES, SUMMARIES[1]],
            'summaries:7: item: a second summary of topic "ducks" by system "bad"; expected one text',
        ),
        (
            [Candidate("else", "a", "b")],
            'summaries:1: item: expected a topic with a passage above grade 0, such as "ducks", got "else"',
        ),
        ([Candidate("ducks", "a", "明天下雨，所以我们不去公园散步。")], "summaries:1: text: Han text"),
    ],
)
def test_summaries_that_make_no_sense(summaries: list[Candidate], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        score_summaries(POOL, summaries, QUICK)
    assert str(raised.value).startswith(message)


def test_a_measure_of_units_that_no_reference_has() -> None:
    with pytest.raises(Undefined, match="f1-3: none of the reference passages has a unit that it counts"):
        score_summaries(POOL[3:], SUMMARIES, replace(QUICK, measures=("f1-3",)))
    with pytest.raises(Undefined, match="f1-1: none of the reference articles has a unit that it counts"):
        score_summaries(POOL, SUMMARIES, QUICK, [TopicArticle("ducks", "")])


def test_references_of_different_topics_are_not_correlated() -> None:
    pairs = [TopicArticle("ducks", "a"), TopicArticle("bread", "m o")]  # an article and a pool without pairs of words
    pool = [*POOL[:3], Passage("bread", "1", "m", grade=1)]
    result, _ = score_summaries(pool, SUMMARIES, replace(QUICK, measures=("f1-2",)), pairs)
    assert {row.reference: row.n for row in result.scores} == {"passages": 1, "articles": 1}
    assert not result.agreement
    assert result.notes[-1] == "f1-2, passages and articles: no topic has both"


@pytest.mark.parametrize("given", [{"anchors": True}, {"max_words": 0}, {"resamples": 0}, {"measures": ("length",)}])
def test_options_that_make_no_sense(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        score_summaries(POOL, SUMMARIES, replace(QUICK, **given))  # type: ignore[arg-type]
