"""`postil comment` and `rank-comments`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import FormatOption, JobsOption

__all__ = ["comment", "rank_comments"]


@exits
def comment(
    articles: Annotated[
        str,
        typer.Argument(metavar="ARTICLES", help="Articles (id, title, [content]): .jsonl, .jsonl.gz, .parquet or -."),
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model that postil train made.")],
    k: Annotated[int, typer.Option("-k", min=1, metavar="K", help="Maximum number of suggestions per article.")] = 5,
    min_words: Annotated[int, typer.Option(min=0, metavar="N", help="Filter out comments of fewer words.")] = 3,
    max_words: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Filter out comments of more words.")
    ] = None,
    blocklist: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Filter out comments with any of these words or phrases, one per line."),
    ] = None,
    allow_addresses: Annotated[
        bool, typer.Option("--allow-addresses", help="Accept comments with web and e-mail addresses or handles.")
    ] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--decoding", metavar="NAME", help="Decoding of a generator: beam (default), greedy or nucleus sampling."
        ),
    ] = None,
    beam_size: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Hypotheses per beam, with beam (default 5).")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(metavar="X", help="Top-p threshold, with nucleus (default 0.9).")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(metavar="X", help="Sampling temperature, with nucleus (default 1).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Seed of nucleus sampling.")] = None,
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Suggest comments for articles, with their provenance; comments filtered out have a reason (jsonl).

    Example: postil comment articles.jsonl --model model -k 3 --format jsonl
    """
    from postil.app.commenting.files import CommentOptions, comment_files  # noqa: PLC0415
    from postil.app.commenting.output import suggestions_as  # noqa: PLC0415

    decoding = {"strategy": strategy, "beam_size": beam_size, "top_p": top_p, "temperature": temperature, "seed": seed}
    options = CommentOptions(
        k=k,
        min_words=min_words,
        max_words=max_words,
        blocklist=blocklist,
        allow_addresses=allow_addresses,
        decoding={name: value for name, value in decoding.items() if value is not None},
        jobs=jobs,
    )
    found = comment_files(articles, model, options, say=say)
    if format == "jsonl":
        for row in found:  # as they come
            emit(suggestions_as("jsonl", [row]), "jsonl")
    else:
        emit(suggestions_as(format, list(found)), format)


@exits
def rank_comments(
    articles: Annotated[
        str, typer.Argument(metavar="ARTICLES", help="Articles with comments: .jsonl, .jsonl.gz, .parquet or -.")
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", metavar="DIR", help="A model ir-t or ir-tc.")],
    format: FormatOption = "table",  # noqa: A002
    jobs: JobsOption = 1,
) -> None:
    """Rank the comments of each article by relevance to it.

    Example: postil rank-comments threads.jsonl --model model --format jsonl
    """
    from postil.app.commenting.files import rank_files  # noqa: PLC0415
    from postil.app.commenting.output import ranked_as  # noqa: PLC0415

    emit(ranked_as(format, rank_files(articles, model, jobs=jobs, say=say)), format)
