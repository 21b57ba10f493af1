"""Grades of labels: the one that was given for it, else the number that it says itself."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from postil.campaigns.imports.files import number_in
from postil.errors import UsageError
from postil.messages import Blank, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from postil.campaigns.imports.submissions import Answer

__all__ = ["given_grades", "grade_in", "grades_of"]

MOST_NAMED: Final = 20
"""Largest number of labels in a message."""
_GRADE: Final = Setting("grade")

_NUMBER: Final = r"([-+−]?\d+(?:\.\d+)?)"
_LEADS: Final = re.compile(rf"{_NUMBER}[.．)）:：](.+)", re.DOTALL)
_ENDS: Final = re.compile(rf"(.*)[(（\[［]\s*{_NUMBER}\s*[)）\]］]", re.DOTALL)
_SHARE: Final = re.compile(rf"{_NUMBER}\s*(?:/|\s(?:out\s+)?of\s)\s*{_NUMBER}", re.IGNORECASE)


def grade_in(label: str, scale: tuple[float, float] | None = None) -> float | None:
    """Grade that a label gives itself; None where it gives none, or might give two.

    The number is the whole label; or it leads, a point, a closing bracket or a colon follows, and then words; or it
    stands alone in brackets at the end; or it is ``N/M``, ``N of M`` or ``N out of M`` with M the top of the scale.

    Args:
        label: The label.
        scale: Lowest and highest grade, if they are given.

    >>> [grade_in(label) for label in ("4", "4. good", "4: good", "Agree (5)", "(4)")]
    [4.0, 4.0, 4.0, 5.0, 4.0]
    >>> [grade_in(label) for label in ("GPT-4", "4,5", "26-50%", "4 stars", "12:30", "4. Agree (5)")]
    [None, None, None, None, None, None]
    >>> grade_in("1 of 5"), grade_in("1 of 5", (1, 5)), grade_in("1 of 5", (1, 7))
    (None, 1.0, None)
    """
    text = label.strip()
    if not isinstance(whole := number_in(text.replace("−", "-")), str):
        return whole
    found: set[float] = set()
    if (leads := _LEADS.fullmatch(text)) and next(filter(str.isalnum, leads[2]), "").isalpha():
        found.add(_number(leads[1]))
    if (ends := _ENDS.fullmatch(text)) and isinstance(number_in(ends[1].strip()), str):
        found.add(_number(ends[2]))
    if scale is not None and (share := _SHARE.fullmatch(text)):
        grade, top = map(_number, share.groups())
        if top == scale[1] and scale[0] <= grade <= top:
            found.add(grade)
    return found.pop() if len(found) == 1 and math.isfinite(min(found)) else None


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def given_grades(pairs: Iterable[str]) -> dict[str | float, float]:
    """Grades of labels by the values of ``--grade``; a label that is a number goes by the number.

    Args:
        pairs: `LABEL=NUMBER` each.

    Raises:
        UsageError: One is not of that form, or a label has two grades.

    >>> given_grades(["good=3", "a=b=1", "4=5"])
    {'good': 3.0, 'a=b': 1.0, 4.0: 5.0}
    """
    found: dict[str | float, float] = {}
    for pair in pairs:
        label, equals, text = pair.rpartition("=")
        number = number_in(text)
        if not equals or isinstance(number, str):
            if not equals:
                raise UsageError("{grade}: expected LABEL=NUMBER, got '{got}'", grade=_GRADE, got=pair)
            raise UsageError("{grade}: expected LABEL=NUMBER, got '{got}' for the number", grade=_GRADE, got=text)
        if found.setdefault(number_in(label.strip()), number) != number:
            raise UsageError("{grade}: the label '{label}' has two grades; give it one", grade=_GRADE, label=label)
    return found


def grades_of(
    question: str, answers: Iterable[Answer], given: Mapping[str | float, float], scale: tuple[float, float] | None
) -> dict[str | float, float]:
    """Grade of each answer to a question: what was given for its label, else the number that the label gives.

    Args:
        question: Name of the question.
        answers: Numbers and labels.
        given: Grades of labels.
        scale: Lowest and highest grade, if they are given.

    Raises:
        UsageError: Labels have no grade; names them.

    >>> grades_of("quality", ["bad", "5. worth reading", 4.0], {"bad": 1.0}, None)
    {'bad': 1.0, '5. worth reading': 5.0, 4.0: 4.0}
    """
    found: dict[str | float, float] = {}
    without: dict[str, None] = {}
    for answer in answers:
        if isinstance(answer, tuple):
            raise UsageError(f"{question}: expected grades, got spans")
        grade = given.get(number_in(answer.strip()) if isinstance(answer, str) else answer)
        if grade is None:
            grade = answer if isinstance(answer, float) else grade_in(answer, scale)
        if grade is None:
            without[str(answer)] = None
        else:
            found[answer] = grade
    if without:
        raise _ungraded(question, sorted(without))
    return found


def _ungraded(question: str, labels: list[str]) -> UsageError:
    """Error of labels without a grade, with a setting for each."""
    named = [_short(label) for label in labels[:MOST_NAMED]]
    grades = [Setting("grade", Blank(_quoted(f"{label}=N")), python=repr((f"{label}=N",))) for label in named]
    scale = Setting("scale", Blank("LOW:HIGH"))
    shares = any(_SHARE.fullmatch(label.strip()) for label in labels)
    return UsageError(
        "{question}: the label {names} has no grade; give it one: {grades}{shares}, or choose questions: {chosen}",
        "{question}: the labels {names}{more} have no grade; give each one: {grades}{shares}, or choose questions: "
        "{chosen}",
        question=question,
        count=len(labels),
        names=Listed([f"'{label}'" for label in named], last=", "),
        more=f" and {len(labels) - MOST_NAMED:,} more" if len(labels) > MOST_NAMED else "",
        grades=Listed(grades, last=" ", between=" "),
        shares=Message(", or for N/M the scale whose top is M: {scale}", scale=scale) if shares else "",
        chosen=Setting("question", Blank("NAME")),
    )


def _short(label: str) -> str:
    return label if len(label) <= 60 else f"{label[:60]}…"


def _quoted(text: str) -> str:
    """A word of a command, in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"
