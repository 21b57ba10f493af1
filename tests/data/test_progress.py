"""The bar shows itself to people only, and passes everything on."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from postil.data.progress import progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silent_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("things", range(5000)) as things:
        assert list(things) == list(range(5000))
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal_and_on_stderr_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress("things", range(5000), total=5000) as things:
        assert list(things) == list(range(5000))
    assert "things" in terminal.getvalue()
    with progress("requests", range(3), total=3, note=lambda: "0.25 spent") as slow:
        assert list(slow) == [0, 1, 2]
    assert "0.25 spent" in terminal.getvalue()
    with progress("nothing", []) as nothing:
        assert list(nothing) == []
    assert capsys.readouterr().out == ""
