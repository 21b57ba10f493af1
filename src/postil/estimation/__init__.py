"""Mean human grades of systems from few ratings and many scores."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Collect ratings and estimate from them",
    commands={
        "estimate": Command("command:estimate", "Estimate mean human grades from few ratings and many scores."),
    },
    kinds={
        "estimate": Kind("result:EstimateResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
    },
    names={
        "options": "EstimateOptions",
        "calls": "estimate estimate_mean",
    },
)
