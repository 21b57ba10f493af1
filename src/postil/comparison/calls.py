"""Comparison of systems: by scores with a baseline, by choices of people, by what readers did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar, Unpack

from postil.comparison.baseline import compare as compare_systems
from postil.comparison.interleaved import interleaved_preferences
from postil.comparison.options import CompareOptions
from postil.comparison.preferences import preferred_systems
from postil.comparison.result import Comparison, InterleavingResult, PreferencesResult
from postil.data.arguments import check_arguments
from postil.data.frames import ColumnNames, open_rows
from postil.data.options import ScoreInputOptions
from postil.data.row_files import read
from postil.data.rows import PairPreference, Row, Score
from postil.data.suggestions import Impression
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting
from postil.meta.parts import few_items_remark
from postil.meta.rated import open_scores
from postil.meta.resampling import Draws
from postil.meta.table import Scored
from postil.metrics.result import ScoreResult, joined_scores
from postil.metrics.spec import known_metric, summed
from postil.results.base import kind_of, read_result, replace
from postil.results.names import copies_remark
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from postil.data.frames import Table
    from postil.data.progress import OnMessage
    from postil.data.row_locations import LocatedRows
    from postil.keywords import CompareKeywords
    from postil.meta.rated import Scores
    from postil.metrics.base import Metric

__all__ = [
    "INTERLEAVED",
    "PREFERENCES",
    "Choices",
    "compare",
    "compare_interleaved",
    "compare_preferences",
    "compare_rows",
    "joined_results",
]

R = TypeVar("R", InterleavingResult, PreferencesResult)


def compare(
    scores: Scores,
    baseline: str | None = None,
    *,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    missing: Sequence[str] = (),
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> Comparison:
    """Compare systems by their scores of the same items.

    Args:
        scores: A result of `postil.score` with systems; or item scores (item, system, metric, score) as a data frame
            (pandas, Polars, pyarrow, or another that narwhals takes), as a list of rows or of dictionaries, or as one
            or more paths of files.
        baseline: The system to compare with; by default that of the options, else the first.
        item: Column of the item.
        system: Column of the system.
        columns: Columns of a table by field, such as ``{"metric": "name", "score": "value"}``.
        metric_columns: Columns of a table that each are a metric, where there is no column ``metric``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The comparison: one row per metric and system, with intervals and p-values.

    Raises:
        UnknownName: There is no such baseline or metric; the message offers the nearest.
        InvalidInput: A value is wrong, or systems cover different items; the message has the location.
        UsageError: An argument is of another kind.
        Undefined: Systems share fewer than two items.

    >>> import postil
    >>> texts, references = ["a b", "b c", "a x", "b c"], [["a b"], ["b c d"]] * 2
    >>> scores = postil.score(
    ...     texts, references, items=[1, 2, 1, 2], systems=["old", "old", "new", "new"], metrics="rouge-l")
    >>> for row in postil.compare(scores, baseline="old").systems:
    ...     print(row.system, round(row.mean, 3), row.difference and round(row.difference, 3))
    old 0.886 None
    new 0.636 -0.25
    """
    check_arguments(compare, locals())
    names = ColumnNames(
        {"scores": Score},
        columns,
        everywhere={"item": item, "system": system},
        wide={"scores": metric_columns},
        missing=missing,
    )
    return compare_rows(open_scores(scores, names), CompareOptions.of(options, keywords, baseline))


def compare_rows(
    scores: LocatedRows[Score],
    options: CompareOptions,
    command: str = "",
    *,
    on_metrics: Callable[[Collection[str]], object] = lambda _: None,
) -> Comparison:
    """Compare the systems of item scores: by corpus scores where the rows have statistics.

    Args:
        scores: Score rows.
        options: The options.
        command: The command line, if there was one.
        on_metrics: Callback for the metrics before anything is computed of them, which may refuse them.

    Raises:
        UsageError: There is no such baseline.
        InvalidInput: A row is invalid, or systems cover different items; the message has the location.
        Undefined: Systems share fewer than two items.
    """
    scored = Scored(scores, statistics=not options.item_means)
    on_metrics(scored.metrics)
    found = compare_systems(
        scored,
        options.baseline,
        intersect=options.intersect,
        lower_is_better=options.lower_is_better,
        draws=Draws(options.resamples, options.permutations, options.seed),
        metric_of=None if options.item_means else _metric_of,
        sacrebleu=options.p_values == "sacrebleu",
    )
    copies = filter(None, [copies_remark(len(scored.copies))])
    notes = (*few_items_remark(found.items), *found.notes, *_notes(found, options), *copies)
    return replace(found, notes=notes, settings=replace(found.settings, postil=VERSION, command=command))


def _metric_of(name: str, signature: str) -> Metric:
    """The metric of scores with statistics, by the spec in their signature, which has all its parameters."""
    metric = known_metric(name, signature)
    if metric is None:
        raise UsageError(
            "{name}: its corpus score cannot be computed here (unknown metric with the signature {signature}); compare "
            "means of item scores: {means}",
            name=name,
            signature=signature,
            means=Setting("item_means", value=True),
        )
    return metric


def _notes(found: Comparison, options: CompareOptions) -> Iterator[str]:
    """Notes on metrics whose means are compared although their corpus score is another number, or is not known."""
    metrics = [name for name in dict.fromkeys(row.metric for row in found.systems) if name not in found.summed]
    others = summed(metrics)
    if others:
        why = "" if options.item_means else "the scores have no statistics, so "
        yield f"{why}means of item scores are compared, not the corpus scores of postil score: {', '.join(others)}"
    named = [name for name in metrics if name not in others and not name.startswith("control:")]
    foreign = [name for name in named if "|postil:" not in found.signatures.get(name, "")]
    if found.summed and foreign:
        yield f"the mean of item scores is taken for the corpus score of {', '.join(foreign)}"


def joined_results(paths: Sequence[str]) -> ScoreResult | None:
    """Join results of scoring that files hold; None where they hold rows of item scores.

    Args:
        paths: The files.

    Raises:
        InvalidInput: One holds something else than the others, or another score of the same system and metric.
    """
    kinds = {path: kind_of(path) for path in paths}
    wanted = str(ScoreResult.__struct_config__.tag)
    if wanted not in kinds.values():
        return None
    found: dict[str, ScoreResult] = {}
    for path, kind in kinds.items():
        result = read_result(path) if kind == wanted else None
        if not isinstance(result, ScoreResult):
            got = "rows" if kind is None else f"a result of the kind {kind}"
            problem = f"expected a result of the kind {wanted}, as another file holds, got {got}"
            raise InvalidInput(f"{problem}; give results alone, or item scores alone", where=path)
        found[path] = result
    return joined_scores(found)


@dataclass(frozen=True, slots=True)
class Choices(Generic[R]):
    """A kind of comparison by choices.

    Args:
        role: Name of the rows.
        row_type: Class of the rows.
        setting: The option of the command for this comparison, for which Python has a function.
        measure: Function that compares by the rows.
    """

    role: str
    row_type: type[Row]
    setting: Setting
    measure: Callable[..., R]

    def of_file(
        self,
        path: str,
        options: CompareOptions,
        command: str = "",
        inputs: ScoreInputOptions | None = None,
        on_message: OnMessage = lambda _: None,
    ) -> R:
        """Compare by the rows of a file.

        Args:
            path: The file; ``-`` for standard input.
            options: The options; those for scores alone must have their defaults.
            command: The command line, if there was one.
            inputs: Options of reading the file.
            on_message: Callback for status messages.

        Raises:
            UsageError: There is no such baseline, or an option is for scores.
            InvalidInput: The file is invalid; the message has the location.
            Undefined: There is nothing to compare.
        """
        inputs = inputs or ScoreInputOptions()
        if inputs.metric_columns:
            columns = Setting("metric_columns")
            raise UsageError("{columns} goes with files of scores, not with {file}", columns=columns, file=self.setting)
        reading = inputs.readings({self.role: self.row_type}, on_message)[self.role]
        return self._compared(read(path, self.row_type, reading), options, command)

    def of_table(self, table: Table, names: ColumnNames, options: CompareOptions) -> R:
        """Compare by the rows of a table; see `of_file`."""
        return self._compared(open_rows(table, self.row_type, self.role, names), options)

    def _compared(self, rows: LocatedRows[Row], options: CompareOptions, command: str = "") -> R:
        options.check_for(self.setting)
        draws = Draws(resamples=options.resamples, seed=options.seed)
        found = self.measure(rows, options.baseline, draws, places=rows.places)
        return replace(found, settings=replace(found.settings, postil=VERSION, command=command))


INTERLEAVED: Final = Choices(
    "log", Impression, Setting("interleaved", instead="compare_interleaved"), interleaved_preferences
)
"""Comparison of models by what readers did with their interleaved suggestions."""

PREFERENCES: Final = Choices(
    "preferences", PairPreference, Setting("preferences", instead="compare_preferences"), preferred_systems
)
"""Comparison of systems by paired preferences."""


def compare_interleaved(
    log: Table,
    baseline: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> InterleavingResult:
    """Compare models by what readers did with their interleaved suggestions.

    Args:
        log: Impressions (impression, article, models, teams, clicked; and shown, answered, hidden) as the path of a
            file, a list of dictionaries or of rows, or a data frame.
        baseline: The model to compare with; by default that of the options, else the first.
        columns: Columns of the log by field, such as ``{"article": "page"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The preferences: one row per pair of models and measure, with intervals and p-values.

    Raises:
        UnknownName: There is no such model; the message offers the nearest.
        InvalidInput: A value is wrong, or an impression is there twice; the message has the location.
        UsageError: An argument is of another kind, or an option is for scores.
        Undefined: No impression has an event.

    >>> import postil
    >>> log = [
    ...     {"impression": n, "article": n, "models": ["base", "new"], "teams": [n % 2, 1 - n % 2], "clicked": [rank]}
    ...     for n, rank in enumerate([2, 1, 2, 1, 2, 2])
    ... ]
    >>> found = postil.compare_interleaved(log, baseline="base").rows[0]
    >>> found.model, found.wins, found.losses, round(found.preference, 3), found.p_sign
    ('new', 5, 1, 0.333, 0.21875)
    """
    check_arguments(compare_interleaved, locals())
    names = ColumnNames({INTERLEAVED.role: INTERLEAVED.row_type}, columns, missing=missing)
    return INTERLEAVED.of_table(log, names, CompareOptions.of(options, keywords, baseline))


def compare_preferences(
    preferences: Table,
    baseline: str | None = None,
    *,
    item: str | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> PreferencesResult:
    """Compare systems by paired preferences: win rates, and Bradley-Terry strengths with intervals.

    Args:
        preferences: Preferences (item, system_a, system_b, annotator, preference; and left) as the path of a file, a
            list of dictionaries or of rows, or a data frame.
        baseline: The system whose strength is 0; by default that of the options, else none, for a mean strength of 0.
        item: Column of the item.
        columns: Columns of the table by field, such as ``{"preference": "winner"}``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The systems, the strongest first, and all pairs of them.

    Raises:
        UnknownName: There is no such system; the message offers the nearest.
        InvalidInput: A value is wrong, or a preference is there twice; the message has the location.
        UsageError: An argument is of another kind, or an option is for scores.
        Undefined: There is no preference, or no comparison connects two groups of systems.

    >>> import postil
    >>> rows = [
    ...     {"item": n, "system_a": "base", "system_b": "new", "annotator": "ann", "preference": choice}
    ...     for n, choice in enumerate(["b", "b", "a", "tie", "b", "b"])
    ... ]
    >>> found = postil.compare_preferences(rows, baseline="base")
    >>> [(row.system, row.wins, row.ties, row.losses, round(row.strength, 3)) for row in found.systems]
    [('new', 4, 1, 1, 1.386), ('base', 1, 1, 4, 0.0)]
    """
    check_arguments(compare_preferences, locals())
    names = ColumnNames({PREFERENCES.role: PREFERENCES.row_type}, columns, everywhere={"item": item}, missing=missing)
    return PREFERENCES.of_table(preferences, names, CompareOptions.of(options, keywords, baseline))
