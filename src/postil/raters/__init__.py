"""Agreement and competence of raters."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Collect ratings and estimate from them",
    commands={
        "agreement": Command("command:agreement", "Measure inter-annotator agreement of a table of ratings."),
    },
    kinds={
        "agreement": Kind(
            "result:AgreementResult", "view:view", title="Inter-annotator agreement", pictures="view:pictures"
        ),
    },
    names={
        "calls": "AgreementOptions agreement",
    },
)
