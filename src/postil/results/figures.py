"""Figures of results as files, one per picture, named by the result and the picture."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from postil.data.atomic_file import writing
from postil.errors import MissingExtra, UsageError
from postil.results.views import pictures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from postil.results.base import Result

__all__ = ["check_figures", "write_figures"]

_OTHER: Final = re.compile(r"[^\w.+-]+")
"""Characters that names of files do without."""


def check_figures(folder: Path) -> None:
    """Check that figures can be drawn into a folder, before the work is done.

    Args:
        folder: The folder.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The folder is a file.
    """
    if not find_spec("matplotlib"):
        raise MissingExtra("a figure", "report")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; expected a folder for figures")


def write_figures(results: Sequence[Result], folder: Path) -> Iterator[Path]:
    """Write every picture of some results as SVG, as ``KIND-PICTURE.svg`` or ``KIND-NAME-PICTURE.svg``.

    Args:
        results: The results; the name of one that has a name is in those of its files.
        folder: The folder; made where it is missing. Files of the same names are replaced.

    Yields:
        The files.

    Raises:
        PostilError: The operating system reports an error.
    """
    from postil.results.plots.figure import save  # noqa: PLC0415 - matplotlib is behind it

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    taken: Counter[str] = Counter()
    for result in results:
        for picture in pictures_of(result):
            parts = (str(result.__struct_config__.tag), result.name, picture.key)
            stem = "-".join(_OTHER.sub("-", part).strip("-") for part in parts if part)
            taken[stem.casefold()] += 1
            again = taken[stem.casefold()]
            path = folder / f"{stem}{f'-{again}' * (again > 1)}.svg"
            save(picture.draw(), path, picture.label)
            yield path
