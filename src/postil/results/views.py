"""Views: a result as rows and grids, from which every text format is made.

The capability of a kind of result has a function that makes its `View`. `show` is the one printer, and the functions of
`postil.results.base.Views` are what the methods of results call. Results themselves are structs that know nothing of
formats: this module is imported when a method first asks for it, so that methods print what commands print, and reading
results needs neither matplotlib nor a library of data frames.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from postil.capabilities import capabilities, kind, load
from postil.data.escaping import one_line
from postil.data.groups import grouped, nested
from postil.errors import Undefined, UnknownName, UsageError
from postil.messages import Setting, spoken
from postil.results.base import Backend, Result, to_json
from postil.results.formats import (
    Cells,
    Format,
    card,
    excerpt,
    grid_as,
    joined,
    plain_rows,
    rows_as_cells,
    rows_as_jsonl,
    value_with_interval,
)
from postil.results.systems_table import SystemsTable, show_systems
from postil.results.table_options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from msgspec import Struct

    from postil.results.page.blocks import Picture
    from postil.results.table import Table

__all__ = ["WHOLE", "View", "best", "pictures_of", "show", "signature_lines", "view_of"]

BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)

WHOLE: Final = Setting("format", "json", instead="result.to_json()")
"""All that a result holds."""

LONGEST: Final = 120
"""Largest number of characters of a summary."""

SHOWN: Final = 20
"""Largest number of rows of a table in a notebook."""


def data_frame(rows: Sequence[Mapping[str, object]], fields: Sequence[str] = (), backend: Backend | None = None) -> Any:
    """A data frame with a column per field; see `postil.Result.to_frame`.

    Args:
        rows: The rows.
        fields: The first columns, and all columns where there are no rows.
        backend: The library; by default the first of `BACKENDS` that is installed.

    Raises:
        UnknownName: There is no such backend.
        UsageError: It is not installed, or none of them is.
    """
    if backend is not None and backend not in BACKENDS:
        raise UnknownName("library of data frames", backend, BACKENDS)
    wanted = BACKENDS if backend is None else (backend,)
    installed = [name for name in wanted if find_spec(name)]
    if not installed:
        raise UsageError(f"a data frame needs {' or '.join(wanted)}, not installed: pip install {wanted[0]}")
    import narwhals as nw  # noqa: PLC0415 - rows alone do without it

    names = dict.fromkeys([*fields, *(name for row in rows for name in row)])
    columns = {name: _uniform([row.get(name) for row in rows]) for name in names}
    return nw.from_dict(columns, backend=installed[0]).to_native()


def _uniform(values: list[object]) -> list[object]:
    """The values of a column in one type: lists as texts, and all as texts where some are."""
    values = [joined(value) for value in values]
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    kind = float if kinds == {int, float} else str
    return [None if value is None else kind(value) for value in values]  # type: ignore[arg-type]  # an int or a float


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A result as rows and grids.

    Args:
        line: The line of the result in Python: what it is of, and the numbers that matter most.
        rows: One row per number, for CSV, JSON Lines and data frames: structs, or names of columns with values.
        grids: Tables for people.
        fields: The columns of CSV; by default those of the first row.
        documents: Tables of Markdown, LaTeX and HTML, where they are not `grids`.
        details: Further tables for people, on a terminal alone.
        nested: Rows of JSON Lines, where they are not those of CSV.
        findings: Sentences above all else, one line each; on a terminal and in notebooks.
        head: A line above the tables.
        below: Text below the tables, on a terminal alone.
        remarks: Notes besides the numbers, one line each; on a terminal below the tables.
        signatures: Signatures of the numbers, one line each; on a terminal below the remarks.
        systems: The scores of systems, for a table with one row per system, where the result has them.
        metrics: The coefficients of metrics, for a table with one row per metric, where the result has them.
        undefined: Metrics without a number, which no row has; tables show them nonetheless.
        cards: A whole text and what is to be said of it, for each row of one of `grids`, in its place where it is too
            wide: on a narrow terminal, and in a file.
        carded: Place of that table in `grids`.
    """

    line: str
    rows: Sequence[Mapping[str, object] | Struct]
    grids: Sequence[Table]
    fields: Sequence[str] = ()
    documents: Sequence[Table] | None = None
    details: Sequence[Table] = ()
    nested: Sequence[Mapping[str, object] | Struct] | None = None
    findings: Sequence[str] = ()
    head: str = ""
    below: str = ""
    remarks: Sequence[str] = ()
    signatures: Sequence[str] = ()
    systems: SystemsTable | None = None
    metrics: SystemsTable | None = None
    undefined: Sequence[str] = ()
    cards: Sequence[tuple[str, str]] = ()
    carded: int = 0

    def cells(self) -> Cells:
        """The rows as cells, with the decimals that the tables have."""
        return rows_as_cells(self.rows, self.fields, self.digits)

    @property
    def digits(self) -> dict[str, int]:
        """Number of decimals of each field that the tables print, by the first column that does."""
        columns = [column for table in (*self.grids, *self.details) for column in table.columns]
        return {name: digits for column in reversed(columns) for name, digits in column.decimals.items()}


def view_of(result: Result) -> View:
    """The view of a result, by its kind.

    Args:
        result: The result.
    """
    capability, found = kind(str(result.__struct_config__.tag))
    view: View = load(capability, found.view)(result)
    return view


def pictures_of(result: Result) -> Iterator[Picture]:
    """The pictures of a result, the most important one first; none where there is nothing to draw.

    Args:
        result: The result.

    Raises:
        UsageError: Results of its kind have no picture.
    """
    capability, found = kind(str(result.__struct_config__.tag))
    if not found.pictures:
        kinds = [each for of in capabilities() for each in of.kinds.values() if each.pictures]
        names = sorted(each.struct.partition(":")[2] for each in kinds)
        raise UsageError(f"{type(result).__name__} has no picture; these have: {', '.join(names)}")
    return iter(load(capability, found.pictures)(result))


def show(
    form: Format,
    result: Result,
    view: View | None = None,
    remarks: Sequence[str] = (),
    table: TableOptions = TableOptions(),  # noqa: B008 - frozen
    *,
    width: int | None = None,
) -> str | Cells:
    """Lay a result out: as text, or as the cells of ``csv``.

    Args:
        form: ``json`` has everything; ``jsonl`` and ``csv`` the rows; ``table``, ``markdown``, ``latex`` and ``html``
            the grids, ``table`` also the head, details, text below, remarks and signatures.
        result: The result.
        view: The view; by default that of its kind.
        remarks: Further lines after those of the view.
        table: Layout of the tables.
        width: Number of columns that it is printed on; None where any will do.

    Raises:
        UsageError: The result or the format has no such layout.
    """
    if table.layout != "rows":
        return _show_paper(form, result, view or view_of(result), remarks, table)
    table.check(form, intervals=True)
    if form == "json":
        return to_json(result)
    view = view or view_of(result)
    table.check_names(_metrics(view))
    if form == "jsonl":
        return rows_as_jsonl(view.rows if view.nested is None else view.nested)
    if form == "csv":
        return view.cells()
    if form != "table":
        grids = view.grids if view.documents is None else view.documents
        return "\n".join(grid_as(form, grid, table.names) for grid in grids)
    tables = [grid_as(form, grid, table.names) for grid in (*view.grids, *view.details)]
    if width is not None and view.cards and max(map(len, tables[view.carded].splitlines())) > width:
        tables[view.carded] = "\n".join(card(*each, width) for each in view.cards)
    return _with_lines(view, "\n".join(tables) + view.below, remarks)


def _metrics(view: View) -> list[str]:
    """The metrics that are shown, with a number or without."""
    in_rows = (str(row["metric"]) for row in plain_rows(view.rows) if "metric" in row)
    return list(dict.fromkeys([*in_rows, *view.undefined]))


def _show_paper(form: Format, result: Result, view: View, remarks: Sequence[str], table: TableOptions) -> str | Cells:
    """The table of a paper: of systems or of metrics."""
    papers = {name: each for name, each in (("systems", view.systems), ("metrics", view.metrics)) if each is not None}
    table.check_layout(str(result.__struct_config__.tag), papers)
    table.check_names(_metrics(view))
    shown = show_systems(form, papers[table.layout], table)
    return _with_lines(view, str(shown), remarks) if form == "table" else shown


def _with_lines(view: View, text: str, remarks: Sequence[str]) -> str:
    """Tables on a terminal between the findings and the head, and the remarks."""
    above = [view.findings, [view.head] if view.head else ()]
    below = [*view.remarks, *remarks, *(["", *view.signatures] if view.signatures else ())]
    parts = [*map(_lines, above), text, _lines(below)]
    return "\n".join(filter(None, parts))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{one_line(spoken(line))}\n" for line in lines)


def best(values: Iterable[tuple[str, str, float]], falling: Collection[str] = ()) -> str:
    """The best value by each metric, with its owner where there are several.

    Args:
        values: Triples of a metric, an owner and its value.
        falling: Metrics for which lower is better.

    >>> best([("meteor", "a", 0.5), ("meteor", "b", 0.25), ("ter", "a", 0.125), ("ter", "b", 0.375)], ["ter"])
    'best meteor .500 (a), ter .125 (a)'
    >>> best([("meteor", "a", 0.5)])
    'meteor .500'
    """
    by_metric = nested(values)
    named = []
    for metric, by_owner in by_metric.items():
        owner = (min if metric in falling else max)(by_owner, key=by_owner.__getitem__)
        said = f"{metric} {value_with_interval(by_owner[owner])}"
        named.append(f"{said} ({owner})" if len(by_owner) > 1 else said)
    several = any(len(by_owner) > 1 for by_owner in by_metric.values())
    return "best " * several + ", ".join(named)


def summary(result: Result) -> str:
    """One line of at most `LONGEST` characters."""
    try:
        said = one_line(view_of(result).line)
    except Undefined as error:
        said = one_line(str(error))
    name = f"{result.name}: " if result.name else ""
    return f"{type(result).__name__}({excerpt(name + said, LONGEST - len(type(result).__name__) - 2)})"


def notebook(result: Result) -> str:
    """The first table, truncated, and the first picture where matplotlib is installed."""
    try:
        view = view_of(result)
    except Undefined as error:
        return _note(str(error))
    head, *rows = view.grids[0].grid(typeset=True) if view.grids else [[]]
    more = len(rows) - SHOWN
    parts = [
        *map(_note, view.findings),
        _note(view.head) if view.head else "",
        grid_as("html", [head, *rows[:SHOWN]]) if rows else _note(summary(result)),
        _note(f"… {more:,} more rows") if more > 0 else "",
        _first_picture(result),
    ]
    return "\n".join(filter(None, parts))


def cells(result: Result) -> Cells:
    """The cells of CSV."""
    return view_of(result).cells()


def rows(result: Result) -> list[dict[str, object]]:
    """The rows of CSV."""
    return [dict(row) for row in plain_rows(view_of(result).rows)]


def frame(result: Result, backend: Backend | None) -> Any:
    """The rows as a data frame."""
    return data_frame(result.to_rows(), view_of(result).fields, backend)


def text(result: Result, form: Literal["csv", "markdown", "latex", "html"], table: TableOptions) -> str:
    """The text of a format."""
    return str(show(form, result, table=table))


def figure(result: Result, name: str | None) -> Any:
    """The first picture, or that of a name."""
    pictures = {picture.key: picture for picture in pictures_of(result)}
    if not pictures:
        raise UsageError(f"nothing to draw in {summary(result)}")
    if name is not None and name not in pictures:
        raise UnknownName("picture", name, pictures)
    from postil.results.plots.figure import svg  # noqa: PLC0415 - the help of commands does without it

    picture = pictures[next(iter(pictures)) if name is None else name]
    drawn = picture.draw()
    drawn._repr_svg_ = partial(svg, drawn, picture.label)  # type: ignore[attr-defined]  # so that a notebook shows it without pyplot
    return drawn


def _first_picture(result: Result) -> str:
    """The first picture as HTML; empty where there is none, or no matplotlib."""
    with suppress(UsageError, StopIteration):
        return next(pictures_of(result)).html
    return ""


def _note(text: str) -> str:
    return f"<p>{escape(one_line(spoken(text)))}</p>"


def signature_lines(signatures: Iterable[str]) -> Iterator[str]:
    """Signatures that are alike but for their first part, together.

    Args:
        signatures: The signatures.
    """
    split = (signature.partition("|") for signature in signatures)
    for rest, specs in grouped((rest, spec) for spec, _, rest in split).items():
        yield f"signatures: {' '.join(specs)}"
        yield f"  each with |{rest}"
