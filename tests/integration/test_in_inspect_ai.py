"""postil as a scorer and a metric of inspect_ai, in evaluations of made outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import inspect_ai
import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match, mean
from inspect_ai.solver import solver

import postil
from postil.integrations.inspect_ai import corpus_scores, item_scores

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalLog

pytestmark = [  # of streams that the framework leaves open
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TEXTS = ["the cat sat", "a dog", "rain"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"], ["it rains", "rain"]]
WEIGHTS = [[0.5, 1.0], [0.75], [1.0, 0.25]]
SPECS = ["bleu-2", "w-meteor", "rouge-l", "cider-d"]


@solver
def written() -> Any:
    async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001 - as the framework has it
        state.output = ModelOutput.from_content("none", TEXTS[state.sample_id - 1])
        return state

    return solve


@pytest.fixture
def evaluate(tmp_path: Path) -> Any:
    def log_of(scorer: Any, **options: Any) -> EvalLog:
        samples = [
            Sample(id=place, input="?", target=references, metadata={"quality": weights})
            for place, (references, weights) in enumerate(zip(REFERENCES, WEIGHTS, strict=True), start=1)
        ]
        task = inspect_ai.Task(dataset=samples, solver=written(), scorer=scorer, **options)
        log = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")[0]
        return read_eval_log(log.location)

    return log_of


def metrics_of(log: EvalLog, place: int = 0) -> dict[str, float]:
    assert log.status == "success", log.error
    assert log.results is not None
    return {name: each.value for name, each in log.results.scores[place].metrics.items()}


def test_a_task_has_corpus_scores_and_its_samples_item_scores(evaluate: Any) -> None:
    log = evaluate(item_scores(SPECS, weights="quality"))
    assert metrics_of(log) == postil.score(TEXTS, REFERENCES, weights=WEIGHTS, metrics=SPECS).corpus
    for row, sample in enumerate(log.samples):
        alone = postil.score([TEXTS[row]], [REFERENCES[row]], weights=[WEIGHTS[row]], metrics=SPECS[:3])
        assert sample.scores["item_scores"].value == {spec: alone.items[spec][0] for spec in SPECS[:3]}


def test_each_epoch_counts(evaluate: Any) -> None:
    once = postil.score(TEXTS, REFERENCES, metrics=["rouge-l", "cider-d"]).corpus
    assert metrics_of(evaluate(item_scores(["rouge-l", "cider-d"]), epochs=2)) == pytest.approx(once, rel=1e-12)


def test_several_scorers_and_metrics(evaluate: Any) -> None:
    log = evaluate([item_scores("meteor"), item_scores("rouge-l", tokenizer="space")])
    spaces = postil.score(TEXTS, REFERENCES, metrics="rouge-l", tokenizer="space").corpus
    assert [metrics_of(log, place) for place in range(2)] == [
        postil.score(TEXTS, REFERENCES, metrics="meteor").corpus,
        spaces,
    ]
    more = evaluate(item_scores("rouge-l"), metrics=[corpus_scores("bleu-2"), {"*": [mean()]}])
    found = {
        name: value for place in range(len(more.results.scores)) for name, value in metrics_of(more, place).items()
    }
    assert found["bleu-2"] == postil.score(TEXTS, REFERENCES, metrics="bleu-2").corpus["bleu-2"]
    assert found["mean"] == pytest.approx(postil.score(TEXTS, REFERENCES, metrics="rouge-l").corpus["rouge-l"])


def test_a_log_is_scored_again(evaluate: Any) -> None:
    log = inspect_ai.score(evaluate(item_scores("meteor")), item_scores("rouge-2"), action="overwrite", display="none")
    assert metrics_of(log) == postil.score(TEXTS, REFERENCES, metrics="rouge-2").corpus


def test_what_does_not_fit(evaluate: Any) -> None:
    with pytest.raises(postil.UsageError, match=r'^w-meteor needs weights of the targets: weights="FIELD", a field'):
        item_scores(["w-meteor"])
    with pytest.raises(postil.UsageError, match="unknown metric 'metor'; did you mean 'meteor'"):
        item_scores(["metor"])
    log = evaluate(item_scores("w-meteor", weights="votes"))
    assert log.status == "error"
    assert "sample 1: no weights in its metadata" in log.error.message
    other = evaluate(match(), metrics=[corpus_scores("meteor")])
    assert other.status == "error"
    assert "expected scores of item_scores, got those of another scorer" in other.error.message
