"""Commenters: what suggests comments on an article."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comments, threads and screening",
    commands={
        "comment": Command("command:comment", "Suggest comments for articles, each with its source."),
    },
    kinds={
        "commenters": Kind(
            "result:CommenterResult",
            "view:commenters",
            title="Commenters against readers",
            pictures="view:commenter_pictures",
        ),
        "suggestions": Kind("result:SuggestionsResult", "view:suggestions", title="Suggested comments"),
        "evaluation": Kind(
            "result:RankingResult", "view:ranking", title="Ranking of comments", pictures="view:ranking_pictures"
        ),
        "training": Kind(
            "result:TrainingResult", "view:training", title="A training", pictures="view:training_pictures"
        ),
        "update": Kind("result:UpdateResult", "view:update"),
    },
    names={
        "commenter": "load_commenter",
        "evaluation": "evaluate_commenters",
        "options": "DecodingOptions",
    },
)
