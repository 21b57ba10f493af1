"""`postil correlate`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import command_line, emit, exits, say, tell
from postil.cli.options import (
    AddressOption,
    EngineOption,
    FormatOption,
    JobsOption,
    LowerIsBetterOption,
    ReportOption,
    ScoresArgument,
    SeedOption,
)

__all__ = ["correlate"]


@exits
def correlate(
    context: typer.Context,
    scores: ScoresArgument,
    *,
    judgements: Annotated[
        str, typer.Option("--judgements", metavar="FILE", help="Judgements (item, system, annotator, grade).")
    ],
    by: Annotated[
        str,
        typer.Option(metavar="LEVEL", help="pool (all texts), item (mean over items) or system (means)."),
    ] = "pool",
    coefficient: Annotated[
        list[str] | None,
        typer.Option(
            "--coefficient",
            "-c",
            metavar="NAME",
            help="pearson, spearman, kendall-b or kendall-c; may be repeated. Without it the first three.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", metavar="NAME", help="A metric to keep; may be repeated. Without it all."),
    ] = None,
    lower_is_better: LowerIsBetterOption = None,
    aspect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which question, where judgements answer more than one.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="Scale of the grades, to check them by: HIGH or LOW:HIGH.")
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(metavar="FILE", help="Candidates, for the texts of the worst disagreements.")
    ] = None,
    disagree: Annotated[
        tuple[str, str] | None, typer.Option(metavar="NAME NAME", help="Two metrics whose disagreements are listed.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, metavar="N", help="How many disagreements.")] = 10,
    resamples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Resamples of the items, for intervals; Kendall takes 200 at most.")
    ] = 1000,
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="Permutations, for tests.")] = 10_000,
    seed: SeedOption = 20181,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Hold metrics against people's grades.

    Correlations with intervals, the human ceiling beside them, and tests of differences.

    Scores and judgements meet on item and system; what does not meet is counted and named. Controls that score
    --controls wrote stand beside their metrics.

    Example: postil correlate scores.jsonl --judgements judgements.jsonl --report report.html
    """
    from postil.app.correlating.files import CorrelateOptions, correlate_files  # noqa: PLC0415
    from postil.app.correlating.output import as_json, findings_as, remarks, warned  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    options = CorrelateOptions(
        **({"coefficients": tuple(coefficient)} if coefficient else {}),  # type: ignore[arg-type]  # checked inside
        by=by,  # type: ignore[arg-type]  # checked inside
        metrics=tuple(metric or ()),
        lower_is_better=tuple(lower_is_better or ()),
        aspect=aspect,
        scale=Scale.parse(scale) if scale else None,
        disagree=disagree,
        worst=worst,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        jobs=jobs,
        engine=engine,
        address=address,
    )
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415
        from postil.records.result_files import decoded  # noqa: PLC0415

        check_report(report, [*scores, judgements, *filter(None, [candidates])])  # before the work is done
    found = correlate_files(scores, judgements, options, candidates)
    if report:
        for path in write_report([decoded(as_json(found, points=True, command=command_line(context)))], report):
            say(f"written: {path}")
    emit(findings_as(format, found, command_line(context)), format)
    tell(format, remarks(found))
    for line in warned(found):  # whatever the format: in a table it would stand far below the numbers
        say(line)
