"""Forms sent by browsers, also with files."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException

from postil.campaigns.models import Refused
from postil.campaigns.pages.error_pages import HTTPError
from postil.messages import Message
from postil.web.security import BODY, LARGEST

if TYPE_CHECKING:
    from starlette.types import Message as Event

__all__ = ["LARGEST_UPLOAD", "Form", "Upload", "form_of", "uploads_of", "wants_json"]

MAX_FIELDS: Final = 30
"""Maximum number of fields of a form."""
LARGEST_UPLOAD: Final = 16 * 1024 * 1024
"""Maximum size of a form with files, in bytes."""

MAX_FILES: Final = 10
"""Maximum number of files of a form."""

CHUNK: Final = 64 * 1024
"""Number of bytes that are parsed at once."""

_FORM: Final = re.compile(r"multipart/form-data; *boundary=(\"?)([0-9A-Za-z'()+_,./:=? -]{1,70})\1", re.IGNORECASE)
"""Content type of a form as browsers send it: a boundary of RFC 2046 and nothing else, such as an encoding."""

FIELDS: Final = {"grade": Message("grade"), "person": Message("person")}
"""Words for fields that people fill in; the others have their names."""


class Form(dict[str, str]):
    """Fields of a form."""

    def number(self, name: str) -> int:
        """Parse a field as an integer.

        Args:
            name: Name of the field.

        Raises:
            Refused: It is no integer.
        """
        return int(self._matching(name, "-?[0-9]{1,9}", Message("an integer")))

    def real(self, name: str) -> float:
        """Parse a field as a decimal number.

        Args:
            name: Name of the field.

        Raises:
            Refused: It is no number.
        """
        return float(self._matching(name, r"-?[0-9]{1,9}(\.[0-9]{1,9})?", Message("a number")))

    def _matching(self, name: str, pattern: str, expected: Message) -> str:
        text = self.get(name, "")
        if not re.fullmatch(pattern, text):
            raise Refused("invalid", "{name}: expected {what}", name=FIELDS.get(name, name), what=expected)
        return text


def form_of(request: Request) -> Form:
    """Parse the body of a request as a form.

    Args:
        request: The request.

    Raises:
        HTTPError: The body is no form.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPError(415, "The request is not a form", "Submit it from the page.")
    try:
        text = request.scope[BODY].decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise HTTPError(400, "The form cannot be parsed", "Reload the page.") from None
    return Form(pairs)


def wants_json(request: Request) -> bool:
    """True if the request comes from a script, which wants JSON.

    Args:
        request: The request.
    """
    return request.headers.get("accept") == "application/json"


class Upload(NamedTuple):
    """A file of a form.

    Args:
        name: Name of the file, without folders and characters that a file name cannot have.
        content: Content of the file.
    """

    name: str
    content: bytes


def uploads_of(request: Request) -> tuple[Form, dict[str, Upload]]:
    """Parse the body of a request as a form with files; for a thread that is not the event loop's.

    Args:
        request: The request.

    Returns:
        The fields, and the files by name of their field; a field without a chosen file is missing.

    Raises:
        HTTPError: The body is no form with files.
    """
    kind = _FORM.fullmatch(request.headers.get("content-type", "").strip())
    if kind is None:
        raise HTTPError(415, "The request is not a form", "Submit it from the page.")
    broken = HTTPError(400, "The form cannot be parsed", "Reload the page.")
    if not request.scope[BODY].endswith((b"--%b--" % kind[2].encode(), b"--%b--\r\n" % kind[2].encode())):
        raise broken  # the library takes what is cut off for a form
    try:
        return asyncio.run(_parsed(request))
    except (MultiPartException, HTTPException):
        raise broken from None


async def _parsed(request: Request) -> tuple[Form, dict[str, Upload]]:
    """Let python-multipart parse a form, part by part, in an event loop of its own."""
    body = memoryview(request.scope[BODY])
    starts = iter(range(0, len(body), CHUNK))

    async def receive() -> Event:
        start = next(starts, len(body))
        end = start + CHUNK
        return {"type": "http.request", "body": bytes(body[start:end]), "more_body": end < len(body)}

    fields, files = Form(), dict[str, Upload]()
    whole = Request(request.scope, receive)
    async with whole.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=LARGEST) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields[name] = value
            elif value.filename:
                files[name] = Upload(_plain(value.filename), await value.read())
    return fields, files


def _plain(name: str) -> str:
    """Last part of a file name, with other characters than letters, digits and a few signs replaced."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.() -]", "_", last).lstrip(". ")[-100:] or "file"
