"""View of an item assignment: one row per annotator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.results.formats import counted
from postil.results.table import Count, Name, Table
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.campaigns.plan_result import PlanBalance, PlanResult

__all__ = ["view"]


def view(result: PlanResult) -> View:
    """Make the view of an item assignment.

    Args:
        result: The item assignment.
    """
    remarks = [_assigned(result)]
    if result.sampled is not None:
        remarks.append(f"{result.sampled:,} of {result.sampled_from:,} articles, sampled at random")
    if result.median_gap is not None:
        remarks.append(f"median gap between items of one article: {result.median_gap:g} positions")
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
    return View(line=_line(result), rows=result.annotators, grids=[table], remarks=remarks)


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
    who = "; the items of an article have the same annotators" if result.by_item else ""
    if not result.overlapping:
        return f"{result.texts:,} items, {each} of {of} annotators per item, assigned at random{who}"
    rest = result.texts - result.gold - result.overlapping
    return (
        f"{result.texts:,} items: {rest:,} with {each} of {of} annotators, {result.overlapping:,} with {each + 1}, "
        f"assigned at random{who}"
    )


def _line(result: PlanResult) -> str:
    each = counted(result.annotators_per_item, "annotator")
    gold = f", {counted(result.gold, 'gold item')}" if result.gold else ""
    more = f", {result.annotators_per_item + 1} for {result.overlapping:,}" if result.overlapping else ""
    return f"{counted(result.texts, 'item')}, {each} of {len(result.annotators):,} per item{more}{gold}"
