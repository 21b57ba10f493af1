"""`postil demo`: the sample is scored, and the commands that it names next work."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.app.demo import LANGUAGES

if TYPE_CHECKING:
    from conftest import Postil


def test_the_demo_and_the_commands_that_it_names(postil: Postil) -> None:
    pytest.importorskip("rjieba")
    pytest.importorskip("matplotlib")
    outcome = postil("demo", "--out", "my demo")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(title in outcome.out for title, _ in LANGUAGES.values())
    assert "people: split halves" in outcome.out
    commands = outcome.out.partition("a page to read:\n")[2].replace("\\\n", " ").strip().splitlines()
    assert len(commands) == 2
    for command in commands:
        name, *args = shlex.split(command)
        assert name == "postil"
        assert postil(*args).code == 0
    assert Path("my demo/report.html").exists()


def test_the_demo_twice_gives_the_same_bytes(postil: Postil) -> None:
    pytest.importorskip("rjieba")
    assert postil("demo", "--out", "d", "--jobs", "2") == postil("demo", "--out", "d")


def test_people_come_first_in_the_sample(postil: Postil) -> None:
    pytest.importorskip("rjieba")
    postil("demo", "--out", "d")
    command = ("score", "d/candidates.en.jsonl", "-r", "d/references.en.jsonl", "--scale", "1:5", "-m", "w-meteor")
    scores = postil(*command, "--format", "jsonl").scores
    assert max(scores, key=lambda row: scores[row]) == ("human", "w-meteor")


def test_a_folder_that_cannot_be_made(postil: Postil) -> None:
    Path("d").write_text("a file")
    outcome = postil("demo", "--out", "d")
    assert (outcome.code, outcome.err) == (1, "postil: d: File exists\n")
