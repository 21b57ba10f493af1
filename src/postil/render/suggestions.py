"""View of suggestions: one row per suggestion; JSON Lines have one row per article."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from postil.render.formats import counted, excerpt
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import SuggestionsResult

__all__ = ["summary", "view"]


def view(result: SuggestionsResult) -> View:
    """Make the view of suggestions; only JSON and JSON Lines have the comments that were filtered out.

    Args:
        result: The suggestions.
    """
    rows: list[dict[str, object]] = []
    grid = [["suggestion", "article", "rank", "score", "from"]]
    for row in result.suggestions:
        for one in row.suggestions:
            sources = [f"{source.article}/{source.comment}" for source in one.provenance.sources]
            rows.append(
                {
                    "article": row.article,
                    "rank": one.rank,
                    "score": one.score,
                    "text": one.text,
                    "label": one.provenance.label,
                    "sources": " ".join(sources),
                }
            )
            origin = sources[0] if sources else one.provenance.model * (one.provenance.method == "llm")
            grid.append([excerpt(one.text), row.article, str(one.rank), f"{one.score:.4f}", origin])
    labels = "; ".join(dict.fromkeys(one.provenance.label for row in result.suggestions for one in row.suggestions))
    remarks = [labels or "no suggestions"]
    if filtered := sum(len(row.filtered) for row in result.suggestions):
        remarks.append(f"{filtered:,} filtered out; --format jsonl gives the reasons")
    return View(
        rows=rows,
        fields=("article", "rank", "score", "text", "label", "sources"),
        nested=[msgspec.to_builtins(row) for row in result.suggestions],
        grids=[grid],
        remarks=remarks,
    )


def summary(result: SuggestionsResult) -> str:
    """Numbers of suggestions and articles.

    Args:
        result: The suggestions.
    """
    sizes = (sum(len(row.suggestions) for row in result.suggestions), len(result.suggestions))
    return ", ".join(map(counted, sizes, ("suggestion", "article")))
