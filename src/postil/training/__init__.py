"""Training of commenters and of models of interest."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Corpora and models",
    commands={
        "train": Command("command:train", "Train commenters, screens, models of quality and interest."),
    },
    names={
        "retrievers": "update_model",
    },
)
