"""The table of a paper: one row per system and one column per metric, the best in bold, † where a test holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from postil.escaping import latex_line, latex_text, markdown_cell, one_line
from postil.render.formats import grid_as, grid_as_csv
from postil.render.numbers import plain_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.records.table_options import TableOptions
    from postil.render.formats import Format

__all__ = ["SystemCell", "SystemsTable", "systems_text"]

DAGGER: Final = "†"
MISSING: Final = "-"
_MARKS: Final = re.compile(r"[*_#~]")
"""Characters of emphasis and headings in Markdown."""

Mark: TypeAlias = Literal["", "best", "second"]
Printed: TypeAlias = "Mapping[str, Mapping[str, _Printed]]"
"""Printed cells by system and metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCell:
    """The score of a system by a metric.

    Args:
        value: The score.
        low: Lower end of its 95 % confidence interval, if there is one.
        high: Upper end.
        different: True if it differs significantly from the baseline's.
    """

    value: float
    low: float | None = None
    high: float | None = None
    different: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsTable:
    """Scores of systems by metrics.

    Args:
        head: Title of the first column.
        cells: Scores by system and metric.
        counts: Number of texts of each system, if known.
        unit: Name of one of those that are counted.
        lower_is_better: Metrics for which lower is better.
        tested: Test that `SystemCell.different` is from, in words; empty without one.
        intervals: Source of the intervals, in words; empty without any.
        notes: Further notes, in words.
        signatures: Signature of each metric.
    """

    head: str
    cells: Mapping[str, Mapping[str, SystemCell]]
    counts: Mapping[str, int]
    unit: str
    lower_is_better: frozenset[str]
    signatures: Mapping[str, str]
    tested: str = ""
    intervals: str = ""
    notes: Sequence[str] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics, in their order."""
        return list(dict.fromkeys(metric for row in self.cells.values() for metric in row))


@dataclass(frozen=True, slots=True)
class _Printed:
    """A cell as text: the number with its mark, then the interval in brackets, then the dagger."""

    number: str
    interval: str = ""
    mark: Mark = ""
    different: bool = False


def systems_text(form: Format, table: SystemsTable, options: TableOptions) -> str:
    """Print a table of systems.

    Args:
        form: All but ``json`` and ``jsonl``.
        table: The table.
        options: Percent, decimals, intervals, caption and label.

    Raises:
        UsageError: See `TableOptions.check`.
    """
    options.check(form, intervals=bool(table.intervals))
    if form == "csv":
        return grid_as_csv(_numbers(table, options))
    printed = _printed(table, options)
    prints = {"table": _terminal, "markdown": _markdown, "latex": _latex, "html": _html}
    return prints[form](table, printed, options)


def _heads(table: SystemsTable) -> list[str]:
    counts = ["n"] if len(set(table.counts.values())) > 1 else []
    arrows = [f"{metric} ↓" if metric in table.lower_is_better else metric for metric in table.metrics]
    return [table.head, *counts, *arrows]


def _counts(table: SystemsTable, system: str) -> list[str]:
    """The number of texts, where it is not the same for all systems."""
    return [f"{table.counts[system]:,}"] if len(set(table.counts.values())) > 1 else []


def _notes(table: SystemsTable, options: TableOptions, best: str = "in bold", second: str = "underlined") -> list[str]:
    """Notes below the table, one sentence each."""
    sizes = set(table.counts.values())
    said = [f"{n:,} {table.unit}{'s' * (n != 1)}." for n in sizes] if len(sizes) == 1 else []
    said += list(table.notes)
    if options.percent:
        said.append("Scores × 100.")
    if len(table.cells) > 1:
        said.append(f"Best {best}{f', second best {second}' if options.second_best else ''}.")
    if table.tested:
        said.append(f"{DAGGER} {table.tested}.")
    if options.intervals:
        said.append(f"In brackets: {table.intervals}.")
    if any(metric in table.lower_is_better for metric in table.metrics):
        said.append("↓ lower is better.")
    return said


def _signatures(table: SystemsTable) -> list[str]:
    return [f"{metric}: {table.signatures[metric]}" for metric in table.metrics if metric in table.signatures]


def _number(value: float, options: TableOptions) -> str:
    value *= 100 if options.percent else 1
    (shown,) = plain_numbers([value], options.decimals, zero=True)
    return shown.removeprefix("-") if float(shown) == 0 else shown


def _printed(table: SystemsTable, options: TableOptions) -> dict[str, dict[str, _Printed]]:
    """Cells by system and metric; numbers that are printed alike are equally good."""
    found: dict[str, dict[str, _Printed]] = {system: {} for system in table.cells}
    for metric in table.metrics:
        cells = {system: row[metric] for system, row in table.cells.items() if metric in row}
        shown = {system: _number(cell.value, options) for system, cell in cells.items()}
        order = sorted({*map(float, shown.values())}, reverse=metric not in table.lower_is_better)
        marks: dict[float, Mark] = {}
        if len(cells) > 1:
            marks = {order[0]: "best"}
            if options.second_best and order[1:]:
                marks[order[1]] = "second"
        for system, cell in cells.items():
            interval = ""
            if options.intervals and cell.low is not None and cell.high is not None:
                interval = f"[{_number(cell.low, options)}, {_number(cell.high, options)}]"
            mark = marks.get(float(shown[system]), "")
            found[system][metric] = _Printed(shown[system], interval, mark, cell.different)
    return found


def _numbers(table: SystemsTable, options: TableOptions) -> list[list[object]]:
    """The grid of CSV: numbers in full, or rounded where decimals are asked for."""

    def number(value: float | None) -> float | None:
        if value is None:
            return None
        value *= 100 if options.percent else 1
        return value if options.digits is None else round(value, options.digits)

    ends = ("low", "high") if options.intervals else ()
    head: list[object] = [table.head, "n"]
    for metric in table.metrics:
        head += [metric, *(f"{metric} {end}" for end in ends)]
    grid = [head]
    for system, row in table.cells.items():
        line: list[object] = [system, table.counts.get(system)]
        for metric in table.metrics:
            cell = row.get(metric)
            line += [number(getattr(cell, name)) if cell else None for name in ("value", *ends)]
        grid.append(line)
    return grid


_AROUND: Final[Mapping[Mark, str]] = {"": "", "best": "**", "second": "_"}


def _grid(table: SystemsTable, printed: Printed, *, padded: bool) -> list[list[str]]:
    """Cells for a terminal or Markdown: bold between asterisks; padded, so that digits stand below each other."""
    grid = [_heads(table)]
    before = {m: max(len(_AROUND[row[m].mark]) for row in printed.values() if m in row) for m in table.metrics}
    after = {
        m: max(len(_AROUND[row[m].mark]) + row[m].different for row in printed.values() if m in row)
        for m in table.metrics
    }
    for system, row in printed.items():
        line = [system, *_counts(table, system)]
        for metric in table.metrics:
            cell = row.get(metric)
            if cell is None:
                line.append(MISSING)
                continue
            around = _AROUND[cell.mark]
            end = around + DAGGER * cell.different
            interval = f" {cell.interval}" if cell.interval else ""
            if padded and not interval:
                end = end.ljust(after[metric])
            line.append(" " * (padded and before[metric] - len(around)) + around + cell.number + end + interval)
        grid.append(line)
    return grid


def _terminal(table: SystemsTable, printed: Printed, options: TableOptions) -> str:
    caption = f"{one_line(options.caption)}\n\n" if options.caption else ""
    notes = "".join(f"{one_line(note)}\n" for note in _notes(table, options, "**so**", "_so_"))
    return caption + grid_as("table", _grid(table, printed, padded=True)) + "\n" + notes


def _in_markdown(text: str) -> str:
    """A text without marks of its own, since bold and italics mean something in the table."""
    return _MARKS.sub(r"\\\g<0>", markdown_cell(text))


def _markdown(table: SystemsTable, printed: Printed, options: TableOptions) -> str:
    head, *rows = _grid(table, printed, padded=False)
    lines = [map(_in_markdown, head), ["---", *["---:"] * (len(head) - 1)]]
    lines += ([_in_markdown(name), *cells] for name, *cells in rows)
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    caption = f"{_in_markdown(options.caption)}\n\n" if options.caption else ""
    note = _in_markdown(" ".join(_notes(table, options, second="in italics")))
    signatures = "".join(f"- {_in_markdown(line)}\n" for line in _signatures(table))
    return f"{caption}{text}\n{note}\n" + (f"\n{signatures}" if signatures else "")


def _in_latex(text: str) -> str:
    return latex_text(text).replace(r"$\dagger$ ", r"$\dagger$~")


def _latex_cell(cell: _Printed | None) -> str:
    if cell is None:
        return "--"
    number = cell.number.replace("-", "$-$")
    number = {"": number, "best": rf"\textbf{{{number}}}", "second": rf"\underline{{{number}}}"}[cell.mark]
    dagger = r"\rlap{$^{\dagger}$}" if cell.different and not cell.interval else r"$^{\dagger}$" * cell.different
    interval = rf" {{\scriptsize {cell.interval.replace('-', '$-$')}}}" if cell.interval else ""
    return number + dagger + interval


def _latex(table: SystemsTable, printed: Printed, options: TableOptions) -> str:
    """A tabular for booktabs, in a table environment if it has a caption or a label; signatures in comments."""
    heads = _heads(table)
    lines = [
        latex_line([_in_latex(system), *_counts(table, system), *(_latex_cell(row.get(m)) for m in table.metrics)])
        for system, row in printed.items()
    ]
    body = [
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        *(r"\toprule", latex_line([_in_latex(head) for head in heads]), r"\midrule"),
        *lines,
        *(r"\bottomrule", r"\end{tabular}"),
    ]
    if notes := _notes(table, options):
        below = _in_latex(" ".join(notes)).replace(r"95 \%", r"95~\%")  # on one line
        body += [r"\par\smallskip", rf"{{\noindent\footnotesize {below}\par}}"]
    if options.caption is not None or options.label is not None:
        caption = [rf"\caption{{{_in_latex(options.caption)}}}"] if options.caption is not None else []
        label = [rf"\label{{{options.label}}}"] if options.label is not None else []
        body = [r"\begin{table}", r"\centering", *caption, *label, *body, r"\end{table}"]
    comments = [r"% needs \usepackage{booktabs}", *(f"% {one_line(line)}" for line in _signatures(table))]
    return "\n".join([*comments, *body, ""])


def _html_cell(cell: _Printed | None) -> str:
    if cell is None:
        return f"<td>{MISSING}</td>"
    number = {"": cell.number, "best": f"<b>{cell.number}</b>", "second": f"<u>{cell.number}</u>"}[cell.mark]
    interval = f" <small>{cell.interval}</small>" if cell.interval else ""
    return f"<td>{number}{f'<sup>{DAGGER}</sup>' * cell.different}{interval}</td>"


def _html(table: SystemsTable, printed: Printed, options: TableOptions) -> str:
    def text(value: str) -> str:
        return escape(one_line(value))

    caption = [f"<caption>{text(options.caption)}</caption>"] if options.caption else []
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in _heads(table))
    rows = [
        f'<tr><th scope="row" style="text-align:left">{text(system)}</th>'
        + "".join(f"<td>{count}</td>" for count in _counts(table, system))
        + "".join(_html_cell(row.get(metric)) for metric in table.metrics)
        + "</tr>"
        for system, row in printed.items()
    ]
    signatures = "".join(f"<li>{text(line)}</li>" for line in _signatures(table))
    return "\n".join(
        [
            '<table class="dataframe">',
            *caption,
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *rows,
            "</tbody>",
            "</table>",
            f"<p>{text(' '.join(_notes(table, options)))}</p>",
            *([f"<details><summary>Signatures</summary><ul>{signatures}</ul></details>"] if signatures else []),
            "",
        ]
    )
