"""Interest as a measure of passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.errors import InvalidInput, UsageError
from postil.interest.model import Interest, named, page_scores, save_model, shipped_model
from postil.metrics.passages.collection import PassageCollection, Preprocessing
from postil.metrics.passages.pool import informativeness, interestingness
from postil.metrics.spec import parse_measure
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["The oldest mill.", "Rye is sold.", "Ely has the first mill.", "Peat is sold.", "The fen, and Ely.", "Rain."]
TOPICS = [0, 1, 0, 1, 1, 0]
ROWS = [Passage(f"t{topic}", str(row), text) for row, (topic, text) in enumerate(zip(TOPICS, TEXTS, strict=True))]


def by_page(name: str = "untrained", folder: Path | None = None) -> np.ndarray:
    model = named({"cues": 1.0}, {"mill": 2.0, "rye": 3.0})
    if folder is not None:
        save_model(folder, model, {})
    found = np.zeros(len(TEXTS))
    for topic in (0, 1):
        rows = [row for row, each in enumerate(TOPICS) if each == topic]
        texts = [TEXTS[row] for row in rows]
        found[rows] = (page_scores(texts) if name == "untrained" else page_scores(texts, model)).scores
    return found


def test_a_passage_is_scored_on_the_page_of_its_topic_whatever_the_reference(tmp_path: Path) -> None:
    collection = Preprocessing(stop="en", stem="porter").collection(ROWS, RowLocations("rows"))
    same = np.arange(len(ROWS))
    for pools in (informativeness(TOPICS, [1] * 6), interestingness(TOPICS, [1] * 6, same, [0, 1])):
        untrained = Interest(model="untrained")
        assert untrained.values(collection, pools) == pytest.approx(by_page()[pools.texts])
        trained = parse_measure(f"interest(model={tmp_path / 'm'})")
        expected = by_page("trained", tmp_path / "m")[pools.texts]
        assert trained.values(collection, pools) == pytest.approx(expected)
    assert untrained.notes(collection) == ("model:untrained",)
    assert untrained.coverage(collection, Preprocessing()) == ""
    assert Interest().notes(collection) == (f"model:{shipped_model().name}",)
    assert Interest().coverage(collection, Preprocessing()) == ""
    assert trained.notes(collection)[0].removeprefix("model:") == named({"cues": 1.0}, {"mill": 2.0, "rye": 3.0}).name
    assert trained.coverage(collection, Preprocessing()).startswith("too good on pages of its training")


def test_words_alone_are_no_page() -> None:
    collection = PassageCollection(Vocabulary().encode_tokens([["a"]]))
    with pytest.raises(UsageError, match="interest reads whole texts of pages"):
        Interest().values(collection, informativeness([0], [1]))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    collection = Preprocessing().collection(ROWS, RowLocations("rows"))
    with pytest.raises(InvalidInput, match="no model of interest here"):
        Interest(model=str(tmp_path)).values(collection, informativeness(TOPICS, [1] * 6))
