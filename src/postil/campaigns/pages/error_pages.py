"""Errors as HTTP responses: status, title and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException

from postil.campaigns.models import Refused
from postil.errors import MissingExtra, PostilError

if TYPE_CHECKING:
    from postil.web.translations import Page

__all__ = ["HTTPError", "error_content"]

STATUS: Final = {
    "unknown": 404,
    "forbidden": 403,
    "expired": 410,
    "used": 409,
    "stale": 409,
    "left": 403,
    "full": 409,
    "closed": 423,
    "invalid": 422,
}
"""HTTP status by kind of refusal."""


class HTTPError(PostilError):
    """Error that ends a request with an HTTP status.

    Args:
        status: HTTP status.
        title: The problem, in a few words.
        lines: Advice, one sentence each.
    """

    def __init__(self, status: int, title: str, *lines: str) -> None:
        self.status, self.title, self.lines = status, title, lines
        super().__init__(" ".join([f"{title}.", *lines]))


def error_content(error: Exception, words: Page) -> tuple[str, list[str], int]:
    """Title, advice and HTTP status for an error.

    Args:
        error: The error.
        words: Words of pages.
    """
    if isinstance(error, HTTPException):  # of the framework, on what is no page
        error = HTTPError(error.status_code, "This request is not supported")
        if error.status == 404:
            error = HTTPError(404, "There is no such page")
    if isinstance(error, HTTPError):
        return words.gettext(error.title), [words.gettext(line) for line in error.lines], error.status
    if isinstance(error, Refused) and error.kind == "closed":
        message = error.message.facts.get("message")  # of the lead, in any language
        return words.gettext("The campaign is closed"), [f"{message}"] if message else [], STATUS["closed"]
    if isinstance(error, Refused) and error.kind == "stale":
        said = words.gettext(
            "This item was rated in the meantime, perhaps in another window. The earlier rating was kept. "
            "To change it, go back to it."
        )
        return said, [], STATUS["stale"]
    if isinstance(error, Refused):
        return words.sentence(error.message), [], STATUS[error.kind]
    if isinstance(error, MissingExtra):
        return error.words(words), [], 501
    return (
        words.gettext("The campaign cannot be reached"),
        [words.gettext("Try again in a moment; your answers are saved in this browser.")],
        503,
    )
