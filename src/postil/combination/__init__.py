"""Human grades from several metrics."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Compare metrics with people",
    commands={
        "combine": Command("command:combine", "Learn human grades from several metrics, and grade by them."),
    },
    kinds={
        "combine": Kind("result:CombinationResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
    },
    names={
        "options": "ApplyOptions CombineOptions",
        "calls": "apply_combination fit_combination",
    },
)
