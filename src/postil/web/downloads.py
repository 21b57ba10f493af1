"""What a lead takes along: the files of `postil annotate export`, one at a time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from postil.annotation.export import TABLE_FORMATS, export_files
from postil.app.annotate import write_rows
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.annotation.store import Store

__all__ = ["KINDS", "file_of", "names_of"]

KINDS: Final = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
"""The kinds of file, with their names in HTTP."""

_NAMES: Final = {
    "ratings": ("every grade, one a row", TABLE_FORMATS),
    "resolved": ("one row a text: mean, what was decided, how many grades", TABLE_FORMATS),
    "judgements": ("for postil correlate --judgements", ("jsonl",)),
    "references": ("for postil score --references", ("jsonl",)),
    "passages": ("for postil passages", ("jsonl",)),
    "codebook": ("what the columns and grades mean", ("json",)),
}


def names_of(what: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What there is to take, what it is for and in which kinds of file.

    Args:
        what: What is graded.

    >>> list(names_of("outputs"))
    ['ratings', 'resolved', 'judgements', 'codebook']
    """
    only = {"references": "comments", "passages": "passages"}
    return {name: about for name, about in _NAMES.items() if only.get(name, what) == what}


def file_of(store: Store, name: str, kind: str) -> bytes | None:
    """A file, as it stands now; None where nothing was graded yet.

    Args:
        store: Where the campaign lives.
        name: One of `names_of`.
        kind: One of its kinds.

    Raises:
        MissingExtra: The package for Parquet is not installed.
    """
    file = f"{name}.{kind}"
    try:
        rows = export_files(store, table_format=kind if kind in TABLE_FORMATS else TABLE_FORMATS[0]).get(file)
    except InvalidInput:
        return None
    if rows is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        write_rows(str(path), rows)
        return path.read_bytes()
