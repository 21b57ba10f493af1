"""Estimation of mean grades from columns or tables: `postil.estimate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from postil.app.estimate import EstimateOptions, estimate_rows
from postil.app.judged_columns import open_judged
from postil.records.arguments import check_arguments, options_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from postil.app.columns import Column
    from postil.app.estimate import EstimateKeywords
    from postil.app.item_scores import Scores
    from postil.records.frames import Table
    from postil.records.results import EstimateResult

__all__ = ["estimate"]


@overload
def estimate(
    scores: Mapping[str, Column] | None,
    grades: Column,
    *,
    items: Column | None = None,
    systems: Column | None = None,
    signatures: Mapping[str, str] | None = None,
    options: EstimateOptions | None = None,
    **keywords: Unpack[EstimateKeywords],
) -> EstimateResult: ...
@overload
def estimate(
    scores: Scores | None,
    judgements: Table,
    /,
    *,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: EstimateOptions | None = None,
    **keywords: Unpack[EstimateKeywords],
) -> EstimateResult: ...
@overload
def estimate(
    scores: Scores | None = None,
    *,
    judgements: Table,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    annotator_columns: Sequence[str] = (),
    options: EstimateOptions | None = None,
    **keywords: Unpack[EstimateKeywords],
) -> EstimateResult: ...
def estimate(
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
    options: EstimateOptions | None = None,
    **keywords: Unpack[EstimateKeywords],
) -> EstimateResult:
    """Estimate the mean human grade of each system from the ratings of some items and the scores of all.

    Scores only remove variance: whatever they are worth, the estimand is about people's grades. The graded items must
    be a simple random sample of the items. There are the two forms of `postil.correlate`, **columns** and **tables**.

    Args:
        scores: n scores by metric, such as the ``items`` of the result of `postil.score`. Or a result, or a table
            (item, system, metric, score). Without any the grades are used alone.
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None and NaN stand
            for no rating, which most texts have.
        judgements: Table of human ratings (item, system, annotator, grade, and aspect where there is more than one).
        items: Item of each text; intervals are over items. By default each text is an item of its own.
        systems: System that wrote each text; by default all are of one system. An item has one text per system.
        signatures: Signature of each metric.
        item: Column of the item, in both tables.
        system: Column of the system, in both tables.
        columns: Columns by field, as ``--column`` has them: ``{"score": "value"}`` of the scores,
            ``{"judgements.grade": "stars"}`` of the judgements.
        metric_columns: Columns of the table of scores that each are a metric, where there is no column ``metric``.
        annotator_columns: Columns of the judgements that each are an annotator, where there is no column ``grade``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The ``systems``, best first, their ``differences``, ``relative_efficiency``, ``curve`` and ``notes``.

    Warns:
        UserWarning: Judgements without a grade were left out; they are in ``excluded`` as well.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: An aspect was asked for in columns, an argument is of the other form, or options do not go together.
        UnknownName: A target, method, metric or field does not exist.
        Undefined: No text has both scores and judgements.

    >>> quality = [(7 * i + 3 * s) % 5 for i in range(30) for s in range(2)]
    >>> grades = [1 + q if row < 24 else None for row, q in enumerate(quality)]
    >>> judge = [q + (row % 3) / 4 for row, q in enumerate(quality)]
    >>> found = estimate({"judge": judge}, grades, items=[i for i in range(30) for _ in "ab"], systems=["a", "b"] * 30)
    >>> [(row.system, round(row.mean, 2), round(row.human_mean, 2), row.letters) for row in found.systems]
    [('b', 2.95, 2.92, 'a'), ('a', 2.93, 2.83, 'a')]
    >>> round(found.relative_efficiency.means, 1)
    2.1
    """
    check_arguments(estimate, locals())
    options = options_of(EstimateOptions, options, keywords)
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
    return estimate_rows(opened.scores, opened.judgements, options, left_out=opened.left_out)
