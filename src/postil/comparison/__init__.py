"""Comparison of systems by scores, choices and clicks."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    commands={
        "compare": Command("command:compare", "Compare systems with a baseline on each metric."),
    },
    kinds={
        "compare": Kind("result:Comparison", "view:view", chapter="view:chapter", pictures="view:pictures"),
        "interleaving": Kind(
            "result:InterleavingResult",
            "view:interleaved",
            title="Interleaved suggestions",
            pictures="view:interleaved_pictures",
        ),
        "preferences": Kind(
            "result:PreferencesResult",
            "view:preferences",
            title="Paired preferences",
            chapter="view:preferences_chapter",
            pictures="view:strengths",
        ),
    },
    names={
        "options": "CompareOptions",
        "calls": "compare compare_interleaved compare_preferences",
    },
)
