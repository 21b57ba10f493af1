"""The journey of `postil correlate`: scores and judgements in; how far metrics agree with people, and which more."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from postil.app.engines import elsewhere
from postil.app.progress import steps
from postil.errors import Undefined, UnknownName, UsageError
from postil.metaeval.agreement import agreement
from postil.metaeval.coefficients import COEFFICIENTS
from postil.metaeval.correlation import correlations
from postil.metaeval.disagreement import worst, worst_against_people
from postil.metaeval.human import human
from postil.metaeval.permutation import PERMUTATIONS
from postil.metaeval.replicates import LEVELS
from postil.metaeval.resampling import RESAMPLES, SEED
from postil.metaeval.significance import differences
from postil.metaeval.systems import system_means
from postil.metaeval.table import join
from postil.records.arguments import check_fields
from postil.records.explain import out_of_range
from postil.records.row_files import read
from postil.records.row_locations import Places
from postil.records.rows import Candidate, Judgement, Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.errors import InvalidInput
    from postil.metaeval.agreement import Agreement
    from postil.metaeval.coefficients import Coefficient
    from postil.metaeval.correlation import Correlation, Correlations
    from postil.metaeval.disagreement import Disagreement
    from postil.metaeval.human import Human
    from postil.metaeval.replicates import By
    from postil.metaeval.significance import Differences
    from postil.metaeval.systems import SystemMeans
    from postil.metaeval.table import Table
    from postil.records.row_files import Rows
    from postil.records.scale import Scale

__all__ = ["LARGEST", "PEOPLE", "CorrelateOptions", "Findings", "Several", "correlate_files", "find", "read_judgements"]

LARGEST: Final = 1e100
"""No score or grade may be further from 0, so that no sum of squares leaves the range of floats."""

MEAN_WEIGHT: Final = "control:mean-weight("
"""Prefix of the controls that are the mean weight of a text's references."""

PEOPLE: Final = "people"
"""The name of the other side where a metric disagrees with the grades."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrelateOptions:
    """What `postil correlate` was asked for.

    Args:
        coefficients: Which coefficients.
        by: Over all texts together, within items or over systems.
        metrics: The metrics to keep; empty for all.
        lower_is_better: Metrics whose small numbers are good ones.
        aspect: Which question, where judgements answer more than one.
        scale: The scale of the grades.
        disagree: The two metrics whose worst disagreements are shown; by default the first ``w-`` metric and its plain
            form, else the first two.
        worst: How many disagreements.
        resamples: How many resamples of the items.
        permutations: How many permutations.
        seed: The seed of everything random.
        jobs: Threads; the numbers do not depend on it.
        engine: Where resamples are gone through: ``local``, or ``ray``; the numbers do not depend on it.
        address: Of a Ray cluster.
    """

    coefficients: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b")
    by: By = "pool"
    metrics: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    aspect: str | None = None
    scale: Scale | None = None
    disagree: tuple[str, str] | None = None
    worst: int = 10
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    seed: int = SEED
    jobs: int = 1
    engine: str = "local"
    address: str | None = None

    def __post_init__(self) -> None:
        for several in ("coefficients", "metrics", "lower_is_better"):
            if isinstance(given := getattr(self, several), str):
                object.__setattr__(self, several, (given,))
        check_fields(self)
        for several in ("coefficients", "metrics", "lower_is_better"):
            object.__setattr__(self, several, tuple(dict.fromkeys(getattr(self, several))))
        for kind, names, known in (("coefficient", self.coefficients, COEFFICIENTS), ("level", (self.by,), LEVELS)):
            for name in names:
                if name not in known:
                    raise UnknownName(kind, name, known)
        if not self.coefficients:
            raise UsageError(f"no coefficient: expected at least one of {', '.join(COEFFICIENTS)}")
        if self.disagree is not None and len(set(self.disagree)) != 2:
            raise UsageError(f"disagree: expected two different metrics, got {' and '.join(self.disagree)}")


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """All that `postil correlate` found.

    Args:
        table: The texts with their scores and grades.
        correlations: Each metric and control against people.
        human: People against people; None where no text has two ratings.
        no_human: Why not.
        differences: Metric against metric, a result for each coefficient.
        agreement: How far the annotators agree; None where no text has two ratings.
        systems: Mean scores and grades of each system.
        disagreements: The texts on which the opinions differ most, under the names of the two opinions.
        options: What was asked for.
        texts: What the candidates say, by item and system, where that was given.
        falling: Of the controls ``mean-weight`` those that fall within items as the human scores rise, by Pearson's
            coefficient.
    """

    table: Table
    correlations: Correlations
    human: Human | None
    no_human: str
    differences: tuple[Differences, ...]
    agreement: Agreement | None
    systems: SystemMeans
    disagreements: Mapping[tuple[str, str], tuple[Disagreement, ...]]
    options: CorrelateOptions
    texts: Mapping[tuple[str, str], str]
    falling: tuple[Correlation, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Everything, as ``postil correlate --format json`` prints it."""
        from postil.app.correlating.output import as_json  # noqa: PLC0415 - it imports this module

        return as_json(self)

    def to_rows(self) -> list[dict[str, object]]:
        """A row a correlation, for ``pandas.DataFrame(rows)`` or ``polars.DataFrame(rows)``."""
        rows = (*self.correlations.rows, *(self.human.rows if self.human else ()))
        return [asdict(row) for row in rows]


def correlate_files(
    scores: Sequence[str], judgements: str, options: CorrelateOptions, candidates: str | None = None
) -> Findings:
    """Hold the item scores of files against the judgements of another.

    Args:
        scores: Files of score rows, as `postil score --items` writes them; ``-`` for standard input.
        judgements: A file of judgement rows.
        options: What to compute.
        candidates: A file of candidate rows, for the texts of the worst disagreements.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: No text has both scores and judgements.
    """
    if [*scores, judgements, candidates].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    scored = Several([read(path, Score) for path in scores])
    rows, places = read_judgements(judgements)
    table = join(
        scored.rows(),
        rows,
        metrics=options.metrics,
        lower_is_better=options.lower_is_better,
        aspect=options.aspect,
        scale=options.scale,
        score_places=scored,
        judgement_places=places,
    )
    texts = {(row.item, row.system): row.text for row in read(candidates, Candidate)} if candidates is not None else {}
    return find(table, rows, options, texts)


def read_judgements(path: str) -> tuple[list[Judgement], Places]:
    """Judgements, with their places for messages.

    Args:
        path: A file of judgement rows; ``-`` for standard input.

    Raises:
        InvalidInput: A row is broken, or a grade is too large to calculate with.
    """
    rated = read(path, Judgement)
    rows = list(rated)
    for place, row in enumerate(rows):
        if abs(row.grade) > LARGEST:
            raise rated.places.error(place, "grade", out_of_range(row.grade, -LARGEST, LARGEST))
    return rows, rated.places


def find(
    table: Table,
    judgements: Sequence[Judgement],
    options: CorrelateOptions,
    texts: Mapping[tuple[str, str], str] | None = None,
) -> Findings:
    """Everything that can be said of a table of scores and grades.

    Args:
        table: What joined.
        judgements: The judgements behind its grades, and perhaps others.
        options: What to compute.
        texts: What the candidates say, by item and system.

    Raises:
        UnknownName: A metric that does not occur is to be shown in disagreement.
    """
    for name in options.disagree or ():
        table.column(name)
    by, resamples, seed, jobs = options.by, options.resamples, options.seed, options.jobs
    keys = {(table.items[item], table.systems[system]) for item, system in zip(table.item, table.system, strict=True)}
    joined = [row for row in judgements if (row.item, row.system) in keys]
    people, no_human = None, ""
    agreed: Agreement | None = None
    with elsewhere(options.engine, jobs, options.address) as engine, steps(3 + len(options.coefficients)) as begin:
        begin("metrics against people")
        rows = correlations(table, options.coefficients, by, resamples=resamples, seed=seed, jobs=jobs, engine=engine)
        begin("people against people")
        try:
            people = human(table, options.coefficients, by, resamples=resamples, seed=seed, jobs=jobs, engine=engine)
        except Undefined as error:
            no_human = str(error)
        begin("agreement of the annotators")
        with suppress(Undefined):  # for the same reason
            agreed = agreement(joined, aspect=table.aspect, scale=options.scale, resamples=resamples, seed=seed)
        found = []
        for coefficient in options.coefficients:
            begin(f"differences, {coefficient}")
            found.append(
                differences(
                    table,
                    coefficient,
                    by,
                    resamples=resamples,
                    permutations=options.permutations,
                    seed=seed,
                    jobs=jobs,
                    engine=engine,
                )
            )
    return Findings(
        table=table,
        correlations=rows,
        human=people,
        no_human=no_human,
        differences=tuple(found),
        agreement=agreed,
        systems=system_means(table),
        disagreements=_disagreements(table, options),
        options=options,
        texts=texts or {},
        falling=_falling(table, options),
    )


def _falling(table: Table, options: CorrelateOptions) -> tuple[Correlation, ...]:
    """The mean weights of references that fall within items as the human scores rise, whatever level was asked for."""
    names = [name for name in table.metrics if name.startswith(MEAN_WEIGHT)]
    if not names:
        return ()
    weights = table.only(names)
    found = correlations(weights, ("pearson",), "item", resamples=options.resamples, seed=options.seed)
    return tuple(row for row in found.rows if row.high < 0)


def _disagreements(table: Table, options: CorrelateOptions) -> dict[tuple[str, str], tuple[Disagreement, ...]]:
    """The worst between two metrics, and of the first of them against people."""
    if options.worst < 1:
        return {}
    first, second = options.disagree or _pair(table.metrics)
    shown: dict[tuple[str, str], tuple[Disagreement, ...]] = {}
    with suppress(Undefined):  # one of them is constant, which stands among the correlations
        if second:
            shown[first, second] = worst(table, first, second, options.worst)
    with suppress(Undefined):
        shown[first, PEOPLE] = worst_against_people(table, first, options.worst)
    return shown


def _pair(metrics: Sequence[str]) -> tuple[str, str]:
    """The first weighted metric with its plain form; else the first two; else one and nothing."""
    for name in metrics:
        if name.startswith("w-") and name.removeprefix("w-") in metrics:
            return name, name.removeprefix("w-")
    named = [name for name in metrics if not name.startswith("control:")] or list(metrics)
    return named[0], named[1] if len(named) > 1 else ""


class Several(Places):
    """The places of rows from several files, read one after the other.

    Args:
        sources: The files, at least one.

    Raises:
        UsageError: There is none.
    """

    def __init__(self, sources: Sequence[Rows[Score]]) -> None:
        if not sources:
            raise UsageError("expected at least one file of scores")
        super().__init__(", ".join(source.places.where for source in sources))
        self._sources = sources
        self._begins: list[int] = []

    def rows(self) -> Iterator[Score]:
        """All rows."""
        done = 0
        for source in self._sources:
            self._begins.append(done)
            for row in source:
                if abs(row.score) > LARGEST:
                    raise self.error(done, "score", out_of_range(row.score, -LARGEST, LARGEST))
                done += 1
                yield row

    def error(self, index: int, field: str, problem: str) -> InvalidInput:
        """See `Places.error`."""
        source = bisect_right(self._begins, index) - 1
        return self._sources[source].places.error(index - self._begins[source], field, problem)
