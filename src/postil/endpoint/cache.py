"""Answers on disk: one SQLite file in a folder, so that nothing is asked twice."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.sqlite_file import Kind, connect, settle
from postil.endpoint.chat import Answer
from postil.engine.base import Closing
from postil.errors import InvalidInput
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

__all__ = ["AnswerCache"]

FILE: Final = "answers.sqlite"
DAMAGED: Final = "the file of answers is damaged; remove it to ask again"
KIND: Final = Kind(
    0x706F7374,  # "post"
    ("CREATE TABLE answer (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",),
    other="this database holds other tables; name another folder",
    newer="expected version {known}, got {found}; it was made by another version of postil",
    damaged=DAMAGED,
    refused="answers cannot be kept there",
)

_READ: Final = "SELECT value FROM answer WHERE key = ?"


class AnswerCache(Closing):
    """Answers by the key of their request, for several threads and processes at once.

    An answer is on the disk when `put` returns; a process that is killed loses no earlier answer. The file is in
    rollback mode, since one file that can be copied matters more here than a write of less than a millisecond.

    Args:
        folder: The folder; made if it is not there. None keeps the answers in memory.

    Raises:
        InvalidInput: The file is damaged, or no file of answers.
        PostilError: The operating system reports an error.

    >>> with AnswerCache() as cache:
    ...     _ = cache.put("5e88", Answer(text="4"))
    ...     cache.put("5e88", Answer(text="5")).text, cache.get("7c21")
    ('4', None)
    """

    def __init__(self, folder: str | PathLike[str] | None = None) -> None:
        self.where = "memory" if folder is None else str(Path(folder, FILE))
        self.on_disk = folder is not None
        self._lock = Lock()
        with KIND.said(self.where), ExitStack() as undo:  # an interrupt, too, must leave no connection open
            if folder is not None:
                Path(folder).mkdir(exist_ok=True)
            how = "mode=memory" if folder is None else "mode=rwc"
            self._connection = undo.enter_context(closing(connect(Path(self.where), how)))
            settle(self._connection, "synchronous = FULL")
            KIND.prepare(self._connection, self.where)
            undo.pop_all()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def get(self, key: str) -> Answer | None:
        """The answer to a request, if there is one.

        Args:
            key: Key of the request.

        Raises:
            InvalidInput: The file is damaged.
        """
        with self._lock, KIND.said(self.where):
            row = self._connection.execute(_READ, (key,)).fetchone()
        return None if row is None else self._decode(row[0])

    def put(self, key: str, answer: Answer) -> Answer:
        """Store an answer, unless there is one.

        Args:
            key: Key of the request.
            answer: The answer.

        Returns:
            The stored answer: that of another process, if it was first.

        Raises:
            InvalidInput: The file is damaged.
            PostilError: The file cannot be written.
        """
        value = msgspec.json.encode(answer)
        with self._lock, KIND.said(self.where):
            self._connection.execute("INSERT OR IGNORE INTO answer VALUES (?, ?)", (key, value))
            return self._decode(self._connection.execute(_READ, (key,)).fetchone()[0])

    @classmethod
    def erase(cls, folder: str | PathLike[str], shows: Callable[[str], bool], *, dry_run: bool = False) -> int:
        """Erase answers for good, in one transaction: what other processes keep there meanwhile stays.

        Args:
            folder: The folder.
            shows: True for a text of an answer to erase.
            dry_run: True to change nothing.

        Returns:
            Number of answers that are erased.

        Raises:
            InvalidInput: There is no such file, or it is damaged.
            PostilError: The operating system reports an error.
        """
        file = Path(folder, FILE)
        if not file.is_file():
            problem = Message(
                "no {file} in this folder; expected answers that {cache} kept", file=FILE, cache=Setting("cache")
            )
            raise InvalidInput(problem, where=str(folder))
        with cls(folder) as cache, KIND.said(cache.where):
            execute = cache._connection.execute
            settle(cache._connection, "secure_delete = ON")  # what is deleted is overwritten
            execute("BEGIN" if dry_run else "BEGIN IMMEDIATE")  # undone where the connection is closed before the end
            answers = [(key, cache._decode(value)) for key, value in execute("SELECT key, value FROM answer")]
            erased = [(key,) for key, answer in answers if shows(answer.text) or shows(answer.refusal)]
            if erased and not dry_run:
                cache._connection.executemany("DELETE FROM answer WHERE key = ?", erased)
                execute("COMMIT")
                execute("VACUUM")
        return len(erased)

    def _decode(self, value: object) -> Answer:
        try:
            if isinstance(value, bytes):
                return msgspec.json.decode(value, type=Answer)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
        raise InvalidInput(DAMAGED, where=self.where)
