"""Splits of a corpus, and thresholds that are chosen from the data."""

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
from postil.corpus.splits import (
    EXCLUDED,
    LADDERS,
    LATER,
    UNASSIGNED,
    article_thresholds,
    split_articles,
    split_by_date,
    test_thresholds,
)
from postil.data.fields import draw_key
from postil.errors import InvalidInput, UsageError
from postil.messages import COMMAND_LINE
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus

TRAIN, DEV, TEST = range(3)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("7", 7), ("0.05", 50), ("0.0005", 0), ("0.0015", 2), ("0.", 0), (".5", 500)]
)
def test_sizes_and_fractions(text: str, size: int) -> None:
    assert Share.parse(text).of(1000) == size
    assert [str(Share.parse(each)) for each in ("5000", "0.05", "0")] == ["5000", "0.05", "0"]


@pytest.mark.parametrize("text", ["", "-1", "1.0", "1.5", "-0.1", "nan", "inf", "1e3", "5%", "many"])
def test_what_is_neither(text: str) -> None:
    said = refused(UsageError, Share.parse, text)
    assert said == f"expected a number of articles such as 5000, or a fraction such as 0.05, got '{text}'"


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[bool]]:
    count = draw(st.integers(1, 30))
    several = {"min_size": count, "max_size": count}
    return (
        draw(st.permutations(range(count))),
        draw(st.lists(st.integers(0, 12), **several)),
        draw(st.lists(st.sampled_from([UNASSIGNED, UNASSIGNED, UNASSIGNED, TRAIN, DEV, TEST, EXCLUDED]), **several)),
        draw(st.lists(st.booleans(), **several)),
    )


@given(requests(), st.integers(0, 8), st.integers(0, 8))
def test_laws(request: tuple[list[int], list[int], list[int], list[bool]], dev: int, test: int) -> None:
    keys, groups, told = (np.array(values) for values in request[:3])
    able = np.array(request[3])
    taken = set(groups[told >= 0].tolist())
    free = {group for group, can, given in zip(groups, able, told, strict=True) if can and given == UNASSIGNED} - taken
    arguments = keys.astype(np.uint64), groups, told.astype(np.int8), able
    if test > len(free):
        with pytest.raises(UsageError, match=f"test: expected {test} eligible articles, got {len(free)}"):
            split_articles(*arguments, dev=dev, test=test)
        return
    split = split_articles(*arguments, dev=dev, test=test)
    codes = split.codes
    assert not (codes == UNASSIGNED).any()
    for group in set(groups.tolist()):  # no group straddles
        assert len(set(codes[(groups == group) & (codes != EXCLUDED)].tolist())) <= 1
    drawn = (told == UNASSIGNED) & (codes == TEST)
    assert drawn.sum() == test
    assert able[drawn].all()
    assert len(set(groups[drawn].tolist())) == test  # one of a group
    assert ((told == UNASSIGNED) & (codes == DEV)).sum() <= dev
    assert (codes[told == TEST] == TEST).all()  # what is given stays, unless it is like what is given for a later split
    assert np.isin(codes[told == DEV], [DEV, EXCLUDED]).all()
    assert (codes[told == EXCLUDED] == EXCLUDED).all()
    assert sum(split.excluded.values()) == (codes == EXCLUDED).sum() - (told == EXCLUDED).sum()


@given(st.permutations(range(20)), st.integers(0, 5), st.integers(0, 5), st.integers(0, 19))
def test_an_article_more_moves_at_most_one_a_set(keys: list[int], dev: int, test: int, new: int) -> None:
    """Without near duplicates one leaves test, for dev or train; one leaves dev, for train."""

    def drawn(articles: list[int]) -> list[set[int]]:
        count = len(articles)
        codes = split_articles(
            np.array([keys[article] for article in articles], dtype=np.uint64), np.arange(count),
            np.full(count, UNASSIGNED, dtype=np.int8), np.ones(count, dtype=bool), dev=dev, test=test,
        ).codes  # fmt: skip
        return [{article for article, code in zip(articles, codes, strict=True) if code == split} for split in range(3)]

    few, many = drawn([article for article in range(20) if article != new]), drawn(list(range(20)))
    for split in (TEST, DEV):
        assert len(few[split] - many[split]) <= 1
    assert few[TRAIN] <= many[TRAIN]


@given(st.integers(0, 10**6))
def test_the_order_of_the_input_does_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 40
    keys = random.permutation(count).astype(np.uint64)
    groups, able = random.integers(0, 25, count), random.random(count) < 0.5
    told = np.full(count, UNASSIGNED, dtype=np.int8)
    order = random.permutation(count)
    one = split_articles(keys, groups, told, able, dev=6, test=3).codes
    other = split_articles(keys[order], groups[order], told, able[order], dev=6, test=3).codes
    assert other.tolist() == one[order].tolist()
    names = ("a",), ("b",), ("a", "b"), ("ab",), ("\ud800",)
    drawn = [draw_key(key, *name) for key in (1, 2) for name in names]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= key < 2**64 for key in drawn)


@given(requests(), st.lists(st.integers(0, 9), min_size=30, max_size=30), st.integers(0, 8), st.integers(0, 8))
def test_laws_of_a_split_by_date(
    request: tuple[list[int], list[int], list[int], list[bool]], days: list[int], dev: int, test: int
) -> None:
    keys, groups, told = (np.array(values) for values in request[:3])
    able, times = np.array(request[3]), np.array(days[: len(keys)])
    told = np.where(told == EXCLUDED, EXCLUDED, UNASSIGNED).astype(np.int8)
    test = min(test, len(set(groups[able & (told == UNASSIGNED)].tolist())))
    found = split_by_date(times, keys.astype(np.uint64), groups, told, able, dev=dev, test=test)
    codes = found.codes
    at = {split: times[codes == split] for split in (TRAIN, DEV, TEST)}
    for older, newer in ((TRAIN, DEV), (TRAIN, TEST), (DEV, TEST)):
        if len(at[older]) and len(at[newer]):
            assert at[older].max() <= at[newer].min()
        assert not set(groups[codes == older]) & set(groups[codes == newer])
    assert len(at[TEST]) == test
    assert len(set(groups[codes == TEST].tolist())) == test
    assert able[codes == TEST].all()
    assert len(at[DEV]) == dev or not len(at[TRAIN])
    assert (codes[told == EXCLUDED] == EXCLUDED).all()
    assert sum(found.excluded.values()) == ((codes == EXCLUDED) & (told == UNASSIGNED)).sum()
    if test:  # what is eligible and no near duplicate is never left out for its date
        later = (codes == EXCLUDED) & (told == UNASSIGNED) & (times > at[TEST].min())
        assert found.excluded.get(LATER, 0) <= (later & ~able).sum()


DATED = [
    # ties go by key; the newest are test
    (
        [3, 1, 2, 3, 2, 1],
        [9, 8, 7, 6, 5, 4],
        [0, 1, 2, 3, 4, 5],
        [1] * 6,
        (2, 1),
        [DEV, TRAIN, TRAIN, TEST, DEV, TRAIN],
    ),
    # a group has the date of its newest article
    ([6, 5, 4, 3, 2, 1], range(6), [0, 1, 1, 0, 2, 1], [1] * 6, (2, 1), [TEST, DEV, DEV, EXCLUDED, TRAIN, EXCLUDED]),
    # what may not be test is no train article of its time
    ([6, 5, 4, 4, 2, 1], range(6), range(6), [0, 1, 0, 1, 0, 1], (1, 2), [EXCLUDED, TEST, DEV, TEST, TRAIN, TRAIN]),
]
REASONS: list[dict[str, int]] = [
    {}, {"near duplicates of test articles": 1, "near duplicates of dev articles": 1}, {LATER: 1}
]  # fmt: skip


@pytest.mark.parametrize("case", range(3), ids=["ties", "groups", "not eligible"])
def test_splits_by_date(case: int) -> None:
    times, keys, groups, able, (dev, test), codes = DATED[case]
    arrays = np.array(times), np.array(keys, np.uint64), np.array(groups), np.full(6, UNASSIGNED, np.int8)
    found = split_by_date(*arrays, np.array(able, bool), dev=dev, test=test)
    assert (found.codes.tolist(), found.excluded) == (codes, REASONS[case])


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
