"""View of the result of `postil budget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from postil.records.results import BudgetResult, BudgetRow
    from postil.render.formats import Grid

__all__ = ["head", "next_command", "numbers", "summary", "uses_scores", "verdict", "view"]

SECOND_RATINGS: Final = 0.2
"""Share of the outputs that get a second rating, which gives agreement and the variance of raters."""

ANNOTATORS: Final = 3
"""Number of annotators of the command to run next."""


def view(result: BudgetResult) -> View:
    """One row per number of items and raters.

    Args:
        result: The result.
    """
    said = verdict(result)
    ahead = next_command(result)
    return View(
        rows=[to_builtins(row) for row in result.rows],
        grids=[_grid(result), _components(result)],
        head=head(result),
        remarks=[
            *([said] if said else ()),
            *(f"note: {note}" for note in result.notes),
            *(f"excluded: {each}" for each in result.excluded),
            *([f"next: {ahead}"] if ahead else ()),
        ],
    )


def head(result: BudgetResult) -> str:
    """One line about what is planned and what the plan rests on.

    Args:
        result: The result.
    """
    given = result.settings
    if given.pilot:
        used = f"scores explain {given.r_squared:.0%} of the variance" if given.r_squared else "scores not used"
        rests = f"from a pilot of {counted(given.pilot, 'graded item')}; {used.replace('%', ' %')}"
    else:
        rests = (
            f"assumed: SD {given.sd:g}, correlation of two ratings {given.reliability:g}, of two systems "
            f"{given.system_correlation:g}, R² of scores {given.r_squared:g}"
        )
    return f"{counted(given.items, 'item')}, {counted(given.systems, 'system')}; {rests}; target: {given.target}"


def _grid(result: BudgetResult) -> Grid:
    heads, cells = numbers(result)
    grid: Grid = [["items", "raters", "ratings", "hours", *heads]]
    for row, values in zip(result.rows, cells, strict=True):
        grid.append(
            [
                *(f"{number:,}" for number in (row.items, row.raters, row.ratings)),
                f"{row.hours:,.1f}",
                *("-" if number is None else f"{number:.2f}" for number in values),
            ]
        )
    return grid


def uses_scores(result: BudgetResult) -> bool:
    """True if scores leave less variance than there is without them.

    Args:
        result: The result.
    """
    return result.components.residual != result.components.total


def numbers(result: BudgetResult) -> tuple[list[str], list[list[float | None]]]:
    """Names of the widths and powers of a plan, and their values in each; those without scores where scores are used.

    Args:
        result: The result.
    """
    several = result.settings.systems > 1
    columns = {"width of a mean": "mean_width"}
    if several:
        columns["of a difference"] = "difference_width"
    if uses_scores(result):
        columns["without scores"] = "human_difference_width" if several else "human_mean_width"
    if result.settings.difference is not None:
        columns |= {"power": "power", "of all pairs": "power_all"}
    return list(columns), [[getattr(row, field) for field in columns.values()] for row in result.rows]


def _components(result: BudgetResult) -> Grid:
    of = result.components
    raters = "unknown" if of.rater_variance is None else f"{of.rater_variance:.3f}"
    grid: Grid = [
        ["variance of one output", "of a mean", "of a difference (half)"],
        ["raters", raters, raters],
        ["items", f"{of.total.mean:.3f}", f"{of.total.difference:.3f}"],
    ]
    if uses_scores(result):
        grid.append(["… left by scores", f"{of.residual.mean:.3f}", f"{of.residual.difference:.3f}"])
    return grid


def verdict(result: BudgetResult) -> str | None:
    """The cheapest plan in words; None where nothing was asked for, or nothing is enough.

    Args:
        result: The result.
    """
    best, given = result.cheapest, result.settings
    if best is None:
        return None
    reached = []
    if given.power is not None and best.power_all is not None:
        reached.append(f"finds a difference of {given.difference:g} in all pairs with power {best.power_all:.2f}")
    if given.width is not None:
        several = best.difference_width is not None
        width = best.difference_width if best.difference_width is not None else best.mean_width
        reached.append(f"gives intervals of {'differences' if several else 'means'} of width {width:.2f}")
    rated = f"{counted(best.items, 'item')} by {counted(best.raters, 'rater')} each"
    return f"cheapest plan: {rated} ({best.ratings:,} ratings, {best.hours:,.1f} hours) {' and '.join(reached)}"


def next_command(result: BudgetResult) -> str | None:
    """The command that assigns the cheapest plan; None without one.

    Args:
        result: The result.
    """
    best = result.cheapest
    if best is None:
        return None
    annotators = max(ANNOTATORS, best.raters + 1)
    overlap = f" --overlap {SECOND_RATINGS:g}" if best.raters == 1 else ""
    return (
        f"postil annotate plan candidates.jsonl grading.db --articles articles.jsonl --items {best.items} "
        f"--annotators {annotators} --annotators-per-item {best.raters}{overlap}"
    )


def summary(result: BudgetResult) -> str:
    """The cheapest plan, or the numbers of plans.

    Args:
        result: The result.
    """
    best: BudgetRow | None = result.cheapest
    size = f"{counted(len(result.rows), 'plan')} for {counted(result.settings.items, 'item')}"
    if best is None:
        return size
    return f"{size}; cheapest {counted(best.items, 'item')} by {counted(best.raters, 'rater')}, {best.hours:,.1f} hours"
