"""`postil compare`: flags, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, Option, command
from postil.cli.output import check_figures, command_line, print_result, say, write_figures
from postil.comparison.options import CompareOptions
from postil.data.options import ScoreInputOptions
from postil.errors import UsageError
from postil.messages import Setting
from postil.results.limits import LimitOptions, Measured, check_limits
from postil.results.table_options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Collection

    from postil.comparison.result import InterleavingResult, PreferencesResult

__all__ = ["compare"]


@command
def compare(
    scores: Annotated[
        list[str] | None,
        Argument(
            metavar="SCORES",
            help="Item scores (item, system, metric, score, and signature if there is one), as from score --items; or "
            "results of score as JSON, whose scores are joined into one table without tests.",
        ),
    ] = None,
    *,
    interleaved: Annotated[
        str | None,
        Option(
            metavar="LOG",
            help="Compare models by what readers did with their interleaved suggestions, in place of scores: the "
            "outcome log of postil serve.",
            first=True,
        ),
    ] = None,
    preferences: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="Compare systems by paired preferences (item, system_a, system_b, annotator, preference: a, b, tie) "
            "in place of scores, as from annotate export.",
            first=True,
        ),
    ] = None,
    options: CompareOptions,
    table: TableOptions,
    inputs: ScoreInputOptions,
    limits: LimitOptions,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Compare systems on each metric or by paired preferences, or models by interleaved suggestions.

    Example: postil compare scores.jsonl --baseline seq2seq
    """
    from postil.comparison.calls import INTERLEAVED, PREFERENCES, compare_rows, joined_results  # noqa: PLC0415
    from postil.comparison.result import Comparison  # noqa: PLC0415
    from postil.meta.rated import open_score_files  # noqa: PLC0415

    given = [
        name
        for name, value in (
            ("SCORES", scores),
            ("--interleaved LOG", interleaved is not None),
            ("--preferences FILE", preferences is not None),
        )
        if value
    ]
    if not given:
        raise UsageError(
            "expected files of item scores (SCORES), a log of interleaved suggestions (--interleaved LOG), or paired "
            "preferences (--preferences FILE)"
        )
    if len(given) > 1:
        raise UsageError(f"{given[1]} takes the place of {given[0]}; give one of them")
    for name, there in (("fail_below", limits.fail_below), ("names", table.names)):
        if there and scores is None:
            raise UsageError("{setting} is of scores", setting=Setting(name))
    limits.check_apart([*(scores or [])])
    check_figures(figures)
    table.check(format, intervals=True)
    kind = "interleaving" if interleaved is not None else "preferences"
    table.check_layout("compare" if scores else kind, ["systems"] if scores else [])
    if (joined := joined_results(scores or [])) is not None:
        if limits.fail_below or figures:
            setting = Setting("fail_below" if limits.fail_below else "figures")
            raise UsageError("{setting} is of item scores, and results of score have none", setting=setting)
        table.check(format, intervals=False)
        print_result(joined, format, table=table)
        say("results of score have no item scores, so nothing is tested: compare the files of score --items for that")
        return
    result: Comparison | InterleavingResult | PreferencesResult
    if interleaved is not None:
        result = INTERLEAVED.of_file(interleaved, options, command_line(), inputs, say)
    elif preferences is not None:
        result = PREFERENCES.of_file(preferences, options, command_line(), inputs, say)
    else:

        def check_metrics(metrics: Collection[str]) -> None:
            limits.resolved(metrics)
            table.check_names(metrics)

        rows = open_score_files(scores or [], inputs, say)
        result = compare_rows(rows, options, command_line(), on_metrics=check_metrics)
    write_figures([result], figures, table.names)
    print_result(result, format, table=table)
    if isinstance(result, Comparison) and limits.fail_below:
        falls = result.lower_is_better
        measured = [Measured(row.system, row.metric, row.mean, row.metric in falls) for row in result.systems]
        check_limits(limits, measured, "compare")
