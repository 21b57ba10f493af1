"""`postil corpus stats`: every format says the same, pictures are drawn, and what is wrong is told."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put
from postil.corpus.calls import build_corpus
from postil.corpus.options import BuildOptions, Share

if TYPE_CHECKING:
    from conftest import Postil

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {"categories", "comments", "lengths", "upvotes"}


def made(*, bare: bool = False, categories: int = 18) -> None:
    """A corpus in `corpus`: 20 articles, 2 of them dev; votes 0, 1, 2 … of the comments of each."""
    articles: list[dict[str, Any]] = []
    for number in range(20):
        comments: list[dict[str, Any]] = [{"id": str(c), "text": f"w{c} " * (c + 1)} for c in range(1 + number % 4)]
        article = {"id": f"a{number}", "title": f"About {number}", "comments": comments}
        if not bare:
            article |= {"content": f"text{number} " * (5 + number), "category": f"kind {number % categories}"}
            for votes, comment in enumerate(comments):
                comment |= {"upvotes": votes, "ratings": [{"annotator": "ann", "grade": 1 + votes}]}
        articles.append(article)
    put("rows.jsonl", articles)
    sizes = {"dev": Share(size=2), "test": Share(size=0)}
    options = BuildOptions(
        source="a site", license="ours", min_content_words=0, min_comments=1, dedup_threshold=0, **sizes
    )
    build_corpus(["rows.jsonl"], "corpus", options, jobs=1)


def test_json_has_everything_and_no_nan(postil: Postil) -> None:
    made()
    outcome = postil("corpus", "stats", "corpus", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert (found["schema"], found["kind"]) == (1, "statistics")
    assert found["settings"]["tokenizer"] == "words-2"
    splits = found["statistics"]["splits"]
    assert list(splits) == ["train", "dev", "all"]
    # 20 articles with 1, 2, 3, 4 comments in turn; the n-th comment has n votes, from 0.
    everything = splits["all"]
    assert (everything["articles"], everything["comments"], everything["comments_per_article"]["mean"]) == (20, 50, 2.5)
    assert everything["upvotes"] == {
        "n": 50, "mean": 1, "sd": pytest.approx((50 / 49) ** 0.5), "min": 0,
        "p25": 0, "median": 1, "p75": 2, "p90": pytest.approx(2.1), "p99": 3, "p999": 3, "max": 3,
    }  # fmt: skip
    assert (everything["upvotes_zero"], everything["upvotes_negative"]) == (0.4, 0)
    assert (found["statistics"]["top_grade"], everything["top_grade_comments"]) == (4, 0.1)
    assert everything["top_grade_articles"] == 0.25
    assert sum(everything["categories"].values()) == 20


def test_what_does_not_exist_is_null_or_a_dash(postil: Postil) -> None:
    made(bare=True)
    whole = json.loads(postil("corpus", "stats", "corpus", "--format", "json").out)["statistics"]["splits"]["all"]
    assert whole["upvotes"] == dict.fromkeys(whole["upvotes"]) | {"n": 0}
    assert (whole["upvotes_zero"], whole["top_grade_comments"], whole["categories"]) == (None, None, {})
    assert (whole["without_content"], whole["without_category"], whole["without_upvotes"]) == (20, 20, 50)
    assert postil("corpus", "stats", "corpus", "--figures", "pictures").code == 0
    assert {path.stem for path in Path("pictures").iterdir()} == {"comments", "lengths"}
    table = postil("corpus", "stats", "corpus").out
    assert "upvotes" not in table
    assert "nan" not in table.lower()


def test_rows(postil: Postil) -> None:
    made()
    lines = [json.loads(line) for line in postil("corpus", "stats", "corpus", "--format", "jsonl").out.splitlines()]
    assert {"split": "all", "statistic": "upvotes", "part": "mean", "value": 1.0} in lines
    assert {"split": "all", "statistic": "categories", "part": "kind 0", "value": 2} in lines
    keys = [(line["split"], line["statistic"], line["part"]) for line in lines]
    assert len(set(keys)) == len(keys)


def test_the_table_names_fifteen_categories_and_counts_the_rest(postil: Postil) -> None:
    made()
    lines = postil("corpus", "stats", "corpus").out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("articles by category"))
    named = lines[start + 2 : start + 17]
    assert [line.split("  ")[0] for line in named[:3]] == ["kind 0", "kind 1", "kind 10"]  # 2, 2, then by name
    assert re.fullmatch(r"3 others +\d +\d +3  15\.0 %", lines[start + 17])
    assert lines[-1] == "words: words-2"


def test_pictures_are_drawn_of_what_there_is(postil: Postil) -> None:
    made()
    outcome = postil("corpus", "stats", "corpus", "--figures", "new/pictures")
    assert {path.stem for path in Path("new/pictures").iterdir()} == PICTURES
    assert all(f"written: new/pictures/{name}.svg" in outcome.err for name in PICTURES)
    texts = {
        name: [each.text for each in ET.parse(f"new/pictures/{name}.svg").getroot().iter(f"{SVG}text")]  # noqa: S314
        for name in PICTURES
    }
    assert {"kind 0", "2 (10.0 %)", "3 others", "3 (15.0 %)"} <= set(texts["categories"])
    assert {"title", "content", "comment", "words", "% of texts"} <= set(texts["lengths"])
    assert {"train", "dev", "% of articles"} <= set(texts["comments"])
    assert {"train", "dev", "upvotes, at least"} <= set(texts["upvotes"])
    first = {name: Path(f"new/pictures/{name}.svg").read_bytes() for name in PICTURES}
    postil("corpus", "stats", "corpus", "--figures", "new/pictures")
    assert {name: Path(f"new/pictures/{name}.svg").read_bytes() for name in PICTURES} == first
    before = sorted(Path().iterdir())
    outcome = postil("corpus", "stats", "corpus", "--figures", "")
    assert (outcome.code, "written" in outcome.err, sorted(Path().iterdir())) == (0, False, before)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 3, "nowhere: no such folder"),
        (["."], 3, "no metadata.json"),
        (["corpus", "--scale", "x"], 2, 'scale "x"'),
        (["corpus", "--scale", "1:2"], 3, "grade"),
        (["corpus", "--engine", "dask"], 2, "unknown engine 'dask'"),
        (["corpus", "--figures", "rows.jsonl"], 2, "rows.jsonl: is a file; expected a folder for figures"),
        (["corpus", "--figures", "sizes.pdf"], 2, "--figures sizes.pdf: the name of a file; expected a folder"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(postil: Postil, arguments: list[str], code: int, message: str) -> None:
    made()
    outcome = postil("corpus", "stats", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
