"""Validation of what people and their browsers send, marks in texts included."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Final

from postil.campaigns.models import Refused, Span
from postil.messages import Listed, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.campaigns.rubric import Aspect, Rubric

__all__ = [
    "annotated_share",
    "hash_token",
    "key",
    "on_scale",
    "on_scales",
    "passage_grade",
    "seconds_shown",
    "share_or_two",
    "spans",
    "union",
    "words",
]


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Merge spans into sorted, disjoint ones that cover the same characters.

    Args:
        spans: Start and exclusive end of each; empty ones are ignored.

    >>> union([(4, 9), (0, 2), (8, 12), (2, 3)])
    ((0, 3), (4, 12))
    """
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def annotated_share(text: str, spans: Iterable[Span]) -> float:
    """Compute the share of a text that is annotated, from 0 to 1; white space is not counted.

    Args:
        text: The text.
        spans: Span annotations.

    >>> annotated_share("ab cd", [(0, 2)])
    0.5
    """
    length = sum(not character.isspace() for character in text)
    marked = sum(not character.isspace() for start, end in union(spans) for character in text[start:end])
    return marked / length if length else 0.0


def passage_grade(text: str, spans: Sequence[Sequence[Span]]) -> float:
    """Compute the grade of a passage annotated by several people.

    It is the length of the union of all spans over the length of the passage, and 2 if at least two people annotated it
    and each of them the whole: the labels of INEX Tweet Contextualization 2012, ``[0, 1]`` and 2. Lengths are in
    characters, without white space.

    Args:
        text: The passage.
        spans: Span annotations of each person.

    >>> passage_grade("ab cd", [[(0, 2)], [(1, 4)]])
    0.75
    >>> passage_grade("ab cd", [[(0, 5)], [(0, 2), (3, 5)]])
    2.0
    """
    if len(spans) > 1 and all(annotated_share(text, of_one) == 1 for of_one in spans):
        return 2.0
    return annotated_share(text, [span for of_one in spans for span in of_one])


MAX_LENGTH: Final = 2_000
"""Maximum length of a reason, in characters."""

KEY_LENGTH: Final = 100
MAX_SPANS: Final = 1_000


def hash_token(token: str) -> str:
    """Hash a token, as only hashes are stored.

    Args:
        token: The token; 256 random bits, so that neither salt nor a slow hash is needed.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def words(field: Message, text: str, max_length: int = MAX_LENGTH) -> str:
    """Clean a short text: one line without unprintable characters.

    Args:
        field: The field, in words.
        text: The text.
        max_length: Maximum length, in characters.

    Raises:
        Refused: The text is too long.

    >>> words(Message("reason"), " not English ")
    'not English'
    """
    kept = "".join(character if character.isprintable() else " " for character in text).strip()
    if len(kept) > max_length:
        raise Refused(
            "invalid", "{name}: expected at most {most} characters, got {n}", name=field, most=max_length, n=len(kept)
        )
    return kept


def key(idempotency_key: str) -> str:
    """Check an idempotency key.

    Args:
        idempotency_key: The key, made by the client.

    Raises:
        Refused: It is empty, too long, or not of printable ASCII characters.
    """
    if not 0 < len(idempotency_key) <= KEY_LENGTH or not idempotency_key.isascii() or not idempotency_key.isprintable():
        raise Refused("invalid", "idempotency_key: expected 1 to {n} printable ASCII characters", n=KEY_LENGTH)
    return idempotency_key


def seconds_shown(seconds: float | None) -> float | None:
    """Check the time that an item was shown.

    Args:
        seconds: The time, in seconds; None if unknown.

    Raises:
        Refused: It is negative or not finite.
    """
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise Refused("invalid", "seconds: expected a number from 0 up, got {got}", got=seconds)
    return seconds


def on_scale(rubric: Rubric | Aspect, grade: object) -> float:
    """Check a grade against a scale.

    Args:
        rubric: The rubric, or one of its aspects.
        grade: The submitted value.

    Raises:
        Refused: The rubric has no such grade.
    """
    if isinstance(grade, bool) or not isinstance(grade, int | float) or grade not in rubric.grades:
        low, high, got = rubric.low, rubric.high, _shown(grade)
        if len(rubric.grades) < high - low + 1:
            raise Refused("invalid", "expected 1 or 3, got {got}", got=got)
        raise Refused("invalid", "expected a whole number from {low} to {high}, got {got}", low=low, high=high, got=got)
    return float(grade)


def on_scales(rubric: Rubric, grades: object) -> tuple[float, ...]:
    """Check the grades of several aspects.

    Args:
        rubric: The rubric.
        grades: The submitted value: one grade per aspect, in their order.

    Raises:
        Refused: A grade is missing, or an aspect has no such grade; names the aspect.
    """
    if not isinstance(grades, list | tuple) or len(grades) != len(rubric.aspects):
        names = Listed([aspect.name for aspect in rubric.aspects], last=", ")
        raise Refused("invalid", "expected one grade for each of {names}, got {got}", names=names, got=_shown(grades))
    found = []
    for aspect, grade in zip(rubric.aspects, grades, strict=True):
        if grade is None:
            raise Refused("invalid", "{name}: this aspect has no grade yet", name=aspect.name)
        try:
            found.append(on_scale(aspect, grade))
        except Refused as error:
            raise Refused("invalid", "{name}: {problem}", name=aspect.name, problem=error.message) from None
    return tuple(found)


def share_or_two(grade: object) -> float:
    """Check the grade of a passage.

    Args:
        grade: The submitted value.

    Raises:
        Refused: It is neither from 0 to 1 nor 2.
    """
    if isinstance(grade, bool) or not isinstance(grade, int | float) or not (0 <= grade <= 1 or grade == 2):
        raise Refused("invalid", "expected a share from 0 to 1, or 2, got {got}", got=_shown(grade))
    return float(grade)


def spans(text: str, submitted: object) -> tuple[Span, ...]:
    """Check span annotations and merge them.

    Args:
        text: The text.
        submitted: The submitted value.

    Raises:
        Refused: It is no list of spans within the text.
    """
    if not isinstance(submitted, list | tuple):
        raise Refused("invalid", "expected a list of spans, got {got}", got=_shown(submitted))
    if len(submitted) > MAX_SPANS:
        raise Refused("invalid", "expected at most {most} spans, got {n}", most=MAX_SPANS, n=len(submitted))
    for span in submitted:
        pair = isinstance(span, list | tuple) and len(span) == 2 and all(type(offset) is int for offset in span)
        if not (pair and 0 <= span[0] < span[1] <= len(text)):
            raise Refused(
                "invalid",
                "expected spans within the {n} characters of the text, got {got}",
                n=len(text),
                got=_shown(span),
            )
    return union((start, end) for start, end in submitted)


def _shown(value: object) -> str:
    return repr(value)[:40]
