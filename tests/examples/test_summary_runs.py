"""Simple summarizers of graded pages: their limit, and that no grade of their own page reaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from postil.data.row_files import read, write
from postil.data.rows import Candidate, Passage, TopicArticle
from postil.passages.summaries import SummariesOptions, score_summaries
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

WORDS = ("moon", "tide", "water", "rye", "bread", "dough", "drake", "reed", "pond", "moult", "salt", "crust")


def pages() -> list[Passage]:
    rng = np.random.default_rng(1)
    return [
        Passage(f"page {page}", str(n), " ".join(rng.choice(WORDS, 3 + n % 5)) + ".", grade=float(n % 3 == 0))
        for page in range(4)
        for n in range(12)
    ]


def test_runs_keep_the_limit_and_see_no_grade_of_their_page(example: Callable[[str], ModuleType]) -> None:
    script = example("summary_runs")
    made = {(row.system, row.item): row.text for row in script.runs(pages(), 0.3, 7)}
    assert len({system for system, _ in made}) == 24
    of_page = {page: sum(script.lengths([row for row in pages() if row.topic == page])) for _, page in made}
    for (_, page), text in made.items():
        (words,) = tokenizer("words").split_all([text])
        assert 0 < len(words) <= 0.3 * of_page[page]
    turned = [replace(row, grade=1.0 - (row.grade or 0.0)) if row.topic == "page 0" else row for row in pages()]
    again = {(row.system, row.item): row.text for row in script.runs(turned, 0.3, 7)}
    assert all(text == again[key] for key, text in made.items() if key[1] == "page 0")


def test_articles_are_pages_or_what_the_pool_leaves(example: Callable[[str], ModuleType], tmp_path: Path) -> None:
    write(tmp_path / "pages.jsonl", pages())
    names = [str(tmp_path / name) for name in ("pages.jsonl", "runs.jsonl", "articles.jsonl")]
    example("summary_runs").main(names)
    whole = list(read(names[2], TopicArticle))
    example("summary_runs").main([*names, "--rest", "--share", "0.3"])
    rest = list(read(names[2], TopicArticle))
    for article, other in zip(whole, rest, strict=True):
        mine = [row for row in pages() if row.topic == article.topic]
        assert article.text == " ".join(row.text for row in mine)
        assert other.text == " ".join(row.text for row in mine if not row.grade)
    options = SummariesOptions(measures=("f1-1",), resamples=10)
    result, _ = score_summaries(pages(), list(read(names[1], Candidate)), options, rest)
    assert (result.data.systems, result.data.cut) == (24, 0)
    assert [row.n for row in result.agreement] == [24] * 3
