"""Topics of INEX tweet contextualisation; what is known of their files is written in `postil.corpus.formats.inex`."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Final
from xml.parsers import expat

from postil.corpus.lines import text_lines
from postil.errors import InvalidInput
from postil.records.jsonl import read as read_json
from postil.records.row_locations import RowLocations
from postil.records.streams import opened
from postil.text.xml_repair import XmlRepair, xml_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.records.row_files import FilePath

__all__ = ["read_topics"]

TOPICS: Final = ("topic", "tweet")
BLOCK: Final = 1 << 16
LONGEST: Final = 1 << 22
"""Largest topic in characters, and largest piece of its markup in bytes."""
DEEPEST: Final = 1000
TWEETS: Final = ("title", "txt", "text")


def read_topics(path: FilePath, repair: XmlRepair | None = None) -> dict[str, str]:
    r"""Read topics: XML, tweets as JSON Lines, or a line ``id text`` each; the first character says which.

    Args:
        path: The file.
        repair: Counts of what was replaced in XML.

    Returns:
        The text of each topic, by id, in the order of the file.

    Raises:
        InvalidInput: The file is not of the format, or has a topic twice or without an id.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "topics.xml")).write_text(
    ...         '<topics>\n<topic id="2012001"><title>Rain tomorrow</title></topic>\n</topics>'
    ...     )
    ...     read_topics(path)
    {'2012001': 'Rain tomorrow'}
    """
    where = os.fspath(path)
    topics: dict[str, str] = {}
    with opened(path) as stream:
        head = xml_head(stream.peek(64))[:1]
        found: Iterable[tuple[int, str, str]]
        if head == "<":
            found = _Xml(where, repair or XmlRepair()).read(stream)
        elif head in {"{", "["}:
            places = RowLocations(where)
            rows = read_json(stream, dict, places)
            found = [_tweet(row, where, places.line(index)) for index, row in enumerate(rows)]
        else:
            found = _two_columns(path)
        for line, name, text in found:
            if not name:
                raise InvalidInput("expected the id of a topic, got none", where=where, line=line, field="id")
            if name in topics:
                raise InvalidInput(f"topic {name} stands there twice", where=where, line=line, field="id")
            topics[name] = " ".join(text.split())
    if not topics:
        problem = f"expected elements {' or '.join(TOPICS)}, got none"
        raise InvalidInput(problem, where=where)
    return topics


def _two_columns(path: FilePath) -> Iterator[tuple[int, str, str]]:
    for line, text in text_lines(path):
        name, *rest = text.split(None, 1)
        yield line, name.strip('"'), "".join(rest).strip().strip('"')


def _tweet(row: dict[str, object], where: str, line: int) -> tuple[int, str, str]:
    text = row.get("text")
    if not isinstance(text, str):
        raise InvalidInput("expected the text of a tweet", where=where, line=line, field="text")
    return line, str(row.get("id_str") or row.get("id") or ""), text


class _Xml:
    """Topics in XML, with the lines they begin in."""

    def __init__(self, where: str, repair: XmlRepair) -> None:
        self._where, self._repair = where, repair
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._topics: list[tuple[int, str, str]] = []
        self._path: list[str] = []
        self._line, self._id = 0, ""
        self._parts: dict[str, list[str]] = {}
        self._open = self._size = 0

    def read(self, stream: IO[bytes]) -> list[tuple[int, str, str]]:
        try:
            done = 0
            while data := stream.read(BLOCK):
                done += self._parse(self._repair.feed(data))
                if done - self._parser.CurrentByteIndex > LONGEST:
                    raise self._error(f"expected markup of at most {LONGEST:,} bytes, got a piece without end")
            self._parse(self._repair.close(), final=True)
        except expat.ExpatError as error:
            problem = f"not XML at column {error.offset + 1}: {expat.ErrorString(error.code)}; is the file cut off?"
            raise InvalidInput(problem, where=self._where, line=error.lineno + self._repair.lines) from None
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=self._where, line=error.line) from None
        return self._topics

    def _parse(self, data: bytes, *, final: bool = False) -> int:
        self._parser.Parse(data, final)
        return len(data)

    @property
    def _number(self) -> int:
        """Number of the line at hand."""
        return self._parser.CurrentLineNumber + self._repair.lines

    def _error(self, problem: str) -> InvalidInput:
        return InvalidInput(problem, where=self._where, line=self._number)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name.lower())
        if self._path[-1] in TOPICS:
            self._line = self._number
            self._id = attributes.get("id", "")
            self._parts, self._size = {}, 0
            self._open += 1
        if len(self._path) > DEEPEST:
            raise self._error(f"expected elements at most {DEEPEST:,} deep, got deeper ones")

    def _data(self, text: str) -> None:
        if not self._open:
            return
        self._size += len(text)
        if self._size > LONGEST:
            raise self._error(f"expected a topic of at most {LONGEST:,} characters, got a longer one")
        self._parts.setdefault(self._path[-1], []).append(text)

    def _end(self, _: str) -> None:
        name = self._path.pop()
        if name in TOPICS:
            self._open -= 1
            parts = {part: "".join(texts) for part, texts in self._parts.items()}
            inside = (parts.get(part, "") for part in (*TWEETS, name))
            topic = self._id or parts.get("id", "").strip()
            self._topics.append((self._line, topic, next(filter(str.strip, inside), "")))
