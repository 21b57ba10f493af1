"""Annotation campaigns: item assignment, the event log, quality control, exports."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Collect ratings and estimate from them",
    commands={
        "annotate": Command("command:annotate", "Collect human ratings: plan, serve, agreement, export."),
    },
    kinds={
        "quality": Kind("result:QualityResult", "view:quality"),
        "plan": Kind("result:PlanResult", "view:plan", title="An item assignment"),
    },
)
