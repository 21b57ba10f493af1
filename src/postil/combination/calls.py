"""Combinations in Python: `postil.fit_combination` and `postil.apply_combination`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.combination.rows import ApplyOptions, CombineOptions, apply_to_rows, fit_rated
from postil.data.arguments import check_arguments, options_of, parted
from postil.data.frames import warn
from postil.meta.rated import JudgedKeywords, Rated, ScoredKeywords, scores_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from postil.combination.result import CombinationResult
    from postil.combination.rows import ApplyKeywords, CombineKeywords
    from postil.data.columns import Column
    from postil.data.frames import Table
    from postil.data.row_files import FilePath
    from postil.meta.rated import Scores
    from postil.scoring.result import ScoreResult

__all__ = ["apply_combination", "fit_combination"]


def fit_combination(
    scores: Mapping[str, Column] | Scores,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
    options: CombineOptions | None = None,
    **keywords: Unpack[CombineKeywords],
) -> CombinationResult:
    """Fit a combination of scores to human ratings, and report how well it grades texts of items it has not seen.

    There are the two forms of `postil.correlate`: **columns** (scores by metric and grades, one entry per text) and
    **tables** (scores and judgements that meet on item and system).

    Args:
        scores: n scores by metric, controls among them. Or a result of `postil.score`, or a table.
        grades: Human rating of each of n texts: a number, a list with one number per annotator, or None.
        judgements: Table of human ratings.
        options: Options; by default those of the command. Their ``out`` is the folder for `apply_combination`.
        keywords: Fields of the options, in place of an object, and ways to read the data, as of `postil.correlate`.
            Folds and intervals are over items.

    Returns:
        Out-of-fold correlations of the ``combination`` and of the ``controls`` alone, their ``difference``, the
        weights of the ``columns`` and the out-of-fold grades of the ``texts``.

    Warns:
        UserWarning: Judgements without a grade were left out; they are in ``excluded`` as well.

    Raises:
        InvalidInput: Columns differ in length, something is no number, there is no grade, or an item has two texts of
            one system.
        UsageError: Isotonic regression of several metrics, an aspect of columns, or an argument of the other form.
        UnknownName: A method, metric or field does not exist.
        Undefined: There are fewer items than folds, or nothing varies.
        MissingExtra: Boosting without scikit-learn.

    >>> first, second = [i % 7 for i in range(36)], [i % 5 for i in range(36)]
    >>> grades = [3 * a + b for a, b in zip(first, second)]
    >>> found = fit_combination({"a": first, "b": second, "c": [i % 3 for i in range(36)]}, grades)
    >>> round(found.combination.pool.value, 4), found.combination.item
    (1.0, None)
    >>> [(column.metric, round(column.weight, 2)) for column in found.columns]
    [('a', 6.04), ('b', 1.42), ('c', -0.0)]
    """
    check_arguments(fit_combination, locals())
    given, fields = parted(keywords, JudgedKeywords)
    options = options_of(CombineOptions, options, fields)
    return fit_rated(Rated.of(scores, grades, judgements, given, aspect=options.aspect), options)


def apply_combination(
    scores: Mapping[str, Column] | Scores,
    model: FilePath,
    *,
    options: ApplyOptions | None = None,
    **keywords: Unpack[ApplyKeywords],
) -> ScoreResult:
    """Grade texts by a combination of their scores that `fit_combination` wrote.

    Args:
        scores: Scores as of `fit_combination`, by all metrics of the combination.
        model: Folder of the combination.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object, and ways to read the scores, as of `postil.correlate`.
            Signatures must be those of the fit.

    Returns:
        Mean grade of each system, and in ``items`` the grade of each text, on the scale of the judgements.

    Warns:
        UserWarning: Texts without a score by every metric were left out.

    Raises:
        InvalidInput: The folder or the scores are invalid, or scores have another signature than those of the fit.
        UsageError: Clipping without a scale, or an argument of the other form.
        Undefined: No text has all scores.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     options = CombineOptions(method="isotonic", folds=2, out=f"{folder}/model")
    ...     fitted = fit_combination({"m": [1, 2, 3, 4]}, [1, 3, 2, 4], options=options)
    ...     graded = apply_combination({"m": [1.5, 9.0]}, options.out)
    >>> graded.items[fitted.metric].tolist()
    [1.75, 4.0]
    """
    check_arguments(apply_combination, locals())
    given, fields = parted(keywords, ScoredKeywords)
    return apply_to_rows(scores_of(scores, given), model, options_of(ApplyOptions, options, fields), warn)
