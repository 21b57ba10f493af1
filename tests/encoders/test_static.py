"""Static vectors: of words by the tokenizer of the score, of subwords by their own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.numpy import save_file

import made_vectors as made
from postil.encoders.static import open_static
from postil.errors import InvalidInput, MissingExtra, UsageError
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

    from postil.text.tokens import Tokens


@pytest.fixture(params=["words", "subwords"])
def folder(request, tmp_path: Path) -> str:
    make = made.word_folder if request.param == "words" else made.subword_folder
    return str(make(tmp_path / "v", 5))


def texts(*lines: str) -> Tokens:
    return Vocabulary().encode(lines, tokenizer("words"), keep_texts=True)


def units(folder: str, *lines: str) -> list[list[int]]:
    encoded = open_static(folder).encode(texts(*lines))
    of_text = np.split(encoded.rows, encoded.offsets[1:-1])
    return [of_text[i].tolist() for i in encoded.texts]


def test_units_are_rows_of_the_vectors(folder: str) -> None:
    encoded = open_static(folder).encode(texts("b a", "", "B A", "b a"))
    assert units(folder, "b a", "", "B A", "b a") == [[1, 0], [], [1, 0], [1, 0]]
    assert encoded.ids.tolist() == encoded.rows.tolist()
    np.testing.assert_array_equal(encoded.vectors, made.matrix(5))
    assert encoded.special is None
    assert encoded.truncated is None


def test_equal_texts_are_encoded_once(folder: str) -> None:
    encoded = open_static(folder).encode(texts("a b", "d", "a b"))
    assert encoded.texts.tolist() == [0, 1, 0]
    assert encoded.rows.tolist() == [0, 1, 3]


def test_units_without_a_vector_are_left_out_and_counted(folder: str) -> None:
    """``z`` is in no vocabulary, ``c`` has a zero vector."""
    encoded = open_static(folder).encode(texts("a z c b", "z", "z c z"))
    assert encoded.rows.tolist() == [0, 1]
    assert encoded.unknown.tolist() == [2, 1, 3]
    assert encoded.lengths.tolist() == [2, 0, 0]


def test_a_text_does_not_depend_on_its_batch(folder: str) -> None:
    """The tokenizer of the folder would pad to the longest text, and cut after four tokens."""
    lines = ["a b", "d e f g h i j k", "", "l"]
    assert units(folder, *lines) == [units(folder, line)[0] for line in lines]
    assert [len(each) for each in units(folder, *lines)] == [2, 8, 0, 1]


def test_texts_that_were_split_before_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.encoders.static.SPLIT", 3)
    folder = str(made.subword_folder(tmp_path / "v"))
    for lines in (["a", "b d"], ["b d", "d"], ["d d", "a", "b"], ["a", "b", "d", "e", ""], ["b", "a"]):
        assert units(folder, *lines) == [[made.WORDS.index(word) for word in line.split()] for line in lines]


def test_a_model_over_bigrams_has_units_of_two_words(tmp_path: Path) -> None:
    Vectors(("a_b", "b_a"), np.eye(2, dtype=np.float32)).save(tmp_path / "v", {"bigrams": True})
    encoded = open_static(str(tmp_path / "v")).encode(texts("a b a", "b"))
    assert encoded.rows.tolist() == [0, 1]
    assert encoded.lengths.tolist() == [2, 0]


def test_signatures_name_shape_and_content(tmp_path: Path) -> None:
    one, same, other = (
        open_static(str(made.subword_folder(tmp_path / name, d))) for name, d in (("1", 4), ("2", 4), ("3", 3))
    )
    assert one.signature == same.signature
    assert one.signature.startswith("24x4-")
    assert other.signature.startswith("24x3-")
    words = open_static(str(made.word_folder(tmp_path / "w")))
    assert words.signature.startswith("24x2-")
    assert words.reads_tokens
    assert not one.reads_tokens


def test_half_precision_is_read(tmp_path: Path) -> None:
    encoder = open_static(str(made.subword_folder(tmp_path / "v", dtype="float16")))
    encoded = encoder.encode(texts("d"))
    assert encoded.vectors.dtype == np.float32
    assert encoded.vectors[3].tolist() == [3.0, 4.0]


def bad(folder: Path, **tensors: np.ndarray) -> str:
    made.subword_folder(folder)
    save_file(tensors, folder / "model.safetensors")
    return str(folder)


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        ({"one": made.matrix(), "two": made.matrix()}, "expected one matrix, the vectors, got 2 tensors: one, two"),
        (
            {"one": np.zeros(24, np.float32)},
            r"a matrix of float16, float32, float64, got one as float32\[24\]",
        ),
        ({"one": np.zeros((24, 2), np.int64)}, r"expected a matrix of .*, got one as int64\[24, 2\]"),
        ({"one": made.matrix()[:23]}, "expected one row per token, got 23 rows and a tokenizer of 24 tokens"),
        ({"one": np.full((24, 2), np.inf, np.float32)}, "expected finite numbers"),
    ],
)
def test_other_matrices_are_refused(tmp_path: Path, tensors: dict[str, np.ndarray], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        open_static(bad(tmp_path / "v", **tensors))


def test_bad_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such folder; .* nothing is downloaded"):
        open_static(str(tmp_path / "none"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidInput, match=r"no vectors here: expected words.txt .* got 0 files \*.safetensors"):
        open_static(str(empty))
    (empty / "model.bin").write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"model.bin is a pickle"):
        open_static(str(empty))
    folder = made.subword_folder(tmp_path / "v")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidInput, match="not a readable tokenizer"):
        open_static(str(folder))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidInput, match=r"got model.safetensors alone"):
        open_static(str(folder))
    made.subword_folder(folder)
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-3])
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_static(str(folder))
    (folder / "more.safetensors").write_bytes(b"")
    with pytest.raises(InvalidInput, match=r"got 2 files \*.safetensors"):
        open_static(str(folder))


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made.subword_folder(tmp_path / "v")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"postil\[vectors\]"):
        open_static(str(folder))


def test_a_tokenizer_without_unknown_token_is_read(tmp_path: Path) -> None:
    folder = made.subword_folder(tmp_path / "v")
    pieces = [[word, -1.0] for word in made.WORDS]
    model = {"type": "Unigram", "unk_id": None, "vocab": pieces, "byte_fallback": False}
    (folder / "tokenizer.json").write_text(json.dumps(made.tokenizer(model=model)))
    assert units(str(folder), "a b") == [[0, 1]]
