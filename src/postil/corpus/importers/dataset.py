"""Folders of Parquet files, or of what ``save_to_disk`` wrote, as Hugging Face `datasets` and others keep them.

A split is what a file's name begins with (``train-00000-of-00002.parquet``, ``train.parquet``) or the name of a folder
(``train/0000.parquet``). Comments may be a list of structs, a struct of lists, a list of texts, or parallel columns of
lists; fields are named as in `postil.corpus.importers.forum`. A line in a message is a row of the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.corpus.importers.article_builder import ArticleBuilder
from postil.corpus.importers.forum import FORUM
from postil.corpus.importers.import_report import ImportReport
from postil.data import parquet
from postil.data.folders import by_split, saved
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.corpus.importers.fields import Fields
    from postil.data.parquet import Record
    from postil.data.row_files import FilePath
    from postil.data.rows import Article

__all__ = ["read_dataset", "split_files"]

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
