"""Files that are no text: refused by name, so that a person knows what to do; and the text of those that are."""

from __future__ import annotations

import codecs
from types import MappingProxyType
from typing import Final

from postil.errors import InvalidInput

__all__ = ["LONGEST", "decoded", "refuse_binary"]

LONGEST: Final = 1 << 26
"""Largest document in bytes; it is read as a whole."""

_UNPACK: Final = "unpack it first"
_SAVE: Final = "save it as PDF or HTML first"
_PICTURE: Final = "it has no text"
_SIGNATURES: Final = MappingProxyType(
    {
        b"\x1f\x8b": ("a gzip file", _UNPACK),
        b"BZh": ("a bzip2 file", _UNPACK),
        b"\xfd7zXZ\0": ("an xz file", _UNPACK),
        b"\x28\xb5\x2f\xfd": ("a Zstandard file", _UNPACK),
        b"7z\xbc\xaf\x27\x1c": ("a 7z archive", _UNPACK),
        b"Rar!\x1a\x07": ("a RAR archive", _UNPACK),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old file of Word, Excel or PowerPoint", _SAVE),
        b"{\\rtf": ("an RTF file", _SAVE),
        b"%!PS": ("a PostScript file", _SAVE),
        b"AT&TFORM": ("a DjVu file", _SAVE),
        b"\x89PNG": ("a PNG picture", _PICTURE),
        b"\xff\xd8\xff": ("a JPEG picture", _PICTURE),
        b"GIF8": ("a GIF picture", _PICTURE),
        b"II*\0": ("a TIFF picture", _PICTURE),
        b"MM\0*": ("a TIFF picture", _PICTURE),
        b"SQLite format 3\0": ("an SQLite database", _PICTURE),
        b"\x7fELF": ("a program", _PICTURE),
        b"MZ\x90": ("a program", _PICTURE),
        b"ID3": ("a sound", _PICTURE),
        b"OggS": ("a sound", _PICTURE),
    }
)
_ZIP: Final = b"PK\x03\x04"
_INSIDE: Final = MappingProxyType(
    {
        b"application/epub+zip": ("an EPUB book", "save it as HTML or text first"),
        b"application/vnd.oasis.opendocument": ("an OpenDocument file", _SAVE),
        b"word/": ("a Word document", _SAVE),
        b"ppt/": ("a PowerPoint file", _SAVE),
        b"xl/": ("an Excel workbook", _SAVE),
    }
)
_WIDE: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEAD: Final = 8192


def refuse_binary(data: bytes, source: str) -> None:
    r"""Raise where a file is no text.

    Args:
        data: The file.
        source: Its name.

    Raises:
        InvalidInput: It is an archive, a picture, an office document, or other data with null bytes, or too large.

    >>> refuse_binary(b"\x1f\x8b\x08", "page.html.gz")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: page.html.gz: expected text, HTML, Markdown or PDF, got a gzip file; unpack it first
    """
    if len(data) > LONGEST:
        raise InvalidInput(f"expected a document of at most {LONGEST:,} bytes, got {len(data):,}", where=source)
    head = data[:_HEAD]
    got = next((said for signature, said in _SIGNATURES.items() if head.startswith(signature)), None)
    if head.startswith(_ZIP):
        ends = head + data[-_HEAD:]  # names of files are at the end too
        got = next((said for name, said in _INSIDE.items() if name in ends), ("a ZIP archive", _UNPACK))
    if got is None and b"\0" in head and not head.startswith(tuple(mark for mark, _ in _WIDE)):
        got = ("binary data", "give the text that it holds")
    if got is not None:
        raise InvalidInput(f"expected text, HTML, Markdown or PDF, got {got[0]}; {got[1]}", where=source)


def decoded(data: bytes, source: str, charset: str | None = None) -> str:
    r"""Decode a text: UTF-8, UTF-16 with a byte order mark, or the encoding that a server named.

    Args:
        data: The text.
        source: Name of its file.
        charset: The encoding that a server named; None for UTF-8.

    Returns:
        The text, without the byte order mark.

    Raises:
        InvalidInput: It is in another encoding; `line` is the first that is.

    >>> decoded("Tea\ncafé".encode("latin-1"), "menu.txt")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: menu.txt:2: expected UTF-8, got something else; convert the file to UTF-8 first
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise InvalidInput(
                    "expected UTF-16, as its first bytes say, got something else", where=source
                ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if charset is not None and (text := _as_said(data, charset)) is not None:
            return text
        line = data[: error.start].count(b"\n") + 1
        problem = "expected UTF-8, got something else; convert the file to UTF-8 first"
        raise InvalidInput(problem, where=source, line=line) from None


def _as_said(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (LookupError, ValueError):  # a codec that is none of texts is a LookupError
        return None
