"""View of suggestions: one row per suggestion; JSON Lines have one row per article."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

import msgspec

from postil.messages import Message, Setting
from postil.records.ids import plain_id
from postil.render.formats import counted, excerpt, value_with_interval
from postil.render.table import Count, Name, Number, Table, Text
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import SuggestionsResult
    from postil.records.suggestions import Source, Suggestion
    from postil.render.table import Column

__all__ = ["view"]

REASONS: Final = Setting("format", "jsonl", instead="result.suggestions")
FIELDS: Final = (
    *("article", "rank", "score", "text", "label", "sources"),
    *("source_title", "source_url", "source_date", "source_upvotes", "probability"),
)

ORIGIN: Final = 40
"""Largest number of characters of a title in a table."""


def view(result: SuggestionsResult) -> View:
    """Make the view of suggestions; only JSON and JSON Lines have the comments that were filtered out.

    On a terminal texts are cut and the label stands below; where they may end up on a page each has its label.

    Args:
        result: The suggestions.
    """
    lines = [
        (row.article, one, next(iter(one.provenance.sources), None))
        for row in result.suggestions
        for one in row.suggestions
    ]
    article, suggestion, source = itemgetter(0), itemgetter(1), itemgetter(2)
    rank = Count("rank", "rank", at=suggestion, separated=False)
    score = Number("score", "score", at=suggestion, digits=4, zero=True)
    probability = Number("probability", "probability", at=suggestion, none="", dash="")
    date = Text("date", lambda source: (source.date or "")[:10], at=source, none="", dash="")
    votes = Count("votes", "upvotes", at=source, none="", dash="")
    unknown = [each for each in (probability, date, votes) if not any(each.cell(line).plain for line in lines)]
    cut: list[Column] = [
        Name("suggestion", lambda one: excerpt(one.text), at=suggestion),
        *(Text("article", article), rank, score, probability),
        *(Text("from", lambda one: excerpt(_origin(one), ORIGIN), at=suggestion), date, votes),
    ]
    whole: list[Column] = [
        Name("suggestion", "text", at=suggestion),
        Text("label", lambda one: one.provenance.label, at=suggestion),
        *(Text("article", article), rank, Text("from", _origin, at=suggestion), date, votes),
    ]
    about: list[Column] = [
        *(Text("article", article), score, Text("probability", _likely, at=suggestion, none="")),
        *(Text("from", _origin, at=suggestion), date, Text("votes", _voted, at=source, none="")),
    ]
    labels = "; ".join(dict.fromkeys(one.provenance.label for _, one, _ in lines))
    remarks: list[str] = [labels or "no suggestions"]
    if empty := sum(row.reason is not None for row in result.suggestions):
        articles = counted(empty, "article")
        remarks.append(
            Message("nothing for {articles}; {reasons} gives the reasons", articles=articles, reasons=REASONS)
        )
    if filtered := sum(len(row.filtered) for row in result.suggestions):
        remarks.append(Message("{n:,} filtered out; {reasons} gives the reasons", n=filtered, reasons=REASONS))
    sizes = (sum(len(row.suggestions) for row in result.suggestions), len(result.suggestions))
    return View(
        line=", ".join(map(counted, sizes, ("suggestion", "article"))),
        rows=[
            {
                "article": article,
                "rank": one.rank,
                "score": one.score,
                "text": one.text,
                "label": one.provenance.label,
                "sources": " ".join(f"{each.article}/{each.comment}" for each in one.provenance.sources),
                **{f"source_{name}": getattr(source, name, None) for name in ("title", "url", "date", "upvotes")},
                "probability": one.probability,
            }
            for article, one, source in lines
        ],
        fields=FIELDS,
        nested=[msgspec.to_builtins(row, enc_hook=plain_id) for row in result.suggestions],
        grids=[Table(key="suggestions", rows=lines, columns=[each for each in cut if each not in unknown])],
        documents=[Table(key="suggestions", rows=lines, columns=whole)],
        remarks=remarks,
        cards=[
            (f"{line[1].rank}. {line[1].text}", " · ".join(filter(None, (each.cell(line).plain for each in about))))
            for line in lines
        ],
    )


def _origin(one: Suggestion) -> str:
    """The title or the ids of the comment that it is, or the model behind an endpoint."""
    for source in one.provenance.sources:
        return source.title or f"{source.article}/{source.comment}"
    return one.provenance.model * (one.provenance.method == "llm")


def _likely(one: Suggestion) -> str | None:
    return None if one.probability is None else f"probability {value_with_interval(one.probability, None, None)}"


def _voted(source: Source) -> str | None:
    return None if source.upvotes is None else counted(source.upvotes, "vote")
