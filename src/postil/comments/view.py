"""View of suggestions: one row per suggestion; JSON Lines have one row per article."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.ids import plain_id
from postil.messages import Message, Setting
from postil.results.formats import counted, excerpt, value_with_interval
from postil.results.table import Count, Name, Number, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from postil.comments.result import SuggestionsResult
    from postil.data.suggestions import Source, Suggestion
    from postil.results.table import Column

__all__ = ["view"]

REASONS: Final = Setting("format", "jsonl", instead="result.suggestions")
FIELDS: Final = (
    *("article", "rank", "score", "text", "label", "sources"),
    *("source_title", "source_url", "source_date", "source_upvotes", "probability"),
)

ORIGIN: Final = 40
"""Largest number of characters of a title in a table."""


def _origin(one: Suggestion) -> str:
    """The title or the ids of the comment that it is, or the model behind an endpoint."""
    for source in one.provenance.sources:
        return source.title or f"{source.article}/{source.comment}"
    return one.provenance.model * (one.provenance.method == "llm")


def _likely(one: Suggestion) -> str | None:
    return None if one.probability is None else f"probability {value_with_interval(one.probability, None, None)}"


def _voted(source: Source) -> str | None:
    return None if source.upvotes is None else counted(source.upvotes, "vote")


_ARTICLE, _SUGGESTION, _SOURCE = map(itemgetter, range(3))
"""Parts of a line: the article, a suggestion for it, and the first source of that, if it has one."""

ARTICLE: Final = Text("article", _ARTICLE)
RANK: Final = Count("rank", "rank", at=_SUGGESTION, separated=False)
SCORE: Final = Number("score", "score", at=_SUGGESTION, digits=4, zero=True)
PROBABILITY: Final = Number("probability", "probability", at=_SUGGESTION, none="", dash="")
DATE: Final = Text("date", lambda source: (source.date or "")[:10], at=_SOURCE, none="", dash="")
VOTES: Final = Count("votes", "upvotes", at=_SOURCE, none="", dash="")

CUT: Final[tuple[Column, ...]] = (
    *(Name("suggestion", lambda one: excerpt(one.text), at=_SUGGESTION), ARTICLE, RANK, SCORE, PROBABILITY),
    *(Text("from", lambda one: excerpt(_origin(one), ORIGIN), at=_SUGGESTION), DATE, VOTES),
)
"""Columns of a terminal."""

WHOLE: Final[tuple[Column, ...]] = (
    Name("suggestion", "text", at=_SUGGESTION),
    Text("label", lambda one: one.provenance.label, at=_SUGGESTION),
    *(ARTICLE, RANK, Text("from", _origin, at=_SUGGESTION), DATE, VOTES),
)
"""Columns of all else."""

ABOUT: Final[tuple[Column, ...]] = (
    *(ARTICLE, SCORE, Text("probability", _likely, at=_SUGGESTION, none="")),
    *(Text("from", _origin, at=_SUGGESTION), DATE, Text("votes", _voted, at=_SOURCE, none="")),
)
"""Columns that a narrow terminal shows below a text."""


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
    unknown = [each for each in (PROBABILITY, DATE, VOTES) if not any(each.cell(line).plain for line in lines)]
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
        grids=[Table(key="suggestions", rows=lines, columns=[each for each in CUT if each not in unknown])],
        documents=[Table(key="suggestions", rows=lines, columns=WHOLE)],
        remarks=remarks,
        cards=[
            (f"{line[1].rank}. {line[1].text}", " · ".join(filter(None, (each.cell(line).plain for each in ABOUT))))
            for line in lines
        ],
    )
