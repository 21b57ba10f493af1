"""Comparison by choices in place of scores: of people between two texts, of readers among interleaved suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from postil.comparison.calls import CompareOptions
from postil.comparison.interleaved_result import InterleavingResult
from postil.comparison.interleaved_statistics import interleaved_preferences
from postil.comparison.preference_statistics import preferred_systems
from postil.comparison.preferences_result import PreferencesResult
from postil.data.arguments import check_arguments
from postil.data.frames import ColumnNames, open_rows
from postil.data.impressions import Impression
from postil.data.options import ScoreInputOptions
from postil.data.preferences import PairPreference
from postil.data.row_files import read
from postil.errors import UsageError
from postil.messages import Setting
from postil.meta.resampling import Draws
from postil.results.base import replace
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from postil.comparison.calls import CompareKeywords
    from postil.data.frames import Table
    from postil.data.progress import OnMessage
    from postil.data.row_locations import LocatedRows
    from postil.data.rows import Row

__all__ = ["INTERLEAVED", "PREFERENCES", "Choices", "compare_interleaved", "compare_preferences"]

R = TypeVar("R", InterleavingResult, PreferencesResult)


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

    def of_table(self, table: Table, columns: Mapping[str, str] | None, options: CompareOptions) -> R:
        """Compare by the rows of a table; see `of_file`."""
        names = ColumnNames({self.role: self.row_type}, columns)
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
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> InterleavingResult:
    """Compare models by what readers did with their interleaved suggestions.

    Args:
        log: Impressions (impression, article, models, teams, clicked; and shown, answered, hidden) as the path of a
            file, a list of dictionaries or of rows, or a data frame.
        baseline: The model to compare with; by default that of the options, else the first.
        columns: Columns of the log by field, such as ``{"article": "page"}``.
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
    return INTERLEAVED.of_table(log, columns, CompareOptions.of(options, keywords, baseline))


def compare_preferences(
    preferences: Table,
    baseline: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> PreferencesResult:
    """Compare systems by paired preferences: win rates, and Bradley-Terry strengths with intervals.

    Args:
        preferences: Preferences (item, system_a, system_b, annotator, preference; and left) as the path of a file, a
            list of dictionaries or of rows, or a data frame.
        baseline: The system whose strength is 0; by default that of the options, else none, for a mean strength of 0.
        columns: Columns of the table by field, such as ``{"preference": "winner"}``.
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
    return PREFERENCES.of_table(preferences, columns, CompareOptions.of(options, keywords, baseline))
