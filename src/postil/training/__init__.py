"""Training of commenters and of models of interest."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comment on articles",
    commands={
        "train": Command("command:train", "Train a commenter on a corpus, or a model of interest on ratings."),
    },
    names={
        "retrievers": "update_model",
    },
)
