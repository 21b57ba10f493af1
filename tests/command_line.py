"""Helpers of tests of commands: files of rows as plain JSON, and the one line of a refusal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Postil

__all__ = ["put", "refusal"]


def put(path: str | Path, rows: Iterable[object]) -> None:
    """Write rows as JSON Lines, whatever is in them."""
    Path(path).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def refusal(postil: Postil, *words: object, code: int = 3) -> str:
    """The one line that a command answers with, without `postil: `; it leaves all files as they are."""
    before = _files()
    outcome = postil(*words)
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert _files() == before, "something was left behind or replaced"
    assert re.fullmatch(r"postil: [^\n]+\n", outcome.err), outcome.err
    return outcome.err.removeprefix("postil: ").rstrip("\n")


def _files() -> dict[Path, int]:
    return {path: path.is_file() and path.stat().st_mtime_ns for path in Path().rglob("*")}
