"""Objects of JSON files, Lines or one document, with the counts of an import and the handling of what is broken."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import msgspec

from postil.data import jsonl
from postil.data.row_locations import RowLocations
from postil.data.streams import (
    BOM,
    DAMAGE,
    LONGEST_LINE,
    FilePath,
    check_length,
    damaged,
    numbered_lines,
    opened,
    raised,
)
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.corpus.importers.moderation import Decisions
    from postil.data.parquet import Record

__all__ = [
    "ImportReport",
    "Place",
    "json_lines",
    "json_lines_of",
    "json_object",
    "json_objects",
    "stem",
]

Place = tuple[str, int]
"""A file and a line of it, counted from 1."""

NULL: Final = b"null"
_DECODE: Final = msgspec.json.Decoder(dict).decode


@dataclass(slots=True, eq=False)
class ImportReport:
    """Counts of an import; a reader adds to it as its articles are taken.

    Args:
        reject: Callback for what is broken: a line, or a single comment in a line. By default it is raised; if the
            callback returns, the reader continues without it.
        articles: Number of articles that were read.
        comments: Number of their comments.
        bare: Articles without comments.
        untitled: Articles whose title is empty.
        without_content: Articles without content.
        by_url: Articles without an id, named by their url.
        by_place: Articles without an id or url, named by file and line.
        textless: Comments without text; they are left out.
        negative: Comments with more votes against them than for them.
        settled: Votes that were whole numbers written otherwise: as text, or with a point.
        graded: Comments with a grade.
        low: The lowest grade.
        high: The highest grade.
        orphans: Comments of articles that a table of articles does not have; they are left out.
        unused: Contents that belong to no article.
        withheld: Comments that are deleted, spam, not approved or no comments of people; they are left out.
        unpublished: Articles that are deleted or not published, and entries of other kinds; they are left out.
        absent: Comments that an export names and does not hold.
        nulls: Objects that are null, as where an export does not have what was asked for; they are left out.
        replaced: Characters that XML forbids and bytes that are not of a file's encoding, replaced by U+FFFD.
        unfinished: Problems that ended the reading of a file; what stands before them was read.
        rejected: Number of broken lines and comments.
        unread: Fields of articles that are not read.
        unread_of_comments: The same of comments.
        detected: Guessed encodings and delimiters of tables, one line each.
        decisions: Takes the decisions of moderators that the files hold; without it they are not read.
    """

    reject: Callable[[InvalidInput], None] = raised
    articles: int = 0
    comments: int = 0
    bare: int = 0
    untitled: int = 0
    without_content: int = 0
    by_url: int = 0
    by_place: int = 0
    textless: int = 0
    negative: int = 0
    settled: int = 0
    graded: int = 0
    low: float = float("inf")
    high: float = float("-inf")
    orphans: int = 0
    unused: int = 0
    withheld: int = 0
    unpublished: int = 0
    absent: int = 0
    nulls: int = 0
    replaced: int = 0
    unfinished: list[InvalidInput] = field(default_factory=list)
    rejected: int = 0
    unread: set[str] = field(default_factory=set)
    unread_of_comments: set[str] = field(default_factory=set)
    detected: list[str] = field(default_factory=list)
    decisions: Decisions | None = None

    def refuse(self, problem: InvalidInput) -> None:
        """Count a broken line or comment, and hand it to `reject`.

        Args:
            problem: The problem, with its location.

        Raises:
            InvalidInput: The problem, unless `reject` returns.
        """
        self.rejected += 1
        self.reject(problem)

    def refuse_at(self, error: InvalidInput, where: str, line: int) -> None:
        """Refuse what is broken in an object that stands somewhere.

        Args:
            error: The problem; one that has its location already was handed to `reject`, which has stopped.
            where: File of the object.
            line: Its line.

        Raises:
            InvalidInput: The problem, unless `reject` returns.
        """
        if error.where:
            raise error
        self.refuse(InvalidInput(error.problem, where=where, line=line, field=error.field))

    def cut_off(self, problem: InvalidInput) -> None:
        """Refuse the rest of a file.

        Args:
            problem: The problem, with its location.

        Raises:
            InvalidInput: The problem, unless `reject` returns.
        """
        self.refuse(problem)
        self.unfinished.append(problem)


def json_lines(path: FilePath, report: ImportReport) -> Iterator[tuple[int, Record]]:
    r"""The objects of a JSON Lines file.

    Args:
        path: The file; it may be compressed with gzip, whatever its name.
        report: Counts; broken lines are rejected.

    Yields:
        The number of the line, counted from 1, and the object.

    Raises:
        InvalidInput: There is no such file.

    >>> import pathlib, tempfile
    >>> report = ImportReport(reject=print)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "a.json")).write_text('{"a": 1}\n{"a"\n')
    ...     list(json_lines(path, report)), report.rejected  # doctest: +ELLIPSIS
    /...a.json:2: the JSON ends too early; is the line cut off?
    ([(1, {'a': 1})], 1)
    """
    with opened(path) as stream:
        yield from json_lines_of(stream, path, report)


def json_lines_of(stream: IO[bytes], path: FilePath, report: ImportReport) -> Iterator[tuple[int, Record]]:
    """The objects of a JSON Lines file that is open; the rest as of `json_lines`.

    Args:
        stream: The file, decompressed.
        path: Its name.
        report: Counts; broken lines are rejected.
    """
    where = os.fspath(path)
    for number, line in numbered_lines(stream, where, report.refuse):
        if line.strip(b" \t\r\n,") == NULL:
            report.nulls += 1
            continue
        try:
            row = json_object(line, where, number)
        except InvalidInput as problem:
            report.refuse(problem)
            continue
        yield number, row


def json_object(line: bytes, where: str, number: int) -> Record:
    """The object in a line, with a byte order mark or without.

    Args:
        line: The line.
        where: Its file.
        number: Its number.

    Raises:
        InvalidInput: It is not UTF-8, not JSON or not an object.
    """
    try:
        row: Record = _DECODE(line)
        jsonl.check_keys(line, number, where)
    except jsonl.FAILURES:
        try:
            return next(jsonl.read(io.BytesIO(line), dict, RowLocations(where)))
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=where, line=number, field=error.field) from None
    return row


def stem(path: FilePath) -> str:
    """Name of a file without its folder and extensions.

    Args:
        path: The file.

    >>> stem("in/data.train.json.gz")
    'data.train'
    """
    return Path(Path(path).name.removesuffix(".gz")).stem


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
        except (InvalidInput, *DAMAGE) as error:  # a damaged Zstandard file is an InvalidInput
            report.refuse(error if isinstance(error, InvalidInput) else damaged(error, path, 0))
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
    document = stream.read(LONGEST_LINE + 1).removeprefix(BOM)
    check_length(len(document), where, 1)
    return document
