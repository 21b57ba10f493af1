"""The build directory: a hidden staging folder beside the corpus, from which an interrupted build resumes.

The result of each step is a file that is written atomically. At the end the folder's ``corpus`` is renamed to the
corpus, which is atomic too.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from zipfile import BadZipFile

from postil.data.atomic_file import LOCK, AtomicFile, locked, write_error
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from postil.data.streams import FilePath


__all__ = ["BuildDirectory"]

_UNREADABLE: Final = (BadZipFile, EOFError, LookupError, ValueError)


class BuildDirectory:
    """The staging folder of a build; a context manager, which locks it against other builds.

    After an interrupt or a system error it stays, and the same request resumes from it. It is removed after invalid
    input, since corrected input makes another request, and where no step was finished.

    Args:
        out: The output folder.
        request: All that the outcome depends on; the steps of another request are discarded.

    Raises:
        UsageError: The corpus is there already, its folder's parent is not, or another build of it is running.
        PostilError: The operating system reports an error.
    """

    def __init__(self, out: FilePath, request: str) -> None:
        self.out = Path(os.path.realpath(out))
        self.folder = self.out.with_name(f".{self.out.name}.building")
        self.corpus = self.folder / "corpus"
        self.resumed = False
        """True if there are steps of an earlier build."""
        self._request = request
        self._held = ExitStack()

    def __enter__(self) -> Self:
        if self.out.exists():
            raise UsageError(f"{self.out}: already exists; choose another output folder or remove it")
        if not self.out.parent.is_dir():
            raise UsageError(f"{self.out}: parent folder {self.out.parent} does not exist")
        self._held.enter_context(locked(self.folder, f"{self.out}: another build of this corpus is running"))
        self._begin()
        return self

    def _begin(self) -> None:
        note = self.folder / "request.json"
        self.resumed = note.is_file() and note.read_text(encoding="utf-8") == self._request
        if not self.resumed:
            for thing in self.folder.iterdir():
                if thing.is_dir():
                    shutil.rmtree(thing)
                elif thing.name != LOCK:
                    thing.unlink()
            self.keep(note, self._request.encode())
        for part in self.folder.rglob(".*.part"):  # of a build that was killed
            part.unlink()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, InvalidInput) or (error is not None and not self._has_steps()):
            shutil.rmtree(self.folder, ignore_errors=True)
        self._held.close()
        # A step that an earlier build kept was changed since, or the disk lost a part of it.
        if self.resumed and isinstance(error, _UNREADABLE) and not isinstance(error, PostilError):
            problem = f"{self.folder}: what an earlier build kept is unreadable ({error}); remove it to begin anew"
            raise PostilError(problem) from error

    def _has_steps(self) -> bool:
        return any(thing.is_dir() for thing in self.folder.iterdir())

    def step(self, name: str, number: int) -> Path:
        """The file of a step.

        Args:
            name: Name of the step.
            number: Number of the block or shard.
        """
        return self.folder / name / f"{number:06d}"

    def keep(self, path: Path, *data: bytes | memoryview) -> None:
        """Write a file whole.

        Args:
            path: The file.
            data: Its content.

        Raises:
            PostilError: The operating system reports an error.
        """
        with self.open(path) as stream:
            for piece in data:
                stream.write(piece)

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """A file in the making, which appears when the block ends well.

        Args:
            path: The file.

        Yields:
            What takes its bytes.

        Raises:
            PostilError: The operating system reports an error.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(str(path), error) from error
        with AtomicFile(str(path)) as stream:
            try:
                yield stream
            except OSError as error:
                raise write_error(str(path), error) from error

    def finish(self) -> None:
        """Make the corpus appear, and throw the steps away.

        Raises:
            PostilError: The operating system reports an error.
        """
        try:
            self.corpus.rename(self.out)
            shutil.rmtree(self.folder)
        except OSError as error:
            raise write_error(str(self.out), error) from error
