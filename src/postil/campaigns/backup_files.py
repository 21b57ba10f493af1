"""`postil annotate backup` and `upgrade`: campaigns as files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from postil.campaigns.calls import open_campaign
from postil.data.atomic_file import AtomicFile
from postil.errors import UsageError
from postil.options import options

if TYPE_CHECKING:
    from postil.campaigns.store import Store

__all__ = ["BackupOptions", "backup", "upgrade"]


@options
class BackupOptions:
    """Options of `postil annotate backup`.

    Args:
        incomplete: Copy a file that lacks its write-ahead log as far as it goes; annotations may be missing.
    """

    incomplete: bool = False


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
