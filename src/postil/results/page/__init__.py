"""Pages: results as one HTML file that opens from disk, and their tables as CSV and LaTeX."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Report and reproduce",
    commands={
        "report": Command("postil.cli.main:report", "Write one page from the JSON of other commands."),
    },
    names={
        "report": "report",
    },
)
