"""Metrics of a WMT test set against its human scores: the command `postil wmt`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.data.progress import OnMessage, steps
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference, Row, Score
from postil.errors import Undefined, UnknownName, UsageError
from postil.messages import Message, Setting
from postil.meta.coefficients import TABLE, By, Measure
from postil.meta.correlation import correlations, differences
from postil.meta.parts import FEW_ITEMS, Correlation, UndefinedResult
from postil.meta.rated import open_score_files
from postil.meta.resampling import Draws
from postil.meta.significance import significance_clusters
from postil.meta.table import Table, join
from postil.results.base import replace
from postil.version import VERSION
from postil.wmt.result import MetricsTaskResult, MetricsTaskSettings
from postil.wmt.test_set import NAMES, Level, Metrics, OwnScores, Scores, Selection, WmtSet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from postil.data.options import ScoreInputOptions
    from postil.wmt.options import WmtOptions

__all__ = ["metrics_task"]

LEVELS: Final[tuple[tuple[Level, By], ...]] = (("sys", "system"), ("seg", "system"), ("seg", "pool"), ("seg", "item"))
"""Level of the scores, and level of the coefficients."""

NEEDED: Final[Mapping[str, Level]] = {name: "seg" if it.soft else "sys" for name, it in TABLE.items() if it.of_systems}
"""Level of the scores that accuracies in ranking systems need."""


def metrics_task(
    folder: str,
    options: WmtOptions,
    scores: Sequence[str] = (),
    *,
    rows: str | None = None,
    command: str = "",
    inputs: ScoreInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    on_metrics: Callable[[Collection[str]], object] = lambda _: None,
) -> MetricsTaskResult:
    """Correlate the metrics of a test set with its human scores, by system and by segment.

    Args:
        folder: Folder of the test set in the layout of mt-metrics-eval.
        options: The options.
        scores: Files of score rows of further metrics, whose items are the numbers of the segments from 1; see
            `postil.wmt.test_set.OwnScores`.
        rows: Folder for candidates, references, judgements and scores as rows; by default none are written.
        command: The command line, if there was one.
        inputs: Options of reading the files of scores.
        on_message: Callback for status messages.
        on_metrics: Callback for the metrics before anything is computed of them, which may refuse them.

    Raises:
        InvalidInput: Something in the folder is wrong; says where.
        UsageError: A name does not occur, or an option is missing.
        Undefined: No metric is left.
    """
    test_set = WmtSet.open(folder, options.language_pair)
    selection = Selection.of(test_set, options.human, options.references)
    gold = {level: test_set.scores(test_set.human[level][name], level) for level, name in selection.human.items()}
    systems = selection.systems(gold, options.outliers, outliers=options.include_outliers, people=options.include_human)
    found = _Found(options)
    files = open_score_files(scores, inputs, on_message) if scores else None
    with steps(1 + 2 * sum(len(_asked(options.coefficients, *each)) for each in LEVELS)) as at:
        at("scores")
        own = OwnScores.read(files, test_set, systems)
        metrics = {level: selection.metrics(level, systems, options.metrics) | own.metrics[level] for level in gold}
        _check_names(options, test_set, own.metrics)
        on_metrics(dict.fromkeys(name for of_level in metrics.values() for name in of_level))
        found.absent += _lacking(options.coefficients, metrics)
        if rows is not None:
            _write_rows(Path(rows), selection, gold.get("seg", {}), metrics.get("seg", {}), systems)
        tables = {
            level: _table(level, metrics[level], gold[level], systems, options, own.signatures)
            for level in gold
            if metrics[level]
        }
        for level, by in LEVELS:
            if level in tables:
                found.correlate(tables[level], by, _asked(options.coefficients, level, by), at)
    if not found.rows:
        raise Undefined("{folder}: {reason}", folder=folder, reason=found.nothing(selection.references, systems))
    grades = [gold["seg"].get(name, []) for name in systems] if "seg" in gold else []
    return MetricsTaskResult(
        test_set=test_set.name,
        language_pair=test_set.pair,
        references=selection.references,
        human={NAMES[level]: name for level, name in selection.human.items()},
        systems=tuple(systems),
        segments=len({place for each in grades for place, grade in enumerate(each) if grade is not None}),
        correlations=tuple(found.rows),
        ranks=found.ranks,
        absent=tuple(found.absent),
        left_out=tuple(selection.left_out),
        settings=MetricsTaskSettings(
            coefficients=options.coefficients,
            lower_is_better=tuple(found.lower),
            resamples=options.resamples,
            permutations=options.permutations,
            seed=options.seed,
            postil=VERSION,
            command=command,
        ),
    )


@dataclass(slots=True)
class _Found:
    """Coefficients and ranks, as they are computed."""

    options: WmtOptions
    rows: list[Correlation] = field(default_factory=list)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    absent: list[UndefinedResult] = field(default_factory=list)
    lower: dict[str, None] = field(default_factory=dict)

    def nothing(self, references: Sequence[str], systems: Collection[str]) -> str:
        """The reason why there are no rows."""
        for row in self.absent:
            return Message("{metric}: {reason}", metric=row.metric, reason=row.reason)
        used = " and ".join(references) or "no reference"
        return f"no metric of {used} has scores of all {len(systems)} systems"

    def correlate(self, table: Table, by: By, coefficients: Sequence[Measure], at: Callable[[str], None]) -> None:
        """Add a level. One score per system is a table whose items are the systems.

        So resamples and permutations are those of systems, as in the metrics task. Over segments they are of whole
        segments, whose translations are not independent; the task swaps single ones.
        """
        self.lower.update(
            dict.fromkeys(name for name, low in zip(table.metrics, table.lower_is_better, strict=True) if low)
        )
        given = self.options
        draws = Draws(given.resamples, given.permutations, given.seed, given.jobs)
        for coefficient in coefficients:
            level: By = "pool" if by == "system" and not TABLE[coefficient].of_systems else by
            at(f"{by}: {coefficient}")
            found = correlations(table, [coefficient], level, draws)
            at(f"{by}: {coefficient}, differences")
            tests = differences(table, coefficient, level, draws, found=found.replicates[coefficient])
            self.rows += [replace(row, by=by) for row in found.rows]
            self.absent += [replace(row, by=by) for row in found.absent]
            values = {row.metric: row.value for row in found.rows}
            swapped = TABLE[coefficient].of_systems
            few = len(table.starts) < FEW_ITEMS
            trusted = (row for row in tests.rows if not few or swapped or row.p_permutation is not None)
            self.ranks[f"{by} {coefficient}"] = significance_clusters(values, trusted)


def _asked(coefficients: Sequence[Measure], level: Level, by: By) -> list[Measure]:
    """Coefficients at a level: of segments by system ``spa`` alone, elsewhere all that do not need others."""
    of_segments, of_systems = (level, by) == ("seg", "system"), by == "system"
    found = [(name, TABLE[name]) for name in coefficients]
    return [name for name, it in found if it.soft is of_segments and (of_systems or not it.of_systems)]


def _lacking(coefficients: Sequence[Measure], metrics: Mapping[Level, Metrics]) -> Iterator[UndefinedResult]:
    """Accuracies in ranking systems of the metrics without scores of the level that they need."""
    names = dict.fromkeys(name for of_level in metrics.values() for name in of_level)
    for coefficient, level in NEEDED.items():
        if coefficient in coefficients:
            reason = f"no scores of {NAMES[level]}s by {'the metric' if level in metrics else 'people'}"
            for name in names:
                if name not in metrics.get(level, ()):
                    yield UndefinedResult(metric=name, coefficient=coefficient, by="system", reason=reason)


def _table(  # noqa: PLR0917
    level: Level,
    metrics: Metrics,
    gold: Scores,
    systems: Sequence[str],
    options: WmtOptions,
    signatures: Mapping[str, str],
) -> Table:
    """Join the scores of metrics with those of people, on system or on segment and system."""
    rated = [
        (system if level == "sys" else str(place + 1), system, place, grade)
        for system in systems
        for place, grade in enumerate(gold.get(system, ()))
        if grade is not None
    ]
    return join(
        (
            Score(item, system, metric, value, signatures.get(metric, ""))
            for metric, scores in metrics.items()
            for item, system, place, _ in rated
            if (value := scores[system][place]) is not None
        ),
        [Judgement(item, system, "people", grade) for item, system, _, grade in rated],
        lower_is_better=[name for name in options.lower_is_better if name in metrics],
    )


def _check_names(options: WmtOptions, test_set: WmtSet, own: Mapping[Level, Metrics]) -> None:
    known = dict.fromkeys(name for level in (*test_set.metrics.values(), *own.values()) for name in level)
    bases = dict.fromkeys(name.rpartition("-")[0] for name in known)
    for names, given in ((known | bases, options.metrics), (known, options.lower_is_better)):
        for name in given:
            UnknownName.check("metric", name, names)


def _write_rows(folder: Path, selection: Selection, grades: Scores, metrics: Metrics, systems: Sequence[str]) -> None:
    """Write the texts and the scores of segments as rows."""
    test_set = selection.test_set
    if not grades or test_set.segments is None:
        raise UsageError(
            "{rows} needs human scores of segments, and texts in sources or system-outputs", rows=Setting("rows")
        )
    folder.mkdir(parents=True, exist_ok=True)

    def texts(files: Mapping[str, Path], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        for name in names:
            if name in files:
                for number, text in enumerate(test_set.texts(files[name]), start=1):
                    yield str(number), name, text

    def values(scores: Scores) -> Iterator[tuple[str, str, float]]:
        for system in systems:
            for number, value in enumerate(scores.get(system, ()), start=1):
                if value is not None:
                    yield str(number), system, value

    people = selection.human["seg"]
    files: dict[str, list[Row]] = {
        "candidates": [Candidate(*each) for each in texts(test_set.outputs, systems)],
        "references": [
            Reference(item, text, id=name) for item, name, text in texts(test_set.references, selection.references)
        ],
        "judgements": [Judgement(item, system, people, grade) for item, system, grade in values(grades)],
        "scores": [
            Score(item, system, metric, value, "")
            for metric, scores in metrics.items()
            for item, system, value in values(scores)
        ],
    }
    for name, rows in files.items():
        if rows:
            write(folder / f"{name}.jsonl", rows)
