"""The HTTP service of models: routes, workers, tokens, limits, logs and the store."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Serve",
    commands={
        "serve": Command("command:serve", "Serve models by HTTP: suggestions as JSON."),
    },
)
