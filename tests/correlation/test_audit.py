"""The audit of `postil correlate`: table P of the design from rows to a result, and tables that lack something."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest

import postil
from postil.correlation.calls import correlate_table
from postil.correlation.options import CorrelateOptions
from postil.data.fields import plain_id
from postil.data.rows import Judgement, Score
from postil.errors import UsageError
from postil.meta import correlation
from postil.meta.table import join
from table_p import rows_p, table_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.correlation.result import Audit, CorrelationResult
    from postil.meta.coefficients import By, Measure
    from postil.meta.resampling import Draws
    from postil.meta.table import Table

FAST = {"resamples": 40, "permutations": 200, "worst": 0}


@pytest.fixture(scope="module")
def result() -> CorrelationResult:
    return correlate_table(table_p(), CorrelateOptions(audit=True, alt_epsilon=0.1, **FAST))


@pytest.fixture(scope="module")
def audit(result: CorrelationResult) -> Audit:
    return result.audit


def test_settings_name_the_options(result: CorrelationResult) -> None:
    settings = result.settings
    assert (settings.alt_epsilon, settings.lengths, settings.folds) == (0.1, "control:length", 5)


def test_rankings_are_the_worked_values(audit: Audit) -> None:
    texts, systems = audit.rankings
    assert (texts.of, texts.coefficient, texts.by) == ("texts", "acc-eq", "item")
    assert (systems.of, systems.coefficient, systems.by) == ("systems", "spa", "system")
    values = {row.metric: row.value for row in texts.rows}
    assert values["m"] == pytest.approx(0.772222, abs=1e-6)
    assert values["j"] == pytest.approx(0.763889, abs=1e-6)
    chances = [row.chance for row in systems.rows]
    assert all(chance is not None and 0 < chance < 1 for chance in chances)


def test_margins_are_of_the_best_and_of_the_lengths(audit: Audit) -> None:
    for ranking in audit.rankings:
        pairs = {(row.first, row.second) for row in ranking.margins}
        assert pairs == {("m", "j"), ("m", "control:length"), ("j", "control:length")}
        values = {row.metric: row.value for row in ranking.rows}
        for row in ranking.margins:
            assert row.value == pytest.approx(values[row.first] - values[row.second])
            assert row.low <= row.high


@pytest.mark.parametrize(
    ("by", "coefficients", "computed"),
    [
        ("item", ("pearson", "acc-eq"), ["spa"]),
        ("system", ("spa",), ["acc-eq"]),
        ("system", ("acc-eq", "pa"), ["acc-eq", "spa"]),
        ("pool", ("acc-eq",), ["acc-eq", "spa"]),
    ],
)
def test_accuracies_of_the_command_are_not_computed_again(
    by: By, coefficients: tuple[Measure, ...], computed: list[str], monkeypatch: pytest.MonkeyPatch, audit: Audit
) -> None:
    called: list[Measure] = []

    def counted(table: Table, asked: Sequence[Measure], level: By, draws: Draws) -> correlation.Correlations:
        called.extend(asked)
        return correlation.correlations(table, asked, level, draws)

    monkeypatch.setattr("postil.correlation.audit.correlations", counted)
    options = CorrelateOptions(audit=True, alt_epsilon=0.1, by=by, coefficients=coefficients, **FAST)
    found = correlate_table(table_p(), options)
    assert called == computed
    assert found.audit == audit


def test_every_section_has_its_rows(audit: Audit) -> None:
    mappings = {(row.metric, row.mapping) for row in audit.alt_test.rows}
    assert {("m", "isotonic"), ("j", "none"), ("control:constant", "rounded")} <= mappings
    assert {row.metric for row in audit.calibration} == {"m", "j", "control:length", "control:constant"}
    assert {row.metric for row in audit.length.rows} == {"m", "j"}
    assert [row.by for row in audit.raters.levels] == ["pool", "item", "system"]


def test_without_an_audit_there_is_none() -> None:
    found = correlate_table(table_p(), CorrelateOptions(**FAST))
    assert found.audit is None
    assert "audit" not in found.to_dict()
    assert "alt_epsilon" not in found.to_dict()["settings"]  # type: ignore[operator]


def test_chosen_metrics_are_audited_beside_the_lengths() -> None:
    scores, judgements = rows_p()
    found = postil.correlate(
        scores, judgements, options=CorrelateOptions(audit=True, metrics=("m",), coefficients=("acc-eq",), **FAST)
    )
    assert [row.metric for row in found.audit.length.rows] == ["m", "m"]


def _finite(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize(
    ("systems", "annotators", "grade"),
    [(1, 2, None), (3, 1, None), (3, 2, 4), (1, 1, 2)],
    ids=["one system", "one annotator", "equal grades", "nothing at all"],
)
def test_what_is_missing_has_a_reason(systems: int, annotators: int, grade: int | None) -> None:
    scores, judgements = [], []
    for item in range(12):
        for system in range(systems):
            scores.append(Score(str(item), f"s{system}", "m", (item * 7 + system * 3) % 10 / 10, ""))
            for annotator in range(annotators):
                given = grade or 1 + (item * 7 + system * 3 + annotator) % 5
                judgements.append(Judgement(str(item), f"s{system}", f"r{annotator}", given))
    table = join(scores, judgements)
    measures = ("pearson", "acc-eq", "pa", "spa")
    found = correlate_table(table, CorrelateOptions(audit=True, coefficients=measures, by="system", **FAST)).audit
    assert _finite(msgspec.to_builtins(found, enc_hook=plain_id))
    assert [each.metric for each in found.length.absent] == ["control:length"]
    if systems == 1:
        (absent,) = found.rankings[1].absent
        assert "one system" in absent.reason
    if annotators == 1:
        assert not found.alt_test.rows
        assert found.alt_test.absent


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alt_epsilon": 1.2}, "alt_epsilon: expected a number from 0 to 1, got 1.2"),
        ({"alt_epsilon": -0.1}, "alt_epsilon: expected a number from 0 to 1, got -0.1"),
        ({"folds": 1}, "folds: expected at least 2, got 1"),
    ],
)
def test_options_out_of_range_are_refused_at_once(options: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CorrelateOptions(**options)  # type: ignore[arg-type]
