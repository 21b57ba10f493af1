"""Simulations of estimates from few ratings: what is drawn, and what must hold over many draws."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_files import write
from postil.data.rows import Judgement, Score

pytest.importorskip("bench.estimation")
from bench.estimation import run
from bench.estimation.designs import DESIGNS, made
from bench.estimation.simulation import Judged, planned, simulate

if TYPE_CHECKING:
    from pathlib import Path

ESTIMATORS = ("human", "best", "crossed")


def small() -> Judged:
    ratings = np.arange(24.0).reshape(4, 2, 3)
    ratings[0, 0, 2] = np.nan
    return Judged(np.arange(8.0).reshape(4, 2, 1), ratings)


def test_a_draw_rates_random_items_by_random_raters() -> None:
    judged, generator = small(), np.random.default_rng(1)
    assert judged.truth.tolist() == pytest.approx([(0.5 + 7 + 13 + 19) / 4, 13])
    for _ in range(20):
        outputs = judged.draw(2, 2, "items", generator)
        assert sorted(outputs.scores[:, 0, 0]) == [0, 2, 4, 6]
        assert outputs.rated.sum(axis=0).tolist() == [2, 2]
        assert set(outputs.counts[:2].ravel()) == {2}
        for item in range(2):
            place = int(outputs.scores[item, 0, 0] // 2)
            pairs = {(a + b) / 2 for a, b in ((0, 1), (0, 2), (1, 2))} if place else {0.5}
            assert outputs.grades[item, 0] - judged.ratings[place, 0, 0] in pairs
    again = [len(set(judged.draw(2, 1, "population", generator).scores[:, 0, 0])) for _ in range(20)]
    assert min(again) < 4  # with replacement
    assert judged.draw(2, 1, "population", generator, 50).scores.shape == (50, 2, 1)
    assert judged.draw(2, 1, "items", generator).rater_variance is None


def test_the_best_score_has_the_slope_of_the_ratings() -> None:
    generator = np.random.default_rng(2)
    quality = generator.normal(size=(50, 3))
    scores = np.stack([generator.normal(size=(50, 3)), -4 * quality], axis=2)
    place, slope = Judged(scores, quality[..., None]).best()
    assert (place, slope) == (1, pytest.approx(-0.25))


def test_what_must_hold_in_few_draws() -> None:
    useless = simulate(made("useless", 1, 2000), 10, 2, "population", draws=120, seed=1, items=100)
    assert useless["crossed"].relative(useless["human"]) == pytest.approx((1, 1), abs=0.04)
    assert useless["regression"].relative(useless["human"])[0] > 1.08
    judge = simulate(made("favoring judge", 1, 2000), 20, 2, "population", draws=60, seed=1, items=100)
    assert max(judge["crossed"].relative(judge["human"])) < 0.8
    for found in (useless, judge):
        assert all(0.91 < share < 0.99 for name in ESTIMATORS for share in found[name].coverage())
    assert np.isnan(judge["regression"].coverage()).all()
    assert np.all(np.subtract(useless["ppi"].coverage(), useless["human"].coverage()) < 0)  # normal intervals


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("n", [8, 20])
def test_what_must_hold_in_many_draws(design: str, n: int) -> None:
    judged = made(design, 20181)
    found = simulate(judged, n, 2, "population", draws=2000, seed=20181, items=200, methods=ESTIMATORS)
    assert all(0.93 <= found[name].coverage()[1] <= 0.97 for name in ESTIMATORS)
    if design.startswith("useless"):
        assert max(*found["crossed"].relative(found["human"]), *found["best"].relative(found["human"])) <= 1.02


def test_plans_from_pilots_are_near_what_happens() -> None:
    judged = made("judge", 3, 300)
    found = simulate(judged, 30, 1, "population", draws=100, seed=3, methods=("crossed",))["crossed"]
    actual = float(np.sqrt(found.squared[1] / found.draws))
    plans = planned(judged, 20, 30, 1, pilots=40, seed=3)
    assert np.median(plans) / actual == pytest.approx(1, abs=0.12)


def test_the_program_reads_a_set_of_anyone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    quality = generator.normal(size=(30, 2))
    keys = [(str(item), "ab"[system], quality[item, system]) for item in range(30) for system in range(2)]
    write(tmp_path / "scores.jsonl", [Score(item, name, "judge", float(q), "") for item, name, q in keys])
    rows = [
        Judgement(item, name, rater, float(q + generator.normal() / 2))
        for item, name, q in keys[:-1]  # the last item is not whole
        for rater in "xy"
    ]
    write(tmp_path / "judgements.jsonl", rows)
    monkeypatch.chdir(tmp_path)
    arguments = "--scores scores.jsonl --judgements judgements.jsonl --graded 10 --draws 5 --pilot 10"
    outputs = "--markdown table.md --json rows.json"
    monkeypatch.setattr(sys, "argv", ["run", *arguments.split(), *outputs.split()])
    run.main()
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert table.count("| population, 10 items |") == table.count("| items, 10 items |") == 2
    assert "- 10 items:" in table
    first, second = json.loads((tmp_path / "rows.json").read_text())
    assert len(first["plans"]) == 3
    assert first["crossed"]["squared_error"][0] < 1
    assert "ppi" not in second  # these items are no population


def test_the_program_wants_one_kind_of_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["run", "--scores", "x"])
    with pytest.raises(SystemExit):
        run.main()
    assert "give --scores and --judgements, or --synthetic" in capsys.readouterr().err
