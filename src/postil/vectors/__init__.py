"""Vectors of words and subwords: training, conversion, import."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Corpora and models",
    commands={
        "vectors": Command("command:vectors", "Train, convert, import and inspect vectors of words."),
    },
    kinds={
        "vectors": Kind("result:VectorsResult", "view:view", title="Word vectors"),
    },
)
