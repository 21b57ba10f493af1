"""The commands of `postil study`: both papers from end to end."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Report and reproduce",
    commands={
        "demo": Command("demo.command:demo", "Score a bundled sample, and correlate metrics with ratings."),
        "study": Command("command:study", "Run the studies of two papers from end to end, on your data."),
    },
    kinds={
        "study": Kind("result:StudyResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
    },
)
