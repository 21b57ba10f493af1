"""Thresholds that are chosen from the data: which, what is told, and that nothing else changes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_work import Row, files, ids, row, rows, written
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share
from postil.corpus.splits import LADDERS, article_thresholds, test_thresholds
from postil.errors import InvalidInput
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

FLAGS = "--min-content-words 30 --min-comments 3 --test-min-comments 5 --test-min-upvotes 0"
test_thresholds.__test__ = False  # type: ignore[attr-defined]  # pytest takes the name for a test


def site(**changes: Any) -> BuildOptions:
    return BuildOptions(source="a site", license="ours", **changes)


def build(folder: Path, articles: list[Row], out: str = "out", **changes: Any) -> tuple[Corpus, str]:
    said: list[str] = []
    path = written(folder / "rows.jsonl", articles)
    corpus = build_corpus([path], folder / out, site(**changes), jobs=1, on_message=said.append)
    return corpus, "\n".join(map(COMMAND_LINE.words, said))


def unvoted(count: int, **shape: int) -> list[Row]:
    """Articles of a site without votes, with as many as 7 comments."""
    return [
        {
            **each,
            "comments": [{k: v for k, v in one.items() if k != "upvotes"} for one in each["comments"]][: 3 + n % 5],
        }
        for n, each in enumerate(rows(count, comments=8, **shape))
    ]


def test_a_small_site_without_votes_gets_a_test_set(tmp_path: Path) -> None:
    corpus, said = build(tmp_path, unvoted(60))
    assert [size.articles for size in corpus.metadata.splits.values()] == [54, 3, 3]
    assert corpus.metadata.chosen == ("min_content_words", "min_comments", "test_min_comments", "test_min_upvotes")
    chosen = {name: corpus.metadata.options[name] for name in corpus.metadata.chosen}
    assert chosen == {"min_content_words": 30, "min_comments": 3, "test_min_comments": 5, "test_min_upvotes": 0}
    assert said.splitlines()[:2] == [
        f"thresholds chosen from the data: {FLAGS} (other values can be given)",
        "no comment has votes: test articles are chosen without them",
    ]
    assert "| min comments | 3 |" in (corpus.path / "README.md").read_text()


def test_what_was_chosen_gives_the_same_corpus_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the blocks are, and with articles that meet no threshold among the others."""
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=9_000))
    articles = unvoted(60)
    articles[7] |= {"comments": articles[7]["comments"][:1]}
    articles[9] |= {"content": "Oh."}
    articles[11] |= {"content": None, "lang": "de", "date": "2020-01-01"}
    articles[12] |= {"comments": []}
    articles[13] |= {"comments": [{"id": "x", "text": " ".join(["long"] * 51)}, *articles[13]["comments"]]}
    articles[20] |= {"title": articles[9]["title"], "content": "Oh."}  # near duplicates
    chosen, _ = build(tmp_path, articles, "chosen")
    options = {name: chosen.metadata.options[name] for name in chosen.metadata.chosen}
    given, said = build(tmp_path, articles, "given", **options)
    assert "thresholds" not in said
    assert chosen.metadata.seen == given.metadata.seen == {
        "articles: content too short": 2,
        "articles: fewer comments": 1,
        "articles: no comments": 1,
        "articles: no content": 1,
        "comments of articles left out": sum(len(articles[n]["comments"]) for n in (7, 9, 11, 20)),
        "comments: too long": 1,
    }  # fmt: skip
    assert chosen.metadata.langs == given.metadata.langs == ("en",)
    found = [files(corpus.path) for corpus in (chosen, given)]
    for each in found:
        each.pop("metadata.json")
    assert found[0] == found[1]


def test_votes_and_numbers_and_dates(tmp_path: Path) -> None:
    articles = rows(40, comments=30)
    options = build(tmp_path, articles, "votes")[0].metadata.options
    assert (options["min_comments"], options["test_min_comments"], options["test_min_upvotes"]) == (20, 20, 201)
    few = [{**each, "comments": [{**one, "upvotes": 1} for one in each["comments"]]} for each in articles]
    assert build(tmp_path, few, "few")[0].metadata.options["test_min_upvotes"] == 20
    some, _ = build(tmp_path, articles, "number", test=Share(size=30), test_min_comments=12)
    assert some.metadata.splits["test"].articles == 30
    assert some.metadata.chosen == ("min_content_words", "min_comments", "test_min_upvotes")
    with pytest.raises(
        InvalidInput, match="expected 30 articles for the test set, got 0: of 40 articles 0 have 29 com"
    ):
        build(tmp_path, articles, "none", test=Share(size=30), test_min_comments=29)
    dated = [{**each, "date": f"2020-01-{n % 28 + 1:02d}"} for n, each in enumerate(unvoted(60))]
    for name, date in (("random", None), ("date", "date")):
        found, _ = build(tmp_path, dated, name, split_by=date or "random")
        assert found.metadata.splits["test"].articles == 3
        assert found.metadata.options["test_min_comments"] == {"random": 5, "date": 3}[name]


def test_a_corpus_without_contents(tmp_path: Path) -> None:
    corpus, said = build(tmp_path, [{**each, "content": None} for each in unvoted(60)])
    assert "--min-content-words 0 " in said
    assert sum(size.articles for size in corpus.metadata.splits.values()) == 60


def test_no_threshold_is_chosen_for_given_sets(tmp_path: Path) -> None:
    small = [row("small", ["Oh"], content=None)]
    given = {name: written(tmp_path / f"{name}.jsonl", [{**small[0], "id": name}]) for name in ("dev", "test")}
    path = written(tmp_path / "rows.jsonl", unvoted(40))
    corpus = build_corpus([path], tmp_path / "out", site(), jobs=1, **given)
    assert ids(corpus)["test"] == ["test"]
    assert corpus.metadata.options["min_comments"] == 3


@given(
    comments=st.lists(st.integers(0, 60), min_size=1, max_size=300),
    copies=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_the_rule(comments: list[int], copies: int, seed: int) -> None:
    """Enough articles meet what is chosen, the next value would leave too few, and the order does not matter."""
    found = np.array(comments * copies)
    words = np.full(len(found), 99)
    least = article_thresholds(site(), words, found)["min_comments"]
    assert least in LADDERS["min_comments"]
    if np.count_nonzero(found >= 20) >= 1_000:
        assert least == 20
    else:
        assert (found >= least).mean() >= 0.9 or least == 1
        assert all((found >= more).mean() < 0.9 for more in LADDERS["min_comments"] if more > least)
    mixed = np.random.default_rng(seed).permutation(found)
    assert article_thresholds(site(), words, mixed)["min_comments"] == least
    votes = np.zeros(len(found))
    test = test_thresholds(site(), found, votes, np.arange(len(found)), wanted := round(0.05 * len(found)))
    assert test["test_min_upvotes"] == 0
    assert np.count_nonzero(found >= test["test_min_comments"]) >= min(2 * wanted, 1_000)
