"""Comparison of systems by paired preferences: the command `postil compare --preferences`."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import TYPE_CHECKING, Final

from postil.app.compare import CompareOptions
from postil.app.options import ScoreInputOptions
from postil.errors import UsageError
from postil.messages import Setting
from postil.metaeval.preferences import preferred_systems
from postil.metaeval.resampling import Draws
from postil.records.arguments import check_arguments, options_of
from postil.records.frames import ColumnNames, open_rows
from postil.records.preferences import PairPreference
from postil.records.results import replace
from postil.records.row_files import read
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from postil.app.compare import CompareKeywords
    from postil.app.progress import OnMessage
    from postil.records.frames import Table
    from postil.records.results import PreferencesResult
    from postil.records.row_locations import Source

__all__ = ["compare_preference_file", "compare_preferences"]

PREFERENCES: Final = Setting("preferences", instead="compare_preferences")
"""The option of the command for this comparison, for which Python has a function."""


def compare_preference_file(
    file: str,
    options: CompareOptions,
    command: str = "",
    inputs: ScoreInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> PreferencesResult:
    """Compare the systems of a file of paired preferences.

    Args:
        file: A file of preference rows; ``-`` for standard input.
        options: The options; those for scores alone must have their defaults.
        command: The command line, if there was one.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no such baseline, or an option is for scores.
        InvalidInput: The file is invalid; the message has the location.
        Undefined: There is no preference, or no comparison connects two groups of systems.
    """
    inputs = inputs or ScoreInputOptions()
    if inputs.metric_columns:
        raise UsageError(
            "{columns} goes with files of scores, not with {file}", columns=Setting("metric_columns"), file=PREFERENCES
        )
    reading = inputs.readings({"preferences": PairPreference}, on_message)["preferences"]
    return _compared(read(file, PairPreference, reading), options, command)


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
    rows = open_rows(preferences, PairPreference, "preferences", ColumnNames({"preferences": PairPreference}, columns))
    options = options_of(CompareOptions, options, keywords)
    return _compared(rows, options if baseline is None else with_fields(options, baseline=baseline))


def _compared(rows: Source[PairPreference], options: CompareOptions, command: str = "") -> PreferencesResult:
    options.check_for(PREFERENCES)
    found = preferred_systems(
        rows, options.baseline, Draws(resamples=options.resamples, seed=options.seed), places=rows.places
    )
    return replace(found, settings=replace(found.settings, postil=VERSION, command=command))
