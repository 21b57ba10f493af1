"""The page that sets postil beside other tools: what it says of postil is there, and what it says is missing is not."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main

from postil.cli.main import app
from postil.errors import UnknownName
from postil.metrics.spec import parse_measure, parse_metric
from postil.text.tokenizers import TOKENIZERS

PAGE = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
TABLES: list[list[list[str]]] = [
    [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
]
OF_POSTIL = [table for table in TABLES if table[0][1] == "postil"]
CODE = re.compile(r"`([^`]+)`")
NAMED = {
    code
    for text in [*(row[1] for table in OF_POSTIL for row in table), *re.findall(r"^[^|\n].*", PAGE, re.MULTILINE)]
    for code in CODE.findall(text)
}
COMMANDS = sorted(code for code in NAMED if code.startswith("postil "))
SPECS = sorted(code for row in OF_POSTIL[1] for code in CODE.findall(row[1]) if not code.startswith("postil "))


def cell(row: str) -> str:
    """The cell of postil in a row."""
    (found,) = [each[1] for table in OF_POSTIL for each in table if each[0] == row]
    return found


def test_tables_are_whole() -> None:
    assert len(OF_POSTIL) == 7
    for table in TABLES:
        assert {len(row) for row in table} == {len(table[0])}, table[0]
        assert all(all(row) for row in table[2:]), table[0]
    assert len(OF_POSTIL[0]) - 2 <= 16


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_flags_exist(command: str) -> None:
    words = shlex.split(command)[1:]
    found: Any = typer.main.get_command(app)
    while words and words[0] in getattr(found, "commands", ()):
        found = found.commands[words.pop(0)]
    assert not hasattr(found, "commands"), command
    flags = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= flags
    for flag, value in pairwise(words):
        if flag == "--measure":
            parse_measure(value)
        if flag in {"--metric", "-m"} and not value.startswith("control:"):
            parse_metric(value)
        if flag == "--tokenizer":
            assert value in TOKENIZERS


def test_there_are_commands_and_specs() -> None:
    assert len(COMMANDS) > 30
    assert len(SPECS) > 15


@pytest.mark.parametrize("spec", sorted(set(SPECS) - set(TOKENIZERS) - {"w-"}))
def test_metrics_exist(spec: str) -> None:
    assert str(parse_metric(spec)).startswith(spec.partition("(")[0])


@pytest.mark.parametrize(
    ("row", "names"),
    [("TER", ["ter"]), ("SPICE", ["spice"]), ("learned metrics (COMET, BLEURT)", ["comet", "bleurt"])],
)
def test_what_is_said_to_be_missing_is(row: str, names: list[str]) -> None:
    assert cell(row) == "–"
    for name in names:
        with pytest.raises(UnknownName):
            parse_metric(name)


def test_no_tokenizer_is_for_japanese_or_korean() -> None:
    assert cell("Segments Japanese and Korean") == "–"
    assert set(TOKENIZERS) == {"space", "words", "characters", "rouge", "13a", "ptb", "jieba", "rjieba"}
