"""Forms sent by browsers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from postil.annotation.models import Refused
from postil.messages import Message
from postil.web.error_pages import HTTPError
from postil.web.security import BODY

if TYPE_CHECKING:
    from fastapi import Request

__all__ = ["Form", "form_of", "wants_json"]

MAX_FIELDS: Final = 30
"""Maximum number of fields of a form."""
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
