"""File of the store of a service, `service.db` in a folder that one service uses at a time; erasure from it."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.corpus.duplicates import compact_text
from postil.data.rows import Decision
from postil.data.sqlite_file import Kind, begin, connect, create, database_error, set_log, settle, shrink, user_version
from postil.data.suggestions import Label
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from postil.corpus.forgotten import Chosen
    from postil.data.streams import FilePath

__all__ = ["KIND", "NAME", "Erased", "decided", "erase_comments", "erase_stored", "open_file", "stored_comments"]

NAME: Final = "service.db"
"""Name of the file in its folder."""

TABLES: Final = """
CREATE TABLE labels (
    number INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    id TEXT,
    received TEXT NOT NULL,
    row BLOB NOT NULL,
    UNIQUE (sender, id)
);
CREATE INDEX labels_article ON labels (sender, json_extract(CAST(row AS TEXT), '$.article'));
CREATE TABLE impressions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    made TEXT NOT NULL,
    article TEXT NOT NULL,
    models TEXT NOT NULL,
    teams TEXT NOT NULL
);
CREATE TABLE outcomes (
    impression INTEGER NOT NULL REFERENCES impressions (number),
    event TEXT NOT NULL,
    rank INTEGER NOT NULL,
    PRIMARY KEY (impression, event, rank)
) WITHOUT ROWID;
CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    made REAL NOT NULL,
    body BLOB,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due REAL,
    problem TEXT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (due) WHERE due IS NOT NULL;
"""

DECISIONS: Final = """
CREATE TABLE decisions (
    number INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    comment TEXT NOT NULL,
    received TEXT NOT NULL,
    row BLOB NOT NULL,
    UNIQUE (sender, comment)
);
"""
"""Decisions of moderators; ``comment`` tells the comments of a sender apart."""

KIND: Final = Kind(
    0x706F7374,  # "post"
    (TABLES, DECISIONS),
    other="this database is no store of postil serve; name another folder",
    newer="made by a newer version of postil (tables {found}, not {known}); upgrade postil",
    damaged="this is no store of postil serve ({error}); name another folder, or restore a copy",
)

QUOTED: Final = 30
"""Least number of characters of a text whose quotation within another one counts as the text."""

PROBLEM: Final = "a comment in it was erased"


@dataclass(frozen=True, slots=True)
class Erased:
    """Numbers of what was erased.

    Args:
        labels: Number of labels.
        deliveries: Number of deliveries that waited, and are given up.
        decisions: Number of decisions of moderators.
    """

    labels: int
    deliveries: int
    decisions: int = 0


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file to write, and make it where there is none, for its owner alone.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is another file, or one of a newer version of postil.
        PostilError: The operating system reports an error.
    """
    create(path)
    with KIND.said(str(path)), ExitStack() as undo:
        connection = undo.enter_context(closing(connect(path, "mode=rw")))
        # A commit waits for the disk. What is deleted is overwritten, also where the file is not rewritten.
        settle(connection, "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON")
        KIND.prepare(connection, str(path))
        set_log(connection, f"{path}: this file system cannot hold the store; use a folder on a local disk")
        undo.pop_all()
    return connection


def erase_comments(
    connection: sqlite3.Connection, where: str, chosen: Chosen, texts: Collection[str], *, dry_run: bool = False
) -> Erased:
    """Erase labels and decisions of comments and articles, and the contents of waiting deliveries with them.

    A label is one of a comment if its source is the comment, or if its text is that of the comment or of such a label;
    one of an article if a suggestion for it is labeled. A decision is one of a comment by its ids (see `decided`) or by
    its text. A delivery has a comment if an object in it names the comment's
    ids, or a text in it is the comment's or quotes it, and an article if an object in it names its id.

    Args:
        connection: Connection to write, outside of a transaction.
        where: The file, for messages.
        chosen: The comments and articles.
        texts: Texts of comments, compared regardless of case and spaces.
        dry_run: True to change nothing.

    Raises:
        PostilError: Another program reads the file all the time.
        sqlite3.Error: The database reports an error.
    """
    with connection:
        begin(connection)
        erased = _erased(connection, chosen, texts)
        if dry_run:
            connection.rollback()
    if not dry_run:  # also where nothing is left to erase: an earlier run may have ended before this
        shrink(connection, where)
    return erased


def _erased(connection: sqlite3.Connection, chosen: Chosen, texts: Collection[str]) -> Erased:
    wanted = {compact_text(text) for text in texts} - {""}
    labels = [
        (number, msgspec.json.decode(row, type=Label))
        for number, row in connection.execute("SELECT number, row FROM labels")
    ]
    sources = ((one.text, f"{one.source_article}", f"{one.source_comment}") for _, one in labels)
    wanted |= {compact_text(text) for text, *source in sources if chosen.has(*source)}
    decisions = list(_decisions(connection))
    wanted |= {compact_text(one.text) for _, one in decisions if decided(one, chosen)}
    settled = [(number,) for number, one in decisions if compact_text(one.text) in wanted or decided(one, chosen)]
    connection.executemany("DELETE FROM decisions WHERE number = ?", settled)
    erased = [(number,) for number, one in labels if one.article in chosen.articles or compact_text(one.text) in wanted]
    connection.executemany("DELETE FROM labels WHERE number = ?", erased)
    waiting = connection.execute("SELECT number, body FROM deliveries WHERE body IS NOT NULL").fetchall()
    given_up = [(PROBLEM, number) for number, body in waiting if _holds(body, chosen, wanted)]
    change = "UPDATE deliveries SET body = NULL, due = NULL, state = 'failed', problem = ? WHERE number = ?"
    connection.executemany(change, given_up)
    return Erased(len(erased), len(given_up), len(settled))


def _decisions(connection: sqlite3.Connection) -> Iterator[tuple[int, Decision]]:
    for number, row in connection.execute("SELECT number, row FROM decisions"):
        yield number, msgspec.json.decode(row, type=Decision)


def decided(decision: Decision, chosen: Chosen) -> bool:
    """True if a decision is one of some comments or articles.

    A site that sends its decisions may name the article by its address, or not at all, while a corpus has the
    article's id: then the id of the comment alone tells.

    Args:
        decision: The decision.
        chosen: The comments and articles.

    >>> from postil.corpus.forgotten import Chosen
    >>> chosen = Chosen(frozenset({("story-1", "c1")}))
    >>> [
    ...     decided(Decision("A text.", "keep", article=article, id="c1"), chosen)
    ...     for article in ("story-1", "story-2", "https://news.example/rain", None)
    ... ]
    [True, False, True, True]
    """
    article = None if decision.article is None else f"{decision.article}"
    if article in chosen.articles:
        return True
    if decision.id is None:
        return False
    id_, elsewhere = f"{decision.id}", article is None or "://" in article
    return (article or "", id_) in chosen.comments or (elsewhere and id_ in {comment for _, comment in chosen.comments})


def stored_comments(folder: FilePath) -> Iterator[tuple[str, str, str]]:
    """Comments that a store has decisions on, of a service that runs as well.

    Args:
        folder: The folder of its file.

    Yields:
        Ids of the article and of the comment, empty where they are not known, and the text.

    Raises:
        InvalidInput: There is no such file.
        PostilError: The database reports an error.
    """
    path = _file_in(folder)
    try:
        with closing(connect(path)) as connection:
            if user_version(connection) < len(KIND.steps):
                return  # of an earlier version, without decisions
            decisions = [one for _, one in _decisions(connection)]
    except sqlite3.Error as error:
        raise database_error(str(path), error) from error
    for one in decisions:
        yield "" if one.article is None else f"{one.article}", "" if one.id is None else f"{one.id}", one.text


def erase_stored(folder: FilePath, chosen: Chosen, texts: Collection[str], *, dry_run: bool = False) -> Erased:
    """Erase labels, decisions and waiting deliveries from the store of a stopped service; see `erase_comments`.

    Args:
        folder: The folder of its file, which the caller has locked unless nothing is changed.
        chosen: The comments and articles.
        texts: Texts of comments, compared regardless of case and spaces.
        dry_run: True to change nothing.

    Raises:
        InvalidInput: There is no such file, or it is another one.
        PostilError: The database reports an error.
    """
    path = _file_in(folder)
    with closing(open_file(path)) as connection:
        try:
            return erase_comments(connection, str(path), chosen, texts, dry_run=dry_run)
        except sqlite3.Error as error:
            raise database_error(str(path), error) from error


def _file_in(folder: FilePath) -> Path:
    path = Path(folder, NAME)
    if not path.is_file():
        raise InvalidInput(f"no {NAME} in this folder; expected one of postil serve --data", where=str(folder))
    return path


def _holds(body: bytes, chosen: Chosen, texts: Collection[str]) -> bool:
    """True if a document of JSON has one of some comments, articles or texts; also if it cannot be read."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    for value in _values(document):
        if isinstance(value, dict):
            article = value.get("article")
            if isinstance(article, dict) and f"{article.get('id')}" in chosen.articles:
                return True
            if chosen.has(f"{article}", f"{value.get('comment')}"):
                return True
        elif _repeats(compact_text(value), texts):
            return True
    return False


def _repeats(text: str, others: Collection[str]) -> bool:
    return text in others or any(len(one) >= QUOTED and one in text for one in others)


def _values(document: object) -> Iterator[dict[str, object] | str]:
    """The objects and texts of a document."""
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield value
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield value
