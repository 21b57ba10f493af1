"""An audit's numbers are those of mt-metrics-eval and AltTest where these are well defined.

The originals' numbers on made tables are in ``frozen_audit.json``, with the commits and calls that they come from. With
``POSTIL_MTME`` and ``POSTIL_ALTTEST``, folders of the originals, they are asked again, and for more tables.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

import audit_originals
import numpy as np
import pytest
from audit_originals import BY, LARGE, SMALL, Cells, made, of_few_items, rated

from postil.correlation.audit import alternative_annotator_test
from postil.data.grades import Scale
from postil.data.rows import Judgement, Score
from postil.meta.correlation import correlations, differences
from postil.meta.grade_fits import map_to_grades
from postil.meta.resampling import Draws
from postil.meta.system_accuracy import better_shares
from postil.meta.table import Table, join

if TYPE_CHECKING:
    from postil.meta.coefficients import By

FROZEN: dict[str, Any] = json.loads(audit_originals.FROZEN.read_text("utf-8"))
TABLES = [made(seed) for seed in range(SMALL)] + [made(seed, large=True) for seed in range(LARGE)]
LEVELS = cast("tuple[By, ...]", tuple(BY))
live = pytest.mark.skipif(
    not {"POSTIL_MTME", "POSTIL_ALTTEST"} <= os.environ.keys(),
    reason="POSTIL_MTME and POSTIL_ALTTEST do not name folders of the originals",
)


def table_of(cells: Cells) -> Table:
    keys = sorted(cells.grades)
    names = {key: (f"{key[0]:03}", f"{key[1]:03}") for key in keys}
    scores = [Score(*names[key], metric, cells.scores[key][m], "") for key in keys for m, metric in enumerate("ab")]
    return join(scores, [Judgement(*names[key], "mean", cells.grades[key]) for key in keys])


def accuracies(cells: Cells) -> dict[str, list[float]]:
    table = table_of(cells)
    found = {
        by: [row.value for row in correlations(table, ["acc-eq"], by, draws=Draws(resamples=20)).rows] for by in LEVELS
    }
    agreeing = correlations(table, ["pa"], "system", draws=Draws(resamples=1)).rows
    return found | {"pa": [row.value for row in agreeing] or [-1.0, -1.0]}


def soft_accuracies(cells: Cells) -> list[float]:
    """`spa` by the patterns that mt-metrics-eval draws."""
    table = table_of(cells)
    drawn = np.rint(np.random.default_rng(4).random((1000, cells.items), dtype=np.float32))
    values = np.column_stack([table.grades, table.oriented])
    shares = better_shares(values, table.item, table.system, [(1 - drawn).astype(np.int8)])
    apart = ~np.eye(cells.systems, dtype=bool)
    return [float(1 - np.abs(shares[0] - shares[m])[apart].mean()) for m in (1, 2)]


def alternative_test(people: dict[str, dict[str, float]], judge: dict[str, float], epsilon: float) -> list[float]:
    texts = sorted({text for row in people.values() for text in row})
    table = join(
        [Score(text, "s", "judge", judge[text], "") for text in texts],
        [Judgement(text, "s", who, grade) for who, row in people.items() for text, grade in row.items()],
        scale=Scale(1, 5),
    )
    found = alternative_annotator_test(table, map_to_grades(table), epsilon=epsilon, draws=Draws(resamples=1))
    (row,) = [row for row in found.rows if (row.metric, row.mapping) == ("judge", "none")]
    return [row.omega, row.rho]


def test_differences_of_floats_that_are_equal_are_one_threshold() -> None:
    """.3 - .1 and .5 - .3 are two: mt-metrics-eval finds 1, which no threshold does (research/validation.md)."""
    scores = [Score(str(n), "a", "m", score, "") for n, score in enumerate([0.1, 0.3, 0.3, 0.5])]
    table = join(scores, [Judgement(str(n), "a", "ann", grade) for n, grade in enumerate([1, 1, 1, 3])])
    assert [row.value for row in correlations(table, ["acc-eq"]).rows] == [pytest.approx(2 / 3)]


@pytest.mark.parametrize("number", range(SMALL + LARGE))
def test_accuracies_are_those_of_mt_metrics_eval(number: int) -> None:
    frozen = FROZEN["accuracies"][number]
    found = accuracies(TABLES[number])
    for name, values in frozen.items():
        assert found[name] == pytest.approx(values, abs=1e-9), name


def test_soft_accuracies_are_those_of_mt_metrics_eval_in_both_orders() -> None:
    found = [soft_accuracies(made(seed, holes=False)) for seed in range(100, 100 + SMALL)]
    np.testing.assert_allclose(found, FROZEN["soft"], rtol=0, atol=1e-9)


def near(ours: float, theirs: float, draws: int) -> bool:
    """True if two Monte Carlo estimates of one p-value differ by no more than five standard errors."""
    p = max(ours, theirs, 1 / draws) / 2 + min(ours, theirs, 1 - 1 / draws) / 2
    return abs(ours - theirs) <= 5 * np.sqrt(p * (1 - p) * 2 / draws) + 2 / draws


@pytest.mark.parametrize("by", LEVELS)
def test_pair_permutations_are_those_of_mt_metrics_eval(by: By) -> None:
    for seed, (value, p) in zip(range(200, 212), FROZEN["pair differences"][by], strict=True):
        (row,) = differences(
            table_of(made(seed, holes=False)), "acc-eq", by, draws=Draws(resamples=1, permutations=2000)
        ).rows
        assert row.p_both is not None
        assert (row.value, near(row.p_both, p, 2000)) == (pytest.approx(value, abs=1e-9), True), seed


def test_text_permutations_are_those_of_mt_metrics_eval() -> None:
    for number, (cells, (value, p)) in enumerate(zip(of_few_items(), FROZEN["soft differences"], strict=True)):
        (row,) = differences(table_of(cells), "spa", "system", draws=Draws(resamples=1, permutations=1000)).rows
        assert row.p_both is not None
        assert row.value == pytest.approx(value, abs=0.01), number  # all sign patterns, there 20,000 drawn ones
        assert near(row.p_both, p, 1000), number


def test_alternative_annotator_tests_are_those_of_alttest() -> None:
    found = [alternative_test(*rated(seed), epsilon) for seed in range(20) for epsilon in (0.1, 0.2)]
    np.testing.assert_allclose(found, FROZEN["alternative annotator test"], rtol=0, atol=1e-9)


@live
@pytest.mark.slow
def test_the_originals_say_so_again_and_of_more_tables() -> None:
    stats = audit_originals.mtme(os.environ["POSTIL_MTME"])
    alt_test = audit_originals.alternative_test(os.environ["POSTIL_ALTTEST"])
    for number in range(SMALL + 120 + 8):
        cells = made(number) if number < SMALL + 120 else made(number, large=True)
        theirs = audit_originals.accuracies(stats, cells)
        for name, values in accuracies(cells).items():
            assert values == pytest.approx(theirs[name], abs=1e-9), (number, name)
    for seed in range(100, 220):
        cells = made(seed, holes=False)
        theirs_soft = audit_originals.soft_accuracies(stats, cells)
        assert soft_accuracies(cells) == pytest.approx(theirs_soft, abs=1e-9), seed
    for seed in range(100):
        people, judge = rated(seed)
        expected = list(alt_test(judge, people, "neg_rmse", 0.2))
        assert alternative_test(people, judge, 0.2) == pytest.approx(expected, abs=1e-9), seed
