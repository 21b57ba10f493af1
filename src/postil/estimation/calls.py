"""Mean grades of systems from few ratings and many scores: `postil estimate` and `postil.estimate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack, cast

from postil.data.arguments import check_arguments, options_of, parted
from postil.data.explain import counted
from postil.data.frames import as_list
from postil.errors import InvalidInput, UsageError
from postil.estimation.designs import ESTIMATORS
from postil.estimation.estimator import Method
from postil.estimation.estimator import estimate as estimate_means
from postil.estimation.options import EstimateOptions
from postil.estimation.result import EstimateResult, EstimateSettings, SystemEstimate
from postil.messages import Setting
from postil.meta.estimation import RatedOutputs, Target, outputs_of
from postil.meta.rated import JudgedKeywords, Rated
from postil.meta.table import Judged, Scored
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.data.frames import Column, Table
    from postil.keywords import EstimateKeywords
    from postil.meta.rated import Scores

__all__ = ["estimate", "estimate_mean", "estimate_rated", "rated_outputs"]

SCORE: Final = "score"
"""Name of the score of `estimate_mean`."""


def estimate(
    scores: Mapping[str, Column] | Scores | None = None,
    grades: Column | Table | None = None,
    *,
    judgements: Table | None = None,
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
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object, and ways to read the data, as of `postil.correlate`.
            Intervals are over items, and an item has one text per system.

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
    given, fields = parted(keywords, JudgedKeywords)
    options = options_of(EstimateOptions, options, fields)
    return estimate_rated(Rated.of(scores, grades, judgements, given, aspect=options.aspect), options)


def estimate_mean(
    grades: Column,
    scores_graded: Column,
    scores_ungraded: Column,
    *,
    method: str = "crossed",
    target: str = "population",
    lower_is_better: bool = False,
) -> SystemEstimate:
    """Estimate the mean grade of one system from the grades of some texts and the scores of all, in three arrays.

    The call is that of ``ppi_mean_ci`` in ppi-python, whose numbers ``method="ppi"`` gives. `estimate` has the same
    numbers with all that they rest on, and takes several systems and scores.

    Args:
        grades: Human grade of each of n texts, a simple random sample of all.
        scores_graded: Score of each of these, by a metric or a judge.
        scores_ungraded: Score of each of the m other texts.
        method: Estimator: crossed, human or ppi; see `EstimateOptions`.
        target: Estimand: population or items; see `EstimateOptions`.
        lower_is_better: True for a score for which lower is better, which matters to ppi alone.

    Returns:
        The ``mean`` in grades, with its 95 % confidence interval from ``low`` to ``high``; ``human_mean`` and its
        interval are those of the grades alone.

    Raises:
        InvalidInput: Arrays are of different lengths, something is no number, or there is no grade.
        UnknownName: A method or target does not exist.
        Undefined: ``ppi`` without texts that have no grade.

    >>> grades, judge = [3, 4, 2, 5, 3, 1, 4, 2], [2.9, 4.2, 2.4, 4.6, 3.3, 1.2, 3.7, 2.2]
    >>> others = [3.1, 2.2, 4.4, 3.9, 1.8, 2.7, 3.6, 4.9, 2.5, 3.3, 4.1, 2.0]
    >>> found = estimate_mean(grades, judge, others)
    >>> round(found.mean, 2), round(found.low, 2), round(found.high, 2)
    (3.05, 2.15, 3.94)
    """
    check_arguments(estimate_mean, locals())
    options = EstimateOptions(method=method, target=target, lower_is_better=(SCORE,) if lower_is_better else ())
    rated, scored, rest = (
        as_list(each, name)
        for name, each in (
            ("grades", grades),
            ("scores_graded", scores_graded),
            ("scores_ungraded", scores_ungraded),
        )
    )
    if len(scored) != len(rated):
        problem = f"expected a score for each of {counted(len(rated), 'grade')}, got {len(scored)}"
        raise InvalidInput(problem, where="scores_graded")
    columns = {SCORE: [*scored, *rest]}
    return estimate_rated(Rated.columns(columns, [*rated, *[None] * len(rest)]), options).systems[0]


def estimate_rated(rated: Rated, options: EstimateOptions, command: str = "") -> EstimateResult:
    """Estimate mean grades from item scores and judgements.

    Args:
        rated: The scores and judgements.
        options: The options.
        command: The command line, if there was one.

    Raises:
        UsageError: A combination of options is wrong.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: No output has both scores and ratings.
    """
    outputs, scale = rated_outputs(rated, options), rated.scale(options.scale)
    method = cast("Method", options.method if rated.scores is not None else "human")
    settings = EstimateSettings(
        postil=VERSION,
        metrics=options.metrics,
        lower_is_better=options.lower_is_better,
        aspect=outputs.aspect,
        scale=str(scale) if scale else None,
        command=command,
    )
    return estimate_means(outputs, cast("Target", options.target), method, settings=settings)


def rated_outputs(rated: Rated, options: EstimateOptions) -> RatedOutputs:
    """Assemble item scores and judgements.

    Args:
        rated: The scores and judgements.
        options: The options.

    Raises:
        UnknownName: There is no such metric or aspect.
        UsageError: Options of scores without scores.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: No output has both scores and ratings.
    """
    named, estimator = (*options.metrics, *options.lower_is_better), ESTIMATORS[options.method]
    if rated.scores is None:
        if estimator.alone:
            raise UsageError("{method} needs scores", method=Setting("method", estimator.name))
        if named:
            raise UsageError(f"there are no scores, so none by {named[0]}")
    scored = None if rated.scores is None else Scored(rated.scores)
    if scored is not None:
        scored.check(named)
    judged = Judged(rated.judgements, options.aspect, rated.scale(options.scale))
    return outputs_of(scored, judged, options.metrics, scores=estimator.scores, severity=options.severity)
