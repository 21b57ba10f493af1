from __future__ import annotations

import math

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import Qrel, ScoredDoc, nDCG, parse_measure

import postil
from postil.integrations.ir_measures import nCG
from postil.passages.gain import gain_curve

GRADES = {("1", "a"): 0.5, ("1", "b"): 2.0, ("1", "c"): 1.25, ("2", "a"): 0.0, ("3", "x"): 0.25, ("4", "y"): 1.0}
SCORES = {("1", "a"): 3.0, ("1", "b"): 2.0, ("1", "c"): 2.0, ("1", "u"): 1.0, ("2", "a"): 1.0, ("3", "x"): 1.0}
QRELS = [Qrel(query, document, grade) for (query, document), grade in GRADES.items()]
RUN = [ScoredDoc(query, document, score) for (query, document), score in SCORES.items()]

pytestmark = pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning:ir_measures")


def test_names_of_the_measure() -> None:
    assert parse_measure("nCG@10") == nCG @ 10
    assert str(parse_measure("nCG(ties='key')@3")) == "nCG(ties='key')@3"
    assert nCG(cutoff=5) == nCG @ 5


def as_frames() -> tuple[object, object]:
    return pd.DataFrame(QRELS), pd.DataFrame(RUN)


def as_dicts() -> tuple[object, object]:
    return tuple(
        {query: {d: value for (q, d), value in each.items() if q == query} for query, _ in each}
        for each in (GRADES, SCORES)
    )


@pytest.mark.parametrize(
    "make", [lambda: (iter(QRELS), iter(RUN)), as_frames, as_dicts], ids=["rows", "frames", "dicts"]
)
def test_real_grades_in_every_form(make: object) -> None:
    found = {each.query_id: each.value for each in ir_measures.iter_calc([nCG @ 2], *make())}
    assert found == pytest.approx({"1": (0.5 + 3.25 / 2) / 3.25, "3": 1.0, "4": 0.0})
    assert ir_measures.calc_aggregate([nCG @ 2], *make())[nCG @ 2] == pytest.approx(np.mean(list(found.values())))
    assert (nCG @ 2).calc_aggregate(*make()) == pytest.approx(np.mean(list(found.values())))


def test_ties_by_document_id() -> None:
    (first, *_) = ir_measures.iter_calc([nCG(ties="key") @ 2], QRELS, RUN)
    assert first.value == 2.5 / 3.25


def test_it_is_the_ncg_of_passages() -> None:
    rng = np.random.default_rng(3)
    grades, scores = rng.random((20, 30)) * (rng.random((20, 30)) < 0.3), rng.integers(0, 9, (20, 30))
    qrels, run = (
        [make(str(q), str(d), float(value)) for (q, d), value in np.ndenumerate(each)]
        for make, each in ((Qrel, grades), (ScoredDoc, scores))
    )
    whole = gain_curve(scores.ravel(), grades.ravel(), np.repeat(range(20), 30), [1, 10])
    found = ir_measures.calc_aggregate([nCG @ 1, nCG @ 10], qrels, run)
    assert [found[nCG @ 1], found[nCG @ 10]] == pytest.approx(whole.ncg.tolist(), abs=1e-12)


def test_beside_other_measures_the_mean_is_the_same() -> None:
    qrels = [Qrel(query, document, round(4 * grade)) for (query, document), grade in GRADES.items()]
    alone = ir_measures.calc_aggregate([nCG @ 2], qrels, RUN)[nCG @ 2]
    both = ir_measures.calc([nCG @ 2, nDCG @ 2], qrels, RUN)
    assert both.aggregated[nCG @ 2] == alone
    assert math.isnan(next(each.value for each in both.per_query if each[:2] == ("2", nCG @ 2)))


def test_the_providers_of_ir_measures_still_refuse_real_grades() -> None:
    with pytest.raises(TypeError, match="integer"):
        ir_measures.calc_aggregate([nDCG @ 2], QRELS, RUN)
    with pytest.raises(postil.InvalidInput, match="qrels: 1: a: expected a finite number of at least 0"):
        ir_measures.calc_aggregate([nCG @ 2], [Qrel("1", "a", -1.0)], RUN)
