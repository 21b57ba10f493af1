from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from typer.testing import CliRunner

from postil.cli.main import app

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def scores(self) -> dict[tuple[str, str], float]:
        """Rows of `--format jsonl`: the score of each system and metric."""
        assert self.code == 0, self.err
        rows = [json.loads(line) for line in self.out.splitlines()]
        return {(row["system"], row["metric"]): row["score"] for row in rows}


class Postil(Protocol):
    def __call__(self, *args: object, stdin: bytes | None = None) -> Outcome: ...


@pytest.fixture
def postil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Postil:
    """Runs a command line in a folder that holds `c.jsonl` and `r.jsonl`, and nothing else."""
    shutil.copy(HERE / "candidates.jsonl", tmp_path / "c.jsonl")
    shutil.copy(HERE / "references.jsonl", tmp_path / "r.jsonl")
    monkeypatch.chdir(tmp_path)

    def run(*args: object, stdin: bytes | None = None) -> Outcome:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run
