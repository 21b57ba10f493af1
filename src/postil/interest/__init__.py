"""Interesting passages of documents."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Find interesting passages",
    commands={
        "interesting": Command("command:interesting", "Print the most interesting passages of a page."),
    },
    kinds={
        "interesting": Kind("result:InterestingResult", "view:view", title="Interesting passages"),
        "interesting-pages": Kind(
            "result:InterestingPagesResult", "pages_view:view", title="Interesting passages of pages"
        ),
        "interest-training": Kind(
            "result:InterestTrainingResult", "training_view:view", title="A training of interest"
        ),
    },
    names={
        "calls": "interesting",
        "options": "InterestingOptions",
        "pages": "highlight",
        "result": "RankedPassage",
    },
)
