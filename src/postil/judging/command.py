"""`postil judge`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import ONE_FILE, Argument, FiguresOption, FormatOption, Option, ReportOption, command
from postil.cli.output import check_figures, check_page, command_line, emit, print_result, say, write_figures
from postil.data.options import InputOptions
from postil.judging.options import JudgeOptions
from postil.results.limits import LimitOptions, check_limits

__all__ = ["judge"]


def _prompt() -> str:
    from postil.judging.judge import default_template  # noqa: PLC0415

    return default_template().text


def _pairs_prompt() -> str:
    from postil.judging.pairs import default_pair_template  # noqa: PLC0415

    return default_pair_template().text


@command
def judge(
    candidates: Annotated[
        str, Argument(metavar="CANDIDATES", help="Texts to judge (item, system, text).", extra=ONE_FILE)
    ],
    *,
    references: Annotated[
        str | None,
        Option(
            short="r",
            metavar="FILE",
            once=True,
            help="References (item, text, grade, and system if one of those wrote it), to choose the anchors of.",
            first=True,
        ),
    ] = None,
    articles: Annotated[
        str | None,
        Option(metavar="FILE", once=True, help="Articles (id, title, content); the ids are the items.", first=True),
    ] = None,
    judgements: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="Human ratings (item, system, annotator, grade) to compare.",
            group="Comparison with people",
        ),
    ] = None,
    pairs: Annotated[
        bool,
        Option(
            help="Compare the texts of each item in pairs, each in both orders, instead of grading them. Rows of --out "
            "are preferences, for compare --preferences.",
            group="Pairs",
        ),
    ] = False,
    preferences: Annotated[
        str | None,
        Option(
            metavar="FILE",
            once=True,
            help="Human preferences (item, system_a, system_b, annotator, preference) to compare, with --pairs.",
            group="Comparison with people",
        ),
    ] = None,
    options: JudgeOptions,
    inputs: InputOptions,
    limits: LimitOptions,
    show_prompt: Annotated[  # noqa: ARG001 - it runs nothing
        bool,
        Option(prints=_prompt, help="Print the template of the prompt.", group="Prompt"),
    ] = False,
    show_pairs_prompt: Annotated[  # noqa: ARG001 - it runs nothing
        bool,
        Option(prints=_pairs_prompt, help="Print the template of the prompt of --pairs.", group="Prompt"),
    ] = False,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Grade texts by a language model, with graded references of the same item as examples, or compare them in pairs.

    A grade is the expected value over the probabilities that the model gives to the grades as its first token, or
    else the mean of samples. Rows of --out are score rows, for correlate, compare, combine and report. Texts are sent
    to the named endpoint and nowhere else.

    Example: postil judge systems.jsonl -r references.jsonl --articles articles.jsonl --scale 1:5 --model qwen3
    --endpoint http://127.0.0.1:8080/v1 --cache answers --out judge.jsonl

    Example: postil judge systems.jsonl --pairs --articles articles.jsonl --model qwen3
    --endpoint http://127.0.0.1:8080/v1 --out preferences.jsonl
    """
    from postil.judging.calls import (  # noqa: PLC0415 - metrics are behind it
        WIN_RATE,
        check_roles,
        judge_pair_rows,
        judge_rows,
        measured_scores,
        open_sources,
        plan_rows,
    )
    from postil.judging.run import judge_name  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    paths = {"candidates": candidates, "references": references, "articles": articles} | {
        "judgements": judgements,
        "preferences": preferences,
    }
    check_roles(paths, pairs=pairs)
    check_figures(figures)
    check_page(report, paths.values())
    limits.resolved([WIN_RATE if pairs else judge_name(options)])
    limits.check_apart([*filter(None, [*paths.values(), options.out])])
    sources = open_sources(paths, options, inputs, say)
    if options.dry_run:
        emit(show(format, plan_rows(sources, options, say, pairs=pairs)), format)
        return
    judged = judge_pair_rows if pairs else judge_rows
    result = judged(sources, options, command=command_line(), on_message=say)
    write_figures([result], figures)
    print_result(result, format, report)
    if limits.fail_below:
        check_limits(limits, measured_scores(result), "judge")
