"""Scores of samples and of all of them, without inspect_ai."""

from __future__ import annotations

from typing import Any

import pytest

import postil
from postil.integrations import inspect_ai
from postil.integrations.inspect_ai import Scored, corpus_of_samples, sample_scores

TEXTS = ["the cat sat", "a dog", "rain"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"], ["it rains", "rain"]]
WEIGHTS = [[0.5, 1.0], [0.75], [1.0, 0.25]]
SPECS = ["bleu-2", "w-meteor", "rouge-l", "cider-d"]


def noted(**changes: Any) -> list[Scored]:
    how: Any = {"metrics": SPECS, "tokenizer": "words", **changes}
    return [Scored(references=of, weights=w, **how) for of, w in zip(REFERENCES, WEIGHTS, strict=True)]


def test_a_sample_has_the_item_scores_of_its_text() -> None:
    alone = postil.score(TEXTS[:1], REFERENCES[:1], weights=WEIGHTS[:1], metrics=SPECS[:3])
    found = sample_scores(TEXTS[0], REFERENCES[0], WEIGHTS[0], metrics=SPECS)
    assert found == {spec: alone.items[spec][0] for spec in SPECS[:3]}


def test_all_samples_have_the_corpus_scores() -> None:
    items = ["a", "b", "c"]
    whole = postil.score(TEXTS, REFERENCES, weights=WEIGHTS, metrics=SPECS, items=items).corpus
    assert corpus_of_samples(TEXTS, noted(), items) == whole
    other = postil.score(TEXTS, REFERENCES, metrics="rouge-1", tokenizer="space").corpus
    assert corpus_of_samples(TEXTS, noted(), items, metrics=["rouge-1"], tokenizer="space") == other
    assert corpus_of_samples([], [], []) == {}


def test_outputs_of_several_epochs_count_their_references_once() -> None:
    twice = corpus_of_samples([*TEXTS, *TEXTS], [*noted(), *noted()], [1, 2, 3, 1, 2, 3], metrics=["cider-d"])
    once = corpus_of_samples(TEXTS, noted(), [1, 2, 3], metrics=["cider-d"])
    assert twice == pytest.approx(once, rel=1e-12)


@pytest.mark.parametrize("name", ["item_scores", "corpus_scores"])
def test_what_needs_the_framework_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(inspect_ai), name, raising=False)
    with pytest.raises(postil.UsageError, match=rf"^{name} needs the package inspect_ai: pip install inspect_ai$"):
        getattr(inspect_ai, name)
    with pytest.raises(AttributeError):
        inspect_ai.other  # noqa: B018
