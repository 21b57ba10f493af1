from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import File

sys.path.insert(0, str(Path(__file__).parent))  # for corpus_work


@pytest.fixture(autouse=True)
def no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bringing files to disk takes half the time of a small build, and no test is about power cuts."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Refused(Protocol):
    def __call__(self, read: Callable[[Path], object], name: str, text: str, message: str) -> None: ...


@pytest.fixture
def write_error(file: File) -> Refused:
    """Sees that a file is refused; the message begins with its name, and with … at the end it may go on."""

    def check(read: Callable[[Path], object], name: str, text: str, message: str) -> None:
        path = file(name, text)
        with pytest.raises(InvalidInput) as refusal:
            read(path)
        start, more, _ = str(path.with_name(message)).partition("…")
        assert str(refusal.value).startswith(start)
        assert more or str(refusal.value) == start

    return check
