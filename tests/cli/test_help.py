"""Help: every command and every option says what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import typer.main

from postil.cli.main import app
from postil.data.grades import METHODS
from postil.metrics.spec import METRICS
from postil.results.formats import FORMATS
from postil.text.tokenizers import TOKENIZERS
from postil.version import VERSION

if TYPE_CHECKING:
    from conftest import Postil

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # made when asked for


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_root_lists_every_command(postil: Postil, flag: str) -> None:
    outcome = postil(flag)
    assert outcome.code == 0
    assert not outcome.err
    assert all(f"  {name} " in outcome.out for name in COMMANDS)
    assert outcome.out.index("  score ") < outcome.out.index("  annotate "), "commands stand before groups"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_documents_itself_and_all_its_options(postil: Postil, name: str) -> None:
    outcome = postil(name, "--help")
    assert outcome.code == 0
    assert not outcome.err
    command = COMMANDS[name]
    assert command.help
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.name} says nothing"
        assert any(option in outcome.out for option in [*parameter.opts, parameter.metavar] if option)


def _said(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("names", [FORMATS, METHODS, TOKENIZERS, [m for m in METRICS if not m.startswith("bleu")]])
def test_help_names_everything_that_can_be_asked_for(postil: Postil, names: list[str]) -> None:
    said = _said(postil("score", "--help").out)
    assert [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w+-])", said)] == []


def test_defaults_are_shown(postil: Postil) -> None:
    said = _said(postil("score", "--help").out)
    assert "[default: words]" in said
    assert "[default: table]" in said


def test_the_example_runs(postil: Postil) -> None:
    example = _said(postil("score", "--help").out).partition("Example: postil ")[2].partition(" Arguments:")[0]
    words = example.replace("systems.jsonl", "c.jsonl").replace("references.jsonl", "r.jsonl").split()
    assert postil(*words).code == 0


def test_version(postil: Postil) -> None:
    outcome = postil("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"postil {VERSION}\n", "")


def test_without_a_command_there_is_help(postil: Postil) -> None:
    outcome = postil()
    assert "score" in outcome.out + outcome.err


def test_a_misspelt_command_is_guessed(postil: Postil) -> None:
    outcome = postil("scroe")
    assert outcome.code == 2
    assert "'score'" in outcome.err
