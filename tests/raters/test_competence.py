"""Competence of annotators: laws, and what it is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.meta.table import Judged, Ratings
from postil.raters.competence import MODELS, InferredLabels, infer, weighted_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.raters.result import CompetenceModel

Row = tuple[int, str, float]
MODEL = pytest.mark.parametrize("model", MODELS)


def of(rows: Sequence[Row]) -> Ratings:
    rated = Judged([Judgement(f"{text:04}", "s", who, grade) for text, who, grade in rows])
    return rated.of(sorted(rated.rows))


def made(
    seed: int, guessers: int, *, texts: int = 300, annotators: int = 6, each: int = 3
) -> tuple[list[Row], NDArray]:
    """Ordinal grades near the true ones, apart from those of guessers; and the true ones."""
    random = np.random.default_rng(seed)
    true = random.integers(1, 6, texts)
    rows = []
    for text in range(texts):
        for who in random.choice(annotators, each, replace=False).tolist():
            noisy = int(np.clip(true[text] + np.rint(random.normal(0, 0.8)), 1, 5))
            rows.append((text, f"A{who}", float(random.integers(1, 6) if who < guessers else noisy)))
    return rows, true.astype(np.float64)


@MODEL
@examples(8)
@given(seed=st.integers(0, 2**20))
def test_neither_the_order_of_rows_nor_names_matter(model: CompetenceModel, seed: int) -> None:
    rows, _ = made(seed, 1, texts=60, annotators=4)
    random = np.random.default_rng(seed)
    names = dict(zip("0123", random.permutation(list("0123")).tolist(), strict=True))
    renamed = [(text, f"A{names[who[1]]}", grade) for text, who, grade in rows]
    random.shuffle(renamed)
    first, second = infer(of(rows), model), infer(of(renamed), model)
    # Different orders of the same sums may end an iteration apart.
    np.testing.assert_allclose(second.expected, first.expected, rtol=0, atol=1e-4)
    for before, after in names.items():
        assert second.competence[int(after)] == pytest.approx(first.competence[int(before)], abs=1e-5)


@MODEL
@examples(8)
@given(grades=st.lists(st.integers(1, 5), min_size=2, max_size=30).filter(lambda grades: len(set(grades)) > 1))
def test_identical_annotators_give_their_grades(model: CompetenceModel, grades: list[int]) -> None:
    rows = [(text, who, float(grade)) for text, grade in enumerate(grades) for who in ("A1", "A2", "A3")]
    found = infer(of(rows), model)
    np.testing.assert_allclose(found.expected, grades, atol=0.5)
    assert weighted_means(of(rows), found.competence).tolist() == grades
    assert np.ptp(found.competence) == pytest.approx(0, abs=1e-12)


@MODEL
def test_probabilities_and_bounds(model: CompetenceModel) -> None:
    rows, _ = made(1, 1)
    ratings = of(rows)
    found = infer(ratings, model)
    if isinstance(found, InferredLabels):
        np.testing.assert_allclose(found.posterior.sum(axis=1), 1)
    assert ((found.competence >= 0) & (found.competence <= 1)).all()
    means = weighted_means(ratings, found.competence)
    starts = ratings.offsets[:-1]
    assert (means >= np.minimum.reduceat(ratings.grades, starts)).all()
    assert (means <= np.maximum.reduceat(ratings.grades, starts)).all()
    np.testing.assert_allclose(weighted_means(ratings, np.ones(6)), ratings.means)


@MODEL
def test_guessers_are_found_and_weigh_less(model: CompetenceModel) -> None:
    for seed in range(3):
        rows, true = made(seed, 2)
        ratings = of(rows)
        found = infer(ratings, model)
        assert found.competence[:2].max() < found.competence[2:].min()
        weighted = np.corrcoef(weighted_means(ratings, found.competence), true)[0, 1]
        assert weighted > np.corrcoef(ratings.means, true)[0, 1] + 0.02


def test_without_guessers_weights_cost_little() -> None:
    """The mean weighted by competence loses less than .01 of correlation where everybody is equally good."""
    for seed in range(3):
        rows, true = made(seed, 0)
        ratings = of(rows)
        weighted = weighted_means(ratings, infer(ratings).competence)
        assert np.corrcoef(weighted, true)[0, 1] > np.corrcoef(ratings.means, true)[0, 1] - 0.01


@MODEL
def test_who_shares_nothing_is_told_apart(model: CompetenceModel) -> None:
    rows = [(text, who, float(1 + text % 2)) for text in range(6) for who in ("A1", "A2", "A3")]
    found = infer(of([*rows, (9, "A4", 1.0)]), model)
    assert found.identified.tolist() == [True, True, True, False]


@pytest.mark.parametrize("model", ["mace", "dawid-skene"])
def test_a_known_label_is_not_in_doubt(model: CompetenceModel) -> None:
    rows, _ = made(4, 1, texts=200)
    known = np.full(200, np.nan)
    known[:4] = (1, 2, 5, 6)
    found = infer(of(rows), model, known)
    assert found.expected[:4].tolist() == [1, 2, 5, 6]
    assert not set(found.expected[4:].tolist()) & {1, 2, 5, 6}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([(1, "A1", 1.0), (2, "A1", 2.0)], "needs three annotators"),
        ([(1, "A1", 1.0), (1, "A2", 2.0), (2, "A1", 3.0), (2, "A2", 3.0)], "nothing tells which of two is right"),
        ([(1, "A1", 1.0), (2, "A2", 2.0), (3, "A3", 2.0)], "needs texts that two annotators rated, and there are none"),
        ([(1, "A1", 1.0), (1, "A2", 1.0), (1, "A3", 1.0)], "needs 2 to 100 distinct grades, and there is one"),
        ([(t, who, t / 7) for t in range(101) for who in ("A1", "A2", "A3")], "and there are 101"),
    ],
)
def test_where_there_is_no_competence(rows: list[Row], problem: str) -> None:
    with pytest.raises(Undefined, match=problem):
        infer(of(rows), "mace")
