"""Comparison of models by their interleaved suggestions: the command `postil compare --interleaved`."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import TYPE_CHECKING, Final

from postil.app.compare import CompareOptions
from postil.app.options import ScoreInputOptions
from postil.errors import UsageError
from postil.messages import Setting
from postil.metaeval.interleaving import interleaved_preferences
from postil.metaeval.resampling import Draws
from postil.records.arguments import check_arguments, options_of
from postil.records.frames import ColumnNames, open_rows
from postil.records.impressions import Impression
from postil.records.results import replace
from postil.records.row_files import read
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from postil.app.compare import CompareKeywords
    from postil.app.progress import OnMessage
    from postil.records.frames import Table
    from postil.records.results import InterleavingResult
    from postil.records.row_locations import Source

__all__ = ["compare_interleaved", "compare_log"]

LOG: Final = Setting("interleaved", instead="compare_interleaved")
"""The option of the command for this comparison, for which Python has a function."""


def compare_log(
    log: str,
    options: CompareOptions,
    command: str = "",
    inputs: ScoreInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> InterleavingResult:
    """Compare the models of a file of impressions.

    Args:
        log: A file of impression rows; ``-`` for standard input.
        options: The options; those for scores alone must have their defaults.
        command: The command line, if there was one.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no such baseline, or an option is for scores.
        InvalidInput: The file is invalid; the message has the location.
        Undefined: No impression has an event.
    """
    inputs = inputs or ScoreInputOptions()
    if inputs.metric_columns:
        raise UsageError(
            "{columns} goes with files of scores, not with {log}", columns=Setting("metric_columns"), log=LOG
        )
    return _compared(read(log, Impression, inputs.readings({"log": Impression}, on_message)["log"]), options, command)


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
    rows = open_rows(log, Impression, "log", ColumnNames({"log": Impression}, columns))
    options = options_of(CompareOptions, options, keywords)
    return _compared(rows, options if baseline is None else with_fields(options, baseline=baseline))


def _compared(log: Source[Impression], options: CompareOptions, command: str = "") -> InterleavingResult:
    options.check_for(LOG)
    found = interleaved_preferences(
        log, options.baseline, Draws(resamples=options.resamples, seed=options.seed), places=log.places
    )
    return replace(found, settings=replace(found.settings, postil=VERSION, command=command))
