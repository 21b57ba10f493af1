"""Forms with files, sent by browsers as multipart/form-data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.web.error_pages import HTTPError
from postil.web.forms import Form
from postil.web.security import BODY

if TYPE_CHECKING:
    from fastapi import Request

__all__ = ["LARGEST_UPLOAD", "Upload", "uploads_of"]

LARGEST_UPLOAD: Final = 16 * 1024 * 1024
"""Maximum size of a form with files, in bytes."""

MAX_PARTS: Final = 30
"""Maximum number of fields and files of a form."""


class Upload(NamedTuple):
    """A file of a form.

    Args:
        name: Name of the file, without folders and characters that a file name cannot have.
        content: Content of the file.
    """

    name: str
    content: bytes


def uploads_of(request: Request) -> tuple[Form, dict[str, Upload]]:
    """Parse the body of a request as a form with files.

    Args:
        request: The request.

    Returns:
        The fields, and the files by name of their field; a field without a chosen file is missing.

    Raises:
        HTTPError: The body is no form with files.
    """
    kind = re.fullmatch(
        r'multipart/form-data;\s*boundary="?([^"]{1,70})"?', request.headers.get("content-type", "").strip()
    )
    if kind is None:
        raise HTTPError(415, "The request is not a form", "Submit it from the page.")
    _, *parts = (b"\r\n" + request.scope[BODY]).split(b"\r\n--" + kind[1].encode("latin-1"))
    if not parts or not parts[-1].startswith(b"--") or len(parts) > MAX_PARTS:
        raise HTTPError(400, "The form cannot be parsed", "Reload the page.")
    fields, files = Form(), dict[str, Upload]()
    for part in parts[:-1]:
        head, gap, content = part.partition(b"\r\n\r\n")
        said = head.decode("utf-8", "replace")
        name = re.search(r'(?i)content-disposition:[^\r\n]*?[; ]name="([^"]*)"', said)
        if not gap or name is None:
            raise HTTPError(400, "The form cannot be parsed", "Reload the page.")
        file = re.search(r'(?i)content-disposition:[^\r\n]*?filename="([^"]*)"', said)
        if file is None:
            fields[name[1]] = content.decode("utf-8", "replace")
        elif file[1]:
            files[name[1]] = Upload(_plain(file[1]), content)
    return fields, files


def _plain(name: str) -> str:
    """Last part of a file name, with other characters than letters, digits and a few signs replaced."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.() -]", "_", last).lstrip(". ")[-100:] or "file"
