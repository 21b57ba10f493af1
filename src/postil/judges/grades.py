"""Grades of answers: expected values from probabilities of the first token, and numbers read from text."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.records.scale import Scale

__all__ = ["LEAST_MASS", "are_whole", "expected_grade", "grade_tokens", "read_grade"]

LEAST_MASS: Final = 0.5
"""Smallest probability of all grades together of which an expected grade is made."""

MOST_MASS: Final = 1.001
"""Largest sum of probabilities that rounding explains."""

_NUMBER: Final = re.compile(r"(?<![\w.,])[-+−]?\d+(?:\.\d+)?(?![\w%]|[.,]\d)")
_LABEL: Final = re.compile(
    r"(?:(?:the|its|my)\s+)?(?:(?:final|overall)\s+)?(?:grade|score|rating|answer)\s*(?:is|of)?\s*[:=]?\s*",
    re.IGNORECASE,
)
_DRESS: Final = "*_`\"'“”‘’«»()[]{}<> \t\r\n"
"""Characters around a number that mean nothing: quotes, brackets, emphasis."""


def grade_tokens(scale: Scale, most: int) -> dict[str, float]:
    """The grades of a scale by the text of a token that may stand for each.

    Args:
        scale: The scale.
        most: Largest number of tokens whose probabilities an endpoint gives.

    Returns:
        Its whole numbers; none where an end is no whole number, or there are more of them.

    >>> from postil.records.scale import Scale
    >>> grade_tokens(Scale(1, 3), 20), grade_tokens(Scale(0, 100), 20), grade_tokens(Scale(0, 4.5), 20)
    ({'1': 1.0, '2': 2.0, '3': 3.0}, {}, {})
    """
    if not (scale.low.is_integer() and scale.high.is_integer() and scale.high - scale.low < most):
        return {}
    return {str(grade): float(grade) for grade in range(int(scale.low), int(scale.high) + 1)}


def are_whole(tokens: Iterable[tuple[str, float]], grades: Iterable[str]) -> bool:
    """True if tokens show that no grade is the beginning of another: grades of several characters are tokens.

    Args:
        tokens: First tokens with the logarithms of their probabilities.
        grades: Grades by text.

    >>> are_whole([("4", -0.1)], ["4", "5"]), are_whole([("1", -0.1)], ["1", "10"]), are_whole([("10", -3.0)], ["10"])
    (True, False, True)
    """
    said = {token.strip() for token, _ in tokens}
    return all(len(grade) == 1 or grade in said for grade in grades)


def expected_grade(tokens: Sequence[tuple[str, float]], grades: dict[str, float]) -> tuple[float | None, float]:
    r"""The expected grade over the tokens that are grades, and their probability.

    ``E = sum p_t g_t / m`` with ``m = sum p_t`` over the tokens that are a grade once white space around them is
    removed (Liu et al. 2023, G-Eval, normalized by the mass).

    Args:
        tokens: First tokens with the natural logarithms of their probabilities.
        grades: Grades by text; see `grade_tokens`.

    Returns:
        The grade, higher is better, None where m is below `LEAST_MASS` or the grades are not `are_whole`; and m in
        [0, 1]. Numbers that are no logarithms of probabilities count as no mass.

    >>> from math import log
    >>> tokens = [("4", log(0.6)), ("5", log(0.3)), (" 4", log(0.05)), ("The", log(0.05))]
    >>> grade, mass = expected_grade(tokens, {str(grade): float(grade) for grade in range(1, 6)})
    >>> round(grade, 6), round(mass, 6)
    (4.315789, 0.95)
    """
    found = [(grades[token.strip()], math.exp(min(value, 1.0))) for token, value in tokens if token.strip() in grades]
    mass = math.fsum(p for _, p in found)
    if not mass <= MOST_MASS:
        return None, 0.0
    if mass < LEAST_MASS or not are_whole(tokens, grades):
        return None, min(mass, 1.0)
    mean, known = math.fsum(grade * p for grade, p in found) / mass, [grade for grade, _ in found]
    return min(max(mean, min(known)), max(known)), min(mass, 1.0)  # rounding takes no grade off the scale


def read_grade(text: str, scale: Scale, *, cut: bool = False) -> float | None:
    """The grade that an answer states, if it states one and no other number.

    Read are a number that the answer begins with, or that follows a label such as ``Grade:`` or ``The score is``; with
    ``/5`` or ``out of 5`` behind it where 5 is the highest grade; and any words after it. Nothing else is guessed:
    numbers in words, percentages, ranges, numbers within a sentence and numbers outside the scale are no grade.

    Args:
        text: The answer.
        scale: The scale.
        cut: True if the answer was cut off at its largest length, so that a number at its end may lack digits.

    >>> from postil.records.scale import Scale
    >>> [read_grade(text, Scale(1, 5)) for text in ("4", "**4.5**", "Grade: 4/5", "4 out of 5. Well said.")]
    [4.0, 4.5, 4.0, 4.0]
    >>> [read_grade(text, Scale(1, 5)) for text in ("four", "3 or 4", "7", "80%", "I count 4 claims", "4/10", "")]
    [None, None, None, None, None, None, None]
    """
    said = text.strip(_DRESS)
    label = _LABEL.match(said)
    said = said[label.end() :].lstrip(_DRESS) if label else said
    first = _NUMBER.match(said)
    if first is None or (cut and first.end() == len(said)):
        return None
    rest = said[first.end() :].lstrip("*_` ")
    out_of = re.match(rf"(?:/|out of|of)\s*{re.escape(f'{scale.high:g}')}(?![\w%]|[.,]\d)", rest)
    rest = rest[out_of.end() :] if out_of else rest
    grade = float(first[0].replace("−", "-"))
    alone = not re.search(r"\d", rest) and not re.match(r"(?:/|%|out of|of\b|or\b|to\b|percent\b|[-–—]\s*$)", rest)
    return grade if alone and scale.check(grade) is None else None
