"""The list of deviations has all that was run: no option of a build, a model or a metric is without a row."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.campaigns.rubric import Rubric
from postil.corpus.options import BuildOptions, DateRange, Share
from postil.corpus.privacy import HashKey
from postil.corpus.result import CorpusMetadata, SplitSize
from postil.corpus.store import FORMAT
from postil.data.rows import Comment, Rating
from postil.studies.comments import deviations
from postil.studies.comments.deviations import corpus_rows, rating_counts

if TYPE_CHECKING:
    from pathlib import Path

THRESHOLDS = {"min_content_words": 30, "min_comments": 20, "test_min_comments": 30, "test_min_upvotes": 201}
OTHER: dict[str, Any] = {
    "tokenizer": "jieba",
    "dates": DateRange("2017-04..2017-08"),
    "min_content_words": 7,
    "min_comments": 7,
    "max_comment_words": 7,
    "long_comments": "keep",
    "dev": Share(size=7),
    "test": Share(size=7),
    "split_by": "date",
    "test_min_comments": 7,
    "test_min_words": 7,
    "test_min_upvotes": 7,
    "references_per_article": 7,
    "sample_references_from": "long",
    "dedup_threshold": 0.0,
    "vocab_size": 7,
    "html": "keep",
    "user_ids": "keep",
    "mask": ("urls",),
    "seed": 7,
}
"""Another value of every option of a build that changes a corpus."""
NO_NUMBERS = {"source", "license", "hash_key", "on_error"}


def metadata(options: BuildOptions, **changes: Any) -> CorpusMetadata:
    empty = SplitSize(articles=0, comments=0, files=0)
    given: dict[str, Any] = {
        "format": FORMAT,
        "postil": "0",
        "options": {name: options.settings().get(name, value) for name, value in THRESHOLDS.items()}
        | options.settings(),
        "tokenizer": "words",
        "inputs": (),
        "langs": (),
        "seen": {},
        "splits": dict.fromkeys(("train", "dev", "test"), empty),
        "words": 9,
    }
    return CorpusMetadata(**given | changes)


def rows(options: BuildOptions, **changes: Any) -> list[tuple[str, ...]]:
    return list(corpus_rows("c", metadata(options, **changes), networks=True))


def test_there_is_another_value_of_every_option() -> None:
    assert {each.name for each in fields(BuildOptions)} == OTHER.keys() | NO_NUMBERS


@pytest.mark.parametrize("name", OTHER)
def test_every_option_of_a_build_is_in_a_row(name: str) -> None:
    usual: dict[str, Any] = {"source": "a site", "license": "ours"}
    assert rows(BuildOptions(**usual)) != rows(BuildOptions(**usual, **{name: OTHER[name]}))


def test_without_networks_nothing_is_said_of_them() -> None:
    made = metadata(BuildOptions(source="a site", license="ours"))
    for networks in (True, False):
        assert ("network" in str(list(corpus_rows("c", made, networks=networks)))) == networks


def test_names_that_are_hashed_are_in_a_row() -> None:
    hashed = BuildOptions(source="a site", license="ours", user_ids="hash", hash_key=HashKey(b"pepper"))
    assert ("names of people", "not said", "hashed", "docs/corpus.md") in rows(hashed)


def test_an_option_that_no_row_is_about_has_one_by_itself() -> None:
    options = BuildOptions(source="a site", license="ours")
    more = metadata(options)
    more = msgspec.structs.replace(more, options={**more.options, "new_option": "on"})
    assert ("corpus build new_option", "not said", "on", "metadata.json") in list(
        corpus_rows("c", more, networks=False)
    )


def test_all_that_a_build_left_out_is_in_a_row() -> None:
    seen = {"articles: near duplicate of a test article": 3, "texts with HTML, of which the text is kept": 1200}
    found = {choice: here for choice, _, here, _ in rows(BuildOptions(source="a site", license="ours"), seen=seen)}
    assert found["left out or changed by the build"] == (
        "articles: near duplicate of a test article 3; texts with HTML, of which the text is kept 1,200"
    )
    assert found["near duplicates"].startswith("of articles whose title and content have a Jaccard similarity of 0.8")
    assert found["HTML in the texts"] == "cleaned: texts without tags and entities"


def test_grades_without_ratings_are_in_a_row() -> None:
    rated = Comment("c0", "Two", ratings=(Rating("ann", 3), Rating("bob", 4)))
    graded, bare = Comment("c1", "One", grade=3.5), Comment("c2", "None")
    assert rating_counts([rated, rated, bare]) == "4 ratings of 2 references"
    assert rating_counts([rated, graded]) == "2 ratings of 1 reference and 1 reference with a grade alone"
    assert rating_counts([graded] * 32) == "32 references with a grade alone"
    assert rating_counts([bare]) == ""


def test_the_rubric_is_that_of_the_codebook_beside_the_ratings(tmp_path: Path) -> None:
    ratings = str(tmp_path / "judgements.jsonl")
    said = deviations._rubric(ratings)
    assert said == f"not known: {tmp_path / 'codebook.json'} is no codebook of postil annotate export"
    for rubric, words in (
        (Rubric.default("zh"), "that of postil annotate (zh), which paraphrases the paper’s criteria"),
        (Rubric(name="mine", question="How good?", low=0, high=2), "“mine” (en), grades from 0 to 2"),
    ):
        book = {"rubric": msgspec.to_builtins(rubric)}
        (tmp_path / "codebook.json").write_text(json.dumps(book), encoding="utf-8")
        assert deviations._rubric(ratings) == words
