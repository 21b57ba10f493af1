"""Scores of batches are those of all texts at once, without torchmetrics."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest

import postil
from postil.errors import UnknownName
from postil.integrations import torchmetrics
from postil.integrations.torchmetrics import BatchScores

TEXTS = ["the cat sat", "a dog", "rain", "the cat lay"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"], ["it rains", "rain"], ["a cat lay there"]]
WEIGHTS = [[0.5, 1.0], [0.75], [1.0, 0.25], [0.5]]
SPECS = ["bleu-2", "w-meteor", "rouge-l", "cider-d"]


def whole(**changes: Any) -> dict[str, float]:
    return postil.score(TEXTS, REFERENCES, **{"weights": WEIGHTS, "metrics": SPECS, **changes}).corpus


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_batches_are_scored_together(size: int) -> None:
    scores = BatchScores(SPECS)
    for begin in range(0, len(TEXTS), size):
        batch = slice(begin, begin + size)
        scores.update(TEXTS[batch], REFERENCES[batch], WEIGHTS[batch])
    assert scores.compute() == scores.compute() == whole()


def test_columns_of_every_kind() -> None:
    scores = BatchScores(SPECS)
    scores.update(np.array(TEXTS), pd.Series(REFERENCES), list(map(np.array, WEIGHTS)))
    assert scores.compute() == whole()
    one = BatchScores("w-rouge-l", tokenizer="space")
    one.update(tuple(TEXTS[1:2]), ["a dog barked"], [0.75])
    alone = postil.score(TEXTS[1:2], REFERENCES[1:2], weights=WEIGHTS[1:2], metrics="w-rouge-l", tokenizer="space")
    assert one.compute() == alone.corpus


def test_items_count_once() -> None:
    items = [1, 2, 3, 1]
    references = [*REFERENCES[:3], REFERENCES[0]]
    scores = BatchScores(["cider-d"])
    for row in range(4):
        scores.update(TEXTS[row : row + 1], references[row : row + 1], items=items[row : row + 1])
    expected = postil.score(TEXTS, [list(each) for each in references], items=items, metrics="cider-d").corpus
    assert scores.compute() == expected


def test_states_are_joined_and_forgotten() -> None:
    one, other = BatchScores(SPECS), BatchScores(SPECS)
    one.update(TEXTS[:1], REFERENCES[:1], WEIGHTS[:1])
    other.update(TEXTS[1:], REFERENCES[1:], WEIGHTS[1:])
    one.merge_state(copy.deepcopy(other))
    assert one.compute() == whole()
    one.reset()
    one.update([], [])
    with pytest.raises(postil.UsageError, match=r"^there are no texts to score: call update first$"):
        one.compute()


def test_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torchmetrics.rises("meteor") is True
    monkeypatch.setattr(type(postil.parse_metric("rouge-l")), "better", "low")
    assert torchmetrics.rises("rouge-l") is False
    assert torchmetrics.rises(["meteor", "rouge-l"]) is None


@pytest.mark.parametrize(
    ("batch", "problem"),
    [
        ((["a"], [["b"], ["c"]]), "target: expected one entry for each of 1 texts, got 2"),
        ((["a", 5], ["b", "c"]), "preds:2: expected text, got 5"),
        ((["a"], [["b", None]]), "target:1: expected text, got null"),
        ((["a"], ["b"], [0.5, 1]), "weights: expected one entry for each of 1 texts, got 2"),
        ((["a"], ["b"], None, [0.5]), "items:1: expected text or an integer, got 0.5"),
        (("a", ["b"]), "preds: expected a list or a column, got str"),
    ],
)
def test_a_batch_that_is_none(batch: tuple[Any, ...], problem: str) -> None:
    scores = BatchScores(["rouge-l"])
    with pytest.raises(postil.InvalidInput) as error:
        scores.update(*batch)
    assert str(error.value) == problem


def test_what_is_told_when_all_texts_are_there() -> None:
    scores = BatchScores(["w-rouge-l"])
    scores.update(["a"], ["b"], [0.5])
    scores.update(["a"], ["b"])
    with pytest.raises(postil.InvalidInput, match=r"^weights: missing in 1 of 2 texts; give all of them, or none$"):
        scores.compute()
    scores.reset()
    scores.update(["a"], [["b"]], [[2.0]])
    with pytest.raises(postil.InvalidInput, match=r"^weights:1: expected a number from 0 to 1, got 2"):
        scores.compute()
    scores.reset()
    scores.update(["a"], [[]], [[]])
    with pytest.raises(postil.InvalidInput, match=r"^target:1: "):
        scores.compute()
    with pytest.raises(UnknownName, match="did you mean 'meteor'"):
        BatchScores(["metor"])


def test_the_class_of_the_framework_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(torchmetrics), "PostilMetric", raising=False)
    with pytest.raises(postil.UsageError, match=r"^PostilMetric needs the package torchmetrics: pip install torchmetr"):
        torchmetrics.PostilMetric  # noqa: B018
    with pytest.raises(AttributeError):
        torchmetrics.other  # noqa: B018
