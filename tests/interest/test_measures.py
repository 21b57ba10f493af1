"""Interest and topic as measures of passages, with the scores of the study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_files import write
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.encoders.static import WordEncoder
from postil.errors import InvalidInput, UsageError
from postil.interest.calls import interesting
from postil.interest.model import Interest, named, page_scores, save_model, shipped_model
from postil.interest.options import InterestingOptions
from postil.interest.ranking import NEAR, topic_scores
from postil.metrics.passage_measures import LogSim
from postil.metrics.passage_pools import PassageCollection, informativeness, interestingness, one_pool
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.passages.calls import find_gains
from postil.passages.options import PassagesOptions
from postil.passages.similarity import rank_passages
from postil.text.stop_words import without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

    from postil.encoders.base import Encoder


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
    with pytest.raises(InvalidInput, match="expected a model of interest that postil train interesting made"):
        Interest(model=str(tmp_path)).values(collection, informativeness(TOPICS, [1] * 6))


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
    monkeypatch.setattr("postil.interest.ranking.BLOCK", 2)
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


VOCABULARY = ["moss", "the", "duck", "of", "ponds", "rye", "baking", "tides", "and", "moons", "flax", "ovens"]
MEASURES = ("logsim-1", "f1-2", "f1-sk", "rouge-2", "w-f1-1", "w-logsim-2")


def made() -> list[Passage]:
    """Three topics, with grades of 0, a text that stands in two topics, and one that stands twice in its own."""
    rng = np.random.default_rng(11)
    rows = [
        Passage(
            f"t{t}", f"p{i}", " ".join(rng.choice(VOCABULARY, rng.integers(2, 12))), grade=float(rng.integers(0, 4))
        )
        for t in range(3)
        for i in range(12)
    ]
    copies = (("t0", "duck moss ponds", 2.0), ("t1", "duck moss ponds", 3.0), ("t0", "duck moss ponds", 0.0))
    return [*rows, *(Passage(topic, f"c{i}", text, grade=grade) for i, (topic, text, grade) in enumerate(copies))]


@pytest.mark.parametrize("stem", ["none", "porter"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_page_has_the_scores_of_its_topic_in_the_study(measure: str, stem: str) -> None:
    rows = made()
    protocol = PassagesOptions(
        measures=(measure,), reference="others", folds=3, pool="topic", stop="en", stem=stem, resamples=1
    )
    _, scored = find_gains(rows, protocol)
    for topic in ("t0", "t1", "t2"):
        page = [row for row in rows if row.topic == topic]
        others = [row for row in rows if row.topic != topic]
        found = rank_passages(page, others, measure=measure, stop="en", stem=stem)
        (ranking,) = scored.rankings
        study = {
            row.id: score
            for row, score in zip(scored.passages, ranking.scores.tolist(), strict=True)
            if row.topic == topic
        }
        assert {page[each.index].id: each.score for each in found} == pytest.approx(study, rel=1e-12)


def test_from_files(tmp_path: Path) -> None:
    rows = made()
    page, reference = tmp_path / "page.jsonl", tmp_path / "reference.jsonl"
    write(str(page), [row for row in rows if row.topic == "t1"])
    write(str(reference), [row for row in rows if row.topic != "t1"])
    options = InterestingOptions(k=20, reference=str(reference), measure="w-logsim-1", stop="en")
    result = interesting(str(page), options)
    _, scored = find_gains(
        rows, PassagesOptions(measures=("w-logsim-1",), reference="others", folds=3, stop="en", resamples=1)
    )
    study = {
        row.text: score
        for row, score in zip(scored.passages, scored.rankings[0].scores.tolist(), strict=True)
        if row.topic == "t1"
    }
    assert len(result.passages) == 13
    assert {each.text: each.score for each in result.passages} == pytest.approx(study, rel=1e-12)
