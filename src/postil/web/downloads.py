"""Downloads for leads: the files of `postil annotate export`, one at a time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from postil.annotation.export import TABLE_FORMATS, export_files
from postil.app.annotate import write_rows
from postil.app.inferred_grades import inferred_grades
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.annotation.item_types import ItemRows
    from postil.annotation.store import Store

__all__ = ["KINDS", "file_of", "names_of"]

KINDS: Final = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
"""Media types by suffix."""

_NAMES: Final = {
    "ratings": ("one row per rating", TABLE_FORMATS),
    "resolved": ("one row per item: mean, adjudicated grade, number of ratings", TABLE_FORMATS),
    "annotators": ("one row per annotator: number of ratings, competence", TABLE_FORMATS),
    "judgements": ("for postil correlate --judgements", ("jsonl",)),
    "preferences": ("for postil compare --preferences", ("jsonl",)),
    "references": ("for postil score --references", ("jsonl",)),
    "passages": ("for postil passages", ("jsonl",)),
    "codebook": ("meaning of columns and grades", ("json",)),
}


def names_of(source: ItemRows | None, *, pairs: bool = False) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Names of the files, each with its description and its suffixes.

    Args:
        source: Rows that the items of the campaign come from.
        pairs: True for a campaign of pairs.

    >>> list(names_of("candidates"))
    ['ratings', 'resolved', 'annotators', 'judgements', 'codebook']
    """
    only = {"references": "articles", "passages": "passages", "preferences": source if pairs else None}
    return {name: about for name, about in _NAMES.items() if only.get(name, source) == source}


def file_of(store: Store, name: str, kind: str) -> bytes | None:
    """Make a file with the current ratings; None if there are none yet.

    Args:
        store: Store of the campaign.
        name: One of `names_of`.
        kind: One of its suffixes.

    Raises:
        MissingExtra: The package for Parquet is not installed.
    """
    file = f"{name}.{kind}"
    try:
        rows = export_files(
            store, inferred_grades, table_format=kind if kind in TABLE_FORMATS else TABLE_FORMATS[0]
        ).get(file)
    except InvalidInput:
        return None
    if rows is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        write_rows(str(path), rows)
        return path.read_bytes()
