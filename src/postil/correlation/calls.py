"""Correlation of columns or tables of scores with human ratings: `postil.correlate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.correlation.options import CorrelateOptions
from postil.correlation.rows import ROLES, correlate_rated
from postil.data.arguments import check_arguments, options_of, parted
from postil.meta.rated import JudgedKeywords, Rated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from postil.correlation.options import CorrelateKeywords
    from postil.correlation.result import CorrelationResult
    from postil.data.columns import Column
    from postil.data.frames import Table
    from postil.meta.rated import Scores

__all__ = ["correlate"]


def correlate(
    scores: Mapping[str, Column] | Scores,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    candidates: Table | None = None,
    options: CorrelateOptions | None = None,
    **keywords: Unpack[CorrelateKeywords],
) -> CorrelationResult:
    """Correlate metric scores with human ratings, with confidence intervals, human reference points and tests.

    There are two forms. **Columns**: ``correlate(scores_by_metric, grades, items=…, systems=…)``, one entry per text.
    **Tables**: ``correlate(scores, judgements)``, which meet on item and system, as in the command; the scores are a
    result of `postil.score`, or item scores as a table: a data frame (pandas, Polars, pyarrow, or another that narwhals
    takes), a list of rows or of dictionaries, or one or more paths of files.

    Args:
        scores: n scores by metric, such as the ``items`` of the result of `postil.score`, controls among them. Or a
            result, or a table (item, system, metric, score).
        grades: Human rating of each of n texts: a number, or a list with one number per annotator. None and NaN stand
            for no rating; a text without any is excluded, and counted.
        judgements: Table of human ratings (item, system, annotator, grade, and aspect where there is more than one).
        candidates: Table of the texts (item, system, text), for those of the largest disagreements.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object, and what follows, to read the data: the first three for
            columns, the others for tables.
        items: Item of each text; intervals are over items. By default each text is an item of its own.
        systems: System that wrote each text; by default all are of one system. An item has one text per system.
        signatures: Signature of each metric.
        item: Column of the item, in both tables.
        system: Column of the system, in both tables.
        columns: Columns by field, as ``--column`` has them: ``{"score": "value"}`` of the scores,
            ``{"judgements.grade": "stars"}`` of the judgements.
        metric_columns: Columns of the table of scores that each are a metric, where there is no column ``metric``.
        annotator_columns: Columns of the judgements that each are an annotator, where there is no column ``grade``.

    Returns:
        The ``correlations``, ``human``, ``differences``, ``agreement``, ``systems``, ``disagreements``.

    Warns:
        UserWarning: Judgements without a grade were left out; they are in ``data.left_out`` as well.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: There is no metric, an aspect was asked for in columns, or an argument is of the other form.
        UnknownName: A coefficient, level, metric or field does not exist.
        Undefined: No text has both scores and judgements.

    >>> found = correlate({"bleu-4": [0.1, 0.3, 0.2, 0.5]}, [[1, 2], [3, 3], [3, 2], [5, 4]])
    >>> row = found.correlations[0]
    >>> row.metric, row.coefficient, round(row.value, 4), row.n
    ('bleu-4', 'pearson', 0.9954, 4)

    >>> scores = [{"id": i, "bleu-4": score} for i, score in enumerate([0.1, 0.3, 0.2, 0.5])]
    >>> ratings = [{"id": i, "ann": a, "bob": b} for i, (a, b) in enumerate([(1, 2), (3, 3), (3, 2), (5, 4)])]
    >>> again = correlate(
    ...     scores, ratings, item="id", metric_columns=["bleu-4"], annotator_columns=["ann", "bob"])
    >>> again.correlations[0].value == row.value
    True
    """
    check_arguments(correlate, locals())
    given, fields = parted(keywords, JudgedKeywords)
    options = options_of(CorrelateOptions, options, fields)
    rated = Rated.of(scores, grades, judgements, given, aspect=options.aspect, candidates=candidates, roles=ROLES)
    return correlate_rated(rated, options)
