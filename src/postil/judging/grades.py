"""Grades of answers: expected values from probabilities of the first token, and numbers read from text."""

from __future__ import annotations

import math
import re
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.data.scale import Scale

__all__ = ["are_whole", "expected_grade", "grade_tokens", "read_grade"]

LEAST_MASS: Final = 0.5
"""Smallest probability of all grades together of which an expected grade is made."""

MOST_MASS: Final = 1.001
"""Largest sum of probabilities that rounding explains."""

_DIGITS: Final = r"[-+−]?\d+(?:\.\d+)?"
_UNITS: Final = "分點点颗星점"
_ENDS: Final = rf"(?!\w(?<![{_UNITS}])|%|[.,]\d)"
"""The end of a whole number: no letter but that of a unit behind it, no decimals."""
_NUMBER: Final = re.compile(rf"(?<![\w.,]){_DIGITS}{_ENDS}")
_UNIT: Final = re.compile(rf"\s*(?:(?:points?|pts|stars?)(?!\w)|分(?!之)|[{_UNITS[1:]}]星?)", re.IGNORECASE)

_NAMES: Final = (
    r"grade|score|rating|评分|得分|分数|打分|评级|等级|評分|得點|分數|評価|評点|スコア|点数|점수|평점|bewertung|punktzahl"
    r"|puntuación|calificación|pontuação|оценка"
)
"""Names of a grade; no word that also stands before other numbers, such as *note*."""
_LABEL: Final = re.compile(
    rf"(?:(?:the|its|my)\s+)?(?:(?:final|overall|最终|综合|总体)\s*)?(?:{_NAMES}|answer)"
    r"(?P<scale>\s*[(\[][^()\[\]]{1,40}[)\]])?[*_`]{0,3}\s*(?:is|of|为|是)?\s*[:=]?\s*",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    rf"(?:{_NAMES}|answer)[*_`\s】]{{0,9}}(?:[:=]|(?:is|为|是|】)[:=\s]{{0,9}})[*_`\s]{{0,9}}(?P<value>{_DIGITS})",
    re.IGNORECASE,
)
_LINE: Final = re.compile(
    r"^[-•#*_`【\[ \t]{0,9}(?:(?:so|thus|hence|therefore|in conclusion|因此|所以|综上(?:所述)?|总之)\b[, \t]{0,9})?"
    + _LABEL.pattern,
    re.IGNORECASE | re.MULTILINE,
)
_WHY: Final = re.compile(
    r"\n[ \t*_`#]{0,9}(?:reason(?:ing|s)?|why|explanation|justification|rationale|理由|原因|解释|说明)[*_`]{0,3}\s?:",
    re.IGNORECASE,
)
"""The line with which the reasons for a grade begin."""
_OTHER: Final = re.compile(
    rf"scale (?:of|from) ({_DIGITS}\s{{0,3}}(?:[-–—~]|to|through)\s{{0,3}}{_DIGITS})|满分[为為:]?\s?(\d+)",
    re.IGNORECASE,
)
"""Words about a scale, within others."""
_DRESS: Final = "*_`\"'“”‘’«»()[]{}<>【】 \t\r\n"
"""Characters around a number that mean nothing: quotes, brackets, emphasis."""
_BOUND: Final = re.compile(r"\s*(?:<(?![^<>]{0,20}>)|>)[-+−]?\d")
_REASON: Final = re.compile(r"(?:because|since|as|overall)\b|因为|由于|理由", re.IGNORECASE)
"""Words that go on behind a grade; before others the number may be one of things."""
_LIST: Final = re.compile(r"[.)][ \t*_`]*[^\s*_`]")
_UNSURE: Final = re.compile(r"[/%~+?]|out of|(?:of|or|to|and|if|through|percent)\b|[-–—]\s*$|[或到至和]", re.IGNORECASE)
_BOUNDS: Final = re.compile(rf"(?<![\d.])({_DIGITS})\s*(?:[-–—~]|to|through|到|至)\s*({_DIGITS})", re.IGNORECASE)
_WIDE: Final = {0x3000: " ", **{at: chr(at - 0xFEE0) for at in range(0xFF01, 0xFF5F)}}
"""Full-width characters, and what they stand for."""

_FIELD: Final = re.compile(
    rf"(?:\"(?:(?:final|overall)[ _])?(?:{_NAMES})\"|'(?:{_NAMES})'|(?<=\{{)\s?(?:{_NAMES}))\s*:\s*", re.IGNORECASE
)
_VALUE: Final = re.compile(r"(?:\"([^\"\\\n]{0,40})\"|'([^'\\\n]{0,40})'|([^\"'\\,\[{}\n]{0,40}))(?=\s*[,}\n])")
_TOP: Final = re.compile(
    r"[\"'](?:out[ _]?of|scale|max(?:imum)?(?:[ _](?:grade|score|rating))?)[\"']\s*:\s*([^,}\n]{0,40})", re.IGNORECASE
)
_BOXED: Final = re.compile(r"\\boxed\s*(?:\{(?:\\(?:text(?:bf)?|math(?:rm|bf))\{)?([^{}\n]{0,40})\})?")
_TAGGED: Final = re.compile(
    rf"<\|begin_of_box\|>([^<>\n]{{0,40}})|<(?P<tag>{_NAMES}|answer|response)>(?:([^<>\n]{{0,40}})</(?P=tag)>)?",
    re.IGNORECASE,
)


def grade_tokens(scale: Scale, most: int) -> dict[str, float]:
    """The grades of a scale by the text of a token that may stand for each.

    Args:
        scale: The scale.
        most: Largest number of tokens whose probabilities an endpoint gives.

    Returns:
        Its whole numbers; none where an end is no whole number, or there are more of them.

    >>> from postil.data.scale import Scale
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
    r"""The grade that an answer states, if it states one and no other.

    Read are a number that the answer begins with, or that follows a label such as ``Grade:`` or ``The score is``; with
    ``/5`` or ``out of 5`` behind it where 5 is the highest grade; and words after it, unless they make it a number of
    things or of a list. Anywhere in an answer, a field ``grade``, ``score`` or ``rating`` of JSON, ``\boxed{4}`` and
    ``<grade>4</grade>`` are read, if all of them state the same. So is a last line with a label, a number and nothing
    else, and one before a line such as ``Reason:``, if no other one is stated. Nothing else is guessed: numbers in
    words, percentages, ranges, numbers within a sentence and numbers outside the scale are no grade.

    Args:
        text: The answer, without what a model thought before it.
        scale: The scale.
        cut: True if the answer was cut off at its largest length, so that a number at its end may lack digits.

    >>> from postil.data.scale import Scale
    >>> [read_grade(text, Scale(1, 5)) for text in ("4", "**4.5**", "Grade: 4/5", "4 out of 5. Well said.")]
    [4.0, 4.5, 4.0, 4.0]
    >>> [read_grade(text, Scale(1, 5)) for text in ('So: {"grade": 4, "why": "2 facts"}', "评分：4分", r"\boxed{4}")]
    [4.0, 4.0, 4.0]
    >>> [read_grade(text, Scale(1, 5)) for text in ("four", "3 or 4", "7", "80%", "I count 4 claims", "4/10", "")]
    [None, None, None, None, None, None, None]
    """
    said = text.translate(_WIDE)
    marked = list(_marked(said))
    if not marked:
        grade = _beginning(said, scale, cut=cut)
        return _around(said, scale) if grade is None and not cut else grade
    grades = {_leading(value.strip(_DRESS), scale, labelled=True, cut=False) for value in marked}
    beside = _FIELD.sub(" ", _BOXED.sub(" ", _TAGGED.sub(" ", said)))
    grades |= _stated(beside)
    grades |= {_beginning(beside.partition("\n")[0], scale, cut=False)} - {None}
    on_scale = all(_is_scale(found[1], scale) for found in _TOP.finditer(said))
    return grades.pop() if len(grades) == 1 and on_scale else None


def _marked(said: str) -> Iterator[str]:
    """Values that an answer marks as its grade, as they stand; empty for one that does not end."""
    for name in _FIELD.finditer(said) if "{" in said else ():
        value = _VALUE.match(said, name.end())
        yield next(filter(None, value.groups()), "") if value else ""
    yield from (found[1] or "" for found in _BOXED.finditer(said))
    yield from (found[1] or found[3] or "" for found in _TAGGED.finditer(said))


def _stated(said: str) -> set[float]:
    """Numbers that follow the name of a grade anywhere in an answer."""
    return {float(found["value"].replace("−", "-")) for found in _STATED.finditer(said)}


def _around(said: str, scale: Scale) -> float | None:
    """The grade that stands before the reasons for it, or after them on the last line, if no other one is stated."""
    grade = _beginning(_WHY.split(said, maxsplit=1)[0], scale, cut=False)
    label = next(iter(deque(_LINE.finditer(said), maxlen=1)), None)
    if grade is None and label and (not label["scale"] or _is_scale(label["scale"], scale)):
        grade = _leading(said[label.end() :].strip(_DRESS), scale, labelled=True, cut=False, alone=True)
    on_scale = all(_is_scale(found[0], scale) for found in _OTHER.finditer(said))
    return grade if on_scale and _stated(said) <= {grade} else None


def _beginning(said: str, scale: Scale, *, cut: bool) -> float | None:
    """The grade that an answer begins with, after a label or none."""
    if _BOUND.match(said):
        return None
    said = re.sub(r"\A\s{0,9}#{1,6}\s", "", said).strip(_DRESS)
    label = _LABEL.match(said)
    if label is None:
        return _leading(said, scale, labelled=False, cut=cut)
    if label["scale"] and not _is_scale(label["scale"], scale):
        return None
    return _leading(said[label.end() :].lstrip(_DRESS), scale, labelled=True, cut=cut)


def _leading(said: str, scale: Scale, *, labelled: bool, cut: bool, alone: bool = False) -> float | None:
    """The grade that a text begins with, if what follows leaves no doubt; alone, if no letters follow."""
    first = _NUMBER.match(said)
    if first is None or (cut and first.end() == len(said)):
        return None
    rest, after = said[first.end() :], 0
    low, high = (re.escape(f"{end:g}") for end in (scale.low, scale.high))
    top = re.compile(
        rf"[\s*_`(\[]*(?:(?:/|(?:out of|of|von|sur|de)\s|满分|滿分)\s*[为為:]?\s*{high}(?:\.0+)?{_ENDS}"
        rf"|(?:on an? |on the )?scale (?:of|from) {low}\s?(?:to|[-–—~])\s?{high}{_ENDS})",
        re.IGNORECASE,
    )
    for part in (_UNIT, top, _UNIT):
        if found := part.match(rest, after):
            after = found.end()
    behind = rest[after:].lstrip("*_` ")
    if re.search(r"\w" if alone else r"\d", behind) or _UNSURE.match(behind):
        return None
    if not (labelled or after) and (
        (first[0] == "1" and _LIST.match(behind)) or (re.match(r"[^\W\d_]", behind) and not _REASON.match(behind))
    ):
        return None
    grade = float(first[0].replace("−", "-"))
    return grade if scale.check(grade) is None else None


def _is_scale(said: str, scale: Scale) -> bool:
    """True if words about a scale are not about another one."""
    numbers = [float(found.replace("−", "-")) for found in re.findall(_DIGITS, said)]
    if bounds := _BOUNDS.search(said):
        return [float(end.replace("−", "-")) for end in bounds.groups()] == [scale.low, scale.high] and len(
            numbers
        ) <= 2
    return numbers in ([], [scale.high])
