"""Client of OpenAI-compatible endpoints: requests, a cache of answers, limits. Only the named host is spoken to."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    kinds={
        "dry-run": Kind("dry_run:DryRunResult", "dry_run:dry_run_view", title="Dry run"),
    },
)
