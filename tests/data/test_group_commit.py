"""Transactions that wait together share a commit, and what one of them does harms no other."""

from __future__ import annotations

import sqlite3
from threading import Event
from typing import TYPE_CHECKING

import pytest

from postil.data.group_commit import GroupWriter, Keeper
from postil.data.sqlite_file import connect
from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    Change = Callable[[sqlite3.Connection], object]


class Watch(Keeper):
    """A keeper that counts commits, each of which it sees before and after, and can refuse the next one it sees."""

    def __init__(self) -> None:
        self.seen = 0
        self.problem: PostilError | None = None
        self.kept = Event()

    def on_progress(self) -> None:
        self.seen += 1
        if self.problem is not None and self.seen % 2 == 0:
            raise self.problem

    def checkpoint(self) -> None:
        self.kept.set()


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path / "x.db", "mode=rwc")
    connection.execute("CREATE TABLE t (n INTEGER)")
    yield connection
    connection.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def writer(driver: sqlite3.Connection, watch: Watch) -> Iterator[GroupWriter[sqlite3.Connection]]:
    opened = GroupWriter(driver, driver, lambda error: error, closed="the end", keeper=watch)
    yield opened
    opened.close()


def together(writer: GroupWriter[sqlite3.Connection], *changes: Change) -> list[Future[object]]:
    hold, held = Event(), Event()

    def wait(_connection: sqlite3.Connection) -> None:
        held.set()
        hold.wait(10)

    writer.submit(wait)
    held.wait(10)  # what comes now waits in line together
    futures = [writer.submit(change) for change in changes]
    hold.set()
    return futures


def add(number: int, problem: BaseException | None = None) -> Change:
    def change(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        if problem is not None:
            raise problem
        return number

    return change


def outcomes(futures: list[Future[object]]) -> list[object]:
    return [future.exception(10) or future.result() for future in futures]


def stored(driver: sqlite3.Connection) -> list[int]:
    return [number for (number,) in driver.execute("SELECT n FROM t ORDER BY n")]


def test_one_that_fails_is_taken_back_alone(
    writer: GroupWriter[sqlite3.Connection], driver: sqlite3.Connection, watch: Watch
) -> None:
    no = ZeroDivisionError()
    assert outcomes(together(writer, add(1), add(2, no), add(3))) == [1, no, 3]
    assert (stored(driver), watch.seen) == ([1, 3], 4)  # two commits: of the one that holds, and of the three
    assert watch.kept.wait(10)


def test_where_sqlite_takes_back_the_group_all_hear_why(
    writer: GroupWriter[sqlite3.Connection], driver: sqlite3.Connection
) -> None:
    """As where the disk is full: SQLite ends the transaction, and with it the savepoints."""
    no = sqlite3.OperationalError("database or disk is full")

    def fill(connection: sqlite3.Connection) -> None:
        connection.rollback()
        raise no

    assert outcomes(together(writer, add(1), fill, add(3))) == [no, no, no]
    assert stored(driver) == []
    assert writer.submit(add(4)).result(10) == 4


def test_what_was_written_to_a_file_that_has_gone_is_not_acknowledged(
    writer: GroupWriter[sqlite3.Connection], watch: Watch
) -> None:
    watch.problem = PostilError("gone")
    assert outcomes([writer.submit(add(1))]) == [watch.problem]


def test_a_caller_that_has_gone_is_dropped(writer: GroupWriter[sqlite3.Connection], driver: sqlite3.Connection) -> None:
    hold = Event()
    first = writer.submit(lambda _connection: hold.wait(10))
    second, third = writer.submit(add(2)), writer.submit(add(3))
    assert second.cancel()
    hold.set()
    assert (first.result(10), third.result(10)) == (True, 3)
    assert stored(driver) == [3]


def test_one_that_is_alone_is_in_no_transaction(writer: GroupWriter[sqlite3.Connection]) -> None:
    assert writer.submit(lambda connection: connection.in_transaction).result(10) is True
    assert writer.submit(lambda connection: connection.execute("VACUUM").fetchall(), alone=True).result(10) == []
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        writer.submit(lambda connection: connection.execute("DELETE FROM u"), alone=True).result(10)


def test_after_the_end(writer: GroupWriter[sqlite3.Connection]) -> None:
    futures = together(writer, add(1))
    writer.close()
    assert outcomes(futures) == [1]
    with pytest.raises(PostilError, match="the end"):
        writer.submit(add(2))
