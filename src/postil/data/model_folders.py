"""Model folders: config, metadata with checksums, arrays, and changes of a folder that is there.

A folder is written atomically, and changed by one process at a time; of a change that was killed nothing is left.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeVar

from postil.data.arrays import WHOLE, AnyArray, Expected
from postil.data.artifacts import Artifact, ArtifactKind, as_json, as_lines, read_object
from postil.data.atomic_file import LOCK, FolderWriter, locked, write_error
from postil.data.explain import is_finite, shown
from postil.errors import InvalidInput
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from postil.data.streams import FilePath

__all__ = [
    "FORMAT",
    "Change",
    "Model",
    "ModelWriter",
    "changing",
    "checksum",
    "combined_checksum",
    "training_folder",
]


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


T = TypeVar("T", str, int, float)
FORMAT: Final = 3
"""Version of the folder's layout and of the names in it; a folder of another version is refused."""

_CONFIG: Final = "config.json"
_METADATA: Final = "metadata.json"
_WORDS: Final = "words.txt"
_KINDS: Final = {str: "text", int: "an integer", float: "a number"}


class ModelWriter(FolderWriter):
    """Writer of a model folder, which is created atomically when the block ends without an exception.

    Args:
        folder: The folder to create.
        kind: The kind of the model.
        config: Settings that using the model needs; JSON.
        metadata: Description of its training; JSON. The version of postil is added.
        replace: True to replace a folder that is there.

    Raises:
        UsageError: The folder exists without ``replace``, or its parent does not.
        PostilError: The operating system reports an error.

    >>> import tempfile
    >>> import numpy as np
    >>> from postil.data.arrays import Expected
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
        super().__init__(folder, replace or None)
        self._config = {"kind": kind, "format": FORMAT, **config}
        self._metadata = {"kind": kind, "format": FORMAT, "postil": VERSION, **metadata}
        self._known: dict[str, dict[str, object]] = {}

    def share(self, model: Model, *, without: Collection[str] = ()) -> None:
        """Take the files of a model that were not written yet.

        No model changes a file in place, so that folders can share files.

        Args:
            model: The model.
            without: Names of files that are not taken.
        """
        for name, recorded in model.files.items():
            if name not in {_CONFIG, *without} and not (self.part / name).exists():
                self.link(name, model.path / name)
                self._known[name] = recorded

    def words(self, words: Sequence[str]) -> None:
        """Write the vocabulary.

        Args:
            words: The words, by id.

        Raises:
            InvalidInput: A word does not fit on a line of UTF-8.
        """
        self.write(_WORDS, as_lines(words, _WORDS))

    def finish(self) -> None:
        """Add the settings, and the checksums of all files."""
        self.write(_CONFIG, as_json(self._config))
        names = [file.relative_to(self.part).as_posix() for file in self.files()]
        files = {name: self._known[name] if name in self.linked else checksum(self.part / name) for name in names}
        self.write(_METADATA, as_json({**self._metadata, "hash": combined_checksum(files), "files": files}))
        super().finish()


@dataclass(frozen=True, eq=False)
class Model(Artifact):
    """An open model folder.

    Args:
        metadata: Description of its training, and the checksums of its files.
    """

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
        name = f"a model {' or '.join(sorted(kinds))}" if kinds else "a model"
        found = ArtifactKind(name, _CONFIG, FORMAT, "postil train", kinds).open(folder)
        metadata = read_object(found.path / _METADATA)
        model = cls(found.path, found.head, f"postil train {found.head['kind']}", _CONFIG, metadata)
        for file, recorded in model.files.items():
            model._check_size(file, recorded)
        return model

    @property
    def config(self) -> Mapping[str, Any]:
        """Settings that using the model needs."""
        return self.head

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

    def array(self, name: str, expected: Expected, *, mapped: bool = True) -> AnyArray:
        """See `Artifact.array`; a model may have been made without it."""
        self.file(f"{name}.npy")
        return super().array(name, expected, mapped=mapped)

    def words(self) -> list[str]:
        """Read the vocabulary, by id.

        Raises:
            InvalidInput: It is missing, or the file is damaged.
        """
        self.file(_WORDS)
        return self.lines(_WORDS)

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

    def hash_without(self, folders: Collection[str], settings: Collection[str]) -> str:
        """The hash that the model would have without some of its parts, such as a filter that was added to it.

        Args:
            folders: Folders within its folder.
            settings: Names of settings.
        """
        files: dict[str, object] = {
            name: file for name, file in self.files.items() if PurePosixPath(name).parts[0] not in folders
        }
        if not self.config.keys().isdisjoint(settings):
            bare = as_json({name: value for name, value in self.config.items() if name not in settings})
            files[_CONFIG] = {"bytes": len(bare), "blake2b": hashlib.blake2b(bare, digest_size=16).hexdigest()}
        return combined_checksum(files)

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Size and hash of each file of the folder by name, but for ``metadata.json``."""
        files = self.metadata.get("files")
        if not isinstance(files, dict) or not isinstance(self.metadata.get("hash"), str) or _CONFIG not in files:
            raise InvalidInput("does not list the files of the folder", where=str(self.path / _METADATA))
        return files

    def _check_size(self, name: str, recorded: object) -> None:
        path, file = PurePosixPath(name), self.path / name
        if path.is_absolute() or ".." in path.parts or str(path) != name or name == "." or "\\" in name:
            raise InvalidInput("not the name of a file of a model", where=name)
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
            new.share(model, without=[f"{name}.npy" for name in self.before if name not in self.arrays])
