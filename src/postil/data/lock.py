"""Locks: one process at a time works in a folder."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.atomic_file import write_error
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.row_files import FilePath

__all__ = ["LOCK", "locked"]

LOCK: Final = "lock"
"""The file in the folder that is locked."""


@contextmanager
def locked(folder: FilePath, problem: str) -> Iterator[None]:
    """Lock a folder while the block runs. A killed process releases its lock; on Windows nothing is locked.

    Args:
        folder: The folder; made if it is not there.
        problem: Message where another process holds the lock.

    Raises:
        UsageError: Another process holds the lock.
        PostilError: The operating system reports an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(folder, "taken"):
    ...     with locked(folder, "taken"):
    ...         pass
    Traceback (most recent call last):
    postil.errors.UsageError: taken
    """
    path = Path(folder, LOCK)
    try:
        path.parent.mkdir(exist_ok=True)
        stream = path.open("wb")
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{path.parent}: expected a folder, got a file") from None
    except OSError as error:
        raise write_error(str(path), error) from error
    with stream:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - there is none elsewhere

            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(problem) from None
            except OSError as error:  # a file system without locks
                raise write_error(str(path), error) from error
        yield
