"""Objects of JSON files: JSON Lines, or one document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from postil.corpus.importers.import_report import json_lines_of
from postil.data import jsonl
from postil.data.jsonl import BOM
from postil.data.streams import DAMAGE, damaged, opened
from postil.errors import InvalidInput

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from postil.corpus.importers.import_report import ImportReport
    from postil.data.parquet import Record
    from postil.data.row_files import FilePath

__all__ = ["json_objects"]


def json_objects(path: FilePath, report: ImportReport) -> Iterator[tuple[int, Record]]:
    """The objects of JSON Lines, or of one JSON document: an object over several lines, or an array of objects.

    Args:
        path: The file; it may be compressed.
        report: Counts; what is broken is rejected, a document as a whole.

    Yields:
        The line of the object, or its number in an array, from 1, and the object.

    Raises:
        InvalidInput: There is no such file.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        try:
            document = _document(stream, where)
        except DAMAGE as error:
            report.refuse(damaged(error, path, 0))
            return
        except InvalidInput as problem:  # damage of a Zstandard file
            report.refuse(problem)
            return
        if document is None:
            yield from json_lines_of(stream, path, report)
            return
    try:
        found = msgspec.json.decode(document, type=dict[str, object] | list[dict[str, object] | None])
        jsonl.check_keys(document, 1, where)
    except InvalidInput as error:
        report.refuse(error)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        report.refuse(InvalidInput(f"expected an object or an array of them: {error}; is it cut off?", where=where))
    else:
        for number, row in enumerate(found if isinstance(found, list) else [found], start=1):
            if row is None:
                report.nulls += 1
            else:
                yield number, row


def _document(stream: io.BufferedReader, where: str) -> bytes | None:
    """The file, if it is one JSON document, else None; then nothing was read."""
    head = stream.peek(1 << 12).removeprefix(BOM).lstrip()
    if not head.startswith(b"[") and head.partition(b"\n")[0].strip() != b"{":
        return None
    document = stream.read(jsonl.LONGEST_LINE + 1).removeprefix(BOM)
    jsonl.check_length(len(document), where, 1)
    return document
