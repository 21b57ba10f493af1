from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Protocol

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for corpus_work


@pytest.fixture(autouse=True)
def no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bringing files to disk takes half the time of a small build, and no test is about power cuts."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class File(Protocol):
    def __call__(self, name: str, text: str | bytes) -> Path: ...


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Writes a file; compressed if its name says so."""

    def make(name: str, text: str | bytes) -> Path:
        data = text.encode() if isinstance(text, str) else text
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return make
