"""Model folders: config, metadata with checksums, arrays, and changes of a folder that is there.

A folder is written atomically, and changed by one process at a time; of a change that was killed nothing is left.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np

from postil.data.arrays import WHOLE, Expected, open_array
from postil.data.atomic_file import LOCK, locked, replace_folder, write_error
from postil.data.explain import is_finite, load_json, shown
from postil.errors import InvalidInput, UsageError
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from postil.data.arrays import AnyArray
    from postil.data.streams import FilePath

__all__ = [
    "FORMAT",
    "Change",
    "Model",
    "ModelWriter",
    "changing",
    "check_free",
    "checksum",
    "combined_checksum",
    "training_folder",
]


def checked_name(name: str, *taken: str) -> str:
    """Check that a file name stays within the folder.

    Args:
        name: The name; ``/`` separates folders.
        taken: Names that it must not be.

    Raises:
        InvalidInput: It does not, or is taken.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name or name in (".", *taken) or "\\" in name:
        raise InvalidInput("not the name of a file of a model", where=name)
    return name


def checksum(path: Path) -> dict[str, object]:
    """Compute size and hash of a file, reading it in blocks.

    Args:
        path: The file.
    """
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return {"bytes": path.stat().st_size, "blake2b": digest}


def combined_checksum(files: Mapping[str, object]) -> str:
    """Combine the checksums of all files into 16 hexadecimal digits.

    Args:
        files: The checksum of each file by name.
    """
    return hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=8).hexdigest()


def as_json(value: Mapping[str, object]) -> bytes:
    """Encode the JSON of a file of the folder.

    Args:
        value: An object.
    """
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"


def read_json(file: Path) -> dict[str, Any]:
    """Read the JSON object of a file.

    Args:
        file: The file.

    Raises:
        InvalidInput: It is missing, or contains none.
    """
    try:
        found = load_json(file.read_bytes())
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InvalidInput(f"missing; {WHOLE}", where=str(file)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON, {error}; {WHOLE}", where=str(file)) from error
    if not isinstance(found, dict):
        raise InvalidInput("expected a JSON object", where=str(file))
    return found


def sync(path: Path) -> None:
    """Flush a file to disk.

    Args:
        path: The file.
    """
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(path: Path) -> None:
    """Flush the directory entries of a folder to disk.

    Args:
        path: The folder.
    """
    if os.name == "posix":  # a new name is durable only once its directory is synced
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


T = TypeVar("T", str, int, float)
FORMAT: Final = 3
"""Version of the folder's layout and of the names in it; a folder of another version is refused."""

_CONFIG: Final = "config.json"
_METADATA: Final = "metadata.json"
_WORDS: Final = "words.txt"
_KINDS: Final = {str: "text", int: "an integer", float: "a number"}


def check_free(folder: FilePath) -> None:
    """Check that a model can be written to a folder; done before a training starts.

    Args:
        folder: The folder.

    Raises:
        UsageError: It exists, or its parent does not.
    """
    path = Path(os.path.realpath(folder))
    if path.exists():
        raise UsageError(f"{folder}: already exists; choose another output folder or remove it")
    if not path.parent.is_dir():
        raise UsageError(f"{folder}: parent folder {path.parent} does not exist")


class ModelWriter:
    """Writer of a model folder, which is created atomically when the block ends without an exception.

    Args:
        folder: The folder to create.
        kind: The kind of the model.
        config: Settings that using the model needs; JSON.
        metadata: Description of its training; JSON. The version of postil is added.
        replace: True if the folder is there, and is replaced when the block ends well; see
            `postil.data.atomic_file.replace_folder`.

    Raises:
        UsageError: The folder exists without ``replace``, or its parent does not.
        PostilError: The operating system reports an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     with ModelWriter(f"{there}/m", "ir-t", {"neighbors": 20}, {"seed": 1}) as new:
    ...         new.array("norms", np.ones(3))
    ...         new.words(["rain", "coat"])
    ...     model = Model.open(f"{there}/m", {"ir-t"})
    ...     norms = model.array("norms", Expected("float64", (3,), low=0))
    ...     model.config["neighbors"], norms.sum().item(), model.words()
    (20, 3.0, ['rain', 'coat'])
    """

    def __init__(
        self,
        folder: FilePath,
        kind: str,
        config: Mapping[str, object],
        metadata: Mapping[str, object],
        *,
        replace: bool = False,
    ) -> None:
        self._target = Path(os.path.realpath(folder))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        self._config = {"kind": kind, "format": FORMAT, **config}
        self._metadata = {"kind": kind, "format": FORMAT, "postil": VERSION, **metadata}
        self._replace = replace
        self._linked: dict[str, dict[str, object]] = {}

    def __enter__(self) -> Self:
        if not self._replace:
            check_free(self._target)
        try:
            self._part.mkdir()
        except OSError as error:
            raise write_error(str(self._target), error) from error
        return self

    def path(self, name: str) -> Path:
        """Path to write a file at, for callers that write it themselves.

        Args:
            name: The name of the file; ``/`` separates folders, which are created.
        """
        path = self._part / checked_name(name, _METADATA)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self._linked.pop(name, None):
            path.unlink()  # else the other model's file would be written to
        return path

    def array(self, name: str, values: AnyArray) -> None:
        """Write an array.

        Args:
            name: The name of the file, without ``.npy``.
            values: The array, not of objects.
        """
        np.save(self.path(f"{name}.npy"), values, allow_pickle=False)

    def link(self, model: Model, *, without: Collection[str] = ()) -> None:
        """Take the files of a model that were not written yet, as hard links where the file system has them.

        No model changes a file in place, so that folders can share files.

        Args:
            model: The model.
            without: Names of files that are not taken.
        """
        for name, recorded in model.files.items():
            if name in {_CONFIG, *self._linked, *without} or (target := self.path(name)).exists():
                continue
            try:
                os.link(model.path / name, target)
            except OSError:  # another file system, or one without links
                shutil.copyfile(model.path / name, target)
                sync(target)
            self._linked[name] = recorded

    def words(self, words: Iterable[str]) -> None:
        """Write the vocabulary.

        Args:
            words: The words, by id.

        Raises:
            InvalidInput: A word does not fit on a line of UTF-8.
        """
        lines = []
        for number, word in enumerate(words, 1):
            lines.append(f"{word}\n".encode("utf-8", "replace"))
            if "\n" in word or lines[-1].decode() != f"{word}\n":
                raise InvalidInput(f"expected a word in UTF-8, on one line, got {word!a}", where=_WORDS, line=number)
        self.path(_WORDS).write_bytes(b"".join(lines))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, OSError):
                raise error
            if kind is None:
                self._commit()
        except OSError as refusal:
            raise write_error(str(self._target), refusal) from refusal
        finally:
            shutil.rmtree(self._part, ignore_errors=True)

    def _commit(self) -> None:
        self.path(_CONFIG).write_bytes(as_json(self._config))
        found = sorted(path for path in self._part.rglob("*") if path.is_file())
        names = {path: path.relative_to(self._part).as_posix() for path in found}
        files = {name: self._linked.get(name) or checksum(path) for path, name in names.items()}
        (self._part / _METADATA).write_bytes(
            as_json({**self._metadata, "hash": combined_checksum(files), "files": files})
        )
        for path in (*found, self._part / _METADATA):
            if names.get(path) not in self._linked:
                sync(path)
        sync_folder(self._part)
        if self._replace:
            replace_folder(self._part, self._target)
        else:
            self._part.rename(self._target)
            sync_folder(self._target.parent)


@dataclass(frozen=True, eq=False)
class Model:
    """An open model folder.

    Args:
        path: The folder.
        config: Settings that using the model needs.
        metadata: Description of its training, and the checksums of its files.
    """

    path: Path
    config: Mapping[str, Any]
    metadata: Mapping[str, Any]

    @classmethod
    def open(cls, folder: FilePath, kinds: Collection[str] | None = None) -> Model:
        """Open a model folder; its arrays are not read yet.

        Args:
            folder: The folder.
            kinds: The kinds of model to accept; by default any.

        Raises:
            InvalidInput: It holds no such model, or files of it are missing or truncated.
        """
        path = Path(folder)
        expected = f"a model {' or '.join(sorted(kinds))}" if kinds else "a model"
        if not (path / _CONFIG).is_file():
            what = "no such folder"
            if path.exists():
                what = f"no {_CONFIG} in this folder" if path.is_dir() else "not a folder"
            raise InvalidInput(f"{what}; expected {expected} that postil train made", where=str(path))
        config = read_json(path / _CONFIG)
        kind, version = config.get("kind"), config.get("format")
        if not isinstance(kind, str) or not isinstance(version, int):
            raise InvalidInput(f"expected a kind and a format of {expected}", where=str(path / _CONFIG))
        if kinds is not None and kind not in kinds:
            raise InvalidInput(f"expected {expected}, got {kind}", where=str(path))
        if version != FORMAT:
            problem = (
                f"expected format {FORMAT}, got {version}; train it again, or use the version of postil that made it"
            )
            raise InvalidInput(problem, where=str(path))
        model = cls(path, config, read_json(path / _METADATA))
        for name, recorded in model.files.items():
            model._check_size(name, recorded)
        return model

    @property
    def kind(self) -> str:
        """The kind of the model."""
        return str(self.config["kind"])

    @property
    def hash(self) -> str:
        """16 hexadecimal digits over all files of the folder as written, apart from ``metadata.json``."""
        return str(self.metadata["hash"])

    def setting(self, name: str, kind: type[T]) -> T:
        """Read a required setting of ``config.json``.

        Args:
            name: Its name.
            kind: Its type.

        Raises:
            InvalidInput: It is missing, or of another type.
        """
        found: Any = self.config.get(name)
        wrong = isinstance(found, bool) or not isinstance(found, (int, float) if kind is float else kind)
        if wrong or (kind is float and not is_finite(found)):
            problem = f"expected {_KINDS[kind]}, got {shown(found)}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.path / _CONFIG), field=name)
        return kind(found)

    def check_tokenizer(self, tokenizer: str, corpus: Path, prefix: str = "") -> None:
        """Check that the model was trained with a corpus's tokenizer.

        Args:
            tokenizer: Name of the corpus's tokenizer.
            corpus: The corpus.
            prefix: Beginning of the message.

        Raises:
            InvalidInput: It was not.
        """
        if (mine := self.config.get("tokenizer", tokenizer)) != tokenizer:
            problem = f"{prefix}its tokenizer is {mine}, that of {corpus} {tokenizer}"
            raise InvalidInput(f"{problem}; train it on a corpus with the same tokenizer", where=str(self.path))

    def trained_on(self, origin: Mapping[str, object]) -> bool:
        """True if the model was trained on a corpus with these inputs and options.

        Args:
            origin: The corpus's ``inputs`` and ``options``.
        """
        theirs = self.metadata.get("corpus") or {}
        return all(theirs.get(key) == value for key, value in origin.items())

    def file(self, name: str) -> Path:
        """Path of a file of the folder.

        Args:
            name: Its name.

        Raises:
            InvalidInput: The model has no such file.
        """
        if name not in self.files:
            raise InvalidInput(f"the model was made without {name}", where=str(self.path))
        return self.path / name

    def array(self, name: str, expected: Expected) -> AnyArray:
        """Open an array, mapped into memory and read-only.

        Args:
            name: The name of its file, without ``.npy``.
            expected: Description of a valid array.

        Raises:
            InvalidInput: It is missing, or not as expected.
        """
        return open_array(self.file(f"{name}.npy"), expected, remake=self.remake)

    @property
    def remake(self) -> str:
        """The command that makes such a model."""
        return f"postil train {self.kind}"

    def words(self) -> list[str]:
        """Read the vocabulary, by id.

        Raises:
            InvalidInput: It is missing, or the file is damaged.
        """
        file = self.file(_WORDS)
        try:
            words = file.read_bytes().decode().split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"cannot be read; {WHOLE}", where=str(file)) from error
        if words.pop():
            raise InvalidInput(f"the last line is truncated; {WHOLE}", where=str(file))
        return words

    def copy(self, folder: FilePath) -> Model:
        """Copy the folder.

        Args:
            folder: A folder that does not exist yet.

        Raises:
            UsageError: It exists, or its parent does not.
            PostilError: The operating system reports an error.
        """
        with ModelWriter(folder, self.kind, self.config, self.metadata) as new:
            for name in self.files:
                shutil.copyfile(self.path / name, new.path(name))
        return Model.open(folder)

    def verify(self) -> None:
        """Read every file and compare it with its checksum.

        Raises:
            InvalidInput: A file was changed.
        """
        for name, recorded in self.files.items():
            self._check_size(name, recorded)
            if checksum(self.path / name) != recorded:
                raise InvalidInput("does not match its checksum", where=str(self.path / name))
        if combined_checksum(self.files) != self.hash:
            raise InvalidInput("its hash does not match the files", where=str(self.path / _METADATA))

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Size and hash of each file of the folder by name, but for ``metadata.json``."""
        files = self.metadata.get("files")
        if not isinstance(files, dict) or not isinstance(self.metadata.get("hash"), str) or _CONFIG not in files:
            raise InvalidInput("does not list the files of the folder", where=str(self.path / _METADATA))
        return files

    def _check_size(self, name: str, recorded: object) -> None:
        file = self.path / checked_name(name)
        if not file.is_file():
            raise InvalidInput(f"missing; {WHOLE}", where=str(file))
        expected = recorded.get("bytes") if isinstance(recorded, dict) else None
        size = file.stat().st_size
        if size != expected:
            raise InvalidInput(f"expected {expected} bytes, got {size}; {WHOLE}", where=str(file))


_LEFT: Final = re.compile(r"\d+-[0-9a-f]{8}\.(part|old)")
"""Name, after that of the folder, of one in the making, and of one that was replaced."""


def training_folder(model: FilePath) -> Path:
    """The folder ``.MODEL.training``, from which an interrupted training of a model resumes.

    Args:
        model: The model folder.
    """
    path = Path(os.path.realpath(model))
    return path.with_name(f".{path.name}.training")


@contextmanager
def changing(folder: FilePath) -> Iterator[Path]:
    """Lock a folder against other changes and trainings, and clear away what a killed change left beside it.

    Args:
        folder: The folder; a model or a corpus.

    Yields:
        Its path, without symbolic links.

    Raises:
        UsageError: It is being changed or trained.
        PostilError: The operating system reports an error.
    """
    target, beside = Path(os.path.realpath(folder)), training_folder(folder)
    with locked(beside, f"{folder}: another change or training of it is running"):
        try:
            for left in sorted(target.parent.glob(f".{glob.escape(target.name)}.*")):
                kind = _LEFT.fullmatch(left.name.removeprefix(f".{target.name}."))
                if kind and kind[1] == "old" and not target.exists():
                    left.rename(target)
                elif kind:
                    shutil.rmtree(left)
            yield target
        except OSError as error:
            raise write_error(str(folder), error) from error
        finally:
            if [each.name for each in beside.iterdir()] == [LOCK]:  # else an interrupted training resumes from it
                shutil.rmtree(beside, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class Change:
    """A changed model, to be written.

    Args:
        model: The model before.
        before: Its arrays by name.
        arrays: The arrays of the changed model; those that are objects of ``before`` are shared.
        words: The vocabulary; None if it stays.
        config: Fields of ``config.json`` that differ.
        contents: Content of further files that differ, by name.
    """

    model: Model
    before: Mapping[str, AnyArray]
    arrays: Mapping[str, AnyArray]
    words: Sequence[str] | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files that are written anew or left out, sorted."""
        names = {f"{name}.npy" for name in {*self.before, *self.arrays} if self._differs(name)}
        words = {"words.txt"} if self.words is not None else set()
        config = {"config.json"} if {**self.model.config, **self.config} != self.model.config else set()
        return tuple(sorted(names | words | config | set(self.contents)))

    def _differs(self, name: str) -> bool:
        return name not in self.arrays or self.arrays[name] is not self.before.get(name)

    def write(self, out: FilePath, metadata: Mapping[str, object], *, replace: bool) -> None:
        """Write the model folder.

        Args:
            out: The folder.
            metadata: Fields of ``metadata.json`` that differ.
            replace: True if the folder is there, and is replaced.

        Raises:
            UsageError: The folder exists without ``replace``, or its parent does not.
            PostilError: The operating system reports an error.
        """
        model = self.model
        kept = {name: value for name, value in model.metadata.items() if name not in ("hash", "files")}
        config = {**model.config, **self.config}
        with ModelWriter(out, model.kind, config, {**kept, **metadata}, replace=replace) as new:
            for name in filter(self._differs, self.arrays):
                new.array(name, self.arrays[name])
            if self.words is not None:
                new.words(self.words)
            for name, content in self.contents.items():
                new.path(name).write_bytes(content)
            new.link(model, without=[f"{name}.npy" for name in self.before if name not in self.arrays])
