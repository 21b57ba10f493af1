"""Corpora of articles with comments: imports, builds, statistics."""

from __future__ import annotations

from typing import Final

from postil.capabilities import Capability, Command, Kind

__all__ = ["CAPABILITY"]

CAPABILITY: Final = Capability(
    __name__,
    "Corpora and models",
    commands={
        "corpus": Command("command:corpus", "Import other formats; build corpora of articles and comments."),
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
