"""Sentences about severities of annotators, for every result that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.messages import Listed, Message
from postil.results.numbers import number, p_value
from postil.results.parts import SEVERITY_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.messages import Fact
    from postil.results.parts import AnnotatorBias, Severity

__all__ = ["is_significant", "severity_remarks"]

NAMED: Final = 3
"""Number of annotators of a group that a sentence names."""


def is_significant(severity: Severity) -> bool:
    """True if the annotators' severities differ by more than chance.

    Args:
        severity: The severities.
    """
    return severity.p is not None and severity.p < SEVERITY_LEVEL


def severity_remarks(severity: Severity | None) -> Iterator[Message]:
    """Sentences on annotators who use the scale differently, and on groups of them that cannot be compared.

    Args:
        severity: The severities; None where no text has two ratings.

    >>> from postil.results.parts import AnnotatorBias, Severity
    >>> biases = [AnnotatorBias(annotator=name, ratings=9, bias=r) for name, r in (("bob", -0.48), ("dan", 0.48))]
    >>> groups = (("bob", "dan"),)
    >>> found = Severity(
    ...     rule="auto", removed=True, F=8.1, df1=1, df2=8, p=0.02, groups=groups, annotators=tuple(biases)
    ... )
    >>> list(map(str, severity_remarks(found)))
    ['annotators use the scale differently: bob grades .48 below the others, dan .48 above; removed']
    """
    if severity is None:
        return
    if is_significant(severity):
        ranked = sorted(severity.annotators, key=lambda each: each.bias)
        yield _apart(ranked[0], ranked[-1], removed=severity.removed)
    elif severity.removed:
        yield (
            Message("severities of annotators are removed, though too few ratings test them")
            if severity.p is None
            else Message(
                "severities of annotators are removed, though they may be chance, p {p}", p=p_value(severity.p)
            )
        )
    several = [group for group in severity.groups if len(group) > 1]
    alone = len(severity.groups) - len(several)
    if len(several) > 1:
        groups = Listed([_named(group) for group in several], last="; ", between="; ")
        if alone:
            yield Message(
                "no shared text connects some annotators, so the severities of one group cannot be compared with those "
                "of another: {groups}; and {n} who share none",
                groups=groups,
                n=alone,
            )
        else:
            yield Message(
                "no shared text connects some annotators, so the severities of one group cannot be compared with those "
                "of another: {groups}",
                groups=groups,
            )
    elif alone:
        yield Message(
            "annotators who share no text with others, whose severity is unknown: {names}",
            names=_named([group[0] for group in severity.groups if len(group) == 1]),
        )


def _apart(low: AnnotatorBias, high: AnnotatorBias, *, removed: bool) -> Message:
    """A clause on the annotators who grade lowest and highest."""
    below, above = number(abs(low.bias), 2), number(high.bias, 2)
    if removed:
        return Message(
            "annotators use the scale differently: {first} grades {below} below the others, {last} {above} above; "
            "removed",
            first=low.annotator,
            below=below,
            last=high.annotator,
            above=above,
        )
    return Message(
        "annotators use the scale differently: {first} grades {below} below the others, {last} {above} above; kept; "
        "severity remove takes them out of the ratings",
        first=low.annotator,
        below=below,
        last=high.annotator,
        above=above,
    )


def _named(names: Sequence[str]) -> Fact:
    """A list of annotators, of whom some are named where there are two more at least."""
    if len(names) <= NAMED + 1:
        return Listed(names)
    return Message("{names} and {n:,} more", names=Listed(names[:NAMED], last=", "), n=len(names) - NAMED)
