"""Notes beside models that services serve: who would go on suggesting an erased comment, and where its labels are.

A service has a model in memory, and labels with its comments in a store, so who erases comments from the folder must
know of both. The note is the file ``.MODEL.served`` beside the folder, which may be replaced while it is served. Each
service holds a shared lock of it, which a killed one releases, and it has a line for each store, which stays.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.data.atomic_file import write_error
from postil.errors import PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from postil.data.row_files import FilePath

__all__ = ["AlsoServed", "ServedModels", "noted", "unserved"]


class AlsoServed(UsageError):  # noqa: N818 - says what is the case
    """Another service has a model in memory from which comments are to be erased."""


class ServedModels:
    """The notes of one service.

    Args:
        store: Folder of its store; None where it stores nothing.
        on_message: Callback for warnings.

    Attributes:
        store: The same without symbolic links; empty for none.
    """

    def __init__(self, store: FilePath | None, on_message: Callable[[str], None] = lambda _: None) -> None:
        self.store = "" if store is None else os.path.realpath(store)
        self._on_message = on_message
        self._files: dict[str, int] = {}

    @contextmanager
    def moving_to(self, folders: Iterable[FilePath]) -> Iterator[None]:
        """Note models before they are opened, and give up those that were served before when the block has ended.

        Args:
            folders: The models; if the block raises, those before are served on.

        Raises:
            UsageError: Comments are being erased from one.
        """
        paths = {os.path.realpath(folder) for folder in folders}
        fresh = paths - self._files.keys()
        try:
            for path in sorted(fresh):
                if (file := self._noted(path)) is not None:
                    self._files[path] = file
            yield
        except BaseException:
            self._give_up(fresh)
            raise
        self._give_up(self._files.keys() - paths)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other services and erasures away from the models while the block runs.

        Raises:
            AlsoServed: Another service serves one.
        """
        try:
            for path, file in self._files.items():
                if not _locked(file, alone=True):
                    problem = "another service serves it, and would go on suggesting what is erased"
                    raise AlsoServed(f"{path}: {problem}; stop that one, and send the request again")
            yield
        finally:
            for path, file in self._files.items():
                if not _locked(file, alone=False):  # the lock was taken while this one changed
                    self._on_message(f"{path}: comments are being erased from it; let this service reload afterwards")

    def close(self) -> None:
        """Give all models up."""
        self._give_up(set(self._files))

    def _noted(self, path: str) -> int | None:
        """The open and locked note of a model; None if none can be made."""
        try:
            file = _open(path)
        except OSError as error:
            self._warn(path, error, "that it is served")
            return None
        if file is None:
            raise UsageError(f"{path}: comments are being erased from it; serve it in a moment")
        try:
            if self.store and self.store not in _stores(file):
                os.write(file, msgspec.json.encode(self.store) + b"\n")
        except OSError as error:
            self._warn(path, error, "where its labels are")
        except BaseException:
            os.close(file)
            raise
        return file

    def _warn(self, path: str, error: OSError, what: str) -> None:
        why = f"postil forget will not know {what}, so erase by POST /v1/forget of this service"
        self._on_message(f"{write_error(str(_note(path)), error)}; {why}")

    def _give_up(self, paths: Collection[str]) -> None:
        for path in set(paths) & self._files.keys():
            os.close(self._files.pop(path))


@contextmanager
def unserved(folder: FilePath) -> Iterator[tuple[str, ...]]:
    """Keep services from opening a model while the block runs.

    Args:
        folder: The model.

    Yields:
        Folders of the stores of services that have served it.

    Raises:
        AlsoServed: A service serves it.
        PostilError: The operating system reports an error.
    """
    path = os.path.realpath(folder)
    try:
        file = _open(path, alone=True)
    except OSError as error:
        raise write_error(str(_note(path)), error) from error
    if file is None:
        how = "erase by its POST /v1/forget, or stop it first"
        raise AlsoServed(f"{folder}: a service that runs serves it, and would go on suggesting what is erased; {how}")
    try:
        yield _stores(file)
    finally:
        if not os.fstat(file).st_size:
            with suppress(OSError):
                _note(path).unlink()
        os.close(file)


def noted(folder: FilePath) -> tuple[tuple[str, ...], bool]:
    """Folders of the stores of services that have served a model, and True if one serves it now.

    Args:
        folder: The model.
    """
    try:
        file = os.open(_note(os.path.realpath(folder)), os.O_RDONLY)
    except OSError:
        return (), False
    try:
        return _stores(file), not _locked(file, alone=True)
    finally:
        os.close(file)


def _note(path: str) -> Path:
    return Path(path).with_name(f".{Path(path).name}.served")


def _open(path: str, *, alone: bool = False) -> int | None:
    """Open the note of a model and lock it, shared or alone; None if another process has a lock that forbids it."""
    while True:
        file = _opened(_note(path))
        try:
            if not _locked(file, alone=alone):
                os.close(file)
                return None
            if os.path.samestat(os.fstat(file), _note(path).stat()):
                return file
        except FileNotFoundError:
            pass  # who locked it before has removed it
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _opened(note: Path) -> int:
    try:
        return os.open(note, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError:
        with suppress(OSError):
            return os.open(note, os.O_RDONLY)  # another user's, or on a read-only file system: enough to lock it
        raise


def _locked(file: int, *, alone: bool) -> bool:
    """Lock a file without waiting; True if that is done. On Windows nothing is locked."""
    if os.name == "posix":
        import fcntl  # noqa: PLC0415 - there is none elsewhere

        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _stores(file: int) -> tuple[str, ...]:
    """The stores that a note has."""
    os.lseek(file, 0, os.SEEK_SET)
    content = os.read(file, os.fstat(file).st_size)
    try:
        return tuple(msgspec.json.decode(line, type=str) for line in content.splitlines() if line.strip())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PostilError(f"a note of served models is damaged: {error}; remove the files .MODEL.served") from error
