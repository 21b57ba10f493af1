"""Files of a model folder: their names, their bytes, and how a change of them is seen."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from postil.arrays import WHOLE
from postil.errors import InvalidInput
from postil.records.explain import load_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["WHOLE", "as_json", "plain", "read_json", "seal", "seal_of_all", "sync", "sync_folder"]


def plain(name: str, *taken: str) -> str:
    """A name that stays within the folder.

    Args:
        name: The name; ``/`` parts folders.
        taken: Names that it must not be.

    Raises:
        InvalidInput: It is none.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name or name in (".", *taken) or "\\" in name:
        raise InvalidInput("not the name of a file of a model", where=name)
    return name


def seal(path: Path) -> dict[str, Any]:
    """Size and hash of a file, read piece by piece.

    Args:
        path: The file.
    """
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return {"bytes": path.stat().st_size, "blake2b": digest}


def seal_of_all(files: Mapping[str, object]) -> str:
    """16 hexadecimal digits for the seals of all files.

    Args:
        files: The seal of each file by name.
    """
    return hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=8).hexdigest()


def as_json(value: Mapping[str, Any]) -> bytes:
    """JSON as a file of the folder has it.

    Args:
        value: An object.
    """
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"


def read_json(file: Path) -> dict[str, Any]:
    """The object in a file.

    Args:
        file: The file.

    Raises:
        InvalidInput: It is missing, or holds none.
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
    """Bring a file to disk.

    Args:
        path: The file.
    """
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to disk.

    Args:
        path: The folder.
    """
    if os.name == "posix":  # a new name is on disk only when its folder is
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
