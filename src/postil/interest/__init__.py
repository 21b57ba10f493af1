"""Interesting passages of documents."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Interesting passages",
    commands={
        "interesting": Command("command:interesting", "Print the most interesting passages of a page."),
    },
    kinds={
        "interesting": Kind("result:InterestingResult", "view:view", title="Interesting passages"),
        "interesting-pages": Kind("result:InterestingPagesResult", "view:pages", title="Interesting passages of pages"),
        "interest-training": Kind("result:InterestTrainingResult", "view:training", title="A training of interest"),
    },
    measures={"interest": "model:Interest"},
    names={
        "calls": "highlight interesting",
        "options": "InterestingOptions",
    },
)
