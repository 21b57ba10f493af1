"""Pages that a browser saved in one file (MHTML), and mails: the page or the text in the parts of a message."""

from __future__ import annotations

import base64
import quopri
import re
from email import message_from_bytes
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

__all__ = ["MessageText", "message_text"]

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
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{3,2000}", re.IGNORECASE)
_NO_TEXT: Final = "expected a page or a text in the parts of the message, got none"
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
    kind = head.get_content_type()
    if kind == "text/plain" and _encoding(head) not in {"base64", "quoted-printable"}:
        return None
    parts = list(_parts(head, text[end.end() :], DEPTH))
    if not parts:
        raise InvalidInput(_NO_TEXT if _boundary(head) in text[end.end() :] else _CUT, where=source)
    start = str(head.get_param("start") or "").strip("<>")
    part, body = min(
        parts, key=lambda each: (each[0].get_content_type() == "text/plain", not start or start not in _id(each[0]))
    )
    said = (head.get("Snapshot-Content-Location"), part.get("Content-Location"))
    url = next((str(each).strip() for each in said if each and _ADDRESS.fullmatch(str(each).strip())), None)
    is_html = part.get_content_type() != "text/plain"
    return MessageText(_decoded(body, _encoding(part)), is_html, part.get_content_charset(), url)


def _parts(head: Message, body: bytes, depth: int) -> Iterator[tuple[Message, bytes]]:
    """Pages and texts in a message, each with its head, in their order."""
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
