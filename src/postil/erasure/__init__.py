"""Erasure of comments from models, corpora and answers."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Corpora and models",
    commands={
        "forget": Command("command:forget_comments", "Erase comments from models, corpora and answers, for good."),
    },
    kinds={
        "forget": Kind("result:ForgetResult", "view:view"),
    },
    names={
        "calls": "forget",
        "options": "ForgetOptions",
    },
)
