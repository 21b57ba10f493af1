"""Files as bytes: what is no text is refused by name, pages saved as messages are opened, and texts are decoded."""

from __future__ import annotations

import base64
import codecs
import quopri
import re
import unicodedata
from email import message_from_bytes
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.streams import detected_encoding, shown_encoding
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

__all__ = [
    "ADDRESS",
    "LONGEST",
    "Decoded",
    "MessageText",
    "decoded",
    "encoding_named",
    "message_text",
    "refuse_binary",
    "wide_text",
]

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
        b"bplist00": ("a web archive of Safari, or another property list", "save it as HTML first"),
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
_READ_AS: Final = MappingProxyType(
    {"iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
)
"""Encodings that are parts of others, and written for these."""
_MOST_LOST: Final = 0.001
"""Largest ratio of characters that an encoding does not have in a text that is taken for it."""
_FEWEST_WHOLE: Final = 10
"""Number of characters of UTF-8 for each byte that is not, from which a text is in it."""
_CONVERT: Final = "convert the file to UTF-8 first"
_NO_TEXT: Final = frozenset({"Cn", "Co", "Cs", "Cc"})
_WHITE: Final = " \t\n\r\f"


class Decoded(NamedTuple):
    """A text that was bytes.

    Args:
        text: The text, without the byte order mark.
        notes: A remark that names the encoding, where nobody said it.
    """

    text: str
    notes: tuple[str, ...] = ()


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
    if got is None and b"\0" in head and not head.startswith(tuple(mark for mark, _ in _WIDE)) and not _wide(head):
        got = ("binary data", "give the text that it holds")
    if got is not None:
        raise InvalidInput(f"expected text, HTML, Markdown or PDF, got {got[0]}; {got[1]}", where=source)


def decoded(data: bytes, source: str, charset: str | None = None) -> Decoded:
    r"""Decode a text: UTF-8, UTF-16, the encoding that a server named, or the one that the text itself tells.

    Args:
        data: The text.
        source: Name of its file.
        charset: The encoding that a server named; None where nobody did.

    Returns:
        The text, with a remark on an encoding that was told by the text alone.

    Raises:
        InvalidInput: Its encoding cannot be told; `line` is the first that is not UTF-8.
        MissingExtra: It is not UTF-8, and what detects encodings is not installed.

    >>> decoded("Tea\ncafé".encode("latin-1"), "menu.txt")
    Decoded(text='Tea\ncafé', notes=('not UTF-8, read as cp1252',))
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                return Decoded(data[len(mark) :].decode(encoding))
            except UnicodeDecodeError:
                raise InvalidInput(
                    "expected UTF-16, as its first bytes say, got something else", where=source
                ) from None
    if (wide := wide_text(data)) is not None:
        return wide
    try:
        return Decoded(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        if charset is not None and (text := _as_said(data, charset)) is not None:
            return Decoded(text)
        if (damaged := _damaged(data)) is not None:
            return damaged
        detected = detected_encoding(data, source, "text", f"{_CONVERT}; detecting its encoding")
        if detected is not None and (found := _in(data, detected)) is not None:
            return found
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInput(f"expected UTF-8, got something else; {_CONVERT}", where=source, line=line) from None


def encoding_named(label: str, known: re.Pattern[str], ascii_as: str) -> str | None:
    """Python's name of the encoding that a file names; None if it is none of those that such files have.

    Args:
        label: The name in the file.
        known: Encodings of such files, as Python names them; others, such as UTF-7, are none of texts.
        ascii_as: The encoding that a file is read as which says that it is ASCII.

    >>> encoding_named("Latin-1", re.compile("cp125."), "utf-8"), encoding_named("utf-7", re.compile("utf-8"), "utf-8")
    ('cp1252', None)
    """
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = ascii_as if name == "ascii" else _READ_AS.get(name, name)
    return name if known.fullmatch(name) else None


def wide_text(data: bytes) -> Decoded | None:
    """A text in UTF-16 without a mark; None where it is none.

    Args:
        data: The text.
    """
    encoding = _wide(data[:_HEAD])
    return _in(data, encoding) if encoding else None


def _damaged(data: bytes) -> Decoded | None:
    """A text in UTF-8 of which a few bytes are not; None where it is none."""
    text = data.decode("utf-8-sig", "replace")
    lost = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    if len(text) - len(text.encode("ascii", "ignore")) < (1 + _FEWEST_WHOLE) * lost:
        return None
    return Decoded(text, (f"characters that utf-8 does not have, replaced by U+FFFD: {lost:,}",))


def _in(data: bytes, encoding: str) -> Decoded | None:
    """A text in an encoding that nobody named; None where more than a few characters are not of it."""
    text = data.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost > 1 + _MOST_LOST * len(text):
        return None
    more = f"; characters that it does not have: {lost:,}" if lost else ""
    return Decoded(text, (f"not UTF-8, read as {shown_encoding(encoding)}{more}",))


def _wide(head: bytes) -> str:
    """The byte order of the beginning of a text in UTF-16 without a mark; empty if it is none."""
    head = head[: len(head) // 2 * 2]
    pairs = sum(map(_is_printable, head[::2], head[1::2]))
    if b"\0" not in head or 4 * pairs > len(head):  # ASCII with null bytes
        return ""
    found = dict[str, int]()
    for encoding in ("utf-16-le", "utf-16-be"):
        text = head.decode(encoding, "replace").removesuffix("\ufffd")
        if not any(unicodedata.category(sign) in _NO_TEXT and sign not in _WHITE for sign in text):
            found[encoding] = sum(map(text.count, _WHITE))
    best = max(found, key=found.__getitem__, default="")
    return best if found.get(best) else ""


def _is_printable(first: int, second: int) -> bool:
    return 0x20 <= first < 0x7F and 0x20 <= second < 0x7F


def _as_said(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (LookupError, ValueError):  # a codec that is none of texts is a LookupError
        return None


HEAD: Final = 1 << 14
"""Largest head of a message, or of one of its parts, in bytes."""
DEPTH: Final = 5
"""Largest depth of parts within parts."""
MOST_PARTS: Final = 1000
"""Number of parts that are looked at; pictures and styles of a page come after it."""

_FIELD: Final = re.compile(rb"[!-9;-~]{1,60}:")
_MIME: Final = re.compile(rb"^MIME-Version:", re.IGNORECASE | re.MULTILINE)
_END: Final = re.compile(rb"\r?\n\r?\n")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")
ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{3,2000}", re.IGNORECASE)
"""An address of a page."""
_NO_PART: Final = "expected a page or a text in the parts of the message, got none"
_CUT: Final = "expected a message whose parts begin with their boundary, got none; it is damaged, or not whole"


class MessageText(NamedTuple):
    """The page or the text of a message.

    Args:
        data: Its bytes, as its encoding has them.
        is_html: True if it is HTML, False if it is plain text.
        charset: Its encoding as the message says; None if it does not.
        url: The address that it was saved from, ``http`` or ``https``; None if there is none.
    """

    data: bytes
    is_html: bool
    charset: str | None
    url: str | None


def message_text(data: bytes, source: str) -> MessageText | None:
    r"""The page of a message, or else its text.

    Args:
        data: The file.
        source: Its name, for errors.

    Returns:
        The page or text; None where the file is no message in MIME, or one of plain text as it stands there.

    Raises:
        InvalidInput: None of its parts is a page or a text.

    >>> saved = b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n"
    >>> message_text(saved + b"Content-Transfer-Encoding: quoted-printable\n\n<p>Caf=C3=A9\n--b--\n", "a.mht").data
    b'<p>Caf\xc3\xa9'
    """
    text = data.lstrip(b"\r\n")
    end = _END.search(text, 0, HEAD)
    if _FIELD.match(text) is None or end is None or _MIME.search(text, 0, end.end()) is None:
        return None
    head = message_from_bytes(text[: end.end()])
    if head.get_content_type() == "text/plain" and _encoding(head) not in {"base64", "quoted-printable"}:
        return None
    parts = list(_parts(head, text[end.end() :], DEPTH))
    if not parts:
        raise InvalidInput(_NO_PART if _boundary(head) in text[end.end() :] else _CUT, where=source)
    start = str(head.get_param("start") or "").strip("<>")
    part, body = min(
        parts, key=lambda each: (each[0].get_content_type() == "text/plain", not start or start not in _id(each[0]))
    )
    said = (head.get("Snapshot-Content-Location"), part.get("Content-Location"))
    url = next((str(each).strip() for each in said if each and ADDRESS.fullmatch(str(each).strip())), None)
    is_html = part.get_content_type() != "text/plain"
    return MessageText(_decoded(body, _encoding(part)), is_html, part.get_content_charset(), url)


def _parts(head: Message, body: bytes, depth: int) -> Iterator[tuple[Message, bytes]]:
    """Pages and texts in a message, each with its head, in their order.

    The standard library reads heads alone: its parser of whole messages goes into parts without a limit.
    """
    kind = head.get_content_type()
    if kind in {"text/html", "application/xhtml+xml", "text/plain"}:
        yield head, body
    boundary = _boundary(head)
    if not kind.startswith("multipart/") or not boundary or depth == 0:
        return
    for each in (b"\n" + body).split(b"\n--" + boundary, MOST_PARTS)[1:]:
        if each.startswith(b"--"):
            return
        part = each.partition(b"\n")[2].removesuffix(b"\r")
        end = _END.search(part, 0, HEAD)
        if end is not None:
            yield from _parts(message_from_bytes(part[: end.end()]), part[end.end() :], depth - 1)


def _boundary(head: Message) -> bytes:
    return (head.get_boundary() or "").encode("utf-8", "replace")


def _encoding(head: Message) -> str:
    return str(head.get("Content-Transfer-Encoding") or "").strip().lower()


def _id(head: Message) -> str:
    return str(head.get("Content-ID") or "")


def _decoded(body: bytes, encoding: str) -> bytes:
    if encoding == "quoted-printable":
        return quopri.decodestring(body)
    if encoding == "base64":
        digits = _NOT_BASE64.sub(b"", body)
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]
        return base64.b64decode(digits + b"=" * (-len(digits) % 4))
    return body
