"""Views of an item assignment, and of the quality of ratings."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.messages import Message
from postil.results.table import Count, Figure, Name, Number, Share, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from postil.campaigns.models import Groups
    from postil.campaigns.result import AnnotatorQuality, PlanBalance, PlanResult, QualityConcern, QualityResult
    from postil.raters.result import Consistency

__all__ = ["concern_sentence", "plan", "quality"]


_OF_ONE: Final[Mapping[Groups, tuple[str, str]]] = {
    "articles": ("items of one article", "the items of an article"),
    "items": ("texts of one item", "the texts of an item"),
    "topics": ("items of one topic", "the items of a topic"),
}
"""Words for any items that belong together, and for all of them; an item of the file has several of the plan."""


def plan(result: PlanResult) -> View:
    """Make the view of an item assignment.

    Args:
        result: The item assignment.
    """
    remarks = [_assigned(result)]
    if result.sampled is not None:
        of = "the texts of " if result.groups == "items" else ""
        remarks.append(f"{of}{result.sampled:,} of {result.sampled_from:,} {result.groups}, sampled at random")
    if result.median_gap is not None:
        remarks.append(f"median gap between {_OF_ONE[result.groups][0]}: {result.median_gap:g} positions")
    if result.order_correlation is not None:
        remarks.append(f"correlation of an item's positions in two presentation orders: {result.order_correlation:.2f}")
    if result.balance is not None:
        remarks += _imbalances(result.balance)
    table = Table(
        key="annotators",
        rows=result.annotators,
        columns=(
            Name("annotator", "annotator"),
            Count("items", "texts", separated=False),
            Count("gold", "gold", separated=False),
            Count("repeated", "repeated", separated=False),
            Count("shared with another: least", "least_shared", separated=False),
            Count("most", "most_shared", separated=False),
        ),
    )
    return View(line=_plan_line(result), rows=result.annotators, grids=[table], remarks=remarks)


def _imbalances(found: PlanBalance) -> Iterator[str]:
    """Sentences on what is not even, and on what would even it out."""
    apart = found.most_items - found.fewest_items
    if apart > found.tolerance:
        way = "no number of further texts evens that out, as every text has all annotators"
        if found.missing is not None:
            way = f"an annotator has a text once at most, so it takes {found.missing:,} more texts to even that out"
        yield (
            f"loads differ by {counted(apart, 'item')}: {found.most} has {found.most_items:,}, "
            f"{found.fewest} {found.fewest_items:,}; {way}"
        )
    if found.most_shared - found.least_shared > 1:
        yield (
            f"two annotators share {found.least_shared:,} to {found.most_shared:,} items; "
            "texts that were assigned before stay with their annotators"
        )
    if found.short:
        yield f"{counted(found.short, 'item')} with fewer annotators than planned, as nobody else can take more"


def _assigned(result: PlanResult) -> str:
    each, of = result.annotators_per_item, len(result.annotators)
    who = f"; {_OF_ONE[result.groups][1]} have the same annotators" if result.by_item else ""
    if not result.overlapping:
        return f"{counted(result.texts, 'item')}, {each} of {of} annotators per item, assigned at random{who}"
    rest = result.texts - result.gold - result.overlapping
    return (
        f"{result.texts:,} items: {rest:,} with {each} of {of} annotators, {result.overlapping:,} with {each + 1}, "
        f"assigned at random{who}"
    )


def _plan_line(result: PlanResult) -> str:
    each = counted(result.annotators_per_item, "annotator")
    gold = f", {counted(result.gold, 'gold item')}" if result.gold else ""
    more = f", {result.annotators_per_item + 1} for {result.overlapping:,}" if result.overlapping else ""
    return f"{counted(result.texts, 'item')}, {each} of {len(result.annotators):,} per item{more}{gold}"


SHARES: Final = frozenset({"gold", "repeated", "fast"})
DIRECTIONS: Final = {"severity": ("lenient", "severe"), "drift": ("more lenient", "more severe")}


def concern_sentence(concern: QualityConcern) -> Message:
    """Put a concern into a clause without its subject.

    Args:
        concern: The concern.

    >>> from postil.campaigns.result import QualityConcern
    >>> str(concern_sentence(QualityConcern(kind="gold", value=0.25, usual=0.875, n=8)))
    'equals the gold label in 25 % of 8 gold items; the others together in 88 %'
    """
    shown = _share if concern.kind in SHARES else "{:.2f}".format
    value = f"{concern.value:.0f}" if concern.kind == "attention" else shown(abs(concern.value))
    usual = "" if concern.usual is None else shown(concern.usual)
    above, below = DIRECTIONS.get(concern.kind, (concern.kind, concern.kind))
    return _clauses(value, usual, f"{concern.n:,}")[above if concern.value > 0 else below]


def _clauses(value: str, usual: str, n: str) -> dict[str, Message]:
    return {
        "attention": Message("passed {value} of {n} attention checks", value=value, n=n),
        "gold": Message(
            "equals the gold label in {value} of {n} gold items; the others together in {usual}",
            value=value,
            n=n,
            usual=usual,
        ),
        "repeated": Message(
            "gives {value} of {n} repeated items the same grade again; the others {usual}",
            value=value,
            n=n,
            usual=usual,
        ),
        "fast": Message(
            "takes enough time to read for {value} of {n} items; the others for {usual}", value=value, n=n, usual=usual
        ),
        "apart": Message(
            "is {value} away from the mean of the others, over {n} items; the others are {usual} away",
            value=value,
            n=n,
            usual=usual,
        ),
        "lenient": Message("is lenient: {value} above the mean of the others, over {n} items", value=value, n=n),
        "severe": Message("is severe: {value} below the mean of the others, over {n} items", value=value, n=n),
        "more lenient": Message(
            "has become more lenient: by {value} in the second half of {n} items", value=value, n=n
        ),
        "more severe": Message("has become more severe: by {value} in the second half of {n} items", value=value, n=n),
        "competence": Message(
            "has an estimated competence of {value} over {n} items; the usual one is {usual}",
            value=value,
            n=n,
            usual=usual,
        ),
    }


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def quality(result: QualityResult) -> View:
    """One row per annotator; a grid of checks, one of the agreement with the others, and one of it over time.

    Args:
        result: The result.
    """
    of_concern = [one.annotator for one in result.annotators if one.concerns]
    sizes = f"{counted(len(result.annotators), 'annotator')}, {counted(result.ratings, 'rating')}"
    return View(
        line=f"{sizes}; {'concerns: ' + ', '.join(of_concern) if of_concern else 'no concerns'}",
        rows=[_row(one) for one in result.annotators],
        grids=[_checks(result), _beside(result)],
        details=[table for table in [_over_time(result)] if table.rows],
        findings=list(_findings(result)),
        remarks=list(_remarks(result)),
    )


def _row(one: AnnotatorQuality) -> dict[str, object]:
    return {
        "annotator": one.annotator,
        "ratings": one.ratings,
        "concerns": " ".join(each.kind for each in one.concerns),
        "gold": one.gold.n if one.gold else 0,
        "gold_equal": one.gold.equal if one.gold else None,
        "repeated": one.repeated.n if one.repeated else 0,
        "repeated_equal": one.repeated.equal if one.repeated else None,
        "attention": one.attention,
        "passed": one.passed,
        "seconds": one.seconds,
        "fast": one.fast,
        "shared": one.shared,
        "apart": one.apart,
        "above": one.above,
        "correlation": one.correlation,
        "drift": one.drift.value if one.drift else None,
        "competence": one.competence,
    }


def _checks(result: QualityResult) -> Table:
    return Table(
        key="checks",
        rows=result.annotators,
        columns=(
            Name("annotator", "annotator"),
            Count("ratings", "ratings"),
            Figure("gold equal", _equal, at=attrgetter("gold")),
            Figure("training equal", _equal, at=attrgetter("training")),
            Figure("repeated equal", _equal, at=attrgetter("repeated")),
            Figure("attention passed", lambda one: f"{one.passed} of {one.attention}" if one.attention else None),
            Number("seconds", "seconds", digits=1, zero=True),
            Share("too fast", "fast"),
        ),
    )


def _equal(row: Consistency) -> str:
    return f"{_share(row.equal)} of {row.n:,}"


def _beside(result: QualityResult) -> Table:
    drift = attrgetter("drift")
    return Table(
        key="beside",
        rows=result.annotators,
        columns=(
            Name("annotator", "annotator"),
            Count("shared items", "shared"),
            Number("apart", "apart", digits=2, zero=True),
            Number("above", "above", digits=2, zero=True, signed=True, plus=True),
            Number("correlation", "correlation", digits=2, zero=True),
            Number("drift", "value", at=drift, digits=2, zero=True, signed=True, plus=True),
            Figure("95 % interval", lambda each: f"{each.low:+.2f} to {each.high:+.2f}", at=drift),
            Number("competence", "competence", digits=2, zero=True),
        ),
    )


def _over_time(result: QualityResult) -> Table:
    window = itemgetter(1)
    return Table(
        key="over-time",
        rows=[(one.annotator, each) for one in result.annotators for each in one.windows],
        columns=(
            Name("annotator", itemgetter(0)),
            Figure("items", lambda each: f"{each.first:,} to {each.first + each.n - 1:,}", at=window),
            Number("apart", "apart", at=window, digits=2, zero=True),
            Number("above", "above", at=window, digits=2, zero=True, signed=True, plus=True),
            Number("seconds", "seconds", at=window, digits=1, zero=True),
        ),
    )


def _findings(result: QualityResult) -> Iterator[str]:
    for one in result.annotators:
        for each in one.concerns:
            yield f"{one.annotator} {concern_sentence(each)}."


def _remarks(result: QualityResult) -> Iterator[str]:
    if not any(one.concerns for one in result.annotators):
        yield "no annotator needs attention: no measure is worse than chance explains"
    if result.undefined:
        yield f"no competence: {result.undefined}"
    elif result.annotators:
        yield f"competence by {result.model}"
