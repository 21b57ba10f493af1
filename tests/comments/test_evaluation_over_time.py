"""Evaluations over time: leakage is told, scores come by period, suggestions have an age."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import postil
from postil.comments.commenter import load_commenter
from postil.comments.evaluation import EvaluateOptions, evaluate_commenters
from postil.comments.options import RetrieverTrainOptions
from postil.data.rows import Article, Comment
from postil.data.suggestions import Provenance, Source, Suggestion, Suggestions
from postil.errors import UnknownName, UsageError
from postil.training.retrievers import train_retriever
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

OPTIONS = EvaluateOptions(metrics=("rouge-l", "bleu-1"))
WORDS = ("rain", "chess", "votes", "bread")


def article(month: int, *, dated: bool = True) -> Article:
    said = (f"{WORDS[(month + place) % 4]} reader{place} of {month} says so" for place in range(5))
    date = f"{2023 + month // 12}-{month % 12 + 1:02}-10"
    comments = tuple(
        Comment(f"c{place}", text, date=f"{date}T12:00:00Z" if dated else None) for place, text in enumerate(said)
    )
    return Article(f"a{month:02}", f"{WORDS[month % 4]} in town{month}", comments, date=date if dated else None)


def built(folder: Path, name: str, articles: Iterable[Article], test: int = 0, **options: Any) -> postil.Corpus:
    return corpus_of(folder, articles, 0, test, name, **options)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Monthly articles of two years, the last eight of them test; and a model."""
    folder = tmp_path_factory.mktemp("site")
    built(folder, "corpus", map(article, range(24)), 8, split_by="date")
    train_retriever("ir-t", folder / "corpus", folder / "model", RetrieverTrainOptions(ranker="tf-idf"))
    return folder


def test_newer_articles_are_told_from_what_a_model_knows(site: Path) -> None:
    found = evaluate_commenters([site / "model"], site / "corpus", OPTIONS).result
    (period,) = found.training
    assert (period.articles, period.undated, period.dated, period.earlier, period.shared) == (16, 0, 8, 0, 0)
    assert (period.first, period.last) == ("2023-01-10T00:00:00Z", "2024-04-10T00:00:00Z")
    told = "model: all 8 articles of test with a date are newer than its newest training article (2024-04-10)"
    assert told in found.remarks
    assert found.periods == ()


def test_a_model_that_knows_the_future_is_told(site: Path, tmp_path: Path) -> None:
    later = built(tmp_path, "later", [article(20), article(26)])
    postil.update_model(site / "model", later, tmp_path / "model")
    found = evaluate_commenters([tmp_path / "model"], site / "corpus", OPTIONS).result
    (period,) = found.training
    assert (period.articles, period.earlier, period.shared) == (18, 8, 1)
    text = "\n".join(found.remarks)
    assert "8 of 8 articles of test with a date are no newer than its newest training article (2025-03-10)" in text
    assert "model: 1 of 8 articles of test is in train" in text


def test_scores_by_period_are_those_of_its_articles_alone(site: Path, tmp_path: Path) -> None:
    corpus = postil.Corpus.open(site / "corpus")
    found = evaluate_commenters([site / "model"], corpus, replace(OPTIONS, by_date="quarter")).result
    rows = {(row.system, row.period): row for row in found.periods}
    assert [period for system, period in rows if system == "model"] == ["2024-Q2", "2024-Q3", "2024-Q4"]
    assert [row.articles for (system, _), row in rows.items() if system == "human"] == [2, 3, 3]
    assert rows["model", "2024-Q2"].days == 45.5  # from April 10 to the middle of May 10 and June 10
    assert rows["human", "2024-Q2"].days is None
    some = [one for one in corpus.articles("test") if one.date and one.date < "2024-07"]
    train = [*corpus.articles("train")]
    alone = built(tmp_path, "alone", [*train, *some], 2, split_by="date")
    expected = evaluate_commenters({"model": load_commenter(site / "model")}, alone, OPTIONS).result
    scores = {row.metric: row.score for row in expected.scores if row.system == "model"}
    assert rows["model", "2024-Q2"].scores == pytest.approx(scores)


def test_periods_of_as_many_articles(site: Path) -> None:
    found = evaluate_commenters([site / "model"], site / "corpus", replace(OPTIONS, by_date="3")).result
    human = [(row.period, row.articles, row.first[:7]) for row in found.periods if row.system == "human"]
    assert human == [("1/3", 3, "2024-05"), ("2/3", 3, "2024-08"), ("3/3", 2, "2024-11")]


class Archivist:
    """Suggests a comment that is 30 days old, once one from the next day, and once one without a date."""

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        del k
        dates = {"a16": "2024-05-11", "a17": None}
        found = []
        for one in articles:
            date = dates.get(one.id, f"{one.date[:7] if one.date else ''}-01")
            source = Source("a0", "c0", date=date)
            found.append(Suggestions(one.id, (Suggestion("rain", 1.0, 1, Provenance.retrieved("x", "0", [source])),)))
        return found

    def save(self, folder: Any) -> None: ...

    @classmethod
    def load(cls, folder: Any) -> Archivist:
        raise NotImplementedError


def test_suggestions_have_an_age(site: Path) -> None:
    found = evaluate_commenters({"old": Archivist()}, site / "corpus", OPTIONS).result
    old, human = found.suggestions
    assert (old.dated, old.later, human.age, human.dated) == (7, 1, None, 0)
    assert old.age == pytest.approx((6 * 9 - 1) / 7)
    assert found.training == ()
    assert "mean age in days" in str(found.to_html())


@pytest.mark.parametrize(
    ("by", "kind", "problem"),
    [
        ("quater", UnknownName, "unknown period 'quater'; did you mean 'quarter'"),
        ("0", UsageError, "by_date: expected 1 to 8 periods, as there are articles with dates, got 0"),
        ("9", UsageError, "by_date: expected 1 to 8 periods"),
    ],
)
def test_periods_that_make_no_sense(site: Path, by: str, kind: type[Exception], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        evaluate_commenters([site / "model"], site / "corpus", replace(OPTIONS, by_date=by))


def test_articles_without_dates_have_no_periods(tmp_path: Path) -> None:
    corpus = built(tmp_path, "undated", [article(month, dated=False) for month in range(12)], 4)
    with pytest.raises(UsageError, match=r"undated, test: by_date=.month.: its articles have no dates"):
        evaluate_commenters({"old": Archivist()}, corpus, replace(OPTIONS, by_date="month"))
