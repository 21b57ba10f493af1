"""`postil demo`: the sample is scored and taken through both studies, and the commands that it names next work."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.app import demo
from postil.app.demo import LANGUAGES, UNTRAINED
from postil.errors import MissingExtra

if TYPE_CHECKING:
    from conftest import Postil


@pytest.fixture
def extras() -> None:
    """Require the packages that all of the demo needs."""
    for name in ("rjieba", "matplotlib", "pyarrow"):
        pytest.importorskip(name)


@pytest.mark.usefixtures("extras")
def test_the_demo_and_the_commands_that_it_names(postil: Postil) -> None:
    outcome = postil("demo", "--out", "my demo")
    left = "" if find_spec("gensim") else f"{UNTRAINED}\n"
    assert (outcome.code, outcome.err) == (0, left)
    assert all(title in outcome.out for title, _ in LANGUAGES.values())
    assert "human: split-half correlation" in outcome.out
    assert outcome.out.index("Table 7: ") < outcome.out.index("Table 3: ") < outcome.out.index("Figure 5: ")
    for study in ("comments", "passages"):
        assert f"my demo/study-{study}/report.html" in outcome.out
        assert Path(f"my demo/study-{study}/report.html").is_file()
    scores = json.loads(Path("my demo/study-comments/scores.json").read_text())["scores"]
    human = next(row["score"] for row in scores if (row["metric"], row["system"]) == ("w-rouge-l", "human"))
    row = next(line for line in outcome.out.partition("Table 7: ")[2].splitlines() if line.startswith("w-rouge-l "))
    assert row.split()[-1] == f"{human:.3f}".lstrip("0")
    references = Path("my demo/study-comments/references.jsonl").read_text().splitlines()
    assert len(references) == 120  # all comments of eight articles: the sample has readers' comments besides
    commands = outcome.out.partition("a page to read:\n")[2].replace("\\\n", " ").strip().splitlines()
    assert len(commands) == 2
    for command in commands:
        name, *args = shlex.split(command)
        assert name == "postil"
        assert postil(*args).code == 0
    assert Path("my demo/report.html").exists()
    assert postil("demo", "--out", "my demo", "--jobs", "2") == outcome
    command = ("score", "my demo/candidates.en.jsonl", "-r", "my demo/references.en.jsonl", "--scale", "1:5")
    found = postil(*command, "-m", "w-meteor", "--format", "jsonl").scores
    assert max(found, key=lambda name: found[name]) == ("human", "w-meteor")


def test_what_is_not_installed_is_left_out(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rjieba")

    def missing(*_: object) -> None:
        raise MissingExtra("a study", "plot")

    monkeypatch.setattr(demo, "_comments", missing)
    monkeypatch.setattr(demo, "_passages", missing)
    outcome = postil("demo", "--out", "d")
    assert outcome.code == 0
    assert outcome.err.count("skipped: a study") == 2
    assert "Pages to read: none" in outcome.out


def test_a_folder_that_cannot_be_made(postil: Postil) -> None:
    Path("d").write_text("a file")
    outcome = postil("demo", "--out", "d")
    assert (outcome.code, outcome.err) == (1, "postil: d: File exists\n")
