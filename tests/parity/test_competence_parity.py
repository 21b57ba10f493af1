"""MACE and the model of Dawid and Skene beside crowd-kit's numbers, as kept in ``frozen_labels.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from postil.data.rows import Judgement
from postil.meta.table import Judged, Ratings
from postil.raters.competence import dawid_skene, mace

CASES = json.loads((Path(__file__).parent / "frozen_labels.json").read_text("utf-8"))["cases"]


@pytest.fixture(params=CASES, ids=lambda case: str(case["name"]))
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


def ratings(case: dict[str, Any]) -> Ratings:
    rated = Judged([Judgement(f"{text:03}", "s", f"{who:02}", grade) for text, who, grade in case["ratings"]])
    return rated.of(sorted(rated.rows))


def test_dawid_and_skene(case: dict[str, Any]) -> None:
    found = dawid_skene(ratings(case), smoothing=0)
    np.testing.assert_allclose(found.posterior, case["dawid_skene"], rtol=0, atol=1e-6)


def test_mace(case: dict[str, Any]) -> None:
    """crowd-kit stops after 150 iterations, so a slow case is a little short of the end."""
    found = mace(ratings(case))
    np.testing.assert_allclose(found.posterior, case["mace"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.competence, case["competence"], rtol=0, atol=1e-4)
