"""View of the result of `postil judge --pairs`: systems by strength, pairs of systems, and what biases the judge."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from postil.comparison.view import preferences, strengths
from postil.data.explain import counted
from postil.judging.advice import ADVICE
from postil.messages import Message
from postil.results.formats import noted, value_with_interval
from postil.results.page.chapters import viewed
from postil.results.table import Count, Interval, Name, Table, Text
from postil.results.views import View, signature_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parts import Estimate
    from postil.judging.result import JudgedPair, JudgePairsResult, VerdictAgreement
    from postil.results.page.blocks import Chapter, Picture

__all__ = ["chapter", "pictures", "view"]

FIELDS: Final = (
    *("first", "second", "n", "absent", "wins", "ties", "losses"),
    *("win_rate", "win_low", "win_high", "score", "score_low", "score_high", "changed"),
)


def view(result: JudgePairsResult) -> View:
    """Make the view of verdicts on pairs.

    Args:
        result: The result.
    """
    ranked = preferences(result.strengths) if result.strengths else None
    missing = sum(row.absent for row in result.pairs)
    without = f", {missing:,} without a verdict" if missing else ""
    cost = "" if result.usage.cost is None else f", cost {result.usage.cost:.4g}"
    pairs = counted(sum(row.n for row in result.pairs), "pair")
    work = f"{result.judge}, {pairs}{without}, {counted(result.usage.calls, 'answer')}{cost}"
    return View(
        line=work if result.strengths is None else f"{work}, best {result.strengths.systems[0].system}",
        rows=[_row(row) for row in result.pairs],
        fields=FIELDS,
        grids=[*(ranked.grids[:1] if ranked else []), _pairs_table(result)],
        findings=ranked.findings if ranked else [],
        head=work if result.strengths is None else f"{work}; strengths are natural logarithms, {_origin(result)}",
        remarks=[*_findings(result), *_advice(result), *noted(result.notes), *(ranked.remarks if ranked else [])],
        signatures=list(signature_lines(list(result.signatures.values()))),
    )


def _origin(result: JudgePairsResult) -> str:
    baseline = result.strengths.baseline if result.strengths else None
    return "their mean is 0" if baseline is None else f"that of {baseline} is 0"


def _row(pair: JudgedPair) -> dict[str, object]:
    """A pair of systems as one row of plain values."""
    row: dict[str, object] = {name: getattr(pair, name) for name in pair.__struct_fields__}
    for name, found in (("win_rate", pair.win_rate), ("score", pair.score)):
        low, high = name.replace("_rate", "") + "_low", name.replace("_rate", "") + "_high"
        row |= {name: found and found.value, low: found and found.low, high: found and found.high}
    return row


def _pairs_table(result: JudgePairsResult) -> Table:
    return Table(
        key="judged-pairs",
        caption="Verdicts by pair of systems, 95 % confidence intervals over items in brackets",
        rows=result.pairs,
        columns=(
            Name("system", "first"),
            Text("against", "second"),
            Count("wins", "wins"),
            Count("ties", "ties"),
            Count("losses", "losses"),
            Interval("win rate", "value", at=attrgetter("win_rate"), none=""),
            Interval("expected preference", "value", at=attrgetter("score"), none=""),
            Count("changed by order", "changed"),
            Count("without a verdict", "absent"),
        ),
    )


def _findings(result: JudgePairsResult) -> Iterator[str]:
    """Sentences on bias, and on people."""
    if (position := result.position) is not None:
        yield f"verdict changes with the order: {_value(position.changed)} of {counted(position.n, 'pair')}"
        yield f"preference for the first place: {_value(position.first)} (without bias .500)"
    if result.longer is not None:
        yield f"preference for the longer text: {_value(result.longer)}"
    if (people := result.people) is not None:
        yield f"agreement with people: {_agreement(people.judge)}, on {counted(people.pairs, 'pair')}"
        if people.people is not None:
            yield f"agreement of two people: {_agreement(people.people)}"
        if people.unmatched:
            yield f"{counted(people.unmatched, 'preference')} of people for pairs without a verdict here"


def _agreement(found: VerdictAgreement) -> str:
    decided = "" if found.decided is None else f"; without ties {_value(found.decided)} of {found.decided_n:,}"
    return f"{_value(found.share)} of {counted(found.n, 'comparison')}{decided}"


def _value(found: Estimate) -> str:
    return value_with_interval(found.value, found.low, found.high)


def _advice(result: JudgePairsResult) -> Iterator[str]:
    """Sentences that say what to do about pairs without a verdict."""
    for reason in dict.fromkeys(each.reason for each in result.absent):
        if reason in ADVICE:
            n = sum(each.n for each in result.absent if each.reason == reason)
            yield Message(
                "{count:,} pair without a verdict ({reason}): {advice}",
                "{count:,} pairs without a verdict ({reason}): {advice}",
                count=n,
                reason=reason,
                advice=ADVICE[reason],
            )


def chapter(result: JudgePairsResult, key: str) -> Chapter:
    """The chapter of verdicts on pairs.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    return viewed(result, key, *pictures(result))


def pictures(result: JudgePairsResult) -> Iterator[Picture]:
    """The strengths of the systems.

    Args:
        result: The result.
    """
    if result.strengths is not None:
        yield from strengths(result.strengths)
