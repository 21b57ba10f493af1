"""`postil demo`: the sample goes through all chapters, and the commands that it shows print the same."""

from __future__ import annotations

import re
import shlex
import sys
from functools import partial
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.correlation.options import CorrelateOptions
from postil.errors import MissingExtra
from postil.studies.demo import calls as demo

if TYPE_CHECKING:
    from conftest import Postil
    from postil.metrics.result import ScoreResult

PAGES = ("index", "report", "highlighted", "study-comments/report", "study-passages/report")


@pytest.fixture
def extras() -> None:
    """Require the packages that all of the demo needs."""
    if missing := [name for name in ("gensim", "rjieba", "matplotlib", "pyarrow") if find_spec(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")


def commands(chapter: str) -> list[list[str]]:
    """The commands that a chapter shows."""
    lines = chapter.replace(" \\\n      ", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  postil ")]


def cells(chapter: str) -> set[str]:
    """The first cells of the tables of a chapter, below their heads."""
    tables = re.findall(r"^-+  -.*\n((?:.+\n)+)", chapter, re.MULTILINE)
    return {re.split(" {2,}", line)[0] for table in tables for line in table.splitlines()}


def printed(postil: Postil, words: list[str]) -> str:
    """Output of a command; a folder of the demo that it makes gets another name."""
    new = {"build": "my demo/corpus", "train": "my demo/model"}
    folders = [folder for name, folder in new.items() if name in words[:2]]
    outcome = postil(*(f"{word} again" if word in folders else word for word in words))
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.usefixtures("extras")
def test_the_demo_and_the_commands_that_it_shows(postil: Postil) -> None:
    outcome = postil("demo", "--out", "my demo")
    assert (outcome.code, outcome.err) == (0, "")
    _, *chapters, where = re.split(r"^\d\. (?!.*  )|^Where to look", outcome.out, flags=re.MULTILINE)
    scores, audit, estimate, suggestions, starters, comments, passages = chapters
    assert "human: split-half correlation" in cells(audit)
    assert "an annotator: No metric may replace one" in audit
    assert "Machine-generated suggestion: " in suggestions
    assert comments.index("Table 3: ") < comments.index("w-rouge-l")
    assert "Figure 2: " in passages
    index = unescape(Path("my demo/index.html").read_text(encoding="utf-8"))
    for page in PAGES:
        assert f"my demo/{page}.html" in where
        assert Path(f"my demo/{page}.html").is_file()
        assert page == "index" or f'href="{page}.html"' in index
    for words in commands(outcome.out):
        assert shlex.join(["postil", *words]) in index
    for chapter in (suggestions, starters):
        cards = [" ".join(each.split()) for each in re.findall(r"^  \d\. (?:.+\n)+", chapter, re.MULTILINE)]
        assert len(cards) > 1
        said = " ".join("".join(printed(postil, words) for words in commands(chapter)).split())
        assert all(each in said for each in cards)
    for chapter in (scores, estimate):
        said = "".join(printed(postil, words) for words in commands(chapter))
        assert cells(chapter)
        assert all(cell in said for cell in cells(chapter))
    for chapter in (comments, passages):  # whose stages are done
        printed(postil, commands(chapter)[-1])
    printed(postil, [*commands(audit)[0], "--resamples", "20", "--permutations", "100"])


def test_what_is_not_installed_is_left_out(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, what: str, extra: str) -> None:
        raise MissingExtra(what, extra)

    few = {"resamples": 20, "permutations": 100}
    monkeypatch.setattr(demo, "CorrelateOptions", partial(CorrelateOptions, **few))
    monkeypatch.setattr(demo, "check_report", partial(missing, what="a report", extra="plot"))
    monkeypatch.setattr(demo, "_build_stage", partial(missing, what="a corpus", extra="parquet"))
    monkeypatch.setattr(demo, "_passages", partial(missing, what="a report", extra="plot"))
    score_files = demo.score_files

    def scores(candidates: str, *given: Any) -> ScoreResult:
        if ".zh." in candidates:
            raise MissingExtra("the tokenizer rjieba", "zh")
        return score_files(candidates, *given)

    monkeypatch.setattr(demo, "score_files", scores)
    outcome = postil("demo", "--out", "d")
    assert outcome.code == 0
    needs = "needs an optional package: pip install"
    assert outcome.err.splitlines() == [
        f"left out: {what} {needs} 'postil[{extra}]'"
        for what, extra in (
            ("the tokenizer rjieba", "zh"),
            ("a report", "plot"),
            ("a corpus", "parquet"),
            ("a corpus", "parquet"),
            ("a report", "plot"),
        )
    ]
    assert "an annotator: No metric may replace one" in outcome.out
    where = outcome.out.partition("Where to look\n")[2]
    assert re.findall(r"d/\S+", where) == ["d/index.html", "d/highlighted.html"]


def test_serve_needs_the_packages_of_its_pages(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    outcome = postil("demo", "--out", "d", "--serve")
    assert outcome.code == 2
    assert outcome.err.endswith("--serve needs an optional package: pip install 'postil[serve,tables]'\n")
    assert not Path("d").exists()


def test_serve_takes_what_an_earlier_run_left(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "uvicorn", "sqlalchemy"):
        pytest.importorskip(name)
    did: list[str] = []
    monkeypatch.setattr("postil.studies.demo.calls.run_demo", lambda *_: did.append("run"))
    monkeypatch.setattr("postil.studies.demo.desk.serve_demo", lambda *_, **__: did.append("serve"))
    Path("d/model").mkdir(parents=True)
    assert postil("demo", "--out", "d", "--serve").code == 0
    Path("d/index.html").touch()
    assert postil("demo", "--out", "d", "--serve").code == 0
    assert did == ["run", "serve", "serve"]


def test_a_folder_that_cannot_be_made(postil: Postil) -> None:
    Path("d").write_text("a file")
    outcome = postil("demo", "--out", "d")
    assert (outcome.code, outcome.err) == (1, "postil: d: File exists\n")
