"""Distinct texts, vectors of length 1 and model folders, which all encoders share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.encoders.base import Encoded, distinct_texts, open_once
from postil.errors import InvalidInput
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path


def encoded(vectors: np.ndarray, rows: list[int]) -> Encoded:
    places = np.array(rows, dtype=np.int32)
    return Encoded(np.zeros(1, int), np.array([0, len(rows)]), places, places.astype(int), vectors, np.zeros(1, int))


def test_vectors_of_length_one_do_not_depend_on_the_rows_around_them() -> None:
    vectors = np.random.default_rng(3).normal(size=(400, 77)).astype(np.float32)
    every, lengths = encoded(vectors, list(range(400))).normalized()
    for row in (0, 1, 57, 399):
        alone, length = encoded(vectors, [row]).normalized()
        assert alone.vectors.shape == (1, 77)
        assert alone.vectors[0].tobytes() == every.vectors[row].tobytes()
        assert length[0] == lengths[row]
    np.testing.assert_allclose(np.linalg.norm(every.vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(lengths, np.linalg.norm(vectors.astype(float), axis=1), rtol=1e-12)


def test_units_keep_their_identity_when_unused_rows_go() -> None:
    found, lengths = encoded(np.array([[2, 0], [0, 0], [0, 3]], dtype=np.float32), [2, 0, 2]).normalized()
    assert found.rows.tolist() == [1, 0, 1]
    assert found.ids.tolist() == [2, 0, 2]
    assert lengths.tolist() == [3.0, 2.0, 3.0]


def test_a_zero_vector_stays_zero() -> None:
    found, lengths = encoded(np.zeros((1, 2), dtype=np.float32), [0]).normalized()
    assert found.vectors.tolist() == [[0.0, 0.0]]
    assert lengths.tolist() == [0.0]


def test_vectors_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        encoded(np.array([[np.nan, 1]], dtype=np.float32), [0]).normalized()


def test_equal_texts_are_one_by_tokens_or_by_text() -> None:
    tokens = Vocabulary().encode_tokens([["a", "b"], ["a b"], ["a", "b"], []], keep_texts=True)
    assert distinct_texts(tokens, by_tokens=True)[1].tolist() == [0, 1, 0, 2]
    assert distinct_texts(tokens, by_tokens=False)[1].tolist() == [0, 0, 0, 1]
    assert distinct_texts(Vocabulary().encode_tokens([]), by_tokens=True)[0].tolist() == []


def test_raw_texts_are_those_that_were_tokenized() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.encode_tokens([["a", "b"], []]).raw_texts() == ["a b", ""]
    assert vocabulary.encode_tokens([["a", "b"], []], keep_texts=True).raw_texts() == ["a b", ""]


def test_a_model_is_opened_again_only_after_a_change(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a")
    opened = []

    def read(folder: Path) -> list[str]:
        opened.append(folder)
        return [(folder / "words").read_text()]

    assert open_once(tmp_path, read) is open_once(tmp_path, read)
    (tmp_path / "words").write_text("a b")
    assert open_once(tmp_path, read) == ["a b"]
    assert len(opened) == 2
