"""Runs a piece of work in a child whose processor time is limited: one that is not linear does not finish."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["SECONDS", "unfinished"]

_FOLDERS = (str(Path(__file__).parent), str(Path(__file__).parent / "architecture"))
SECONDS = 60
"""Processor time that a child has."""
_PRELUDE = "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, ({0}, {0})); sys.path[:0] = {1!r}\n"


def unfinished(code: str, *arguments: str) -> str:
    """Last line of a child that runs a piece of code, if it did not come to the end; else empty.

    Args:
        code: The code, which prints a line before each thing that it does.
        arguments: Arguments of the code.
    """
    child = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", _PRELUDE.format(SECONDS, [*_FOLDERS]) + code, *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if child.returncode == 0:
        return ""
    lines = child.stdout.splitlines() or ["nothing"]
    return f"exit {child.returncode} at {lines[-1]}{child.stderr[-2000:]}"
