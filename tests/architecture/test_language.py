"""Language: standard terms in code, docs and help; docstrings that name the thing."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

import pytest
from sources import FILES, name_of, tree

if TYPE_CHECKING:
    from collections.abc import Iterator


REPOSITORY = Path(__file__).parents[2]
ROOT_PAGES = [REPOSITORY / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
PAGES = sorted([*(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "research").rglob("*.md"), *ROOT_PAGES])

# Words that mean something here alone, each with the standard term.
PRIVATE = {
    r"\bnouns?\b(?=\.py| of (the|this) (package|room))": "data models",
    r"\bjourneys?\b": "command",
    r"\b(this|the|a|each|every|one|heavy|all) (room|floor)s?\b": "package, layer",
    r"\bfloors of the house\b": "layers",
    r"\btwins?\b": "pure-Python kernel",
    r"\bparcels?\b": "message",
    r"\blanes?\b": "worker slot",
    r"\blikeness\b": "similarity",
    r"\blikest\b": "top k",
    r"\brarity\b": "idf",
    r"\bheld against\b": "compared with",
    r"\bhold metrics against\b": "correlate metrics with",
    r"\b(held|hold) back\b": "filtered out",
    r"\b(high|low) is good\b": "higher (lower) is better",
    r"\bsmall numbers are good\b": "lower is better",
    r"\bthe middle 95 %": "95 % confidence interval",
    r"\bwords for people\b": "status messages",
    r"\bwhole or not at all\b": "written atomically",
    r"\bthe system refuses\b": "the operating system reports an error",
    r"\bbehind one another\b": "concatenated",
    r"\ba (row|line|column|number|weight|bar|picture|task|list) (a|an) [a-z]": "one … per …",
    r"\bso many\b": "the number",
    r"\blooks? at dev\b": "dev evaluation",
    r"\bnats a word\b": "nats per token",
    r"\b[a-z]*(normali|tokeni|randomi|summari|organi|initiali|regulari|optimi|seriali)s(e|ed|es|ing|ation)\b": "-ize",
    r"\b(behaviour|colour|neighbour|favour|centre)s?\b": "American spelling",
}
# Frozen JSON fields and values, which keep their spelling, and a command of before.
ALLOWED = ("p_randomisation", "normalised", "without itself", "import tokenised")
QUESTION = re.compile(r"(What|Whether|How|Where|Who|Whose|Which|When|Why|Of)\b")
FIRST = re.compile(rf"{QUESTION.pattern}|Two\b")


BESIDE = sorted(path for name in ("tests", "examples", "tools", "bench") for path in (REPOSITORY / name).rglob("*.py"))
"""Python files besides the package."""


def text_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    for word in ALLOWED:
        text = text.replace(word, "")
    return text


@pytest.mark.parametrize("path", [*FILES, *PAGES], ids=lambda path: name_of(path) if path in FILES else path.name)
def test_terms_are_standard(path: Path) -> None:
    text = text_of(path)
    found = [
        f"{path.name}:{text.count(chr(10), 0, match.start()) + 1}: '{match[0]}': {term}"
        for pattern, term in PRIVATE.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert found == []


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, those below a field or constant too."""
    for node in ast.walk(tree(path)):
        body = getattr(node, "body", ())
        for place, each in enumerate(body if isinstance(body, list) else ()):
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                before = body[place - 1] if place else None
                if place == 0 or isinstance(before, ast.Assign | ast.AnnAssign):
                    yield each.lineno, each.value.value


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_docstrings_name_the_thing(path: Path) -> None:
    """A noun phrase or an imperative; arguments are noun phrases."""
    wrong = []
    for line, text in docstrings(path):
        if FIRST.match(text):
            wrong.append(f"{line}: {text.splitlines()[0]}")
        arguments = re.split(r"\n *(?:Returns|Raises|Yields|Warns):\n", text.partition("Args:\n")[2])[0]
        for name, words in re.findall(r"^ +(\w+): +(\w+)", arguments, re.MULTILINE):
            if QUESTION.match(words):
                wrong.append(f"{line}: {name}: {words} …")
    assert wrong == []


def test_docstrings_beside_the_package_name_the_thing() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {text.splitlines()[0]}"
        for path in BESIDE
        for line, text in docstrings(path)
        if FIRST.match(text)
    ]
    assert wrong == []


FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
WHOLE = re.compile(r"`[a-z][a-z-]* [^`]*--[a-z-]+[^`]*`")
"""A command of another program, such as `qpdf --decrypt`."""

TEMPLATES = {"Message": 0, "Hint": 0, "NoColumn": 0, "Note": 1, "Refused": 1}
"""Place of the template among the arguments, by class."""

ERRORS = {"PostilError", "LimitMissed", "LimitReached", "UsageError", "Undefined"}
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
        and node.module in {"postil.campaigns.models", "postil.data.explain", "postil.errors", "postil.messages"}
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
