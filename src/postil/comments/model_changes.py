"""Changes of a model folder that is there: one at a time, and with nothing left of one that was killed."""

from __future__ import annotations

import glob
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.comments.store import ModelWriter
from postil.data.atomic_file import write_error
from postil.data.lock import LOCK, locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.comments.store import Model
    from postil.data.arrays import AnyArray
    from postil.data.row_files import FilePath

__all__ = ["Change", "changing", "training_folder"]

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
