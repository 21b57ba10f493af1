"""Artifact folders: what postil builds and fits is a folder of JSON, lines and arrays, with one way to open it.

Every kind of folder has a head, a JSON file with the number of its format and, where several kinds have a head of that
name, its kind. Each part is checked when it is read, and what is wrong is said in the same words for all kinds. They
are written by `postil.data.atomic_file.FolderWriter`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from postil.data.arrays import WHOLE, AnyArray, Expected, open_array
from postil.data.explain import load_json, shown
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from postil.data.streams import FilePath

__all__ = ["Artifact", "ArtifactKind", "as_json", "as_lines", "check_hash", "lines_of", "read_json", "read_object"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArtifactKind:
    """A kind of artifact folder.

    Args:
        name: Its name in messages, such as ``a corpus``.
        head: The file with its format.
        format: Number of its format; a folder of another one is refused.
        remake: The command that makes one.
        tags: Values of ``kind`` in the head; empty for heads without one, None for any text.
    """

    name: str
    head: str
    format: int
    remake: str
    tags: Collection[str] | None = ()

    def open(self, folder: FilePath) -> Artifact:
        """Open a folder of this kind, and read its head.

        Args:
            folder: The folder.

        Raises:
            InvalidInput: There is none, its head is damaged, or it is of another kind or format.
        """
        path = Path(folder)
        head = path / self.head
        if not head.is_file():
            what = "no such folder"
            if path.exists():
                what = f"no {self.head} in this folder" if path.is_dir() else "not a folder"
            raise InvalidInput(f"{what}; expected {self.name} that {self.remake} made", where=str(folder))
        found = Artifact(path, read_object(head), self.remake, self.head)
        tag, version = found.head.get("kind"), found.head.get("format")
        if not isinstance(tag, str) if self.tags is None else tag not in (tuple(self.tags) or (None,)):
            raise InvalidInput(f"expected {self.name}, got {shown(tag)}", where=str(folder))
        if version != self.format:
            newer = isinstance(version, int) and version > self.format
            anew = f"make it anew with {self.remake}, or use the version of postil that made it"
            advice = "it needs a newer version of postil" if newer else anew
            problem = f"expected {self.name} of format {self.format}, got {shown(version)}; {advice}"
            raise InvalidInput(problem, where=str(head))
        return found


@dataclass(frozen=True, eq=False)
class Artifact:
    """An open artifact folder.

    Args:
        path: The folder.
        head: Content of its head.
        remake: The command that makes such a folder.
        headed: The file with the head.
    """

    path: Path
    head: Mapping[str, Any]
    remake: str
    headed: str

    def content(self, name: str) -> bytes:
        """Read a file.

        Args:
            name: Its name.

        Raises:
            InvalidInput: It is missing, or cannot be read.
        """
        return _content(self.path / name)

    def read(self, name: str, kind: type[T]) -> T:
        """Read JSON of some type.

        Args:
            name: The name of the file.
            kind: The type.

        Raises:
            InvalidInput: It is missing, or contains something else.
        """
        found = self.head if name == self.headed else read_json(self.path / name)
        try:
            return msgspec.convert(found, kind)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"{error}; {WHOLE}", where=str(self.path / name)) from error

    def lines(self, name: str, count: int | None = None) -> list[str]:
        """Read words that `as_lines` encoded.

        Args:
            name: The name of the file.
            count: Number of words; None for any.

        Raises:
            InvalidInput: It is missing or damaged, or has another number of words.
        """
        try:
            *words, rest = self.content(name).decode().split("\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"not UTF-8: {error}; {WHOLE}", where=str(self.path / name)) from error
        if rest:
            raise InvalidInput(f"the last line is cut short; {WHOLE}", where=str(self.path / name))
        if count not in {None, len(words)}:
            raise InvalidInput(f"expected {count:,} lines, got {len(words):,}; {WHOLE}", where=str(self.path / name))
        return words

    def array(self, name: str, expected: Expected, *, mapped: bool = True) -> AnyArray:
        """Open an array; see `postil.data.arrays.open_array`.

        Args:
            name: The name of its file, without ``.npy``.
            expected: Description of a valid array.
            mapped: Map it into memory; else read all of it.

        Raises:
            InvalidInput: It is missing, or not as expected.
        """
        return open_array(self.path / f"{name}.npy", expected, remake=self.remake, mapped=mapped)


def check_hash(where: str, said: str, found: str) -> None:
    """See that the content of a folder is still what was written.

    Args:
        where: The file that tells the hash.
        said: The hash that it tells.
        found: The hash of the content.

    Raises:
        InvalidInput: They differ.
    """
    if found != said:
        raise InvalidInput(f"expected content with the hash {said}, got {found}; {WHOLE}", where=where, field="hash")


def as_json(value: object, *, indent: Literal[1, 2] | None = 1, escaped: bool = False) -> bytes:
    """Encode the JSON of a file.

    Args:
        value: The value.
        indent: Number of spaces; None for one line.
        escaped: Escape what is not ASCII: a lone surrogate has no form in UTF-8.

    Raises:
        ValueError: A number is not finite.
    """
    return json.dumps(value, ensure_ascii=escaped, indent=indent, allow_nan=False).encode() + b"\n"


def as_lines(words: Sequence[str], where: str) -> bytes:
    """Encode words, one a line.

    Args:
        words: The words.
        where: The file, for messages.

    Raises:
        InvalidInput: A word does not fit on a line of UTF-8.
    """
    lines = lines_of(words)
    if words and not lines:
        number, word = next((number, word) for number, word in enumerate(words, 1) if not lines_of([word]))
        raise InvalidInput(f"expected a word in UTF-8, on one line, got {word!a}", where=where, line=number)
    return lines


def lines_of(words: Sequence[str]) -> bytes:
    """Encode words, one a line; nothing if one does not fit on a line of UTF-8.

    Args:
        words: The words.
    """
    try:
        lines = "\n".join([*words, ""]).encode()
    except UnicodeEncodeError:
        return b""
    return lines if lines.count(b"\n") == len(words) else b""


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InvalidInput(f"missing; {WHOLE}", where=str(file)) from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}; {WHOLE}", where=str(file)) from error


def read_json(file: Path) -> Any:
    """Read a file of JSON.

    Args:
        file: The file.

    Raises:
        InvalidInput: It is missing or no JSON.
    """
    try:
        return load_json(_content(file))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON, {error}; {WHOLE}", where=str(file)) from error


def read_object(file: Path) -> dict[str, Any]:
    """Read a file with one object of JSON.

    Args:
        file: The file.

    Raises:
        InvalidInput: It is missing or contains something else.
    """
    found = read_json(file)
    if not isinstance(found, dict):
        raise InvalidInput(f"expected a JSON object, got {shown(found)}", where=str(file))
    return found
