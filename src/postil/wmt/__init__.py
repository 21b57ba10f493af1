"""Metrics of a WMT test set against its human scores."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Compare metrics with people",
    commands={
        "wmt": Command("command:wmt", "Correlate metrics of a WMT test set with its human scores."),
    },
    kinds={
        "wmt": Kind("result:MetricsTaskResult", "view:view", title="Metrics of a test set", pictures="view:pictures"),
    },
)
