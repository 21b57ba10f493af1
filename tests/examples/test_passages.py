"""Voted sentences and linked paragraphs become rows; simple summarizers of graded pages."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from postil.data.row_files import read, write
from postil.data.rows import Candidate, Passage, TopicArticle
from postil.errors import InvalidInput
from postil.passages.summaries import SummariesOptions, score_summaries
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]


HEAD = "MOVIE\tTRIVIA\tcount_boring\tcount_interesting\tcount_veryInteresting\n"


@pytest.fixture
def passages_data(judged: Path) -> Path:
    """The folder of passage collections."""
    return judged.parent / "passages"


def test_votes_become_grades(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "crowd_judged.tsv"
    table.write_text(HEAD + 'A\t"It ""flew"", twice."\t0\t3\t2\nB\tDull.\t5\t0\t0\nA\tFine.\t1\t1\t0\n')
    example("trivia_to_rows").main([str(table), str(tmp_path / "p.jsonl")])
    assert capsys.readouterr().out == f"3 passages of 2 topics in {tmp_path / 'p.jsonl'}\n"
    assert list(read(tmp_path / "p.jsonl", Passage)) == [
        Passage("A", "1", 'It "flew", twice.', grade=1.4),  # (3 + 2 * 2) / 5
        Passage("B", "1", "Dull.", grade=0),
        Passage("A", "2", "Fine.", grade=0.5),
    ]


def test_a_sentence_without_votes(example: Load, tmp_path: Path) -> None:
    table = tmp_path / "crowd_judged.tsv"
    table.write_text(HEAD + "A\tFine.\t1\t1\t0\nA\tFine.\t0\t0\t0\n")
    with pytest.raises(InvalidInput, match=r"crowd_judged\.tsv:3: expected votes"):
        example("trivia_to_rows").read(table)


def test_the_real_votes(example: Load, passages_data: Path) -> None:
    passages = example("trivia_to_rows").read(passages_data / "wikipedia_trivia" / "crowd_judged.tsv")
    assert len({passage.topic for passage in passages}) == 20
    # counted by code that shares nothing with this one
    counts = {0: 58, 0.2: 774, 0.4: 1211, 0.6: 571, 0.8: 183, 1: 91, 1.2: 33, 1.4: 5, 1.6: 2}
    assert Counter(passage.grade for passage in passages) == counts


def test_links_become_anchors(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = {"text": "birds", "target": "Bird", "title": "Bird"}
    row = {"article": "s/1", "title": "Duck", "i": 4, "text": "Ducks are birds.", "anchors": [link]}
    with gzip.open(tmp_path / "p.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n" + json.dumps({**row, "i": 5, "anchors": []}) + "\n")
    module = example("anchors_to_rows")
    module.main([str(tmp_path / "p.jsonl.gz"), str(tmp_path / "p.jsonl")])
    assert capsys.readouterr().out == f"2 passages of 1 topics with 1 anchors in {tmp_path / 'p.jsonl'}\n"
    assert list(read(tmp_path / "p.jsonl", Passage)) == [
        Passage("Duck", "s/1/4", "Ducks are birds.", anchors=("birds",)),
        Passage("Duck", "s/1/5", "Ducks are birds."),
    ]
    assert module.read(tmp_path / "p.jsonl.gz", targets=True)[0].anchors == ("Bird",)


def test_the_real_links(example: Load, passages_data: Path) -> None:
    passages = example("anchors_to_rows").read(passages_data / "wikipedia_anchors" / "passages.jsonl.gz")
    assert (len(passages), sum(len(passage.anchors) for passage in passages)) == (2678, 13188)
    assert len({(passage.topic, passage.id) for passage in passages}) == 2678


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
