"""`postil corpus build`: its flags."""

from __future__ import annotations

from typing import Annotated

import typer

from postil.cli.command import command
from postil.cli.errors import say
from postil.corpus.calls import BuildRunOptions, build_corpus
from postil.corpus.options import BuildOptions
from postil.data.options import InputOptions

__all__ = ["build"]


@command
def build(
    articles: Annotated[
        list[str],
        typer.Argument(metavar="ARTICLES...", help="Article rows: a table of any format, or -; see corpus import."),
    ],
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The output folder.")],
    options: BuildOptions,
    run: BuildRunOptions,
    inputs: InputOptions,
) -> None:
    """Build a corpus: filter, remove near duplicates, split, sample references, build the vocabulary.

    Thresholds are those of the paper on automatic article commenting, or lower ones in a small corpus, which are told.
    Names of people are dropped. The folder opens with datasets.load_dataset, DuckDB and Polars; an interrupted build
    resumes where it stopped.

    Example: postil corpus build articles.jsonl.gz --out corpus --source "our site, 2024" --license "internal"
    """
    build_corpus(
        articles,
        out,
        options,
        dev=run.dev_from,
        test=run.test_from,
        ratings=run.ratings,
        engine=run.engine,
        jobs=run.jobs,
        address=run.address,
        inputs=inputs,
        on_message=say,
    )
