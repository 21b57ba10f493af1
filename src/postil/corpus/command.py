"""`postil corpus`: imports of external formats, and corpora of articles with comments."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from postil.cli.command import FormatOption, command, group
from postil.cli.output import emit, say
from postil.corpus.calls import BuildRunOptions, StatisticsOptions, build_corpus, count_corpus
from postil.corpus.importers.importer import Importer, importers
from postil.corpus.options import BuildOptions
from postil.data.options import InputOptions
from postil.results.views import show

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["build", "corpus", "imports", "stats"]


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


@command
def stats(
    corpus: Annotated[str, typer.Argument(metavar="DIR", help="A corpus that postil corpus build made.")],
    *,
    options: StatisticsOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Print corpus statistics by split: comments per article, upvotes, lengths, words, categories, grades.

    Example: postil corpus stats corpus --figures pictures
    """
    emit(show(format, count_corpus(corpus, options, say)), format)


class _Imports(TyperGroup):
    """The importers as commands, which are made when the help lists them or one is asked for."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        del self.commands  # it is made when it is read

    @cached_property
    def commands(self) -> Any:  # type: ignore[override]
        """See `typer.core.TyperGroup`."""
        made = group("import", "")
        for name, importer in importers().items():
            made.command(name)(_import(importer))
        return vars(typer.main.get_command(made))["commands"]


def _import(importer: Importer) -> Callable[..., None]:
    """The command of an importer."""

    def of_files(files: list[str], *, out: str, options: object) -> None:
        importer.run(files, out, options, say)

    def of_options(*, out: str, options: object) -> None:
        importer.run((), out, options, say)

    made, hints = (of_options, {}) if importer.files is None else (of_files, {"files": _files(*importer.files)})
    made.__doc__ = importer.help
    made.__annotations__ = hints | {"out": _rows(importer.rows.__name__), "options": importer.options, "return": None}
    return command(made)


def _files(metavar: str, text: str) -> object:
    return Annotated[list[str], typer.Argument(metavar=metavar, help=text)]


def _rows(name: str) -> object:
    text = f"{name} rows: .jsonl, .jsonl.gz, .parquet or -."
    return Annotated[str, typer.Option("--out", "-o", metavar="FILE", help=text)]


imports = group("import", "Convert external formats into rows: articles with comments, or judged passages.", _Imports)
corpus = group("corpus", "Import external formats, build corpora of articles with comments, and count what they hold.")
corpus.add_typer(imports)
corpus.command()(build)
corpus.command()(stats)
