"""Text of files in any encoding: UTF-8, what a mark says, what a user names, or what is detected."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from postil.data.explain import file_setting
from postil.data.streams import detected_encoding, shown_encoding, whole_lines
from postil.errors import InvalidInput, UsageError
from postil.messages import Message

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["DecodedText", "codec_of"]

BLOCK: Final = 1 << 15  # larger ones cost a third more, as garbage is collected among more lists
WIDE: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NAME_IT: Final = Message(
    "name the encoding, which Excel in Western Europe and America calls ANSI, with {encoding}; detecting another",
    encoding=file_setting("encoding", "cp1252"),
)
ENCODING: Final = file_setting("encoding", python="encoding=NAME")
BROKEN: Final = re.compile("[\udc80-\udcff]")  # how Python writes down bytes that it could not decode
# First bytes of what is no text table, with advice.
MAGIC: Final = {
    b"PK\x03\x04": "this is a workbook or another zip file; if it is Excel's, name it .xlsx, or LibreOffice's, .ods",
    b"\xd0\xcf\x11\xe0": "this is an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"PAR1": "this is a Parquet file; name it .parquet",
    b"ARROW1": "this is an Arrow file; name it .arrow",
    b"SQLite": "this is an SQLite database; export the table as CSV",
    b"%PDF": "this is a PDF file; save the table as CSV",
}


class DecodedText:
    """The text of a file, decoded as it is read.

    Args:
        stream: The file, open for bytes.
        where: Its name.
        encoding: Its encoding; by default UTF-8, and if it is not, detected.
        detected: Callback for the encoding that was detected, in words that go on after "read".
        table: True for a table, which JSON is none of.

    Raises:
        UsageError: There is no such encoding.
    """

    suspect = False
    """True if there were bytes that could not be decoded."""

    def __init__(
        self,
        stream: io.BufferedReader,
        where: str,
        encoding: str | None,
        detected: Callable[[str], None],
        *,
        table: bool = True,
    ) -> None:
        self.where, self._stream, self._given, self._detected = where, stream, encoding, detected
        self.encoding = codec_of(encoding) if encoding else "utf-8-sig"
        self._table, self._what = table, "a table of text" if table else "text"

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces that end where a line does.

        Raises:
            InvalidInput: It is no text, or its encoding cannot be told.
            UnicodeError: It is not in the encoding that was named.
        """
        head = self._stream.peek(8)[:8]
        read: Callable[[int], bytes] = self._stream.read1
        unsettled = self._given is None
        if self._given is None:
            self._check_magic(head)
            if wide := next((name for mark, name in WIDE.items() if head.startswith(mark)), None):
                self.encoding, unsettled = wide, False
                self._detected(f" as {wide.upper()}")
        codec = self.encoding
        if "\n".encode(codec).removeprefix(codecs.BOM_UTF8) != b"\n":  # a line end is no single byte
            read, codec = _in_utf_8(self._stream.read1, codec), "utf-8"
        for number, block in enumerate(whole_lines(read, self.where, BLOCK)):
            if not number and b"\0" in block:
                problem = Message(
                    "expected {what}, got binary data; if it is text in UTF-16: {encoding}",
                    what=self._what,
                    encoding=file_setting("encoding", "utf-16-le"),
                )
                raise InvalidInput(problem, where=self.where)
            if unsettled and not block.isascii():
                self._settle(block)
                codec, unsettled = self.encoding, False
            try:
                yield block.decode(codec)
            except UnicodeDecodeError:
                self.suspect = True
                yield block.decode(codec, "surrogateescape")
            codec = codec.removesuffix("-sig")  # a mark is one at the beginning alone

    def _check_magic(self, head: bytes) -> None:
        for mark, problem in MAGIC.items():
            if head.startswith(mark):
                raise InvalidInput(problem, where=self.where)
        if self._table and re.match(rb"\s*(\{|\[)\s*[\[{\"]", head):
            problem = "expected a table with the names of its columns in the first row, got JSON"
            raise InvalidInput(f"{problem}; name it .json or .jsonl", where=self.where)
        if re.match(rb"\s*<(!doc|html|\?xml)", head, re.IGNORECASE):
            raise InvalidInput("this is a web page or XML; was the table behind a login?", where=self.where)

    def _settle(self, block: bytes) -> None:
        """Detect the encoding by the first lines that are not ASCII, unless most of them are UTF-8."""
        with suppress(UnicodeDecodeError):
            block.decode()
            return
        if encoding := detected_encoding(block, self.where, self._what, NAME_IT):
            self.encoding = encoding
            self._detected(f" as {shown_encoding(encoding)}")

    def undecoded(self, cells: Sequence[str]) -> str:
        """Describe the first byte that is not of the encoding; empty if all are.

        Args:
            cells: Parts of the text.
        """
        for cell in cells if self.suspect else ():
            if not cell.isascii() and (bad := BROKEN.search(cell)):
                return Message(
                    "byte 0x{byte:02x} is not {encoding}; name the encoding with {setting}",
                    byte=ord(bad[0]) - 0xDC00,
                    encoding=self._given or "utf-8",
                    setting=ENCODING,
                )
        return ""

    def not_encoded(self, error: UnicodeError) -> Message:
        """Describe text that is not in its encoding.

        Args:
            error: The error of decoding it.
        """
        return Message(
            "not {encoding}: {error}; name the encoding with {setting}",
            encoding=self._given or self.encoding,
            error=str(error),
            setting=ENCODING,
        )


def _in_utf_8(read: Callable[[int], bytes], encoding: str) -> Callable[[int], bytes]:
    """Function that reads as another one does, in UTF-8."""
    decode = codecs.getincrementaldecoder(encoding)().decode

    def read_some(size: int) -> bytes:
        while data := read(size):
            if text := decode(data):
                return text.encode()
        return decode(b"", final=True).encode()

    return read_some


def codec_of(encoding: str) -> str:
    """Python's name of an encoding; that of UTF-8 passes over a byte order mark.

    Args:
        encoding: Its name.

    Raises:
        UsageError: There is no such encoding of text.

    >>> codec_of("UTF8"), codec_of("latin-1")
    ('utf-8-sig', 'iso8859-1')
    """
    try:
        name = codecs.lookup(encoding).name
        with suppress(UnicodeDecodeError):
            b"a".decode(name, "surrogateescape")
    except (LookupError, ValueError):  # no encoding, or one of something else than text
        raise UsageError(f"unknown encoding '{encoding}'; for example utf-8, gb18030, latin-1, utf-16") from None
    return "utf-8-sig" if name == "utf-8" else name
