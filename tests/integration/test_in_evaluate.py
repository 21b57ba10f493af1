from __future__ import annotations

import socket

import datasets
import evaluate
import pytest

import postil
from postil.integrations.evaluate import PostilMetric, path

PREDICTIONS = ["the cat sat", "a dog", "rain"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"], ["it rains", "rain"]]
WEIGHTS = [[0.5, 1.0], [0.75], [1.0, 0.25]]
SPECS = ["bleu-2", "meteor", "rouge-l", "cider-d"]


@pytest.fixture(scope="module")
def metric() -> evaluate.EvaluationModule:
    return evaluate.load(path())


def test_loading_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("no network")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert evaluate.load(path()).compute(predictions=["a"], references=["a"], metrics=["rouge-1"]) == {"rouge-1": 1.0}


def test_compute_gives_the_scores_of_postil(metric: evaluate.EvaluationModule) -> None:
    found = metric.compute(predictions=PREDICTIONS, references=REFERENCES, metrics=SPECS)
    assert found == postil.score(PREDICTIONS, REFERENCES, metrics=SPECS).corpus
    assert found == PostilMetric(metrics=SPECS).compute(predictions=PREDICTIONS, references=REFERENCES)
    assert list(metric.compute(predictions=PREDICTIONS, references=REFERENCES)) == [
        "bleu-4",
        "meteor",
        "rouge-l",
        "cider-d",
    ]


def test_weights_count(metric: evaluate.EvaluationModule) -> None:
    specs = ["w-meteor", "w-rouge-l(reading=union)"]
    given = {"predictions": PREDICTIONS, "references": REFERENCES, "reference_weights": WEIGHTS}
    expected = postil.score(PREDICTIONS, REFERENCES, weights=WEIGHTS, metrics=specs, tokenizer="space").corpus
    assert metric.compute(**given, metrics=specs, tokenizer="space") == expected
    weighted = evaluate.load(path(), "weighted", metrics=specs, tokenizer="space")
    assert weighted.compute(**given) == expected
    for prediction, reference, weights in zip(PREDICTIONS, REFERENCES, WEIGHTS, strict=True):
        weighted.add(prediction=prediction, reference=reference, reference_weights=weights)
    assert weighted.compute() == expected
    weighted.add_batch(**{name: column[:2] for name, column in given.items()})
    weighted.add_batch(**{name: column[2:] for name, column in given.items()})
    assert weighted.compute() == expected


def test_a_single_reference_needs_no_list(metric: evaluate.EvaluationModule) -> None:
    texts = [each[0] for each in REFERENCES]
    found = metric.compute(
        predictions=PREDICTIONS, references=texts, reference_weights=[1, 0.5, 0], metrics=["w-rouge-1"]
    )
    expected = postil.score(PREDICTIONS, [[text] for text in texts], weights=[[1], [0.5], [0]], metrics=["w-rouge-1"])
    assert found == expected.corpus


def test_columns_of_a_dataset_go_in(metric: evaluate.EvaluationModule) -> None:
    data = datasets.Dataset.from_dict({"said": PREDICTIONS, "wanted": REFERENCES})
    found = metric.compute(predictions=data["said"], references=data["wanted"], metrics=["bleu-1"])
    assert found == postil.score(PREDICTIONS, REFERENCES, metrics=["bleu-1"]).corpus


def test_combine(metric: evaluate.EvaluationModule) -> None:
    both = evaluate.combine({"words": metric, "spaces": evaluate.load(path(), tokenizer="space")})
    found = both.compute(predictions=["a cat."], references=[["a Cat."]], metrics=["rouge-1"])
    assert found == {"words_rouge-1": 1.0, "spaces_rouge-1": 0.5}
    alone = evaluate.combine([PostilMetric(metrics=["meteor"])])
    assert list(alone.compute(predictions=PREDICTIONS, references=REFERENCES)) == ["meteor"]


def test_errors_are_those_of_postil(metric: evaluate.EvaluationModule) -> None:
    with pytest.raises(postil.UsageError, match="did you mean 'meteor'"):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES, metrics=["metor"])
    with pytest.raises(postil.InvalidInput, match=r"^reference_weights: missing"):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES, metrics=["w-meteor"])
