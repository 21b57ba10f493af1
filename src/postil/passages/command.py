"""`postil passages`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from postil.cli.command import Argument, FormatOption, Option, ReportOption, command
from postil.cli.output import check_figures, check_page, command_line, print_result, say
from postil.data.options import InputOptions
from postil.errors import UsageError
from postil.passages.options import PassagesOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.passages.summaries import SummariesOptions, SummaryFiles
    from postil.results.formats import Format

__all__ = ["passages"]


@command
def passages(
    passages: Annotated[
        str, Argument(metavar="PASSAGES", help="Rows (topic, id, text, [anchors], grade), or - for stdin.")
    ],
    options: PassagesOptions,
    inputs: InputOptions,
    *,
    scores: Annotated[
        str | None,
        Option(metavar="FILE", help="Write the scores of every passage (item: topic, system: id).", group="Output"),
    ] = None,
    runs: Annotated[
        Path | None,
        Option(
            metavar="FOLDER", help="Write every ranking but random as a TREC run, one list per topic.", group="Output"
        ),
    ] = None,
    figures: Annotated[
        Path | None, Option(metavar="FOLDER", help="Draw the curves of nCG over k.", group="Output")
    ] = None,
    summaries: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="Score systems' summaries, rows (item: the topic, system, text), against the informative passages of "
            "each topic, instead of ranking passages.",
            group="Summaries",
        ),
    ] = None,
    articles: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="With --summaries: rows (topic, text), a second reference, and the correlation of both rankings.",
            group="Summaries",
        ),
    ] = None,
    max_words: Annotated[
        int | None,
        Option(
            min=1, metavar="N", help="Number of words at which summaries are cut; by default 500.", group="Summaries"
        ),
    ] = None,
    items: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write the score of every summary, for postil compare; higher is better.",
            group="Summaries",
        ),
    ] = None,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Rank graded passages by measures and compare the rankings by nCG.

    Informativeness or interestingness: normalized cumulative gain at rank cutoffs, with confidence intervals and tests.
    With --summaries: the informativeness of systems' summaries.

    Example: postil passages passages.jsonl --stop en --stem porter --leave-one-out --pool topic -k 10 -k 50
    """
    from postil.passages.calls import gains_of_file  # noqa: PLC0415
    from postil.passages.files import check_scores, write_runs, write_scores  # noqa: PLC0415
    from postil.passages.summaries import SummariesOptions, SummaryFiles  # noqa: PLC0415
    from postil.passages.view import draw_figures  # noqa: PLC0415
    from postil.results.figures import tell_written  # noqa: PLC0415

    given = {"scores": scores, "runs": runs, "figures": figures}
    if summaries is not None:
        _refuse(given, "ranks passages, and --summaries scores whole texts")
        files = SummaryFiles(passages=passages, summaries=summaries, articles=articles)
        _score_summaries(files, SummariesOptions.of(options, max_words), inputs, items, report, format)
        return
    _refuse({"articles": articles, "max-words": max_words, "items": items}, "goes with --summaries FILE")
    check_figures(figures)
    check_page(report, [passages])
    if scores is not None:
        check_scores("scores", scores, [passages], "gains")
    lines = format == "json" or bool(figures or report)
    result, scored = gains_of_file(
        passages, options, command=command_line(), lines=lines, inputs=inputs, on_message=say
    )
    if scores is not None:
        write_scores(scores, scored)
    if runs:
        write_runs(runs, result, scored, say)
    if figures:
        tell_written(draw_figures(figures, result), say)
    print_result(result, format, report)


def _refuse(flags: Mapping[str, object], why: str) -> None:
    for flag, value in flags.items():
        if value is not None:
            raise UsageError(f"--{flag} {why}")


def _score_summaries(  # noqa: PLR0917 - the flags
    files: SummaryFiles,
    options: SummariesOptions,
    inputs: InputOptions,
    items: str | None,
    report: Path | None,
    form: Format,
) -> None:
    from postil.data.row_files import write  # noqa: PLC0415
    from postil.passages.files import check_scores  # noqa: PLC0415
    from postil.passages.summaries import score_summary_files  # noqa: PLC0415

    check_page(report, files.paths)
    if items is not None:
        check_scores("items", items, files.paths, "means")
    result, rows = score_summary_files(files, options, command=command_line(), inputs=inputs, on_message=say)
    if items is not None:
        write(items, rows)
    print_result(result, form, report)
