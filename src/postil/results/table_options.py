"""Options of tables, apart from tables so that help does without them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping  # the options read the latter at run time
from dataclasses import field
from typing import Annotated, Final

from postil.data.arguments import check_fields
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Command, Setting
from postil.options import Flag, options
from postil.results.names import printed_times_100

__all__ = ["TableOptions"]

CHOICES: Final = ("rows", "systems", "metrics")
SYSTEMS: Final = Setting("layout", "systems")
METRICS: Final = Setting("layout", "metrics")
_LABEL: Final = re.compile(r"[\w:./+-]+", re.ASCII)


@options(group="Layout of tables")
class TableOptions:
    """Options of tables.

    Args:
        layout: rows (the usual tables), or systems: one row per system and one column per metric, the best in bold, a
            dagger where a system differs significantly from the baseline of postil compare; or metrics: one row per
            metric and one column per aspect, level or coefficient of postil correlate. The options below go with these
            two, names also with the usual tables and with figures.
        percent: Multiply scores by 100.
        as_printed: Multiply by 100 the scores that papers print so: BLEU, chrF, ROUGE and TER, and METEOR beside one of
            them.
        digits: Number of decimals; by default 4, or 3 in the layout of metrics, and 2 of what is multiplied by 100.
        intervals: Add the 95 % confidence intervals, which postil compare, correlate and wmt compute.
        second_best: Underline the second best.
        caption: Text above the table; in LaTeX the caption of a table environment.
        label: Label of the table environment in LaTeX.
        names: Name of a metric in tables and figures, by its spec; repeatable. In LaTeX and Markdown of these layouts
            it is by default that of papers, such as ROUGE-L.

    Raises:
        UnknownName: There is no such layout.
        UsageError: An option is of another kind or has no effect in this layout, or the label has other characters than
            ``A-Za-z0-9:._/+-``.

    >>> TableOptions(layout="systems", percent=True).decimals("meteor")
    2
    """

    layout: Annotated[str, Flag(metavar="NAME")] = "rows"
    percent: bool = False
    as_printed: bool = False
    digits: Annotated[int | None, Flag(min=0, max=15)] = None
    intervals: bool = False
    second_best: bool = False
    caption: Annotated[str | None, Flag(metavar="TEXT")] = None
    label: Annotated[str | None, Flag(metavar="NAME")] = None
    names: Annotated[Mapping[str, str], Flag("name", metavar="SPEC=NAME")] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        UnknownName.check("layout", self.layout, CHOICES)
        if self.digits is not None and not 0 <= self.digits <= 15:
            raise UsageError(
                "{digits}: expected a number from 0 to 15, got {got}", digits=Setting("digits"), got=self.digits
            )
        if self.layout == "rows" and self.as_printed:
            raise UsageError(
                "{printed} goes with the layout of systems: {systems}",
                printed=Setting("as_printed", value=True),
                systems=SYSTEMS,
            )
        for name in ("percent", "digits", "intervals", "second_best", "caption", "label"):
            given = getattr(self, name)
            if self.layout == "rows" and given is not None and given is not False:
                raise UsageError(
                    "{setting} goes with the layout of systems or of metrics: {systems} or {metrics}",
                    setting=Setting(name),
                    systems=SYSTEMS,
                    metrics=METRICS,
                )
        if self.layout == "metrics" and self.as_printed:
            raise UsageError(
                "{printed} is of scores, and {metrics} has coefficients; {percent} multiplies these by 100",
                printed=Setting("as_printed", value=True),
                metrics=METRICS,
                percent=Setting("percent", value=True),
            )
        if self.percent and self.as_printed:
            raise UsageError(
                "{percent} multiplies all scores by 100, {printed} some; give one of them",
                percent=Setting("percent", value=True),
                printed=Setting("as_printed", value=True),
            )
        if self.label is not None and not _LABEL.fullmatch(self.label):
            raise UsageError(
                "{label}: expected letters, digits and any of :._/+-, got '{got}'",
                label=Setting("label"),
                got=self.label,
            )

    def times_100(self, metric: str, beside: Collection[str] = ()) -> bool:
        """True if the scores of a metric are multiplied by 100.

        Args:
            metric: Its spec.
            beside: Specs of all metrics of the table.
        """
        return self.percent or (self.as_printed and printed_times_100(metric, beside))

    def decimals(self, metric: str, beside: Collection[str] = ()) -> int:
        """Number of decimals of the scores of a metric.

        Args:
            metric: Its spec.
            beside: Specs of all metrics of the table.
        """
        if self.digits is not None:
            return self.digits
        return 2 if self.times_100(metric, beside) else 3 if self.layout == "metrics" else 4

    def check_names(self, metrics: Collection[str]) -> None:
        """Refuse names of metrics that are not scored.

        Args:
            metrics: Specs of all metrics.

        Raises:
            UnknownName: One is not scored.
        """
        for metric in self.names:
            UnknownName.check("metric", metric, metrics)

    def check_layout(self, kind: str, layouts: Collection[str]) -> None:
        """Refuse a layout that a result does not have.

        Args:
            kind: Kind of the result.
            layouts: The layouts that it has besides the usual tables.

        Raises:
            UsageError: It does not have this one.
        """
        if self.layout in {"rows", *layouts}:
            return
        if self.layout == "systems":
            raise UsageError(
                "{layout} is for scores of systems (score, compare, evaluate, wmt), not for {kind}",
                layout=SYSTEMS,
                kind=kind,
            )
        raise UsageError(
            "{layout} is for metrics that are compared with people (correlate, wmt), not for {kind}",
            layout=METRICS,
            kind=kind,
        )

    def check(self, form: str, *, intervals: bool) -> None:
        """Refuse options that a format or a result does not go with.

        Args:
            form: The format.
            intervals: True if the result has intervals.

        Raises:
            UsageError: They do not.
        """
        if self.layout != "rows" and form in {"json", "jsonl"}:
            forms = "table, csv, markdown, latex and html"
            raise UsageError(
                "{layout} goes with {format}; {form} has one row per number",
                layout=Setting("layout", self.layout),
                format=Setting("format", Blank(forms), instead=forms),
                form=form,
            )
        if self.names and form in {"json", "jsonl", "csv"} and self.layout == "rows":
            raise UsageError(
                "{names} is of tables and figures; {form} has the names of the data", names=Setting("names"), form=form
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
