"""Commenters: what suggests comments on an article."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comment on articles",
    commands={
        "comment": Command("command:comment", "Suggest comments for articles, each with its source."),
    },
    kinds={
        "commenters": Kind(
            "result:CommenterResult",
            "evaluation_view:view",
            title="Commenters against readers",
            pictures="chapter:commenters",
        ),
        "suggestions": Kind("result:SuggestionsResult", "view:view", title="Suggested comments"),
        "evaluation": Kind(
            "result:RankingResult", "ranking_view:view", title="Ranking of comments", pictures="chapter:rankings"
        ),
        "training": Kind(
            "training.result:TrainingResult", "training.view:view", title="A training", pictures="chapter:training"
        ),
        "update": Kind("training.result:UpdateResult", "training.update_view:view"),
    },
    names={
        "decoding_options": "DecodingOptions",
        "evaluation": "evaluate_commenters",
        "loading": "load_commenter",
        "training.update": "update_model",
    },
)
