"""The sources of the package, for the tests of its structure and language."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import postil

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(postil.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# The package root and the entry point are above all layers.
ENTRY_POINTS = {"__init__.py", "__main__.py"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """The path below the package, for messages and test ids."""
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Every module that is imported, wherever in the file it is, under TYPE_CHECKING too."""
    modules = _modules()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: relative import"
            module = node.module or ""
            for name in node.names:
                full = f"{module}.{name.name}"
                yield full if full in modules else module


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _modules() -> frozenset[str]:
    return frozenset(map(module_of, FILES))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def annotations(node: ast.AST) -> Iterator[ast.expr]:
    """The annotations of a function's arguments and result, or of a variable."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        yield from (each.annotation for each in every if each is not None and each.annotation is not None)
        if node.returns is not None:
            yield node.returns
    elif isinstance(node, ast.AnnAssign):
        yield node.annotation
