"""Correlation of item scores with human judgements: the command `postil correlate`."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from postil.correlation.audit import AUDIT_STEPS, audit
from postil.correlation.over_near import near_warnings
from postil.correlation.result import CorrelationResult
from postil.data.progress import steps
from postil.data.rows import Candidate
from postil.engine.engines import elsewhere
from postil.errors import Undefined, UnknownName, UsageError
from postil.meta.agreement import FEWEST, agreement_of_table
from postil.meta.correlation import correlations
from postil.meta.disagreement import worst, worst_against_people
from postil.meta.human import human_agreement
from postil.meta.parts import CorrelationData, CorrelationSettings, DisagreementPair, HumanAgreement, Points
from postil.meta.rated import JUDGED, Rated
from postil.meta.resampling import Draws
from postil.meta.severity import severities
from postil.meta.significance import differences
from postil.meta.system_means import system_means
from postil.meta.table import join
from postil.results.base import replace
from postil.results.names import copies_remark
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.correlation.options import CorrelateOptions
    from postil.data.options import JudgedInputOptions
    from postil.data.progress import OnMessage
    from postil.data.rows import Row
    from postil.meta.parts import Agreement, DisagreementText, UndefinedResult
    from postil.meta.severity import Rule, Severities
    from postil.meta.table import Table

__all__ = ["PEOPLE", "ROLES", "correlate_files", "correlate_rated", "correlate_table"]

PEOPLE: Final = "people"
"""Name of the other side where a metric disagrees with the ratings."""

ROLES: Final[Mapping[str, type[Row]]] = {**JUDGED, "candidates": Candidate}
"""Row type of each table."""


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
    rated = Rated.files(scores, judgements, inputs, on_message, candidates=candidates, roles=ROLES)
    return correlate_rated(rated, options, pairs=pairs, each_way=each_way, command=command)


def correlate_rated(
    rated: Rated,
    options: CorrelateOptions,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    each_way: bool = False,
    command: str = "",
) -> CorrelationResult:
    """Correlate item scores with judgements.

    Args:
        rated: The scores and judgements.
        options: The options.
        pairs: More pairs of metrics whose largest disagreements are given, where both were scored.
        each_way: True for the largest of these in each direction.
        command: The command line, if there was one.

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
        scale=options.scale,
    )
    return correlate_table(table, options, rated.texts, pairs=pairs, each_way=each_way, command=command)


def correlate_table(
    table: Table,
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
        UnknownName: A metric of ``options.disagree`` was not scored.
    """
    for name in options.disagree or ():
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
        warnings = (*found.notes, *near_warnings(table, tests[0].rows, draws), *filter(None, [copies]))
        audited = audit(table, options, found, at, draws, given=given) if options.audit else None
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
        data=_data(table),
        signatures=dict(zip(table.metrics, table.signatures, strict=True)),
        settings=_settings(table, options, command),
        audit=audited,
        severity=biased.told(options.severity) if biased else None,
        warnings=warnings,
        points=Points(
            grades=tuple(table.grades.tolist()),
            scores={name: tuple(column.tolist()) for name, column in zip(table.metrics, table.scores.T, strict=True)},
        ),
        absent_differences=tuple(
            each for test in tests for each in test.absent if (each.metric, each.coefficient) not in known
        ),
    )


def _without_severities(table: Table, found: Severities | None, rule: Rule) -> Table:
    """The table with ratings without severities, where the rule removes them."""
    if found is None or not found.removed(rule):
        return table
    return dataclasses.replace(table, ratings=found.adjusted, grades=found.adjusted.means)


def _settings(table: Table, options: CorrelateOptions, command: str) -> CorrelationSettings:
    return CorrelationSettings(
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
        command=command,
    )


def _human(table: Table, options: CorrelateOptions, draws: Draws) -> tuple[HumanAgreement, tuple[UndefinedResult, ...]]:
    try:
        return human_agreement(table, options.coefficients, options.by, draws, as_given=options.human_as_given)
    except Undefined as error:
        return HumanAgreement(reason=error.message), ()


def _agreement(table: Table, draws: Draws) -> Agreement | None:
    with suppress(Undefined):  # for the reason that `HumanAgreement.reason` gives
        return agreement_of_table(table, draws, fewest=FEWEST)
    return None


def _data(table: Table) -> CorrelationData:
    return CorrelationData(
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
    )


def _disagreements(
    table: Table,
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
