"""Views of ranked comments and of orders of threads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from postil.comments.view import measures_forest, measures_summary
from postil.data.explain import counted
from postil.data.suggestions import RankedComment
from postil.results.formats import excerpt
from postil.results.page.chapters import forests
from postil.results.table import Count, Interval, Name, Number, Table, Text, crossed
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.results.page.blocks import Picture
    from postil.threads.result import RankedCommentsResult, ThreadOrdersResult

__all__ = ["orders", "pictures", "ranked_comments"]

FIELDS: Final = tuple(name for name in RankedComment.__struct_fields__ if name != "screened")
SCREENED: Final = ("decision", "probability")
"""Columns of comments as a table, and those where a screen was asked."""
TEXT, REASONS = 50, 100
"""Maximum numbers of characters of a comment and of its reasons in a table."""


def ranked_comments(result: RankedCommentsResult) -> View:
    """Make the view of ranked comments.

    Args:
        result: The ranked comments.
    """
    reasons = [excerpt("; ".join(row.reasons), REASONS) for row in result.comments]
    width = max(map(len, ["reasons", *reasons]))
    sizes = (len(result.comments), len({row.article for row in result.comments}))
    return View(
        line=", ".join(map(counted, sizes, ("comment", "article"))),
        rows=list(map(_flat, result.comments)),
        fields=(*FIELDS, *SCREENED) if any(row.screened for row in result.comments) else FIELDS,
        grids=[
            _table(
                result,
                Name("comment", lambda row: excerpt(row.text, TEXT)),
                Text("reasons".ljust(width), lambda row: excerpt("; ".join(row.reasons), REASONS).ljust(width)),
            )
        ],
        documents=[
            _table(result, Name("comment", "text"), Text("reasons", lambda row: "; ".join(row.reasons))),
        ],
        nested=result.comments,
        cards=[
            (
                f"{row.rank}. {row.text}",
                " · ".join([row.article, row.comment, f"{row.score:.4f}", *filter(None, ["; ".join(row.reasons)])]),
            )
            for row in result.comments
        ],
    )


def _flat(row: RankedComment) -> dict[str, object]:
    """A comment as a row of a table."""
    found = {name: getattr(row, name) for name in FIELDS}
    if row.screened:
        found |= {"decision": row.screened.decision, "probability": row.screened.probability}
    return {**found, "reasons": "; ".join(row.reasons)}


def _table(result: RankedCommentsResult, comment: Name, reasons: Text) -> Table:
    return Table(
        key="comments",
        rows=result.comments,
        columns=(
            comment,
            Text("article", "article"),
            Text("id", "comment"),
            Count("rank", "rank", separated=False),
            Number("score", "score", digits=4, zero=True),
            reasons,
        ),
    )


def orders(result: ThreadOrdersResult) -> View:
    """Make the view of an evaluation of orders.

    Args:
        result: The evaluation.
    """
    value = Interval("", "value", zero=True, none="", dash="")
    differences = crossed(
        result.differences,
        Name("difference", lambda row: (row.scorer, row.minus)),
        "measure",
        replace(value, signed=True, plus=True),
        key="differences",
    )
    weights = Table(
        key="weights",
        rows=result.weights,
        columns=(
            Name("feature", lambda row: row.feature + ("" if row.predicts else " (fit alone)")),
            Interval("points per standard deviation", "weight", zero=True, signed=True, plus=True),
        ),
    )
    return View(
        line=measures_summary(result.rows, "order", "thread"),
        rows=result.rows,
        grids=[crossed(result.rows, Name("order", "scorer"), "measure", value, key="measures")],
        details=[table for table in (differences, weights) if table.rows],
        remarks=[*(f"excluded: {each}" for each in result.excluded), *result.remarks],
    )


def pictures(result: ThreadOrdersResult) -> Iterator[Picture]:
    """The means of orders over threads by all measures together, and by each.

    Args:
        result: The result.
    """
    return forests("Means over threads", measures_forest(result.rows))
