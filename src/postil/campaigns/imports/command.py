"""`postil annotate import`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.campaigns.imports.calls import (
    Imported,
    LabelStudioOptions,
    PotatoOptions,
    import_label_studio,
    import_potato,
)
from postil.cli.command import command
from postil.cli.errors import say
from postil.cli.options import group
from postil.results.formats import counted

__all__ = ["imports"]

imports = group("import", "Bring annotations of other tools: as judgements, or as a campaign with its ratings.")


@imports.command(name="label-studio")
@command
def label_studio(
    files: Annotated[list[str], typer.Argument(metavar="FILES...", help="Exports: JSON, JSON-MIN, CSV or TSV.")],
    options: LabelStudioOptions,
) -> None:
    """Exports of Label Studio: choices, ratings, numbers, and labels of spans in texts.

    Example: postil annotate import label-studio export.json --out judgements.jsonl --campaign campaign.db
    """
    _tell_imported(import_label_studio(files, options, say))


@imports.command()
@command
def potato(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATHS...", help="Output folders, or exported tables: JSON Lines, CSV or TSV."),
    ],
    options: PotatoOptions,
) -> None:
    """Annotations of Potato: choices, Likert scales, numbers, and spans.

    Example: postil annotate import potato annotation_output --data texts.jsonl --campaign campaign.db
    """
    _tell_imported(import_potato(paths, options, say))


def _tell_imported(done: Imported) -> None:
    parts = counted(done.ratings, "rating"), counted(done.tasks, "task"), counted(done.annotators, "annotator")
    say(f"{parts[0]} of {parts[1]} by {parts[2]}, of {', '.join(done.questions)}")
