"""Messages as data: flags are named by the command line alone, and templates are literals with their facts."""

from __future__ import annotations

import ast
import re
from string import Formatter
from typing import TYPE_CHECKING

import pytest
from sources import FILES, name_of, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
WHOLE = re.compile(r"`[a-z][a-z-]* [^`]*--[a-z-]+[^`]*`")
"""A command of another program, such as `qpdf --decrypt`."""

TEMPLATES = {"Message": 0, "Hint": 0, "Note": 1, "Refused": 1}
"""Place of the template among the arguments, by class."""

ERRORS = {"PostilError", "LimitReached", "UsageError", "Undefined"}
"""Errors whose first argument is a template where facts are given."""


def strings(module: ast.Module) -> Iterator[ast.Constant]:
    """The strings of a module but its docstrings and those that document a name."""
    documents = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node


def templates(module: ast.Module) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Calls that make a message, with the expressions of its templates: for one, and for several."""
    ours = {
        name.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        and node.module in {"postil.campaigns.models", "postil.errors", "postil.messages"}
        for name in node.names
    }
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ours):
            continue
        if (place := TEMPLATES.get(node.func.id)) is not None or (node.func.id in ERRORS and node.keywords):
            yield node, node.args[place or 0 : (place or 0) + 2]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_flags_are_named_by_the_command_line_alone(path: Path) -> None:
    if name_of(path).startswith("cli/") or path.name.endswith("command.py"):
        return
    found = [
        f"{node.lineno}: {node.value}"
        for node in strings(tree(path))
        if FLAG.search(WHOLE.sub("", node.value)) and "postil " not in node.value
    ]
    assert found == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_templates_are_literals_with_the_facts_that_they_name(path: Path) -> None:
    if name_of(path) in {"messages.py", "errors.py"}:
        return
    wrong = []
    for call, words in templates(tree(path)):
        if not all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in words):
            wrong.append(f"{call.lineno}: a template that is no literal")
            continue
        if any(each.arg is None for each in call.keywords):
            continue
        facts = {each.arg for each in call.keywords}
        named = {
            name.partition(".")[0]
            for each in words
            if facts and isinstance(each, ast.Constant)
            for _, name, _, _ in Formatter().parse(str(each.value))
            if name is not None
        }
        if named | {"count"} != facts | {"count"}:
            wrong.append(f"{call.lineno}: names {sorted(named)}, and has {sorted(map(str, facts))}")
    assert wrong == []
