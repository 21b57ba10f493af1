from __future__ import annotations

import csv
import itertools
from typing import TYPE_CHECKING

import numpy as np
import originals
import pytest

from postil.data.grades import Scale
from postil.data.rows import Judgement
from postil.meta.agreement import agreement
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.parts import Agreement

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

KINDS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


def made(seed: int, labels: list[float], *, annotators: int = 5, texts: int = 150, given: float = 0.5) -> NDArray:
    """Grades of annotators who nearly agree, float64[annotators, texts], NaN where there is none."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(labels), texts)
    grades = np.array(labels, np.float64)[np.clip(truth + rng.integers(-1, 2, (annotators, texts)), 0, len(labels) - 1)]
    grades[rng.random(grades.shape) >= given] = np.nan
    grades[1, grades[1] > labels[0]] = np.nan  # gives one label only
    return grades


def mohler() -> NDArray:
    path = originals.DATA / "judged/mohler/mohler_dataset.csv"
    if not path.is_file():
        pytest.skip(f"no data in {originals.DATA}; POSTIL_DATA names the folder")
    with path.open(encoding="utf-8", newline="") as file:
        return np.array([[float(row["score_me"]), float(row["score_other"])] for row in csv.DictReader(file)]).T


TABLES = {
    "1 to 5": lambda: made(1, [1, 2, 3, 4, 5]),
    "half points, few ratings": lambda: made(2, [0, 0.5, 1, 1.5, 2], annotators=8, given=0.2),
    "two labels": lambda: made(3, [0, 1]),
    "mohler": mohler,
}


@pytest.fixture(params=TABLES)
def grades(request: pytest.FixtureRequest) -> NDArray:
    table: NDArray = TABLES[request.param]()
    return table


def sliders(seed: int, decimals: int) -> NDArray:
    """Grades from 0 to 100 of four annotators, NaN where there is none."""
    rng = np.random.default_rng(seed)
    grades = np.clip(np.round(rng.uniform(0, 100, 300) + rng.normal(0, 15, (4, 300)), decimals), 0, 100)
    grades[rng.random(grades.shape) < 0.4] = np.nan
    assert len(np.unique(grades[~np.isnan(grades)])) > 100
    return grades


def judged(grades: NDArray, scale: Scale | None = None) -> Agreement:
    rows = (Judgement(int(t), "s", f"r{a}", grades[a, t]) for a, t in np.argwhere(~np.isnan(grades)))
    return agreement(rows, scale=scale, draws=Draws(resamples=1))


def shared(grades: NDArray, first: int, second: int) -> NDArray:
    return grades[[first, second]][:, ~np.isnan(grades[first] + grades[second])]


@pytest.mark.parametrize("kind", KINDS)
def test_kappas_are_those_of_scikit_learn(grades: NDArray, kind: str) -> None:
    """Its weights are of the labels' ranks, ours of the labels: the same where every step is taken for a label."""
    cohen = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    found = judged(grades)
    step = min(np.diff(found.labels))
    steps = range(round((found.labels[-1] - found.labels[0]) / step) + 1)

    def kappa(pair: NDArray) -> float:
        rank = (pair - found.labels[0]) / step
        assert (rank == rank.round()).all()
        return float(cohen(*rank.astype(int), labels=steps, weights=KINDS[kind]))

    ours = {(int(pair.first[1:]), int(pair.second[1:])): pair for pair in found.pairs}
    sizes, values, pooled = [], [], []
    for first, second in itertools.combinations(range(len(grades)), 2):
        pair = shared(grades, first, second)
        if not pair.size:
            assert (first, second) not in ours
            continue
        pooled.append(pair)
        mine = ours[first, second]
        assert mine.n == pair.shape[1]
        if len(np.unique(pair)) == 1:
            assert getattr(mine, kind) is None
            continue
        assert getattr(mine, kind) == pytest.approx(kappa(pair), abs=1e-12)
        sizes.append(pair.shape[1])
        values.append(kappa(pair))
    mean = np.average(values, weights=sizes)
    assert found.estimates[f"kappa-{kind}-pairs"].value == pytest.approx(mean, abs=1e-12)
    both = np.concatenate(pooled, axis=1)
    both = np.concatenate([both, both[::-1]], axis=1)
    assert found.estimates[f"kappa-{kind}-pooled"].value == pytest.approx(kappa(both), abs=1e-12)


def test_the_confusion_matrix_is_that_of_scikit_learn(grades: NDArray) -> None:
    confusion = pytest.importorskip("sklearn.metrics").confusion_matrix
    pairs = [shared(grades, *pair) for pair in itertools.combinations(range(len(grades)), 2)]
    found = judged(grades)
    one, other = np.searchsorted(found.labels, np.concatenate(pairs, axis=1))
    theirs = confusion(one, other, labels=range(len(found.labels)))
    assert found.confusion is not None
    assert list(map(list, found.confusion)) == (theirs + theirs.T).tolist()


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alphas_are_those_of_krippendorff(grades: NDArray, level: str) -> None:
    theirs = pytest.importorskip("krippendorff").alpha(grades, level_of_measurement=level)
    assert judged(grades).estimates[f"alpha-{level}"].value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("decimals", [0, 1, 15])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alphas_of_many_distinct_grades(level: str, decimals: int) -> None:
    """Sliders of 0 to 100, in whole numbers, tenths, and as they come."""
    grades = sliders(4, decimals)
    theirs = pytest.importorskip("krippendorff").alpha(grades, level_of_measurement=level)
    assert judged(grades).estimates[f"alpha-{level}"].value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_kappas_of_many_distinct_grades_are_those_of_their_bins(kind: str) -> None:
    cohen = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    grades = sliders(5, 2)
    found = judged(grades, Scale(0, 100))
    for pair in found.pairs:
        one, other = shared(grades, int(pair.first[1:]), int(pair.second[1:]))
        theirs = cohen(*(np.minimum(row // 10, 9) for row in (one, other)), labels=range(10), weights=KINDS[kind])
        assert getattr(pair, kind) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_alphas_of_small_tables(seed: int) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    grades = made(seed, [1, 2, 4, 7], annotators=4, texts=6, given=0.8)
    for level in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(grades, level_of_measurement=level)
        assert judged(grades).estimates[f"alpha-{level}"].value == pytest.approx(theirs, abs=1e-12)


def test_weights_are_of_labels_not_of_their_ranks() -> None:
    """With labels 1, 2, 10 scikit-learn's weights are those of 1, 2, 3."""
    cohen = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    one, other = [1, 2, 10, 2, 1, 10], [2, 2, 10, 1, 1, 2]
    found = judged(np.array([one, other], np.float64)).pairs[0]
    for kind in ("linear", "quadratic"):
        assert getattr(found, kind) == pytest.approx(cohen(one, other, labels=range(1, 11), weights=kind), abs=1e-12)
        assert getattr(found, kind) != pytest.approx(cohen(one, other, labels=[1, 2, 10], weights=kind), abs=0.01)
