"""Imports go down only, and rooms on one floor do not know one another."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import postil

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(postil.__file__).parent
FLOORS = (
    ("errors", "escaping", "options", "version"),
    ("arrays", "kernel", "engine"),
    ("records", "text", "plots"),
    ("corpus", "metrics", "metaeval", "commenters", "annotation"),
    ("render",),
    ("app",),
    ("web",),
    ("cli",),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# The door itself, and what stands in front of it, lead to every room.
DOORS = {"__init__.py", "__main__.py"}
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).as_posix() not in DOORS]


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever in the file it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_down(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert room in FLOOR, f"{room} is in no floor of the house; see docs/architecture.md"
    for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
        package, _, rest = module.partition(".")
        if package == "postil":
            other = rest.partition(".")[0]
            assert other, "the package root is imported from inside"
            assert other == room or FLOOR[other] < FLOOR[room], f"{room} imports {other}"


def test_the_heavy_rooms_own_their_packages() -> None:
    owners = {
        "matplotlib": "plots",
        "torch": "commenters",
        "sqlalchemy": "annotation",
        "ray": "engine",
        "gensim": "text",
    }
    for path in FILES:
        room = path.relative_to(ROOT).parts[0]
        for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
            assert owners.get(module.partition(".")[0], room) == room, f"{path.relative_to(ROOT)} imports {module}"


def test_metaeval_rests_on_rows_and_numpy_alone() -> None:
    for path in FILES:
        if path.relative_to(ROOT).parts[0] == "metaeval":
            for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
                package, _, rest = module.partition(".")
                if package == "postil":
                    room = rest.partition(".")[0]
                    rooms = {"engine", "errors", "kernel", "metaeval", "records"}
                    assert room in rooms, f"{path.name} imports {module}"
                else:
                    assert package == "numpy" or package in sys.stdlib_module_names, f"{path.name} imports {module}"


@pytest.mark.parametrize("source", ["from .. import x", "from . import y"])
def test_the_test_sees_relative_imports(source: str) -> None:
    with pytest.raises(AssertionError):
        list(imported(ast.parse(source)))


def test_all_that_is_printed_goes_through_one_function() -> None:
    for path in FILES:
        if path == ROOT / "cli" / "errors.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "typer.echo", "typer.secho"}, f"{path.name}:{node.lineno}: emit or say"
