"""Threads: orders of an article's comments, what they are made of, and how good they are."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comments, threads and screening",
    commands={
        "rank-comments": Command("command:rank_comments", "Rank the comments of threads, with reasons."),
        "evaluate": Command("command:evaluate", "Score commenters against readers' comments."),
    },
    kinds={
        "ranked-comments": Kind("result:RankedCommentsResult", "view:ranked_comments", title="Ranked comments"),
        "thread-orders": Kind(
            "result:ThreadOrdersResult", "view:orders", title="Orders of threads", pictures="view:pictures"
        ),
    },
)
