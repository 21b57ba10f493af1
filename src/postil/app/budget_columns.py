"""Plans of a campaign from columns or tables of a pilot, or from assumptions: `postil.budget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from postil.app.budget import BudgetOptions, budget_of_assumptions, budget_rows
from postil.app.columns import refuse_other_form
from postil.app.judged_columns import open_judged
from postil.records.arguments import check_arguments, options_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from postil.app.budget import BudgetKeywords
    from postil.app.columns import Column
    from postil.app.item_scores import Scores
    from postil.records.frames import Table
    from postil.records.results import BudgetResult

__all__ = ["budget"]


@overload
def budget(*, options: BudgetOptions, **keywords: Unpack[BudgetKeywords]) -> BudgetResult: ...
@overload
def budget(
    scores: Mapping[str, Column] | None,
    grades: Column,
    *,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    options: BudgetOptions | None = None,
    **keywords: Unpack[BudgetKeywords],
) -> BudgetResult: ...
@overload
def budget(
    scores: Scores | None,
    judgements: Table,
    /,
    *,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: BudgetOptions | None = None,
    **keywords: Unpack[BudgetKeywords],
) -> BudgetResult: ...
@overload
def budget(
    scores: Scores | None = None,
    *,
    judgements: Table,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: BudgetOptions | None = None,
    **keywords: Unpack[BudgetKeywords],
) -> BudgetResult: ...
def budget(
    scores: Mapping[str, Column] | Scores | None = None,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: BudgetOptions | None = None,
    **keywords: Unpack[BudgetKeywords],
) -> BudgetResult:
    """Plan a rating campaign: interval widths, power and hours for numbers of graded items and of raters.

    From the scores and ratings of a pilot, in the two forms of `postil.estimate`, or from the assumptions of options
    alone.

    Args:
        scores: n scores by metric, or a result, or a table (item, system, metric, score). Without any the plans use the
            ratings alone.
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None and NaN stand
            for no rating.
        judgements: Table of human ratings (item, system, annotator, grade, and aspect where there is more than one).
        items: Item of each text. By default each text is an item of its own.
        systems: System that wrote each text; by default all are of one system. An item has one text per system.
        signatures: Signature of each metric.
        item: Column of the item, in both tables.
        system: Column of the system, in both tables.
        columns: Columns by field, as ``--column`` has them.
        metric_columns: Columns of the table of scores that each are a metric, where there is no column ``metric``.
        annotator_columns: Columns of the judgements that each are an annotator, where there is no column ``grade``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The ``rows``, one per number of graded items and of raters, the ``cheapest`` plan, and ``notes``.

    Raises:
        InvalidInput: Columns differ in length, something is no number, or there is no grade.
        UsageError: The number of items or an assumption is missing, or an argument is of the other form.
        UnknownName: A metric or field does not exist.
        Undefined: The pilot is too small.

    >>> found = budget(options=BudgetOptions(items=200, sd=1.0, difference=0.5))
    >>> found.cheapest.items, found.cheapest.raters, found.cheapest.ratings
    (56, 1, 112)
    """
    check_arguments(budget, locals())
    options = options_of(BudgetOptions, options, keywords)
    if scores is None and grades is None and judgements is None:
        refuse_other_form(
            "without ratings; expected none with assumptions",
            items=items,
            systems=systems,
            signatures=signatures,
            item=item,
            system=system,
            columns=columns,
            metric_columns=metric_columns,
            annotator_columns=annotator_columns,
        )
        return budget_of_assumptions(options)
    opened = open_judged(
        scores,
        grades,
        judgements,
        items=items,
        systems=systems,
        signatures=signatures,
        item=item,
        system=system,
        columns=columns,
        metric_columns=metric_columns,
        annotator_columns=annotator_columns,
        aspect=options.aspect,
    )
    return budget_rows(opened.scores, opened.judgements, options, left_out=opened.left_out)
