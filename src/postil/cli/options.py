"""Parameters that several commands share, and groups of commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from postil.cli.errors import refuse
from postil.errors import UnknownName
from postil.results.formats import FORMATS, Format

if TYPE_CHECKING:
    from typer.core import TyperGroup

__all__ = [
    "SETTINGS",
    "CampaignArgument",
    "FormatOption",
    "ReportOption",
    "ScoresArgument",
    "group",
]

SETTINGS: Final = {"help_option_names": ["-h", "--help"]}


def group(name: str, text: str, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """A command that has others below it.

    Args:
        name: Its name.
        text: Its help.
        cls: Class of the group, if not the usual one.
    """
    return typer.Typer(
        name=name,
        cls=cls,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=SETTINGS,
    )


def _format(name: str) -> Format:
    if name not in FORMATS:
        refuse(UnknownName("format", name, FORMATS))
    return name


CampaignArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="The campaign: an SQLite file, sqlite:///FILE or postgresql://…")
]
FormatOption: TypeAlias = Annotated[
    Format, typer.Option(parser=_format, metavar="FORMAT", help="table, json, jsonl, csv, markdown, latex or html.")
]
ReportOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="HTML report to write; CSV and LaTeX tables are written beside it."),
]
ScoresArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SCORES",
        help="Item scores (item, system, metric, score, and signature if there is one), as from score --items.",
    ),
]
