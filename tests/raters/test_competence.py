"""Competence of annotators: laws, what it is good for, and the one-factor model."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.meta.table import Judged, Ratings
from postil.raters.competence import MODELS, InferredLabels, identified, infer, one_factor, weighted_means

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


CAMPAIGNS = 20
FEW, ALL = (3, 5), (1, 5)
"""Ranges of the true grades, on a scale from 1 to 5."""


def campaign(
    seed: int, span: tuple[float, float], each: int, *, guesses: str = "uniform", texts: int = 200, annotators: int = 5
) -> tuple[Ratings, NDArray[np.float64]]:
    """Ratings of texts by `each` of the annotators in turn, of whom the first guesses, and the true grades."""
    random = np.random.default_rng(seed)
    true = random.uniform(*span, texts)
    groups = np.array(list(combinations(range(annotators), each)))
    who = groups[random.permutation(np.arange(texts) % len(groups))]
    grades = np.clip(np.rint(true[:, None] + random.normal(0, 0.4, who.shape)), 1, 5)
    guess = {
        "uniform": random.integers(1, 6, who.shape).astype(float),
        "plausible": random.choice([3.0, 4.0, 5.0], who.shape),
        "constant": np.full(who.shape, 4.0),
        "none": grades,
    }[guesses]
    grades = np.where(who == 0, guess, grades)
    names = tuple(f"A{number}" for number in range(annotators))
    return Ratings(np.arange(0, who.size + 1, each), who.ravel().astype(np.int32), grades.ravel(), names), true


def correlation(values: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    return float(np.corrcoef(values, true)[0, 1])


@pytest.mark.parametrize("guesses", ["uniform", "plausible", "constant"])
@pytest.mark.parametrize(("span", "each"), [(FEW, 2), (FEW, 3), (ALL, 2), (ALL, 3)])
@pytest.mark.parametrize("first", [0, 1000])
def test_who_guesses_is_never_the_most_competent(
    span: tuple[float, float], each: int, guesses: str, first: int
) -> None:
    weighted, expected, mean = [], [], []
    for seed in range(first, first + CAMPAIGNS):
        ratings, true = campaign(seed, span, each, guesses=guesses)
        found = one_factor(ratings)
        assert found.competence[0] < found.competence[1:].min()
        assert found.competence[0] < 0.25
        weighted.append(correlation(weighted_means(ratings, found.competence), true))
        expected.append(correlation(found.expected, true))
        mean.append(correlation(ratings.means, true))
    assert np.subtract(weighted, mean).min() > -0.02
    assert np.subtract(expected, mean).min() > -0.03
    if guesses == "uniform":
        assert np.mean(weighted) > np.mean(mean) + 0.06


def test_mace_names_a_guesser_in_these_campaigns_or_says_nothing() -> None:
    """MACE takes the guesser for the only one who knows in half of them: all of these are withheld."""
    reasons = []
    for seed in range(CAMPAIGNS):
        ratings, _ = campaign(seed, FEW, 2)
        try:
            found = infer(ratings, "mace").competence
        except Undefined as error:
            reasons.append(str(error))
        else:
            assert found[0] < found[1:].min()
    assert 5 < len(reasons) < CAMPAIGNS
    assert all("agrees with the others less than they do with one another" in reason for reason in reasons)


@pytest.mark.parametrize(("span", "least"), [(FEW, 0.80), (ALL, 0.94)])
def test_grades_are_as_good_as_they_can_be(span: tuple[float, float], least: float) -> None:
    """Without the guesser's ratings the means of the others correlate .82 and .94."""
    found = []
    for seed in range(CAMPAIGNS):
        ratings, true = campaign(seed, span, 2)
        found.append(correlation(weighted_means(ratings, infer(ratings).competence), true))
    assert np.mean(found) > least


def test_without_guessers_weights_cost_little() -> None:
    """The mean weighted by competence loses less than .01 of correlation where everybody is equally good."""
    for span in (FEW, ALL):
        lost = []
        for seed in range(CAMPAIGNS):
            ratings, true = campaign(seed, span, 2, guesses="none")
            weighted = weighted_means(ratings, infer(ratings).competence)
            lost.append(correlation(ratings.means, true) - correlation(weighted, true))
        assert np.mean(lost) < 0.01


def test_competence_is_the_share_of_the_variance_that_follows_the_texts() -> None:
    """Variances of the text's grade 1/3, of noise .16, of rounding about 1/12: .58."""
    found = np.concatenate(
        [one_factor(campaign(seed, FEW, 3, guesses="none", texts=2000)[0]).competence for seed in range(4)]
    )
    assert found.mean() == pytest.approx(0.58, abs=0.02)


def test_any_number_of_distinct_grades() -> None:
    random = np.random.default_rng(3)
    true = random.normal(50, 20, 300)
    who = np.array(list(combinations(range(4), 2)))[np.arange(300) % 6]
    grades = true[:, None] + random.normal(0, 5, who.shape)
    grades = np.where(who == 0, random.uniform(0, 100, who.shape), grades)
    ratings = Ratings(np.arange(0, 601, 2), who.ravel().astype(np.int32), grades.ravel(), ("A", "B", "C", "D"))
    found = one_factor(ratings)
    assert len(np.unique(grades)) == 600
    assert found.competence[0] < 0.1
    assert found.competence[1:].min() > 0.9


def test_a_constant_of_an_annotator_costs_no_competence() -> None:
    ratings, _ = campaign(5, ALL, 2, guesses="none")
    lenient = Ratings(
        ratings.offsets, ratings.annotators, ratings.grades + 3.0 * (ratings.annotators == 0), ratings.names
    )
    np.testing.assert_allclose(one_factor(lenient).competence, one_factor(ratings).competence, atol=0.01)


def test_known_grades_say_who_is_right() -> None:
    """Twenty texts with known grades tell which of three annotators the two are that guess."""
    random = np.random.default_rng(8)
    true = random.uniform(1, 5, 100)
    who = np.array(list(combinations(range(3), 2)))[np.arange(100) % 3]
    who[:20], third = [0, 1], np.arange(20)
    grades = np.where(who < 2, random.integers(1, 6, who.shape), np.rint(true[:, None])).astype(float)
    text = np.concatenate([np.repeat(np.arange(100), 2), third])
    annotator = np.concatenate([who.ravel(), np.full(20, 2)])
    grade = np.concatenate([grades.ravel(), np.rint(true[:20])])
    order = np.lexsort((annotator, text))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(text))])
    ratings = Ratings(offsets, annotator[order].astype(np.int32), grade[order], ("A", "B", "C"))
    with pytest.raises(Undefined, match="no better than by chance"):
        one_factor(ratings)
    known = np.where(np.arange(100) < 20, np.rint(true), np.nan)
    found = one_factor(ratings, known)
    assert found.competence[:2].max() < 0.3
    assert found.competence[2] > 0.7
    assert correlation(found.expected[:20], true[:20]) > 0.9


@pytest.mark.parametrize("size", [3, 5, 40])
def test_annotators_who_all_guess_have_no_competence(size: int) -> None:
    random = np.random.default_rng(size)
    told = 0
    for _ in range(CAMPAIGNS):
        who = np.array(list(combinations(range(size), 2)))[random.integers(0, size * (size - 1) // 2, 200)]
        grades = random.integers(1, 6, who.size).astype(float)
        names = tuple(f"A{number:02}" for number in range(size))
        ratings = Ratings(np.arange(0, 401, 2), who.ravel().astype(np.int32), grades, names)
        try:
            one_factor(ratings)
            told += 1
        except Undefined:
            pass
    assert told <= 2


def shared(*texts: str) -> Ratings:
    names = tuple(sorted(set("".join(texts))))
    grades = [float(1 + number % 2) for number, text in enumerate(texts) for _ in text]
    annotators = np.array([names.index(name) for text in texts for name in text], np.int32)
    return Ratings(np.cumsum([0, *map(len, texts)]), annotators, np.array(grades), names)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("AB", "BC", "AC"), "ABC"),
        (("ABC", "D", "DE"), "ABC"),
        (("AB", "BC", "AC", "CD", "EF"), "ABCD"),
        (("AB", "BC", "CD", "DE", "AE"), "ABCDE"),
        (("ABCD", "DE", "EF"), "ABCDEF"),
    ],
)
def test_whose_competence_the_ratings_determine(texts: tuple[str, ...], found: str) -> None:
    ratings = shared(*texts)
    assert "".join(np.array(ratings.names)[identified(ratings)]) == found


@pytest.mark.parametrize("texts", [("AB", "CD"), ("AB", "AC", "AD"), ("AB", "BC", "CD", "AD")])
@pytest.mark.parametrize("model", ["one-factor", "mace", "dawid-skene"])
def test_pairs_alone_do_not_tell_who_is_right(texts: tuple[str, ...], model: CompetenceModel) -> None:
    with pytest.raises(Undefined, match="each shares texts with both others, or a longer odd cycle"):
        infer(shared(*texts), model)
