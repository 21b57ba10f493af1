"""`postil corpus`: imports of external formats, and corpora of articles with comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from postil.cli.command import Argument, Commands, FormatOption, Group, Option, command
from postil.cli.output import emit, say
from postil.corpus.options import BuildOptions, BuildRunOptions, StatisticsOptions
from postil.data.options import InputOptions
from postil.options import flags_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.corpus.importers.importer import Importer

__all__ = ["corpus"]


corpus = Group("corpus", "Import external formats, build corpora of articles with comments, and count what they hold.")


@corpus.add()
def build(
    articles: Annotated[
        list[str],
        Argument(
            metavar="ARTICLES...",
            help="Article rows: a table of any format, or -; or exports of a site, as of corpus import.",
        ),
    ],
    *,
    out: Annotated[str, Option(short="o", metavar="DIR", help="The output folder.")],
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
    from postil.corpus.calls import build_corpus  # noqa: PLC0415

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


@corpus.add()
def stats(
    corpus: Annotated[str, Argument(metavar="DIR", help="A corpus that postil corpus build made.")],
    *,
    options: StatisticsOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print corpus statistics by split: comments per article, upvotes, lengths, words, categories, grades.

    Example: postil corpus stats corpus --figures pictures
    """
    from postil.corpus.calls import count_corpus  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    emit(show(format, count_corpus(corpus, options, say)), format)


def _importers() -> Mapping[str, Importer]:
    from postil.corpus.importers.importer import importers  # noqa: PLC0415

    return importers()


def _import(name: str) -> click.Command:
    """The command of an importer."""
    importer = _importers()[name]

    def of_files(files: list[str], *, out: str, options: object) -> None:
        importer.run(files, out, options, say)

    def of_options(*, out: str, options: object) -> None:
        importer.run((), out, options, say)

    made, hints = (of_options, {}) if importer.files is None else (of_files, {"files": _files(*importer.files)})
    made.__doc__ = importer.help
    made.__annotations__ = hints | {"out": _rows(importer.rows.__name__), "options": importer.options, "return": None}
    ready = command(made, name)
    ready.job = importer.job
    if "decisions" not in flags_of(importer.options):
        ready.params.append(click.Option(["--decisions"], hidden=True, expose_value=False, callback=_refuse_decisions))
    return ready


def _refuse_decisions(context: click.Context, _: click.Parameter, value: str | None) -> None:
    """Say which formats have the decisions of moderators, where one is asked for them that has none."""
    if value is not None:
        able = [name for name, each in _importers().items() if "decisions" in flags_of(each.options)]
        problem = f"files of {context.info_name} hold no decisions of moderators; those of {', '.join(able)} do"
        raise click.UsageError(f"--decisions: {problem}", context)


def _files(metavar: str, text: str) -> object:
    return Annotated[list[str], Argument(metavar=metavar, help=text)]


def _rows(name: str) -> object:
    return Annotated[str, Option(short="o", metavar="FILE", help=f"{name} rows: .jsonl, .jsonl.gz, .parquet or -.")]


imports = Group(
    "import",
    "Convert external formats into rows: articles with comments, or judged passages.",
    Commands(_importers, _import),
)
corpus.add_command(imports)
