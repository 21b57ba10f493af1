"""Corpora of articles with comments: imports, builds, statistics."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Comment on articles",
    commands={
        "corpus": Command("command:corpus", "Import external formats; build corpora of articles with comments."),
    },
    kinds={
        "corpus": Kind("result:CorpusMetadata", "view:corpus", title="A corpus"),
        "statistics": Kind(
            "result:StatisticsResult",
            "view:statistics",
            title="Statistics of a corpus",
            pictures="view:pictures",
        ),
    },
    names={
        "calls": "build_corpus",
        "options": "BuildOptions",
        "store": "Corpus",
    },
)
