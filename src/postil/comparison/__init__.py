"""Comparison of systems by scores, choices and clicks."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Score texts",
    commands={
        "compare": Command("command:compare", "Compare systems with a baseline on each metric."),
    },
    kinds={
        "compare": Kind("result:Comparison", "view:view", chapter="chapter:chapter", pictures="chapter:pictures"),
        "interleaving": Kind(
            "interleaved_result:InterleavingResult",
            "interleaved_view:view",
            title="Interleaved suggestions",
            pictures="chapter:interleaved",
        ),
        "preferences": Kind(
            "preferences_result:PreferencesResult",
            "preferences_view:view",
            title="Paired preferences",
            chapter="chapter:preferences",
            pictures="chapter:strengths",
        ),
    },
    names={
        "calls": "CompareOptions compare",
        "choices": "compare_interleaved compare_preferences",
    },
)
