"""The alternative annotator test, against one written out rating by rating."""

from __future__ import annotations

import dataclasses
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.correlation.audit import alternative_annotator_test
from postil.data.grades import Scale
from postil.data.rows import Judgement
from postil.errors import UsageError
from postil.meta.grade_fits import MappedGrades, map_to_grades
from postil.meta.resampling import Draws, bootstrap_counts
from postil.meta.significance import benjamini_yekutieli
from postil.meta.table import Table, join
from rated_tables import rated_table
from table_p import rows_p, table_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.correlation.result import AltTest, AltTestRow


def alt_test(table: Table, epsilon: float = 0.2, **options: Any) -> AltTest:
    return alternative_annotator_test(table, map_to_grades(table), epsilon, Draws(**({"resamples": 20} | options)))


def rows_of(table: Table, epsilon: float = 0.2) -> dict[tuple[str, str], AltTestRow]:
    return {(row.metric, row.mapping): row for row in alt_test(table, epsilon).rows}


def rated(grades: Mapping[str, Sequence[float | None]], *, items: int | None = None) -> Table:
    """Texts with the grades of annotators, None where there is none; by default one text per item."""
    of_texts = [dict(zip(grades, each, strict=True)) for each in zip(*grades.values(), strict=True)]
    systems, names = zip(*(divmod(text, items or len(of_texts)) for text in range(len(of_texts))), strict=True)
    scores = [text % 5 for text in range(len(of_texts))]
    return rated_table({"x": scores}, of_texts, items=names, systems=systems, scale=Scale(0, 5))


def predicted(grades: Sequence[float]) -> MappedGrades:
    return MappedGrades((("x", "none"),), np.array(grades, float)[:, None], ())


def written_out(table: Table, prediction: Sequence[float]) -> dict[str, tuple[list[int], list[int]]]:
    """f and h of each text by annotator: distances are roots of means over the other grades."""
    ratings, found = table.ratings, {}
    for number, name in enumerate(ratings.names):
        metric, human = [], []
        for text in range(len(table)):
            given = range(ratings.offsets[text], ratings.offsets[text + 1])
            others = [float(ratings.grades[at]) for at in given if ratings.annotators[at] != number]
            own = [float(ratings.grades[at]) for at in given if ratings.annotators[at] == number]
            if not own or not others:
                continue
            of_metric, of_human = (
                sqrt(sum((value - other) ** 2 for other in others) / len(others))
                for value in (prediction[text], own[0])
            )
            metric.append(int(of_metric <= of_human + 1e-9))
            human.append(int(of_human <= of_metric + 1e-9))
        found[name] = metric, human
    return found


@pytest.mark.parametrize(
    ("metric", "mapping", "omega", "rho"),
    [
        ("m", "isotonic", 0, 0.398817),
        ("j", "isotonic", 0, 0.597191),
        ("m", "rounded", 0, 0.736881),
        ("j", "rounded", 0, 0.844198),
        ("control:constant", "rounded", 0, 0.532299),
        ("j", "none", 0.666667, 0.908943),
    ],
)
def test_worked_values(metric: str, mapping: str, omega: float, rho: float) -> None:
    row = rows_of(table_p(), 0.1)[metric, mapping]
    assert (row.omega, row.rho) == (pytest.approx(omega, abs=5.1e-7), pytest.approx(rho, abs=5.1e-7))
    assert row.passed == (omega >= 0.5)


def test_worked_values_of_each_annotator() -> None:
    row = rows_of(table_p(), 0.1)["j", "none"]
    wanted = [
        ("r0", 55, 0.872727, 0.745455, 0.003917, True),
        ("r1", 55, 0.927273, 0.836364, 0.002429, True),
        ("r2", 41, 0.926829, 0.926829, 0.053051, False),
    ]
    for each, (name, n, advantage, human, p, wins) in zip(row.annotators, wanted, strict=True):
        assert (each.annotator, each.n, each.wins) == (name, n, wins)
        assert [each.advantage, each.human, each.p] == pytest.approx([advantage, human, p], abs=5.1e-7)
    assert row.skipped == ()


@pytest.mark.parametrize("epsilon", [0, 0.1, 0.2, 1])
def test_it_is_the_test_written_out(epsilon: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    table = table_p()
    mapped = map_to_grades(table)
    found = alternative_annotator_test(table, mapped, epsilon, draws=Draws(resamples=2))
    assert [(row.metric, row.mapping) for row in found.rows] == list(mapped.names)
    for row, column in zip(found.rows, mapped.grades.T, strict=True):
        one_by_one = written_out(table, column.tolist())
        for each in row.annotators:
            metric, human = one_by_one[each.annotator]
            assert (each.n, each.advantage) == (len(metric), pytest.approx(np.mean(metric)))
            assert each.human == pytest.approx(np.mean(human))
            away = np.subtract(human, metric)
            assert each.p == pytest.approx(stats.ttest_1samp(away, epsilon, alternative="less").pvalue, rel=1e-9)
        rejected = [each.wins for each in row.annotators]
        assert rejected == benjamini_yekutieli(np.array([each.p for each in row.annotators])).tolist()
        assert row.omega == pytest.approx(np.mean(rejected))
        assert row.rho == pytest.approx(np.mean([each.advantage for each in row.annotators]))


def test_the_interval_of_rho_resamples_items() -> None:
    table = table_p()
    mapped = map_to_grades(table)
    counts = bootstrap_counts(12, 40, seed=3)
    ratings = table.ratings
    for row, column in zip(
        alternative_annotator_test(table, mapped, draws=Draws(resamples=40, seed=3)).rows, mapped.grades.T, strict=True
    ):
        one_by_one = written_out(table, column.tolist())
        samples = []
        for count in counts:
            advantages = []
            for number, name in enumerate(ratings.names):
                item = np.repeat(table.item, ratings.counts)[ratings.annotators == number]
                advantages.append(np.average(one_by_one[name][0], weights=count[item]))
            samples.append(np.mean(advantages))
        assert [row.low, row.high] == pytest.approx(np.percentile(samples, [2.5, 97.5]), abs=1e-12)


grade = st.integers(0, 5).map(float)
rating = st.one_of(st.none(), grade, grade, grade)


@examples(30)
@given(st.lists(st.tuples(rating, rating, rating, grade, st.integers(0, 50)), min_size=40, max_size=60))
def test_shares_are_those_written_out_with_gaps(texts: list[tuple[Any, ...]]) -> None:
    texts = [text if any(each is not None for each in text[:3]) else (1.0, *text[1:]) for text in texts]
    table = rated(dict(zip("abc", zip(*(text[:3] for text in texts), strict=True), strict=True)))
    prediction = [text[4] / 10 for text in texts]
    found = alternative_annotator_test(table, predicted(prediction), draws=Draws(resamples=2))
    one_by_one = written_out(table, prediction)
    if not found.rows:
        assert max(len(metric) for metric, _ in one_by_one.values()) < 30
        return
    (row,) = found.rows
    assert 0 <= row.omega <= 1
    assert row.passed == (row.omega >= 0.5)
    for each in row.annotators:
        metric, human = one_by_one[each.annotator]
        assert (each.n, each.advantage, each.human) == (len(metric), pytest.approx(np.mean(metric)), np.mean(human))
        assert each.advantage + each.human >= 1 - 1e-12
    few = {name: len(metric) for name, (metric, _) in one_by_one.items() if len(metric) < 30}
    assert {each.annotator: each.n for each in row.skipped} == few


def test_the_mean_of_the_others_wins() -> None:
    rng = np.random.default_rng(2)
    grades = {name: rng.integers(0, 6, 60).astype(float) for name in "abcd"}
    others = np.mean([grades[name] for name in "bcd"], axis=0)
    (row,) = alternative_annotator_test(rated(grades), predicted(others.tolist()), 0.01, draws=Draws(resamples=2)).rows
    first = row.annotators[0]
    assert (first.annotator, first.advantage, first.wins) == ("a", 1.0, True)


def test_names_of_annotators_change_names_alone() -> None:
    scores, judgements = rows_p()
    swapped = {"r0": "z", "r1": "k", "r2": "a"}
    renamed = [Judgement(row.item, row.system, swapped[row.annotator], row.grade) for row in judgements]
    for one, other in zip(
        alt_test(table_p()).rows, alt_test(join(scores, renamed, scale=Scale(1, 5))).rows, strict=True
    ):
        moved = {each.annotator: each for each in other.annotators}
        for each in one.annotators:
            same = moved[swapped[each.annotator]]
            assert (each.n, each.advantage, each.human, each.wins) == (same.n, same.advantage, same.human, same.wins)
            assert each.p == pytest.approx(same.p)
        assert (one.omega, one.rho, one.low) == pytest.approx((other.omega, other.rho, other.low))


def test_ties_up_to_rounding_count_for_both() -> None:
    # |.1 + .2 - .3| is no distance, and .3 - .2 no smaller than .2 - .1.
    equal = rated({"a": [0.3] * 30, "b": [0.1 + 0.2] * 30})
    (row,) = alternative_annotator_test(equal, predicted([0.3 * (1 + 1e-14)] * 30), draws=Draws(resamples=2)).rows
    assert [(each.advantage, each.human) for each in row.annotators] == [(1, 1), (1, 1)]
    apart = rated({"a": [0.1] * 30, "b": [0.2] * 30})
    (row,) = alternative_annotator_test(apart, predicted([0.3] * 30), draws=Draws(resamples=2)).rows
    assert [(each.advantage, each.human) for each in row.annotators] == [(1, 1), (0, 1)]


@pytest.mark.parametrize("epsilon", [0, 0.2, 1])
@pytest.mark.parametrize(("prediction", "away"), [(5.0, 1), (2.0, -1), (1.0, 0)])
def test_where_all_texts_are_alike_there_is_no_t(prediction: float, away: int, epsilon: float) -> None:
    # a gives 1 and b 2 to every text. Against a: at 5 the metric is always farther (h - f = 1), at 2 always nearer.
    table = rated({"a": [1.0] * 31, "b": [2.0] * 31})
    (row,) = alternative_annotator_test(table, predicted([prediction] * 31), epsilon, draws=Draws(resamples=2)).rows
    first = row.annotators[0]
    assert first.human - first.advantage == away
    assert first.p == (0.0 if away < epsilon else 1.0)
    assert first.wins == (first.p == 0)


@pytest.mark.parametrize(
    ("p", "rejected"),
    [
        ([0.001, 0.02, 0.03, 0.2], [True, False, False, False]),
        ([0.2, 0.03, 0.001, 0.02], [False, False, True, False]),
        ([0.004, 0.015, 0.02], [True, True, True]),
        ([0.02, 0.02, 0.02], [True, True, True]),
        ([0.05], [True]),
        ([0.051], [False]),
    ],
)
def test_benjamini_yekutieli(p: list[float], rejected: list[bool]) -> None:
    assert benjamini_yekutieli(np.array(p)).tolist() == rejected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_yekutieli_is_that_of_scipy(p: list[float]) -> None:
    stats = pytest.importorskip("scipy.stats")
    adjusted = stats.false_discovery_control(p, method="by")
    clear = np.abs(adjusted - 0.05) > 1e-12
    assert (benjamini_yekutieli(np.array(p)) == (adjusted <= 0.05))[clear].all()


def test_one_annotator_has_nobody_to_be_compared_with() -> None:
    found = alt_test(rated({"ann": [1.0, 2.0, 3.0] * 20}))
    assert found.rows == found.notes == ()
    assert {(each.metric, each.mapping) for each in found.absent} >= {("x", "none"), ("control:constant", "rounded")}
    (reason,) = {each.reason for each in found.absent}
    assert reason == (
        "the test needs an annotator with 30 texts that somebody else rated too, "
        'and "ann" is the only annotator (0 such texts)'
    )


def test_annotators_who_share_no_text_are_not_compared() -> None:
    found = alt_test(rated({"ann": [*[1.0, 2.0] * 20, *[None] * 40], "bob": [*[None] * 40, *[1.0, 3.0] * 20]}))
    assert found.rows == ()
    (reason,) = {each.reason for each in found.absent}
    assert reason.endswith("somebody else rated too, and the largest number is 0")


def test_29_texts_are_too_few() -> None:
    grades: dict[str, list[float | None]] = {"ann": [*[1.0, 2.0] * 14, 3.0, 4.0], "bob": [*[2.0, 1.0] * 14, 3.0, None]}
    found = alt_test(rated(grades))
    assert found.rows == ()
    (reason,) = {each.reason for each in found.absent}
    assert reason == (
        'the test needs an annotator with 30 texts that somebody else rated too, and the largest number is 29 ("ann")'
    )
    found = alt_test(rated(grades | {"bob": [*[2.0, 1.0] * 14, 3.0, 4.0], "cy": [5.0, *[None] * 29]}))
    for row in found.rows:
        assert [(each.annotator, each.n) for each in row.annotators] == [("ann", 30), ("bob", 30)]
        assert [(each.annotator, each.n) for each in row.skipped] == [("cy", 1)]


def test_constant_scores_are_tested_as_the_constant_control() -> None:
    table = table_p()
    found = rows_of(dataclasses.replace(table, scores=np.full_like(table.scores, 9.0)))
    for mapping in ("isotonic", "rounded"):
        one, other = found["m", mapping], found["control:constant", mapping]
        assert (one.omega, one.rho, one.annotators) == (other.omega, other.rho, other.annotators)


def test_one_item_has_no_interval_and_no_fits() -> None:
    grades = {"ann": [1.0, 2.0, 4.0] * 12, "bob": [2.0, 2.0, 4.0] * 12}
    found = alt_test(rated(grades, items=1))
    (row,) = found.rows
    assert (row.metric, row.mapping, row.low, row.high) == ("x", "none", None, None)
    assert len(found.absent) == 5
    assert {each.reason for each in found.absent} == {
        "there is only one item, so there are no texts of other items to fit the scores on"
    }


def test_a_note_says_where_texts_are_not_independent() -> None:
    grades = {"ann": [1.0, 2.0, 4.0] * 12, "bob": [2.0, 2.0, 4.0] * 12}
    assert alt_test(rated(grades)).notes == ()
    (note,) = alt_test(rated(grades, items=35)).notes
    assert note.startswith("the t-test takes texts as independent; 1 of 35 items has several, and where these are")


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_an_epsilon_that_is_no_share_is_refused(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon: expected a number from 0 to 1, got"):
        alt_test(table_p(), epsilon)
