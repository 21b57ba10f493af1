"""Store of the service: labels, decisions of moderators, impressions with their outcomes, and deliveries that wait.

All of it is in one SQLite file, whose write-ahead log is flushed to disk by every commit: what a caller was told to be
stored survives the end of the process and of the machine.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

import msgspec

from postil.corpus.duplicates import compact_text
from postil.corpus.forgotten import Chosen
from postil.data.atomic_file import locked
from postil.data.explain import shown
from postil.data.fields import parse_date, plain_id
from postil.data.group_commit import GroupWriter
from postil.data.rows import Decision
from postil.data.sqlite_file import connect, database_error
from postil.data.suggestions import EVENTS, Impression, Label
from postil.erasure.store import NAME, Erased, erase_comments, open_file
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from postil.data.streams import FilePath

__all__ = ["Delivery", "Outcome", "ServiceStore", "StoreCounts"]

T = TypeVar("T")


MOST_LABELS: Final = 1000
"""Largest number of labels of an article that are read, and of decisions on its comments."""

PAGE: Final = 500
"""Number of rows that are read at once; between pages the file can be rewritten."""


class Outcome(msgspec.Struct, frozen=True):
    """An event of an impression.

    Args:
        impression: The id of the impression.
        event: shown, of the whole list, or clicked, answered or hidden, of one suggestion.
        rank: Rank of the suggestion, from 1; None with shown.
    """

    impression: str
    event: Literal["shown", "clicked", "answered", "hidden"]
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that waits to be delivered.

    Args:
        id: Its id.
        body: Its content.
        attempts: Number of attempts so far.
        made: Time of its making, in seconds of Unix time.
    """

    id: str
    body: bytes
    attempts: int
    made: float


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """Numbers of what is stored.

    Args:
        labels: Number of labels.
        impressions: Number of impressions.
        deliveries: Number of deliveries by state: waiting, delivered or failed.
        decisions: Number of decisions of moderators.
    """

    labels: int
    impressions: int
    deliveries: Mapping[str, int]
    decisions: int = 0


class ServiceStore:
    """The store of a service that runs; open it with `open`.

    Args:
        path: The file.
        connection: Connection to write.
        until: Contexts to exit when the store is closed.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, until: ExitStack) -> None:
        self._path, self._until = path, until
        self._writer = GroupWriter(connection, connection, self._translate, closed=f"{path}: the store is closed")

    @classmethod
    def open(cls, folder: FilePath) -> Self:
        """Open a store, and make it where there is none.

        Args:
            folder: The folder of its file.

        Raises:
            UsageError: Another service uses it.
            InvalidInput: There is another file, or one of a newer version of postil.
            PostilError: The operating system reports an error.
        """
        with ExitStack() as until:
            until.enter_context(locked(folder, f"{folder}: another service stores its data there; name another folder"))
            connection = open_file(path := Path(folder, NAME))
            return cls(path, connection, until.pop_all())

    def close(self) -> None:
        """Finish what is being stored, and close the file."""
        self._writer.close()
        self._until.close()

    async def add_labels(self, labels: Sequence[Label], *, sender: str = "", ids: Sequence[str | None] = ()) -> int:
        """Store labels; when this returns, they are on disk.

        Args:
            labels: The labels.
            sender: Name of the token that sent them.
            ids: An id for each label, by which one that a sender sends again is stored once; None for no id.

        Returns:
            Number of labels that were not stored before.

        Raises:
            PostilError: The database reports an error.
        """
        now = parse_date(datetime.now(UTC))
        given = ids or [None] * len(labels)

        def add(connection: sqlite3.Connection) -> int:
            rows = (
                (sender, id_, now, msgspec.json.encode(one, enc_hook=plain_id))
                for one, id_ in zip(labels, given, strict=True)
            )
            before = connection.total_changes
            insert = "INSERT INTO labels (sender, id, received, row) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            connection.executemany(insert, rows)
            return connection.total_changes - before

        return await self._write(add)

    async def withdraw_labels(self, ids: Sequence[str], *, sender: str = "") -> int:
        """Delete labels that their sender takes back.

        Args:
            ids: The ids that they were sent with; one that is unknown changes nothing.
            sender: Name of the token that sent them.

        Returns:
            Number of labels that are deleted.

        Raises:
            PostilError: The database reports an error.
        """

        def delete(connection: sqlite3.Connection) -> int:
            before = connection.total_changes
            connection.executemany("DELETE FROM labels WHERE sender = ? AND id = ?", [(sender, one) for one in ids])
            return connection.total_changes - before

        return await self._write(delete)

    def labels_of(self, article: str, *, sender: str = "") -> list[tuple[str | None, Label]]:
        """Read the last labels of an article that a sender sent, with their ids, in the order of their arrival.

        Args:
            article: The id of the article.
            sender: Name of the token that sent them.

        Raises:
            PostilError: The database reports an error.
        """
        where = "sender = ? AND json_extract(CAST(row AS TEXT), '$.article') = ?"
        query = f"SELECT id, row FROM labels WHERE {where} ORDER BY number DESC LIMIT {MOST_LABELS}"  # noqa: S608
        rows = self._read(query, (sender, article))
        return [(id_, msgspec.json.decode(row, type=Label)) for id_, row in reversed(rows)]

    def labeled(self) -> frozenset[str]:
        """Ids of the articles that have labels, of whatever sender."""
        return frozenset(f"{label.article}" for label in self.labels())

    def labels(self) -> Iterator[Label]:
        """Read the labels, in the order of their arrival.

        Yields:
            Each label.

        Raises:
            PostilError: The database reports an error.
        """
        for _, row in self._pages("SELECT number, row FROM labels WHERE number > ? ORDER BY number LIMIT ?"):
            yield msgspec.json.decode(row, type=Label)

    async def add_decisions(self, decisions: Sequence[Decision], *, sender: str = "") -> None:
        """Store decisions of moderators, each in place of the last one on its comment; then they are on disk.

        Args:
            decisions: The decisions. The ids of one tell its comment; without an id its text does.
            sender: Name of the token that sent them.

        Raises:
            PostilError: The database reports an error.
        """
        now = parse_date(datetime.now(UTC))

        def add(connection: sqlite3.Connection) -> None:
            rows = ((sender, _comment(one), now, msgspec.json.encode(one, enc_hook=plain_id)) for one in decisions)
            # A new number, so that whoever reads on sees the change.
            insert = "INSERT OR REPLACE INTO decisions (sender, comment, received, row) VALUES (?, ?, ?, ?)"
            connection.executemany(insert, rows)

        await self._write(add)

    async def withdraw_decisions(self, decisions: Sequence[Decision], *, sender: str = "") -> int:
        """Delete the decisions on comments that their sender takes back, whatever they were.

        Args:
            decisions: Decisions on the comments, told as `add_decisions` does; one that is unknown changes nothing.
            sender: Name of the token that sent them.

        Returns:
            Number of decisions that are deleted.

        Raises:
            PostilError: The database reports an error.
        """

        def delete(connection: sqlite3.Connection) -> int:
            before = connection.total_changes
            rows = ((sender, _comment(one)) for one in decisions)
            connection.executemany("DELETE FROM decisions WHERE sender = ? AND comment = ?", rows)
            return connection.total_changes - before

        return await self._write(delete)

    def decisions_of(self, article: str, *, sender: str = "") -> list[Decision]:
        """Read a sender's last decisions on comments of an article that have an id, in the order of their arrival.

        Args:
            article: The id of the article.
            sender: Name of the token that sent them.

        Raises:
            PostilError: The database reports an error.
        """
        first = _beginning(article)
        where = "sender = ? AND comment >= ? AND comment < ?"  # which the index of the table finds
        query = f"SELECT row FROM decisions WHERE {where} ORDER BY number DESC LIMIT {MOST_LABELS}"  # noqa: S608
        rows = self._read(query, (sender, first, f"{first[:-1]}{chr(ord(first[-1]) + 1)}"))
        return [msgspec.json.decode(row, type=Decision) for (row,) in reversed(rows)]

    def decisions(self) -> Iterator[Decision]:
        """Read the decisions of moderators, the one that was changed last at the end.

        Yields:
            Each decision, the last one on its comment.

        Raises:
            PostilError: The database reports an error.
        """
        for _, row in self._pages("SELECT number, row FROM decisions WHERE number > ? ORDER BY number LIMIT ?"):
            yield msgspec.json.decode(row, type=Decision)

    async def add_impression(self, article: str, models: Sequence[str], teams: Sequence[int | None]) -> str:
        """Store that interleaved suggestions are given out.

        Args:
            article: The id of the article.
            models: The names of the two models.
            teams: The model of each suggestion by rank: 0, 1, or None for neither.

        Returns:
            The id of the impression, by which outcomes refer to it.

        Raises:
            PostilError: The database reports an error.
        """
        id_ = secrets.token_hex(8)
        row = (
            id_,
            parse_date(datetime.now(UTC)),
            article,
            *(msgspec.json.encode(one, enc_hook=plain_id).decode() for one in (models, teams)),
        )

        def add(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO impressions (id, made, article, models, teams) VALUES (?, ?, ?, ?, ?)", row)

        await self._write(add)
        return id_

    async def add_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Store outcomes, all or none; one that is known changes nothing.

        Args:
            outcomes: The outcomes.

        Raises:
            InvalidInput: An impression is unknown, or has no such rank.
            PostilError: The database reports an error.
        """

        def add(connection: sqlite3.Connection) -> None:
            for position, one in enumerate(outcomes):
                found = connection.execute(
                    "SELECT number, json_array_length(teams) FROM impressions WHERE id = ?", (one.impression,)
                ).fetchone()
                if found is None:
                    problem = "there is no impression with this id; expected one that /v1/suggest gave out"
                    raise InvalidInput(problem, field=f"outcomes[{position}].impression")
                if problem := _wrong_rank(one, ranks=found[1]):
                    raise InvalidInput(problem, field=f"outcomes[{position}].rank")
                row = found[0], one.event, one.rank or 0
                connection.execute("INSERT INTO outcomes VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)

        await self._write(add)

    def outcomes(self) -> Iterator[Impression]:
        """Read the impressions with their outcomes so far, in the order of the impressions.

        Yields:
            Each impression.

        Raises:
            PostilError: The database reports an error.
        """
        # One row per impression, with its events as an array of JSON.
        query = """
            SELECT number, id, article, models, teams,
                (SELECT json_group_array(json_array(event, rank)) FROM outcomes WHERE impression = number)
            FROM impressions WHERE number > ? ORDER BY number LIMIT ?
        """
        for _, id_, article, models, teams, events in self._pages(query):
            found = msgspec.json.decode(events, type=list[tuple[str, int]])
            clicked, answered, hidden = (tuple(rank for event, rank in found if event == each) for each in EVENTS)
            yield Impression(
                impression=id_,
                article=article,
                models=msgspec.json.decode(models, type=tuple[str, ...]),
                teams=msgspec.json.decode(teams, type=tuple[int | None, ...]),
                clicked=clicked,
                shown=bool(found),  # nobody clicks on what was not shown
                answered=answered,
                hidden=hidden,
            )

    async def add_delivery(self, body: bytes) -> str:
        """Store a message to deliver; when this returns, it is on disk.

        Args:
            body: Its content: JSON.

        Returns:
            The id of the delivery.

        Raises:
            PostilError: The database reports an error.
        """
        id_, now = secrets.token_hex(16), time.time()

        def add(connection: sqlite3.Connection) -> None:
            insert = "INSERT INTO deliveries (id, made, body, state, attempts, due, problem)"
            connection.execute(f"{insert} VALUES (?, ?, ?, 'waiting', 0, ?, '')", (id_, now, body, now))

        await self._write(add)
        return id_

    def due_deliveries(self, now: float, *, most: int = 100) -> list[Delivery]:
        """Messages to deliver now, the longest due first.

        Args:
            now: The time, in seconds of Unix time.
            most: Largest number of messages.

        Raises:
            PostilError: The database reports an error.
        """
        query = "SELECT id, body, attempts, made FROM deliveries WHERE due <= ? ORDER BY due LIMIT ?"
        return [Delivery(*row) for row in self._read(query, (now, most))]

    async def settle(self, delivery: str, *, delivered: bool, again: float | None = None, problem: str = "") -> None:
        """Store how an attempt of a delivery ended; the content of one that has ended is erased.

        Args:
            delivery: The id of the delivery.
            delivered: True if it was delivered.
            again: Time of the next attempt, in seconds of Unix time; None to give the delivery up.
            problem: The problem, in words.

        Raises:
            PostilError: The database reports an error.
        """
        due = None if delivered else again
        state = "delivered" if delivered else "failed" if again is None else "waiting"

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(
                """
                UPDATE deliveries SET attempts = attempts + 1, state = ?, due = ?, problem = ?,
                    body = CASE WHEN ? IS NULL THEN NULL ELSE body END
                WHERE id = ? AND state = 'waiting'
                """,
                (state, due, problem, due, delivery),
            )

        await self._write(change)

    async def forget(self, comments: Collection[tuple[str, str]], texts: Collection[str]) -> Erased:
        """Erase labels, decisions and waiting deliveries with comments, and rewrite the file without them.

        Impressions and outcomes have neither texts nor the ids of comments. Nothing else is stored meanwhile.

        Args:
            comments: Ids of article and comment of each comment.
            texts: Texts of comments, compared regardless of case and spaces.

        Raises:
            PostilError: The database reports an error, or another program reads the file all the time.
        """
        where, chosen = str(self._path), Chosen(frozenset(comments))
        return await self._write(lambda connection: erase_comments(connection, where, chosen, texts), alone=True)

    def counts(self) -> StoreCounts:
        """Count what is stored.

        Raises:
            PostilError: The database reports an error.
        """
        [(labels, impressions, decisions)] = self._read(
            "SELECT (SELECT count(*) FROM labels), (SELECT count(*) FROM impressions), (SELECT count(*) FROM decisions)"
        )
        states = self._read("SELECT state, count(*) FROM deliveries GROUP BY state")
        deliveries = {"waiting": 0, "delivered": 0, "failed": 0, **dict(states)}
        return StoreCounts(labels, impressions, deliveries, decisions)

    def check(self) -> None:
        """Check that the file can be read.

        Raises:
            PostilError: The database reports an error.
        """
        self._read("SELECT 1 FROM labels LIMIT 1")

    async def _write(self, transaction: Callable[[sqlite3.Connection], T], *, alone: bool = False) -> T:
        return await asyncio.wrap_future(self._writer.submit(transaction, alone=alone))

    def _translate(self, error: BaseException) -> BaseException:
        return database_error(str(self._path), error) if isinstance(error, sqlite3.Error) else error

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows of a query, from one snapshot that is given up at once."""
        try:
            with closing(connect(self._path)) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise database_error(str(self._path), error) from error

    def _pages(self, query: str) -> Iterator[Any]:
        """Rows of a query, whose first column numbers them, for a number that the rows are above and a limit."""
        last = 0
        while rows := self._read(query, (last, PAGE)):
            yield from rows
            last = rows[-1][0]


def _comment(decision: Decision) -> str:
    """The key of the comment of a decision, which is another one for each comment of a sender."""
    if decision.id is not None:
        return msgspec.json.encode((decision.article, decision.id), enc_hook=plain_id).decode()
    return blake2b(compact_text(decision.text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _beginning(article: str) -> str:
    """The beginning that the keys of the comments of an article have, and no others.

    >>> _beginning("a1")
    '["a1",'
    """
    return msgspec.json.encode((article, ""), enc_hook=plain_id).decode().removesuffix('""]')


def _wrong_rank(outcome: Outcome, *, ranks: int) -> str:
    """The problem with the rank of an outcome; empty for none."""
    if outcome.event == "shown":
        return "" if outcome.rank is None else f"expected no rank with shown, got {outcome.rank}"
    if outcome.rank is None or not 1 <= outcome.rank <= ranks:
        return f"expected a rank from 1 to {ranks} with {outcome.event}, got {shown(outcome.rank)}"
    return ""
