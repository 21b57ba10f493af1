"""Every command and all Python in the README, the tutorials and the guides runs, and prints what they show."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import inputs
import pytest
from pages import ROOT, Block, Run, blocks, is_part, reason_not_to_run

if TYPE_CHECKING:
    from pathlib import Path

TUTORIALS = sorted(f"docs/tutorials/{path.name}" for path in (ROOT / "docs/tutorials").glob("*.md"))
NOTHING_TO_RUN = {
    f"docs/{name}.md"
    for name in ("architecture", "compare", "decisions", "deploy", "index", "install", "measures", "migrating", "not")
}
GUIDES = sorted({f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - NOTHING_TO_RUN)
SLOW = {
    f"docs/{name}.md" for name in ("choose", "comment", "corpus", "generate", "maintain", "python", "study", "vectors")
}
"""They train, or make pages with pictures."""
PAGES = ["README.md", "examples/README.md", *TUTORIALS, *GUIDES, "research/jobs.md"]
EXTRAS = (
    *("gensim", "httpx2", "jinja2", "matplotlib", "mwparserfromhell", "pyarrow", "rjieba", "sklearn", "sqlalchemy"),
    *("tokenizers", "torch"),
)


@pytest.fixture(scope="session")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    inputs.make(folder)
    return folder


@pytest.mark.usefixtures("nothing_stays_registered")
@pytest.mark.filterwarnings("default")  # of packages that a page shows beside ours
@pytest.mark.parametrize("page", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in PAGES])
def test_the_page_does_what_it_shows(
    page: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for extra in EXTRAS:
        pytest.importorskip(extra)
    small: Path = request.getfixturevalue("small_files")
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    run = Run(page)
    run.all()
    assert run.done, "the page has nothing to run"


def test_what_is_not_run_says_why_and_is_little() -> None:
    all_of_it = [block for page in PAGES for block in blocks(page)]
    commands = [command for block in all_of_it if block.holds_commands for command, _ in block.commands()]
    assert all(len(block.not_run) > 8 for block in all_of_it if block.not_run)
    assert sum(bool(block.not_run) for block in all_of_it) <= 5
    assert sum(bool(reason_not_to_run(command)) for command in commands) <= 12
    assert len(commands) > 100


SHOWN = """\
before
```
$ postil one \\
> --two
said
…
$ cat > f <<'END'
$ not a command
END
```
```
postil three > f  # what it does
```
<!-- not run: takes a day -->
```
postil four
```
<!-- needs: json, nothing_of_this_name -->
```python
1 / 0
```
```
a line
```
"""


def test_what_a_block_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ROOT", tmp_path)
    (tmp_path / "page.md").write_text(SHOWN.replace("$ not", "not"), encoding="utf-8")
    one, two, three, python, output = blocks("page.md")
    assert one.commands() == [("postil one --two", ["said", "…"]), ("cat > f <<'END'", ["not a command", "END"])]
    assert two.commands() == [("postil three > f  # what it does", [])]
    assert (three.not_run, python.needs) == ("takes a day", ("json", "nothing_of_this_name"))
    assert [block.holds_commands for block in (one, two, three, python, output)] == [True, True, True, False, False]
    with pytest.raises(AssertionError, match=r"page\.md:\d+: postil one --two"):
        Run("page.md").all()


def test_output_that_nothing_printed_is_found() -> None:
    run = Run("page.md", outputs=["a\nb\nc"])
    run.where = "page.md:1"
    run.compare(["a", "…", "c"])
    with pytest.raises(AssertionError, match="no command printed this"):
        run.compare(["c", "a"])
    assert not is_part(["d"], ["a"])
    with pytest.raises(AssertionError, match="page\\.md:1: postil --version printed"):
        run.command("postil --version", ["postil 0"])
    with pytest.raises(AssertionError, match="rm is not run here"):
        run.command("rm -r demo", [])


def test_python_that_fails_fails() -> None:
    run = Run("page.md")
    run.where = "page.md:1"
    with pytest.raises(ZeroDivisionError):
        run.python(Block(1, "python", "1 / 0"))
