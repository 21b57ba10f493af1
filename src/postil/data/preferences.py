"""Rows of paired preferences: which of two systems' texts an annotator found better.

A row of a file::

    {"item": "a1", "system_a": "base", "system_b": "new", "annotator": "A1", "preference": "b", "left": "a"}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import msgspec

from postil.data.explain import shown
from postil.data.fields import coerce_ids
from postil.data.rows import Id, Row
from postil.errors import InvalidInput

__all__ = ["CHOICES", "Choice", "PairPreference", "check_choice"]

CHOICES: Final = ("a", "tie", "b")
"""Preferences: for the text of system a, for neither, for that of system b."""


def check_choice(value: object, field: str = "preference") -> None:
    """Refuse what is no preference.

    Args:
        value: The value.
        field: Its field; in any other than ``preference`` there is no tie.

    Raises:
        InvalidInput: It is none of `CHOICES`.
    """
    choices = CHOICES if field == "preference" else ("a", "b")
    if value not in choices:
        raise InvalidInput(f"expected {', '.join(choices[:-1])} or {choices[-1]}, got {shown(value)}", field=field)


def _check_left(value: object) -> None:
    if value is not None:
        check_choice(value, "left")


if TYPE_CHECKING:
    Choice: TypeAlias = Literal["a", "tie", "b"]
    Side: TypeAlias = Literal["a", "b"]
else:
    Choice = Annotated[str, msgspec.Meta(extra={"check": check_choice})]
    Side = Annotated[str | None, msgspec.Meta(extra={"check": _check_left})]


class PairPreference(Row, frozen=True, omit_defaults=True, gc=False):
    """The preference of one annotator for one of two systems' texts.

    Args:
        item: The item that both texts were written for.
        system_a: System of one text.
        system_b: System of the other.
        annotator: The annotator.
        preference: ``a``, ``b``, or ``tie`` where neither is better.
        left: The text that was on the left, ``a`` or ``b``; None where it is not known.

    >>> PairPreference("i1", "base", "base", "ann", "a")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: system_b: expected a system other than system_a, got "base" for both
    """

    item: Id
    system_a: Id
    system_b: Id
    annotator: Id
    preference: Choice
    left: Side | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "item", "system_a", "system_b", "annotator")
        if self.system_a == self.system_b:
            problem = f"expected a system other than system_a, got {shown(self.system_a)} for both"
            raise InvalidInput(problem, field="system_b")
        check_choice(self.preference)
        _check_left(self.left)
