"""Figures of results as files, an SVG and a PDF per picture, named by the result and the picture."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.data.atomic_file import writing
from postil.errors import MissingExtra, UsageError
from postil.messages import Setting
from postil.results.formats import FILES, noted
from postil.results.views import pictures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from postil.data.progress import OnMessage
    from postil.results.base import Result

__all__ = ["check_figures", "tell_written", "write_figures"]

_OTHER: Final = re.compile(r"[^\w.+-]+")
"""Characters that names of files do without."""

_PICTURES: Final = (".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".pgf", ".png", ".ps", ".svg", ".tif", ".tiff", ".webp")
_ENDINGS: Final = frozenset((*_PICTURES, *FILES))
"""Endings of names by which a single file is meant."""


def check_figures(folder: Path) -> None:
    """Check that figures can be drawn into a folder, before the work is done.

    Args:
        folder: The folder.

    Raises:
        MissingExtra: matplotlib is not installed.
        UsageError: The folder is a file, or a new one would have the name of a file.
    """
    if not find_spec("matplotlib"):
        raise MissingExtra("a figure", "report")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; expected a folder for figures")
    if folder.suffix.lower() in _ENDINGS and not folder.exists():
        raise UsageError(
            "{figures}: the name of a file; expected a folder, into which every figure is written as SVG and as PDF: "
            "{folder}",
            figures=Setting("figures", str(folder)),
            folder=Setting("figures", str(folder.with_suffix(""))),
        )


def tell_written(paths: Iterable[Path], on_message: OnMessage) -> None:
    """Tell which figures are written, as they are, and what they lack: letters that no installed font has.

    Args:
        paths: The files, which are written on the way.
        on_message: Callback for status messages.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for path in paths:
            on_message(f"written: {path}")
    for line in dict.fromkeys(noted(str(each.message) for each in caught)):
        on_message(line)


def write_figures(
    results: Sequence[Result], folder: Path, names: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Path]:
    """Write every picture of some results, as ``KIND-PICTURE`` or ``KIND-NAME-PICTURE``, in SVG and PDF.

    Args:
        results: The results; the name of one that has a name is in those of its files.
        folder: The folder; made where it is missing. Files of the same names are replaced.
        names: Names of metrics in the figures, by their specs.

    Yields:
        The files.

    Raises:
        PostilError: The operating system reports an error.
    """
    from postil.results.plots.figure import names_of_metrics, save_vector  # noqa: PLC0415 - matplotlib is behind it

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    taken: Counter[str] = Counter()
    for result in results:
        for picture in pictures_of(result):
            parts = (str(result.__struct_config__.tag), result.name, picture.key)
            stem = "-".join(_OTHER.sub("-", part).strip("-") for part in parts if part)
            taken[stem.casefold()] += 1
            again = taken[stem.casefold()]
            with names_of_metrics(names):
                drawn = picture.draw()
            yield from save_vector(drawn, folder / f"{stem}{f'-{again}' * (again > 1)}", picture.label)
