"""Plans of which references to grade."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    commands={
        "weights": Command("command:weights", "Plan which references to grade for weighted metrics."),
    },
    kinds={
        "weights-plan": Kind(
            "calls:WeightsPlanResult", "view:view", title="References to grade", pictures="view:pictures"
        ),
    },
)
