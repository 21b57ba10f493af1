"""Parameters that several commands share, and groups of commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from postil.cli.errors import refuse
from postil.errors import UnknownName
from postil.render.formats import FORMATS, Format

if TYPE_CHECKING:
    from typer.core import TyperGroup

__all__ = [
    "SETTINGS",
    "AddressOption",
    "CampaignArgument",
    "EngineOption",
    "FormatOption",
    "ReportOption",
    "ScoresArgument",
    "SeedOption",
    "StemOption",
    "StopOption",
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
AddressOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="With --engine ray: of a running cluster, or auto.")
]
EngineOption: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Where the work is done: local, or ray; the results do not depend on it.")
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
SeedOption: TypeAlias = Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")]
StemOption: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="none, or a stemmer such as porter.")]
StopOption: TypeAlias = Annotated[str, typer.Option(metavar="LANG", help="none, or a list of stop words such as en.")]
