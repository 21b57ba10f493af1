"""Suggestions and ranked threads as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from postil.records.results import SCHEMA, to_json
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.records.suggestions import RankedComment, Suggestions
    from postil.render.formats import Format

__all__ = ["ranked_as", "suggestions_as"]

WIDE: Final = 80
_FIELDS: Final = ("article", "rank", "score", "text", "label", "sources")


def suggestions_as(form: Format, found: Sequence[Suggestions]) -> str:
    """Suggestions, best first for each article.

    Args:
        form: The format; ``table``, ``markdown`` and ``latex`` have no filtered comments, nor has ``csv``.
        found: The suggestions.
    """
    if form == "json":
        return to_json(
            {"schema": SCHEMA, "kind": "suggestions", "suggestions": [msgspec.to_builtins(row) for row in found]}
        )
    if form == "jsonl":
        return rows_as_jsonl([msgspec.to_builtins(row) for row in found])
    rows: list[dict[str, Any]] = [
        {
            "article": row.article,
            "rank": one.rank,
            "score": one.score,
            "text": one.text,
            "label": one.provenance.label,
            "sources": " ".join(f"{source.article}/{source.comment}" for source in one.provenance.sources),
        }
        for row in found
        for one in row.suggestions
    ]
    if form == "csv":
        return rows_as_csv(rows, _FIELDS)
    grid = [["suggestion", "article", "rank", "score", "from"]]
    grid += [
        [_short(row["text"]), row["article"], str(row["rank"]), f"{row['score']:.4f}", row["sources"].partition(" ")[0]]
        for row in rows
    ]
    labels = "; ".join(dict.fromkeys(row["label"] for row in rows))
    filtered = sum(len(row.filtered) for row in found)
    note = f"{labels}\n" if labels else "no suggestions\n"
    note += f"{filtered:,} filtered out; --format jsonl gives the reasons\n" if filtered else ""
    return grid_as(form, grid) + (f"\n{note}" if form == "table" else "")


def ranked_as(form: Format, found: Iterable[RankedComment]) -> str:
    """Threads, the most relevant comment first.

    Args:
        form: The format.
        found: The comments.
    """
    rows = [msgspec.to_builtins(row) for row in found]
    if form == "json":
        return to_json({"schema": SCHEMA, "kind": "ranked-comments", "comments": rows})
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(rows, ("article", "comment", "rank", "score", "text"))
    grid = [["comment", "article", "id", "rank", "score"]]
    grid += [
        [_short(row["text"]), row["article"], row["comment"], str(row["rank"]), f"{row['score']:.4f}"] for row in rows
    ]
    return grid_as(form, grid)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
