"""The log of the service, when nobody reads it any more."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from postil.web.error_log import log_failure, unbroken

if TYPE_CHECKING:
    import pytest


def fail() -> None:
    try:
        {}["rain"]
    except KeyError:
        log_failure("request 1")


def test_a_failure_is_written_with_its_request(capsys: pytest.CaptureFixture[str]) -> None:
    fail()
    assert capsys.readouterr().err.startswith("request 1:\nTraceback (most recent call last)")


def test_a_pipe_without_a_reader_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stderr", type("Stream", (), {"write": lambda _, text: pipe.write(text.encode())})())
        fail()
    fail()  # and now the stream is closed
    told: list[str] = []
    unbroken(told.append)("reloaded")
    assert told == ["reloaded"]
