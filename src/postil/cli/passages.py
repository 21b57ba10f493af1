"""`postil passages`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations when a command runs
from typing import Annotated

import typer

from postil.cli.errors import command_line, emit, exits, say, tell
from postil.cli.options import FormatOption, JobsOption, ReportOption, SeedOption, StemOption, StopOption

__all__ = ["passages"]


@exits
def passages(
    context: typer.Context,
    passages: Annotated[
        str, typer.Argument(metavar="PASSAGES", help="Rows (topic, id, text, [anchors], grade), or - for stdin.")
    ],
    *,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="SPEC", help="Such as f1-2, w-logsim-1 or kl-sk; may be repeated."),
    ] = None,
    reference: Annotated[
        str,
        typer.Option(
            metavar="WHAT", help="topic: informativeness; others: interestingness, by passages of other topics."
        ),
    ] = "topic",
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Score passages without themselves in their reference as well.")
    ] = False,
    pool: Annotated[
        str, typer.Option(metavar="HOW", help="all: one list; topic: a list a topic, and the mean of them.")
    ] = "all",
    k: Annotated[list[int] | None, typer.Option("--k", "-k", min=1, help="A cut; may be repeated.")] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds of topics, for --reference others.")] = 12,
    folds_by: Annotated[
        str, typer.Option(metavar="HOW", help="seed: topics at random; order: topic i in fold i modulo their number.")
    ] = "seed",
    tokenizer: Annotated[str, typer.Option(metavar="NAME", help="How text is split.")] = "words",
    stem: StemOption = "none",
    stop: StopOption = "none",
    anchors: Annotated[bool, typer.Option("--anchors", help="Take the passages' anchors for their words.")] = False,
    scale: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Scale of the grades; by default 0 to the highest.")
    ] = None,
    scores: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the measures of every passage (item: topic, system: id).")
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every ranking but random as a TREC run, a list a topic."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw the curves.")] = None,
    resamples: Annotated[int, typer.Option(min=1, metavar="N", help="Resamples of the topics, for intervals.")] = 1000,
    seed: SeedOption = 20181,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Find which measure ranks the best passages first.

    Informativeness or interestingness, as nCG at cuts with intervals and tests.

    Example: postil passages passages.jsonl --stop en --stem porter --leave-one-out --pool topic -k 10 -k 50
    """
    from postil.app.passages.files import PassagesOptions, gains_of_file  # noqa: PLC0415
    from postil.app.passages.output import as_json, check_scores, draw_gains, gains_as, remarks, write_scores  # noqa: PLC0415
    from postil.app.passages.runs import write_runs  # noqa: PLC0415
    from postil.records.scale import Scale  # noqa: PLC0415

    options = PassagesOptions(
        measures=tuple(measure or ()),
        reference=reference,  # type: ignore[arg-type]  # checked inside
        leave_one_out=leave_one_out,
        pool=pool,  # type: ignore[arg-type]  # checked inside
        ks=tuple(k or ()),
        folds=folds,
        folds_by=folds_by,  # type: ignore[arg-type]  # checked inside
        tokenizer=tokenizer,
        stem=stem,
        stop=stop,
        anchors=anchors,
        scale=Scale.parse(scale) if scale else None,
        resamples=resamples,
        seed=seed,
        jobs=jobs,
    )
    if report:
        from postil.app.report import check_report, write_report  # noqa: PLC0415
        from postil.records.result_files import decoded  # noqa: PLC0415

        check_report(report, [passages])  # before the work is done
    if scores is not None:
        check_scores(scores, passages)
    found = gains_of_file(passages, options)
    if scores is not None:
        write_scores(scores, found)
    if runs:
        write_runs(runs, found, say)
    if figures:
        for path in draw_gains(figures, found):
            say(f"written: {path}")
    if report:
        for path in write_report([decoded(as_json(found, command=command_line(context)))], report):
            say(f"written: {path}")
    emit(gains_as(format, found, command_line(context)), format)
    tell(format, remarks(found))
