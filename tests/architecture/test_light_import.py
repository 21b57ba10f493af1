"""Starting is cheap: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sources import FILES, name_of

from postil.capabilities import capabilities

HEAVY = {
    "httpx2",
    "psycopg",
    "scipy",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "sklearn",
    "matplotlib",
    "jinja2",
    "torch",
    "narwhals",
    "pandas",
    "pyarrow",
    "jieba",
    "rjieba",
    "snowballstemmer",
    "py3langid",
    "gensim",
    "charset_normalizer",
    "mwparserfromhell",
    "python_calamine",
    "xlsxwriter",
    "yaml",
    "markdown_it",
    "feedparser",
    "trafilatura",
    "lxml",
    "selectolax",
    "ray",
}
COMMANDS = [name for capability in capabilities() for name in capability.commands]
HEAVIER_THAN_THE_DOOR = HEAVY | {"numpy", "msgspec", "click", "rich"}


def loaded(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}}, file=sys.stderr)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - our own code
    return set(done.stderr.split())


HELP = """
from postil.cli.main import app
try:
    app(["--help"])
except SystemExit as end:
    assert end.code == 0
"""


@pytest.mark.parametrize(
    ("statement", "not_loaded"),
    [
        ("import postil", HEAVIER_THAN_THE_DOOR),
        ("import postil; dir(postil); postil.__version__; postil.PostilError", HEAVIER_THAN_THE_DOOR),
        ("import postil.cli.main", HEAVY | {"numpy", "msgspec"}),
        (HELP, HEAVY | {"numpy", "msgspec"}),
        (HELP.replace('"--help"', '"score", "--help"'), HEAVY),
        (HELP.replace('"--help"', '"train", "att", "--help"'), HEAVY),
        ("import postil; postil.score, postil.parse_metric, postil.Scale", HEAVY | {"click", "rich"}),
        ("import postil.data.row_files, postil.data.grades", HEAVY),
        ("import postil.meta.correlation", HEAVY | {"click", "rich"}),
        ("import postil.endpoint.client", HEAVY | {"numpy", "click", "rich"}),
        (
            "import postil.results.plots.forest, postil.results.plots.lines, postil.results.plots.figure",
            HEAVY | {"click", "rich"},
        ),
    ],
)
def test_not_loaded(statement: str, not_loaded: set[str]) -> None:
    assert loaded(statement) & not_loaded == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_needs_no_arrays(command: str) -> None:
    code = "import sys; from postil.cli.main import main"
    shown = f"{code}\nsys.argv = ['postil', '{command}', '--help']\ntry:\n    main()\nexcept SystemExit: pass"
    assert loaded(f"{shown}\nassert 'numpy._core' not in sys.modules") & HEAVY == set()


def test_what_is_read_of_numpy_is_there_after_all() -> None:
    code = "import sys; sys.argv = ['postil', 'score', '--help']; from postil.cli.main import main"
    shown = f"{code}\ntry:\n    main()\nexcept SystemExit: pass"
    loaded(f"{shown}\nimport numpy\nassert numpy.arange(3).sum() == 3 and 'numpy._core' in sys.modules")


def test_nothing_is_looked_up_to_compile_a_module() -> None:
    """An interrupt while Python looks a character up by its name becomes a SyntaxError."""
    assert [name_of(path) for path in FILES if r"\N{" in path.read_text(encoding="utf-8")] == []


def test_the_test_can_see_what_is_loaded() -> None:
    assert {"numpy", "json"} <= loaded("import json, numpy")
