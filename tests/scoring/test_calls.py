"""`postil.score`: the shapes that it takes, items, weights, and what it says of those that it does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.kernel import NAME
from postil.metrics.evaluation import CHUNK
from postil.metrics.metric_set import DEFAULT_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

CANDIDATES = ["the cat sat on the mat", "a dog", "it rained"]
REFERENCES = [
    ["the cat sat on a mat", "the cat lay there"],
    ["a dog barked"],
    ["it rained all day", "rain", "it was wet"],
]
WEIGHTS = [[1.0, 0.5], [0.75], [0.25, 0.0, 1.0]]
SPECS = ["w-bleu-4", "w-meteor", "w-rouge-l", "w-cider-d", "rouge-2"]


class Series:
    """A column as pandas and polars have it: a method ``to_list``, neither list nor sequence."""

    def __init__(self, values: list[object]) -> None:
        self._values = values

    def to_list(self) -> list[object]:
        return list(self._values)


def check(result: postil.ScoreResult) -> None:
    expected = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=SPECS)
    assert result.corpus == expected.corpus
    for spec in SPECS:
        assert result.items[spec].tobytes() == expected.items[spec].tobytes()


def arrow(values: list[object]) -> object:
    return pytest.importorskip("pyarrow").array(values)


def chunked(values: list[object]) -> object:
    return pytest.importorskip("pyarrow").chunked_array([values[:1], values[1:]])


def objects(values: list[object]) -> object:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("column", [list, tuple, objects, arrow, chunked, Series])
def test_columns_are_taken_as_they_are(column: Callable[[list[object]], object]) -> None:
    check(
        postil.score(
            column(list(CANDIDATES)),  # type: ignore[arg-type]
            column(list(REFERENCES)),  # type: ignore[arg-type]
            weights=column(list(WEIGHTS)),  # type: ignore[arg-type]
            metrics=SPECS,
        )
    )


@pytest.mark.parametrize("row", [tuple, np.array, arrow, Series])
def test_rows_are_taken_as_they_are(row: Callable[[object], object]) -> None:
    check(
        postil.score(
            np.array(CANDIDATES),
            [row(texts) for texts in REFERENCES],
            weights=[row(weights) for weights in WEIGHTS],
            metrics=SPECS,
        )
    )


def test_lists_of_tokens() -> None:
    cut = [text.split() for text in CANDIDATES], [[text.split() for text in texts] for texts in REFERENCES]
    check(postil.score(*cut, weights=WEIGHTS, metrics=SPECS))
    check(postil.score(cut[0], REFERENCES, weights=WEIGHTS, metrics=SPECS))
    check(postil.score(CANDIDATES, cut[1], weights=WEIGHTS, metrics=SPECS))
    arrays = [np.array(tokens) for tokens in cut[0]]
    check(postil.score(arrays, [tuple(map(tuple, texts)) for texts in cut[1]], weights=WEIGHTS, metrics=SPECS))


def test_the_signature_says_that_tokens_were_given() -> None:
    tokens = postil.score([["Han 我"]], [[["Han 我"]]], metrics=["rouge-1"])
    assert tokens.corpus["rouge-1"] == 1.0
    assert "|tokenizer:given|" in tokens.signatures["rouge-1"]
    assert "|tokenizer:words-2|" in postil.score(["a"], [["a"]], metrics=["rouge-1"]).signatures["rouge-1"]


def test_the_results() -> None:
    result = postil.score(CANDIDATES, REFERENCES)
    assert tuple(result.corpus) == tuple(result.items) == tuple(result.signatures) == DEFAULT_METRICS
    assert all(type(score) is float for score in result.corpus.values())
    assert all(scores.shape == (3,) and scores.dtype == np.float64 for scores in result.items.values())
    assert "references:1-3" in result.signatures["meteor"]
    assert "weights:given" in postil.score(["a"], [["b"]], weights=[[1]], metrics=["w-meteor"]).signatures["w-meteor"]
    assert postil.score(["a"], [["a"]], metrics="rouge-1").corpus == {"rouge-1": 1.0}


@pytest.mark.parametrize("shared", [list, tuple, np.array])
def test_a_list_that_stands_at_several_places_is_one_item(shared: Callable[[list[str]], object]) -> None:
    """Three systems on two items: document frequencies are those of two items, digested once."""
    rows = [shared(["a b c", "a d"]), shared(["e f", "a"])]
    candidates = ["a b", "e", "a d", "f", "c", "a"]
    systems = postil.score(candidates, rows * 3, metrics=["cider", "meteor"])
    for begin in (0, 2, 4):
        one = postil.score(candidates[begin : begin + 2], rows, metrics=["cider", "meteor"])
        for spec in ("cider", "meteor"):
            assert systems.items[spec][begin : begin + 2].tobytes() == one.items[spec].tobytes()
    assert "background:references/2" in systems.signatures["cider"]


def test_a_shared_list_may_have_several_weights() -> None:
    texts = ["a b", "c"]
    weights = [[1.0, 0.5], [0.25, 0.5]]
    result = postil.score(["a b", "a b", "x"], [texts, texts, ["y"]], weights=[*weights, [1.0]], metrics=["w-cider"])
    assert result.items["w-cider"][0] == 4 * result.items["w-cider"][1] > 0.0
    assert "background:references/2" in result.signatures["w-cider"]


def test_items_say_what_belongs_together() -> None:
    """Copies of the references, and leave-one-out sets, count once."""
    rows = [["a b c", "a d"], ["e f", "a"]]
    one = postil.score(["b e", "e"], rows, metrics=["cider"])
    copies, candidates = [*rows, list(rows[0])], ["b e", "e", "b e"]
    named = postil.score(candidates, copies, metrics=["cider"], items=["p", "q", "p"])
    assert named.items["cider"].tolist() == [*one.items["cider"], one.items["cider"][0]]
    unnamed = postil.score(candidates, copies, metrics=["cider"])  # b is in two items of three, e in one
    assert unnamed.items["cider"][0] < named.items["cider"][0]
    left_out = postil.score(
        ["a d", "a b c", "a"], [["a b c"], ["a d"], ["e f"]], metrics=["cider"], items=np.array([7, 7, 8])
    )
    assert "background:references/2" in left_out.signatures["cider"]
    assert left_out.items["cider"].tolist() != [0.0] * 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_candidates_are_scored_in_chunks(jobs: int) -> None:
    references = [["a b c"], ["c d"]]
    candidates = ["a b", "d", ""] * (CHUNK // 2)
    rows = [references[i % 2] for i in range(len(candidates))]
    result = postil.score(candidates, rows, metrics=["rouge-1", "bleu-1"], jobs=jobs)
    assert len(candidates) > CHUNK
    few = postil.score(candidates[:6], rows[:6], metrics=["rouge-1", "bleu-1"])
    for spec in ("rouge-1", "bleu-1"):
        np.testing.assert_array_equal(result.items[spec], np.tile(few.items[spec], CHUNK // 4))
        assert result.corpus[spec] == pytest.approx(few.corpus[spec])


def test_names_of_items_may_be_of_a_kind_of_text() -> None:
    items = list(np.array(["x", "y"]))
    assert len(postil.score(["a b", "c"], [["a b"], ["c"]], metrics=["rouge-l"], items=items).items["rouge-l"]) == 2


def refusal(*arguments: object, **named: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        postil.score(*arguments, **named)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([], [], "candidates: expected at least one candidate, got none"),
        ("a text", [["a"]], "candidates: expected a list or a column, got str"),
        ({"a"}, [["a"]], "candidates: expected a list or a column, got set"),
        (["a"], 5, "references: expected a list or a column, got int"),
        (["a", "b"], [["a"]], "references: expected one entry for each of 2 candidates, got 1"),
        (["a", "b"], [["a"], []], "references:2: expected at least one reference, got none"),
        (
            ["a", "b"],
            [["a"], "b"],
            (
                "references:2: expected a list or a column, got str; for one reference of each candidate: [[text] for "
                "text in …]"
            ),
        ),
        (["a", "b"], [["a"], None], "references:2: expected a list or a column, got NoneType"),
        (["a", "b"], [["a"], ["b", None]], "references:2: expected a text, as the first is one, got NoneType"),
        (["a", "b"], [["a"], ["b", ["c"]]], "references:2: expected a text, as the first is one, got list"),
        (["a", None], [["a"], ["b"]], "candidates:2: expected a text, as the first is one, got NoneType"),
        ([None, "a"], [["a"], ["b"]], "candidates:1: expected a text or a list of tokens, got NoneType"),
        ([["a"], "b c"], [["a"], ["b"]], "candidates:2: expected a list of tokens, as the first is one, got str"),
        ([["a"], ["b", 3]], [["a"], ["b"]], "candidates:2: expected tokens of type str, got int"),
        (["a", "b"], [[["a"]], [["b", None]]], "references:2: expected tokens of type str, got NoneType"),
    ],
)
@pytest.mark.parametrize("tokenizer", ["words", "13a", "jieba"])
def test_what_is_no_text(candidates: object, references: object, message: str, tokenizer: str) -> None:
    assert refusal(candidates, references, metrics=["bleu-1"], tokenizer=tokenizer) == message


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "weights: missing; a w- metric needs a weight for every reference"),
        ([[1, 1]], "weights: expected one entry for each of 2 candidates, got 1"),
        ([[1, 1], [1, 1]], "weights:2: expected a weight for each of 1 references, got 2"),
        ([[1, 1], []], "weights:2: expected a weight for each of 1 references, got 0"),
        ([[1, 1], 1], "weights:2: expected a list or a column, got int"),
        ([[1, 1], [[1]]], "weights:2: expected a number from 0 to 1, got an array"),
        (
            [[1, 1], [None]],
            "weights:2: expected a number from 0 to 1, got null; ungraded='drop' excludes references without a weight",
        ),
        ([[1, 5], [1]], "weights:1: expected a number from 0 to 1, got 5"),
        ([[1, 1], [-0.25]], "weights:2: expected a number from 0 to 1, got -0.25"),
    ],
)
def test_weights_that_do_not_fit(weights: object, message: str) -> None:
    assert refusal(["a", "b"], [["a", "c"], ["b"]], weights=weights, metrics=["meteor", "w-meteor"]) == message


def test_weights_that_are_no_numbers() -> None:
    assert refusal(["a"], [["a"]], weights=[["good"]], metrics=["w-meteor"]) == (
        'weights:1: expected a number from 0 to 1, got "good"'
    )
    assert refusal(["a"], [["a"]], weights=[[float("nan")]]) == "weights:1: expected a number from -1 to 1, got NaN"
    assert refusal(["a"], [["a"]], weights=[[-2]], metrics=["delta-bleu"]) == (
        "weights:1: expected a number from -1 to 1, got -2"
    )
    assert refusal(["a"], [["a"]], metrics=["delta-bleu"]).startswith("weights: missing")
    assert postil.score(["a"], [["a"]], weights=[[-0.5]], metrics=["delta-bleu", "meteor"]).corpus["meteor"] == 1.0
    assert "from 0 to 1" in refusal(["a"], [["a"]], weights=[[-0.5]], metrics=["delta-bleu", "w-meteor"])


def test_items_that_do_not_fit() -> None:
    assert refusal(["a"], [["a"]], items=[1, 2], metrics=["bleu-1"]) == (
        "items: expected one entry for each of 1 candidates, got 2"
    )
    assert refusal(["a"], [["a"]], items=[[1]], metrics=["bleu-1"]) == (
        "items:1: expected text or a number, got an array"
    )


def test_han_text_needs_another_tokenizer() -> None:
    texts = ["fine", "我喜欢这个"], [["fine"], ["我喜欢"]]
    assert refusal(*texts, metrics=["bleu-1"]).startswith("references:2: Han text cannot be split into words")
    assert "jieba" in refusal(["fine", "我喜欢这个"], [["a"], ["b"]], metrics=["bleu-1"])
    assert refusal(["fine", "我喜欢这个"], [["a"], ["b"]], metrics=["bleu-1"]).startswith("candidates:2: Han text")
    late = ["fine"] * CHUNK + ["我喜欢这个"] * CHUNK
    assert refusal(late, [["a"]] * len(late), metrics=["bleu-1"]).startswith(f"candidates:{CHUNK + 1}: Han text")
    by_characters = postil.score(*texts, metrics=["rouge-1"], tokenizer="characters")
    assert by_characters.items["rouge-1"].tolist() == [1.0, 1.0]
    assert postil.score(*texts, metrics=["rouge-1"], tokenizer="jieba").items["rouge-1"][1] == 1.0


def test_a_few_han_texts_are_told_of() -> None:
    references = [*(["a b", "c"] for _ in range(9)), ["哈哈哈", "a b"]]
    with pytest.warns(UserWarning, match="Han text") as warned:
        found = postil.score(["a b"] * 9 + ["哈哈哈"], references, metrics=["rouge-1"])
    assert [str(each.message) for each in warned if "Han" in str(each.message)] == [
        f"1 of {n} {what} is Han text, which the tokenizer words does not split; jieba, rjieba and characters do"
        for n, what in ((20, "references"), (10, "candidates"))
    ]
    assert found.items["rouge-1"].tolist() == [2 / 3] * 9 + [1 / 3]


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="unknown metric 'metor'; did you mean 'meteor'"):
        postil.score(["a"], [["a"]], metrics=["metor"])
    with pytest.raises(UnknownName, match="unknown tokenizer 'jeiba'; did you mean 'jieba'"):
        postil.score(["a"], [["a"]], metrics=["bleu-1"], tokenizer="jeiba")
    with pytest.raises(UsageError, match="no metric"):
        postil.score(["a"], [["a"]], metrics=[])


@pytest.mark.skipif(NAME != "compiled", reason="the pure-Python kernel has no such limit")
@pytest.mark.parametrize(("spec", "words"), [("rouge-l(reading=union)", 200_000), ("meteor", 20_000)])
def test_texts_too_long_to_be_aligned_are_told(spec: str, words: int) -> None:
    text = " ".join(["a"] * words)
    with pytest.raises(InvalidInput, match=rf"candidates: .*: a candidate of {words} words and a reference of {words}"):
        postil.score([text], [[text]], metrics=[spec])


def test_one_reference_each_is_a_list_too() -> None:
    with pytest.raises(
        InvalidInput, match=r"^references:1: .*, got str; for one reference of each candidate: \[\[text\]"
    ):
        postil.score(["a", "b"], ["a", "b"], metrics="rouge-l")
