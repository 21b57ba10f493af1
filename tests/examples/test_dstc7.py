"""The Human response is taken out of its own references."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.row_files import read
from postil.data.rows import Article, Candidate, Comment, Judgement, Reference, Score

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]


def thread(name: str, references: list[str]) -> dict[str, object]:
    grades = {"relevance": [5, 4, 3], "informativeness": [1, 2, 3]}
    return {
        "id": name,
        "context": "the film opens in may. seats are few .",
        "references": references,
        "candidates": [
            {"system": "Human", "text": "to me, it's epic!", **grades},
            {"system": "TeamA", "text": "i do n't know .", **grades},
        ],
    }


THREADS = [
    thread("both", ["To me , it's epic !", "Godamn it", "i do n't know .", "TO ME IT S EPIC", "北京欢迎你"]),
    thread("copies", ["To me , it's epic !"]),
    thread("none", []),
]


@pytest.fixture
def threads(tmp_path: Path) -> Path:
    with gzip.open(tmp_path / "dstc7_joined.en.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in THREADS)
    return tmp_path


def test_copies_can_be_kept(example: Load, threads: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("dstc7_to_rows").main([str(threads), str(threads), "--keep-copies"])
    assert "3 copies of Human responses kept; left out: 1 references" in capsys.readouterr().out
    # the thread that has nothing but copies is left out all the same
    assert [(row.item, row.text) for row in read(threads / "references.jsonl", Reference)] == [
        ("both", "To me , it's epic !"),
        ("both", "Godamn it"),
        ("both", "i do n't know ."),
        ("both", "TO ME IT S EPIC"),
    ]


def test_rows(example: Load, threads: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("dstc7_to_rows").main([str(threads), str(tmp_path / "rows")])
    assert capsys.readouterr().out == (
        f"2 candidates, 2 references, 12 judgements in {tmp_path / 'rows'}; 3 copies of Human responses "
        "taken out; left out: 1 references in Chinese or Japanese, 2 threads without references\n"
    )
    assert list(read(tmp_path / "rows/candidates.jsonl", Candidate)) == [
        Candidate("both", "human", "to me, it's epic!"),
        Candidate("both", "TeamA", "i do n't know ."),
    ]
    # a copy of a system's response that is not the Human one stays
    assert list(read(tmp_path / "rows/references.jsonl", Reference)) == [
        Reference("both", "Godamn it", id="1"),
        Reference("both", "i do n't know .", id="2"),
    ]
    assert list(read(tmp_path / "rows/articles.jsonl", Article)) == [
        Article(
            "both",
            "the film opens in may",
            content="the film opens in may. seats are few .",
            comments=(Comment("1", "Godamn it"), Comment("2", "i do n't know .")),
        )
    ]
    lengths = read(tmp_path / "rows/length.jsonl", Score)
    assert [(row.system, row.metric, row.score) for row in lengths] == [
        ("human", "control:length", 5),  # to me it s epic
        ("TeamA", "control:length", 5),  # i do n t know
    ]
    judgements = list(read(tmp_path / "rows/judgements.jsonl", Judgement))
    assert judgements[:4] == [
        Judgement("both", "human", "judge-1", 5, "relevance"),
        Judgement("both", "human", "judge-2", 4, "relevance"),
        Judgement("both", "human", "judge-3", 3, "relevance"),
        Judgement("both", "human", "judge-1", 1, "informativeness"),
    ]


def test_the_real_file_can_be_scored(example: Load, judged: Path, tmp_path: Path) -> None:
    module = example("dstc7_to_rows")
    module.main([str(judged / "dstc7"), str(tmp_path)])
    candidates, references = tmp_path / "candidates.jsonl", tmp_path / "references.jsonl"
    people = {row.item: module.words(row.text) for row in read(candidates, Candidate) if row.system == "human"}
    assert all(module.words(row.text) != people[row.item] for row in read(references, Reference))
    command = ["score", str(candidates), "-r", str(references), "-m", "rouge-l", "--format", "json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    assert result.stderr == (
        "1 of 34,250 references is Japanese text, which the tokenizer words does not split; characters does\n"
        "1 of 9,540 candidates is not in the Unicode form NFC, and was read in it\n"
    )
    assert {row["n"] for row in json.loads(result.stdout)["scores"]} == {954}
