"""Changes of a model folder that is there: one at a time, and nothing left of one that was killed."""

from __future__ import annotations

import glob
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.records.atomic_file import write_error
from postil.records.lock import locked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.row_files import FilePath

__all__ = ["changing", "training_folder"]

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
    there = beside.exists()
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
            if not there:
                shutil.rmtree(beside, ignore_errors=True)
