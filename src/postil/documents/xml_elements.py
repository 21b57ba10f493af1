"""Elements of large XML files, one at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from postil.data.streams import DAMAGE, damaged, opened
from postil.documents.xml_repair import XmlRepair
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from postil.corpus.importers.import_report import ImportReport
    from postil.data.row_files import FilePath

__all__ = ["Element", "elements"]

BLOCK: Final = 1 << 16
LARGEST: Final = 1 << 26
"""Largest element in characters, and largest tag in bytes."""
DEEPEST: Final = 100
EMPTY: Final = b" \t\r\n" + "\ufffd".encode()
"""White space, and what was replaced, after the outermost element."""


@dataclass(slots=True, eq=False)
class Element:
    """An element of an XML file.

    Args:
        name: Its name, with the prefix as written.
        line: The line in which it begins.
        attributes: Its attributes by name.
        text: The text in it, less that of its children.
        children: The elements in it.
    """

    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def first(self, name: str) -> Element | None:
        """The first child of a name.

        Args:
            name: The name.
        """
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[Element]:
        """The children of a name.

        Args:
            name: The name.
        """
        return (child for child in self.children if child.name == name)

    def said(self, name: str) -> str:
        """The text of the first child of a name, without white space at its ends; empty where there is none.

        Args:
            name: The name.
        """
        child = self.first(name)
        return child.text.strip() if child else ""


def elements(path: FilePath, report: ImportReport, root: str, wanted: AbstractSet[str]) -> Iterator[Element]:
    """The elements of an XML file that have certain names.

    The file is read in blocks, and only the element at hand is in memory. Entities cannot be declared, and nothing is
    read from elsewhere. What XML forbids and exports have nevertheless is replaced, as `XmlRepair` says.

    Args:
        path: The file; it may be compressed.
        report: Counts, also of what was replaced; what is no XML is rejected, after the elements before it.
        root: Name of the outermost element.
        wanted: Names of the elements; those within another wanted one are its children.

    Yields:
        The elements, in the order in which they end.

    Raises:
        InvalidInput: There is no such file.

    >>> import pathlib, tempfile
    >>> from postil.corpus.importers.import_report import ImportReport
    >>> report = ImportReport(reject=lambda problem: print(problem.problem))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "a.xml")).write_text("<a><b>one</b><b>tw")
    ...     [element.text for element in elements(path, report, "a", {"b"})]
    not XML at column 19: no element found; the rest is not read; is the file cut off?
    ['one']
    """
    where = os.fspath(path)
    reader = _Reader(where, root, wanted)
    with opened(path) as stream:
        try:
            while data := stream.read1(BLOCK):  # what can be read of a damaged file, block by block
                reader.parse(data)
                yield from reader.taken()
            reader.parse(b"", final=True)
            yield from reader.taken()
        except DAMAGE as error:
            yield from reader.taken()
            report.cut_off(damaged(error, path, reader.line))
        except InvalidInput as problem:
            yield from reader.taken()
            report.cut_off(problem)
        finally:
            reader.count(report)


class _Reader:
    """Receiver of tags and text; holds the elements that are complete."""

    def __init__(self, where: str, root: str, wanted: AbstractSet[str]) -> None:
        self._where, self._root, self._wanted = where, root, wanted
        self._repair = XmlRepair()
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._entity
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._done: list[Element] = []
        self._depth = self._size = self._read = 0
        self._begun = self._over = False

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber + self._repair.lines

    def count(self, report: ImportReport) -> None:
        report.replaced += self._repair.replaced
        if self._repair.before:
            report.detected.append(f"{self._where}: {len(self._repair.before):,} characters before <?xml left out")
        if self._repair.declared is not None:
            report.detected.append(f"{self._where} declares {self._repair.declared} and is UTF-8; read as UTF-8")

    def parse(self, data: bytes, *, final: bool = False) -> None:
        try:
            data = self._repair.feed(data, final=final)
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=self._where) from None
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            if self._is_over(data):
                return
            what = f"column {error.offset + 1}: {expat.ErrorString(error.code)}"
            problem = f"not XML at {what}; the rest is not read; is the file cut off?"
            raise InvalidInput(problem, where=self._where, line=error.lineno + self._repair.lines) from None
        self._read += len(data)
        if self._read - self._parser.CurrentByteIndex > LARGEST:
            raise self._error(f"expected a tag of at most {LARGEST:,} bytes, got one without end")

    def _is_over(self, data: bytes) -> bool:
        """True if the outermost element has ended, and nothing follows it but what was replaced."""
        if not self._begun or self._depth:
            return False
        place = 0 if self._over else self._parser.ErrorByteIndex - self._read
        self._over = True
        return not data[data.rfind(b">", 0, place) + 1 :].strip(EMPTY)

    def taken(self) -> Iterator[Element]:
        done, self._done = self._done, []
        return iter(done)

    def _error(self, problem: str) -> InvalidInput:
        return InvalidInput(problem, where=self._where, line=self.line)

    def _entity(self, name: str, *_: object) -> None:
        raise self._error(f"declares the entity {name}, which no export does; remove the declaration")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._depth:
            if name != self._root:
                raise self._error(f"expected an export whose outermost element is {self._root}, got {name}")
            self._begun = True
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"expected elements at most {DEEPEST} deep, got deeper ones")
        if not self._open:
            if name not in self._wanted:
                return
            self._size = 0
        self._grow(len(name) + sum(map(len, attributes.values())))
        element = Element(name, self.line, attributes)
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)
        self._texts.append([])

    def _data(self, text: str) -> None:
        if self._open:
            self._grow(len(text))
            self._texts[-1].append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST:
            raise self._error(f"expected an element of at most {LARGEST:,} characters, got a larger one")

    def _end(self, _: str) -> None:
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        element.text = "".join(self._texts.pop())
        if not self._open:
            self._done.append(element)
