"""Backups of a campaign: one file on demand, or one a day, of which the newest are kept; and upgrades."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Self

import msgspec

from postil.campaigns.calls import open_campaign
from postil.campaigns.models import Campaign
from postil.data.atomic_file import AtomicFile, write_error
from postil.data.sqlite_file import connect
from postil.errors import InvalidInput, UsageError
from postil.web.error_log import unbroken

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from postil.campaigns.options import BackupOptions
    from postil.campaigns.store import Store

__all__ = ["DAY", "BackupSchedule", "DailyBackups", "backup", "upgrade"]

DAY: Final = 86_400.0
HOUR: Final = 3_600.0
"""Seconds until another attempt; also the longest wait, as clocks are set and machines sleep."""

DATE: Final = r"\d{4}-\d{2}-\d{2}"
UNFINISHED: Final = re.compile(rf"-{DATE}\.db\.\d+-[0-9a-f]+\.part")


class DailyBackups:
    """Backups of a campaign in a folder: ``NAME-YYYY-MM-DD.db`` by the name of its file and the date in UTC.

    Other files of the folder are never touched, nor are backups of another campaign of the same name.

    Args:
        store: Store of the campaign.
        folder: Folder of the backups, made where there is none.
        keep: Number of backups that are kept.
        clock: Function that returns the time, in seconds since 1970.

    Attributes:
        last: Time of the last backup, in seconds since 1970; None if there is none.

    Raises:
        UsageError: The campaign is not in an SQLite file, or this cannot be a folder for its backups.
    """

    def __init__(self, store: Store, folder: str, *, keep: int, clock: Callable[[], float] = time.time) -> None:
        if store.file is None:
            raise UsageError("backup: expected a campaign in an SQLite file; for PostgreSQL run pg_dump every day")
        self.folder = Path(folder)
        _check_folder(self.folder, store.file)
        self._store, self._keep, self._clock = store, keep, clock
        self._stem, self._campaign = store.file.stem, _key(store.campaign())
        self.last: float | None = None
        with suppress(OSError):  # which the first backup will report
            self.last = max((path.stat().st_mtime for path in self._files() if self._is_ours(path)), default=None)

    def due(self) -> float:
        """Number of seconds until the next backup is due; 0 if it is.

        One is due a day after the last; at once if that is of the future, as after the clock was set back.
        """
        now = self._clock()
        return 0.0 if self.last is None or self.last > now + HOUR else max(0.0, self.last + DAY - now)

    def make(self) -> Path:
        """Make a backup, which replaces that of the same day, and remove the oldest ones beyond the number to keep.

        The copy is checked before it appears under its name, complete and on disk.

        Returns:
            The file.

        Raises:
            PostilError: The operating system reports an error, or the campaign is damaged.
            InvalidInput: The folder has a backup of another campaign under this name.
        """
        now = self._clock()
        path = self.folder / f"{self._stem}-{datetime.fromtimestamp(now, UTC):%Y-%m-%d}.db"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._remove_remains()
            if path.exists() and not self._is_ours(path):
                problem = "expected a backup of this campaign, got another file; give each campaign a folder of its own"
                raise InvalidInput(problem, where=str(path))
            with AtomicFile(str(path), private=True) as stream:
                self._store.copy(stream.name)
            self.last = now
            self._remove_oldest(path)
        except OSError as error:
            raise write_error(str(self.folder), error) from error
        return path

    def _files(self) -> list[Path]:
        """Files that are named as backups of this campaign, the newest first."""
        named = re.compile(rf"{re.escape(self._stem)}-{DATE}\.db")
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted((path for path in found if named.fullmatch(path.name)), reverse=True)

    def _is_ours(self, path: Path) -> bool:
        """True if a file is a backup of this campaign, whatever version of the tables it has."""
        try:
            with closing(connect(path, "immutable=1")) as connection:
                data = connection.execute("SELECT data FROM campaign").fetchone()[0]
            return _key(msgspec.json.decode(data, type=Campaign)) == self._campaign
        except (sqlite3.Error, msgspec.MsgspecError, TypeError):
            return False

    def _remove_oldest(self, made: Path) -> None:
        """Remove the oldest backups; the one that was made stays, whatever dates the others have."""
        others = [path for path in self._files() if path != made and self._is_ours(path)]
        for path in others[self._keep - 1 :]:
            if not path.with_name(f"{path.name}-wal").exists():  # else a server was started on it
                path.unlink(missing_ok=True)

    def _remove_remains(self) -> None:
        """Remove unfinished copies of a server that was killed; a copy takes much less than a day."""
        for path in self.folder.iterdir():
            unfinished = UNFINISHED.fullmatch(path.name.removeprefix(f".{self._stem}"))
            if unfinished and path.stat().st_mtime < time.time() - DAY:
                path.unlink(missing_ok=True)


def _check_folder(folder: Path, campaign: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"backup: expected a folder, got the file {folder}")
    if folder.resolve() == campaign.resolve().parent:
        advice = "give another folder, best on another disk"
        raise UsageError(f"backup: {folder} holds the campaign itself, which is lost with its folder; {advice}")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"backup: {folder}: parent folder {folder.absolute().parent} does not exist")


def _key(campaign: Campaign) -> tuple[object, ...]:
    """Values that tell a campaign from all others, and never change."""
    return campaign.created, campaign.seed


PATIENCE: Final = 10.0
"""Seconds that the end of the server waits for a backup that is being made."""


class BackupSchedule:
    """Makes backups when they are due; a failure is told once, and another attempt follows in an hour.

    Use it as a context: the thread runs inside.

    Args:
        backups: Backups of the campaign.
        on_message: Callback for status messages.

    Attributes:
        problem: Reason why the last attempt failed; empty if it did not.
        failures: Number of attempts that failed.
    """

    def __init__(self, backups: DailyBackups, on_message: Callable[[str], None]) -> None:
        self._backups, self._on_message = backups, unbroken(on_message)
        self.problem, self.failures = "", 0
        self._stopping = Event()
        self._thread = Thread(target=self._loop, name="postil-backup", daemon=True)

    @property
    def last(self) -> float | None:
        """Time of the last backup, in seconds since 1970; None if there is none."""
        return self._backups.last

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(PATIENCE)

    def step(self) -> float:
        """Make a backup if one is due.

        Returns:
            Seconds until the next step.
        """
        if due := self._backups.due():
            return min(HOUR, due)
        try:
            path = self._backups.make()
        except Exception as error:  # a backup that fails must never end the server
            problem = f"{error}" or type(error).__name__
            if problem != self.problem:
                self._on_message(f"no backup was made, the next attempt is in an hour: {problem}")
            self.problem, self.failures = problem, self.failures + 1
            return HOUR
        self._on_message(f"written: {path}")
        self.problem = ""
        return HOUR

    def _loop(self) -> None:
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = self.step()


def backup(url: str, copy: str, options: BackupOptions) -> int:
    """Copy a campaign as it is at one moment, also while its server runs.

    Args:
        url: Location of the campaign.
        copy: File to write; it appears atomically.
        options: Options of the command.

    Returns:
        Number of ratings in the copy.

    Raises:
        UsageError: The file exists already or is one of SQLite's beside the campaign, or the campaign is not in an
            SQLite file.
        InvalidInput: There is no campaign, or a part of it is missing.
    """
    _check_new(copy)
    # One of an earlier version can be copied as it is, above all before it is upgraded.
    source = open_campaign(url, read_only=True, incomplete=options.incomplete, earlier=True)
    # A copy is private, as it holds the names of the annotators.
    with source as store, AtomicFile(copy, private=True) as stream:
        _check_beside(copy, store)
        store.copy(stream.name)
        with open_campaign(stream.name, read_only=True, earlier=True) as copied:
            ratings = copied.people.totals()[0].done
        _check_new(copy)  # again: copying takes a while, and another process may have made the file
    return ratings


def upgrade(url: str) -> None:
    """Bring a campaign of an earlier version of postil to this one; nothing in it changes.

    Args:
        url: Location of the campaign.

    Raises:
        InvalidInput: There is no campaign, or one of a version that cannot be upgraded.
    """
    open_campaign(url).close()


def _check_new(file: str) -> None:
    if not file.strip() or file == "-" or "://" in file:
        raise UsageError(f"a backup is a file: expected the name of a new one, got '{file}'")
    if Path(file).exists():
        raise UsageError(f"{file}: exists already; choose a new file")


def _check_beside(file: str, store: Store) -> None:
    """Refuse the names under which SQLite keeps its own files beside a campaign."""
    if store.file is not None and os.path.realpath(file) in {
        f"{os.path.realpath(store.file)}-{kind}" for kind in ("wal", "shm", "journal")
    }:
        raise UsageError(f"{file}: SQLite writes a file of this name beside {store.file}; choose another name")
