"""Sentences about severities of annotators, for every result that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.records.results.parts import SEVERITY_LEVEL
from postil.render.formats import listed
from postil.render.numbers import number, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import Severity

__all__ = ["is_significant", "severity_remarks"]

NAMED: Final = 3
"""Number of annotators of a group that a sentence names."""


def is_significant(severity: Severity) -> bool:
    """True if the annotators' severities differ by more than chance.

    Args:
        severity: The severities.
    """
    return severity.p is not None and severity.p < SEVERITY_LEVEL


def severity_remarks(severity: Severity | None) -> Iterator[str]:
    """Sentences on annotators who use the scale differently, and on groups of them that cannot be compared.

    Args:
        severity: The severities; None where no text has two ratings.

    >>> from postil.records.results import AnnotatorBias, Severity
    >>> biases = [AnnotatorBias(annotator=name, ratings=9, bias=r) for name, r in (("bob", -0.48), ("dan", 0.48))]
    >>> groups = (("bob", "dan"),)
    >>> found = Severity(
    ...     rule="auto", removed=True, F=8.1, df1=1, df2=8, p=0.02, groups=groups, annotators=tuple(biases)
    ... )
    >>> list(severity_remarks(found))
    ['annotators use the scale differently: bob grades .48 below the others, dan .48 above; removed']
    """
    if severity is None:
        return
    if is_significant(severity):
        ranked = sorted(severity.annotators, key=lambda each: each.bias)
        low, high = ranked[0], ranked[-1]
        said = [
            f"{each.annotator} {verb}{number(abs(each.bias), 2)} {side}"
            for each, verb, side in ((low, "grades ", "below the others"), (high, "", "above"))
            if each.bias
        ]
        fate = "removed" if severity.removed else "kept; severity remove takes them out of the ratings"
        yield f"annotators use the scale differently: {', '.join(said)}; {fate}"
    elif severity.removed:
        doubt = "too few ratings test them" if severity.p is None else f"they may be chance, p {p_value(severity.p)}"
        yield f"severities of annotators are removed, though {doubt}"
    several = [group for group in severity.groups if len(group) > 1]
    alone = len(severity.groups) - len(several)
    if len(several) > 1:
        names = "; ".join(listed(list(group), most=NAMED) for group in several)
        yield (
            f"no shared text connects some annotators, so the severities of one group cannot be compared with those of "
            f"another: {names}" + (f"; and {alone} who share none" if alone else "")
        )
    elif alone:
        names = listed([group[0] for group in severity.groups if len(group) == 1], most=NAMED)
        yield f"annotators who share no text with others, whose severity is unknown: {names}"
