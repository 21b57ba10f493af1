"""Passages that say most of what their page is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.encoders.static import WordEncoder
from postil.errors import InvalidInput
from postil.interest.topic import NEAR, topic_scores
from postil.metrics.passages.collection import PassageCollection
from postil.metrics.passages.measures import LogSim
from postil.metrics.passages.pool import one_pool
from postil.text.stop_words import without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from postil.encoders.base import Encoder

PAGE = [
    "Tides follow the moon.",
    "The moon pulls the water.",
    "Bread is sold here.",
    "High water follows the moon.",
    "…",
]
WORDS = {"moon": [1.0, 0.0], "water": [0.9, 0.3], "tides": [0.8, 0.6], "bread": [0.0, 1.0]}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return WordEncoder(Vectors(tuple(WORDS), np.array(list(WORDS.values()), np.float32)))


def test_without_vectors_it_is_logsim_without_the_passage_itself() -> None:
    tokens = without_stop_words(Vocabulary().encode(PAGE, tokenizer("words")), "en")
    collection = PassageCollection(tokens)
    every = np.arange(len(PAGE))
    pools = one_pool(collection.duplicates(), every, np.ones(len(PAGE)), every)
    found = topic_scores(PAGE, "en")
    assert found.scores[:-1].tolist() == LogSim().values(collection, pools)[:-1].tolist()
    assert found.constant == 0
    assert found.scores[-1] == -math.inf
    assert found.reasons(4) == ()


def test_an_unknown_language_has_no_stop_words() -> None:
    units = {each.unit for each in topic_scores(PAGE, "xx").reasons(0)}
    assert "the" in units
    assert units == {each.unit for each in topic_scores(PAGE).reasons(0)}


def test_with_vectors_the_parts_add_up(encoder: Encoder) -> None:
    found = topic_scores(PAGE, "en", encoder=encoder)
    for index in range(4):
        parts = {each.unit: each.part for each in found.reasons(index)}
        assert NEAR in parts
        assert math.fsum(parts.values()) + found.constant == pytest.approx(found.scores[index])
    near = [next(each.part for each in found.reasons(index) if each.unit == NEAR) for index in range(4)]
    assert math.fsum(near) == pytest.approx(0)
    assert np.std(near) == pytest.approx(0.6)
    assert min(near) == near[2]


def test_blocks_of_units_change_nothing(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = topic_scores(PAGE, "en", encoder=encoder).scores
    monkeypatch.setattr("postil.interest.topic.BLOCK", 2)
    assert topic_scores(PAGE, "en", encoder=encoder).scores == pytest.approx(whole)


@pytest.mark.parametrize("page", [[], ["", "..."], ["The moon."], ["The moon.", "The moon."], ["Rain.", "Snow."]])
@pytest.mark.parametrize("with_vectors", [False, True])
def test_pages_without_differences(page: list[str], encoder: Encoder, *, with_vectors: bool) -> None:
    found = topic_scores(page, "en", encoder=encoder if with_vectors else None)
    assert len(found.scores) == len(page)
    assert not np.isnan(found.scores).any()
    assert not np.isfinite(found.scores[found.scores != 0]).any()


def test_han_text_needs_another_tokenizer() -> None:
    page = ["潮汐跟着月亮走。", "月亮吸引水。"]
    with pytest.raises(InvalidInput, match="Han text cannot be split"):
        topic_scores(page, "zh")
    assert np.isfinite(topic_scores(page, tokenizer="characters").scores).all()
