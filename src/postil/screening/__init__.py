"""Screening of comments: what moderators would hold, and what an editor would not suggest."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comments, threads and screening",
    commands={"screen": Command("command:screen", "Tell which texts the moderators of a site would hold.")},
    kinds={
        "screen-training": Kind(
            "result:ScreenTrainingResult", "view:training", title="Screen", pictures="view:pictures"
        ),
        "screening": Kind("result:ScreeningResult", "view:screening", title="Screened texts"),
    },
)
