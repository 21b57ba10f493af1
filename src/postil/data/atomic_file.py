"""Writes that are whole or nothing, of a file or a folder; one process at a time works in a folder."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal, Self

from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from types import TracebackType

    from postil.data.arrays import AnyArray
    from postil.data.streams import FilePath

__all__ = [
    "LOCK",
    "AtomicFile",
    "FolderWriter",
    "check_apart",
    "check_file",
    "check_folder",
    "empty_folder",
    "locked",
    "write_error",
    "write_file",
    "writing",
]


class AtomicFile:
    """A file that is written atomically.

    The bytes go to a temporary file in the same folder. When the block ends well, that file is flushed to disk and
    renamed, which replaces the old file in one step; when it ends in an error or an interrupt, it is removed and the
    old file stays as it was. For `-` the bytes go to standard output.

    Args:
        path: The file to make or replace, or `-`.
        private: True if only the owner may read a new file, from its first byte on.

    Raises:
        UsageError: The path is a folder, or its folder is missing.
        PostilError: The operating system reports an error.
    """

    def __init__(self, path: str, *, private: bool = False) -> None:
        self.path, self._private = path, private
        self._target = Path(os.path.realpath(path))
        self._part = _part_of(self._target)
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        if self.path == "-":
            return sys.stdout.buffer
        check_file(self.path)
        try:
            if self._private:
                self._part.touch(0o600, exist_ok=False)
            self._stream = self._part.open("wb" if self._private else "xb")
            if self._target.exists():
                self._part.chmod(stat.S_IMODE(self._target.stat().st_mode))
        except BaseException as error:  # an interrupt comes at any time
            self._remove()
            if isinstance(error, OSError):
                raise write_error(self.path, error) from error
            raise
        return self._stream

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._stream is None:
                sys.stdout.buffer.flush()
            elif kind is None:
                self._commit(self._stream)
            elif isinstance(error, OSError) and error.filename is None and not isinstance(error, ConnectionError):
                raise error  # of a write: it names no file, as an error of opening another file does
        except OSError as refusal:
            raise write_error(self.path, refusal) from refusal
        finally:
            self._remove()

    def _commit(self, stream: IO[bytes]) -> None:
        stream.flush()
        os.fsync(stream.fileno())
        stream.close()
        self._part.replace(self._target)
        sync_folder(self._target.parent)

    def _remove(self) -> None:
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.close()
            self._part.unlink(missing_ok=True)


def check_file(path: str) -> None:
    """See that a file can be made, or replaced: worth asking before long work.

    Args:
        path: The file.

    Raises:
        UsageError: The path is a folder, or its folder is missing.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise UsageError(f"{path}: not a file that can be replaced")
    if not target.parent.is_dir():
        raise UsageError(f"{path}: parent folder {target.parent} does not exist")


def write_file(path: FilePath, data: bytes) -> None:
    """Write a file atomically.

    Args:
        path: The file; one that is there is replaced.
        data: Its content.

    Raises:
        UsageError: The file cannot be made at this path.
        PostilError: The operating system reports an error.
    """
    with AtomicFile(str(path)) as stream:
        stream.write(data)


def write_error(path: str, error: OSError) -> Exception:
    """Make the error to raise when a write fails; a broken pipe stays what it is, for the command line to end on.

    Args:
        path: The file.
        error: The error of the operating system.
    """
    if isinstance(error, BrokenPipeError):
        return error
    # NumPy reports how much it wrote, and no reason.
    return PostilError(f"{path}: cannot be written: {error.strerror or f'{error}; is the disk full?'}")


@contextmanager
def writing(path: FilePath) -> Iterator[None]:
    """Put errors of the operating system into words while a file or folder is written; see `write_error`.

    Args:
        path: The file or folder.
    """
    try:
        yield
    except OSError as error:
        raise write_error(str(path), error) from error


def check_apart(out: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to overwrite an input, whatever the spelling: through a link, a stream or a folder around it.

    Args:
        out: The file to write, or the folder to replace whole; `-` for standard output.
        inputs: The files and folders that are read; `-` for standard input.

    Raises:
        UsageError: One of them would be replaced, or lies in a folder that would be, or is a folder with ``out`` in it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (rows := Path(folder, "rows.jsonl")).write_text("{}")
    ...     check_apart("rows.jsonl", [rows])
    ...     check_apart(f"{folder}/./rows.jsonl", [rows])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    postil.errors.UsageError: ...rows.jsonl: would be written over ...rows.jsonl, which is read; name another output
    """
    written = _status(os.fspath(out), sys.stdout)
    for source in inputs:
        read = _status(os.fspath(source), sys.stdin)
        if read is None:
            continue
        here, there = (Path(os.path.realpath(path)) for path in (out, source))
        named = "-" not in {os.fspath(out), os.fspath(source)}
        # Also where there is no such file yet, or the same command would do only once.
        if named and here != there and here.is_relative_to(there):
            raise UsageError(f"{out}: lies in {source}, which is read; name another output")
        if written and (os.path.samestat(written, read) or (named and there.is_relative_to(here))):
            raise UsageError(f"{out}: would be written over {source}, which is read; name another output")


def _status(path: str, stream: IO[str]) -> os.stat_result | None:
    """Status of a file or folder; None if there is none that could be replaced."""
    try:
        found = os.fstat(stream.fileno()) if path == "-" else os.stat(path)  # noqa: PTH116 - follows links, as open does
    except (AttributeError, OSError, ValueError):  # a stream may be closed, or none of the system's
        return None
    return found if stat.S_ISREG(found.st_mode) or (path != "-" and stat.S_ISDIR(found.st_mode)) else None


def check_folder(folder: str | os.PathLike[str], replace: Collection[str] | None = None) -> None:
    """See that a folder can be made, or replaced: worth asking before long work.

    Args:
        folder: The folder.
        replace: Names of the files that such a folder has: one that is there is replaced unless it holds others. None
            to replace none.

    Raises:
        UsageError: It cannot.
    """
    target = Path(os.path.realpath(folder))
    if not target.parent.is_dir():
        raise UsageError(f"{folder}: parent folder {target.parent} does not exist")
    if not target.exists():
        return
    if replace is None:
        raise UsageError(f"{folder}: already exists; choose another output folder or remove it")
    others = sorted({each.name for each in target.iterdir()} - set(replace)) if target.is_dir() else []
    if not target.is_dir() or others:
        has = f" and holds {others[0]}" if others else ", and is a file"
        raise UsageError(f"{folder}: is there already{has}, which is not replaced; name another folder")


class FolderWriter:
    """A folder that is written atomically: it appears whole when the block ends well, in the place of an older one.

    Args:
        folder: The folder.
        replace: Names of the files that such a folder has, see `check_folder`; None to replace none, True to replace
            whatever is there.

    Attributes:
        wanted: Set to False to leave everything as it is.

    Raises:
        UsageError: The folder cannot be made or replaced.
        PostilError: The operating system reports an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     with FolderWriter(f"{there}/a") as new:
    ...         new.write("b/c.txt", b"text")
    ...     Path(there, "a", "b", "c.txt").read_bytes()
    b'text'
    """

    def __init__(self, folder: str | os.PathLike[str], replace: Collection[str] | Literal[True] | None = None) -> None:
        self._folder, self._replace = folder, replace
        self.target = Path(os.path.realpath(folder))
        self.part = _part_of(self.target)
        self.linked: set[str] = set()
        self.wanted = True

    def __enter__(self) -> Self:
        if self._replace is not True:
            check_folder(self._folder, self._replace)
        with writing(self._folder):
            self.part.mkdir()
        return self

    def path(self, name: str) -> Path:
        """Path to write a file at, for callers that write it themselves.

        Args:
            name: The name of the file; ``/`` separates folders, which are created.
        """
        path = self.part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in self.linked:
            self.linked.remove(name)
            path.unlink()  # else the file of the other folder would be written to
        return path

    def write(self, name: str, content: bytes) -> None:
        """Write a file.

        Args:
            name: Its name; see `path`.
            content: Its content.
        """
        self.path(name).write_bytes(content)

    def array(self, name: str, values: AnyArray) -> None:
        """Write an array.

        Args:
            name: The name of its file, without ``.npy``; see `path`.
            values: The array, not of objects.
        """
        import numpy as np  # noqa: PLC0415 - files of text need none

        np.save(self.path(f"{name}.npy"), values, allow_pickle=False)

    def link(self, name: str, file: Path) -> None:
        """Take a file of another folder, as a hard link where the file system has them.

        Args:
            name: Its name; see `path`.
            file: The file, which nobody changes in place.
        """
        target = self.path(name)
        try:
            os.link(file, target)
            self.linked.add(name)
        except OSError:  # another file system, or one without links
            shutil.copyfile(file, target)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, OSError):
                raise error
            if kind is None and self.wanted:
                self.finish()
        except OSError as refusal:
            raise write_error(str(self._folder), refusal) from refusal
        finally:
            shutil.rmtree(self.part, ignore_errors=True)

    def files(self) -> list[Path]:
        """The files that were written so far, in order."""
        return sorted(path for path in self.part.rglob("*") if path.is_file())

    def finish(self) -> None:
        """Flush the files to disk, and put the folder in its place."""
        for file in self.files():
            if file.relative_to(self.part).as_posix() not in self.linked:
                with file.open("rb+") as stream:
                    os.fsync(stream.fileno())
        sync_folder(self.part)
        if self.target.exists():
            replace_folder(self.part, self.target)
        else:
            self.part.rename(self.target)
            sync_folder(self.target.parent)


def _part_of(target: Path) -> Path:
    """Name beside a file or folder for it while it is written."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")


def replace_folder(new: Path, target: Path) -> None:
    """Put a folder in the place of another, and remove the old one.

    Where the system can exchange two names (Linux and macOS, on most file systems), it is one step: whoever is killed
    or loses power leaves one of the two whole. Elsewhere the old folder is moved aside first, and is moved back if the
    new one cannot take its place; killed in between, it stays beside, as ``new`` with the suffix ``.old``.

    Args:
        new: The folder, beside the other one.
        target: The folder to replace.

    Raises:
        OSError: The operating system reports an error; the old folder is where it was.
    """
    old = new
    if not _exchange(new, target):
        old = new.with_suffix(".old")
        target.rename(old)
        try:
            new.rename(target)
        except OSError:
            old.rename(target)
            raise
    sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to disk: a new one is there only when the folder is.

    Args:
        path: The folder.
    """
    if os.name == "posix":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    import ctypes  # noqa: PLC0415 - seldom needed

    names = os.fsencode(one), os.fsencode(other)
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(*names, 2) == 0)  # RENAME_SWAP
        here = -100  # AT_FDCWD: names are relative to the current folder
        return bool(system.renameat2(here, names[0], here, names[1], 2) == 0)  # RENAME_EXCHANGE
    except (AttributeError, OSError, TypeError):  # no such function, or no such library
        return False


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


def empty_folder(folder: Path) -> None:
    """Remove all that is in a folder, but for the lock that is held.

    Args:
        folder: The folder, if it is there.
    """
    for each in folder.iterdir() if folder.is_dir() else ():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name != LOCK:
            each.unlink()
