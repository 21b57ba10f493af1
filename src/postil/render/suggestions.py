"""View of suggestions: one row per suggestion; JSON Lines have one row per article."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

import msgspec

from postil.messages import Message, Setting
from postil.records.ids import plain_id
from postil.render.formats import counted, excerpt, value_with_interval
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import SuggestionsResult

__all__ = ["summary", "view"]

REASONS: Final = Setting("format", "jsonl", instead="result.suggestions")
FIELDS: Final = (
    *("article", "rank", "score", "text", "label", "sources"),
    *("source_title", "source_url", "source_date", "source_upvotes", "probability"),
)


def view(result: SuggestionsResult) -> View:
    """Make the view of suggestions; only JSON and JSON Lines have the comments that were filtered out.

    On a terminal texts are cut and the label stands below; where they may end up on a page each has its label.

    Args:
        result: The suggestions.
    """
    rows: list[dict[str, object]] = []
    document = [["suggestion", "label", "article", "rank", "from", "date", "votes"]]
    grid = [["suggestion", "article", "rank", "score", "probability", "from", "date", "votes"]]
    cards = []
    for row in result.suggestions:
        for one in row.suggestions:
            sources = [f"{source.article}/{source.comment}" for source in one.provenance.sources]
            first = one.provenance.sources[0] if sources else None
            title, url, date, upvotes = (first.title, first.url, first.date, first.upvotes) if first else (None,) * 4
            rows.append(
                {
                    "article": row.article,
                    "rank": one.rank,
                    "score": one.score,
                    "text": one.text,
                    "label": one.provenance.label,
                    "sources": " ".join(sources),
                    "source_title": title,
                    "source_url": url,
                    "source_date": date,
                    "source_upvotes": upvotes,
                    "probability": one.probability,
                }
            )
            origin = sources[0] if sources else one.provenance.model * (one.provenance.method == "llm")
            votes = "" if upvotes is None else f"{upvotes:,}"
            probability = "" if one.probability is None else value_with_interval(one.probability, None, None)
            numbers = [str(one.rank), f"{one.score:.4f}", probability]
            document.append(
                [one.text, one.provenance.label, row.article, str(one.rank), title or origin, (date or "")[:10], votes]
            )
            grid.append(
                [excerpt(one.text), row.article, *numbers, excerpt(title or origin, 40), (date or "")[:10], votes]
            )
            likely = probability and f"probability {probability}"
            voted = "" if upvotes is None else counted(upvotes, "vote")
            about = [row.article, numbers[1], likely, title or origin, (date or "")[:10], voted]
            cards.append((f"{one.rank}. {one.text}", " · ".join(filter(None, about))))
    known = [name not in {"probability", "date", "votes"} or any(cells) for name, *cells in zip(*grid, strict=True)]
    grid = [list(compress(line, known)) for line in grid]
    labels = "; ".join(dict.fromkeys(one.provenance.label for row in result.suggestions for one in row.suggestions))
    remarks: list[str] = [labels or "no suggestions"]
    if empty := sum(row.reason is not None for row in result.suggestions):
        articles = counted(empty, "article")
        remarks.append(
            Message("nothing for {articles}; {reasons} gives the reasons", articles=articles, reasons=REASONS)
        )
    if filtered := sum(len(row.filtered) for row in result.suggestions):
        remarks.append(Message("{n:,} filtered out; {reasons} gives the reasons", n=filtered, reasons=REASONS))
    return View(
        rows=rows,
        fields=FIELDS,
        nested=[msgspec.to_builtins(row, enc_hook=plain_id) for row in result.suggestions],
        grids=[grid],
        documents=[document],
        remarks=remarks,
        cards=cards,
    )


def summary(result: SuggestionsResult) -> str:
    """Numbers of suggestions and articles.

    Args:
        result: The suggestions.
    """
    sizes = (sum(len(row.suggestions) for row in result.suggestions), len(result.suggestions))
    return ", ".join(map(counted, sizes, ("suggestion", "article")))
