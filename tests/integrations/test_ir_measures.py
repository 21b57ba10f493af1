from __future__ import annotations

import numpy as np
import pytest

import postil
from postil.integrations import ir_measures
from postil.integrations.ir_measures import query_gains
from postil.passages.gain import gain_curve, normalized_gains


@pytest.mark.parametrize("ties", ["expected", "key"])
def test_ncg_is_that_of_passages(ties: str) -> None:
    rng = np.random.default_rng(7)
    grades, scores = rng.integers(0, 5, (6, 12)) / 4, rng.integers(0, 4, (6, 12)).astype(float)
    grades[3] = 0.0
    names = [f"d{n:02}" for n in range(12)]
    qrels, run = (
        {f"q{q}": dict(zip(names, row, strict=True)) for q, row in enumerate(each.tolist())}
        for each in (grades, scores)
    )
    keys = {"keys": names * 6} if ties == "key" else {}
    whole = gain_curve(scores.ravel(), grades.ravel(), np.repeat(range(6), 12), [1, 5, 20], ties=ties, **keys)
    for column, k in enumerate((1, 5, 20)):
        found = query_gains(qrels, run, k, ties)
        assert list(found) == [f"q{q}" for q in whole.topics]
        assert list(found.values()) == pytest.approx(whole.by_topic[:, column].tolist(), abs=1e-12)


def test_documents_that_are_not_retrieved_add_nothing_and_ungraded_ones_are_0() -> None:
    qrels = {"q": {"a": 0.5, "b": 2.0, "c": 1.25}}
    assert query_gains(qrels, {"q": {"c": 2.0, "x": 1.0}}, 3) == {"q": 1.25 / 3.75}
    assert query_gains(qrels, {"q": {"c": 2.0, "x": 2.0}}, 1) == {"q": 1.25 / 2 / 2.0}
    assert query_gains(qrels, {"other": {"c": 2.0}, "q": {}}, 3) == {}
    assert (
        query_gains(qrels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, 2)["q"]
        == normalized_gains([3, 2, 1], [0.5, 2, 1.25])[1]
    )


@pytest.mark.parametrize(
    ("qrels", "run", "options", "problem"),
    [
        ({"q": {"a": -0.5}}, {}, {}, "qrels: q: a: expected a finite number of at least 0, got -0.5"),
        ({"q": {"a": float("nan")}}, {}, {}, "qrels: q: a: expected a finite number of at least 0, got nan"),
        ({"q": {"a": 1.0}}, {"q": {"a": float("nan")}}, {}, "run: q: a: expected a number, got NaN"),
        ({"q": {"a": 1.0}}, {}, {"cutoff": 0}, "cutoff: expected an integer of at least 1, got 0"),
        ({"q": {"a": 1.0}}, {}, {"ties": "keys"}, "unknown tie rule 'keys'; did you mean 'key'"),
    ],
)
def test_what_cannot_be_ranked(qrels: object, run: object, options: dict[str, object], problem: str) -> None:
    with pytest.raises(postil.PostilError, match=problem):
        query_gains(qrels, run, **({"cutoff": 1} | options))


def test_the_measure_says_what_it_needs() -> None:
    with pytest.raises(postil.UsageError, match="needs the package ir_measures: pip install ir_measures"):
        ir_measures.__getattr__("nCG")
    with pytest.raises(AttributeError, match="no attribute 'NDCG'"):
        ir_measures.NDCG  # noqa: B018
