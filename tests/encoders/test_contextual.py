from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.encoders.contextual import ContextualEncoder
from postil.encoders.token_batches import NARROW
from postil.errors import InvalidInput
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.text.tokens import Tokens

START, STOP = 1, 2


class Letters:
    """A network of letters whose vectors depend on the letter, its place and the length of the text."""

    rows = 123
    wide = 80
    padding = 0

    def __init__(self, longest: int = 12, step: int = 1) -> None:
        self.longest = longest
        self.step = step
        self.shapes: list[tuple[int, int]] = []

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        return [[START, *[ord(each) for each in text][: longest - 2], STOP] for text in texts]

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        self.shapes.append(ids.shape)
        place, length = np.arange(ids.shape[1]), mask.sum(axis=1, keepdims=True)
        made = np.stack([ids + 0 * place, place + 0 * ids, length + 0 * ids], axis=2)
        return np.where(mask[:, :, None] == 1, made, np.nan).astype(np.float32)


def texts_of(*texts: str) -> Tokens:
    return Vocabulary().encode_tokens([[text] for text in texts])


def test_units_are_tokens_with_the_special_ones() -> None:
    encoded = ContextualEncoder(Letters(), "letters", 1).encode(texts_of("ab", " ab ", "", "b"))
    assert encoded.texts.tolist() == [0, 1, 2, 3]
    assert encoded.lengths.tolist() == [4, 4, 2, 3]
    assert encoded.ids[:4].tolist() == [START, 97, 98, STOP]
    assert encoded.rows.tolist() == list(range(13))
    assert encoded.special is not None
    assert encoded.special[:4].tolist() == [True, False, False, True]
    wanted = np.array([97, 1, 4]) / np.linalg.norm([97, 1, 4])
    np.testing.assert_allclose(encoded.vectors[1], wanted, atol=1e-6)


def test_equal_texts_are_encoded_once_and_remembered() -> None:
    model = Letters()
    encoder = ContextualEncoder(model, "letters", 1)
    first = encoder.encode(texts_of("ab", "ab", "ac"))
    assert first.texts.tolist() == [0, 0, 1]
    calls = len(model.shapes)
    again = encoder.encode(texts_of("ac", "ab"))
    assert len(model.shapes) == calls
    np.testing.assert_array_equal(again.vectors[:4], first.vectors[4:])


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.encoders.contextual.REMEMBERED", 100)  # two texts of four tokens
    model = Letters()
    encoder = ContextualEncoder(model, "letters", 1)
    encoder.encode(texts_of("ab", "ac", "ad"))
    calls = len(model.shapes)
    encoder.encode(texts_of("ac", "ad"))
    assert len(model.shapes) == calls
    encoder.encode(texts_of("ab"))
    assert len(model.shapes) == calls + 1


def test_texts_are_padded_by_themselves() -> None:
    model = Letters(step=4)
    texts = texts_of("", "a", "abc", "abcdefg", "abcdefghi", "abcdefghij")
    padded = ContextualEncoder(model, "letters", 1).encode(texts)
    assert sorted(length for _, length in model.shapes[1:]) == [4, 8, 12]  # 12 is the longest
    np.testing.assert_array_equal(padded.vectors, ContextualEncoder(Letters(), "letters", 1).encode(texts).vectors)


def test_batches_hold_texts_of_one_length_and_are_never_small() -> None:
    model = Letters()
    ContextualEncoder(model, "letters", 1).encode(texts_of(*(f"a{i}" for i in range(90)), "abcdef"))
    batches = model.shapes[1:]  # after the one that finds the length of vectors
    assert sum(rows for rows, length in batches if length == 5) >= 80
    assert all(rows * length >= NARROW for rows, length in batches)
    assert {length for _, length in batches} == {4, 5, 8}


def test_a_text_does_not_depend_on_its_batch_or_on_jobs() -> None:
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("abcdxyz"), rng.integers(0, 9))) for _ in range(60)]
    whole = ContextualEncoder(Letters(), "letters", 1).encode(texts_of(*texts), jobs=3)
    for i, text in enumerate(texts):
        alone = ContextualEncoder(Letters(), "letters", 1).encode(texts_of(text))
        begin, end = whole.offsets[whole.texts[i] :][:2]
        np.testing.assert_array_equal(whole.vectors[begin:end], alone.vectors)


def test_long_texts_are_cut_and_counted() -> None:
    encoded = ContextualEncoder(Letters(longest=6), "letters", 1).encode(texts_of("abcd", "abcde", "ab"))
    assert encoded.lengths.tolist() == [6, 6, 4]
    assert encoded.truncated is not None
    assert encoded.truncated.tolist() == [False, True, False]
    shorter = ContextualEncoder(Letters(), "letters", 1).tokenize(["abcd"], longest=5)
    assert (list(map(len, shorter.ids)), shorter.truncated.tolist()) == ([5], [True])


def test_large_vectors_are_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = ContextualEncoder(Letters(), "letters", 1).encode(texts_of("ab", "abc"))
    monkeypatch.setattr("postil.encoders.contextual.IN_MEMORY", 8)
    outside = ContextualEncoder(Letters(), "letters", 1).encode(texts_of("ab", "abc"))
    assert isinstance(outside.vectors, np.memmap)
    np.testing.assert_array_equal(outside.vectors, inside.vectors)


def test_no_text_at_all() -> None:
    encoded = ContextualEncoder(Letters(), "letters", 1).encode(texts_of())
    assert encoded.offsets.tolist() == [0]
    assert encoded.vectors.shape == (0, 3)


def test_a_tokenizer_of_another_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="tokenizer has the id 8364, the network knows 123; are they of one model"):
        ContextualEncoder(Letters(), "letters", 1).encode(texts_of("€"))


def test_numbers_that_are_not_finite_are_refused() -> None:
    class Broken(Letters):
        def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            return super().vectors(ids, mask) * np.float32(np.nan)

    with pytest.raises(InvalidInput, match=r"folder: .*not finite"):
        ContextualEncoder(Broken(), "letters", 1, where="folder").encode(texts_of("a"))
