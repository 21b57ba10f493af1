"""Articles or posts with fields under names of their own: JSON with comments inside, and folders of Parquet or Arrow.

Without a map the names are those of postil's article rows, and a comment's votes may be called ``votes`` too::

    {"id": …, "title": …, "content": …, "category": …, "lang": …, "url": …, "date": …,
     "comments": [{"id": …, "text": …, "votes": …, "grade": …, "user": …, "date": …, "parent": …, "replies": […]}, …]}

Folders hold Parquet files, or what ``save_to_disk`` wrote, as Hugging Face `datasets` and others keep them. A split is
what a file's name begins with (``train-00000-of-00002.parquet``, ``train.parquet``) or the name of a folder
(``train/0000.parquet``). Comments may be a list of structs, a struct of lists, a list of texts, or parallel columns of
lists. A line in a message is a row of the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import FORUM, ArticleBuilder, Fields
from postil.corpus.importers.import_report import ImportReport, json_objects
from postil.data import parquet
from postil.data.folders import by_split, saved
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.data.parquet import Record
    from postil.data.rows import Article
    from postil.data.streams import FilePath

__all__ = ["read_dataset", "read_forum", "split_files"]


def read_forum(
    paths: Sequence[FilePath],
    report: ImportReport | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    comment_fields: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> Iterator[Article]:
    """Read articles as JSON Lines, or as a JSON array of them.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        fields: The names of `FIELDS` (of `Fields`) that differ; empty if there is no such field.
        comment_fields: The same for comments; in arrays the positions are called ``0``, ``1``, ….
        lang: Language of articles without one.

    Yields:
        The articles, in the order of the files.

    Raises:
        UnknownName: A map names a field that there is not.
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "posts.jsonl")
    ...     _ = path.write_text('{"id": 1, "title": "Rain", "body": "Tomorrow.", "comments": [["Oh", "ann"]]}')
    ...     [post] = read_forum([path], fields={"content": "body"}, comment_fields={"text": "0", "user": "1"})
    >>> post.content, post.comments[0].text, post.comments[0].user
    ('Tomorrow.', 'Oh', 'ann')
    """
    report = report or ImportReport()
    builder = ArticleBuilder(FORUM.mapped(fields, comment_fields, lang), report)
    for path in paths:
        yield from builder.articles(path, json_objects(path, report))


BATCH: Final = 256


def read_dataset(
    paths: Sequence[FilePath],
    report: ImportReport | None = None,
    *,
    splits: Sequence[str] = (),
    fields: Mapping[str, str] | None = None,
    comment_fields: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> Iterator[Article]:
    """Read articles from Parquet or Arrow.

    Args:
        paths: Folders, or files.
        report: Counts; what is broken is rejected, by default raised.
        splits: The splits to read; by default all.
        fields: The columns of `FIELDS` (of `Fields`) that differ; an empty name: there is
            no such column. Without a column for ``comments`` the comments' fields are columns of lists.
        comment_fields: The same for comments.
        lang: Language of articles without one.

    Yields:
        The articles; files by split and name.

    Raises:
        UnknownName: There is no such split, or a map names a field that there is not.
        InvalidInput: There are no such files, or something in one is broken; says where.
        MissingExtra: pyarrow is not installed.
    """
    report = report or ImportReport()
    names = FORUM.mapped(fields, comment_fields, lang)
    builder = ArticleBuilder(names, report)
    for path in split_files(paths, splits):
        yield from builder.articles(path, _rows(path, names, report))


def split_files(paths: Sequence[FilePath], splits: Sequence[str] = ()) -> list[str]:
    """The files of some splits.

    Args:
        paths: Folders, or Parquet files.
        splits: Names of splits; none means all.

    Returns:
        The files in the order of the paths; those of a folder in the order of the splits, then of their names.

    Raises:
        UnknownName: There is no such split.
        InvalidInput: A path is missing, or there are no such files in it.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("test-00000-of-00001", "train-00000-of-00002", "train-00001-of-00002"):
    ...         pathlib.Path(folder, f"{name}.parquet").touch()
    ...     [pathlib.Path(path).name for path in split_files([folder], ["train"])]
    ['train-00000-of-00002.parquet', 'train-00001-of-00002.parquet']
    """
    chosen: list[str] = []
    for path in paths:
        found = _by_split(Path(path))
        for split in splits:
            if split not in found:
                raise UnknownName(f"split of {os.fspath(path)}", split, sorted(found))
        chosen += [str(file) for split in splits or sorted(found) for file in found[split]]
    return list(dict.fromkeys(chosen))


def _by_split(path: Path) -> dict[str, list[Path]]:
    if not path.exists():
        raise InvalidInput("no such file or folder", where=str(path))
    if path.is_dir() and (found := saved(path)):
        return found
    files = (sorted(path.rglob("*.parquet")) or sorted(path.rglob("*.arrow"))) if path.is_dir() else [path]
    if not files:
        raise InvalidInput("no .parquet or .arrow files in the folder", where=str(path))
    return by_split(files)


def _rows(path: str, names: Fields, report: ImportReport) -> Iterator[tuple[int, Record]]:
    wanted = {name for several in names.article.values() for name in several}
    if not names.article["comments"]:
        wanted |= {name for several in names.comment.values() for name in several}
    try:
        if path.endswith(".arrow"):
            yield from enumerate((row for batch in parquet.read_arrow(path) for row in batch), 1)
            return
        columns = parquet.columns(path)
        report.unread |= set(columns) - wanted
        yield from enumerate(parquet.read_objects(path, BATCH, [name for name in columns if name in wanted]), 1)
    except InvalidInput as error:
        report.refuse(error)
