"""Plans of rating campaigns: items, raters, hours and power."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Collect ratings and estimate from them",
    commands={
        "budget": Command("command:budget", "Plan a rating campaign: items, raters, hours and power."),
    },
    kinds={
        "budget": Kind("result:BudgetResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
    },
    names={
        "options": "BudgetOptions",
        "calls": "budget",
    },
)
