"""Capabilities: listed without being loaded, importable by themselves, and open to other packages."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sources import FILES, ROOT, module_of

import postil
from postil.capabilities import CAPABILITIES

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """
from postil.capabilities import Capability, Command, Kind

CAPABILITY = Capability(
    __name__,
    "Do something else",
    commands={"other": Command("made:other", "Do something else.")},
    kinds={"other": Kind("made:OtherResult", "made:view", pictures="made:pictures")},
    names={"made": "other_thing"},
)
"""
MADE = '''
from postil.cli.output import emit
from postil.results.base import Result
from postil.results.views import View


class OtherResult(Result, frozen=True, kw_only=True, tag="other"):
    n: int


def view(result: OtherResult) -> View:
    return View(line=f"{result.n} others", rows=[{"n": result.n}], grids=[])


def pictures(result: OtherResult) -> list[object]:
    return []


def other() -> None:
    """Do something else."""
    emit("done\\n")


other_thing = "a thing"
'''


def run(code: str, *folders: Path) -> str:
    """Output of a fresh interpreter."""
    path = os.pathsep.join(map(str, (*folders, ROOT.parent)))
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder of installed packages with a capability."""
    (tmp_path / "otherpostil").mkdir()
    (tmp_path / "otherpostil/__init__.py").write_text(OTHER)
    (tmp_path / "otherpostil/made.py").write_text(MADE)
    about = tmp_path / "otherpostil-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: otherpostil\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[postil.capabilities]\nother = otherpostil:CAPABILITY\n")
    return tmp_path


CLI = """
from postil.cli.main import app
try:
    app({words!r})
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("code", ["import postil; dir(postil)", CLI.format(words=["--help"])])
def test_listing_loads_no_module_of_a_capability(code: str) -> None:
    shown = run(f"{code}\nimport sys\nprint('loaded:', *sys.modules)").partition("loaded:")[2].split()
    below = tuple(f"postil.{name}." for name in CAPABILITIES)
    assert [name for name in shown if name.startswith(below)] == []
    assert "postil.capabilities" in shown


@pytest.mark.parametrize("backwards", [False, True])
def test_every_module_can_be_imported_in_any_order(backwards: bool) -> None:
    """Without cycles, which another test forbids, both orders show what relies on somebody else's imports."""
    names = sorted((module_of(path) for path in FILES if path.name != "__main__.py"), reverse=backwards)
    assert len(names) > 300
    run(f"from importlib import import_module\nfor name in {names!r}: import_module(name)")


def test_no_folder_hides_a_public_name() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    assert folders & set(postil.__all__) == set()


def test_another_package_adds_a_command_a_kind_and_a_name(other: Path) -> None:
    code = """
import postil
from postil.results.base import Result
result = Result.from_dict({"schema": 1, "kind": "other", "n": 2})
print(result, result.to_rows(), postil.other_thing)
"""
    assert run(code, other) == "OtherResult(2 others) [{'n': 2}] a thing\n"
    assert run(CLI.format(words=["other"]), other) == "done\n"


def test_other_packages_are_not_asked_for_a_list_of_commands(other: Path) -> None:
    watched = "import importlib.metadata\nimportlib.metadata.entry_points = None\n"
    assert "postil other" not in run(watched + CLI.format(words=["--help"]), other)
    assert "otherpostil" not in run(CLI.format(words=["--help"]) + "import sys; print(*sys.modules)", other)
