"""Names on the page about migrating: the new ones exist, and the old ones do not."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path
from typing import Any

import typer.main

import postil
from postil.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
FLAG = re.compile(r"`(--[a-z-]+)")


def table(heading: str) -> list[list[str]]:
    """Cells of the rows below a heading."""
    text = PAGE.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    assert len(rows) > 1, heading
    return rows[1:]


def flags(command: str) -> set[str]:
    found: Any = reduce(lambda each, word: each.commands[word], command.split(), typer.main.get_command(app))
    return {option for parameter in found.params for option in parameter.opts}


def test_new_flags_exist_and_old_ones_do_not() -> None:
    for commands, old, new in table("Flags"):
        for command in re.findall(r"`([^`]+)`", commands):
            there = flags(command)
            assert set(FLAG.findall(new)) <= there, command
            assert FLAG.findall(old), command
            assert (set(FLAG.findall(old)) - set(FLAG.findall(new))).isdisjoint(there), command


def test_flags_of_defaults_exist() -> None:
    for commands, named, *_ in table("Defaults"):
        for command in re.findall(r"`([^`]+)`", commands):
            assert set(FLAG.findall(named)) <= flags(command), command


def test_new_commands_exist_and_old_ones_do_not() -> None:
    for old, new in table("Commands"):
        words, _, flag = new.strip("`").partition(" --")
        assert not flag or f"--{flag}" in flags(words.removeprefix("postil "))
        *group, name = old.strip("`").partition(" --")[0].removeprefix("postil ").split()
        parent: Any = reduce(lambda each, word: each.commands[word], group, typer.main.get_command(app))
        assert name not in parent.commands


def test_new_names_exist_and_old_ones_do_not() -> None:
    for old, new in table("Python"):
        assert not set(re.findall(r"postil\.(\w+)", old)) & set(postil.__all__)
        assert set(re.findall(r"postil\.(\w+)", new)) <= set(postil.__all__)
