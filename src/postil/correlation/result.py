"""Result of `postil correlate`."""

from __future__ import annotations

import msgspec

from postil.meta.audit_parts import Audit
from postil.meta.parts import (
    Agreement,
    Correlation,
    CorrelationData,
    CorrelationSettings,
    Difference,
    DisagreementPair,
    HumanAgreement,
    Points,
    SystemMean,
    UndefinedResult,
)
from postil.results.base import Result
from postil.results.parts import Severity

__all__ = ["CorrelationResult"]


class CorrelationResult(Result, frozen=True, kw_only=True, tag="correlate"):
    """Metrics against people: correlations, human reference points, tests of differences.

    Args:
        correlations: One row per metric or control and coefficient.
        absent: Coefficients that do not exist, and why.
        human: Human reference points.
        differences: One row per pair of metrics and coefficient.
        notes: Notes on the numbers.
        agreement: Inter-annotator agreement; None where no text has two ratings.
        systems: Mean scores and ratings of each system.
        orders: By metric, Kendall's tau-b of the systems' means with their mean ratings.
        disagreements: The texts on which two opinions differ most.
        data: The table that all is over.
        signatures: All that the numbers of each metric depend on.
        settings: Options of the command.
        points: Every text's ratings and scores; `postil correlate --format json` has none.
        weights: Source of the references' weights, if known.
        absent_differences: Metrics that have no differences, and why, beyond those in `absent`.
        audit: The audit; None where none was asked for.
        severity: Severities of the annotators; None where no text has two ratings.
        warnings: The notes that warn: of ``over=near`` and ``over=kernel``, of candidates that are references, and of
            outliers.
    """

    correlations: tuple[Correlation, ...]
    absent: tuple[UndefinedResult, ...]
    human: HumanAgreement
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    agreement: Agreement | None
    systems: tuple[SystemMean, ...]
    orders: dict[str, float | None]
    disagreements: tuple[DisagreementPair, ...]
    data: CorrelationData
    signatures: dict[str, str]
    settings: CorrelationSettings
    points: Points | None = None
    weights: str = ""
    absent_differences: tuple[UndefinedResult, ...] = ()
    audit: Audit | None = None
    severity: Severity | None = None
    warnings: tuple[str, ...] = ()

    def to_rows(self) -> list[dict[str, object]]:
        """One row per coefficient, for ``pandas.DataFrame(rows)`` or ``polars.DataFrame(rows)``.

        A field of `Correlation` with a default is a column where some row has it.
        """
        rows = [msgspec.structs.asdict(row) for row in (*self.correlations, *self.human.rows)]
        required = Correlation.__struct_fields__[: -len(Correlation.__struct_defaults__)]
        fields = [name for name in Correlation.__struct_fields__ if name in {*required, "sd"} or _some(rows, name)]
        return [{name: row[name] for name in fields} for row in rows]

    def to_dict(self) -> dict[str, object]:
        """See `Result.to_dict`; human reference points are either all there or a reason alone."""
        made = Result.to_dict(self)
        people: dict[str, object] = made["human"]  # type: ignore[assignment]  # a struct is a dict there
        reason = people.pop("reason")
        return made | {"human": {"reason": reason}} if reason else made


def _some(rows: list[dict[str, object]], field: str) -> bool:
    """True if a row has a value of a field."""
    return any(row[field] is not None for row in rows)
