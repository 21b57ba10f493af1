"""Audit of metrics beside their correlations: ``postil correlate --audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.meta.audit_parts import Audit

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.correlation.options import CorrelateOptions
    from postil.meta.correlation import Correlations
    from postil.meta.resampling import Draws
    from postil.meta.table import Table

__all__ = ["AUDIT_STEPS", "audit"]

AUDIT_STEPS = 6
"""Number of steps of an audit, for a progress bar."""


def audit(
    table: Table,
    options: CorrelateOptions,
    found: Correlations,
    at: Callable[[str], None],
    draws: Draws,
    *,
    given: Table,
) -> Audit:
    """Audit the metrics of a table.

    Args:
        table: The joined table.
        options: Options of the command.
        found: The coefficients of the command, whose accuracies are not computed again.
        at: Callback for the name of each step.
        draws: Random draws.
        given: The same table with its ratings as they were given, where severities were removed from those of `table`.
    """
    from postil.meta.alternative_annotator import alternative_annotator_test  # noqa: PLC0415 - it is not always asked for
    from postil.meta.calibration import calibrations  # noqa: PLC0415 - the same
    from postil.meta.grade_mapping import map_to_grades  # noqa: PLC0415 - the same
    from postil.meta.length_bias import length_bias  # noqa: PLC0415 - the same
    from postil.meta.significance import audit_ranking  # noqa: PLC0415 - the same
    from postil.meta.variance_components import rater_variance  # noqa: PLC0415 - the same

    at("scores on the scale of the ratings")
    mapped = map_to_grades(table, options.folds)
    calibrated = calibrations(table, mapped, draws)
    at("alternative annotator test")
    alt_test = alternative_annotator_test(table, mapped, options.alt_epsilon, draws)
    at("length bias")
    length = length_bias(table, options.lengths, draws)
    at("variance components of raters")
    raters = rater_variance(given)
    rankings = []
    for of in ("texts", "systems"):
        at(f"ranking of {of}")
        rankings.append(audit_ranking(table, of, options.lengths, draws, known=found))
    return Audit(
        alt_test=alt_test,
        calibration=calibrated,
        length=length,
        raters=raters,
        rankings=tuple(rankings),
        uncalibrated=mapped.absent,
    )
