"""`postil judge`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, Option, ReportOption, command
from postil.cli.output import check_page, command_line, emit, print_result, say
from postil.data.options import InputOptions
from postil.judging.options import JudgeOptions

__all__ = ["judge"]


def _prompt() -> str:
    from postil.judging.judge import default_template  # noqa: PLC0415

    return default_template().text


@command
def judge(
    candidates: Annotated[str, Argument(metavar="CANDIDATES", help="Texts to grade (item, system, text).")],
    *,
    references: Annotated[
        str | None,
        Option(
            short="r",
            metavar="FILE",
            help="References (item, text, grade, and system if one of those wrote it), to choose the anchors of.",
        ),
    ] = None,
    articles: Annotated[
        str | None,
        Option(metavar="FILE", help="Articles (id, title, content); the ids are the items."),
    ] = None,
    judgements: Annotated[
        str | None,
        Option(metavar="FILE", help="Human ratings (item, system, annotator, grade) to compare."),
    ] = None,
    options: JudgeOptions,
    inputs: InputOptions,
    show_prompt: Annotated[  # noqa: ARG001 - it runs nothing
        bool,
        Option(prints=_prompt, help="Print the template of the prompt."),
    ] = False,
    report: ReportOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Grade texts by a language model, with graded references of the same item as examples.

    A grade is the expected value over the probabilities that the model gives to the grades as its first token, or
    else the mean of samples. Rows of --out are score rows, for correlate, compare, combine and report. Texts are sent
    to the named endpoint and nowhere else.

    Example: postil judge systems.jsonl -r references.jsonl --articles articles.jsonl --scale 1:5 --model qwen3
    --endpoint http://127.0.0.1:8080/v1 --cache answers --out judge.jsonl
    """
    from postil.judging.calls import judge_rows, open_sources, plan_rows  # noqa: PLC0415 - metrics are behind it
    from postil.results.views import show  # noqa: PLC0415

    paths = {"candidates": candidates, "references": references, "articles": articles, "judgements": judgements}
    check_page(report, paths.values())
    sources = open_sources(paths, options, inputs, say)
    if options.dry_run:
        emit(show(format, plan_rows(sources, options, say)), format)
        return
    result = judge_rows(sources, options, command=command_line(), on_message=say)
    print_result(result, format, report)
