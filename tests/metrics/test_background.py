"""Document frequencies of references, and those from elsewhere."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import postil
from postil.errors import InvalidInput, Undefined, UsageError
from postil.metrics import background
from postil.metrics.background import DocumentFrequencies, ExternalFrequencies
from postil.metrics.references import References
from postil.metrics.spec import parse_metric
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


TEXTS = [["the cat sat", "a cat sat down"], ["the dog sat"], ["the cat ran", "ran", "a dog"], ["été sat"]]
CANDIDATES = ["the cat sat down", "a dog", "the cat ran off", ""]
WEIGHTS = [[1.0, 0.5], [0.25], [0.0, 1.0, 0.75], [1.0]]
CIDERS = ["cider", "w-cider", "cider-d", "w-cider-d(sigma=2)", "cider(order=2)"]


def count(texts: list[list[str]] = TEXTS, name: str = "words", order: int = 4) -> DocumentFrequencies:
    tokens = Vocabulary().encode([text for row in texts for text in row], tokenizer(name))
    return DocumentFrequencies.of(
        References(tokens, np.cumsum([0, *map(len, texts)])), tokenizer(name).signature, order
    )


def test_what_is_counted() -> None:
    background = count()
    assert (background.items, background.order) == (4, 4)
    assert background.words == ("a", "cat", "dog", "sat", "the")
    found = {
        " ".join(background.words[i] for i in gram): df
        for grams, dfs in zip(background.grams, background.df, strict=True)
        for gram, df in zip(grams.tolist(), dfs.tolist(), strict=True)
    }
    # in how many items, however many references of an item hold it
    assert found == {"a": 2, "cat": 2, "dog": 2, "sat": 3, "the": 3, "the cat": 2}


def test_the_sets_of_one_item_count_once() -> None:
    tokens = Vocabulary().encode_tokens([["a"], ["a"], ["b"]])
    references = References(tokens, np.array([0, 1, 2, 3]), None, np.array([0, 0, 1]))  # type: ignore[arg-type]
    background = DocumentFrequencies.of(references, "space", order=1)
    assert (background.items, background.words) == (2, ())


def test_saved_twice_gives_the_same_bytes_and_comes_back(tmp_path: Path) -> None:
    background = count()
    for name in ("one", "two"):
        count().save(tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    orders = range(1, 5)
    assert names == ["config.json", *(f"df-{n}.npy" for n in orders), *(f"grams-{n}.npy" for n in orders), "words.json"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    again = DocumentFrequencies.load(tmp_path / "one")
    assert (again.items, again.tokenizer, again.words, again.hash) == (4, "words-2", background.words, background.hash)
    for a, b in zip(again.grams + again.df, background.grams + background.df, strict=True):
        np.testing.assert_array_equal(a, b)


def test_words_without_a_utf8_form_are_saved(tmp_path: Path) -> None:
    tokens = Vocabulary().encode_tokens([["\ud800", "我"]] * 2)
    DocumentFrequencies.of(References(tokens, np.array([0, 1, 2])), "space").save(tmp_path)
    assert DocumentFrequencies.load(tmp_path).words == ("我", "\ud800")


def test_the_hash_follows_the_content() -> None:
    other = [*TEXTS[:-1], ["the sat"]]
    texts = [[*TEXTS[0], "the dog"], *TEXTS[1:]]
    hashes = {count().hash, count(other).hash, count(texts).hash, count(name="space").hash, count(order=3).hash}
    assert len(hashes) == 5
    assert count().hash == count([list(reversed(row)) for row in reversed(TEXTS)]).hash
    assert all(len(value) == 12 for value in hashes)


def _set(path: Path, key: str, value: object) -> None:
    config = json.loads(path.read_text("utf-8"))
    if value is None:
        del config[key]
    else:
        config[key] = value
    path.write_text(json.dumps(config), "utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: _set(folder / "config.json", "items", 5), "hash: expected content with the hash "),
        (
            lambda folder: _set(folder / "config.json", "tokenizer", "space"),
            "hash: expected content with the hash ",
        ),
        (lambda folder: _set(folder / "config.json", "order", 3), "hash: expected content with the hash "),
        (lambda folder: _set(folder / "config.json", "hash", None), "Object missing required field `hash`"),
        (lambda folder: np.save(folder / "df-1.npy", np.full(5, 3)), "expected int32[5] from 2 to 4, got int64[5]"),
        (
            lambda folder: np.save(folder / "df-1.npy", np.full(5, 3, np.int32)),
            "hash: expected content with the hash ",
        ),
        (
            lambda folder: np.save(folder / "df-1.npy", np.full(5, -3, np.int32)),
            "expected int32[5] from 2 to 4, got -3 to",
        ),
        (lambda folder: np.save(folder / "grams-1.npy", np.full((5, 1), -3, np.int32)), "from 0 to 4, got -3 to -3"),
        (
            lambda folder: np.save(folder / "grams-1.npy", np.full((5, 2), 3, np.int32)),
            "[any, 1] from 0 to 4, got int32[5, 2]",
        ),
        (
            lambda folder: (folder / "words.json").write_text('["a"]'),
            "grams-1.npy: expected int32[any, 1] from 0 to 0, got 0 to 4",
        ),
        (lambda folder: (folder / "words.json").write_text('["a", 1]'), "words.json: Expected `str`, got `int`"),
        (lambda folder: _set(folder / "config.json", "items", -1), "config.json: Expected `int` >= 2"),
        (lambda folder: _set(folder / "config.json", "order", 10), "config.json: Expected `int` <= 9"),
        (lambda folder: _set(folder / "config.json", "format", 2), "expected a background of format 1, got 2"),
        (lambda folder: _set(folder / "config.json", "order", "x"), "config.json: Expected `int`, got `str`"),
        (
            lambda folder: _set(folder / "config.json", "items", None),
            "config.json: Object missing required field `items`",
        ),
        (lambda folder: _set(folder / "config.json", "order", 5), "grams-5.npy: missing; was the folder copied whole?"),
        (lambda folder: (folder / "words.json").unlink(), "words.json: missing; was the folder copied whole?"),
        (lambda folder: (folder / "words.json").write_text("[1"), "words.json: not JSON, "),
        (lambda folder: (folder / "words.json").write_bytes(b"\xff"), "words.json: not JSON, "),
        (lambda folder: (folder / "config.json").write_text("[]"), "config.json: expected a JSON object"),
        (lambda folder: (folder / "df-2.npy").write_bytes(b""), "df-2.npy: not an array, or one cut short"),
        (lambda folder: (folder / "df-2.npy").write_bytes(b"PK\x03\x04"), "df-2.npy: not an array, or one cut short"),
        (lambda folder: (folder / "df-2.npy").write_bytes(b"\x93NUMPY"), "df-2.npy: not an array, or one cut short"),
    ],
)
def test_damage_is_found(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    count().save(tmp_path)
    damage(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        DocumentFrequencies.load(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "array", "problem"),
    [
        ("df", [[-(2**30), 2, 2, 3, 3], [2]], "expected int32[5] from 2 to 4, got -1073741824 to 3"),
        ("df", [[2, 2, 2, 3, 5], [2]], "expected int32[5] from 2 to 4, got 2 to 5"),
        ("grams", [[[0], [1], [2], [3], [-3]], [[4, 1]]], "expected int32[any, 1] from 0 to 4, got -3 to 3"),
    ],
)
def test_a_background_with_a_hash_that_fits_is_looked_at(tmp_path: Path, name: str, array: Any, problem: str) -> None:
    arrays = tuple(np.array(each, dtype=np.int32) for each in array)
    replace(count(order=2), **{name: arrays}).save(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        postil.score(
            ["the cat"], [["the cat"]], metrics=["cider(order=2)"], background=DocumentFrequencies.load(tmp_path)
        )
    assert problem in str(caught.value)
    assert "postil score --save-background" in str(caught.value)


def test_an_n_gram_that_begins_with_none(tmp_path: Path) -> None:
    background = count(order=2)
    grams = background.grams[0][:-1], background.grams[1]  # without "the", which "the cat" begins with
    replace(background, grams=grams, df=(background.df[0][:-1], background.df[1])).save(tmp_path)
    with pytest.raises(InvalidInput, match="expected the first words of each n-gram among the n-grams; was the folder"):
        postil.score(
            ["the cat"], [["the cat"]], metrics=["cider(order=2)"], background=DocumentFrequencies.load(tmp_path)
        )


def test_no_background_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="absent: no such folder; expected a background that postil score"):
        DocumentFrequencies.load(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="file: not a folder"):
        DocumentFrequencies.load(tmp_path / "file")


def test_the_background_of_the_same_references_gives_the_same_scores(tmp_path: Path) -> None:
    count().save(tmp_path)
    own, saved = (
        postil.score(CANDIDATES, TEXTS, weights=WEIGHTS, metrics=CIDERS, background=background)
        for background in (None, DocumentFrequencies.load(tmp_path))
    )
    for spec in CIDERS:
        np.testing.assert_allclose(saved.items[spec], own.items[spec], rtol=1e-12)
        assert "|background:references/4|" in own.signatures[spec]
        assert f"|background:{count().hash}/4|" in saved.signatures[spec]


def documents(references: list[list[str]], items: list[int] | None = None) -> str:
    candidates = [texts[0] for texts in references]
    found = postil.score(candidates, references, items=items, metrics=["cider"], tokenizer="space").signatures["cider"]
    return next(part for part in found.split("|") if part.startswith("documents:"))


def test_signatures_tell_the_references_that_were_counted() -> None:
    """Sets of ten items are two sets, whatever their order and the ids of their words."""
    one = [[f"a b{n}", f"c d{n} e"] for n in range(10)]
    other = [[f"a b{n}", f"c d{n} f"] for n in range(10)]
    assert documents(one) != documents(other)
    assert documents(one) == documents([texts[::-1] for texts in one[::-1]])
    assert documents([[*texts, texts[0]] for texts in one]) == documents(one)  # as in the frequencies
    swapped = [[*one[0][:1], *one[1][1:]], [*one[1][:1], *one[0][1:]], *one[2:]]
    assert documents(swapped) != documents(one)
    assert documents([["a b", "c"], ["d"]]) != documents([["a b"], ["d", "c"]])
    assert documents([["a b"], ["d"]]) != documents([["b a"], ["d"]]) != documents([["a", "b"], ["d"]])
    assert documents([["x"], ["y z"]]) != documents([["z"], ["y x"]])
    # the references of an item, though each candidate leaves one out
    left_out = [["b", "c"], ["a", "c"], ["a", "b"], ["d"]]
    assert documents(left_out, [1, 1, 1, 2]) == documents([["a", "b", "c"], ["d"]])


def test_a_longer_background_serves_a_shorter_order_and_not_the_other_way() -> None:
    spec = ["cider(order=2)"]
    long, short = (
        postil.score(CANDIDATES, TEXTS, metrics=spec, background=count(order=order)).items[spec[0]] for order in (4, 2)
    )
    assert long.tobytes() == short.tobytes()
    with pytest.raises(UsageError, match="expected a background with n-grams up to 4, got one up to 2"):
        postil.score(CANDIDATES, TEXTS, metrics=["cider"], background=count(order=2))


def test_a_background_of_another_tokenizer_is_refused() -> None:
    with pytest.raises(UsageError, match="counted with the tokenizer space, not words"):
        postil.score(CANDIDATES, TEXTS, metrics=["cider"], background=count(name="space"))


def test_a_background_of_the_first_words_is_refused_with_the_reason() -> None:
    tokens = Vocabulary().encode([text for row in TEXTS for text in row], tokenizer("words"))
    references = References(tokens, np.cumsum([0, *map(len, TEXTS)]))
    old = DocumentFrequencies.of(references, "words")
    with pytest.raises(
        UsageError, match=r"the tokenizer words, not words-2, which splits .* count the references again"
    ):
        postil.score(CANDIDATES, TEXTS, metrics=["cider"], background=old)


def test_one_item_alone_is_undefined_without_a_background() -> None:
    for metrics in (["cider"], ["bleu-4", "w-cider-d"]):
        with pytest.raises(Undefined, match="at least two items, got one"):
            postil.score(["a cat"] * 2, [TEXTS[0]] * 2, weights=[WEIGHTS[0]] * 2, metrics=metrics)
    result = postil.score(["a cat"], [TEXTS[0]], metrics=["cider"], background=count())
    assert 0.0 < result.corpus["cider"] < 1.0
    tokens = Vocabulary().encode_tokens([["a"], ["b"]])
    with pytest.raises(Undefined):
        DocumentFrequencies.of(References(tokens, np.array([0, 2])), "space")


@pytest.mark.parametrize("order", [0, 10])
def test_no_such_order(order: int) -> None:
    with pytest.raises(UsageError, match="order: expected 1 to 9"):
        count(order=order)


def test_a_background_comes_before_the_candidates() -> None:
    vocabulary = Vocabulary()
    references = References(vocabulary.encode_tokens([["a"], ["b"]]), np.array([0, 1, 2]))
    vocabulary.branch()
    with pytest.raises(UsageError, match="before the first candidates"):
        parse_metric("cider").against(references, count())


def table(counted: DocumentFrequencies) -> dict[tuple[str, ...], int]:
    return {
        tuple(counted.words[i] for i in gram): count
        for grams, df in zip(counted.grams, counted.df, strict=True)
        for gram, count in zip(grams.tolist(), df.tolist(), strict=True)
    }


@pytest.mark.parametrize("words", [2, 5, 60])
@pytest.mark.parametrize("order", [1, 2, 4, 9])
@pytest.mark.parametrize("bits", [None, 62])
def test_the_counts_are_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int, order: int, bits: int | None
) -> None:
    if bits:  # keys that leave room for four items or places at a time
        monkeypatch.setattr(background._Keys, "of", lambda *_: background._Keys(31, bits))
    draw = random.Random(words)  # noqa: S311 - texts
    items = [
        [" ".join(f"w{draw.randrange(words)}" for _ in range(draw.randrange(12))) for _ in range(draw.randint(1, 3))]
        for _ in range(60)
    ]
    split = tokenizer("space")
    external = ExternalFrequencies(str(tmp_path), split, order)
    for begin in range(0, 60, 7):
        block = items[begin : begin + 7]
        external.add([each for item in block for each in item], [len(item) for item in block])
    external.count(lambda _: None)
    texts = [each for item in items for each in item]
    offsets = np.cumsum([0, *map(len, items)])
    whole = DocumentFrequencies.of(References(Vocabulary().encode(texts, split), offsets), "space", order)
    found = external.of(["w0 w0 zoo", "", *texts])
    assert table(found) == table(whole)
    assert (found.items, found.order, found.tokenizer, found.signature) == (60, order, "space", "references/60")
    own = postil.score([item[0] for item in items], items, metrics=["cider"], tokenizer=split.signature)
    assert f"|background:references/60|documents:{found.documents}|" in own.signatures["cider"]
    part = table(external.of([texts[0], "w1 zoo w0"]))
    assert part.items() <= table(whole).items()
    # no vocabulary of an earlier call stays
    assert table(external.of([texts[0], "w1 zoo w0"])) == part


def test_texts_without_words(tmp_path: Path) -> None:
    counted = ExternalFrequencies(str(tmp_path), tokenizer("space"), 4)
    counted.add(["", ""], [1, 1])
    counted.count(lambda _: None)
    assert table(counted.of(["", "a b"])) == {}


def test_one_item_or_an_order_out_of_range(tmp_path: Path) -> None:
    counted = ExternalFrequencies(str(tmp_path), tokenizer("space"), 2)
    counted.add(["a b", "a"], [2])
    with pytest.raises(Undefined, match="at least two items, got one"):
        counted.count(lambda _: None)
    with pytest.raises(UsageError, match="expected 1 to 9, got 10"):
        ExternalFrequencies(str(tmp_path), tokenizer("space"), 10)
