"""Simulated logs of interleaved suggestions: the preference that they are drawn with is the one that is found."""

from __future__ import annotations

import numpy as np
import pytest

from postil.comparison.interleaved import interleaved_preferences
from postil.meta.resampling import Draws

pytest.importorskip("bench.interleaving")
from bench.interleaving import run
from bench.interleaving.simulation import MODELS, Design, draw, preference, simulate, tilt_of


def test_the_known_preference() -> None:
    assert [preference(0), preference(0, 1.0)] == pytest.approx([0, 0], abs=1e-12)
    assert preference(tilt_of(0.1), 0) == pytest.approx(0.1)
    assert preference(-tilt_of(0.1, 1.0), 1.0) == pytest.approx(-0.1)
    rows = draw(Design(8000, 1), tilt_of(0.1), np.random.default_rng(1))
    assert interleaved_preferences(rows, MODELS[0], Draws(resamples=1)).rows[0].preference == pytest.approx(
        0.1, abs=0.02
    )


def test_lists_of_an_article() -> None:
    random = np.random.default_rng(1)
    drawn, fixed = (
        {(row.article, row.teams) for row in draw(Design(20, 9, fixed=f), 0, random)} for f in (False, True)
    )
    assert len(fixed) == 20 < len(drawn)
    first = [row.teams[0] for row in draw(Design(400, 1, coin=0.9), 0, random)]
    assert np.mean(first) == pytest.approx(0.9, abs=0.05)


def test_what_must_hold_in_few_logs() -> None:
    fixed = simulate(Design(30, 40, spread=1.0, fixed=True), 0.0, logs=40, seed=1, resamples=200)
    assert fixed.covered > 0.85
    assert fixed.said <= fixed.articles < 0.2 < fixed.sign
    assert fixed.unfair == 0
    found = simulate(Design(400, 1), 0.1, logs=40, seed=1, resamples=200)
    assert found.covered > 0.85
    assert found.preference == pytest.approx(0.1, abs=0.02)
    assert found.articles > 0.7


def test_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "DESIGNS", (Design(20, 2),))
    monkeypatch.setattr(run, "UNFAIR", (Design(40, 1, coin=0.9),))
    monkeypatch.setattr(run, "LOOKS", (1, 2))
    for table, rows in ((run.covered, 3), (run.unfair, 2), (run.looked, 2)):
        head, rule, *lines = table(3, 1)
        assert len(lines) == rows
        assert {line.count("|") for line in (head, rule, *lines)} == {head.count("|")}
