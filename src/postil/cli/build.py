"""`postil corpus build`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.errors import exits, say
from postil.cli.options import AddressOption, EngineOption, SeedOption
from postil.errors import UsageError

__all__ = ["build"]


@exits
def build(
    articles: Annotated[
        list[str],
        typer.Argument(
            metavar="ARTICLES...", help="Article rows: .jsonl, .jsonl.gz, .parquet or -; see corpus import."
        ),
    ],
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The folder to make.")],
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where the articles and comments come from.")],
    license: Annotated[str, typer.Option(metavar="TEXT", help="What may be done with them.")],  # noqa: A002
    tokenizer: Annotated[
        str,
        typer.Option(metavar="NAME", help="space, words, characters, 13a, jieba or rjieba (jieba's words, faster)."),
    ] = "words",
    content_words: Annotated[
        int, typer.Option(min=0, metavar="N", help="Least number of words of the content; 0: articles without it too.")
    ] = 30,
    comments: Annotated[int, typer.Option(min=1, metavar="N", help="Least number of comments with text.")] = 20,
    comment_words: Annotated[int, typer.Option(min=1, metavar="N", help="Most words of a comment …")] = 50,
    long_comments: Annotated[
        str, typer.Option(metavar="FATE", help="… and what becomes of longer ones: drop, cut (tokens only) or keep.")
    ] = "drop",
    dev: Annotated[str, typer.Option(metavar="SIZE", help="Articles of dev: a number or a fraction.")] = "0.05",
    test: Annotated[str, typer.Option(metavar="SIZE", help="Articles of test: a number or a fraction.")] = "0.05",
    dev_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Article rows that are the dev set already.")
    ] = None,
    test_from: Annotated[
        str | None, typer.Option(metavar="FILE", help="Article rows that are the test set already.")
    ] = None,
    test_comments: Annotated[
        int, typer.Option(min=0, metavar="N", help="An article of test has at least N comments of --test-words …")
    ] = 30,
    test_words: Annotated[int, typer.Option(min=0, metavar="N", help="… words or more …")] = 6,
    test_upvotes: Annotated[
        int, typer.Option(min=0, metavar="N", help="… and N upvotes in all; 0 asks for none.")
    ] = 201,
    draw: Annotated[
        int, typer.Option(min=0, metavar="N", help="Comments of a test article that are its references; 0: all.")
    ] = 27,
    draw_from: Annotated[
        str, typer.Option(metavar="WHICH", help="Draw from all comments or from long ones, of --test-words or more.")
    ] = "all",
    near_duplicates: Annotated[
        float, typer.Option(min=0, max=1, metavar="J", help="Likeness from which on two articles are one; 0: none are.")
    ] = 0.8,
    vocabulary: Annotated[int, typer.Option(min=1, metavar="N", help="Words that models know by default.")] = 30_000,
    users: Annotated[
        str, typer.Option(metavar="FATE", help="Names of commenters and annotators: drop, hash (with --salt) or keep.")
    ] = "drop",
    salt: Annotated[
        str | None, typer.Option(metavar="FILE", help="Secret key of --users hash; made if there is no such file.")
    ] = None,
    mask: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="Mask urls, emails, handles or phones in all texts; may be repeated."),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(metavar="WAY", help="A row that cannot be read: stop, or skip and list it in DIR.rejected.jsonl."),
    ] = "stop",
    seed: SeedOption = 20181,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes; the corpus does not depend on it."),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Build a corpus: filter, split, draw references, number the words.

    Thresholds are those of the paper on automatic article commenting. Names of people are dropped. The folder opens
    with datasets.load_dataset, DuckDB and Polars; an interrupted build goes on where it stopped.

    Example: postil corpus build articles.jsonl.gz --out corpus --source "our site, 2024" --license "internal"
    """
    from postil.app.corpus.building import build_corpus, read_salt  # noqa: PLC0415
    from postil.corpus.options import BuildOptions  # noqa: PLC0415
    from postil.corpus.split import Share  # noqa: PLC0415

    if on_error not in {"stop", "skip"}:
        raise UsageError(f"--on-error: expected stop or skip, got '{on_error}'")
    if users == "hash" and salt is None:
        raise UsageError("--users hash needs a secret: --salt FILE (it is made if there is no such file)")
    options = BuildOptions(
        source=source,
        license=license,
        tokenizer=tokenizer,
        content_words=content_words,
        comments=comments,
        comment_words=comment_words,
        long_comments=long_comments,
        dev=Share.parse(dev),
        test=Share.parse(test),
        test_comments=test_comments,
        test_words=test_words,
        test_upvotes=test_upvotes,
        draw=draw,
        draw_from=draw_from,
        near_duplicates=near_duplicates,
        vocabulary=vocabulary,
        users=users,
        salt=read_salt(salt) if salt is not None else b"",
        mask=tuple(mask or ()),
        seed=seed,
        skip_bad=on_error == "skip",
    )
    build_corpus(
        articles, out, options, dev=dev_from, test=test_from, engine=engine, jobs=jobs, address=address, say=say
    )
