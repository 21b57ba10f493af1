"""Cosine of summed word vectors against a plain reading, with and without what leaves the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.errors import InvalidInput, UsageError
from postil.metrics.passage_measures import Cosine
from postil.metrics.passage_pools import PassageCollection, Preprocessing, informativeness, interestingness
from postil.metrics.spec import parse_measure
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("a", "b", "c", "d")


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    array = np.random.default_rng(7).normal(size=(4, 5)).astype(np.float32)
    found = Vectors(WORDS, array, {})
    found.save(tmp_path / "v")
    return found


@pytest.fixture
def texts() -> list[list[str]]:
    rng = np.random.default_rng(8)
    return [[*rng.choice([*WORDS, "unknown"], size=rng.integers(0, 6))] for _ in range(30)]


def plain(vectors: Vectors, text: list[str], references: list[tuple[list[str], float]]) -> float:
    def total(words: list[str]) -> np.ndarray:
        known = [vectors.array[WORDS.index(word)].astype(float) for word in words if word in WORDS]
        return np.sum(known, axis=0) if known else np.zeros(5)

    if not references:
        return float("nan")
    r, s = sum(weight * total(words) for words, weight in references), total(text)
    norms = np.linalg.norm(r) * np.linalg.norm(s)
    return float(r @ s / norms) if norms else 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_informativeness(
    vectors: Vectors, tmp_path: Path, texts: list[list[str]], *, weighted: bool, inside: bool
) -> None:
    topics = np.repeat([0, 1, 2], 10)
    weights = np.random.default_rng(9).choice([0, 0.25, 1], 30)
    weights[20:] = [1, *[0] * 9]  # a topic with one informative passage, which has nothing left without itself
    pools = informativeness(topics, weights)
    pools = pools.all_inside() if inside else pools
    measure = Cosine(weighted=weighted, vectors=str(tmp_path / "v"))
    values = measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)
    for text, value in zip(pools.texts.tolist(), values.tolist(), strict=True):
        references = [
            (texts[j], weights[j] if weighted else 1.0)
            for j in range(30)
            if topics[j] == topics[text] and weights[j] > 0 and (inside or j != text)
        ]
        assert value == pytest.approx(plain(vectors, texts[text], references), abs=1e-9, nan_ok=True)


def test_equal_texts_leave(vectors: Vectors, tmp_path: Path) -> None:
    texts = [["a", "b"], ["c"], ["a", "b"], ["d", "a"]]
    pools = interestingness([0, 0, 1, 1], [1, 1, 1, 0.5], [0, 1, 0, 2], [0, 1])
    measure = Cosine(weighted=True, vectors=str(tmp_path / "v"))
    values = measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)
    of_text = dict(zip(pools.texts.tolist(), values.tolist(), strict=True))
    assert of_text[0] == pytest.approx(plain(vectors, texts[0], [(texts[3], 0.5)]))
    assert of_text[2] == pytest.approx(plain(vectors, texts[2], [(texts[1], 1.0)]))


def test_nothing_but_rounding_is_left(vectors: Vectors, tmp_path: Path) -> None:
    del vectors
    weights = [0.1, 0.7, 0.3, 1.0]  # three equal texts leave; the other informative one has no vector
    pools = interestingness([0, 1, 1, 1, 1], [1, *weights], [0, 0, 0, 0, 1], [0, 1])
    texts = [["a", "b", "c"], *[["a", "b", "c"]] * 3, ["unknown"]]
    measure = Cosine(weighted=True, vectors=str(tmp_path / "v"))
    assert measure.values(PassageCollection(Vocabulary().encode_tokens(texts)), pools)[0] == 0.0


def test_signature_and_unknown_words(vectors: Vectors, tmp_path: Path) -> None:
    collection = PassageCollection(Vocabulary().encode_tokens([["a", "x", "b", "y"]]))
    measure = Cosine(vectors=str(tmp_path / "v"))
    assert measure.notes(collection) == (f"vectors:{vectors.signature}",)
    assert measure.coverage(collection, Preprocessing()) == "50.0% of the words have no vector"


def test_words_of_passages_are_looked_up_as_they_stand_then_in_lower_case(tmp_path: Path) -> None:
    """As in Google's vectors: names and acronyms are there in upper case alone."""
    words = ("Obama", "rice", "Rice", "The", "White_House")
    Vectors(words, np.eye(5, dtype=np.float32), {}).save(tmp_path / "v")
    texts = ["The Rice of Obama", "obama, rice", "RICE", "Obama", "the rice of obama"]
    passages = [Passage("t", str(n), text) for n, text in enumerate(texts)]
    how = Preprocessing(stop="en", stem="porter")
    collection = how.collection(passages, RowLocations("passages"))
    model = Vectors.open(tmp_path / "v")
    sums = collection.vector_sums(model)
    assert sums.vectors[:4].tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert sums.vectors[4].tolist() == sums.vectors[0].tolist()  # one text with the first, by their words
    assert sums.known.tolist() == [2, 1, 1, 1, 2]
    measure = Cosine(vectors=str(tmp_path / "v"))
    assert measure.notes(collection) == (f"vectors:{model.signature}", "case:written")
    values = measure.values(collection, informativeness([0] * 5, [0, 0, 0, 1, 0]).all_inside())
    assert values.round(4).tolist() == [0.7071, 0.0, 0.0, 1.0, 0.7071]
    cut = how.collection(passages, RowLocations("passages"), longest=np.full(5, 2))
    assert cut.vector_sums(model).vectors[0].tolist() == [0, 0, 1, 0, 0]


def test_anchors_are_looked_up_as_they_stand_then_in_lower_case(tmp_path: Path) -> None:
    Vectors(("White House", "rice"), np.eye(2, dtype=np.float32), {}).save(tmp_path / "v")
    passages = [Passage("t", "1", "", ("White  House", "Rice")), Passage("t", "2", "", ("WHITE HOUSE",))]
    collection = Preprocessing(anchors=True).collection(passages, RowLocations("passages"))
    assert collection.vector_sums(Vectors.open(tmp_path / "v")).vectors.tolist() == [[1, 1], [0, 0]]


def test_what_cannot_be(tmp_path: Path) -> None:
    collection, pools = PassageCollection(Vocabulary().encode_tokens([["a"]])), informativeness([0], [1])
    with pytest.raises(UsageError, match=r"cosine\(vectors=FOLDER\)"):
        parse_measure("cosine").values(collection, pools)
    with pytest.raises(InvalidInput, match="no word vectors here"):
        parse_measure(f"cosine(vectors={tmp_path / 'none'})").values(collection, pools)
