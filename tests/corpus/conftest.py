from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path


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
