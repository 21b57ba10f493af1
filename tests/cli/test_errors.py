"""Printed output: text of users steers no terminal, and data stay data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from postil.cli.output import emit, say, terminal_width

if TYPE_CHECKING:
    from conftest import Postil

NAME = "a\x1b]0;x\x07\x9b2J\u202eb\udcff"
SEEN = r"a\x1b]0;x\x07\x9b2J\u202eb\udcff"
EVERY = ("table", "json", "jsonl", "csv", "markdown", "latex", "")


@pytest.mark.parametrize("form", EVERY)
def test_on_a_terminal_control_characters_are_visible(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    emit(f"{NAME}\tb\n\r雨\n", form)
    assert capsys.readouterr().out == f"{SEEN}\tb\n\\r雨\n"


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "47")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert terminal_width() is None
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert terminal_width() == 47


@pytest.mark.parametrize("form", EVERY)
def test_in_a_pipe_only_tables_have_escapes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, seen = NAME.removesuffix("\udcff"), SEEN.removesuffix(r"\udcff")
    emit(f"{name}\r\n", form)
    assert capsys.readouterr().out == (f"{seen}\\r\n" if form == "table" else f"{name}\r\n")


def test_words_for_people_are_one_visible_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{NAME}\nb")
    assert capsys.readouterr() == ("", f"{SEEN} b\n")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("score", "no\x1b[2J\u202e.jsonl", "-r", "r.jsonl"), 3, r"postil: no\x1b[2J\u202e.jsonl: no such file"),
        (("score", "c.jsonl", "-r", "r.jsonl", "-m", "x\x9b2J"), 2, r"unknown metric 'x\x9b2J'"),
        (("score", "c.jsonl", "-r", "r.jsonl", "--x\x1b[31m\u202e"), 2, r"--x\x1b[31m\u202e"),
        (("--x\u202e",), 2, r"--x\u202e"),
        (("x\u202e",), 2, r"'x\u202e'"),
        (("score", "c.jsonl", "-r", "r.jsonl", "y\u202e"), 2, r"y\u202e"),
    ],
)
def test_mistakes_in_visible_characters(postil: Postil, args: tuple[Any, ...], code: int, message: str) -> None:
    outcome = postil(*args)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err
    assert not {"\x1b", "\x9b", "\u202e"} & set(outcome.err)
