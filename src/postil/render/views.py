"""Views: a result as rows and grids, from which every text format is made.

A kind of result has a module in this package whose ``view`` makes its `View`; `show` is the one printer.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Final

from postil.errors import UsageError
from postil.escaping import one_line
from postil.records.results import Result, Views, register_views, to_json
from postil.render.formats import grid_as, rows_as_csv, rows_as_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from postil.render.formats import Format, Grid

__all__ = ["MODULES", "View", "show", "view_of"]

MODULES: Final[Mapping[str, str]] = {
    "agreement": "postil.render.agreement",
    "commenters": "postil.render.commenters",
    "compare": "postil.render.compare",
    "correlate": "postil.render.correlate",
    "evaluation": "postil.render.ranking",
    "interesting": "postil.render.interesting",
    "passages": "postil.render.passages",
    "plan": "postil.render.plan",
    "ranked-comments": "postil.render.ranked_comments",
    "score": "postil.render.score",
    "statistics": "postil.render.statistics",
    "study": "postil.render.study",
    "suggestions": "postil.render.suggestions",
    "summaries": "postil.render.summaries",
    "training": "postil.render.training",
    "vectors": "postil.render.vectors",
}
"""The module of this package that shows each kind of result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A result as rows and grids.

    Args:
        rows: One row per number, for CSV, JSON Lines and data frames.
        grids: Tables for people.
        fields: The columns of CSV; by default those of the first row.
        details: Further tables for people, on a terminal alone.
        nested: Rows of JSON Lines, where they are not those of CSV.
        head: A line above the tables.
        below: Text below the tables, on a terminal alone.
        remarks: Notes besides the numbers, one line each; on a terminal below the tables.
        signatures: Signatures of the numbers, one line each; on a terminal below the remarks.
    """

    rows: Sequence[Mapping[str, object]]
    grids: Sequence[Grid]
    fields: Sequence[str] = ()
    details: Sequence[Grid] = ()
    nested: Sequence[Mapping[str, object]] | None = None
    head: str = ""
    below: str = ""
    remarks: Sequence[str] = ()
    signatures: Sequence[str] = ()


def view_of(result: Result) -> View:
    """The view of a result, by its kind.

    Args:
        result: The result.
    """
    view: Callable[[Result], View] = import_module(MODULES[str(result.__struct_config__.tag)]).view
    return view(result)


def show(form: Format, result: Result, view: View | None = None, remarks: Sequence[str] = ()) -> str:
    """Print a result.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` the rows; ``table``, ``markdown`` and ``latex`` the grids,
            ``table`` also the head, details, text below, remarks and signatures.
        result: The result.
        view: The view; by default that of its kind.
        remarks: Further lines after those of the view.
    """
    if form == "json":
        return to_json(result)
    view = view or view_of(result)
    if form == "jsonl":
        return rows_as_jsonl(view.rows if view.nested is None else view.nested)
    if form == "csv":
        return rows_as_csv(view.rows, view.fields)
    grids = [*view.grids, *(view.details if form == "table" else ())]
    text = "\n".join(grid_as(form, grid) for grid in grids)
    if form != "table":
        return text
    head = f"{one_line(view.head)}\n" if view.head else ""
    lines = [*view.remarks, *remarks, *(["", *view.signatures] if view.signatures else ())]
    end = "".join(f"{one_line(line)}\n" for line in lines)
    return "\n".join(part for part in (head, text + view.below, end) if part)


def _rows(result: Result) -> list[dict[str, object]]:
    if str(result.__struct_config__.tag) not in MODULES:
        raise UsageError(f"{type(result).__name__} has no rows; its to_dict() has all of it")
    return [dict(row) for row in view_of(result).rows]


def _html(result: Result) -> str | None:
    """The first grid as an escaped HTML table, for notebooks."""
    grids = view_of(result).grids if str(result.__struct_config__.tag) in MODULES else ()
    if not grids:
        return None
    head, *rows = grids[0]
    body = "".join(_html_row("td", row) for row in rows)
    return f"<table><thead>{_html_row('th', head)}</thead><tbody>{body}</tbody></table>"


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(one_line(cell))}</{tag}>" for cell in cells) + "</tr>"


register_views(Views(rows=_rows, html=_html))
