"""Verdicts on the sentences of the paper, and the rank cutoffs that they are about."""

from __future__ import annotations

import pytest

from postil.studies.papers import Relation, passages_paper
from postil.studies.passages.figures import (
    ENTITIES,
    FAILS,
    FAMILIES,
    HOLDS,
    RULES,
    UNDECIDED,
    UNTESTED,
    CutoffEstimate,
    decide,
)
from postil.studies.passages.paper import range_of, scaled_cutoffs


def at(*intervals: tuple[float, float]) -> list[CutoffEstimate]:
    return [CutoffEstimate(k, (low + high) / 2, low, high) for k, (low, high) in enumerate(intervals, 1)]


@pytest.mark.parametrize(
    ("relation", "intervals", "found"),
    [
        ("higher", [(0.1, 0.2), (0.01, 0.3)], HOLDS),
        ("higher", [(0.1, 0.2), (-0.01, 0.3)], UNDECIDED),
        ("higher", [(0.1, 0.2), (-0.2, -0.01)], FAILS),
        ("alike", [(-0.05, 0.05)], HOLDS),
        ("alike", [(-0.06, 0.05)], UNDECIDED),
        ("alike", [(0.0, 0.0), (0.051, 0.2)], FAILS),
        ("not higher", [(-0.3, 0.05)], HOLDS),
        ("not higher", [(-0.3, 0.06)], UNDECIDED),
        ("not higher", [(0.001, 0.01)], FAILS),
        ("not significant", [(-0.1, 0.4)], HOLDS),
        ("not significant", [(-0.1, 0.4), (0.1, 0.4)], FAILS),
        ("not significant", [(-0.4, 0.1)], UNDECIDED),
        ("below", [(0.1, 0.39)], HOLDS),
        ("below", [(0.1, 0.4)], UNDECIDED),
        ("below", [(0.4, 0.5)], FAILS),
        ("reaches", [(0.1, 0.2), (0.351, 0.5)], HOLDS),
        ("reaches", [(0.1, 0.2), (0.3, 0.36)], UNDECIDED),
        ("reaches", [(0.1, 0.2), (0.3, 0.34)], FAILS),
        ("near", [(0.1, 0.2), (0.36, 0.44)], HOLDS),
        ("near", [(0.1, 0.2), (0.36, 0.46)], UNDECIDED),
        ("near", [(0.1, 0.2), (0.46, 0.5)], FAILS),
        ("higher", [], UNTESTED),
    ],
)
def test_verdicts(relation: Relation, intervals: list[tuple[float, float]], found: str) -> None:
    assert decide(relation, at(*intervals), 0.4) == found


def test_the_rules_name_every_verdict() -> None:
    assert all(verdict in RULES for verdict in (HOLDS, FAILS, UNDECIDED))


def test_the_cutoffs_are_those_of_the_paper_in_proportion() -> None:
    assert scaled_cutoffs(3000, 34_507) == (100, 300, 1000, 2500, 5000, 10_000)
    assert scaled_cutoffs(4102, 9260) == (137, 410, 1367, 3418, 6837)
    assert scaled_cutoffs(1, 1) == (1,)
    assert [range_of(k, 3000) for k in scaled_cutoffs(3000, 34_507)] == ["low"] * 2 + ["medium"] * 2 + ["high"] * 2


def test_every_sentence_names_measures_of_the_paper() -> None:
    paper = passages_paper()
    known = {each.here for each in paper.measures} | {"random"}
    assert set(FAMILIES) < known
    assert {sentence.figure for sentence in paper.sentences} == set(range(1, 7))
    for sentence in paper.sentences:
        sizes = {len(pair) for pair in sentence.pairs}
        assert sizes == ({1} if sentence.relation in {"below", "reaches", "near"} else {2}), sentence.claim
        assert {name.removesuffix(ENTITIES) for pair in sentence.pairs for name in pair} <= known
