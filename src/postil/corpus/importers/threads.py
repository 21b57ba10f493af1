"""Articles and comments that come apart and in any order, joined on disk, as in dumps of sites and their databases."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import msgspec

from postil.corpus.importers.article_builder import EXPORTED, ArticleBuilder
from postil.corpus.importers.import_report import json_objects
from postil.data.explain import shown
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.corpus.importers.import_report import ImportReport
    from postil.data.parquet import Record
    from postil.data.streams import FilePath

__all__ = ["TABLES", "Threads", "database", "read_threads", "text_at"]

TABLES: Final = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE articles (number INTEGER PRIMARY KEY, name TEXT UNIQUE, row BLOB);
    CREATE TABLE comments (
        number INTEGER PRIMARY KEY, name TEXT, above TEXT, article TEXT, found INTEGER,
        place TEXT, line INTEGER, row BLOB
    );
"""
"""SQL of the tables of `Threads`."""
# Comments that name what they answer, but not their article: it is where the answers lead up to.
ROOTS: Final = """
    CREATE INDEX answers ON comments (above);
    CREATE TABLE roots AS WITH RECURSIVE tree (name, article) AS (
        SELECT name, name FROM articles
        UNION SELECT comments.name, tree.article FROM comments JOIN tree ON comments.above = tree.name
    ) SELECT name, article FROM tree;
    CREATE INDEX root ON roots (name);
    UPDATE comments SET article = (SELECT article FROM roots WHERE roots.name = comments.above), found = 1
        WHERE article IS NULL;
"""
JOINED: Final = """
    SELECT articles.number, comments.place, comments.line, comments.row, comments.found AND above = article
    FROM comments JOIN articles ON articles.name = comments.article
    WHERE comments.row IS NOT NULL ORDER BY articles.number, comments.number
"""


class Threads:
    """Articles and comments on the way to one another.

    Args:
        rows: A database made with `TABLES`.
        report: Counts; what is broken is rejected.
        lang: Language of articles without one.
    """

    def __init__(self, rows: sqlite3.Connection, report: ImportReport, lang: str | None) -> None:
        self.report = report
        self._rows = rows
        self._builder = ArticleBuilder(EXPORTED.mapped(lang=lang), report)
        self._encode = msgspec.msgpack.Encoder().encode

    def add_article(self, row: Mapping[str, object], where: str, line: int) -> None:
        """Add an article.

        Args:
            row: Its fields, by the names of `EXPORTED`, without comments.
            where: Its file.
            line: Its line.
        """
        article = self._builder.article(row, where, line, joined=True)
        if article is not None:
            values = article.id, self._encode(article)
            self._rows.execute("INSERT INTO articles (name, row) VALUES (?, ?)", values)

    def add_comment(
        self,
        row: Mapping[str, object] | None,
        where: str,
        line: int,
        *,
        name: str,
        above: str | None,
        article: str | None = None,
    ) -> None:
        """Add a comment.

        Args:
            row: Its fields, by the names of `EXPORTED`; None for a comment that is left out, and leads to an article.
            where: Its file.
            line: Its line.
            name: Its id.
            above: The id of what it answers, a comment or the article.
            article: The id of its article; None if `above` leads there.

        Raises:
            InvalidInput: A field is broken; says which.
        """
        comment = None if row is None else self._builder.comment(dict(row), 1)
        data = None if comment is None else self._encode(comment)
        self._rows.execute(
            "INSERT INTO comments (name, above, article, place, line, row) VALUES (?, ?, ?, ?, ?, ?)",
            (name, above, article, where, line, data),
        )

    def articles(self) -> Iterator[Article]:
        """Join them.

        Yields:
            The articles, in the order in which they were added, with their comments in theirs.
        """
        decode_article = msgspec.msgpack.Decoder(Article).decode
        decode_comment = msgspec.msgpack.Decoder(Comment).decode
        if self._count("comments WHERE article IS NULL"):
            self._rows.executescript(ROOTS)
        self.report.orphans += self._count("comments WHERE row IS NOT NULL")
        groups = groupby(self._rows.execute(JOINED), itemgetter(0))
        number, group = next(groups, (None, iter(())))
        for place, row in self._rows.execute("SELECT number, row FROM articles ORDER BY number"):
            article = decode_article(row)
            if place == number:
                found = list(group)
                self.report.orphans -= len(found)
                comments = [decode_comment(data) for *_, data, _ in found]
                for at in (at for at, (*_, answers_article) in enumerate(found) if answers_article):
                    comments[at] = msgspec.structs.replace(comments[at], parent=None)
                places = [(where, line, "id") for _, where, line, *_ in found]
                kept = self._builder.distinct(comments, places.__getitem__)
                article = msgspec.structs.replace(article, comments=kept)
                number, group = next(groups, (None, iter(())))
            self._builder.count(article)
            yield article

    def _count(self, rows: str) -> int:
        count: int = self._rows.execute(f"SELECT COUNT(*) FROM {rows}").fetchone()[0]  # noqa: S608 - ours
        return count


def read_threads(
    paths: Sequence[FilePath],
    report: ImportReport,
    lang: str | None,
    add: Callable[[Record, str, int, Threads], None],
) -> Iterator[Article]:
    """Read articles and comments from JSON objects.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected.
        lang: Language of articles without one.
        add: Callback that adds an object, with its file and line; an `InvalidInput` of it rejects the object.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: There is no such file, or something in it is broken.
        PostilError: There is no room for the temporary file.
    """
    with database(TABLES) as rows:
        threads = Threads(rows, report, lang)
        for path in paths:
            where = os.fspath(path)
            for line, row in json_objects(path, report):
                try:
                    add(row, where, line, threads)
                except InvalidInput as error:
                    if error.where:  # whoever takes what is broken has stopped
                        raise
                    report.refuse(InvalidInput(error.problem, where=where, line=line, field=error.field))
        yield from threads.articles()


@contextmanager
def database(script: str) -> Iterator[sqlite3.Connection]:
    """Open a temporary database.

    Args:
        script: SQL that makes its tables.

    Yields:
        The database.

    Raises:
        PostilError: There is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="postil-") as folder:
        try:
            with closing(sqlite3.connect(f"{folder}/rows.sqlite")) as rows:
                rows.executescript(script)
                yield rows
        except sqlite3.Error as error:
            raise PostilError(f"the temporary folder {tempfile.gettempdir()} refuses: {error}; see TMPDIR") from error


def text_at(row: Record, *names: str) -> str | None:
    """The text in the first of some fields that is there and not null; an integer becomes text.

    Args:
        row: The object.
        names: Names of the fields.

    Raises:
        InvalidInput: It holds something else.

    >>> text_at({"id": None, "objectID": 7}, "id", "objectID")
    '7'
    """
    for name in names:
        value = row.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InvalidInput(f"expected text, got {shown(value)}", field=name)
        return str(value)
    return None
