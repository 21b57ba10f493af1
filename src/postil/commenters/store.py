"""The folder that a trained model is kept in.

| file | content |
|---|---|
| ``config.json`` | ``kind``, such as ``ir-tc``; ``format``; what else is needed to use the model |
| ``made.json`` | how it was made: spec, options, seed, hash of the corpus, versions; size and hash of each file |
| ``NAME.npy`` | arrays, mapped into memory |
| ``weights.safetensors`` | the weights of a network |
| ``words.txt`` | a word a line |

The folder appears whole or not at all, holds no time and no path, and opens on another machine. Opening it looks at the
size of every file; `Model.verify` reads them.
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from postil.arrays import Expected, open_array
from postil.commenters.manifest import WHOLE, as_json, plain, read_json, seal, seal_of_all, sync, sync_folder
from postil.errors import InvalidInput, UsageError
from postil.records.atomic_file import refused
from postil.records.explain import is_finite, shown
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from postil.records.row_files import FilePath

__all__ = ["FORMAT", "Model", "ModelWriter", "check_free"]

T = TypeVar("T", str, int, float)
FORMAT: Final = 1
_CONFIG: Final = "config.json"
_MADE: Final = "made.json"
_WORDS: Final = "words.txt"
_KINDS: Final = {str: "text", int: "an integer", float: "a number"}


def check_free(folder: FilePath) -> None:
    """See that a model can be written to a folder; a training does so before it begins.

    Args:
        folder: The folder.

    Raises:
        UsageError: There is something already, or its parent is not there.
    """
    path = Path(os.path.realpath(folder))
    if path.exists():
        raise UsageError(f"{folder}: there is something already; name another folder, or remove it first")
    if not path.parent.is_dir():
        raise UsageError(f"{folder}: parent folder {path.parent} does not exist")


class ModelWriter:
    """Writes a model folder, which appears when the block ends well.

    Args:
        folder: The folder to make.
        kind: The kind of the model.
        config: What is needed to use it; JSON.
        made: How it was made; JSON. The version of postil is added.

    Raises:
        UsageError: The folder is there, or its parent is not.
        PostilError: The system refuses to write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     with ModelWriter(f"{there}/m", "ir-t", {"similar": 20}, {"seed": 1}) as new:
    ...         new.array("norms", np.ones(3))
    ...         new.words(["rain", "coat"])
    ...     model = Model.open(f"{there}/m", {"ir-t"})
    ...     norms = model.array("norms", Expected("float64", (3,), low=0))
    ...     model.config["similar"], norms.sum().item(), model.words()
    (20, 3.0, ['rain', 'coat'])
    """

    def __init__(self, folder: FilePath, kind: str, config: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        self._target = Path(os.path.realpath(folder))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        self._config = {"kind": kind, "format": FORMAT, **config}
        self._made = {"kind": kind, "format": FORMAT, "postil": VERSION, **made}

    def __enter__(self) -> Self:
        check_free(self._target)
        try:
            self._part.mkdir()
        except OSError as error:
            raise refused(str(self._target), error) from error
        return self

    def path(self, name: str) -> Path:
        """Where to write a file, for what writes its own.

        Args:
            name: The name of the file; ``/`` parts folders, which are made.
        """
        path = self._part / plain(name, _MADE)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write an array.

        Args:
            name: The name of the file, without ``.npy``.
            values: The array, not of objects.
        """
        np.save(self.path(f"{name}.npy"), values, allow_pickle=False)

    def words(self, words: Iterable[str]) -> None:
        """Write the words that the model knows.

        Args:
            words: The words, in the order of their numbers.

        Raises:
            InvalidInput: One does not fit on a line of UTF-8.
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
            raise refused(str(self._target), refusal) from refusal
        finally:
            shutil.rmtree(self._part, ignore_errors=True)

    def _commit(self) -> None:
        self.path(_CONFIG).write_bytes(as_json(self._config))
        found = sorted(path for path in self._part.rglob("*") if path.is_file())
        files = {path.relative_to(self._part).as_posix(): seal(path) for path in found}
        (self._part / _MADE).write_bytes(as_json({**self._made, "hash": seal_of_all(files), "files": files}))
        for path in (*found, self._part / _MADE):
            sync(path)
        sync_folder(self._part)
        self._part.rename(self._target)
        sync_folder(self._target.parent)


@dataclass(frozen=True, eq=False)
class Model:
    """A model folder that was opened.

    Args:
        path: The folder.
        config: What is needed to use the model.
        made: How it was made.
    """

    path: Path
    config: Mapping[str, Any]
    made: Mapping[str, Any]

    @classmethod
    def open(cls, folder: FilePath, kinds: Collection[str] | None = None) -> Model:
        """Open a model folder; its arrays are not read yet.

        Args:
            folder: The folder.
            kinds: The kinds of model that are asked for; by default any.

        Raises:
            InvalidInput: It holds no such model, or files of it are missing or cut short.
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
            raise InvalidInput(f"says no kind and format; expected {expected}", where=str(path / _CONFIG))
        if kinds is not None and kind not in kinds:
            raise InvalidInput(f"expected {expected}, got {kind}", where=str(path))
        if version != FORMAT:
            problem = f"expected format {FORMAT}, got {version}; train it anew, or use the postil that made it"
            raise InvalidInput(problem, where=str(path))
        model = cls(path, config, read_json(path / _MADE))
        for name, sealed in model._files().items():
            model._check_size(name, sealed)
        return model

    @property
    def kind(self) -> str:
        """The kind of the model."""
        return str(self.config["kind"])

    @property
    def hash(self) -> str:
        """16 hexadecimal digits for all that the folder held when it was written, but for ``made.json``."""
        return str(self.made["hash"])

    def setting(self, name: str, kind: type[T]) -> T:
        """Something that ``config.json`` says, without which the model cannot be used.

        Args:
            name: Its name.
            kind: What it is.

        Raises:
            InvalidInput: It is missing, or something else.
        """
        found: Any = self.config.get(name)
        wrong = isinstance(found, bool) or not isinstance(found, (int, float) if kind is float else kind)
        if wrong or (kind is float and not is_finite(found)):
            problem = f"expected {_KINDS[kind]}, got {shown(found)}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.path / _CONFIG), field=name)
        return kind(found)

    def file(self, name: str) -> Path:
        """A file of the folder.

        Args:
            name: Its name.

        Raises:
            InvalidInput: The model has no such file.
        """
        if name not in self._files():
            raise InvalidInput(f"the model was made without {name}", where=str(self.path))
        return self.path / name

    def array(self, name: str, expected: Expected) -> NDArray[Any]:
        """An array, mapped into memory and read-only.

        Args:
            name: The name of its file, without ``.npy``.
            expected: What it has to be.

        Raises:
            InvalidInput: There is none, or another one.
        """
        return open_array(self.file(f"{name}.npy"), expected, remake=self.remake)

    @property
    def remake(self) -> str:
        """The command that makes such a model."""
        return f"postil train {self.kind}"

    def words(self) -> list[str]:
        """The words that the model knows; a word's place is its number.

        Raises:
            InvalidInput: There are none, or the file is damaged.
        """
        file = self.file(_WORDS)
        try:
            words = file.read_bytes().decode().split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"cannot be read; {WHOLE}", where=str(file)) from error
        if words.pop():
            raise InvalidInput(f"the last line is cut; {WHOLE}", where=str(file))
        return words

    def copy(self, folder: FilePath) -> Model:
        """Write the same folder elsewhere; so a commenter that was opened is saved.

        Args:
            folder: A folder that is not there yet.

        Raises:
            UsageError: It is there, or its parent is not.
            PostilError: The system refuses to write.
        """
        with ModelWriter(folder, self.kind, self.config, self.made) as new:
            for name in self._files():
                shutil.copyfile(self.path / name, new.path(name))
        return Model.open(folder)

    def verify(self) -> None:
        """Read every file and see that it is what was written.

        Raises:
            InvalidInput: A file was changed.
        """
        for name, sealed in self._files().items():
            self._check_size(name, sealed)
            if seal(self.path / name) != sealed:
                raise InvalidInput("its bytes are not those that were written", where=str(self.path / name))
        if seal_of_all(self._files()) != self.hash:
            raise InvalidInput("the hash is not that of the files", where=str(self.path / _MADE))

    def _files(self) -> dict[str, dict[str, Any]]:
        files = self.made.get("files")
        if not isinstance(files, dict) or not isinstance(self.made.get("hash"), str) or _CONFIG not in files:
            raise InvalidInput("does not say what the folder holds", where=str(self.path / _MADE))
        return files

    def _check_size(self, name: str, sealed: object) -> None:
        file = self.path / plain(name)
        if not file.is_file():
            raise InvalidInput(f"missing; {WHOLE}", where=str(file))
        expected = sealed.get("bytes") if isinstance(sealed, dict) else None
        size = file.stat().st_size
        if size != expected:
            raise InvalidInput(f"expected {expected} bytes, got {size}; {WHOLE}", where=str(file))
