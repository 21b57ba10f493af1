"""`postil.score`: shapes, items, weights, and messages that name the argument and the place."""

from __future__ import annotations

import numpy as np
import pytest

import postil
from postil.metrics.evaluation import CHUNK

CANDIDATES = ["the cat sat on the mat", "a dog barked", ""]
REFERENCES = [["the cat sat on a mat", "the cat lay there"], ["a dog barked", "dogs bark"], ["nothing"]]
WEIGHTS = [[1.0, 0.5], [0.75, 0.25], [1.0]]


def test_lists_of_tokens_are_taken_as_they_are() -> None:
    texts = postil.score(CANDIDATES, REFERENCES, tokenizer="space")
    tokens = postil.score([c.split() for c in CANDIDATES], [[r.split() for r in row] for row in REFERENCES])
    for spec in texts.corpus:
        np.testing.assert_array_equal(texts.items[spec], tokens.items[spec])


def test_columns_of_any_make() -> None:
    pa = pytest.importorskip("pyarrow")
    plain = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=["w-meteor"])
    arrow = postil.score(pa.array(CANDIDATES), pa.array(REFERENCES), weights=pa.array(WEIGHTS), metrics=["w-meteor"])
    mixed = postil.score(
        np.array(CANDIDATES), tuple(REFERENCES), weights=[np.array(w) for w in WEIGHTS], metrics="w-meteor"
    )
    assert plain.corpus == arrow.corpus == mixed.corpus


def test_more_candidates_than_fit_in_one_batch() -> None:
    n = CHUNK + 3
    many = postil.score(CANDIDATES[:2] * n, REFERENCES[:2] * n, metrics=["rouge-l"])
    one = postil.score(CANDIDATES[:2], REFERENCES[:2], metrics=["rouge-l"])
    np.testing.assert_array_equal(many.items["rouge-l"], np.tile(one.items["rouge-l"], n))
    assert many.corpus["rouge-l"] == pytest.approx(one.corpus["rouge-l"])


def test_jobs_change_no_bit() -> None:
    one = postil.score(CANDIDATES * 999, REFERENCES * 999)
    two = postil.score(CANDIDATES * 999, REFERENCES * 999, jobs=2)
    assert one.corpus == two.corpus


def test_several_systems_on_one_set_do_not_change_the_idf() -> None:
    items = ["a", "b", "c"]
    one = postil.score(CANDIDATES, REFERENCES, items=items, metrics=["cider"])
    four = postil.score(CANDIDATES * 4, [list(row) for row in REFERENCES * 4], items=items * 4, metrics=["cider"])
    np.testing.assert_array_equal(four.items["cider"], np.tile(one.items["cider"], 4))


def test_a_list_that_stands_at_several_places_is_one_item() -> None:
    one = postil.score(CANDIDATES, REFERENCES, metrics=["cider"])
    twice = postil.score(CANDIDATES * 2, REFERENCES * 2, metrics=["cider"])
    np.testing.assert_array_equal(twice.items["cider"], np.tile(one.items["cider"], 2))


def test_an_empty_candidate_scores_zero() -> None:
    result = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=["bleu-1", "w-meteor", "rouge-l", "cider-d"])
    assert {spec: scores[2] for spec, scores in result.items.items()} == dict.fromkeys(result.corpus, 0.0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"candidates": []}, "candidates: expected at least one candidate, got none"),
        ({"candidates": "a text"}, "candidates: expected a list or a column, got str"),
        ({"references": REFERENCES[:2]}, "references: expected one entry for each of 3 candidates, got 2"),
        ({"references": [["a"], [], ["b"]]}, "references:2: expected at least one reference, got none"),
        ({"references": ["a", ["b"], ["c"]]}, "references:1: expected a list or a column, got str"),
        ({"weights": WEIGHTS[:2]}, "weights: expected one entry for each of 3 candidates, got 2"),
        ({"weights": [[1.0], [1, 1], [1]]}, "weights:1: expected a weight for each of 2 references, got 1"),
        ({"weights": [[1, 1], [1, "x"], [1]]}, 'weights:2: expected a number from -1 to 1, got "x"'),
        ({"weights": [[1, 1], [1, float("nan")], [1]]}, "weights:2: expected a number from -1 to 1, got NaN"),
        ({"weights": [[1, 1], [1, 1.5], [1]]}, "weights:2: expected a number from -1 to 1, got 1.5"),
        (
            {"weights": None, "metrics": ["w-meteor"]},
            "weights: missing; a w- metric needs a weight for every reference",
        ),
        ({"items": ["a"]}, "items: expected one entry for each of 3 candidates, got 1"),
        ({"candidates": ["a", "今天天气很好", "b"]}, "candidates:2: Han text cannot be split into words"),
        ({"references": [["a"], ["b", "今天天气很好"], ["c"]], "weights": None}, "references:2: Han text cannot"),
    ],
)
def test_bad_input_says_where(change: dict[str, object], problem: str) -> None:
    arguments = {"candidates": CANDIDATES, "references": REFERENCES, "weights": WEIGHTS, **change}
    with pytest.raises(postil.InvalidInput) as error:
        postil.score(**arguments)  # type: ignore[arg-type]
    assert str(error.value).startswith(problem)


@pytest.mark.parametrize("change", [{"metrics": ["metor"]}, {"tokenizer": "jeiba"}, {"metrics": []}])
def test_wrong_usage(change: dict[str, object]) -> None:
    with pytest.raises(postil.UsageError):
        postil.score(CANDIDATES, REFERENCES, **change)  # type: ignore[arg-type]


def test_cider_of_one_item_is_undefined() -> None:
    with pytest.raises(postil.Undefined, match="at least two items"):
        postil.score(["a"], [["a"]], metrics=["cider"])


def test_names_of_items_may_be_of_a_kind_of_text() -> None:
    items = list(np.array(["x", "y"]))
    assert len(postil.score(["a b", "c"], [["a b"], ["c"]], metrics=["rouge-l"], items=items).items["rouge-l"]) == 2
