from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

import sqlalchemy as sql

from postil.campaigns.database import GroupCommitWriter
from postil.campaigns.models import Refused

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection


def test_a_refusal_does_not_touch_the_others(tmp_path: Path) -> None:
    """Changes that wait together share a commit."""
    engine = sql.create_engine(f"sqlite:///{tmp_path / 'x.db'}")

    @sql.event.listens_for(engine, "connect")
    def _(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None

    grouped = GroupCommitWriter(engine, lambda error: error)
    grouped.run(lambda connection: connection.exec_driver_sql("CREATE TABLE t (n INTEGER)"))
    called: list[int] = []
    hold, held = Event(), Event()

    def wait(_connection: Connection) -> None:
        held.set()
        hold.wait(10)

    def add(number: int, problem: Exception | None = None, *, late: bool = False) -> Callable[[Connection], int]:
        def change(connection: Connection) -> int:
            called.append(number)
            if problem is not None and not late:
                raise problem
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", (number,))
            if problem is not None:
                raise problem
            return number

        return change

    def together(*changes: Callable[[Connection], int]) -> list[object]:
        hold.clear()
        held.clear()
        called.clear()
        grouped.submit(wait)
        held.wait(10)  # what comes now waits in line together
        futures = [grouped.submit(change) for change in changes]
        hold.set()
        return [future.exception(10) or future.result() for future in futures]

    no = Refused("invalid", "no")
    assert together(add(1), add(2, no), add(3)) == [1, no, 3]
    assert called == [1, 2, 3]  # once each
    assert together(add(4), add(5, no, late=True), add(6)) == [4, no, 6]
    assert called == [4, 5, 4, 5, 6]  # taken back, and each by itself
    error = ZeroDivisionError()
    assert together(add(7), add(8, error)) == [7, error]
    rows = grouped.run(lambda connection: connection.exec_driver_sql("SELECT n FROM t").scalars().all())
    assert rows == [1, 3, 4, 6, 7]
    grouped.close()
