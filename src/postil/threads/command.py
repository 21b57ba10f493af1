"""`postil rank-comments` and `postil evaluate`: flags, and what is printed."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, Option, command
from postil.cli.output import check_figures, emit, print_result, say, tell, write_figures
from postil.comments.options import EvaluateOptions
from postil.data.options import InputOptions
from postil.data.progress import progress
from postil.errors import UsageError
from postil.results.limits import LimitOptions, check_system_scores
from postil.results.table_options import TableOptions
from postil.threads.options import RankOptions

__all__ = ["evaluate", "rank_comments"]


@command
def rank_comments(
    articles: Annotated[str, Argument(metavar="ARTICLES", help="Articles with comments: a table of any format, or -.")],
    *,
    model: Annotated[
        str | None, Option(short="m", metavar="DIR", help="A model ir-t or ir-tc, for --by relevance.", first=True)
    ] = None,
    options: RankOptions,
    inputs: InputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Rank the comments of each article by relevance, quality, votes, date or length, with reasons in words.

    Example: postil rank-comments threads.jsonl --model model --by relevance=2 --by votes --diversity 0.3
    """
    from postil.threads.calls import rank_articles  # noqa: PLC0415 - what ranks is behind it

    print_result(rank_articles(articles, model, options, inputs=inputs, on_message=say), format)


@command
def evaluate(
    models: Annotated[list[str], Argument(metavar="MODELS", help="Models that postil train made.")],
    *,
    corpus: Annotated[str, Option(metavar="DIR", help="A corpus that postil corpus build made.")],
    options: EvaluateOptions,
    table: TableOptions,
    limits: LimitOptions,
    items: Annotated[
        str | None,
        Option(metavar="FILE", help="Write the score of every suggestion here, for postil compare.", first=True),
    ] = None,
    candidates: Annotated[
        str | None, Option(metavar="FILE", help="Write the suggestions here, as candidates.", group="Output")
    ] = None,
    threads: Annotated[
        str | None,
        Option(
            metavar="TARGET",
            help="Evaluate the order of the comments of each thread instead, by votes or grades; models ir-t, ir-tc "
            "and quality.",
            first=True,
        ),
    ] = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Score the best suggestion of each model for each article, against the article's own comments.

    A comment that a reader wrote, and that is no reference, is scored beside them as human.

    With --threads, the orders of threads by models, length and age are compared with readers' votes, or with grades:
    nDCG and pairwise accuracy.

    Example: postil evaluate model-t model-tc --corpus corpus
    """
    from postil.comments.evaluation import evaluate_commenters, writing  # noqa: PLC0415 - metrics are behind it
    from postil.results.views import show  # noqa: PLC0415
    from postil.threads.evaluation import evaluate_threads  # noqa: PLC0415

    check_figures(figures)
    if threads is not None:
        used = EvaluateOptions(split=options.split, seed=options.seed, jobs=options.jobs)
        if (options, table, limits) != (used, TableOptions(), LimitOptions()) or items or candidates:
            raise UsageError("--threads: only --corpus, --split, --seed, --jobs, --figures and --format go with it")
        ranked = evaluate_threads(
            models, corpus, threads, split=used.split, seed=used.seed, jobs=used.jobs, on_progress=progress
        )
        write_figures([ranked], figures)
        emit(show(format, ranked), format)
        return
    table.check(format, intervals=False)
    limits.resolved(options.metrics)
    table.check_names(options.metrics)
    table.check_layout("commenters", ["systems"])
    limits.check_apart([*models, *filter(None, [items, candidates])])
    with writing(items=items, candidates=candidates, inputs=[*models, corpus]) as write:
        with redirect_stdout(sys.stderr):  # where own metrics print, the result stays readable
            found = evaluate_commenters(models, corpus, options, on_progress=progress)
        write(found)
    write_figures([found.result], figures, table.names)
    emit(show(format, found.result, table=table), format)
    tell(format, found.result.remarks)
    check_system_scores(limits, found.result.scores, "evaluate")
