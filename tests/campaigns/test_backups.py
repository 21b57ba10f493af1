"""Daily backups: complete, one a day, the newest are kept, and nothing else in the folder is touched."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

from campaign_work import join
from postil.campaigns.backups import DAY, DailyBackups
from postil.campaigns.campaign_file import copy_whole
from postil.campaigns.store import Store
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Clock

NOON = 1_699_963_200.0  # 2023-11-14, 12:00 in UTC


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A campaign in an SQLite file; the last test is about another."""
    return str(tmp_path / "grading.db")


@pytest.fixture
def backups(store: Store, tmp_path: Path, clock: Clock) -> DailyBackups:
    clock.now = NOON
    return DailyBackups(store, str(tmp_path / "backups"), keep=3, clock=clock)


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """Limits the size of files that this process writes; 0 for none."""
    import resource  # noqa: PLC0415 - POSIX only

    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size or limits[0], limits[1]))

    yield limit
    limit(0)
    signal.signal(signal.SIGXFSZ, before)


def another(ready: Path, path: Path) -> bytes:
    """Write another campaign, and give its bytes."""
    shutil.copy(ready, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE campaign SET data = json_set(data, '$.created', 5.0)")
    return path.read_bytes()


def names(backups: DailyBackups) -> list[str]:
    return sorted(path.name for path in backups.folder.iterdir())


def rate_next(store: Store, key: str) -> None:
    person = next(each for each in store.people.everyone() if each.role == "annotator")
    person = person if person.name else join(store, "Ann")
    task = store.grading.next(person)
    assert task is not None
    store.grading.rate(person, task.assignment, 4, idempotency_key=key)


def test_a_backup_is_the_campaign(backups: DailyBackups, store: Store) -> None:
    rate_next(store, "before")
    assert backups.last is None
    assert backups.due() == 0
    path = backups.make()
    rate_next(store, "after")
    assert path.name == "grading-2023-11-14.db"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with Store.open(str(path)) as copy:
        assert len(copy.results.ratings()) == 1
        assert copy.campaign() == store.campaign()
        rate_next(copy, "goes on")


def test_one_a_day_and_the_newest_are_kept(backups: DailyBackups, clock: Clock) -> None:
    for day in range(5):
        clock.now = NOON + day * DAY
        assert backups.due() == 0
        backups.make()
        assert backups.last == clock.now
        clock.now += 3600
        assert backups.due() == DAY - 3600
    assert names(backups) == [f"grading-2023-11-{day}.db" for day in (16, 17, 18)]


def test_a_server_that_starts_again_knows_the_last_one(backups: DailyBackups, store: Store, clock: Clock) -> None:
    path = backups.make()
    os.utime(path, (NOON, NOON))
    clock.now = NOON + 100
    again = DailyBackups(store, str(backups.folder), keep=3, clock=clock)
    assert (again.last, again.due()) == (NOON, DAY - 100)


def test_a_clock_that_was_set_back(backups: DailyBackups, clock: Clock) -> None:
    for day in (10, 11, 12):
        clock.now = NOON + day * DAY
        backups.make()
    clock.now = NOON
    assert backups.due() == 0
    backups.make()
    assert backups.due() == DAY
    assert names(backups) == [f"grading-2023-11-{day}.db" for day in (14, 25, 26)]  # 14 is the one just made


def test_other_files_stay(backups: DailyBackups, clock: Clock, ready: Path) -> None:
    for day in range(2):
        clock.now = NOON + day * DAY
        backups.make()
    in_use = backups.folder / "grading-2023-11-14.db"
    another(ready, backups.folder / "grading-2023-11-01.db")
    kept = [
        *("grading-2023-11-13.db.gz", "grading-x-2023-11-13.db", "notes.txt", "grading-2023-11-01.db"),
        *(in_use.name, f"{in_use.name}-wal", ".grading-2023-11-14.db.7-0abc.part.mine"),
    ]
    for name in kept:
        (backups.folder / name).touch()
    remains = backups.folder / ".grading-2023-11-12.db.712-0a1b2c3d.part"
    fresh = backups.folder / ".grading-2023-11-16.db.713-0a1b2c3d.part"
    for path in (remains, fresh):
        path.touch()
    os.utime(remains, (NOON, NOON))
    for day in range(2, 6):
        clock.now = NOON + day * DAY
        backups.make()
    assert names(backups) == sorted([*kept, fresh.name, *(f"grading-2023-11-{day}.db" for day in (17, 18, 19))])


def test_a_backup_of_another_campaign_is_not_replaced(backups: DailyBackups, ready: Path) -> None:
    backups.folder.mkdir()
    content = another(ready, theirs := backups.folder / "grading-2023-11-14.db")
    with pytest.raises(InvalidInput, match=r"grading-2023-11-14\.db: expected a backup of this campaign, got another"):
        backups.make()
    assert theirs.read_bytes() == content
    assert names(backups) == [theirs.name]
    theirs.write_text("no database", encoding="utf-8")
    with pytest.raises(InvalidInput, match="give each campaign a folder of its own"):
        backups.make()
    assert (backups.last, theirs.read_text(encoding="utf-8")) == (None, "no database")


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_a_full_disk_leaves_the_backups_and_the_campaign_as_they_are(
    backups: DailyBackups, store: Store, clock: Clock, full_disk: Callable[[int], None]
) -> None:
    before = backups.make().read_bytes()
    clock.now += DAY
    rate_next(store, "one")
    full_disk(8192)
    problem = r"grading-2023-11-15\.db: cannot be written: disk I/O error; is the disk full\?$"
    with pytest.raises(PostilError, match=problem):
        backups.make()
    full_disk(0)
    assert names(backups) == ["grading-2023-11-14.db"]
    assert (backups.folder / "grading-2023-11-14.db").read_bytes() == before
    rate_next(store, "two")
    with Store.open(str(backups.make()), read_only=True) as copy:
        assert len(copy.results.ratings()) == 2


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_a_copy_of_a_large_campaign_that_fails_leaves_nothing_beside_it(
    tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    with closing(sqlite3.connect(":memory:")) as large:
        large.execute("CREATE TABLE texts AS SELECT zeroblob(16000000) AS text")  # more than SQLite keeps in memory
        (copy := tmp_path / "copies" / "copy.db").parent.mkdir()
        copy.touch()
        full_disk(1_000_000)
        with pytest.raises(OSError, match="is the disk full"):
            copy_whole(large, str(copy))
        full_disk(0)
    assert list(copy.parent.iterdir()) == [copy]


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_a_full_disk_stores_no_rating_and_loses_none(store: Store, full_disk: Callable[[int], None]) -> None:
    rate_next(store, "one")
    full_disk(1)
    with pytest.raises(PostilError, match=r"grading\.db: the database reports an error: disk I/O error"):
        rate_next(store, "two")
    full_disk(0)
    assert len(store.results.ratings()) == 1
    rate_next(store, "two")
    assert len(store.results.ratings()) == 2


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        *((name, "holds the campaign itself") for name in (".", "backups/..")),
        ("grading.db", "expected a folder, got the file"),
        ("none/backups", "parent folder .*none does not exist"),
    ],
)
def test_folders_that_are_refused(store: Store, tmp_path: Path, folder: str, told: str) -> None:
    (tmp_path / "backups").mkdir()
    with pytest.raises(UsageError, match=f"^backup: .*{told}"):
        DailyBackups(store, str(tmp_path / folder), keep=7)


def test_postgresql_has_a_program_of_its_own(tmp_path: Path) -> None:
    elsewhere: Any = SimpleNamespace(file=None)
    with pytest.raises(UsageError, match=r"^backup: expected a campaign in an SQLite file; for PostgreSQL run pg_dump"):
        DailyBackups(elsewhere, str(tmp_path / "backups"), keep=7)
