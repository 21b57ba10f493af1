"""Dates in a corpus: kept, counted, and no trace of them where there are none."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from corpus_work import Row, built, files, ids, loose, row, rows, written

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import DateRange, Share
from postil.corpus.result import DateStatistics
from postil.corpus.statistics import statistics
from postil.corpus.view import card, table_2
from postil.corpus.view import statistics as view
from postil.errors import InvalidInput, UsageError
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

AT = "2017-03-30T02:56:13Z"


def dated(count: int, **fields: Any) -> list[Row]:
    """Articles, a day apart, each with comments that follow by the hour."""
    return [
        {
            **article,
            "date": 1490842573 + 86400 * number,
            "comments": [
                {**comment, "date": 1490842573 + 86400 * number + 3600 * hour}
                for hour, comment in enumerate(article["comments"], 1)
            ],
            **fields,
        }
        for number, article in enumerate(rows(count))
    ]


def undated(folder: Path) -> dict[str, bytes]:
    """All of a corpus but what names its input or has a date."""
    return {name: data for name, data in files(folder).items() if name.startswith(("tokens", "words", "counts"))}


def test_dates_are_kept_and_change_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of held-out comments, and where they begin in a later block than the first."""
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=2_000))
    articles = dated(40)
    for article in articles[:20]:
        del article["date"]
        for comment in article["comments"]:
            del comment["date"]
    sizes: Row = {"test": Share(size=20), "dev": Share(size=5)}
    corpus, other = built(tmp_path, articles, "dated", **sizes), built(tmp_path, rows(40), "plain", **sizes)
    assert undated(corpus.path) == undated(other.path)
    wanted = {article["id"]: article for article in articles}
    for split in ("train", "dev", "test"):
        there = list(corpus.articles(split))
        assert len({file.name for file in corpus.files(split)}) == corpus.metadata.splits[split].files > 1
        for article, plain in zip(there, other.articles(split), strict=True):
            said = {each["id"]: each for each in wanted[article.id]["comments"]}
            assert (article.date is None) == ("date" not in wanted[article.id])
            for comment in (*article.comments, *(article.held_out or ())):
                assert (comment.date is None) == ("date" not in said[comment.id])
            bare = [
                tuple(msgspec.structs.replace(each, date=None) for each in some or ())
                for some in (article.comments, article.held_out)
            ]
            assert msgspec.structs.replace(article, date=None, comments=bare[0], held_out=bare[1]) == plain


def test_what_is_no_date(tmp_path: Path) -> None:
    articles = [row("a", [{"text": "Oh", "date": "2020-03-21 06:27"}]), row("b", [{"text": "No", "date": "soon"}])]
    problem = 'expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds, got "soon"'
    assert refused(InvalidInput, built, tmp_path, articles) == f"{tmp_path}/out.jsonl:2: comments[0].date: {problem}"
    corpus = built(tmp_path, articles, on_error="skip")
    assert [article.comments[0].date for article in corpus.articles("train")] == ["2020-03-21T06:27:00Z"]
    assert problem.replace('"', '\\"') in (tmp_path / "out.rejected.jsonl").read_text()


def test_timestamps_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    moment = datetime(2020, 3, 21, 6, 27, tzinfo=UTC)
    articles = [row("a", [{"text": "Oh", "date": moment}], date=moment.date())]
    pa.parquet.write_table(pa.Table.from_pylist(articles), tmp_path / "a.parquet")
    corpus = build_corpus([tmp_path / "a.parquet"], tmp_path / "out", loose(), jobs=1)
    (article,) = corpus.articles("train")
    assert (article.date, article.comments[0].date) == ("2020-03-21T00:00:00Z", "2020-03-21T06:27:00Z")


def test_without_dates_there_are_no_columns_and_no_statistics(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for name, articles in (("plain", rows(3)), ("dated", [*rows(3), row("x", [{"text": "Oh", "date": AT}])])):
        corpus = built(tmp_path, articles, name)
        schema = pa.parquet.read_schema(corpus.files("train")[0])
        assert ("date" in schema.names) == (name == "dated")
        for column in ("comments", "held_out"):
            assert (schema.field(column).type.value_type.get_field_index("date") >= 0) == (name == "dated")
        found = statistics(corpus).result()
        assert ("date" in msgspec.json.encode(found).decode()) == (name == "dated")
        assert any("date" in str(label) for label, *_ in table_2(found).grid()) == (name == "dated")


def test_statistics_of_dates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"text": "Oh", "date": "2017-03-30 05:00+02:00"}, {"text": "No", "date": "2017-03-31"}, {"text": "So"}]
    articles = [row("a", said, date=AT), row("b", ["Oh"], date="2016-01-01"), row("c", ["Oh"]), row("d", ["Oh"])]
    corpus = built(tmp_path, articles)
    found = statistics(corpus).result()
    assert found.statistics.all.dates == DateStatistics(
        articles=0.5,
        comments=2 / 6,
        first_article="2016-01-01T00:00:00Z",
        last_article=AT,
        first_comment="2017-03-30T03:00:00Z",
        last_comment="2017-03-31T00:00:00Z",
    )
    table = {label: cells for label, *cells in table_2(found).grid()}
    assert (table["articles with a date"], table["… first article"]) == (["50.0 %"], ["2016-01-01"])
    assert (table["comments with a date"], table["… last comment"]) == (["33.3 %"], ["2017-03-31"])
    told = card(corpus.metadata, found)
    assert "| … last article | 2017-03-30 |" in told
    parts = {
        one["part"]: one["value"] for one in view(found).rows if one["split"] == "all" and one["statistic"] == "dates"
    }
    assert parts["last_article"] == AT
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=1))
    assert statistics(built(tmp_path, articles, "blocks")).result().statistics.all.dates == found.statistics.all.dates


def test_a_split_without_dates_beside_one_with(tmp_path: Path) -> None:
    test = written(tmp_path / "test.jsonl", [row("t", ["Oh"])])
    train = written(tmp_path / "train.jsonl", [row("a", ["Oh"], date=AT)])
    corpus = build_corpus([train], tmp_path / "out", loose(), test=test, jobs=1)
    found = statistics(corpus).result()
    assert found.statistics.splits["test"].dates is None
    table = {label: cells for label, *cells in table_2(found).grid()}
    assert (table["… first article"], table.get("… first comment")) == (["2017-03-30", "–", "2017-03-30"], None)


def split_up(folder: Path, articles: list[Row], name: str = "out", **changes: Any) -> Corpus:
    sizes: Row = {"dev": Share(size=6), "test": Share(size=4)}
    return built(folder, articles, name, split_by="date", **sizes | changes)


def test_a_split_by_date(tmp_path: Path) -> None:
    """Among 40 articles, one a day, the newest eligible ones are the test set; newer ineligible ones are left out."""
    articles = dated(40)
    for number in (39, 36):
        articles[number]["comments"] = articles[number]["comments"][:1]
    corpus = split_up(tmp_path, articles, test_min_comments=3, test_min_words=0)
    names = {split: sorted(found) for split, found in ids(corpus).items()}
    assert names["test"] == ["a034", "a035", "a037", "a038"]
    assert names["dev"] == [f"a{number:03d}" for number in range(28, 34)]
    assert names["train"] == [f"a{number:03d}" for number in range(28)]
    assert corpus.metadata.seen["articles: not eligible for the test set, but newer than its oldest article"] == 2
    assert corpus.metadata.options["split_by"] == "date"
    found = statistics(corpus).result()
    table = {label: cells for label, *cells in table_2(found).grid()}
    assert table["… last article"][:3] == ["2017-04-26", "2017-05-02", "2017-05-07"]
    assert table["… first article"][:3] == ["2017-03-30", "2017-04-27", "2017-05-03"]
    assert "| split by | date |" in card(corpus.metadata, found)


def test_the_same_split_by_date_whatever_the_jobs_and_the_order(tmp_path: Path) -> None:
    articles = dated(60)
    for article in articles:  # three days have twenty articles each
        article["date"] = article["date"] // (20 * 86400) * 20 * 86400
    one, again = split_up(tmp_path, articles, "one"), split_up(tmp_path, articles, "again")
    source = tmp_path / "one.jsonl"
    options = loose(split_by="date", dev=Share(size=6), test=Share(size=4))
    two = build_corpus([source], tmp_path / "two", options, jobs=2)
    assert files(one.path) == files(two.path)
    assert {name: data for name, data in files(one.path).items() if name.startswith("data")} == {
        name: data for name, data in files(again.path).items() if name.startswith("data")
    }
    back = split_up(tmp_path, articles[::-1], "back")
    assert {split: sorted(names) for split, names in ids(back).items()} == {
        split: sorted(names) for split, names in ids(one).items()
    }
    assert ids(split_up(tmp_path, articles, "seed", seed=7)) != ids(one)  # ties are broken by the seed and the id


def test_what_cannot_be_split_by_date(tmp_path: Path) -> None:
    articles = dated(20)
    del articles[3]["date"], articles[5]["date"]
    assert refused(InvalidInput, split_up, tmp_path, articles) == (
        f'{tmp_path}/out.jsonl:4: date: expected a date in every article for split_by="date", got none in 2 of 20 '
        "articles, first in 'a003'; remove them, or split at random"
    )
    given = written(tmp_path / "a.jsonl", dated(3))
    said = refused(UsageError, build_corpus, [given], tmp_path / "given", loose(split_by="date"), dev=given, jobs=1)
    assert said.endswith("leave out dev and test")
    articles = [*dated(1), *({**article, "comments": article["comments"][:1]} for article in dated(20)[1:])]
    with pytest.raises(InvalidInput, match="nothing is left for train: 19 articles are not eligible for the test set"):
        split_up(tmp_path, articles, "old", test=Share(size=1), test_min_comments=3, test_min_words=0)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2017-04..2017-08", "2017-04-01T00:00:00Z", "2017-08-31T23:59:59Z"),
        ("2017-04-02..2017-08-30", "2017-04-02T00:00:00Z", "2017-08-30T23:59:59Z"),
        ("2.4.2017..30.08.2017", "2017-04-02T00:00:00Z", "2017-08-30T23:59:59Z"),
        ("2017..2017", "2017-01-01T00:00:00Z", "2017-12-31T23:59:59Z"),
        ("..2016-02", "", "2016-02-29T23:59:59Z"),
        ("2017-04-01T08:00+08:00..", "2017-04-01T00:00:00Z", ""),
        ("2017-04-01 .. 2017-04-01T12:00", "2017-04-01T00:00:00Z", "2017-04-01T12:00:00Z"),
        ("1491004800..1504180799", "2017-04-01T00:00:00Z", "2017-08-31T11:59:59Z"),
    ],
)
def test_a_range_has_whole_years_months_and_days(text: str, first: str, last: str) -> None:
    found = DateRange.parse(text)
    assert (found.first, found.last) == (first, last)
    assert all(end in found for end in (first or "0001-01-01T00:00:00Z", last or "9999-12-31T23:59:59Z"))
    assert "" not in found


@pytest.mark.parametrize(
    "text",
    ["2017", "..", "2017-13..", "2017-04-31..", "April..May", "2018..2017", "2017-04..2017-03-31", "0000..", "1..2"],
)
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(UsageError, match=r"^dates: expected "):
        DateRange.parse(text)


def test_articles_of_other_dates_are_left_out_and_counted(tmp_path: Path) -> None:
    articles = dated(20)  # from March 30 to April 18
    del articles[5]["date"]
    corpus = built(tmp_path, articles, dates=DateRange.parse("2017-04..2017-04-10"))
    left = {article.date for article in corpus.articles("train")}
    assert (min(filter(None, left))[:10], max(filter(None, left))[:10], len(left)) == ("2017-04-01", "2017-04-10", 9)
    assert corpus.metadata.seen["articles: date not in 2017-04..2017-04-10"] == 10
    assert corpus.metadata.seen["articles: no date"] == 1
    assert corpus.metadata.options["dates"] == "2017-04..2017-04-10"
    assert "dates" not in built(tmp_path, articles, "all").metadata.options
    assert (
        built(tmp_path, articles, "open", dates=DateRange.parse("..2017-04-10")).metadata.seen["articles: no date"] == 1
    )
    with pytest.raises(InvalidInput, match=r"19 with date not in 1999\.\.1999, 1 with no date"):
        built(tmp_path, articles, "none", dates=DateRange.parse("1999..1999"))


def test_sets_that_are_given_keep_their_dates(tmp_path: Path) -> None:
    articles = dated(20)
    path, test = written(tmp_path / "train.jsonl", articles[:10]), written(tmp_path / "test.jsonl", articles[10:])
    options = loose(dates=DateRange.parse("..2017-04-02"))
    corpus = build_corpus([path], tmp_path / "out", options, test=test, jobs=1)
    assert {split: len(names) for split, names in ids(corpus).items()} == {"train": 4, "test": 10}
