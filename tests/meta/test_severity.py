"""Severities of annotators: worked values, least squares by another way, and laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.meta import severity
from postil.meta.severity import severities
from postil.meta.significance import fisher_p
from postil.meta.table import Ratings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def ratings_of(outputs: Sequence[Mapping[str, float]]) -> Ratings:
    names = sorted({name for output in outputs for name in output})
    pairs = [(names.index(name), grade) for output in outputs for name, grade in sorted(output.items())]
    return Ratings(
        offsets=np.cumsum([0, *map(len, outputs)]),
        annotators=np.array([who for who, _ in pairs], np.int32),
        grades=np.array([grade for _, grade in pairs], np.float64),
        names=tuple(names),
    )


def drawn(seed: int, outputs: int = 60, annotators: int = 7, most: int = 4, sd: float = 1.0) -> Ratings:
    rng = np.random.default_rng(seed)
    bias = rng.normal(0, sd, annotators)
    made = []
    for _ in range(outputs):
        quality = rng.normal(3, 1)
        some = rng.choice(annotators, rng.integers(1, most + 1), replace=False)
        made.append({f"r{a}": float(quality + bias[a] + rng.normal(0, 0.5)) for a in some.tolist()})
    return ratings_of(made)


def by_dummies(ratings: Ratings) -> NDArray[np.float64]:
    """The same severities by least squares on indicators of outputs and annotators, for one group."""
    n, a = len(ratings.counts), len(ratings.names)
    output = np.repeat(np.arange(n), ratings.counts)
    design = np.zeros((len(output), n + a))
    design[np.arange(len(output)), output] = 1
    design[np.arange(len(output)), n + ratings.annotators] = 1
    r = np.linalg.lstsq(design, ratings.grades, rcond=None)[0][n:]
    numbers = np.bincount(ratings.annotators, minlength=a)
    return np.asarray(r - (numbers @ r) / numbers.sum())


WORKED = [{"a": 4, "b": 5}, {"a": 2, "b": 4, "c": 1}, {"b": 3, "c": 1}, {"a": 3}]


def test_worked_values() -> None:
    found = severities(ratings_of(WORKED))
    assert found.bias == pytest.approx([-0.275, 1.125, -1.275], abs=1e-11)
    assert found.degrees == (2, 2)
    assert found.variance == pytest.approx(0.2, abs=1e-11)
    f, p = found.test
    assert f == pytest.approx(16.916667, abs=5e-7)
    assert p == pytest.approx(0.055814, abs=5e-7)
    adjusted = [4.275, 3.875, 2.275, 2.875, 2.275, 1.875, 2.275, 3.275]
    assert found.adjusted.grades == pytest.approx(adjusted, abs=1e-11)
    assert not found.removed("auto")
    assert found.removed("remove")
    assert not found.removed("keep")


def test_told() -> None:
    found = severities(ratings_of([*WORKED, {"d": 2, "e": 4}, {"f": 5}]))
    told = found.told("auto")
    assert told.groups == (("a", "b", "c"), ("d", "e"), ("f",))
    assert [(row.annotator, row.ratings, round(row.bias, 3)) for row in told.annotators] == [
        ("a", 3, -0.275),
        ("b", 3, 1.125),
        ("c", 2, -1.275),
        ("d", 1, -1.0),
        ("e", 1, 1.0),
        ("f", 1, 0.0),
    ]
    assert (told.df1, told.df2) == (3, 2)


@pytest.mark.parametrize("seed", range(8))
def test_least_squares_on_indicators(seed: int) -> None:
    ratings = drawn(seed)
    found = severities(ratings)
    assert found.bias == pytest.approx(by_dummies(ratings), abs=1e-9)
    numbers = np.bincount(ratings.annotators)
    assert numbers @ found.bias == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_many_annotators_are_solved_by_conjugate_gradients(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = drawn(seed, outputs=300, annotators=40, most=3)
    direct = severities(ratings)
    monkeypatch.setattr(severity, "DENSE", 0)
    iterated = severities(ratings)
    assert iterated.bias == pytest.approx(direct.bias, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_of_an_annotator_moves_all_adjusted_ratings_by_one_number(seed: int) -> None:
    ratings = drawn(seed)
    shifted = Ratings(
        ratings.offsets, ratings.annotators, ratings.grades + 1.7 * (ratings.annotators == 2), ratings.names
    )
    before, after = severities(ratings), severities(shifted)
    moved = after.adjusted.grades - before.adjusted.grades
    assert moved == pytest.approx(np.full(len(moved), moved[0]), abs=1e-10)
    assert after.variance == pytest.approx(before.variance, rel=1e-9)


def test_complete_tables_keep_the_means_of_outputs() -> None:
    rng = np.random.default_rng(5)
    outputs = [{name: float(rng.integers(1, 6)) for name in "abc"} for _ in range(30)]
    ratings = ratings_of(outputs)
    found = severities(ratings)
    assert found.adjusted.means == pytest.approx(ratings.means, abs=1e-11)


def test_constants_alone_leave_no_variance_and_equal_means_to_the_last_bit() -> None:
    constants = {"a": 0.1, "b": 2.1, "c": 4.1}
    outputs = [
        {name: quality + constants[name] for name in names} for quality in (1, 2, 3) for names in ("abc", "ab", "bc")
    ]
    found = severities(ratings_of(outputs))
    assert found.variance == 0
    assert found.test == (None, 0.0)
    assert found.removed("auto")
    means = found.adjusted.means
    assert np.ptp(means.reshape(3, 3), axis=1) == pytest.approx(np.zeros(3), abs=1e-11)


def test_annotators_who_agree_have_no_test() -> None:
    found = severities(ratings_of([{"a": 2, "b": 2}, {"a": 3, "b": 3}, {"a": 5, "b": 5}]))
    assert found.test == (None, None)
    assert not found.removed("auto")
    assert found.bias.tolist() == [0.0, 0.0]


def test_one_rating_per_output_has_no_severities() -> None:
    assert severities(ratings_of([{"a": 2}, {"b": 3}])) is None


def test_ratings_of_zero_and_of_large_magnitude() -> None:
    none = severities(ratings_of([{"a": 0, "b": 0}]))
    assert none.bias.tolist() == [0.0, 0.0]
    large = severities(ratings_of([{"a": 1e12, "b": 1e12 + 64}, {"a": 2e12, "b": 2e12 + 64}]))
    assert large.bias == pytest.approx([-32, 32], abs=2)


def test_p_of_f_equals_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    for _ in range(300):
        df1, df2 = int(10 ** rng.uniform(0, 3)), int(10 ** rng.uniform(0, 5))
        f = float(stats.f.isf(10 ** rng.uniform(-9, -0.01), df1, df2))
        assert fisher_p(f, df1, df2) == pytest.approx(stats.f.sf(f, df1, df2), rel=1e-8, abs=1e-14)
