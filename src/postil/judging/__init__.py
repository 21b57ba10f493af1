"""Language models as judges: prompts with graded examples, and grades read from probabilities or samples."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Measure texts",
    commands={
        "judge": Command("command:judge", "Grade texts, or compare them in pairs, by a language model."),
    },
    kinds={
        "judge": Kind("result:JudgeResult", "view:view", chapter="view:chapter", pictures="view:pictures"),
        "judge-pairs": Kind(
            "result:JudgePairsResult",
            "pair_view:view",
            title="Pairs judged by a language model",
            chapter="pair_view:chapter",
            pictures="pair_view:pictures",
        ),
    },
    names={
        "calls": "judge judge_pairs",
        "options": "JudgeOptions",
    },
)
