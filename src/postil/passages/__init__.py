"""Rankings of graded passages: pools, nCG, summaries."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Interesting passages",
    commands={
        "passages": Command("command:passages", "Rank graded passages by measures, and compare them by nCG."),
    },
    kinds={
        "passages": Kind("result:NcgResult", "view:view", chapter="chapter:chapter", pictures="chapter:pictures"),
        "summaries": Kind(
            "result:SummaryResult", "view:summaries", title="Summaries of topics", pictures="chapter:summaries"
        ),
    },
    names={
        "result": "RankedPassage",
        "similarity": "rank_passages",
    },
)
