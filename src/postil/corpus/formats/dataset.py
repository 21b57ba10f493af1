"""Folders of Parquet files, as Hugging Face `datasets` and others keep them.

A split is what a file's name begins with (``train-00000-of-00002.parquet``, ``train.parquet``) or the name of a folder
(``train/0000.parquet``). Comments may be a list of structs, a struct of lists, a list of texts, or parallel columns of
lists; fields are named as in `postil.corpus.formats.forum`. A line in a message is a row of the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.corpus.formats.article_builder import ArticleBuilder
from postil.corpus.formats.forum import FORUM
from postil.corpus.formats.import_report import ImportReport
from postil.errors import InvalidInput, UnknownName
from postil.records.folders import by_split
from postil.records.parquet import arrow, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.corpus.formats.fields import Fields
    from postil.records.parquet import Record
    from postil.records.row_files import FilePath
    from postil.records.rows import Article

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
    """Read articles from Parquet.

    Args:
        paths: Folders, or Parquet files.
        report: Counts; what is broken is rejected, by default raised.
        splits: The splits to read; by default all.
        fields: The columns of `postil.corpus.formats.fields.FIELDS` that differ; an empty name: there is
            no such column. Without a column for ``comments`` the comments' fields are columns of lists.
        comment_fields: The same for comments.
        lang: Language of articles without one.

    Yields:
        The articles; files by split and name.

    Raises:
        UnknownName: There is no such split, or a map names a field that there is not.
        InvalidInput: There are no Parquet files, or something in one is broken; says where.
        MissingExtra: pyarrow is not installed.
    """
    report = report or ImportReport()
    names = FORUM.mapped(fields, comment_fields, lang)
    builder = ArticleBuilder(names, report)
    for path in split_files(paths, splits):
        yield from builder.articles(path, _rows(path, names, report))


def split_files(paths: Sequence[FilePath], splits: Sequence[str] = ()) -> list[str]:
    """The Parquet files of some splits.

    Args:
        paths: Folders, or Parquet files.
        splits: Names of splits; none means all.

    Returns:
        The files in the order of the paths; those of a folder in the order of the splits, then of their names.

    Raises:
        UnknownName: There is no such split.
        InvalidInput: A path is missing, or there are no Parquet files in it.

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
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        arrows = any(path.rglob("*.arrow"))
        advice = "; it was saved as Arrow: write Parquet with Dataset.to_parquet" if arrows else ""
        raise InvalidInput(f"no .parquet files in the folder{advice}", where=str(path))
    return by_split(files)


def _rows(path: str, names: Fields, report: ImportReport) -> Iterator[tuple[int, Record]]:
    pa = arrow()
    line = 0
    try:
        with pa.parquet.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            wanted = {name for several in names.article.values() for name in several}
            if not names.article["comments"]:
                wanted |= {name for several in names.comment.values() for name in several}
            report.unread |= set(columns) - wanted
            for batch in file.iter_batches(BATCH, columns=[name for name in columns if name in wanted]):
                for row in rows_of(batch, path):
                    line += 1
                    yield line, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None)
        problem = f"cannot be read: {reason}" if reason else "not a Parquet file, or a damaged one"
        report.refuse(InvalidInput(problem, where=path))
        return
    except InvalidInput as error:
        report.refuse(error)
        return
    if not line:
        report.refuse(InvalidInput("the file holds no rows", where=path))
