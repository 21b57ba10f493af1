"""What went wrong, in words and as the status of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.annotation.models import Refused
from postil.errors import MissingExtra, PostilError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HTTPError", "told"]

STATUS: Final = {
    "unknown": 404,
    "forbidden": 403,
    "expired": 410,
    "used": 409,
    "stale": 409,
    "left": 403,
    "full": 409,
    "invalid": 422,
}
"""The status of an answer for each kind of refusal."""

STALE: Final = (
    "This text was answered meanwhile, perhaps in another window. The earlier answer stands; nothing was changed. "
    "To change it, go back to it."
)


class HTTPError(PostilError):
    """A request ends here.

    Args:
        status: The status of the answer.
        title: In a few words.
        lines: What to do.
    """

    def __init__(self, status: int, title: str, *lines: str) -> None:
        self.status, self.title, self.lines = status, title, lines
        super().__init__(" ".join([f"{title}.", *lines]))


def told(error: Exception, say: Callable[[str], str]) -> tuple[str, list[str], int]:
    """Title, lines and status of the answer to what went wrong.

    Args:
        error: What went wrong.
        say: Says a sentence in the language of the rubric.
    """
    if isinstance(error, HTTPError):
        return say(error.title), [say(line) for line in error.lines], error.status
    if isinstance(error, Refused):
        english = STALE if error.kind == "stale" else f"{error.problem[:1].upper()}{error.problem[1:]}."
        return say(english), [], STATUS[error.kind]
    if isinstance(error, MissingExtra):
        return str(error), [], 501
    return say("The campaign cannot be reached"), [say("Try again in a moment; what you gave is kept.")], 503
