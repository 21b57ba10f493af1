"""The table of a paper and its options: one row per system and one column per metric, the best in bold, daggers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Final, cast

from postil.data.arguments import check_fields
from postil.data.escaping import one_line
from postil.data.explain import counted
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Command, Setting
from postil.options import Flag, options
from postil.results.formats import ESCAPES, LAYOUTS, Format, Grid, Text, grid_as_csv
from postil.results.numbers import plain_numbers
from postil.results.table import Count, Number, Record, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


__all__ = ["SystemsTable", "TableOptions", "systems_text"]

CHOICES: Final = ("rows", "systems")
SYSTEMS: Final = Setting("layout", "systems")
_LABEL: Final = re.compile(r"[\w:./+-]+", re.ASCII)

DAGGER: Final = "†"

_EMPHASIS: Final = re.compile(r"[*_#~]")
"""Characters of emphasis and headings in Markdown."""


@options
class TableOptions:
    """Options of tables.

    Args:
        layout: rows (the usual tables), or systems: one row per system and one column per metric, the best in bold, a
            dagger where a system differs significantly from the baseline of postil compare. All options below go with
            systems.
        percent: Multiply scores by 100.
        digits: Number of decimals; by default 4, with percent 2.
        intervals: Add the 95 % confidence intervals that postil compare computes.
        second_best: Underline the second best.
        caption: Text above the table; in LaTeX the caption of a table environment.
        label: Label of the table environment in LaTeX.

    Raises:
        UnknownName: There is no such layout.
        UsageError: An option is of another kind or has no effect in this layout, or the label has other characters than
            ``A-Za-z0-9:._/+-``.

    >>> TableOptions(layout="systems", percent=True).decimals
    2
    """

    layout: Annotated[str, Flag(metavar="NAME")] = "rows"
    percent: bool = False
    digits: Annotated[int | None, Flag(min=0, max=15)] = None
    intervals: bool = False
    second_best: bool = False
    caption: Annotated[str | None, Flag(metavar="TEXT")] = None
    label: Annotated[str | None, Flag(metavar="NAME")] = None

    def __post_init__(self) -> None:
        check_fields(self)
        UnknownName.check("layout", self.layout, CHOICES)
        if self.digits is not None and not 0 <= self.digits <= 15:
            raise UsageError(
                "{digits}: expected a number from 0 to 15, got {got}", digits=Setting("digits"), got=self.digits
            )
        for name in ("percent", "digits", "intervals", "second_best", "caption", "label"):
            given = getattr(self, name)
            if self.layout == "rows" and given is not None and given is not False:
                raise UsageError(
                    "{setting} goes with the layout of systems: {systems}", setting=Setting(name), systems=SYSTEMS
                )
        if self.label is not None and not _LABEL.fullmatch(self.label):
            raise UsageError(
                "{label}: expected letters, digits and any of :._/+-, got '{got}'",
                label=Setting("label"),
                got=self.label,
            )

    @property
    def decimals(self) -> int:
        """Number of decimals."""
        return self.digits if self.digits is not None else 2 if self.percent else 4

    def check(self, form: str, *, intervals: bool) -> None:
        """Refuse options that a format or a result does not go with.

        Args:
            form: The format.
            intervals: True if the result has intervals.

        Raises:
            UsageError: They do not.
        """
        if self.layout == "systems" and form in {"json", "jsonl"}:
            forms = "table, csv, markdown, latex and html"
            raise UsageError(
                "{layout} goes with {format}; {form} has one row per number",
                layout=SYSTEMS,
                format=Setting("format", Blank(forms), instead=forms),
                form=form,
            )
        if self.intervals and not intervals:
            raise UsageError(
                "{intervals}: there are none here; {compare} computes them from item scores",
                intervals=Setting("intervals"),
                compare=Command("compare", call="postil.compare"),
            )
        if self.label is not None and form != "latex":
            raise UsageError(
                "{label} goes with {latex}",
                label=Setting("label"),
                latex=Setting("format", "latex", instead="result.to_latex()"),
            )


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
        intervals: Source of the intervals, in words; empty without any.
        notes: Further notes, in words.
        signatures: Signature of each metric.
    """

    table: Table
    unit: str = ""
    lower_is_better: frozenset[str] = frozenset()
    different: Callable[[Record], bool] | None = None
    tested: str = ""
    intervals: str = ""
    notes: Sequence[str] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> list[Number]:
        """The columns of the metrics."""
        return [column for column in self.table.columns if isinstance(column, Number)]

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

    def written(self, style: _Style) -> str:
        number, interval = (text.replace("-", style.minus) for text in (self.number, self.interval))
        dagger = style.dagger[bool(interval)] * self.different
        return style.around[self.place].format(number) + dagger + (interval and f" {style.interval.format(interval)}")


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
    writers = {"markdown": _markdown, "latex": _latex, "html": _html}
    return writers[form](table, options) if form in writers else _plain(cast("Text", form), table, options)


def _numbers(table: SystemsTable, options: TableOptions) -> Iterator[list[object]]:
    """The grid of CSV: numbers in full, or rounded where decimals are asked for."""
    ends = ("low", "high") if options.intervals else ()
    first = table.table.columns[0]
    heads = (name for column in table.metrics for name in (column.head, *(f"{column.head} {end}" for end in ends)))
    yield [first.head, "n", *heads]
    for row, n in zip_longest(table.table.rows, table.counts):
        values = [column.value(row, of) for column in table.metrics for of in (column.of, *ends)]
        yield [first.value(row), n, *(value if value is None else _scaled(value, options) for value in values)]


def _scaled(value: float, options: TableOptions) -> float:
    value *= 100 if options.percent else 1
    return value if options.digits is None else round(value, options.digits)


def _text(form: Text, text: str) -> str:
    """A text without marks of its own, since bold and italics mean something in the table."""
    text = ESCAPES[form](text)
    return _EMPHASIS.sub(r"\\\g<0>", text) if form == "markdown" else text


def _grid(form: Text, table: SystemsTable, options: TableOptions) -> Grid:
    first, rows = table.table.columns[0], table.table.rows
    columns = [[_text(form, text) for text in (first.head, *map(first.value, rows))]]
    if len(set(table.counts)) > 1:
        columns.append(["n", *(f"{n:,}" for n in table.counts)])
    style = _STYLES.get(form, _Style())
    for column in table.metrics:
        scores = list(_scores(table, column, options))
        cells = [score.written(style) if score else style.none for score in scores]
        head = f"{column.head} ↓" if column.head in table.lower_is_better else column.head
        columns.append([_text(form, head), *(_aligned(scores, cells) if form == "table" else cells)])
    return list(map(list, zip(*columns, strict=True)))


def _scores(table: SystemsTable, column: Number, options: TableOptions) -> Iterator[_Score | None]:
    """The scores by a metric; numbers that are printed alike are equally good."""
    rows = table.table.rows
    shown = [None if value is None else _number(value, options) for value in map(column.value, rows)]
    there = [float(text) for text in shown if text is not None]
    order = sorted({*there}, reverse=column.head not in table.lower_is_better) if len(there) > 1 else []
    places = {number: place for place, number in enumerate(order[: 1 + options.second_best], 1)}
    for row, text in zip(rows, shown, strict=True):
        if text is None:
            yield None
            continue
        ends = [column.value(row, end) for end in ("low", "high") if options.intervals]
        numbers = [_number(end, options) for end in ends if end is not None]
        interval = f"[{', '.join(numbers)}]" if numbers else ""
        different = table.different is not None and column.value(row, table.different)
        yield _Score(text, places.get(float(text), 0), different, interval)


def _number(value: float, options: TableOptions) -> str:
    (shown,) = plain_numbers([100 * value if options.percent else value], options.decimals, zero=True)
    return shown.removeprefix("-") if float(shown) == 0 else shown


def _aligned(scores: Sequence[_Score | None], cells: Sequence[str]) -> Iterator[str]:
    """The cells of a terminal, with digits below each other."""
    before = [len(("", "**", "_")[score.place]) if score else 0 for score in scores]
    after = [width + (score is not None and score.different) for width, score in zip(before, scores, strict=True)]
    for score, cell, left, right in zip(scores, cells, before, after, strict=True):
        alone = score is not None and not score.interval
        yield " " * (score is not None and max(before) - left) + cell + " " * (alone and max(after) - right)


def _notes(table: SystemsTable, options: TableOptions, best: str = "in bold", second: str = "underlined") -> list[str]:
    """Notes below the table, one sentence each."""
    sizes = set(table.counts)
    falling = table.lower_is_better.intersection(column.head for column in table.metrics)
    notes = [
        f"{counted(max(sizes), table.unit)}." if len(sizes) == 1 else "",
        *table.notes,
        "Scores × 100." if options.percent else "",
        f"Best {best}{f', second best {second}' if options.second_best else ''}." if len(table.table.rows) > 1 else "",
        f"{DAGGER} {table.tested}." if table.tested else "",
        f"In brackets: {table.intervals}." if options.intervals else "",
        "↓ lower is better." if falling else "",
    ]
    return list(filter(None, notes))


def _signatures(form: Text, table: SystemsTable) -> list[str]:
    metrics = [column.head for column in table.metrics if column.head in table.signatures]
    return [_text(form, f"{metric}: {table.signatures[metric]}") for metric in metrics]


def _plain(form: Text, table: SystemsTable, options: TableOptions) -> str:
    """For a terminal, and in formats that have no marks of their own for the best."""
    caption = f"{one_line(options.caption)}\n\n" if options.caption else ""
    notes = "".join(f"{one_line(note)}\n" for note in _notes(table, options, "**so**", "_so_"))
    return caption + LAYOUTS[form](_grid(form, table, options)) + "\n" + notes


def _markdown(table: SystemsTable, options: TableOptions) -> str:
    caption = f"{_text('markdown', options.caption)}\n\n" if options.caption else ""
    note = _text("markdown", " ".join(_notes(table, options, second="in italics")))
    signatures = "".join(f"- {line}\n" for line in _signatures("markdown", table))
    table_of_scores = LAYOUTS["markdown"](_grid("markdown", table, options))
    return f"{caption}{table_of_scores}\n{note}\n" + (f"\n{signatures}" if signatures else "")


def _latex(table: SystemsTable, options: TableOptions) -> str:
    """A tabular for booktabs, in a table environment if it has a caption or a label; signatures in comments."""
    body = [LAYOUTS["latex"](_grid("latex", table, options)).rstrip()]
    if notes := _notes(table, options):
        below = _text("latex", " ".join(notes)).replace(r"95 \%", r"95~\%").replace(r"$\dagger$ ", r"$\dagger$~")
        body += [r"\par\smallskip", rf"{{\noindent\footnotesize {below}\par}}"]
    if options.caption is not None or options.label is not None:
        caption = [rf"\caption{{{_text('latex', options.caption)}}}"] if options.caption is not None else []
        label = [rf"\label{{{options.label}}}"] if options.label is not None else []
        body = [r"\begin{table}", r"\centering", *caption, *label, *body, r"\end{table}"]
    comments = [r"% needs \usepackage{booktabs}", *(f"% {line}" for line in _signatures("table", table))]
    return "\n".join([*comments, *body, ""])


def _html(table: SystemsTable, options: TableOptions) -> str:
    text = LAYOUTS["html"](_grid("html", table, options))
    if options.caption:
        text = text.replace("<thead>", f"<caption>{_text('html', options.caption)}</caption>\n<thead>", 1)
    text += f"<p>{_text('html', ' '.join(_notes(table, options)))}</p>\n"
    signatures = "".join(f"<li>{line}</li>" for line in _signatures("html", table))
    return text + (f"<details><summary>Signatures</summary><ul>{signatures}</ul></details>\n" if signatures else "")
