"""The table of a paper: one row per system and one column per metric, the best in bold, daggers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from postil.data.cells import ShownNumber
from postil.data.escaping import one_line
from postil.data.explain import counted
from postil.results.formats import ESCAPES, LAYOUTS, Cells, Format, Grid, Text, listed
from postil.results.latex_width import BOLD, COLUMN, SCRIPT, fit, table_width, text_width
from postil.results.names import display_names
from postil.results.numbers import plain_numbers
from postil.results.table import Count, Number, Record, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.results.table_options import TableOptions

__all__ = ["SystemsTable", "show_systems", "typeset"]

DAGGER: Final = "†"

_BREAKS: Final = re.compile(r"\\textbar\{\}|,|\w{25}(?=\w)")
"""Places of a signature after which a line may end."""

_EMPHASIS: Final = re.compile(r"[*_#~]")
"""Characters of emphasis and headings in Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsTable:
    """Scores of systems by metrics.

    Args:
        table: One row per system, with a column of numbers per metric and maybe one that counts its texts.
        unit: Name of one of those that are counted.
        lower_is_better: Metrics for which lower is better.
        different: Function that is true for the part of a row in a column that differs significantly from the
            baseline's.
        tested: Test that `different` is from, in words; empty without one.
        baseline: Metric that rows differ from, where they are metrics; named after the test.
        intervals: Source of the intervals, in words; empty without any.
        notes: Further notes, in words.
        signatures: Signature of each metric.
        by_metric: True if the rows are metrics, and the columns something else.
    """

    table: Table
    unit: str = ""
    lower_is_better: frozenset[str] = frozenset()
    different: Callable[[Record], bool] | None = None
    tested: str = ""
    baseline: str = ""
    intervals: str = ""
    notes: Sequence[str] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    by_metric: bool = False

    @property
    def metrics(self) -> list[Number]:
        """The columns of the metrics."""
        return [column for column in self.table.columns if isinstance(column, Number)]

    @property
    def heads(self) -> list[str]:
        """The names of these columns: specs of metrics, unless the rows are metrics."""
        return [column.head for column in self.metrics]

    @property
    def named(self) -> list[str]:
        """The metrics that it names, in columns or in rows."""
        first = self.table.columns[0]
        return [first.value(row) for row in self.table.rows] if self.by_metric else self.heads

    @property
    def counts(self) -> list[int]:
        """Number of texts of each system, if known."""
        counts = (column for column in self.table.columns if isinstance(column, Count))
        return [column.value(row) for column in counts for row in self.table.rows]


@dataclass(frozen=True, slots=True)
class _Style:
    """The marks of a format.

    Args:
        around: Marks around a number, the best and the second best.
        dagger: Mark after a number that differs; the same before an interval.
        interval: Marks around an interval.
        none: Cell without a number.
        minus: A minus sign.
    """

    around: tuple[str, str, str] = ("{}", "**{}**", "_{}_")
    dagger: tuple[str, str] = (DAGGER, DAGGER)
    interval: str = "{}"
    none: str = "-"
    minus: str = "-"


_STYLES: Final = {
    "latex": _Style(
        ("{}", r"\textbf{{{}}}", r"\underline{{{}}}"),
        (r"\rlap{$^{\dagger}$}", r"$^{\dagger}$"),
        r"{{\scriptsize {}}}",
        "--",
        "$-$",
    ),
    "html": _Style(("{}", "<b>{}</b>", "<u>{}</u>"), ("<sup>†</sup>",) * 2, "<small>{}</small>", "–", "−"),
}


@dataclass(frozen=True, slots=True)
class _Score:
    """A number as text, its place (1 for the best, 2 for the second best, else 0), and its interval in brackets."""

    number: str
    place: int
    different: bool
    interval: str

    def width(self, size: float) -> float:
        """The width of the cell in LaTeX in points, where letters have a multiple of their width at 10 pt."""
        width = size * BOLD * text_width(self.number)
        if self.interval:
            width += size * text_width(" †" if self.different else " ") + SCRIPT * text_width(self.interval)
        return width

    def written(self, style: _Style) -> str:
        number, interval = (text.replace("-", style.minus) for text in (self.number, self.interval))
        dagger = style.dagger[bool(interval)] * self.different
        return style.around[self.place].format(number) + dagger + (interval and f" {style.interval.format(interval)}")


def show_systems(form: Format, table: SystemsTable, options: TableOptions) -> str | Cells:
    """Lay a table of systems out: as text, or as the cells of ``csv``.

    Args:
        form: All but ``json`` and ``jsonl``.
        table: The table.
        options: Percent, decimals, intervals, caption and label.

    Raises:
        UsageError: See `TableOptions.check`.
    """
    options.check(form, intervals=bool(table.intervals))
    if form == "csv":
        return Cells(_numbers(table, options))
    writers = {"markdown": _markdown, "latex": _latex, "html": _html}
    return writers[form](table, options) if form in writers else _plain(cast("Text", form), table, options)


def _numbers(table: SystemsTable, options: TableOptions) -> list[tuple[object, ...]]:
    """The grid of CSV and workbooks: numbers in full, or rounded where decimals are asked for, marked as in LaTeX."""
    first, names, rows = table.table.columns[0], options.names, table.table.rows
    labels = [first.value(row) for row in rows]
    columns: list[list[object]] = [
        [first.head, *(names.get(label, label) if table.by_metric else label for label in labels)]
    ]
    if options.layout == "systems":
        columns.append(["n", *table.counts] if table.counts else ["n", *(None for _ in rows)])
    for column in table.metrics:
        head, cell = names.get(column.head, column.head), partial(_cell, table, options, column.head)
        columns.append([head, *map(cell, map(column.value, rows), _scores(table, column, options))])
        ends = ("low", "high") if options.intervals else ()
        columns += [[f"{head} {end}", *(cell(column.value(row, end)) for row in rows)] for end in ends]
    return list(zip(*columns, strict=True))


def _cell(
    table: SystemsTable, options: TableOptions, metric: str, value: float | None, score: _Score | None = None
) -> ShownNumber | None:
    """A number in its cell, with the marks of a score."""
    if value is None:
        return None
    value *= 100 if options.times_100(metric, table.heads) else 1
    digits = options.decimals(metric, table.heads)
    value = value if options.digits is None else round(value, digits)
    if score is None:
        return ShownNumber(value, digits)
    return ShownNumber(value, digits, DAGGER * score.different, bold=score.place == 1, underlined=score.place == 2)


def typeset(form: Text, text: str) -> str:
    r"""Escape a text wholly, since bold and italics mean something in a table.

    Args:
        form: The format.
        text: The text.

    >>> print(typeset("latex", "bleu|case:mixed_50 %"), typeset("markdown", "a_b"))
    bleu\textbar{}case:mixed\_50 \% a\_b
    """
    text = ESCAPES[form](text)
    return _EMPHASIS.sub(r"\\\g<0>", text) if form == "markdown" else text


def _names(form: Text, table: SystemsTable, options: TableOptions) -> Mapping[str, str]:
    """The name of each metric: that of papers in the formats of papers."""
    return display_names(table.named, options.names) if form in {"latex", "markdown"} else options.names


def _labels(form: Text, table: SystemsTable, options: TableOptions) -> tuple[list[str], list[str]]:
    """The texts of the first column, with its head, and the heads of the columns of numbers."""
    first, names = table.table.columns[0], _names(form, table, options)
    rows = [first.value(row) for row in table.table.rows]
    heads = table.heads
    falls = [" ↓" if head in table.lower_is_better else "" for head in heads]
    if table.by_metric:
        rows = [names.get(row, row) for row in rows]
    else:
        heads = [names.get(head, head) for head in heads]
    return [first.head, *rows], [head + fall for head, fall in zip(heads, falls, strict=True)]


def _grid(form: Text, table: SystemsTable, options: TableOptions) -> Grid:
    labels, heads = _labels(form, table, options)
    columns = [[typeset(form, text) for text in labels]]
    if len(set(table.counts)) > 1:
        columns.append(["n", *(f"{n:,}" for n in table.counts)])
    style = _STYLES.get(form, _Style())
    for column, head in zip(table.metrics, heads, strict=True):
        scores = list(_scores(table, column, options))
        cells = [score.written(style) if score else style.none for score in scores]
        columns.append([typeset(form, head), *(_aligned(scores, cells) if form == "table" else cells)])
    return list(map(list, zip(*columns, strict=True)))


def _scores(table: SystemsTable, column: Number, options: TableOptions) -> Iterator[_Score | None]:
    """The scores by a metric; numbers that are printed alike are equally good."""
    rows = table.table.rows
    printed = partial(_number, options=options, metric=column.head, table=table)
    shown = [None if value is None else printed(value) for value in map(column.value, rows)]
    there = [float(text) for text in shown if text is not None]
    order = sorted({*there}, reverse=column.head not in table.lower_is_better) if len(there) > 1 else []
    places = {number: place for place, number in enumerate(order[: 1 + options.second_best], 1)}
    for row, text in zip(rows, shown, strict=True):
        if text is None:
            yield None
            continue
        ends = [column.value(row, end) for end in ("low", "high") if options.intervals]
        numbers = [printed(end) for end in ends if end is not None]
        interval = f"[{', '.join(numbers)}]" if numbers else ""
        different = table.different is not None and column.value(row, table.different)
        yield _Score(text, places.get(float(text), 0), different, interval)


def _number(value: float, options: TableOptions, metric: str, table: SystemsTable) -> str:
    value *= 100 if options.times_100(metric, table.heads) else 1
    (shown,) = plain_numbers([value], options.decimals(metric, table.heads), zero=True)
    return shown.removeprefix("-") if float(shown) == 0 else shown


def _aligned(scores: Sequence[_Score | None], cells: Sequence[str]) -> Iterator[str]:
    """The cells of a terminal, with digits below each other."""
    before = [len(("", "**", "_")[score.place]) if score else 0 for score in scores]
    after = [width + (score is not None and score.different) for width, score in zip(before, scores, strict=True)]
    for score, cell, left, right in zip(scores, cells, before, after, strict=True):
        alone = score is not None and not score.interval
        yield " " * (score is not None and max(before) - left) + cell + " " * (alone and max(after) - right)


def _notes(
    form: Text, table: SystemsTable, options: TableOptions, best: str = "in bold", second: str = "underlined"
) -> list[str]:
    """Notes below the table, one sentence each."""
    names = _names(form, table, options)
    scaled = [names.get(head, head) for head in table.heads if options.times_100(head, table.heads)]
    sizes = set(table.counts)
    falling = table.lower_is_better.intersection(table.heads)
    notes = [
        f"{counted(max(sizes), table.unit)}." if len(sizes) == 1 else "",
        *table.notes,
        "Scores × 100." if options.percent else f"{listed(scaled)} × 100." if scaled else "",
        f"Best {best}{f', second best {second}' if options.second_best else ''}." if len(table.table.rows) > 1 else "",
        f"{DAGGER} {table.tested}{names.get(table.baseline, table.baseline)}." if table.tested else "",
        f"In brackets: {table.intervals}." if options.intervals else "",
        "↓ lower is better." if falling else "",
    ]
    return list(filter(None, notes))


def _signatures(form: Text, table: SystemsTable, options: TableOptions) -> list[str]:
    names = _names(form, table, options)
    metrics = [metric for metric in table.named if metric in table.signatures]
    return [typeset(form, f"{names.get(metric, metric)}: {table.signatures[metric]}") for metric in metrics]


def _plain(form: Text, table: SystemsTable, options: TableOptions) -> str:
    """For a terminal, and in formats that have no marks of their own for the best."""
    caption = f"{one_line(options.caption)}\n\n" if options.caption else ""
    notes = "".join(f"{one_line(note)}\n" for note in _notes(form, table, options, "**so**", "_so_"))
    return caption + LAYOUTS[form](_grid(form, table, options)) + "\n" + notes


def _markdown(table: SystemsTable, options: TableOptions) -> str:
    caption = f"{typeset('markdown', options.caption)}\n\n" if options.caption else ""
    note = typeset("markdown", " ".join(_notes("markdown", table, options, second="in italics")))
    signatures = "".join(f"- {line}\n" for line in _signatures("markdown", table, options))
    table_of_scores = LAYOUTS["markdown"](_grid("markdown", table, options))
    return f"{caption}{table_of_scores}\n{note}\n" + (f"\n{signatures}" if signatures else "")


def _latex(table: SystemsTable, options: TableOptions) -> str:
    """A tabular for booktabs, in a table environment if it has a caption or a label; signatures below it.

    One that is wider than a column spans both (``table*``), in the largest text in which it fits the page; the last
    resort is to scale it.
    """
    columns = partial(_widths, table, options)
    fitting = fit(columns)
    body = [LAYOUTS["latex"](_grid("latex", table, options)).rstrip()]
    if fitting.scaled:
        body = [r"\resizebox{\textwidth}{!}{%", f"{body[0]}%", "}"]
    if fitting.size:
        body = [rf"{{\{fitting.size}\setlength{{\tabcolsep}}{{{fitting.gap}pt}}%", *body[:-1], body[-1] + "}"]
    if notes := _notes("latex", table, options):
        below = typeset("latex", " ".join(notes)).replace(r"95 \%", r"95~\%").replace(r"$\dagger$ ", r"$\dagger$~")
        body += [r"\par\smallskip", rf"{{\noindent\footnotesize {below}\par}}"]
    if signatures := _signatures("latex", table, options):
        body += [r"\par\smallskip", r"{\scriptsize\raggedright\setlength{\parindent}{0pt}%"]
        body += [_BREAKS.sub(r"\g<0>\\allowbreak ", line) + r"\par" for line in signatures] + ["}"]
    wide = table_width(columns(1.0)) > COLUMN
    comments = [rf"% needs \usepackage{{booktabs{',graphicx' * fitting.scaled}}}"]
    if options.caption is not None or options.label is not None:
        caption = [rf"\caption{{{typeset('latex', options.caption)}}}"] if options.caption is not None else []
        label = [rf"\label{{{options.label}}}"] if options.label is not None else []
        kind = f"table{'*' * wide}"
        body = [rf"\begin{{{kind}}}", r"\centering", *caption, *label, *body, rf"\end{{{kind}}}"]
    elif wide:
        comments.append("% wider than a column of two: put it in table*")
    return "\n".join([*comments, *body, ""])


def _widths(table: SystemsTable, options: TableOptions, size: float) -> list[float]:
    """The width of each column in LaTeX, where letters have a multiple of their width at 10 pt."""
    labels, heads = _labels("latex", table, options)
    widths = [size * max(map(text_width, labels))]
    if len(set(table.counts)) > 1:
        widths.append(size * max(text_width(f"{n:,}") for n in table.counts))
    for column, head in zip(table.metrics, heads, strict=True):
        cells = [score.width(size) for score in _scores(table, column, options) if score]
        widths.append(max([size * text_width(head), *cells]))
    return widths


def _html(table: SystemsTable, options: TableOptions) -> str:
    text = LAYOUTS["html"](_grid("html", table, options))
    if options.caption:
        text = text.replace("<thead>", f"<caption>{typeset('html', options.caption)}</caption>\n<thead>", 1)
    text += f"<p>{typeset('html', ' '.join(_notes('html', table, options)))}</p>\n"
    signatures = "".join(f"<li>{line}</li>" for line in _signatures("html", table, options))
    return text + (f"<details><summary>Signatures</summary><ul>{signatures}</ul></details>\n" if signatures else "")
