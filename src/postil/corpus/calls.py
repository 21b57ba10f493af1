"""`postil corpus build` and `postil corpus stats`: article rows in, a corpus out, and its statistics."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack, cast

from postil.corpus.blocks import BLOCK_BYTES
from postil.corpus.build import Source, articles_beside, build, rejected_beside
from postil.corpus.importers.importer import EXPORTS, import_of, importers
from postil.corpus.options import BuildOptions, StatisticsOptions
from postil.corpus.statistics import ALL, Statistics, statistics
from postil.corpus.store import Corpus
from postil.corpus.view import card, draw, excluded_lines
from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_apart, check_folder
from postil.data.explain import counted
from postil.data.frames import ColumnNames, is_frame, is_table, open_rows
from postil.data.options import InputOptions
from postil.data.progress import OnMessage, progress
from postil.data.row_files import write
from postil.data.rows import Article, Reference, Row
from postil.engine import open_engine
from postil.errors import InvalidInput, PostilError, UsageError
from postil.messages import Blank, Command, Message, Setting
from postil.results.figures import check_figures, tell_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.corpus.result import StatisticsResult
    from postil.data.frames import Frame, Table
    from postil.data.streams import FilePath
    from postil.keywords import BuildKeywords

__all__ = ["build_corpus", "count_corpus"]

GZIP_GAIN: Final = 4
"""Assumed compression ratio."""


def build_corpus(
    articles: Sequence[FilePath] | Frame | Sequence[Article],
    out: FilePath,
    options: BuildOptions | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    dev: FilePath | None = None,
    test: FilePath | None = None,
    ratings: FilePath | None = None,
    engine: str = "local",
    jobs: int | None = None,
    address: str | None = None,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    **keywords: Unpack[BuildKeywords],
) -> Corpus:
    """Build a corpus from articles; see docs/corpus.md.

    Args:
        articles: Files of articles that are to be split, or exports of a site, which are imported into a file beside
            the corpus; or the articles themselves: a data frame with one row per article and a column of lists of
            comments, or a list of articles.
        out: The output folder.
        options: Thresholds, splits, privacy.
        keywords: Fields of the options, in place of an object.
        columns: Columns of the articles by field, such as ``{"title": "headline"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        dev: Articles that are the dev set already.
        test: Articles that are the test set already; no references are sampled from their comments.
        ratings: References with ratings and the ids of the comments that they are, which take the place of the ratings
            in the rows; `postil annotate export` writes them.
        engine: ``local`` or ``ray``.
        jobs: Number of processes; None for as many as there are processors and work for. The corpus does not depend
            on it.
        address: Address of a Ray cluster.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Returns:
        The corpus.

    Raises:
        InvalidInput: Something in a file is wrong, or no article meets the thresholds.
        UsageError: The request makes no sense.
        MissingExtra: pyarrow, the tokenizer or Ray is not installed.
        PostilError: The operating system reports an error.
    """
    options = options_of(BuildOptions, options, keywords)
    if is_frame(articles) or (isinstance(articles, list | tuple) and is_table(articles)):
        names = ColumnNames({"articles": Article}, columns, missing=missing)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "articles.jsonl"
            write(path, open_rows(cast("Table", articles), Article, "articles", names))
            return build_corpus(
                [path],
                out,
                options,
                dev=dev,
                test=test,
                ratings=ratings,
                engine=engine,
                jobs=jobs,
                address=address,
                inputs=inputs,
                on_message=on_message,
            )
    check_arguments(build_corpus, locals())
    given = {"dev": dev, "test": test}
    named = tuple(f"{field}={column}" for field, column in (columns or {}).items())
    inputs = inputs or InputOptions()
    named_missing = (missing,) if isinstance(missing, str) else tuple(missing)
    inputs = replace(inputs, column=(*inputs.column, *named), missing=(*inputs.missing, *named_missing))
    if not inputs.column:
        articles = _imported(cast("Sequence[FilePath]", articles), out, options, on_message)
    roles: dict[str, type[Row]] = dict.fromkeys(("articles", *given), Article)
    readings = inputs.readings({**roles, "ratings": Reference}, on_message)
    sources = [Source(path, reading=readings["articles"]) for path in cast("Sequence[FilePath]", articles)]
    sources += [Source(path, split, readings[split]) for split, path in given.items() if path is not None]
    if not sources:
        raise UsageError("articles: expected at least one file, got none")
    rated = None if ratings is None else Source(ratings, reading=readings["ratings"])
    every = [*sources, *([] if rated is None else [rated])]
    if [os.fspath(source.path) for source in every].count("-") > 1:
        raise UsageError("standard input can be one file only")
    if rated is not None and os.fspath(rated.path) == "-":
        raise UsageError("{ratings} needs a file, as it is read twice", ratings=Setting("ratings"))
    _check_files(sources, every)
    if options.on_error == "skip":
        check_apart(rejected_beside(out), [source.path for source in every])
    workers = _jobs(sources) if jobs is None else jobs
    with _kept(out, on_message), open_engine(engine, jobs=workers, address=address, on_message=on_message) as running:
        corpus = build(sources, out, options, running, card, ratings=rated, on_message=on_message, on_progress=progress)
    _tell(corpus, on_message)
    return corpus


def _imported(
    articles: Sequence[FilePath], out: FilePath, options: BuildOptions, on_message: OnMessage
) -> Sequence[FilePath]:
    """Files of articles; exports of one site are imported into article rows beside the corpus."""
    kinds = {import_of(path) if Path(path).is_file() else None for path in articles}
    importer = importers().get(kinds.pop() or "") if len(kinds) == 1 else None
    if importer is None or importer.files is not EXPORTS:
        return articles
    check_folder(out)  # before its rows are written
    rows = articles_beside(out)
    before = _told_by(rows)
    importer.run([os.fspath(path) for path in articles], rows, importer.options(on_error=options.on_error), on_message)
    if before is not None and before[0] == _digest(rows):
        os.utime(rows, ns=before[1])  # the same articles, so that a build that was interrupted goes on
    return [rows]


def _told_by(path: str) -> tuple[bytes, tuple[int, int]] | None:
    """Digest and times of a file, if it is there."""
    if not Path(path).is_file():
        return None
    stat = Path(path).stat()
    return _digest(path), (stat.st_atime_ns, stat.st_mtime_ns)


def _digest(path: str) -> bytes:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()


def _check_files(sources: Sequence[Source], every: Sequence[Source]) -> None:
    """Raise where a file is missing, or a source is a raw export, with the import for it."""
    for source in every:
        if os.fspath(source.path) != "-" and not Path(source.path).exists():
            raise InvalidInput("no such file", where=os.fspath(source.path))
    for source in sources:
        name = os.fspath(source.path)
        kind = import_of(name) if Path(name).is_file() else None
        if kind is None or (kind == "forum" and source.reading.columns):
            continue
        first = Command(f"corpus import {kind}", (name,), (Setting("out", "articles.jsonl"),))
        message = Message(
            "expected article rows, got an export for the import {kind}; first: {first}", kind=kind, first=first
        )
        if kind == "forum":
            message = Message(
                "expected article rows, got articles with fields of other names; first: {first}, with {column} and the "
                "like",
                first=first,
                column=Setting("column", Blank("comments.text=FIELD")),
            )
        raise InvalidInput(message, where=name)


def _jobs(sources: Sequence[Source]) -> int:
    """Number of processes that have work."""
    size = 0
    for source in sources:
        name = os.fspath(source.path)
        size += (
            BLOCK_BYTES << 10 if name == "-" else Path(name).stat().st_size * (GZIP_GAIN if name.endswith("gz") else 1)
        )
    return max(1, min(os.cpu_count() or 1, size // BLOCK_BYTES))


@contextmanager
def _kept(out: FilePath, on_message: OnMessage) -> Iterator[None]:
    """Report, after an interrupt or a system error, that finished steps are kept."""
    try:
        yield
    except (KeyboardInterrupt, PostilError) as error:
        if isinstance(error, KeyboardInterrupt) or type(error) is PostilError:
            folder = Path(os.path.realpath(out))
            kept = folder.with_name(f".{folder.name}.building")
            if kept.is_dir():
                on_message(f"finished steps are kept in {kept}; the same command resumes from them")
        raise


def _tell(corpus: Corpus, on_message: OnMessage) -> None:
    for line in excluded_lines(corpus.metadata):
        on_message(line)
    for split in corpus.splits:
        size = corpus.metadata.splits[split]
        on_message(f"{split}: {counted(size.articles, 'article')}, {counted(size.comments, 'comment')}")


DEFAULTS: Final = StatisticsOptions()


def count_corpus(
    folder: FilePath, options: StatisticsOptions = DEFAULTS, on_message: OnMessage = lambda _: None
) -> StatisticsResult:
    """Compute the statistics of a corpus.

    Args:
        folder: The corpus.
        options: Scale, pictures, engine.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: There is no corpus, or it is damaged, or a grade is not on the scale.
        UsageError: The request makes no sense, or the folder of the pictures is a file or called like one.
        MissingExtra: pyarrow, Ray or matplotlib is not installed.
    """
    if options.figures:
        check_figures(Path(options.figures))
    corpus = Corpus.open(folder)
    with open_engine(options.engine, jobs=options.jobs, address=options.address, on_message=on_message) as running:
        found = statistics(corpus, running, scale=options.scale, on_progress=progress)
    result = found.result()
    if options.figures:
        _draw(Path(options.figures), found, result, on_message)
    return result


def _draw(folder: Path, found: Statistics, result: StatisticsResult, on_message: OnMessage) -> None:
    every = found.all
    splits = {name: summary for name, summary in found.splits.items() if name != ALL}
    drawn = draw(
        folder,
        result,
        lengths={"title": every.title_words, "content": every.content_words, "comment": every.comment_words},
        comments={name: summary.comments_per_article for name, summary in splits.items()},
        upvotes={name: summary.upvotes for name, summary in splits.items()},
    )
    tell_written(drawn, on_message)
