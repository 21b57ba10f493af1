"""`postil calibrate` and `postil.calibrate`: the filter learned from labels, and its precision at each coverage."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from postil.app.article_files import checked_articles
from postil.app.model_labels import fit_model_labels
from postil.app.options import InputOptions, SeedOptions, ThreadOptions
from postil.commenters.model_changes import changing
from postil.commenters.retrieval import Retriever
from postil.commenters.show_filter import FILE
from postil.commenters.store import ModelWriter, check_free
from postil.messages import Blank, Command, Message, Setting
from postil.metaeval.resampling import Draws
from postil.options import Flag, options
from postil.records.arguments import check_arguments, check_fields, options_of
from postil.records.frames import ColumnNames, open_rows
from postil.records.labels import Label
from postil.records.row_files import read
from postil.records.rows import Draft
from postil.render.formats import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from postil.app.progress import OnMessage
    from postil.commenters.show_filter import ShowFilter
    from postil.records.frames import Table
    from postil.records.results import CalibrationResult
    from postil.records.row_files import FilePath
    from postil.records.rows import Article

__all__ = ["CalibrateKeywords", "CalibrateOptions", "calibrate", "calibrate_files", "calibrate_model", "read_labels"]


@options
class CalibrateOptions(SeedOptions, ThreadOptions):
    """Options of `postil calibrate`.

    Args:
        articles: The articles of the labels, where the rows of labels have no titles; a table of any format.
        out: Folder to write the calibrated model to; by default the model itself is changed.
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    articles: Annotated[str | None, Flag(metavar="FILE")] = None
    out: Annotated[str | None, Flag("out", short="o", metavar="DIR")] = None
    resamples: Annotated[int, Flag(min=1)] = 1000

    def __post_init__(self) -> None:
        check_fields(self)


class CalibrateKeywords(TypedDict, total=False):
    """Options of `postil.calibrate` as keywords; see `CalibrateOptions`."""

    jobs: int
    seed: int
    out: str | None
    resamples: int


def calibrate(
    model: FilePath,
    labels: Table,
    articles: Table | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    options: CalibrateOptions | None = None,
    **keywords: Unpack[CalibrateKeywords],
) -> CalibrationResult:
    """Learn from labels which suggestions of a model are worth showing, and keep that in the model's folder.

    Args:
        model: Folder of a model ``ir-t`` or ``ir-tc``.
        labels: Table of labels: article, text, show, and optionally reason, annotator, rank, title, content.
        articles: Table of the articles of the labels, for labels without a title; by default ``options.articles``.
        columns: Columns of the tables by field, such as ``{"show": "good", "articles.title": "headline"}``.
        options: Options; by default those of the command. Their ``out`` is another folder to write.
        keywords: Fields of the options, in place of an object.

    Returns:
        Precision against coverage with intervals, on articles that the fit has not seen. Where the labels allow no
        filter, the ``reason``; nothing is written then.

    Raises:
        InvalidInput: A table or the model is invalid, or no label is of a known article and of a comment of the model.
        UsageError: The folder to write exists, or the model is being changed.
        MissingExtra: The ranker needs torch, which is not installed.
        PostilError: The operating system reports an error.
    """
    check_arguments(calibrate, locals())
    options = options_of(CalibrateOptions, options, keywords)
    if options.out is not None:
        check_free(options.out)
    names = ColumnNames({"labels": Label, "articles": Draft}, columns)
    opened = open_rows(labels, Label, "labels", names)
    rows, where = list(opened), opened.places.where
    found = options.articles if articles is None else articles
    known = () if found is None else checked_articles(open_rows(found, Draft, "articles", names))
    return calibrate_model(model, rows, {article.id: article for article in known}, options, where=where)


def calibrate_files(
    model: str,
    labels: Sequence[str],
    options: CalibrateOptions,
    *,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> CalibrationResult:
    """Fit a model's filter to labels, and keep it in the model's folder.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: Files of label rows.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Returns:
        The result; without a filter and with the reason where the labels allow none, and then nothing is written.

    Raises:
        InvalidInput: A file or the model is invalid, or no label is of this model.
        UsageError: The model generates comments, or the folder to write exists.
        PostilError: The operating system reports an error.
    """
    if options.out is not None:
        check_free(options.out)
    rows = read_labels(labels, inputs, on_message)
    articles: dict[str, Article] = {}
    if options.articles is not None:
        given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
        known = checked_articles(read(options.articles, Draft, given["articles"]), on_message=on_message)
        articles = {article.id: article for article in known}
    return calibrate_model(model, rows, articles, options, where=", ".join(labels), on_message=on_message)


def calibrate_model(
    model: FilePath,
    labels: Sequence[Label],
    articles: Mapping[str, Article],
    options: CalibrateOptions,
    *,
    where: str = "labels",
    on_message: OnMessage = lambda _: None,
) -> CalibrationResult:
    """Fit a model's filter to labels; see `calibrate_files`.

    Args:
        model: The folder of a model ``ir-t`` or ``ir-tc``.
        labels: The labels.
        articles: Articles by id, for labels without a title.
        options: Options of the command, whose files are not read.
        where: Name of the labels, for messages.
        on_message: Callback for status messages.
    """
    with changing(model) if options.out is None else nullcontext(Path(model)) as folder:
        retriever = Retriever.open(folder, jobs=options.jobs)
        result, learned = fit_model_labels(
            retriever, labels, articles, Draws(resamples=options.resamples, seed=options.seed), where=where
        )
        if learned is not None:
            _write(retriever, learned, options.out)
            to = options.out or model
            kind = "filter" if result.filter == "learned" else "the ranker's score, calibrated, is the filter"
            settings = Setting("model", f"{to}"), Setting("coverage", ".3")
            on_message(
                Message(
                    "{kind} in {to}; go on with: {command}",
                    kind=kind,
                    to=f"{to}",
                    command=Command("comment", (Blank("ARTICLES"),), settings),
                )
            )
        elif options.out is not None:
            on_message(f"{options.out} is not written: these labels make no filter")
        elif (kept := retriever.show_filter) is not None:
            on_message(f"{model} keeps the filter that it has, of {counted(kept.labels, 'label')}")
        else:
            on_message(f"{model} is not changed: these labels make no filter")
    return result


def read_labels(files: Sequence[str], inputs: InputOptions | None, on_message: OnMessage) -> list[Label]:
    """Read files of label rows.

    Args:
        files: The files; ``-`` for standard input.
        inputs: Options of reading them.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row is invalid; names it.
    """
    given = (inputs or InputOptions()).readings({"labels": Label, "articles": Draft}, on_message)
    return [row for file in files for row in read(file, Label, given["labels"])]


def _write(retriever: Retriever, learned: ShowFilter, out: FilePath | None) -> None:
    """Write a model with a filter: its other files are shared with the model as it is."""
    model = retriever.model
    about: Mapping[str, object] = {"labels": learned.labels, "hash": learned.labels_hash}
    metadata = {**model.metadata, "calibration": about}
    with ModelWriter(out or model.path, model.kind, model.config, metadata, replace=out is None) as new:
        new.path(FILE).write_bytes(learned.encoded())
        new.link(model, without=[FILE])
