"""Quality of comments: features by hand, weights that are found again, folds that do not leak, damaged folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from made_retrievers import changed
from postil.data.model_folders import Model
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, Undefined
from postil.meta.resampling import bootstrap_counts
from postil.threads.orders import points
from postil.threads.quality import FEATURES, Example, Quality, bootstrap_weights, cross_fit, features, fit, moments
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from pathlib import Path

M = len(FEATURES)
NAMES = list(FEATURES)


def thread(*texts: str, title: str = "The bridge") -> Thread:
    return Thread.of(Article("a", title, tuple(Comment(str(at), text) for at, text in enumerate(texts))))


def test_features_by_hand() -> None:
    made = features(thread("We like it. You do not?", "It, it!", ""))
    found = [dict(zip(FEATURES, row, strict=True)) for row in made.tolist()]
    assert found[0]["length"] == pytest.approx(np.log(7))
    assert found[0]["squared length"] == pytest.approx(np.log(7) ** 2)
    assert found[0]["word length"] == pytest.approx(18 / 6)
    assert found[0]["sentence length"] == pytest.approx(np.log(4))
    assert found[1]["lexical diversity"] == pytest.approx(1 / np.sqrt(2))
    assert (found[0]["first person"], found[0]["second person"]) == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    assert [row["question"] for row in found] == [1, 0, 0]
    assert [row["own words"] for row in found] == [pytest.approx(5 / 6), 0, 0]  # "it" is in both
    assert found[1]["exclamation marks"] == pytest.approx(1 / 7)
    assert (found[2]["length"], found[2]["centrality"]) == (0, 0)
    assert features(thread("?" * 9))[0, NAMES.index("question marks")] == 0.2
    assert np.isfinite(features(thread("", "…", "桥", "x" * 9999))).all()
    assert features(thread()).shape == (0, M)


def examples(
    threads: int, weights: np.ndarray, *, time: float = 0.0, noise: float = 0.05, seed: int = 1
) -> list[Example]:
    """Threads whose outcome is linear in the features and in time, which the first feature rises with."""
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(threads):
        place = points(draw.random(20))
        columns = draw.normal(size=(20, M))
        columns[:, 0] += 2 * place
        level = draw.normal() * 9  # of the thread, which must not matter
        made.append(Example(columns, place, level + columns @ weights + time * place + noise * draw.normal(size=20)))
    return made


def test_weights_are_found_again_whatever_time_does() -> None:
    weights = np.linspace(-0.3, 0.3, M)
    for time in (0.0, -2.0):
        found = fit(*moments(examples(60, weights, time=time)))
        assert found[:M] == pytest.approx(weights, abs=0.02)
        assert found[M:].sum() == pytest.approx(time, abs=0.1)


def test_constant_columns_have_no_weight() -> None:
    made = [Example(np.full((4, M), 0.1), points(np.arange(4.0)), np.arange(4.0)) for _ in range(3)]
    found = fit(*moments(made))
    assert (found[:M] == 0).all()
    with pytest.raises(Undefined, match="no thread to learn from"):
        fit(np.zeros((0, 2, 2)), np.zeros((0, 2)))


def test_folds_do_not_leak() -> None:
    noise = examples(40, np.zeros(M), noise=1.0)
    alone, _ = cross_fit(noise, 5, seed=3)
    right = [np.corrcoef(one, each.outcome)[0, 1] for one, each in zip(alone, noise, strict=True)]
    assert abs(np.mean(right)) < 0.1
    real = examples(40, np.linspace(-0.3, 0.3, M), time=-3.0)
    alone, whole = cross_fit(real, 5, seed=3)
    for scores, least in ((alone, 0.5), (whole, 0.95)):
        found = [np.corrcoef(one, each.outcome)[0, 1] for one, each in zip(scores, real, strict=True)]
        assert np.mean(found) > least
    again, _ = cross_fit(real, 5, seed=3)
    assert all(np.array_equal(one, two) for one, two in zip(alone, again, strict=True))
    with pytest.raises(Undefined, match="expected at least 5 threads, one per fold, got 4"):
        cross_fit(real[:4], 5, seed=3)


def test_intervals_of_weights() -> None:
    made = moments(examples(50, np.r_[0.2, np.zeros(M - 1)], noise=1.0))
    weights, low, high = bootstrap_weights(*made, bootstrap_counts(50, 200, 1))
    assert ((low < weights) & (weights < high))[:M].all()
    assert low[0] > 0
    assert np.count_nonzero((low[1:M] > 0) | (high[1:M] < 0)) <= 4


@pytest.fixture
def model() -> Quality:
    weights = np.zeros(M)
    weights[NAMES.index("squared length")], weights[NAMES.index("exclamation marks")] = 0.01, -2.0
    return Quality(weights, "words", "votes")


def test_scores_and_reasons(model: Quality) -> None:
    made = thread("a b c d e f g h i j", "no!", "some words here")
    scores = model.scores(made)
    columns = features(made)
    expected = 0.5 + (columns - columns.mean(axis=0)) @ model.weights
    assert scores == pytest.approx(expected)
    assert scores.mean() == pytest.approx(0.5)
    assert model.reasons(made)[1].startswith("quality: -0.")
    assert model.reasons(made)[1].count(" by ") == 2
    assert "by length" in model.reasons(made)[0]
    assert Quality(np.zeros(M), "words", "votes").reasons(made) == ["", "", ""]
    assert model.scores(thread()).shape == (0,)
    assert model.reasons(thread()) == []


def test_a_folder_holds_weights_alone(model: Quality, tmp_path: Path) -> None:
    model.save(tmp_path / "q", {"threads": 3})
    opened = Quality.open(tmp_path / "q")
    assert (opened.weights.tolist(), opened.tokenizer, opened.target) == (model.weights.tolist(), "words", "votes")
    assert sorted(path.name for path in (tmp_path / "q").iterdir()) == ["config.json", "metadata.json"]
    Model.open(tmp_path / "q").verify()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"weights": None}, "expected a weight of each feature of this version"),
        ({"weights": {"length": 1.0}}, "expected a weight of each feature of this version"),
        ({"weights": dict.fromkeys(FEATURES, "1")}, "expected finite numbers"),
        ({"weights": dict.fromkeys(FEATURES, True)}, "expected finite numbers"),
        ({"kind": "ir-t"}, 'expected a model quality, got "ir-t"'),
        ({"tokenizer": 3}, "tokenizer: expected text"),
    ],
)
def test_damaged_folders(change: dict[str, object], problem: str, model: Quality, tmp_path: Path) -> None:
    model.save(tmp_path / "q", {})
    with pytest.raises(InvalidInput, match=problem):
        Quality.open(changed(tmp_path / "q", "config.json", change))
