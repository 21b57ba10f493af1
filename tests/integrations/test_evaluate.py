from __future__ import annotations

from pathlib import Path

import pytest

import postil
from postil.integrations import evaluate

PREDICTIONS = ["the cat sat", "a dog"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"]]
WEIGHTS = [[0.5, 1.0], [0.75]]


def test_scores_are_those_of_score() -> None:
    specs = ["bleu-2", "meteor", "w-rouge-l", "cider-d"]
    found = evaluate.corpus_scores(PREDICTIONS, REFERENCES, WEIGHTS, metrics=specs, tokenizer="space")
    assert found == postil.score(PREDICTIONS, REFERENCES, weights=WEIGHTS, metrics=specs, tokenizer="space").corpus


def test_one_reference_may_stand_without_a_list() -> None:
    texts = [each[0] for each in REFERENCES]
    assert evaluate.corpus_scores(PREDICTIONS, texts, [0.5, 1.0], metrics=["w-rouge-1"]) == (
        evaluate.corpus_scores(PREDICTIONS, [[each] for each in texts], [[0.5], [1.0]], metrics=["w-rouge-1"])
    )


def test_predictions_of_one_item_count_once_for_document_frequencies() -> None:
    predictions, references = [*PREDICTIONS, "the cat lay"], [*REFERENCES, list(REFERENCES[0])]
    found = evaluate.corpus_scores(predictions, references, metrics=["cider-d"], items=["1", "2", "1"])
    assert found == postil.score(predictions, references, metrics=["cider-d"], items=["1", "2", "1"]).corpus
    assert found != evaluate.corpus_scores(predictions, references, metrics=["cider-d"])


def test_a_function_is_a_metric() -> None:
    def shared(candidate: str, references: list[str]) -> float:
        return float(candidate in references)

    assert evaluate.corpus_scores(PREDICTIONS, [PREDICTIONS, ["x"]], metrics=[shared]) == {"shared": 0.5}


def test_errors_name_the_inputs_of_evaluate() -> None:
    with pytest.raises(postil.InvalidInput, match=r"^reference_weights: missing"):
        evaluate.corpus_scores(PREDICTIONS, REFERENCES, metrics=["w-meteor"])
    with pytest.raises(postil.InvalidInput, match=r"^predictions: expected at least one"):
        evaluate.corpus_scores([], [])
    with pytest.raises(postil.InvalidInput, match=r"^references"):
        evaluate.corpus_scores(PREDICTIONS, REFERENCES[:1])


def test_the_path_is_the_module_and_the_class_says_what_it_needs() -> None:
    assert Path(evaluate.path()).read_text(encoding="utf-8").startswith('"""Metric module for Hugging Face')
    with pytest.raises(postil.UsageError, match="needs the package evaluate: pip install evaluate"):
        evaluate.__getattr__("PostilMetric")
    with pytest.raises(AttributeError, match="no attribute 'Metric'"):
        evaluate.Metric  # noqa: B018
