from __future__ import annotations

import pickle

import pytest

import postil
from postil.integrations.lm_eval import corpus_score, scored_texts
from postil.integrations.lm_eval import postil as metric

TEXTS = ["the cat sat", "a dog"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"]]
WEIGHTS = [[0.5, 1.0], [0.75]]
SPECS = ["bleu-2", "w-meteor", "cider-d"]


def test_the_aggregation_is_the_corpus_score() -> None:
    values = [
        scored_texts(*each, metrics=SPECS, tokenizer="space") for each in zip(TEXTS, REFERENCES, WEIGHTS, strict=True)
    ]
    whole = postil.score(TEXTS, REFERENCES, weights=WEIGHTS, metrics=SPECS, tokenizer="space")
    assert {spec: corpus_score([each[spec] for each in values]) for spec in SPECS} == whole.corpus
    assert pickle.loads(pickle.dumps(values)) == values  # noqa: S301 - as processes of the harness exchange them


def test_the_metric_takes_what_the_harness_gives() -> None:
    values = [
        metric(references=[references[0]], predictions=[text], metrics="bleu-1")["bleu-1"]
        for text, references in zip(TEXTS, REFERENCES, strict=True)
    ]
    alone = [each[:1] for each in REFERENCES]
    assert corpus_score(values) == postil.score(TEXTS, alone, metrics=["bleu-1"]).corpus["bleu-1"]
    assert list(metric(references=["a"], predictions=["a"])) == ["bleu-4", "meteor", "rouge-l", "cider-d"]


def test_bad_documents_are_refused_when_they_are_met() -> None:
    with pytest.raises(postil.UsageError, match="did you mean 'meteor'"):
        scored_texts("a", ["a"], metrics=["metor"])
    with pytest.raises(postil.UsageError, match=r"metrics: expected a spec, got .*; postil\.register_metric gives"):
        scored_texts("a", ["a"], metrics=[len])
    with pytest.raises(postil.InvalidInput, match="references: expected at least one text, as a list"):
        scored_texts("a", [], metrics=["meteor"])
    with pytest.raises(postil.InvalidInput, match="references: expected at least one text, as a list"):
        scored_texts("a", "a", metrics=["meteor"])
    with pytest.raises(postil.InvalidInput, match="weights: expected 1, one per reference, got 2"):
        scored_texts("a", ["a"], [1.0, 0.5], metrics=["meteor"])
    with pytest.raises(postil.InvalidInput, match="a w- metric needs a weight"):
        corpus_score([scored_texts("a", ["a"], metrics=["w-meteor"])["w-meteor"]])
