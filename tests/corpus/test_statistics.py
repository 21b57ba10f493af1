"""The statistics of a corpus: worked out by hand, summed up anywhere, absent where there is nothing, on the card."""

from __future__ import annotations

import functools
import pickle
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_work import Row, built, loose, rows, written
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from postil.corpus import blocks as cutting
from postil.corpus import passes
from postil.corpus.build import Source, build
from postil.corpus.options import Share
from postil.corpus.result import (
    CorpusInput,
    CorpusMetadata,
    CorpusStatistics,
    SplitSize,
    SplitStatistics,
    Spread,
    StatisticsResult,
    StatisticsSettings,
)
from postil.corpus.statistics import ALL, Histogram, Summary, statistics
from postil.corpus.view import card, percent, table_2
from postil.data.grades import Scale
from postil.engine import open_engine
from postil.errors import InvalidInput
from postil.results.numbers import DASH

if TYPE_CHECKING:
    from pathlib import Path

    from postil.corpus.store import Corpus


FIVE, FOUR = {"annotator": "ann", "grade": 5}, {"annotator": "bo", "grade": 4}

# In train a and b come 4 times each, c, d, z and é once: the 2 words that models know are a and b.
SAID: list[Row] = [
    {"id": "1", "text": "a a", "upvotes": 3}, {"id": "2", "text": "b", "upvotes": 0}, {"id": "3", "text": "é"},
]  # fmt: skip
RATED: list[Row] = [
    {"id": "1", "text": "a q q", "upvotes": 10, "ratings": [FIVE, FOUR]}, {"id": "2", "text": "b", "grade": 2},
]  # fmt: skip
TRAIN: list[Row] = [
    {"id": "a1", "title": "a b", "content": "a b c d", "category": "news", "comments": SAID},
    {"id": "a2", "title": "b", "comments": [{"id": "1", "text": "z", "upvotes": -2}]},
]
TEST: list[Row] = [{"id": "t1", "title": "a q", "content": " ", "category": "sport", "comments": RATED}]


@pytest.fixture
def tiny(tmp_path: Path) -> Corpus:
    sources = [Source(written(tmp_path / "train.jsonl", TRAIN)), Source(written(tmp_path / "test.jsonl", TEST), "test")]
    options = loose(tokenizer="space", vocab_size=2, dedup_threshold=0)
    with open_engine() as engine:
        return build(sources, tmp_path / "tiny", options, engine, card)


def of(values: list[Any]) -> Histogram:
    return Histogram.of(values)


def same(one: Histogram, two: Histogram) -> bool:
    return one.values.tolist() == two.values.tolist() and one.counts.tolist() == two.counts.tolist()


def test_a_corpus_by_hand(tiny: Corpus) -> None:
    found = statistics(tiny)
    assert list(found.splits) == ["train", "test", ALL]
    train, test, both = found.splits.values()
    assert [each.articles for each in (train, test, both)] == [2, 1, 3]
    assert [each.comments for each in (train, test, both)] == [4, 2, 6]
    assert same(train.comments_per_article, of([3, 1]))
    assert same(train.upvotes, of([3, 0, -2]))
    assert same(both.upvotes, of([3, 0, -2, 10]))
    assert (both.upvotes.mean, both.upvotes.quantile(0.5)) == (11 / 4, 1.5)
    # Lengths; contents only of those that have one.
    assert same(train.title_words, of([2, 1]))
    assert same(train.title_characters, of([3, 1]))
    assert same(both.content_words, of([4]))
    assert same(both.content_characters, of([7]))
    assert same(both.comment_words, of([2, 1, 1, 1, 3, 1]))
    assert same(both.comment_characters, of([3, 1, 1, 1, 5, 1]))
    # Words: a1 has 2 + 4 + 4 and a2 1 + 1; of these 12 a and b are 8. t1 has 2 + 4, of which a, a, b are known.
    assert [each.tokens for each in (train, test, both)] == [12, 6, 18]
    assert [each.known for each in (train, test, both)] == [8, 3, 11]
    assert [each.distinct_words for each in (train, test, both)] == [6, 3, 7]
    assert train.categories == {"news": 1}
    assert both.categories == {"news": 1, "sport": 1}
    # 4.5, the mean of 5 and 4, and 2: mean 3.25, deviation sqrt(2 * 1.25^2 / 1). One of the two comments got a 5.
    assert (test.grades.n, test.grades.mean, test.grades.sd) == (2, 3.25, 1.25 * 2**0.5)
    assert (found.top_grade, found.top_share(test.best), found.top_share(test.best_of_article)) == (5, 0.5, 1)
    assert same(test.ratings, of([2]))
    assert train.grades.mean is None
    assert found.top_share(train.best) is None


def test_the_table_by_hand(tiny: Corpus) -> None:
    table = {row[0]: row[1:] for row in table_2(statistics(tiny).result()).grid()}
    expected = {
        "": ["train", "test", "all"],
        "comments per article": ["2.0", "2.0", "2.0"],
        "upvotes per comment": ["0.3", "10.0", "2.8"],
        "… 0": ["33.3 %", "0.0 %", "25.0 %"],
        "… below 0": ["33.3 %", "0.0 %", "25.0 %"],
        "… not given": ["25.0 %", "50.0 %", "33.3 %"],
        "words per content": ["4.0", DASH, "4.0"],
        "articles without content": ["1", "1", "2"],
        "covered by 2 words": ["66.7 %", "50.0 %", "61.1 %"],
        "mean grade": [DASH, "3.25", "3.25"],
        "comments with a grade of 5": [DASH, "50.0 %", "50.0 %"],
    }
    assert {label: table[label] for label in expected} == expected
    assert "held-out comments" not in table
    lines = (tiny.path / "README.md").read_text().splitlines()
    start = lines.index("|  | train | test | all |")
    assert lines[start + 1 : start + 3] == ["| --- | ---: | ---: | ---: |", "| articles | 2 | 1 | 3 |"]


def test_what_there_is_not_has_no_row(tmp_path: Path) -> None:
    bare = [{"id": str(n), "title": f"t{n}", "comments": [{"id": "c", "text": f"x{n}"}]} for n in range(3)]
    found = statistics(built(tmp_path, bare, dedup_threshold=0))
    table = {row[0]: row[1:] for row in table_2(found.result()).grid()}
    assert table[""] == ["train"]  # all is the same
    assert found.top_grade is None
    votes = found.all.upvotes
    assert (votes.n, votes.mean, votes.share(np.zeros(0, dtype=bool))) == (0, None, None)
    for gone in ("upvotes", "…", "content", "categories", "grade", "held"):
        assert [name for name in table if gone in name and name not in {"… median", "articles without content"}] == []
    assert DASH not in {cell for cells in table.values() for cell in cells}


def test_held_out_comments_are_counted_and_nothing_else_of_them(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(12, comments=5), test=Share(size=4), references_per_article=2)
    found = statistics(corpus)
    test = found.splits["test"]
    assert (test.articles, test.comments, test.held_out) == (4, 8, 12)
    assert found.splits["train"].held_out == 0
    votes = [comment.upvotes for article in corpus.articles("test") for comment in article.comments]
    assert same(test.upvotes, of(votes))
    assert test.comment_words.n == test.comment_characters.n == 8


def test_it_is_what_the_rows_say(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(40), dev=Share(size=5), test=Share(size=5), tokenizer="space")
    found = statistics(corpus)
    for split in corpus.splits:
        articles, summary = list(corpus.articles(split)), found.splits[split]
        comments = [comment for article in articles for comment in article.comments]
        assert same(summary.title_words, of([len(article.title.split()) for article in articles]))
        assert same(summary.comment_words, of([len(comment.text.split()) for comment in comments]))
        assert same(summary.comment_characters, of([len(comment.text) for comment in comments]))
        grades = [comment.mean_grade for comment in comments if comment.mean_grade is not None]
        assert_allclose([summary.grades.n, summary.grades.mean], [len(grades), np.mean(grades)])
        assert same(summary.ratings, of([len(comment.ratings) for comment in comments if comment.ratings]))
        assert_allclose(summary.grades.sd, np.std(grades, ddof=1))


def in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setattr(passes, "blocks", functools.partial(cutting.blocks, size=1000))
    return built(tmp_path, rows(30), dev=Share(size=4), test=Share(size=4))


def told(summary: Summary) -> dict[str, Any]:
    values = {name: getattr(summary, name) for name in Summary.__dataclass_fields__}
    return {
        name: [value.values.tolist(), value.counts.tolist()]
        if isinstance(value, Histogram)
        else np.array(value).tolist()
        for name, value in values.items()
    }


def test_files_and_engines_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = in_files(tmp_path, monkeypatch)
    assert len(corpus.files("train")) > 3
    here = statistics(corpus)
    with open_engine(jobs=2) as engine:
        there = statistics(corpus, engine)
    (tmp_path / "one").mkdir()
    monkeypatch.undo()
    whole = statistics(built(tmp_path / "one", rows(30), dev=Share(size=4), test=Share(size=4)))
    for other in (there, whole):
        assert {name: told(each) for name, each in here.splits.items()} == {
            name: told(each) for name, each in other.splits.items()
        }
    assert here.result() == there.result() == whole.result()


def test_the_top_grade_is_the_scale_s(tiny: Corpus) -> None:
    found = statistics(tiny, scale=Scale(1, 10))
    assert (found.top_grade, found.top_share(found.all.best)) == (10, 0)
    with pytest.raises(InvalidInput, match=r"data: grade: .*5"):
        statistics(tiny, scale=Scale(1, 4))


def test_a_damaged_corpus_is_invalid_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = in_files(tmp_path, monkeypatch)
    first, second, *_ = corpus.files("train")
    kept = first.read_bytes()
    first.write_bytes(kept[:-100])
    with pytest.raises(InvalidInput, match=rf"{first.name}: not a Parquet file, or a damaged one"):
        statistics(corpus)
    first.write_bytes(kept)
    shutil.copy(second, first)
    with pytest.raises(InvalidInput, match="expected as many texts in data as in tokens"):
        statistics(corpus)
    first.unlink()
    with pytest.raises(InvalidInput, match="was the folder copied whole"):
        statistics(corpus)
    first.write_bytes(kept)
    file = corpus.path / "tokens" / "train" / "title.ids.npy"
    right = np.load(file)
    wrongs = (
        (np.full_like(right, 10**6), "expected int32.* from 0 to .*, got 1000000 to 1000000"),
        (right[1:], "offsets that rise from 0 to"),
    )
    for wrong, problem in wrongs:
        np.save(file, wrong)
        with pytest.raises(InvalidInput, match=problem):
            statistics(corpus)


# Histograms

NUMBERS = st.lists(st.integers(-(10**6), 10**6)) | st.lists(st.sampled_from([1.0, 3.5, 4.25, -2.0]))


@given(NUMBERS, st.floats(0, 1))
def test_a_histogram_knows_what_numpy_knows(values: list[float], part: float) -> None:
    found = of(values)
    if not values:
        assert (found.n, found.mean, found.sd, found.quantile(part)) == (0, None, None, None)
        return
    assert found.n == len(values)
    assert_allclose(found.mean, np.mean(values), rtol=1e-12, atol=1e-9)
    assert_allclose(found.quantile(part), np.quantile(values, part), rtol=1e-9, atol=1e-9)
    if len(values) > 1:
        assert_allclose(found.sd, np.std(values, ddof=1), rtol=1e-9, atol=1e-9)
    else:
        assert found.sd is None
    assert_allclose(found.at_least(), [np.mean(np.array(values) >= value) for value in found.values])


@given(st.lists(st.integers(-5, 5)), st.lists(st.integers(-5, 5)))
def test_histograms_add_up(one: list[int], two: list[int]) -> None:
    assert same(of(one) + of(two), of(one + two))


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63)])
def test_the_farthest_whole_numbers_count(far: int) -> None:
    votes = of([far]) + of([far, 0])
    assert votes.mean == 2 * far / 3
    assert votes.values.tolist() == sorted([far, 0])
    assert votes.sd is not None
    assert votes.sd > 0


def test_huge_grades_do_not_overflow() -> None:
    grades = of([1e308, 1e308, -1e308])
    assert grades.mean == pytest.approx(1e308 / 3)
    assert grades.sd == pytest.approx(2 / 3**0.5 * 1e308)


def test_a_summary_travels() -> None:
    summary = Summary(articles=3, upvotes=of([1, 2]))
    assert told(pickle.loads(pickle.dumps(summary))) == told(summary)  # noqa: S301


def test_small_shares_are_not_none() -> None:
    assert [percent(share) for share in (0, 1e-9, 0.00051, 0.5, 1)] == ["0.0 %", "<0.1 %", "0.1 %", "50.0 %", "100.0 %"]


NONE = Spread(**dict.fromkeys(Spread.__struct_fields__) | {"n": 0})  # type: ignore[arg-type]
COUNTS = dict.fromkeys(SplitStatistics.__struct_fields__, 0)
SPREADS = {name: NONE for name, kind in SplitStatistics.__annotations__.items() if kind == "Spread"}
SPLIT = SplitStatistics(**COUNTS | SPREADS | {"known_share": None, "categories": {}})  # type: ignore[arg-type]
STATISTICS = StatisticsResult(
    statistics=CorpusStatistics(splits={"train": SPLIT, "all": SPLIT}, top_grade=None),
    settings=StatisticsSettings(tokenizer="words", vocabulary=9, postil="0.1"),
)


def metadata(sizes: tuple[int, int, int] = (19, 6, 5), **changes: Any) -> CorpusMetadata:
    splits = {
        split: SplitSize(articles=size, comments=size, files=1)
        for split, size in zip(("train", "dev", "test"), sizes, strict=True)
    }
    options = {"source": "a site", "license": "ours", "test_min_words": 6, "mask": ("urls",), "tokenizer": "words"}
    options |= {"vocab_size": 9} | changes.pop("options", {})
    fields: dict[str, Any] = {
        "format": 2, "postil": "0.1", "options": options, "tokenizer": "words", "langs": ("en",), "splits": splits,
        "inputs": (CorpusInput(name="a.jsonl", split=None, bytes=1234, blake2b="ab"),), "words": 1500,
        "seen": {"articles: no comments": 1000},
    }  # fmt: skip
    return CorpusMetadata(**fields | changes)


def test_the_card_says_what_the_metadata_say() -> None:
    lines = card(metadata(), STATISTICS).splitlines()
    said = {
        "- **Source:** a site",
        "- **Licence:** ours",
        "| test min words | 6 |",
        "| mask | ['urls'] |",
        "| a.jsonl |  | 1,234 | `ab` |",
        "| articles: no comments | 1,000 |",
        "By postil 0.1, words by `words`; 1,500 distinct words.",
    }
    assert said <= set(lines)
    compile(card(metadata(), STATISTICS).split("```python\n")[1].split("```")[0], "card", "exec")


def test_names_cannot_break_its_tables() -> None:
    file = CorpusInput(name="a|b\n`<b>`", split=None, bytes=1, blake2b="ab")
    lines = card(metadata(inputs=(file,), options={"source": "a\x1b[2J site\n| x |"}), STATISTICS).splitlines()
    assert "- **Source:** a\\x1b[2J site | x |" in lines
    assert [line for line in lines if line.startswith(r"| a\|b \`&lt;b>\` |")]


@pytest.mark.parametrize("license_name", ["CC-BY-4.0", 'a "free" licence: none', "我们的", "x\n---\ny", "- [a, {b: c"])
def test_its_header_is_yaml(license_name: str) -> None:
    yaml = pytest.importorskip("yaml")
    text = card(metadata(langs=("en", "no", 'x"y', "zh-Hans"), options={"license": license_name}), STATISTICS)
    assert text.startswith("---\n")
    files = [{"split": split, "path": f"data/{split}-*.parquet"} for split in ("train", "dev", "test")]
    assert yaml.safe_load(text[4:].split("\n---\n")[0]) == {
        "license": "other",
        "license_name": license_name,
        "language": ["en", "no", 'x"y', "zh-Hans"],
        "task_categories": ["text-generation", "text-retrieval"],
        "tags": ["article-commenting"],
        "size_categories": ["n<1K"],
        "configs": [{"config_name": "default", "data_files": files}],
    }


def test_splits_and_languages_that_are_not_there_are_not_named() -> None:
    text = card(metadata((1, 0, 0), langs=()), STATISTICS)
    assert "split: train" in text
    assert "split: dev" not in text
    assert "language" not in text.split("---")[1]


@pytest.mark.parametrize(
    ("articles", "size"),
    [(999, "n<1K"), (1_000, "1K<n<10K"), (191_502, "100K<n<1M"), (9_999_999, "1M<n<10M"), (10_000_000, "n>10M")],
)
def test_sizes(articles: int, size: str) -> None:
    assert f"- {size}\n" in card(metadata((articles, 0, 0)), STATISTICS)
