"""XML as it is in the world: made readable for a parser, block by block, and read element by element.

expat stops at the first character that XML forbids and cannot be told to go on, so bytes are mended before it. lxml's
recovery goes on by itself, but does not say what it left out, and after one error it loses every ``&amp;`` too.
"""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, field
from html import escape
from html.entities import html5
from typing import TYPE_CHECKING, Final, Protocol
from xml.parsers import expat

from postil.data.streams import DAMAGE, FilePath, damaged, opened
from postil.documents.raw_files import encoding_named
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet


__all__ = ["Element", "XmlRepair", "XmlReport", "declared_encoding", "elements", "xml_head"]

HEAD: Final = 1024
"""Number of bytes in which a file names its encoding."""
LONGEST: Final = 48
"""Largest number of bytes of a reference or a mark of CDATA, so that it is not cut between two blocks."""
REPLACEMENT: Final = "\ufffd"

_REPLACEMENT: Final = REPLACEMENT.encode()
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
"""First bytes that tell an encoding; no declaration says more."""
_DECLARED: Final = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_ENCODINGS: Final = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|utf-32(?:-[lb]e)?|cp\d+|iso8859-\d+|koi8-[rut]|mac-\w+|gb18030|big5(?:hkscs)?|euc_\w+|"
    r"iso2022_\w+|johab|tis-620|hp-roman8|ptcp154"
)
"""Encodings of texts, as Python names them."""
_SPACE: Final = b" \t\r\n"
_BEFORE: Final = re.compile(rb"\A(?:[ \t\r\n]|\xef\xbb\xbf|\xef\xbf\xbd)+")
"""White space, byte order marks and replaced characters before the declaration."""
_FORBIDDEN: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\r")
_CONTROL: Final = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f]")
_NO_CHARACTERS: Final = ("\ufffe", "\uffff")
_OPENING: Final = b"<![CDATA["
_CLOSING: Final = b"]]>"
_REFERENCE: Final = re.compile(
    rb"&(?!(?:amp|lt|gt|quot|apos);)(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));|([A-Za-z][A-Za-z0-9]{1,31};))?"
)
_TAG: Final = re.compile(rb"<[^<>]+>")
_IN_TAG: Final = re.compile(rb"(\"[^\"<>]*\"|'[^'<>]*')|\xef\xbf\xbd")
_SURROGATES: Final = range(0xD800, 0xE000)
_DIGITS: Final = 12
"""Largest number of digits of a reference that is looked at."""


class XmlRepair:
    r"""XML that a parser can read to its end, in UTF-8.

    Bytes that are not of the encoding, characters that XML forbids and references to them become U+FFFD. Signs & that
    begin no reference are text, and so are references to names that HTML does not know; those that it knows become
    their characters. Text before the declaration is left out. Entities that a file declares are not known here:
    who reads it refuses them.

    Args:
        encoding: The encoding, where a server says it; a byte order mark comes first.

    Raises:
        InvalidInput: The encoding that a file declares is not known.

    >>> repair = XmlRepair()
    >>> repair.feed(b"\n<?xml version='1.0'?><a>R&D caf\xe9 &#x1c;&nbsp;<![CDATA[R&D]]></a>") + repair.close()
    b"<?xml version='1.0'?><a>R&amp;D caf\xef\xbf\xbd \xef\xbf\xbd\xc2\xa0<![CDATA[R&D]]></a>"
    >>> repair.replaced
    2
    """

    def __init__(self, encoding: str | None = None) -> None:
        self.replaced = 0
        """Number of characters that were replaced by U+FFFD."""
        self.declared: str | None = None
        """The encoding that the file declares and that it is not in, since its bytes are UTF-8; None otherwise."""
        self.before = ""
        """Text that stood before the declaration and was left out, such as a warning of PHP."""
        self.lines = 0
        """Number of lines left out before the declaration."""
        self._said = encoding
        self._head: bytes | None = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._label = ""
        self._sure = self._begun = self._inside = False
        self._rest = self._held = b""
        self._seen = 0

    @property
    def inside(self) -> bool:
        """True after a block that ends within CDATA."""
        return self._inside

    def feed(self, data: bytes, *, final: bool = False) -> bytes:
        """Repair a block of a file.

        Args:
            data: The block.
            final: True for the last one.

        Returns:
            What can be given to the parser; the end of the block may come with the next one.
        """
        if self._head is not None:
            data = self._head + data
            if len(data) < HEAD and not final:
                self._head = data
                return b""
            self._head, data = None, self._opened(data)
        data = self._controls(self._decoded(data, final=final))
        if not self._begun:
            start = data.find(b"<?xml ", 0, HEAD)
            if start > 0 and not self.before:  # such as warnings of PHP
                self.before = data[:start].strip(_SPACE + _REPLACEMENT + codecs.BOM_UTF8).decode("utf-8", "replace")
            bare = data[start:] if start > 0 else _BEFORE.sub(b"", data, count=1)
            self.lines += data.count(b"\n", 0, len(data) - len(bare))
            self._begun, data = bool(bare), bare
        return self._references(data, final=final)

    def close(self) -> bytes:
        """End the file.

        Returns:
            What is left of it.
        """
        return self.feed(b"", final=True)

    def _opened(self, data: bytes) -> bytes:
        """Find the encoding by the beginning of the file, and take off a byte order mark."""
        bare = data.lstrip(_SPACE)
        mark, name = next(((mark, name) for mark, name in _BOMS if bare.startswith(mark)), (b"", ""))
        if mark.startswith((b"<", b"\0")):
            mark = b""
        said = self._said if self._said is not None and _known(self._said) else None
        self._label = name or said or declared_encoding(data) or "utf-8"
        name = _known(self._label) or ""
        if not name:
            raise InvalidInput(f"not XML in a known encoding: unknown encoding: {self._label}; save it as UTF-8")
        if not mark and name.startswith(("utf-16", "utf-32")) and b"\0" not in data[:HEAD]:
            name = "utf-8"  # a declaration that can be read byte by byte is of another encoding
        if name != "utf-8":
            self._decoder = codecs.getincrementaldecoder(name)("replace")
            self._sure = name.startswith("utf-")
        if mark:
            self.lines += data.count(b"\n", 0, len(data) - len(bare))
            return bare[len(mark) :]
        return data

    def _decoded(self, data: bytes, *, final: bool) -> bytes:
        """A block in UTF-8; bytes declared to be of an older encoding are UTF-8 where the first beyond ASCII are."""
        data = self._rest + data
        self._rest = b""
        if self._decoder is not None and not self._sure and not data.isascii():
            data = self._judged(data, final=final)
        if self._decoder is not None:
            text = self._decoder.decode(data, final)
            self.replaced += text.count(REPLACEMENT)
            return self._characters(text)
        if data.isascii():
            return data
        try:
            text, used = codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError:
            text, used = codecs.utf_8_decode(data, "replace", final)
            self._rest, data = data[used:], data[:used]
            self.replaced += text.count(REPLACEMENT) - data.count(_REPLACEMENT)
            return self._characters(text)
        self._rest = data[used:]
        return self._characters(text) if any(each in text for each in _NO_CHARACTERS) else data[:used]

    def _judged(self, data: bytes, *, final: bool) -> bytes:
        """Tell UTF-8 by the first bytes beyond ASCII, and keep them where they are too few."""
        try:
            used = codecs.utf_8_decode(data, "strict", final)[1]
        except UnicodeDecodeError:
            self._sure = True
            return data
        if data[:used].isascii():
            self._rest = data[used:]
            return data[:used]
        self._decoder, self.declared = None, self._label
        return data

    def _characters(self, text: str) -> bytes:
        for each in _NO_CHARACTERS:
            self.replaced += text.count(each)
            text = text.replace(each, REPLACEMENT)
        return text.encode("utf-8", "replace")

    def _controls(self, data: bytes) -> bytes:
        if len(data.translate(None, _FORBIDDEN)) < len(data):  # which is faster than a search
            data, number = _CONTROL.subn(_REPLACEMENT, data)
            self.replaced += number
        return data

    def _references(self, data: bytes, *, final: bool) -> bytes:
        """Mend references outside of CDATA; keep an end that may be the beginning of one, or of a mark."""
        data = self._held + data
        end = len(data) if final else _end(data)
        self._held, data = data[end:], data[:end]
        in_tags = self.replaced > self._seen
        self._seen = self.replaced
        if not self._inside and data.rfind(_OPENING) < 0:
            return self._outside(data, in_tags=in_tags)
        pieces: list[bytes] = []
        done = at = 0
        while at < end:
            found = data.find(_CLOSING if self._inside else _OPENING, at)
            stop = end if found < 0 else found
            if not self._inside and (in_tags or data.find(b"&", at, stop) >= 0 or data.find(_CLOSING, at, stop) >= 0):
                pieces += data[done:at], self._outside(data[at:stop], in_tags=in_tags)
                done = stop
            self._inside ^= found >= 0
            at = end if found < 0 else stop + len(_CLOSING)
        return b"".join((*pieces, data[done:])) if pieces else data

    def _outside(self, data: bytes, *, in_tags: bool) -> bytes:
        """Mend what stands outside of CDATA; what was replaced within a tag, but for its attributes, is left out."""
        data = _REFERENCE.sub(self._reference, data)
        if data.rfind(_CLOSING) >= 0:
            data = data.replace(_CLOSING, b"]]&gt;")
        return _TAG.sub(lambda tag: _IN_TAG.sub(rb"\1", tag[0]), data) if in_tags else data

    def _reference(self, found: re.Match[bytes]) -> bytes:
        hexadecimal, decimal, name = found.groups()
        if name is not None:
            text = html5.get(name.decode())
            return b"&amp;" + name if text is None else escape(text).encode()
        digits = (hexadecimal or decimal or b"").lstrip(b"0")
        if hexadecimal is None and decimal is None:
            return b"&amp;"
        number = int(digits or b"0", 16 if hexadecimal else 10) if len(digits) <= _DIGITS else -1
        if _is_character(number):
            return b"&#%d;" % number
        self.replaced += 1
        return _REPLACEMENT


def xml_head(data: bytes) -> str:
    r"""The beginning of a file as text, without a byte order mark and white space, to tell whether it is XML.

    Args:
        data: First bytes of the file.

    >>> xml_head(b"\n<?xml version='1.0'?>")[:5], xml_head("<rss>".encode("utf-16"))
    ('<?xml', '<rss>')
    """
    bare = data.lstrip(_SPACE)
    mark, name = next(((mark, name) for mark, name in _BOMS if bare.startswith(mark)), (b"", "utf-8"))
    text = (bare if mark.startswith((b"<", b"\0")) else bare[len(mark) :]).decode(name, "replace")
    return text.lstrip(" \t\r\n\0\ufeff")


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a file declares; None if it declares none.

    Args:
        data: The file, or its beginning.
    """
    found = _DECLARED.match(data[:HEAD])
    return None if found is None else found[1].decode("ascii")


def _known(label: str) -> str | None:
    return encoding_named(label, _ENCODINGS, "utf-8")


def _is_character(number: int) -> bool:
    """True of a code point that XML allows."""
    if number < 32:
        return number in {9, 10, 13}
    return number <= 0x10FFFF and number not in _SURROGATES and number not in {0xFFFE, 0xFFFF}


def _end(data: bytes) -> int:
    """Index at which a block can be cut: before a reference, or a mark of CDATA, that may go on."""
    start = max(0, len(data) - LONGEST)
    reference, mark = data.rfind(b"&", start), data.rfind(b"<", start)
    end = len(data)
    if reference >= 0 and b";" not in data[reference:]:
        end = reference
    if mark >= 0 and _OPENING.startswith(data[mark:]):
        end = min(end, mark)
    tail = data[-2:]
    return min(end, len(data) - len(tail) + len(tail.rstrip(b"]")))


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


class XmlReport(Protocol):
    """Report of a reader of XML files: counts of what was replaced, and where a file ends early."""

    replaced: int
    """Characters that XML forbids and bytes that are not of a file's encoding, replaced by U+FFFD."""
    detected: list[str]
    """Remarks on the files, one line each."""

    def cut_off(self, problem: InvalidInput) -> None:
        """Refuse the rest of a file.

        Args:
            problem: The problem, with its location.
        """


def elements(path: FilePath, report: XmlReport, root: str | None, wanted: AbstractSet[str]) -> Iterator[Element]:
    """The elements of an XML file that have certain names.

    The file is read in blocks, and only the element at hand is in memory. Entities cannot be declared, and nothing is
    read from elsewhere. What XML forbids and exports have nevertheless is replaced, as `XmlRepair` says.

    Args:
        path: The file; it may be compressed.
        report: Counts, also of what was replaced; what is no XML is rejected, after the elements before it.
        root: Name of the outermost element; None where any will do.
        wanted: Names of the elements; those within another wanted one are its children.

    Yields:
        The elements, in the order in which they end.

    Raises:
        InvalidInput: There is no such file.

    >>> import pathlib, tempfile
    >>> from types import SimpleNamespace
    >>> report = SimpleNamespace(replaced=0, detected=[], cut_off=lambda problem: print(problem.problem))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "a.xml")).write_text("<a><b>one</b><b>tw")
    ...     [element.text for element in elements(path, report, "a", {"b"})]
    not XML at column 19: no element found; the rest is not read; is the file cut off?
    ['one']
    """
    reader = _Reader(os.fspath(path), root, wanted)
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

    def __init__(self, where: str, root: str | None, wanted: AbstractSet[str]) -> None:
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

    def count(self, report: XmlReport) -> None:
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
            if self._root not in {name, None}:
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
