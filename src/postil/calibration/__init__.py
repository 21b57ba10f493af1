"""Filters of suggestions that are worth showing, learned from labels."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comments, threads and screening",
    commands={
        "label": Command("command:label", "Label suggestions in a browser: show or do not show."),
        "calibrate": Command("command:calibrate", "Learn from labels what is worth showing."),
    },
    kinds={
        "calibration": Kind(
            "result:CalibrationResult", "view:view", title="Precision against coverage", pictures="view:pictures"
        ),
    },
    names={
        "calls": "calibrate",
        "options": "CalibrateOptions",
    },
)
