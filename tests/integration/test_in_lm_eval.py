from __future__ import annotations

import json
from typing import TYPE_CHECKING

import lm_eval
import pytest
from lm_eval.api.model import LM
from lm_eval.api.registry import get_aggregation
from lm_eval.tasks import TaskManager

import postil
from postil.integrations.lm_eval import corpus_score

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = [
    {"question": "Where is the cat?", "answer": "on the mat", "answers": ["on the mat", "a mat"], "weights": [1, 0.5]},
    {"question": "And the dog?", "answer": "in the yard", "answers": ["in the yard"], "weights": [0.75]},
    {"question": "Is it late?", "answer": "it is late", "answers": ["yes", "it is late"], "weights": [0.25, 1]},
]
SAID = {"Where is the cat?": "on a mat", "And the dog?": "in the house", "Is it late?": "yes it is"}
TASK = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/documents.jsonl}}}}
test_split: test
output_type: generate_until
generation_kwargs: {{until: ["\\n"]}}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
"""
ONE_REFERENCE = """\
metric_list:
  - metric: !function postil.integrations.lm_eval.postil
    metrics: [bleu-2, cider-d]
    aggregation: postil
    higher_is_better: true
"""
WEIGHTED = """\
process_results: !function values.process_results
metric_list:
  - {metric: bleu-2, aggregation: postil, higher_is_better: true}
  - {metric: w-meteor, aggregation: postil, higher_is_better: true}
"""
VALUES = """\
from postil.integrations.lm_eval import scored_texts

def process_results(doc, results):
    return scored_texts(results[0], doc["answers"], doc["weights"], metrics=["bleu-2", "w-meteor"])
"""


class Parrot(LM):
    """A model that knows three answers."""

    def generate_until(self, requests: list[lm_eval.api.instance.Instance], **_: object) -> list[str]:
        return [SAID[request.args[0]] for request in requests]

    def loglikelihood(self, requests: object, **_: object) -> list[tuple[float, bool]]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder: Path = tmp_path_factory.mktemp("tasks")
    (folder / "documents.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in DOCUMENTS))
    (folder / "values.py").write_text(VALUES)
    for name, metrics in (("one_reference", ONE_REFERENCE), ("weighted", WEIGHTED)):
        (folder / f"{name}.yaml").write_text(TASK.format(name=name, folder=folder) + metrics)
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(model=Parrot(), tasks=["one_reference", "weighted"], task_manager=manager)
    return found["results"]


def test_a_task_has_the_corpus_scores(results: dict[str, dict[str, object]]) -> None:
    texts, answers = list(SAID.values()), [[each["answer"]] for each in DOCUMENTS]
    expected = postil.score(texts, answers, metrics=["bleu-2", "cider-d"])
    assert {spec: results["one_reference"][f"{spec},none"] for spec in expected.corpus} == expected.corpus


def test_a_task_with_weighted_references(results: dict[str, dict[str, object]]) -> None:
    texts, answers, weights = (
        list(SAID.values()),
        *([each[name] for each in DOCUMENTS] for name in ("answers", "weights")),
    )
    expected = postil.score(texts, answers, weights=weights, metrics=["bleu-2", "w-meteor"])
    assert {spec: results["weighted"][f"{spec},none"] for spec in expected.corpus} == expected.corpus


def test_the_harness_has_no_standard_error_of_it(results: dict[str, dict[str, object]]) -> None:
    assert get_aggregation("postil") is corpus_score
    assert results["weighted"]["w-meteor_stderr,none"] == "N/A"
