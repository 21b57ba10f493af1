"""Collections of texts: ``id<TAB>text`` a line, or JSON Lines, with the names of `IDS` and `TEXTS` for the fields.

The file may be compressed with gzip.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from postil.data.explain import shown
from postil.data.fields import is_integer
from postil.data.jsonl import BOM, text_lines
from postil.data.jsonl import read as read_json
from postil.data.row_locations import RowLocations
from postil.data.streams import opened
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from postil.data.parquet import Record
    from postil.data.row_files import FilePath

__all__ = ["IDS", "TEXTS", "read_collection", "read_texts"]

IDS: Final = ("_id", "id", "docid", "doc_id", "docno", "pid")
"""Field names of the id in a JSON line."""

TEXTS: Final = ("text", "contents", "passage", "doc", "body")
"""Field names of the text in a JSON line."""


def read_collection(path: FilePath) -> Iterator[tuple[int, str, str]]:
    """Read the texts of a collection, one after the other.

    Args:
        path: The file, TSV or JSON Lines; its first character says which.

    Yields:
        The line, counted from 1, the id and the text.

    Raises:
        InvalidInput: A line is not of the format.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        json = stream.peek(64).removeprefix(BOM).lstrip()[:1] in (b"{", b"[")
        if json:
            places = RowLocations(where)
            for index, row in enumerate(read_json(stream, dict, places)):
                line = places.line(index)
                yield line, _id(row, where, line), _text(row, where, line)
    if not json:
        for line, both in text_lines(path):
            name, tab, text = both.partition("\t")
            if not tab or not name.strip():
                raise InvalidInput("expected an id, a tab and a text", where=where, line=line)
            yield line, name.strip(), text


def read_texts(paths: Sequence[FilePath], wanted: AbstractSet[str]) -> tuple[dict[str, str], int]:
    """The texts of some documents.

    Args:
        paths: Collections. Only the texts that are wanted are kept in memory.
        wanted: Ids.

    Returns:
        The texts that were found by id, and how many others the collections have.

    Raises:
        InvalidInput: A line is not of the format, or a wanted id has two different texts.
    """
    texts: dict[str, str] = {}
    others = 0
    for path in paths:
        for line, name, text in read_collection(path):
            if name not in wanted:
                others += 1
            elif texts.setdefault(name, text) != text:
                problem = f"'{name}' stood before with another text"
                raise InvalidInput(problem, where=os.fspath(path), line=line, field="id")
    return texts, others


def _field(row: Record, names: Sequence[str], where: str, line: int) -> tuple[str, object]:
    for name in names:
        if name in row:
            return name, row[name]
    problem = f"no such field, nor {', '.join(names[1:])}; the line has: {', '.join(row)}"
    raise InvalidInput(problem, where=where, line=line, field=names[0])


def _id(row: Record, where: str, line: int) -> str:
    name, value = _field(row, IDS, where, line)
    if not isinstance(value, str) and not is_integer(value):
        raise InvalidInput(f"expected text or an integer, got {shown(value)}", where=where, line=line, field=name)
    return str(value)


def _text(row: Record, where: str, line: int) -> str:
    name, value = _field(row, TEXTS, where, line)
    if not isinstance(value, str):
        raise InvalidInput(f"expected text, got {shown(value)}", where=where, line=line, field=name)
    return value
