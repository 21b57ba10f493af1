"""A corpus from rows: what stays, where it goes, and that nothing but the request decides it."""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_work import Row, built, decoded, files, ids, loose, row, rows, written

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share
from postil.corpus.result import CorpusMetadata, SplitSize
from postil.corpus.statistics import statistics
from postil.corpus.store import Corpus
from postil.corpus.view import card
from postil.errors import InvalidInput
from postil.text.tokenizers import tokenizer
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Field

FIELDS: tuple[Field, ...] = ("title", "content", "comments")
SIX = "six words make a comment long"
FIVE = "five words are not enough"


def said(count: int, text: str = "Indeed.", **fields: Any) -> list[Row]:
    return [{"text": text, **fields} for _ in range(count)]


def paper(folder: Path, articles: list[Row], **changes: Any) -> Corpus:
    """With the thresholds of the paper."""
    sizes: Row = {"dev": Share(size=0), "test": Share(size=0)}
    least: Row = {"min_content_words": 30, "min_comments": 20, "test_min_comments": 30, "test_min_upvotes": 201}
    options = BuildOptions(source="a site", license="ours", **sizes | least | changes)
    return build_corpus([written(folder / "rows.jsonl", articles)], folder / "out", options, jobs=1)


def words(count: int, stem: str = "w") -> str:
    return " ".join(f"{stem}{number}" for number in range(count))


THRESHOLDS = [
    row("stays", said(20)),  # 30 words of content and 20 comments
    row("thin", said(20), content=words(29, "thin")),
    row("bare", said(20), content=None),
    row("blank", said(20), content=" \n"),  # no content either
    row("quiet", said(19)),
    row("mute", [*said(19), {"text": " \t "}]),  # a comment without text is none
    row("silent", []),
    row("wordy", [*said(18), {"text": words(50)}, {"text": words(51)}]),  # 51 words are too many; 20 came
    row("verbose", said(20, words(51))),
]


def test_the_thresholds_of_the_paper_at_their_borders(tmp_path: Path) -> None:
    corpus = paper(tmp_path, THRESHOLDS)
    assert ids(corpus) == {"train": ["stays", "wordy"]}
    assert [len(article.comments) for article in corpus.articles("train")] == [20, 19]
    assert corpus.metadata.seen == {
        "articles: content too short": 1,  # thin
        "articles: fewer comments": 2,  # quiet, mute
        "articles: no comments": 1,  # silent
        "articles: no content": 2,  # bare, blank
        "articles: only long comments": 1,  # verbose
        "comments of articles left out": 20 + 20 + 20 + 19 + 19 + 20,
        "comments without text": 1,  # mute
        "comments: too long": 1,  # wordy
    }
    assert corpus.metadata.splits["train"] == SplitSize(articles=2, comments=39, files=1)


def test_thresholds_are_options(tmp_path: Path) -> None:
    corpus = paper(tmp_path, THRESHOLDS, min_content_words=0, min_comments=19, max_comment_words=51)
    assert ids(corpus)["train"] == ["stays", "thin", "bare", "blank", "quiet", "mute", "wordy", "verbose"]
    assert [article.content for article in corpus.articles("train")][2:4] == [None, None]


@pytest.mark.parametrize(
    ("fate", "comments", "tokens"),
    [("drop", 1, [50]), ("truncate", 2, [50, 50]), ("truncate-train", 2, [50, 50]), ("keep", 2, [50, 51])],
)
def test_what_becomes_of_long_comments(tmp_path: Path, fate: str, comments: int, tokens: list[int]) -> None:
    corpus = built(tmp_path, [row("a", [words(50), words(51)])], long_comments=fate)
    (article,) = corpus.articles("train")
    assert [len(text) for text in decoded(corpus, "train", "comments")] == tokens
    assert [comment.text for comment in article.comments] == [words(50), words(51)][:comments]  # never cut
    assert corpus.starts("train").tolist() == [0, comments]


@pytest.mark.parametrize("drawn", [0, 2])
def test_long_comments_of_the_test_set_are_dropped_and_others_truncated(tmp_path: Path, drawn: int) -> None:
    """They are neither references nor held out, nor are their words known; conditions of the test set see none."""
    said = [{"text": words(3, name), "upvotes": 1} for name in "xyz"]
    articles = [
        row("test", [*said, {"text": words(51, "long"), "upvotes": 9}]),
        row("disliked", [*said[:2], {"text": words(51), "upvotes": 9}]),
        row("wordy", [{"text": words(51, name), "upvotes": 9} for name in "abc"]),
        row("other", [*said[:1], {"text": words(60, "w"), "upvotes": 1}]),
    ]
    options: Row = {"test_min_upvotes": 3, "test_min_words": 3, "references_per_article": drawn}
    how: Row = {"long_comments": "truncate-train", "test": Share(size=1), **options}
    corpus = built(tmp_path, articles, **how)
    assert ids(corpus) == {"train": ["disliked", "wordy", "other"], "test": ["test"]}
    (article,) = corpus.articles("test")
    kept = [*article.comments, *(article.held_out or ())]
    assert sorted(comment.text for comment in kept) == sorted(each["text"] for each in said)
    assert len(article.comments) == (drawn or 3)
    assert not any(word.startswith("long") for word in corpus.words())
    assert [len(text) for text in decoded(corpus, "train", "comments")] == [3, 3, 50, 50, 50, 50, 3, 50]
    assert max(len(comment.text.split()) for each in corpus.articles("train") for comment in each.comments) == 60
    assert corpus.metadata.seen == {"comments: too long for the test set": 1}
    assert corpus.metadata.options["long_comments"] == "truncate-train"
    assert "| long comments | truncate-train |" in (corpus.path / "README.md").read_text()
    dropped = built(tmp_path, articles, "drop", **how | {"long_comments": "drop"})
    assert list(dropped.articles("test")) == [article]


def test_an_article_of_long_comments_alone_is_no_test_article(tmp_path: Path) -> None:
    articles = [row(name, [words(51)]) for name in "abcdef"]
    how: Row = {"long_comments": "truncate-train", "test": Share(fraction=0.5)}
    with pytest.raises(InvalidInput, match="expected 4 articles for the test set, got 0: of 7 articles 0 have 0"):
        built(tmp_path, [*articles, row("g", [words(51)])], "none", **how)
    assert ids(built(tmp_path, [*articles, row("short", ["Oh"])], **how))["test"] == ["short"]


def test_a_given_test_set_keeps_its_long_comments_where_train_is_truncated(tmp_path: Path) -> None:
    given = {name: written(tmp_path / f"{name}.jsonl", [row(name, [words(51)])]) for name in ("train", "dev", "test")}
    options = loose(long_comments="truncate-train")
    corpus = build_corpus([given["train"]], tmp_path / "out", options, dev=given["dev"], test=given["test"], jobs=1)
    sizes = {split: [len(text) for text in decoded(corpus, split, "comments")] for split in corpus.splits}
    assert sizes == {"train": [50], "dev": [50], "test": [51]}


def test_who_may_be_in_the_test_set(tmp_path: Path) -> None:
    """At least 30 comments of more than five words, and over 200 upvotes in all."""
    ten = [{"text": SIX, "upvotes": 10}] * 20  # 200 upvotes
    articles = [
        row("loved", [*ten, *said(9, SIX), {"text": SIX, "upvotes": 1}]),  # 30 long comments, 201 upvotes
        row("nearly", [*ten, *said(10, SIX)]),  # 200 upvotes
        row("short", [*ten, *said(9, SIX), {"text": FIVE, "upvotes": 9}]),  # 29 long comments
        row("disliked", [*ten, *said(9, SIX), {"text": SIX, "upvotes": 9}, {"text": FIVE, "upvotes": -9}]),  # 200
        row("unvoted", said(30, SIX)),
    ]
    corpus = paper(tmp_path, articles, test=Share(size=1))
    assert ids(corpus) == {"train": ["nearly", "short", "disliked", "unvoted"], "test": ["loved"]}
    assert refused(
        InvalidInput, built, tmp_path, articles, "more", test=Share(size=2), test_min_comments=30, test_min_upvotes=201
    ).endswith(
        "more.jsonl: expected 2 articles for the test set, got 1: of 5 articles 4 have 30 comments of 6 words or more, "
        "2 have 201 upvotes in all; lower the thresholds (test_min_comments, test_min_words, test_min_upvotes=0 "
        "for none) or the size (test)"
    )


def test_votes_that_are_huge_do_not_drown_those_of_the_next_article(tmp_path: Path) -> None:
    articles = [row("huge", [{"text": SIX, "upvotes": 2**62}] * 3), row("next", [{"text": SIX, "upvotes": 67}] * 3)]
    corpus = built(tmp_path, [*articles, row("rest", ["x"])], test=Share(size=2), test_min_upvotes=201)
    assert sorted(ids(corpus)["test"]) == ["huge", "next"]
    assert max(comment.upvotes or 0 for article in corpus.articles("test") for comment in article.comments) == 2**62


def test_references_are_drawn_and_the_rest_held_out(tmp_path: Path) -> None:
    told = [{"id": f"c{place}", "text": f"{SIX} {place}", "upvotes": 10, "grade": place / 10} for place in range(40)]
    corpus = paper(tmp_path, [row("a", said(20)), row("b", told)], test=Share(size=1))
    (article,) = corpus.articles("test")
    assert (len(article.comments), len(article.held_out or ())) == (27, 13)
    places = [int(comment.id[1:]) for comment in article.comments]
    rest = [int(comment.id[1:]) for comment in article.held_out or ()]
    assert places == sorted(places)  # in their order
    assert rest == sorted(rest)
    assert sorted(places + rest) == list(range(40))
    assert places != list(range(27))  # drawn, not the first
    for comment in (*article.comments, *(article.held_out or ())):
        place = int(comment.id[1:])
        assert (comment.text, comment.upvotes, comment.grade) == (f"{SIX} {place}", 10, place / 10)
    assert decoded(corpus, "test", "comments") == [[*SIX.split(), str(place)] for place in places]  # references alone
    assert corpus.metadata.splits["test"] == SplitSize(articles=1, comments=27, files=1)


@pytest.mark.parametrize(("draw_from", "drawn"), [("all", 8), ("long", 5)])
def test_references_may_be_drawn_from_long_comments_alone(tmp_path: Path, draw_from: str, drawn: int) -> None:
    told = [{"text": SIX if place % 2 else FIVE} for place in range(10)]
    changes: dict[str, Any] = {"test_min_comments": 5, "references_per_article": 8, "sample_references_from": draw_from}
    corpus = built(tmp_path, [row("a", ["x"]), row("b", told)], test=Share(size=1), **changes)
    (article,) = corpus.articles("test")
    assert article.id == "b"
    assert (len(article.comments), len(article.held_out or ())) == (drawn, 10 - drawn)
    if draw_from == "long":
        assert {comment.text for comment in article.comments} == {SIX}
    corpus = built(tmp_path, [row("a", ["x"]), row("b", told)], "all", test=Share(size=1), references_per_article=0)
    assert [article.held_out for split in corpus.splits for article in corpus.articles(split)] == [(), ()]


def test_words_are_numbered_by_how_often_train_has_them(tmp_path: Path) -> None:
    said = [{"id": 1, "text": "A b"}, {"id": 2, "text": "d!"}]
    train = {"id": "t", "title": "B a", "content": "b c c", "comments": said}
    tested = {"id": "e", "title": "z d", "content": "y", "comments": [{"id": 1, "text": "Z x c"}]}
    test = written(tmp_path / "test.jsonl", [tested])
    corpus = build_corpus([written(tmp_path / "a.jsonl", [train])], tmp_path / "out", loose(), test=test, jobs=1)
    # In train: b 3 times, a and c twice (a before c), d once. Of test alone: x, y, z, by the alphabet, never counted.
    assert corpus.words() == ["b", "a", "c", "d", "x", "y", "z"]
    assert corpus.counts().tolist() == [3, 2, 2, 1, 0, 0, 0]
    assert (tmp_path / "out" / "words.txt").read_text() == "b\na\nc\nd\nx\ny\nz\n"
    assert corpus.tokens("train", "comments").ids.tolist() == [1, 0, 3]
    assert corpus.tokens("train", "comments").offsets.tolist() == [0, 2, 3]
    assert corpus.tokens("test", "title").ids.tolist() == [6, 3]
    assert corpus.metadata.words == 7


@pytest.mark.parametrize("name", ["words", "space", "characters", "13a", "ptb", "jieba", "rjieba"])
def test_token_arrays_hold_every_word_of_every_text(tmp_path: Path, name: str) -> None:
    if "jieba" in name:
        pytest.importorskip(name)
    articles = rows(30)
    articles[3] |= {"title": "", "content": "I said: “No.” It's 5 o'clock\tAna!\u2028Ünder\x85Straße"}
    articles[4] |= {"content": None}
    if name != "words":
        articles[5] |= {"title": "今天天气很好，适合出去玩。"}
    corpus = built(tmp_path, articles, tokenizer=name, dev=Share(size=5), test=Share(size=5))
    cut = tokenizer(name).split
    for split in corpus.splits:
        found = list(corpus.articles(split))
        assert decoded(corpus, split, "title") == [cut(article.title) for article in found]
        assert decoded(corpus, split, "content") == [cut(article.content or "") for article in found]
        assert decoded(corpus, split, "comments") == [cut(each.text) for article in found for each in article.comments]
        assert corpus.starts(split).tolist() == [
            sum(len(article.comments) for article in found[:place]) for place in range(len(found) + 1)
        ]
    counts = Counter(word for field in FIELDS for text in decoded(corpus, "train", field) for word in text)
    assert dict(zip(corpus.words(), corpus.counts().tolist(), strict=True)) == {
        word: counts[word] for word in corpus.words()
    }
    assert sum(map(len, ids(corpus).values())) == 30


def test_rows_come_out_as_they_went_in(tmp_path: Path) -> None:
    full = row("ä", [{"id": 7, "text": " Ja.\n\nNein. ", "upvotes": -5, "grade": 4.5, "user": 12,
                      "ratings": [{"annotator": "ann", "grade": 4}, {"annotator": 2, "grade": 5}]}],
               title=" T\x00\x07i\ttle\x7f ", category="news", lang="de", url="http://a.b/c")  # fmt: skip
    corpus = built(tmp_path, [full, row("b", ["x"])], user_ids="keep")
    article, other = corpus.articles("train")
    assert (article.id, article.title, article.category, article.lang, article.url) == (
        "ä", "T  i\ttle", "news", "de", "http://a.b/c",
    )  # fmt: skip
    (comment,) = article.comments
    found = comment.id, comment.text, comment.upvotes, comment.grade, comment.user
    assert found == ("7", "Ja.\n\nNein.", -5, 4.5, "12")
    assert [(rating.annotator, rating.grade) for rating in comment.ratings] == [("ann", 4.0), ("2", 5.0)]
    assert (other.category, other.lang, other.url, other.comments[0].upvotes) == (None, None, None, None)


def test_texts_without_words_are_kept(tmp_path: Path) -> None:
    nothing = [{"id": number, "title": "", "comments": [{"id": 1, "text": "!?"}]} for number in range(3)]
    corpus = built(tmp_path, nothing)
    assert ids(corpus) == {"train": ["0", "1", "2"]}
    assert corpus.words() == []
    assert corpus.counts().tolist() == []
    for field in FIELDS:
        assert corpus.tokens("train", field).offsets.tolist() == [0, 0, 0, 0]
        assert corpus.tokens("train", field).ids.tolist() == []


def cut_at(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=size))


SPLITS = {"dev": Share(size=8), "test": Share(size=8)}


def test_the_same_bytes_whatever_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_at(monkeypatch, 8_000)
    path = written(tmp_path / "a.jsonl", rows(36))
    folders = []
    for jobs in (1, 2):
        build_corpus([path], tmp_path / str(jobs), loose(**SPLITS), jobs=jobs)
        folders.append(files(tmp_path / str(jobs)))
    assert folders[0] == folders[1]
    assert sum(name.startswith("data/train") for name in folders[0]) > 1
    assert not [path for path in tmp_path.iterdir() if path.name.endswith("building")]


@pytest.mark.parametrize("size", [1, 5_000, 50_000])
def test_the_same_articles_whatever_the_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    articles = rows(36)
    articles[7]["title"] = "a bell \x07 and a line \x7f"  # what only some blocks have
    articles[30] |= {"id": "twin", "title": articles[3]["title"], "content": articles[3]["content"]}
    whole = built(tmp_path, articles, "whole", **SPLITS)
    cut_at(monkeypatch, size)
    cut = built(tmp_path, articles, "cut", **SPLITS)
    for split in whole.splits:
        assert list(cut.articles(split)) == list(whole.articles(split))
    one, other = files(tmp_path / "whole"), files(tmp_path / "cut")
    arrays = {name for name in one if not name.startswith(("data/", "metadata.json", "README"))}
    assert {name: other[name] for name in arrays} == {name: one[name] for name in arrays}
    assert {name for name in other if not name.startswith("data/")} == {*arrays, "metadata.json", "README.md"}
    same = ("options", "langs", "seen", "words", "tokenizer")
    assert [getattr(cut.metadata, name) for name in same] == [getattr(whole.metadata, name) for name in same]


def test_the_order_and_the_files_of_the_input_decide_nothing_but_the_order(tmp_path: Path) -> None:
    articles = rows(36)
    one = built(tmp_path, articles, "one", **SPLITS)
    other = built(tmp_path, articles[::-1], "other", **SPLITS)
    for split in one.splits:
        assert list(other.articles(split)) == list(one.articles(split))[::-1]
    assert one.words() == other.words()
    parts = [written(tmp_path / "x.jsonl", articles[:10]), written(tmp_path / "y.jsonl", articles[10:])]
    other = build_corpus(parts, tmp_path / "several", loose(**SPLITS), jobs=1)
    for split in one.splits:
        assert list(other.articles(split)) == list(one.articles(split))
    assert [each.name for each in other.metadata.inputs] == ["x.jsonl", "y.jsonl"]


def test_seeds_draw_otherwise(tmp_path: Path) -> None:
    articles = rows(36)
    drawn = [ids(built(tmp_path, articles, str(seed), **SPLITS, seed=seed)) for seed in (1, 2, 3)]
    assert len({tuple(each["test"]) for each in drawn}) == 3
    assert len({tuple(each["dev"]) for each in drawn}) == 3
    references = []
    for seed in (1, 2):
        changes: dict[str, Any] = {"test_min_comments": 9, "test_min_words": 2, "references_per_article": 4}
        articles = [row("a", ["x"]), row("b", [f"y {k}" for k in range(9)])]
        corpus = built(tmp_path, articles, f"draw{seed}", test=Share(size=1), seed=seed, **changes)
        references.append([comment.id for article in corpus.articles("test") for comment in article.comments])
    assert references[0] != references[1]


def near(article: Row, name: str) -> Row:
    """The same but for a word in forty."""
    said = article["content"].split()
    return article | {"id": name, "content": " ".join([*said[:-1], "otherwise"])}


@pytest.mark.parametrize("change", [near, lambda article, name: article | {"id": name}])
def test_near_duplicates_do_not_straddle(tmp_path: Path, change: Any) -> None:
    articles = rows(40)
    copies = [change(article, f"{article['id']} again") for article in articles]
    corpus = built(tmp_path, articles + copies, dev=Share(size=12), test=Share(size=10))
    found = {split: Counter(name.removesuffix(" again") for name in names) for split, names in ids(corpus).items()}
    # One of a pair may be in test, and the other is left out; dev and train have both.
    assert {split: Counter(count.values()) for split, count in found.items()} == {
        "train": {2: 24}, "dev": {2: 6}, "test": {1: 10},
    }  # fmt: skip
    assert len({*found["train"], *found["dev"], *found["test"]}) == 40
    assert corpus.metadata.seen == {"articles: near duplicates of test articles": 10}


def test_sizes_of_sets_of_articles_that_are_alike(tmp_path: Path) -> None:
    (article,) = rows(1)
    twins = [article | {"id": f"t{number}"} for number in range(10)]
    corpus = built(tmp_path, twins, "let be", dedup_threshold=0.0, dev=Share(size=3), test=Share(size=3))
    assert [len(names) for names in ids(corpus).values()] == [4, 3, 3]
    # Groups that do not fit into dev stay whole in train.
    corpus = built(tmp_path, [*twins[:5], *rows(3, seed=1)], "groups", dev=Share(size=3))
    assert sorted(ids(corpus)["train"]) == [f"t{number}" for number in range(5)]
    # Test takes what it can of a fraction.
    articles = [*rows(9, comments=1), row("loved", ["x", "y"])]
    corpus = built(tmp_path, articles, "part", test=Share(fraction=0.5), test_min_comments=2, test_min_words=1)
    assert ids(corpus)["test"] == ["loved"]


class TestGivenSplits:
    def corpus(self, folder: Path, **changes: Any) -> Corpus:
        articles = rows(30, comments=6)
        dev = written(folder / "dev.jsonl", [articles[0], articles[1], near(articles[4], "near-test")])
        test = written(folder / "test.jsonl", articles[3:6])
        train = [*articles[6:], near(articles[0], "near-dev"), near(articles[3], "near-given")]
        options = loose(**{"test": Share(size=7), "dev": Share(size=7)} | changes)
        return build_corpus([written(folder / "a.jsonl", train)], folder / "out", options, dev=dev, test=test, jobs=1)

    def test_they_stay_as_they_are(self, tmp_path: Path) -> None:
        corpus = self.corpus(tmp_path)
        assert ids(corpus) == {
            "train": [f"a{number:03d}" for number in range(6, 30)],  # and nothing is drawn from it
            "dev": ["a000", "a001"],
            "test": ["a003", "a004", "a005"],
        }
        assert [(len(article.comments), article.held_out) for article in corpus.articles("test")] == [(6, ())] * 3
        assert corpus.metadata.seen == {
            "articles: near duplicates of given dev articles": 1,
            "articles: near duplicates of given test articles": 2,
        }
        assert [(each.name, each.split) for each in corpus.metadata.inputs] == [
            ("a.jsonl", None), ("dev.jsonl", "dev"), ("test.jsonl", "test"),
        ]  # fmt: skip

    def test_they_need_one_comment_only(self, tmp_path: Path) -> None:
        corpus = self.corpus(tmp_path, min_comments=6)
        assert len(ids(corpus)["train"]) == 24
        dev = written(tmp_path / "few.jsonl", [row("few", ["x"])])
        other = build_corpus([tmp_path / "a.jsonl"], tmp_path / "b", loose(min_comments=6), dev=dev, jobs=1)
        assert ids(other)["dev"] == ["few"]

    def test_an_id_may_come_once_only(self, tmp_path: Path) -> None:
        one, other = (written(tmp_path / f"{name}.jsonl", rows(3)) for name in ("one", "other"))
        said = refused(InvalidInput, build_corpus, [one], tmp_path / "out", loose(), test=other, jobs=1)
        problem = f"id: expected an id that no other article has, got 'a000', as in {one}:1"
        assert said == f"{other}:1: {problem}"

    def test_given_articles_stay_as_they_are(self, tmp_path: Path) -> None:
        long = " ".join(["word"] * 60)
        path = written(tmp_path / "a.jsonl", rows(6))
        test = written(tmp_path / "test.jsonl", [row("t", ["x", long], content="short", title="Short")])
        corpus = build_corpus(
            [path], tmp_path / "out", loose(min_content_words=30, max_comment_words=50), test=test, jobs=1
        )
        (article,) = corpus.articles("test")
        assert [comment.text for comment in article.comments] == ["x", long]
        assert np.diff(corpus.tokens("test", "comments").offsets).tolist() == [1, 60]

    @pytest.mark.parametrize("share", ["0.5", "3"])
    def test_what_is_like_given_articles_is_not_drawn(self, tmp_path: Path, share: str) -> None:
        articles = rows(6)
        dev = written(tmp_path / "dev.jsonl", [near(article, f"d{k}") for k, article in enumerate(articles[:4])])
        path = written(tmp_path / "a.jsonl", articles)
        if share == "3":
            with pytest.raises(InvalidInput, match="expected 3 articles for the test set, got"):
                build_corpus([path], tmp_path / "out", loose(test=Share.parse(share)), dev=dev, jobs=1)
        else:
            with pytest.raises(InvalidInput, match="nothing is left for train"):
                build_corpus([path], tmp_path / "out", loose(test=Share.parse(share)), dev=dev, jobs=1)


class TestTooLittle:
    def test_dev_and_test_take_all(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="dev and test take all 4 articles; nothing is left for train"):
            built(tmp_path, rows(4), dev=Share(size=2), test=Share(size=2))

    def test_nothing_meets_the_thresholds(self, tmp_path: Path) -> None:
        why = r"no article meets the thresholds \(1 with content too short, 2 with fewer comments\); see min_content"
        with pytest.raises(InvalidInput, match=why):
            built(
                tmp_path, [row("a", ["x"]), row("b", ["x"]), row("c", ["x", "y"])], min_comments=2, min_content_words=31
            )

    def test_no_line_can_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"out.jsonl: no row can be read; line 1: not JSON"):
            built(tmp_path, ["nonsense", "more"], on_error="skip")


def test_metadata_of_a_build(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(10, comments=2), dev=Share(fraction=0.1), mask=("urls",))
    text = (tmp_path / "out" / "metadata.json").read_text()
    found = json.loads(text)
    assert json.dumps(found, ensure_ascii=False, indent=1) + "\n" == text
    empty = ("chosen", "forgotten", "ratings")  # all options are given, nothing is erased, ratings are of the rows
    names = [name for name in CorpusMetadata.__struct_fields__[1:] if name not in empty]
    assert list(found) == ["kind", *names]
    assert Corpus.open(tmp_path / "out").metadata == corpus.metadata
    assert found["options"] | {"dev": "0.1", "test": "0", "mask": ["urls"], "source": "a site"} == found["options"]
    assert not {"hash_key", "on_error"} & found["options"].keys()
    (read,) = found["inputs"]
    assert read["bytes"] == (tmp_path / "out.jsonl").stat().st_size
    assert corpus.metadata.origin == {"inputs": [read], "options": found["options"]}
    assert found["splits"]["test"] == {"articles": 0, "comments": 0, "files": 0}
    assert corpus.splits == ("train", "dev")


def test_the_card_of_a_build(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(30), dev=Share(size=6), test=Share(size=5))
    text = (tmp_path / "out" / "README.md").read_text()
    assert text == card(corpus.metadata, statistics(corpus).result())
    (file,) = corpus.metadata.inputs
    assert f"| out.jsonl |  | {(tmp_path / 'out.jsonl').stat().st_size:,} | `{file.blake2b}` |" in text.splitlines()
    assert "hash key" not in text
