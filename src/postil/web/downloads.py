"""Downloads for leads: the files of `postil annotate export`, one at a time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from postil.annotation.export import TABLE_FORMATS, export_files
from postil.app.annotate import write_rows
from postil.app.inferred_grades import inferred_grades
from postil.errors import InvalidInput
from postil.messages import Command, Message, Setting

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
    "ratings": (Message("one row per rating"), TABLE_FORMATS),
    "resolved": (Message("one row per item: mean, adjudicated grade, number of ratings"), TABLE_FORMATS),
    "annotators": (Message("one row per annotator: number of ratings, competence"), TABLE_FORMATS),
    "judgements": (Message("for {command}", command=Command("correlate", (), (Setting("judgements"),))), ("jsonl",)),
    "preferences": (Message("for {command}", command=Command("compare", (), (Setting("preferences"),))), ("jsonl",)),
    "references": (Message("for {command}", command=Command("score", (), (Setting("references"),))), ("jsonl",)),
    "passages": (Message("for {command}", command=Command("passages")), ("jsonl",)),
    "codebook": (Message("meaning of columns and grades"), ("json",)),
}


def names_of(source: ItemRows | None, *, pairs: bool = False) -> dict[str, tuple[Message, tuple[str, ...]]]:
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
