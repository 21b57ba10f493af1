"""Limits that scores must meet, and their JUnit XML: for pipelines that end where a system has become worse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, Protocol

from postil.data.arguments import check_fields
from postil.data.explain import counted, shown
from postil.errors import LimitMissed, UnknownName, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["Limit", "LimitOptions", "Measured", "check_limits", "check_system_scores", "junit_xml"]

_UNFIT: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not have."""


class SignedScore(Protocol):
    """A score of a system with its signature."""

    @property
    def system(self) -> str:
        """The system."""

    @property
    def metric(self) -> str:
        """The metric."""

    @property
    def score(self) -> float:
        """The score."""

    @property
    def signature(self) -> str:
        """All that the score depends on."""


class Measured(NamedTuple):
    """A score that may have a limit.

    Args:
        system: The system.
        metric: The metric.
        score: The score; None where the system has none, which misses every limit.
        falls: True if lower is better.
    """

    system: str
    metric: str
    score: float | None
    falls: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """The worst score that a metric may have.

    Args:
        metric: The metric.
        worst: The score.

    >>> Limit.parse("w-rouge-l(reading=union)=.2")
    Limit(metric='w-rouge-l(reading=union)', worst=0.2)
    """

    metric: str
    worst: float

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Parse ``METRIC=NUMBER``.

        Args:
            text: The limit; the number stands behind the last ``=``.

        Raises:
            UsageError: It is none.
        """
        metric, _, number = text.rpartition("=")
        try:
            worst = float(number)
        except ValueError:
            worst = float("nan")
        if not metric.strip() or "_" in number or not abs(worst) < float("inf"):
            raise UsageError(
                "{fail_below} takes METRIC=NUMBER, such as meteor=.2; got {got}",
                fail_below=Setting("fail_below"),
                got=shown(text),
            )
        return cls(metric.strip(), worst)

    def is_met(self, found: Measured) -> bool:
        """True if a score is no worse than the limit.

        Args:
            found: The score.

        >>> Limit("meteor", 0.2).is_met(Measured("a", "meteor", 0.2, falls=False))
        True
        """
        if found.score is None:
            return False
        return found.score <= self.worst if found.falls else found.score >= self.worst


@options(group="Limits for pipelines")
class LimitOptions:
    """Options of what fails where scores are too low.

    Args:
        fail_below: Limit of a metric, as in meteor=.2: where a system is worse, which is above it where lower is
            better, the exit code is 4; repeatable.
        junit: Write the limits that are met and missed here, as JUnit XML.
    """

    fail_below: Annotated[tuple[str, ...], Flag(metavar="METRIC=NUMBER")] = ()
    junit: Annotated[str | None, Flag(metavar="FILE")] = None

    def __post_init__(self) -> None:
        check_fields(self)
        names = [limit.metric for limit in self.limits]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(
                "{fail_below}: {metric} has two limits; give one", fail_below=Setting("fail_below"), metric=twice
            )
        if self.junit is not None and not names:
            raise UsageError(
                "{junit} writes whether limits are met; give one: {fail_below}",
                junit=Setting("junit"),
                fail_below=Setting("fail_below", Blank("METRIC=NUMBER")),
            )

    def check_apart(self, others: Iterable[str]) -> None:
        """See that the XML replaces no file that is read or written besides.

        Args:
            others: The files.

        Raises:
            UsageError: It would.
        """
        if self.junit is not None:
            from postil.data.atomic_file import check_apart  # noqa: PLC0415 - help does without it

            check_apart(self.junit, others)

    @property
    def limits(self) -> list[Limit]:
        """The limits."""
        return [Limit.parse(each) for each in self.fail_below]

    def resolved(self, metrics: Collection[str]) -> dict[str, Limit]:
        """Limit by the name of the metric that it is of, in any case; without its parameters where they are clear.

        Args:
            metrics: The metrics that are computed.

        Raises:
            UnknownName: A limit is of none of them, or of several.

        >>> LimitOptions(fail_below=("BLEU=.2",)).resolved(["meteor", "bleu(tokenizer=13a)"])
        {'bleu(tokenizer=13a)': Limit(metric='BLEU', worst=0.2)}
        """
        found: dict[str, Limit] = {}
        for limit in self.limits:
            name = limit.metric.casefold()
            fitting = [each for each in metrics if each == limit.metric]
            fitting = fitting or [each for each in metrics if each.casefold() == name]
            fitting = fitting or [each for each in metrics if each.partition("(")[0].casefold() == name]
            if len(fitting) != 1:
                raise UnknownName("metric with a limit", limit.metric, metrics)
            found[fitting[0]] = limit
        return found


def check_system_scores(given: LimitOptions, scores: Sequence[SignedScore], command: str) -> None:
    """Compare scores of systems with the limits that were given, if any were.

    Args:
        given: The limits.
        scores: The scores.
        command: Name of the command, for the XML.

    Raises:
        UnknownName: A limit is of a metric that no score is of.
        LimitMissed: A score is worse than its limit.
    """
    if given.fail_below:
        from postil.results.names import falls_by_signature  # noqa: PLC0415 - help does without it

        falls = {row.metric: falls_by_signature(row.metric, row.signature) for row in scores}
        check_limits(given, [Measured(row.system, row.metric, row.score, falls[row.metric]) for row in scores], command)


def check_limits(given: LimitOptions, scores: Sequence[Measured], command: str) -> None:
    """Compare scores with their limits, and write the JUnit XML that was asked for.

    Args:
        given: The limits.
        scores: Scores of systems.
        command: Name of the command, for the XML.

    Raises:
        UnknownName: A limit is of a metric that no score is of.
        LimitMissed: A score is worse than its limit.
    """
    limits = given.resolved(dict.fromkeys(each.metric for each in scores))
    held = [(limits[each.metric], each) for each in scores if each.metric in limits]
    if given.junit is not None:
        from postil.data.atomic_file import write_file  # noqa: PLC0415 - help does without it

        write_file(given.junit, junit_xml(held, command))
    if missed := [_missed(limit, each) for limit, each in held if not limit.is_met(each)]:
        raise LimitMissed(
            "{count} of {limits} missed: {missed}",
            count=len(missed),
            limits=counted(len(held), "limit"),
            missed=Listed(missed, last="; ", between="; "),
        )


def junit_xml(held: Iterable[tuple[Limit, Measured]], command: str) -> bytes:
    """The limits of scores as JUnit XML: a test case for each, without times, so that equal scores give equal files.

    Args:
        held: Each score with its limit.
        command: Name of the command, the suite.

    >>> found = junit_xml([(Limit("ter", 0.5), Measured("a", "ter", 0.75, falls=True))], "score")
    >>> print(found.decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="postil" tests="1" failures="1" errors="0">
      <testsuite name="score" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="a" name="ter at most 0.5">
          <failure type="limit" message="a: ter is 0.75, above the limit of 0.5" />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - help does without it

    cases = list(held)
    failures = str(sum(not limit.is_met(each) for limit, each in cases))
    numbers = {"tests": str(len(cases)), "failures": failures, "errors": "0"}
    root = ET.Element("testsuites", {"name": "postil", **numbers})
    suite = ET.SubElement(root, "testsuite", {"name": command, **numbers, "skipped": "0"})
    for limit, each in cases:
        name = f"{each.metric} at {'most' if each.falls else 'least'} {limit.worst:g}"
        case = ET.SubElement(suite, "testcase", {"classname": _fit(each.system), "name": _fit(name)})
        if not limit.is_met(each):
            failure = {"type": "limit", "message": _fit(_missed(limit, each))}
            ET.SubElement(case, "failure", failure)
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _missed(limit: Limit, found: Measured) -> str:
    if found.score is None:
        return Message(
            "{system}: {metric} has no value, and a limit of {worst}",
            system=found.system,
            metric=found.metric,
            worst=f"{limit.worst:g}",
        )
    texts = (f"{found.score:.{digits}g}" for digits in (4, 8, 17))
    return Message(
        "{system}: {metric} is {score}, {side} the limit of {worst}",
        system=found.system,
        metric=found.metric,
        # As few digits as tell the score from the limit.
        score=next(text for text in texts if not limit.is_met(found._replace(score=float(text)))),
        side="above" if found.falls else "below",
        worst=f"{limit.worst:g}",
    )


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)
