from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.encoders.static import WordEncoder
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.text import vectors as vectors_module
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors, VectorsWriter, as_written
from postil.vectors import imported
from postil.vectors.imported import Word2VecFile, read_word2vec
from postil.vectors.training import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

WORDS = ("rain", "snow", "雪", "New_York", "")
ARRAY = np.array([[1, 2, 3], [0.5, -1, 0], [0, 0, 0], [1e-30, 3e38, -2.25], [4, 5, 6]], dtype=np.float32)


def made(words: tuple[str, ...] = WORDS, array: NDArray[np.float32] = ARRAY, **how: Any) -> Vectors:
    return Vectors(words, array, how)


def binary(
    words: tuple[str | bytes, ...] = WORDS,
    array: NDArray[np.float32] = ARRAY,
    behind: bytes = b"",
    head: str | None = None,
) -> bytes:
    lines = [head.encode() if head is not None else b"%d %d\n" % array.shape]
    for word, row in zip(words, array, strict=True):
        lines.append((word if isinstance(word, bytes) else word.encode()) + b" " + row.astype("<f4").tobytes() + behind)
    return b"".join(lines)


def text(
    words: tuple[str, ...] = WORDS, array: NDArray[np.float32] = ARRAY, behind: str = "\n", head: str | None = None
) -> bytes:
    lines = [f"{len(array)} {array.shape[1]}\n" if head is None else head]
    lines += [f"{word} {' '.join(map(repr, row.tolist()))}{behind}" for word, row in zip(words, array, strict=True)]
    return "".join(lines).encode()


def write(folder: Path, content: bytes, name: str = "v") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def same(one: Vectors, other: Vectors) -> bool:
    return one.words == other.words and np.array_equal(one.array, other.array)


# The folder


def test_a_folder_holds_what_was_saved_and_is_not_read_before_it_is_needed(tmp_path: Path) -> None:
    made(bigrams=True, seed=7).save(tmp_path / "v", {"tokenizer": "words"})
    opened = Vectors.open(tmp_path / "v")
    assert same(opened, made())
    assert isinstance(opened.array.base, np.memmap)
    assert not opened.array.flags.writeable
    said = {"format": 2, "bigrams": True, "seed": 7, "tokenizer": "words", "words": 5, "dimensions": 3}
    assert said.items() <= opened.metadata.items()
    assert opened.bigrams
    assert opened.hash == made().hash == opened.metadata["hash"]
    assert opened.signature == f"5x3-bigrams-{opened.hash}"
    opened.check()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v"]
    assert np.array_equal(np.load(tmp_path / "v" / "vectors.npy", allow_pickle=False), ARRAY)
    assert (tmp_path / "v" / "words.txt").read_text(encoding="utf-8") == "rain\nsnow\n雪\nNew_York\n\n"


def test_the_same_content_gives_the_same_bytes_however_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for block in (1, 2, 8192):
        monkeypatch.setattr(vectors_module, "BLOCK", block)
        made(seed=1).save(tmp_path / str(block))
    first, *others = ([p.read_bytes() for p in sorted((tmp_path / name).iterdir())] for name in ("1", "2", "8192"))
    assert others == [first, first]


def test_older_word_vectors_are_replaced_and_other_folders_are_not(tmp_path: Path) -> None:
    made().save(tmp_path / "v")
    opened = Vectors.open(tmp_path / "v")
    made(("a",), ARRAY[:1]).save(tmp_path / "v")
    assert Vectors.open(tmp_path / "v").words == ("a",)
    assert same(opened, made()), "what was open still is what it was"
    (tmp_path / "empty").mkdir()
    made().save(tmp_path / "empty")
    write(tmp_path / "v", b"mine", "notes.txt")
    with pytest.raises(UsageError, match=r"is there already and holds notes\.txt, which is not replaced"):
        made().save(tmp_path / "v")
    with pytest.raises(UsageError, match="is there already, and is a file"):
        made().save(write(tmp_path, b"", "file"))
    with pytest.raises(UsageError, match="parent folder"):
        made().save(tmp_path / "no" / "v")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "v"]


def test_an_error_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    made().save(tmp_path / "v")
    before = {path.name: path.read_bytes() for path in (tmp_path / "v").iterdir()}
    with VectorsWriter(tmp_path / "v", 3) as writer:
        writer.add(["new"], ARRAY[:1])  # and no commit, as after an interrupt
        assert len(list(tmp_path.iterdir())) == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "v").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v"]


def test_a_system_that_refuses_is_named_and_the_old_folder_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made().save(tmp_path / "v")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(PostilError, match="v: cannot be written: No space left on device"):
            made(("a",), ARRAY[:1]).save(tmp_path / "v")
    rename = Path.rename

    def only_away(path: Path, target: Path) -> None:
        if path.suffix == ".part":
            full()
        rename(path, target)

    monkeypatch.setattr(Path, "rename", only_away)
    monkeypatch.setattr("postil.data.atomic_file._exchange", lambda *_: False)
    with pytest.raises(PostilError, match="v: cannot be written: No space left on device"):
        made(("a",), ARRAY[:1]).save(tmp_path / "v")
    monkeypatch.undo()
    assert same(Vectors.open(tmp_path / "v"), made())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v"]


def test_nothing_and_bad_words_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no words to keep"):
        made((), ARRAY[:0]).save(tmp_path / "v")
    for word, problem in (("a", "the word 'a' comes a second time"), ("x\ny", "on one line"), ("\ud800", "UTF-8")):
        with pytest.raises(InvalidInput, match=problem) as caught:
            made(("a", "b", word), ARRAY[:3]).save(tmp_path / "v")
        assert caught.value.line == 3
    with pytest.raises(InvalidInput, match="expected finite numbers, got nan in the vector of 'b'") as caught:
        made(("a", "b"), np.array([[1], [np.nan]], dtype=np.float32)).save(tmp_path / "v")
    assert caught.value.line == 2
    assert list(tmp_path.iterdir()) == []


def test_shapes_must_fit() -> None:
    with pytest.raises(InvalidInput, match=r"expected float32 in rows, got float64\[5, 3\]"):
        made(array=ARRAY.astype(np.float64))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected one row per word, got 5 rows for 4 words"):
        made(WORDS[:4])


def _cut_words(folder: Path) -> None:
    path = folder / "words.txt"
    path.write_bytes(path.read_bytes()[:-3])


def _cut_vectors(folder: Path) -> None:
    path = folder / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-3])


def _pickle(folder: Path) -> None:
    with (folder / "vectors.npy").open("wb") as file:
        np.lib.format.write_array(file, np.array([{}] * 5), allow_pickle=True)


def _archive(folder: Path) -> None:
    with zipfile.ZipFile(folder / "vectors.npy", "w") as archive:
        archive.writestr("a.npy", b"")


def _few_words(folder: Path) -> None:
    (folder / "words.txt").write_text("a\nb\nc\n")


def _double(folder: Path) -> None:
    np.save(folder / "vectors.npy", ARRAY.astype(np.float64), allow_pickle=False)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (folder / "words.txt").unlink(), r"words\.txt: missing; was the folder copied whole"),
        (
            lambda folder: (folder / "metadata.json").unlink(),
            r"no metadata\.json in this folder; expected word",
        ),
        (lambda folder: (folder / "metadata.json").write_text("{"), r"metadata\.json: not JSON, "),
        (
            lambda folder: (folder / "metadata.json").write_text("[]"),
            r"metadata\.json: expected a JSON object",
        ),
        (
            lambda folder: (folder / "metadata.json").write_text('{"format": 1}'),
            "word vectors of format 2, got 1",
        ),
        (lambda folder: (folder / "words.txt").write_bytes(b"\xff\n" * 5), "not UTF-8"),
        (lambda folder: (folder / "vectors.npy").write_bytes(b""), r"vectors\.npy: not an array, or one cut short"),
        (_cut_words, r"words\.txt: the last line is cut short; was the folder copied whole"),
        (_few_words, r"vectors\.npy: expected float32\[3, any\], got float32\[5, 3\]; was the folder copied whole"),
        (_cut_vectors, r"vectors\.npy: not an array, or one cut short"),
        (_pickle, r"vectors\.npy: not an array, or one cut short"),
        (_archive, r"vectors\.npy: not an array, or one cut short"),
        (_double, r"vectors\.npy: expected float32\[5, any\], got float64\[5, 3\]; was the folder copied whole"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path: Path, damage: Callable[[Path], object], problem: str) -> None:
    made().save(tmp_path / "v")
    damage(tmp_path / "v")
    with pytest.raises(InvalidInput, match=problem) as caught:
        Vectors.open(tmp_path / "v")
    assert str(tmp_path / "v") in str(caught.value)


def test_numbers_that_are_not_finite_are_found_where_they_are_used(tmp_path: Path) -> None:
    made().save(tmp_path / "v")
    np.save(tmp_path / "v" / "vectors.npy", np.full_like(ARRAY, np.nan))
    vectors, tokens = Vectors.open(tmp_path / "v"), Vocabulary().encode_tokens([WORDS])
    for use in (lambda: vectors.sums(tokens), lambda: vectors.nearest(WORDS[:1])):
        with pytest.raises(InvalidInput, match=r"vectors\.npy: expected finite numbers; was the folder copied whole"):
            use()


# Looking up and summing

TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "a_b", "é"]), max_size=9), max_size=9)


@given(TEXTS, st.integers(0, 99), st.booleans(), st.sampled_from([1, 2, 3, 512]))
def test_sums_are_the_sums_of_rows(texts: list[list[str]], seed: int, bigrams: bool, block: int) -> None:
    words = ("b_a", "é", "a", "a_b_c", "b", "a_b", "é_é", "c")
    array = np.random.default_rng(seed).normal(size=(len(words), 3)).astype(np.float32)
    model = made(words, array, bigrams=bigrams)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors_module, "SUMMED", block)
        sums = model.sums(Vocabulary().encode_tokens(texts))
    units = [[f"{one}_{two}" for one, two in pairwise(each)] if bigrams else each for each in texts]
    rows = [[words.index(unit) for unit in each if unit in words] for each in units]
    expected = np.array([array[each].astype(np.float64).sum(axis=0) for each in rows]).reshape(-1, 3)
    assert sums.vectors.dtype == np.float64
    assert sums.vectors == pytest.approx(expected, abs=1e-12)
    assert sums.known.tolist() == [len(each) for each in rows]
    assert sums.totals.tolist() == [len(each) for each in units]
    total = sum(map(len, units))
    assert sums.unknown == pytest.approx(1 - sum(map(len, rows)) / total if total else 0)


def test_the_sum_of_a_text_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(1)
    words = tuple(map(str, range(50)))
    model = made(words, rng.normal(size=(50, 7)).astype(np.float32))
    texts = [rng.choice(words, size).tolist() for size in (3, 2000, 0, 511, 512, 513, 1, 40)]
    together = model.sums(Vocabulary().encode_tokens(texts)).vectors
    for i, each in enumerate(texts):
        assert np.array_equal(model.sums(Vocabulary().encode_tokens([each])).vectors[0], together[i])


def test_lookup_in_a_branch_knows_the_words_of_the_base() -> None:
    base = Vocabulary()
    base.encode_tokens([["snow", "Rain", "rain"]])
    branch = base.branch()
    branch.encode_tokens([["雪", "fog"]])
    assert made().lookup(base).tolist() == [1, 0, 0]
    assert made().lookup(branch).tolist() == [1, 0, 0, 2, -1]


def rows(vectors: Vectors, text: str, name: str = "words") -> list[str | None]:
    """The word of the vector of each unit of a text."""
    tokens = Vocabulary().encode([text], tokenizer(name), keep_texts=True)
    return [vectors.words[row] if row >= 0 else None for row in vectors.units(tokens)[0].tolist()]


def vectors_of(*words: str, bigrams: bool = False) -> Vectors:
    return Vectors(words, np.arange(1, len(words) + 1, dtype=np.float32)[:, None], {"bigrams": bigrams})


@pytest.mark.parametrize(
    ("words", "text", "name", "found"),
    [
        (("Rice", "rice", "and"), "Rice and rice AND RICE", "words", ["Rice", "and", "rice", "and", "rice"]),
        (("Obama", "nasa"), "Obama, obama (NASA)", "words", ["Obama", None, "nasa"]),
        (("rice", "obama"), "Rice, Obama", "words", ["rice", "obama"]),
        (("rice", "Obama"), "Rice , Obama !", "13a", ["rice", None, "Obama", None]),
        (("rice", "Obama"), "Rice Obama OBAMA", "space", ["rice", "Obama", None]),
        (("O'Neill", "n't", "Can", "ca"), "Can't O'Neill", "ptb", ["ca", "n't", "O'Neill"]),
        (("\u0130zmir", "Rice"), "\u0130zmir, \u0130 and Rice", "words", ["\u0130zmir", None, None, "Rice"]),
        (("Crème",), "Cre\u0300me cr\u00ademe", "words", ["Crème", None]),
        (("Straße", "ΟΔΟΣ"), "Straße ΟΔΟΣ", "words", ["Straße", "ΟΔΟΣ"]),
    ],
)
def test_words_are_looked_up_as_they_stand_then_in_lower_case(
    words: tuple[str, ...], text: str, name: str, found: list[str | None]
) -> None:
    assert rows(vectors_of(*words), text, name) == found


def test_pairs_are_looked_up_as_they_stand_then_in_lower_case() -> None:
    vectors = vectors_of("New_York", "new_york", "york_times", bigrams=True)
    assert rows(vectors, "New York Times in new york") == ["New_York", "york_times", None, None, "new_york"]


def test_texts_that_differ_in_case_alone_have_vectors_of_their_own() -> None:
    encoder = WordEncoder(vectors_of("Rice", "rice"))
    texts = Vocabulary().encode(["Rice", "rice", "Rice"], tokenizer("words"), keep_texts=True)
    encoded = encoder.encode(texts)
    assert encoded.rows[encoded.texts].tolist() == [0, 1, 0]
    lower = WordEncoder(vectors_of("rice"))
    assert len(lower.encode(texts).offsets) == 2  # which are one text for them


@given(st.text(max_size=40))
def test_written_forms_are_the_tokens_in_some_case(text: str) -> None:
    for name in ("words", "rouge", "ptb", "13a"):
        tokens = Vocabulary().encode([text], tokenizer(name), allow_han=True, keep_texts=True)
        forms = as_written(tokens)
        assert forms.offsets.tolist() == tokens.offsets.tolist()
        if name == "words":
            assert all(token in form.lower() for form, token in zip(forms.words(0), tokens.words(0), strict=True))


def test_nearest_words() -> None:
    words = ("a", "b", "c", "zero", "d", "opposite")
    array = np.array([[2, 0], [1, 1], [5, 5], [0, 0], [0, 3], [-1, 0]], dtype=np.float32)
    model = made(words, array)
    assert model.nearest([]) == []
    near_a, near_b = model.nearest(["a", "b"], 9)
    # cos(a, b) = cos(a, c) = 1/sqrt(2), in the order of rows; cos(a, d) = 0; a zero vector is near nothing
    assert [word for word, _ in near_a] == ["b", "c", "d", "opposite"]
    assert [cosine for _, cosine in near_a] == pytest.approx([0.5**0.5, 0.5**0.5, 0, -1])
    assert near_b[0][0] == "c"
    assert near_b[0][1] == pytest.approx(1)
    assert [len(each) for each in model.nearest(["a"], 2)] == [2]
    with pytest.raises(UsageError, match="no vector for 'A'; there is one for 'a'"):
        model.nearest(["b", "A"])
    with pytest.raises(UsageError, match="no vector for 'x'; the words are bigrams, such as new_york"):
        made(words, array, bigrams=True).nearest(["x"])
    with pytest.raises(Undefined, match="the vector of 'zero' is zero"):
        model.nearest(["zero"])


# Files of word2vec


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["auto", "given"])
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("binary", binary()),
        ("binary", binary(behind=b"\n")),  # the original program writes a line break behind each word
        ("text", text()),
        ("text", text(behind=" \n")),  # fastText and the original program write a space behind each number
        ("text", text(behind="\r\n")),
        ("text", text().rstrip(b"\n")),
        ("text", text() + b"\n \n"),
        ("text", text().replace(b" ", b"\t")),
        ("text", text(head="")),  # GloVe
    ],
)
def test_files_of_other_programs_are_read(tmp_path: Path, kind: str, content: bytes, form: str, packed: bool) -> None:
    path = write(tmp_path, gzip.compress(content) if packed else content)
    with Word2VecFile(path, "auto" if form == "auto" else kind) as file:
        assert file.form == kind
        assert (file.words, file.dimensions) == (None if content == text(head="") else 5, 3)
    assert same(read_word2vec(path, "auto" if form == "auto" else kind), made())


@pytest.mark.parametrize("block", [1, 7, 13, 40])
@pytest.mark.parametrize("content", [binary(), binary(behind=b"\n"), text(), text(head="")])
def test_where_blocks_end_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, content: bytes
) -> None:
    monkeypatch.setattr(imported, "BLOCK", block)
    assert same(read_word2vec(write(tmp_path, content)), made())


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1), min_size=1, unique=True
    ),
    st.integers(0, 99),
    st.integers(2, 5),
    st.booleans(),
)
def test_any_words_and_numbers_survive(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], seed: int, dimensions: int, is_text: bool
) -> None:
    array = np.random.default_rng(seed).normal(size=(len(words), dimensions)).astype(np.float32)
    content = (text if is_text else binary)(tuple(words), array)
    path = write(tmp_path_factory.mktemp("any"), content)
    assert same(read_word2vec(path), made(tuple(words), array))


def test_words_with_spaces_and_numbers_for_words(tmp_path: Path) -> None:
    path = write(tmp_path, b"4 2\n. . . 1 2\n1999 3 4\nnan 5 6\na\xc2\xa0b 7 8\n")
    assert read_word2vec(path).words == (". . .", "1999", "nan", "a\xa0b")


def test_share_and_hash_of_the_file(tmp_path: Path) -> None:
    content = gzip.compress(binary())
    with Word2VecFile(write(tmp_path, content)) as file:
        assert sum(len(words) for words, _ in file.batches()) == 5
        assert file.share == 1
        assert file.sha256 == imported.hashlib.sha256(content).hexdigest()


NAN = ARRAY.copy()
NAN[1, 2] = np.nan


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "v:1: expected a first line of two integers, the words and the dimensions, got ''"),
        (b"hello\nworld\n", "v:1: expected a first line of two integers"),
        (b"9" * 5000 + b" 3\n", "v:1: expected a first line of two integers"),
        (b"0 3\n", "v:1: expected at least one word and 1 to 65,536 dimensions, got '0 3'"),
        (b"3 99999999999\n", "v:1: expected at least one word and 1 to 65,536 dimensions"),
        (b"PK\x03\x04", "v: expected word vectors, got a zip archive; unpack it"),
        (b"\xba\x16\x4f\x2f", r"got a model of fastText; give its file of vectors, which ends in \.vec"),
        (b"5 3\n", "v: expected 5 words, as the first line says, got 0; is the download complete?"),
        (binary()[:-1], "v: expected 5 words, as the first line says, got 4; is the download complete?"),
        (binary()[:-14], "v: expected 5 words, as the first line says, got 3"),
        (binary(head="6 3\n"), "v: expected 6 words, as the first line says, got 5"),
        (binary(head="4 3\n"), "v: expected 4 words, as the first line says, and the file goes on behind them"),
        (binary() + b"x" * 5000, "and the file goes on behind them"),
        (binary(array=NAN), "v: word 2: expected finite numbers, got nan in the vector of 'snow'"),
        (binary(("a", "b", "c", "b", "d")), "v: word 4: the word 'b' comes a second time"),
        (
            binary(("a", b"caf\xe9", "c", "d", "e")),
            r"v: word 2: expected a word in UTF-8, on one line, got b'caf\\xe9'",
        ),
        (binary(("a", "b\nc", "c", "d", "e")), r"v: word 2: expected a word in UTF-8, on one line, got b'b\\nc'"),
        (
            b"2 3\n" + b"\0" * 70000,
            "v: word 1: expected a word and a space, got 65,536 bytes without one; is it another",
        ),
        (text(head="6 3\n"), "v: expected 6 words, as the first line says, got 5"),
        (text(head="4 3\n"), "v: expected 4 words, as the first line says, and the file goes on"),
        (text(head="5 4\n"), "v:2: expected a word and 4 numbers, got 3"),
        (text(head="5 2\n"), "v:2: expected a word and 2 numbers, got 3"),
        (b"2 3\na 1 2 3\nb 1 2\n", "v:3: expected a word and 3 numbers, got 2"),
        (b"2 3\na 1 2 3\nb 1 x 2\n", "v:3: expected 3 numbers, got 'x' among them"),
        (b"2 3\na 1 2 3\n\nb 1 2 3\n", "v:3: a blank line"),
        (b"2 3\na 1 2 3\nb 1 inf 3\n", "v:3: expected finite numbers, got inf in the vector of 'b'"),
        (b"2 3\na 1 2 3\nb 1 1e39 3\n", "v:3: expected finite numbers, got inf"),
        (b"2 3\na 1 2 3\na 1 2 3\n", "v:3: the word 'a' comes a second time"),
        (b"2 3\na 1 2 3\ncaf\xe9 1 2 3\n", r"v:3: expected a word in UTF-8, on one line, got b'caf\\xe9'"),
        (b"a 1 2\nb 1\n", "v:2: expected a word and 2 numbers, got 1"),  # GloVe, cut off within a line
        (gzip.compress(text(), mtime=0)[:-4], "v: damaged gzip data .*; is the download complete?"),
        (gzip.compress(text() * 50, mtime=0)[:60], "v: damaged gzip data"),
        (gzip.compress(text(), mtime=0)[:30] + b"????" * 9, "v: damaged gzip data"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, content: bytes, problem: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InvalidInput, match=problem) as caught:
        read_word2vec(path)
    assert str(caught.value).startswith(str(path))


def test_no_such_file_or_form(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        read_word2vec(tmp_path / "v")
    with pytest.raises(InvalidInput, match="a folder, not a file"):
        read_word2vec(tmp_path)
    with pytest.raises(UnknownName, match="unknown form of word vectors 'bin'; did you mean 'binary'"):
        read_word2vec(tmp_path, "bin")


def test_a_form_that_is_given_is_not_doubted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_word2vec(write(tmp_path, text()), "binary")
    with pytest.raises(InvalidInput):
        read_word2vec(write(tmp_path, binary()), "text")


def test_bad_words_can_be_left_out(tmp_path: Path) -> None:
    array = ARRAY.copy()
    array[2, 0] = np.inf
    words = ("a", b"caf\xe9", "c", "a", "\ud7ff")
    path = write(tmp_path, binary(words, array))
    assert same(read_word2vec(path, skip_bad=True), made(("a", "\ud7ff"), array[[0, 4]]))


def test_gensim_writes_and_reads_the_same(tmp_path: Path) -> None:
    keyed = pytest.importorskip("gensim.models.keyedvectors")
    theirs = keyed.KeyedVectors(3)
    theirs.add_vectors(list(WORDS[:4]), ARRAY[:4])
    ours = made(WORDS[:4], ARRAY[:4])
    for is_binary in (False, True):
        theirs.save_word2vec_format(str(tmp_path / "theirs"), binary=is_binary)
        assert same(read_word2vec(tmp_path / "theirs"), ours)
        path = write(tmp_path, (binary if is_binary else text)(WORDS[:4], ARRAY[:4]), "ours")
        loaded = keyed.KeyedVectors.load_word2vec_format(str(path), binary=is_binary)
        assert (tuple(loaded.index_to_key), loaded.vectors.tolist()) == (WORDS[:4], ARRAY[:4].tolist())


# Training


def sentences() -> list[list[str]]:
    """Cats and dogs share contexts, cars and buses share others."""
    rng = np.random.default_rng(0)
    frames = (
        (("cat", "dog"), ("sleeps", "eats", "purrs", "plays"), ("mat", "sofa", "garden", "basket")),
        (("car", "bus"), ("drives", "stops", "turns", "waits"), ("road", "bridge", "corner", "lane")),
    )
    choose = [frames[i] for i in rng.integers(0, 2, 600)]
    return [[str(rng.choice(part)) for part in frame] for frame in choose]


@pytest.mark.parametrize(
    ("how", "spec"),
    [
        ({"negative": 5}, "skip-gram,dimensions=16,negative=5"),
        ({"model": "skip-gram", "output": "hierarchical"}, "skip-gram,hierarchical-softmax,dimensions=16"),
        ({"model": "cbow", "output": "negative", "negative": 5}, "cbow,dimensions=16,negative=5"),
        ({"model": "cbow", "output": "hierarchical"}, "cbow,hierarchical-softmax,dimensions=16"),
    ],
)
def test_words_that_share_contexts_are_near(how: dict[str, Any], spec: str) -> None:
    pytest.importorskip("gensim")
    small: dict[str, Any] = {"dimensions": 16, "epochs": 30, "sample": 0, **how}
    vectors = train(sentences(), **small)
    (cat, *_), (bus, *_) = vectors.nearest(["cat", "bus"], 1)
    assert (cat[0], bus[0]) == ("dog", "car")
    assert vectors.dimensions == 16
    assert len(vectors) == 20
    assert vectors.metadata["spec"] == f"word2vec({spec},window=5,epochs=30,min_count=1,sample=0)"
    assert (vectors.metadata["texts"], vectors.metadata["tokens"]) == (600, 1800)
    assert vectors.hash == train(sentences(), **small).hash


PROGRAM = """
import sys
from postil.vectors.training import train
texts = [["a", "b", "c", "b"], ["b", "c", "d"], ["d", "a"]] * 20
train(texts, dimensions=8, epochs=2).save(sys.argv[1])
"""


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    for hash_seed in ("0", "77"):
        subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", PROGRAM, str(tmp_path / hash_seed)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            timeout=120,
        )
    one, two = ([path.read_bytes() for path in sorted((tmp_path / seed).iterdir())] for seed in ("0", "77"))
    assert one == two


def test_the_seed_and_the_texts_matter() -> None:
    pytest.importorskip("gensim")
    texts = sentences()[:50]
    first = train(texts, dimensions=4, epochs=1)
    again = train(texts, dimensions=4, epochs=1)
    other = train(texts, dimensions=4, epochs=1, seed=1)
    assert first.hash == again.hash != other.hash
    assert first.metadata["data"] == other.metadata["data"] != train(texts[1:], dimensions=4, epochs=1).metadata["data"]


def test_words_come_by_frequency_then_alphabet_and_rare_ones_are_dropped() -> None:
    pytest.importorskip("gensim")
    texts = [["c", "b", "b", "a"], ["d", "c", "e"], []]
    assert train(texts, dimensions=2, epochs=1).words == ("b", "c", "a", "d", "e")
    assert train(texts, dimensions=2, epochs=1, min_count=2).words == ("b", "c")
    with pytest.raises(InvalidInput, match="texts: no word occurs 3 times in 3 texts"):
        train(texts, min_count=3)


def test_bigrams_are_pairs_of_adjacent_words_within_a_text(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    texts = [["a", "b", "a", "b"], ["b", "c"], ["d"]]
    vectors = train(texts, dimensions=2, epochs=1, bigrams=True)
    assert vectors.words == ("a_b", "b_a", "b_c")
    vectors.save(tmp_path / "v")
    sums = Vectors.open(tmp_path / "v").sums(Vocabulary().encode_tokens(texts))
    assert sums.known.tolist() == sums.totals.tolist() == [3, 1, 0]
    with pytest.raises(InvalidInput, match="no pair of adjacent words occurs 1 times in 1 texts"):
        train([["d"]], bigrams=True)


def test_no_word_of_a_very_long_text_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gensim")
    monkeypatch.setattr("postil.vectors.training.LONGEST", 2)
    long = train([["a", "b", "c", "d", "e"]], dimensions=4, epochs=2, sample=0)
    assert long.words == ("a", "b", "c", "d", "e")
    assert long.hash == train([["a", "b"], ["c", "d"], ["e"]], dimensions=4, epochs=2, sample=0).hash


def test_each_epoch_is_told() -> None:
    pytest.importorskip("gensim")
    told: list[str] = []
    train([["a", "b"]] * 3, dimensions=2, epochs=2, begin=told.append)
    assert told == ["counting words", "epoch 1 of 2", "epoch 2 of 2"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"dimensions": 0}, "dimensions: expected at least 1, got 0"),
        ({"negative": 0}, "negative: expected at least 1, got 0"),
        ({"workers": 0}, "workers: expected at least 1, got 0"),
        ({"sample": 2}, "sample: expected 0 to 1, got 2"),
        ({"seed": 2**32}, "seed: expected 0 to 4294967295, got 4294967296"),
        ({"output": "hierarchical", "negative": 5}, "negative: hierarchical softmax has no noise words; leave it out"),
        ({"model": "glove"}, "unknown model 'glove'"),
        ({"output": "full"}, "unknown output 'full'"),
    ],
)
def test_parameters_are_checked(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        train([["a", "b"]], **options)


def test_texts_must_be_lists_that_stay() -> None:
    with pytest.raises(UsageError, match="several times, such as a list, got an iterator"):
        train(iter([["a", "b"]]))
    pytest.importorskip("gensim")
    with pytest.raises(UsageError, match="expected texts as lists of words, got the text 'a b'"):
        train(["a b"])


def test_made_is_json_that_says_all(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    train([["a", "b"]], dimensions=2, epochs=1).save(tmp_path / "v", {"tokenizer": "words"})
    said = json.loads((tmp_path / "v" / "metadata.json").read_text(encoding="utf-8"))
    assert set(said) == {
        *("format", "spec", "bigrams", "seed", "workers", "data", "texts", "tokens", "versions", "tokenizer"),
        *("words", "dimensions", "hash"),
    }
    assert set(said["versions"]) == {"postil", "gensim", "numpy"}


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported, "LONGEST_LINE", 1 << 16)
    path = tmp_path / "v.txt"
    path.write_bytes(b"3 2\nrain 0 1\nsnow 1 0\n" + b"x" * (1 << 25))
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput) as refusal:
            read_word2vec(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(refusal.value) == f"{path}:4: expected a line of less than 65,536 bytes, got a longer one"
    assert peak < 1 << 24
