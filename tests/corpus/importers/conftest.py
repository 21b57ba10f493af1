from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Protocol

import pytest

from postil.corpus.importers.import_report import ImportReport
from postil.messages import COMMAND_LINE

if TYPE_CHECKING:
    from pathlib import Path

    from postil.errors import InvalidInput


class Lines(Protocol):
    def __call__(self, name: str, *lines: object) -> Path: ...


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    """Writes lines, given as text, bytes or what becomes JSON; compressed if the name says so."""

    def make(name: str, *lines: object) -> Path:
        texts = (line if isinstance(line, str | bytes) else json.dumps(line) for line in lines)
        data = b"".join((text.encode() if isinstance(text, str) else text) + b"\n" for text in texts)
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return make


class Problems(Protocol):
    def __call__(self, report: ImportReport) -> list[str]: ...


@pytest.fixture
def rejected() -> list[InvalidInput]:
    return []


@pytest.fixture
def report(rejected: list[InvalidInput]) -> ImportReport:
    """Goes on without what is broken; `problems(report)` says what that was."""
    return ImportReport(rejected.append)


@pytest.fixture
def problems(rejected: list[InvalidInput]) -> Problems:
    """Rejected rows, without the folders of the files."""

    def said(report: ImportReport) -> list[str]:
        assert report.rejected == len(rejected)
        return [
            f"{each.where.rpartition('/')[2]}:{each.line}: {each.field}: {COMMAND_LINE.words(each.problem)}"
            for each in rejected
        ]

    return said
