"""Agreement and competence of raters."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Collect ratings",
    kinds={
        "agreement": Kind(
            "result:AgreementResult", "view:view", title="Inter-annotator agreement", pictures="view:pictures"
        ),
    },
    names={
        "calls": "AgreementOptions agreement",
    },
)
