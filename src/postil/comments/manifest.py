"""Files of a model folder: names, checksums, JSON and syncing to disk."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from postil.data.arrays import WHOLE
from postil.data.explain import load_json
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["WHOLE", "as_json", "checked_name", "checksum", "combined_checksum", "read_json", "sync", "sync_folder"]


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
