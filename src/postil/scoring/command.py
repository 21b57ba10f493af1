"""`postil score`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, Option, command
from postil.cli.output import check_figures, emit, say, write_figures
from postil.results.limits import LimitOptions, check_system_scores
from postil.results.table_options import TableOptions
from postil.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["score"]


@command
def score(
    candidates: Annotated[
        list[str],
        Argument(
            metavar="CANDIDATES",
            help="Candidates (item, system, text): a table of any format, a .txt file with a text per line, or -. Of "
            "several files, one without a column system is a system with the name of the file.",
        ),
    ],
    *,
    references: Annotated[
        list[str] | None,
        Option(
            short="r",
            metavar="FILE",
            first=True,
            help="References (item, text, and grade, ratings or weight), which all metrics need but those of --plugin "
            "that take the text alone; repeatable.",
        ),
    ] = None,
    options: ScoreOptions,
    table: TableOptions,
    limits: LimitOptions,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Score systems against weighted references.

    Metrics: bleu-1 to bleu-4, meteor, rouge-l, rouge-lsum, rouge-1, rouge-2, rouge-su4, cider, cider-d, chrf, chrf++,
    delta-bleu; of meaning: vector-f1, vector-cosine, bertscore, sentence-cosine; as papers report them: bleu, ter,
    rouge1, rouge2, rougeL, rougeLsum; functions of --plugin by their names. With w- in front the references' weights
    count.

    Example: postil score systems.jsonl -r references.jsonl --scale 1:5 -m meteor -m w-meteor
    """
    from postil.metrics.citations import methods  # noqa: PLC0415
    from postil.results.systems_table import typeset  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415
    from postil.scoring.files import notes, score_files  # noqa: PLC0415
    from postil.scoring.view import as_percent  # noqa: PLC0415

    check_figures(figures)
    table.check(format, intervals=False)
    table.check_layout("score", ["systems"])
    limits.check_apart([*candidates, *(references or ()), *filter(None, [options.items])])

    def check_metrics(metrics: Collection[str]) -> None:
        limits.resolved(metrics)
        table.check_names(metrics)

    with redirect_stdout(sys.stderr):  # where own metrics print, the result stays readable
        result = score_files(candidates, references or (), options, say, on_metrics=check_metrics)
    if as_percent(result) and table.layout == "systems":
        table = replace(table, percent=True, as_printed=False)  # once, whichever asks for it
    write_figures([result], figures, table.names)
    cited = methods(result.signatures) if options.cite else []
    if format in {"markdown", "latex", "html"}:  # the sentence goes where the table goes
        cited = [typeset(format, line) for line in cited]
    if format != "table":
        for line in cited:
            say(line)
    emit(show(format, result, remarks=[*notes(result), *cited], table=table), format)
    check_system_scores(limits, result.scores, "score")
