"""What people and their browsers send, checked before it is kept."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Final

from postil.annotation.models import Refused
from postil.annotation.spans import union

if TYPE_CHECKING:
    from postil.annotation.models import Span
    from postil.annotation.rubric import Rubric

__all__ = ["LONGEST", "hashed", "key", "marks", "on_scale", "share_or_two", "time_taken", "words"]

LONGEST: Final = 2_000
"""The longest reason, in characters."""

KEY_LENGTH: Final = 100
MOST_MARKS: Final = 1_000


def hashed(token: str) -> str:
    """What is kept of a secret.

    Args:
        token: The secret.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def words(field: str, text: str, most: int = LONGEST) -> str:
    """Words that a person wrote, on one line and without signs that cannot be shown.

    Args:
        field: What they are, for messages.
        text: The words.
        most: The greatest length, in characters.

    Raises:
        Refused: They are too long.

    >>> words("reason", " not English ")
    'not English'
    """
    kept = "".join(character if character.isprintable() else " " for character in text).strip()
    if len(kept) > most:
        raise Refused("invalid", f"{field}: expected at most {most} characters, got {len(kept)}")
    return kept


def key(idempotency_key: str) -> str:
    """Check an idempotency key.

    Args:
        idempotency_key: The key, made by the client.

    Raises:
        Refused: It is empty, too long, or not of printable ASCII characters.
    """
    if not 0 < len(idempotency_key) <= KEY_LENGTH or not idempotency_key.isascii() or not idempotency_key.isprintable():
        raise Refused("invalid", f"idempotency_key: expected 1 to {KEY_LENGTH} printable ASCII characters")
    return idempotency_key


def time_taken(seconds: float | None) -> float | None:
    """How long something took.

    Args:
        seconds: The time; None where it is not known.

    Raises:
        Refused: It is no time.
    """
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise Refused("invalid", f"seconds: expected a number from 0 up, got {seconds}")
    return seconds


def on_scale(rubric: Rubric, grade: object) -> float:
    """A grade that the rubric has.

    Args:
        rubric: The rubric.
        grade: What was sent.

    Raises:
        Refused: It has no such grade.
    """
    if isinstance(grade, bool) or not isinstance(grade, int | float) or grade not in rubric.grades:
        raise Refused("invalid", f"expected a whole number from {rubric.low} to {rubric.high}, got {_shown(grade)}")
    return float(grade)


def share_or_two(grade: object) -> float:
    """The grade of a passage that was marked.

    Args:
        grade: What was sent.

    Raises:
        Refused: It is neither from 0 to 1 nor 2.
    """
    if isinstance(grade, bool) or not isinstance(grade, int | float) or not (0 <= grade <= 1 or grade == 2):
        raise Refused("invalid", f"expected a share from 0 to 1, or 2, got {_shown(grade)}")
    return float(grade)


def marks(text: str, sent: object) -> tuple[Span, ...]:
    """Marks on a text, in order and apart from one another.

    Args:
        text: The text.
        sent: What was sent.

    Raises:
        Refused: It is no list of places within the text.
    """
    if not isinstance(sent, list | tuple):
        raise Refused("invalid", f"expected a list of marks, got {_shown(sent)}")
    if len(sent) > MOST_MARKS:
        raise Refused("invalid", f"expected at most {MOST_MARKS} marks, got {len(sent)}")
    for mark in sent:
        pair = isinstance(mark, list | tuple) and len(mark) == 2 and all(type(place) is int for place in mark)
        if not (pair and 0 <= mark[0] < mark[1] <= len(text)):
            raise Refused(
                "invalid", f"expected marks within the {len(text)} characters of the text, got {_shown(mark)}"
            )
    return union((start, end) for start, end in sent)


def _shown(value: object) -> str:
    return repr(value)[:40]
