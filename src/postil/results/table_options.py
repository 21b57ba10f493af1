"""Options of tables for people and papers: flags of commands, and keywords of the methods of results."""

from __future__ import annotations

import re
from typing import Annotated, Final, TypedDict

from postil.data.arguments import check_fields
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Command, Setting
from postil.options import Flag, options

__all__ = ["TableFields", "TableOptions"]

LAYOUTS: Final = ("rows", "systems")
SYSTEMS: Final = Setting("layout", "systems")
_LABEL: Final = re.compile(r"[\w:./+-]+", re.ASCII)


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
        UnknownName.check("layout", self.layout, LAYOUTS)
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


class TableFields(TypedDict, total=False):
    """The fields of `TableOptions` as keywords."""

    layout: str
    percent: bool
    digits: int | None
    intervals: bool
    second_best: bool
    caption: str | None
    label: str | None
