"""Metrics against human ratings: correlations, tests, audits."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Compare metrics with people",
    commands={
        "correlate": Command("command:correlate", "Correlate metric scores with human ratings."),
    },
    kinds={
        "correlate": Kind(
            "result:CorrelationResult", "view:view", chapter="chapter:chapter", pictures="chapter:pictures"
        ),
    },
    names={
        "options": "CorrelateOptions",
        "calls": "correlate",
        "result": "CorrelationResult",
    },
)
