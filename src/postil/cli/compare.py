"""`postil compare`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import command_line, emit, exits, tell
from postil.cli.options import FormatOption, LowerIsBetterOption, ScoresArgument, SeedOption

__all__ = ["compare"]


@exits
def compare(
    context: typer.Context,
    scores: ScoresArgument,
    *,
    baseline: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="The system to compare with; by default the first.")
    ] = None,
    intersect: Annotated[
        bool, typer.Option("--intersect", help="Compare on shared items, where systems cover different ones.")
    ] = False,
    lower_is_better: LowerIsBetterOption = None,
    resamples: Annotated[int, typer.Option(min=1, metavar="N", help="Resamples of the items, for intervals.")] = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Draws of approximate randomisation.")] = 10_000,
    seed: SeedOption = 20181,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Compare systems with a baseline on each metric.

    Example: postil compare scores.jsonl --baseline seq2seq
    """
    from postil.app.comparing import CompareOptions, compare_files, comparison_as, remarks  # noqa: PLC0415

    options = CompareOptions(
        baseline=baseline,
        intersect=intersect,
        lower_is_better=tuple(lower_is_better or ()),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    found = compare_files(scores, options)
    emit(comparison_as(format, found, command_line(context)), format)
    tell(format, remarks(found))
