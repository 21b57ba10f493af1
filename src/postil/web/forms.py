"""What a browser sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from postil.annotation.models import Refused
from postil.web.error_pages import HTTPError
from postil.web.security import BODY

if TYPE_CHECKING:
    from fastapi import Request

__all__ = ["Form", "form_of", "wants_json"]

FIELDS: Final = 30
"""No form has more fields."""


class Form(dict[str, str]):
    """The fields of a form."""

    def number(self, name: str) -> int:
        """A whole number.

        Args:
            name: The field.

        Raises:
            Refused: It is none.
        """
        return int(self._matching(name, "-?[0-9]{1,9}", "a whole number"))

    def real(self, name: str) -> float:
        """A number.

        Args:
            name: The field.

        Raises:
            Refused: It is none.
        """
        return float(self._matching(name, r"-?[0-9]{1,9}(\.[0-9]{1,9})?", "a number"))

    def _matching(self, name: str, pattern: str, expected: str) -> str:
        text = self.get(name, "")
        if not re.fullmatch(pattern, text):
            raise Refused("invalid", f"{name}: expected {expected}")
        return text


def form_of(request: Request) -> Form:
    """The fields that were sent.

    Args:
        request: The request.

    Raises:
        HTTPError: It is no form.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPError(415, "The request is no form", "Send it from the page.")
    try:
        text = request.scope[BODY].decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError:
        raise HTTPError(400, "The form cannot be read", "Load the page again.") from None
    return Form(pairs)


def wants_json(request: Request) -> bool:
    """Whether a script asks, rather than a person.

    Args:
        request: The request.
    """
    return request.headers.get("accept") == "application/json"
