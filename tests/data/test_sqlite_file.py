"""Kinds of SQLite files: made, brought to this version with what is in them, and refused where they are others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from postil.data.sqlite_file import Kind, connect, user_version
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from pathlib import Path

MADE = "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)"
WIDER = "ALTER TABLE t ADD COLUMN m INTEGER; UPDATE t SET m = n + 1"


def kind(*steps: str, application: int = 7) -> Kind:
    return Kind(application, steps, other="another kind", newer="{found}, not {known}", damaged="damaged: {error}")


def opened(path: Path, of: Kind) -> tuple[int, list[tuple[int, ...]]]:
    with of.said(str(path)), closing(connect(path, "mode=rwc")) as connection:
        of.prepare(connection, str(path))
        return user_version(connection), connection.execute("SELECT * FROM t").fetchall()


def test_a_file_of_an_earlier_version_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    assert opened(path, kind(MADE)) == (1, [(1,)])
    assert opened(path, kind(MADE, WIDER)) == (2, [(1, 2)])
    assert opened(path, kind(MADE, WIDER)) == (2, [(1, 2)])
    with pytest.raises(InvalidInput, match=r"x\.db: 2, not 1$"):
        opened(path, kind(MADE))
    with pytest.raises(InvalidInput, match=r"x\.db: another kind$"):
        opened(path, kind(MADE, WIDER, application=8))
    assert opened(path, kind(MADE, WIDER)) == (2, [(1, 2)])


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened(path, kind(MADE))
    with pytest.raises(PostilError, match=r"x\.db: the database reports an error: no such table: u"):
        opened(path, kind(MADE, "DELETE FROM t; DELETE FROM u"))
    assert opened(path, kind(MADE)) == (1, [(1,)])


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"a text, and no database at all\n" * 100)
    with pytest.raises(InvalidInput, match=r"x\.db: damaged: file is not a database"):
        opened(path, kind(MADE))


def test_a_file_that_is_missing_is_not_made_to_read_it(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        connect(tmp_path / "x.db")
    assert list(tmp_path.iterdir()) == []
