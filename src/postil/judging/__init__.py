"""Language models as judges: prompts with graded examples, and grades read from probabilities or samples."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Score texts",
    commands={
        "judge": Command("command:judge", "Grade texts by a language model, with graded references as examples."),
    },
    kinds={
        "judge": Kind("result:JudgeResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
    },
    names={
        "calls": "judge",
        "options": "JudgeOptions",
    },
)
