"""Correlation of scores with human ratings: `postil.correlate` and its command."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final, Unpack, cast

import numpy as np

from postil.correlation.audit import AUDIT_STEPS, audit
from postil.correlation.options import CorrelateOptions
from postil.correlation.result import (
    CorrelationData,
    CorrelationResult,
    CorrelationSettings,
    DisagreementPair,
    DisagreementText,
)
from postil.data.arguments import check_arguments, options_of, parted
from postil.data.progress import OnMessage, steps
from postil.data.ranking import dense_ranks, difference
from postil.data.rows import Candidate, Row
from postil.engine import elsewhere
from postil.errors import Undefined, UnknownName, UsageError
from postil.meta.agreement import FEWEST, agreement_of_table
from postil.meta.column_correlations import constant, scaled
from postil.meta.correlation import correlations, differences, from_baseline, system_means
from postil.meta.parts import Agreement, Difference, Extent, HumanAgreement, Points, UndefinedResult
from postil.meta.rated import JUDGED, JudgedKeywords, Rated, aspect_of
from postil.meta.reliability import human_agreement
from postil.meta.resampling import Draws
from postil.meta.severity import Severities, severities
from postil.meta.table import Table as RatedTable
from postil.meta.table import join
from postil.results.base import replace
from postil.results.formats import value_with_interval
from postil.results.names import copies_remark, metric_of
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.frames import Column, Table
    from postil.data.options import JudgedInputOptions
    from postil.keywords import CorrelateKeywords
    from postil.meta.choices import Rule
    from postil.meta.coefficients import By
    from postil.meta.rated import Scores

__all__ = [
    "PEOPLE",
    "ROLES",
    "correlate",
    "correlate_each",
    "correlate_files",
    "correlate_table",
    "normalised",
    "worst",
    "worst_against_people",
]


PEOPLE: Final = "people"
"""Name of the other side where a metric disagrees with the ratings."""

ROLES: Final[Mapping[str, type[Row]]] = {**JUDGED, "candidates": Candidate}
"""Row type of each table."""

MEAN_WEIGHT: Final = "control:mean-weight("
"""Prefix of the controls that are the mean weight of a text's references."""


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
    takes), a list of rows or of dictionaries, or one or more paths of files. **Both**: ``correlate(result, grades)`` of
    a result and a column with a grade for each of its texts, in their order.

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
        missing: Texts of cells that hold no value, such as ``["n/a"]``; ``"judgements=n/a"`` is of that table alone.
        maxima: Table of the highest grade of each item (item, maximum), where ratings are to be shares of it.

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


def correlate_files(
    scores: Sequence[str],
    judgements: str,
    options: CorrelateOptions,
    candidates: str | None = None,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    each_way: bool = False,
    command: str = "",
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> CorrelationResult:
    """Correlate the item scores of files with the judgements of another.

    Args:
        scores: Files of score rows, as `postil score --items` writes them; ``-`` for standard input.
        judgements: A file of judgement rows.
        options: The options.
        candidates: A file of candidate rows, for the texts of the largest disagreements.
        pairs: More pairs of metrics whose largest disagreements are given, where both were scored.
        each_way: True for the largest of these in each direction.
        command: The command line, if there was one.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: A name or a combination of options is wrong.
        InvalidInput: A file is invalid; the message has the location.
        Undefined: No text has both scores and judgements.
    """
    rated = Rated.files(
        scores, judgements, inputs, on_message, aspects=[options.aspect], candidates=candidates, roles=ROLES
    )
    return correlate_rated(rated, options, pairs=pairs, each_way=each_way, command=command)


def correlate_each(
    scores: Sequence[str],
    judgements: Sequence[str],
    options: CorrelateOptions,
    candidates: str | None = None,
    *,
    aspects: Sequence[str] = (),
    levels: Sequence[str] = (),
    command: str = "",
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    on_metrics: Callable[[Collection[str]], object] = lambda _: None,
) -> list[CorrelationResult]:
    """Correlate the item scores of files with each of several aspects of judgements, at each of several levels.

    Args:
        scores: See `correlate_files`.
        judgements: Files of judgement rows; several are of an aspect each, which are all taken unless some are named.
        options: The options; those of aspect and level hold where none are given.
        candidates: See `correlate_files`.
        aspects: The aspects.
        levels: The levels.
        command: See `correlate_files`.
        inputs: The same.
        on_message: The same.
        on_metrics: Callback for the metrics before anything is computed of them, which may refuse them.

    Returns:
        One result per aspect and level, named after what tells it from the others; one alone has no name.

    Raises:
        PostilError: See `correlate_files`.
    """
    aspects = aspects or ([aspect_of(path) for path in judgements] if len(judgements) > 1 else ())
    chosen = [
        dataclasses.replace(options, aspect=aspect, by=cast("By", level))
        for aspect in dict.fromkeys(aspects or (options.aspect,))
        for level in dict.fromkeys(levels or (options.by,))
    ]
    rated = Rated.files(scores, judgements, inputs, on_message, aspects=aspects, candidates=candidates, roles=ROLES)
    if len(chosen) == 1:
        return [correlate_rated(rated, chosen[0], command=command, on_metrics=on_metrics)]
    return [
        replace(
            correlate_rated(each, some, command=command, on_metrics=on_metrics), name=_told_by(some, aspects, levels)
        )
        for each, some in zip(rated.repeated(len(chosen)), chosen, strict=True)
    ]


def _told_by(options: CorrelateOptions, aspects: Sequence[str], levels: Sequence[str]) -> str:
    """Name of the result of some options among the others."""
    parts = ((options.aspect, aspects), (options.by, levels))
    return ", ".join(part for part, several in parts if part is not None and len(set(several)) > 1)


def correlate_rated(
    rated: Rated,
    options: CorrelateOptions,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    each_way: bool = False,
    command: str = "",
    on_metrics: Callable[[Collection[str]], object] = lambda _: None,
) -> CorrelationResult:
    """Correlate item scores with judgements.

    Args:
        rated: The scores and judgements.
        options: The options.
        pairs: More pairs of metrics whose largest disagreements are given, where both were scored.
        each_way: True for the largest of these in each direction.
        command: The command line, if there was one.
        on_metrics: Callback for the metrics before anything is computed of them, which may refuse them.

    Raises:
        UsageError: There are no scores.
        UnknownName: A metric was not scored.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: No text has both scores and judgements.
    """
    if rated.scores is None:
        raise UsageError("no metric: expected at least one column of scores")
    table = join(
        rated.scores,
        rated.judgements,
        metrics=options.metrics,
        beside=(options.lengths,) if options.audit else (),
        lower_is_better=options.lower_is_better,
        aspect=options.aspect,
        scale=rated.scale(options.scale),
    )
    on_metrics(table.metrics)
    return correlate_table(table, options, rated.texts, pairs=pairs, each_way=each_way, command=command)


def correlate_table(
    table: RatedTable,
    options: CorrelateOptions,
    texts: Mapping[tuple[str, str], str] | None = None,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    each_way: bool = False,
    command: str = "",
) -> CorrelationResult:
    """Correlate the scores of a table with its ratings.

    Args:
        table: The joined table.
        options: The options.
        texts: Texts of the candidates by item and system.
        pairs: More pairs of metrics whose largest disagreements are given, where both were scored.
        each_way: True for the largest of these in each direction.
        command: The command line, if there was one.

    Raises:
        UnknownName: A metric of ``options.disagree``, or the baseline, was not scored.
    """
    for name in (*(options.disagree or ()), *filter(None, [options.baseline])):
        table.column(name)
    given, biased = table, severities(table.ratings)
    table = _without_severities(table, biased, options.severity)
    several = 3 + len(options.coefficients) + AUDIT_STEPS * options.audit
    with elsewhere(options.engine, options.jobs, options.address) as engine, steps(several) as at:
        draws = Draws(options.resamples, options.permutations, options.seed, options.jobs, engine)
        at("correlations")
        counts = draws.counts(len(table.starts))  # kept, so that they are drawn once
        found = correlations(table, options.coefficients, options.by, draws)
        at("human agreement")
        people, no_people = _human(table, options, draws)
        at("inter-annotator agreement")
        agreed = _agreement(given, draws)
        tests = []
        for name in options.coefficients:
            at(f"differences, {name}")
            tests.append(differences(table, name, options.by, draws, found=found.replicates[name]))
        copies = copies_remark(table.copies, len(table))
        extent = Extent(items=len(table.items), systems=len(table.systems))
        near = () if extent.few_items else near_warnings(table, tests[0].rows, draws)
        few = extent.remarks(of_systems=options.by == "system" or options.audit)
        warnings = (*few, *found.notes, *near, *filter(None, [copies]))
        audited = None
        if options.audit:
            folds, epsilon, lengths = options.folds, options.alt_epsilon, options.lengths
            audited = audit(table, found, at, draws, given=given, folds=folds, epsilon=epsilon, lengths=lengths)
        del counts
    means = system_means(table)
    notes = dict.fromkeys(note for each in tests for note in each.notes)
    known = {(each.metric, each.coefficient) for each in found.absent}
    return CorrelationResult(
        correlations=found.rows,
        absent=(*found.absent, *no_people),
        human=people,
        differences=tuple(row for each in tests for row in each.rows),
        notes=(*notes, *warnings),
        agreement=agreed,
        systems=means.rows,
        orders=means.orders,
        disagreements=tuple(_disagreements(table, options, pairs, texts or {}, each_way=each_way)),
        data=CorrelationData(
            texts=len(table),
            items=len(table.items),
            systems=len(table.systems),
            annotators=len(table.ratings.names),
            ratings=len(table.ratings.grades),
            aspect=table.aspect,
            scale=str(table.scale) if table.scale else None,
            mean=float(table.grades.mean()),
            sd=float(table.grades.std()),
            left_out=table.left_out,
        ),
        signatures=dict(zip(table.metrics, table.signatures, strict=True)),
        settings=CorrelationSettings(
            by=options.by,
            coefficients=options.coefficients,
            lower_is_better=tuple(name for name, low in zip(table.metrics, table.lower_is_better, strict=True) if low),
            resamples=options.resamples,
            permutations=options.permutations,
            seed=options.seed,
            postil=VERSION,
            alt_epsilon=options.alt_epsilon if options.audit else None,
            lengths=options.lengths if options.audit else "",
            folds=options.folds if options.audit else 0,
            baseline=options.baseline or "",
            command=command,
        ),
        audit=audited,
        severity=biased.told(options.severity) if biased else None,
        warnings=warnings,
        from_baseline=tuple(
            row for each in tests if options.baseline for row in from_baseline(each.rows, options.baseline)
        ),
        points=Points(
            grades=tuple(table.grades.tolist()),
            scores={name: tuple(column.tolist()) for name, column in zip(table.metrics, table.scores.T, strict=True)},
        ),
        absent_differences=tuple(
            each for test in tests for each in test.absent if (each.metric, each.coefficient) not in known
        ),
    )


def _without_severities(table: RatedTable, found: Severities | None, rule: Rule) -> RatedTable:
    """The table with ratings without severities, where the rule removes them."""
    if found is None or not found.removed(rule):
        return table
    return dataclasses.replace(table, ratings=found.adjusted, grades=found.adjusted.means)


def _human(
    table: RatedTable, options: CorrelateOptions, draws: Draws
) -> tuple[HumanAgreement, tuple[UndefinedResult, ...]]:
    try:
        return human_agreement(table, options.coefficients, options.by, draws, as_given=options.human_as_given)
    except Undefined as error:
        return HumanAgreement(reason=error.message), ()


def _agreement(table: RatedTable, draws: Draws) -> Agreement | None:
    with suppress(Undefined):  # for the reason that `HumanAgreement.reason` gives
        return agreement_of_table(table, draws, fewest=FEWEST)
    return None


def _disagreements(
    table: RatedTable,
    options: CorrelateOptions,
    pairs: Sequence[tuple[str, str]],
    texts: Mapping[tuple[str, str], str],
    *,
    each_way: bool,
) -> Iterator[DisagreementPair]:
    """The largest between two metrics, and between the first of them and people."""
    if options.worst < 1:
        return
    first, second = options.disagree or _pair(table.metrics)
    shown = [*pairs, *([(first, second)] if second else []), (first, PEOPLE)]
    for one, other in dict.fromkeys(shown):
        rows: tuple[DisagreementText, ...]
        try:
            if other == PEOPLE:
                rows = worst_against_people(table, one, options.worst)
            else:
                rows = worst(table, one, other, options.worst, each_way=each_way and (one, other) in pairs)
        except (Undefined, UnknownName):  # one is constant, which stands in `absent`, or was not scored
            continue
        told = tuple(replace(row, text=texts.get((row.item, row.system))) for row in rows)
        yield DisagreementPair(first=one, second=other, texts=told)


def _pair(metrics: Sequence[str]) -> tuple[str, str]:
    """The first weighted metric with its unweighted form; else the first two; else one and nothing."""
    for name in metrics:
        if name.startswith("w-") and name.removeprefix("w-") in metrics:
            return name, name.removeprefix("w-")
    named = [name for name in metrics if not name.startswith("control:")] or list(metrics)
    return named[0], named[1] if len(named) > 1 else ""


def near_warnings(table: RatedTable, differences: Sequence[Difference], draws: Draws) -> Iterator[str]:
    """Signs in the data against ``over=near`` and ``over=kernel``, each in a sentence that names it.

    Args:
        table: Scores and ratings.
        differences: Differences of the metrics in one coefficient.
        draws: Random draws.
    """
    if not any("over=" in name or name.startswith(MEAN_WEIGHT) for name in table.metrics):
        return
    from postil.metrics.reference_aggregation import Over, averages_weights, differ_in_over  # noqa: PLC0415 - all metrics
    from postil.metrics.spec import known_metric  # noqa: PLC0415 - the same

    # Within items whatever level was asked for: between items the mean weight says how many good comments there were.
    weights = [name for name in table.metrics if name.startswith(MEAN_WEIGHT)]
    found = correlations(table.only(weights), ("pearson",), "item", draws) if weights else None
    for row in found.rows if found else ():
        spec = metric_of(row.metric)
        metric = known_metric(spec)
        if metric is not None and row.high is not None and row.high < 0:
            yield (
                f"{spec}: within items the mean weight of the references falls as the human score rises (pearson "
                f"{value_with_interval(row.value, row.low, row.high)}); over={Over.of(metric).name} follows that mean, "
                "over=max less so"
            )
    specs = {name: metric for name in table.metrics if (metric := known_metric(name)) is not None}
    pairs = [
        (near, Over.of(metric).name, other)
        for near, metric in specs.items()
        if averages_weights(metric)
        for other, same in specs.items()
        if differ_in_over(metric, same)
    ]
    for near, over, other in pairs:
        for each in differences:
            if {each.first, each.second} != {near, other}:
                continue
            ahead = each if each.first == near else each.reversed()
            if ahead.high is not None and ahead.high < 0:
                yield (
                    f"{near}: {ahead.coefficient} is lower than that of {other}: difference "
                    f"{value_with_interval(ahead.value, ahead.low, ahead.high)}; over={over} loses where references "
                    "get worse as texts get better, and where many references have few distinct weights"
                )


def normalised(table: RatedTable, metrics: Sequence[str] = ()) -> NDArray[np.float64]:
    """Rescale scores to the mean and variance of the mean ratings, then clip them to the scale.

    ``clip(mean(grades) + sd(grades) (x - mean(x)) / sd(x), low, high)``; the sign of metrics for which lower is better
    is flipped first. Without a known scale, low and high are the lowest and highest mean rating of the table. Clipping
    comes last, so mean and variance equal those of the ratings only where nothing was clipped.

    Args:
        table: Scores and ratings of n texts.
        metrics: Names of k metrics, in this order; by default all.

    Returns:
        float64[n, k], higher is better.

    Raises:
        Undefined: One of the metrics, or the ratings, have no variance.
        UnknownName: The table has no such metric.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("1", 0.1, 1), ("2", 0.2, 3), ("3", 0.3, 2), ("4", 0.6, 4))
    >>> table = join(
    ...     [Score(item, "a", "meteor", score, "") for item, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, grade in texts],
    ... )
    >>> normalised(table).round(3).tolist()
    [[1.305], [1.902], [2.5], [4.0]]
    """
    columns = [table.column(metric) for metric in metrics] if metrics else list(range(len(table.metrics)))
    scores, grades = table.oriented[:, columns], table.grades
    alike = constant(np.column_stack([scores, grades]), np.zeros(1, np.int64))[0]
    if alike[-1]:
        raise Undefined(f"all {len(grades)} grades are {grades[0]:g}, so there is no variance to bring scores to")
    for column in range(len(columns)):
        if alike[column]:
            name = table.metrics[columns[column]]
            raise Undefined(f"{name} gives all {len(grades)} texts the same score, so it cannot be normalised")
    scores = scaled(scores)
    rescaled = grades.mean() + grades.std() * (scores - scores.mean(axis=0)) / scores.std(axis=0)
    ends = (table.scale.low, table.scale.high) if table.scale else (grades.min(), grades.max())
    return np.asarray(np.clip(rescaled, *ends), np.float64)


def worst(
    table: RatedTable, first: str, second: str, k: int = 10, *, each_way: bool = False
) -> tuple[DisagreementText, ...]:
    """Texts on which two rescaled metrics differ most.

    Args:
        table: Scores and ratings.
        first: A metric.
        second: Another metric.
        k: Number of texts, at least 0.
        each_way: True for k texts on which the first is higher, and k on which the second is.

    Returns:
        The largest absolute differences first; equal ones by the names of item and system.

    Raises:
        Undefined: One of the metrics, or the ratings, have no variance.
        UnknownName: The table has no such metric.
        UsageError: k is negative.

    >>> from postil.meta.table import join
    >>> from postil.data.rows import Judgement, Score
    >>> texts = (("1", 0.1, 9, 1), ("2", 0.2, 3, 3), ("3", 0.6, 1, 4))
    >>> table = join(
    ...     [Score(item, "a", "meteor", score, "") for item, score, _, _ in texts]
    ...     + [Score(item, "a", "length", score, "") for item, _, score, _ in texts],
    ...     [Judgement(item, "a", "ann", grade) for item, _, _, grade in texts],
    ... )
    >>> [(at.item, at.normalised[0] < at.normalised[1]) for at in worst(table, "meteor", "length", k=2)]
    [('3', False), ('1', True)]
    """
    values = normalised(table, (first, second))
    columns = [table.column(first), table.column(second)]
    return _worst(table, columns, values, values[:, 1], k, each_way=each_way)


def worst_against_people(table: RatedTable, metric: str, k: int = 10) -> tuple[DisagreementText, ...]:
    """Texts on which a rescaled metric and the mean rating differ most.

    Args:
        table: Scores and ratings.
        metric: A metric.
        k: Number of texts, at least 0.

    Returns:
        The largest absolute differences first; equal ones by the names of item and system.

    Raises:
        Undefined: The metric, or the ratings, have no variance.
        UnknownName: The table has no such metric.
        UsageError: k is negative.
    """
    values = normalised(table, (metric,))
    return _worst(table, [table.column(metric)], values, table.grades, k)


def _worst(
    table: RatedTable,
    columns: list[int],
    values: NDArray[np.float64],
    others: NDArray[np.float64],
    k: int,
    *,
    each_way: bool = False,
) -> tuple[DisagreementText, ...]:
    if k < 0:
        raise UsageError(f"k counts from 0 up, got {k}")
    differences = difference(values[:, 0], others)
    largest = np.maximum(np.abs(values[:, 0]), np.abs(others))
    places = dense_ranks(np.abs(differences)[:, None], magnitudes=largest[:, None])[:, 0]

    def names(row: int) -> tuple[str, str]:
        return table.items[table.item[row]], table.systems[table.system[row]]

    def first(rows: NDArray[np.int64]) -> list[int]:
        """The first k of some rows, of which only those that may be among them are sorted."""
        least = np.partition(places[rows], len(rows) - k)[len(rows) - k] if 0 < k < len(rows) else 0
        rows = rows[places[rows] >= least]
        return sorted(rows.tolist(), key=lambda row: (-places[row], names(row)))[:k]

    chosen = first(np.arange(len(table)))
    if each_way:
        ways = [first(np.flatnonzero(sign * differences > 0)) for sign in (1, -1)]
        chosen = sorted(chain(*ways), key=lambda row: (-places[row], names(row)))
    return tuple(
        DisagreementText(
            row=row,
            item=names(row)[0],
            system=names(row)[1],
            grade=float(table.grades[row]),
            scores=tuple(table.scores[row, columns].tolist()),
            normalised=tuple(values[row].tolist()),
            difference=float(differences[row]),
            text=None,
        )
        for row in chosen
    )
