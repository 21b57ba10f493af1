"""Scores of systems against weighted references."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    commands={
        "score": Command("command:score", "Score systems against weighted references."),
    },
    kinds={
        "score": Kind(
            "postil.metrics.result:ScoreResult", "view:view", chapter="view:chapter", pictures="view:pictures"
        ),
    },
    names={
        "calls": "consensus_weights score",
    },
)
