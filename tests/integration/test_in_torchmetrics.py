"""postil as a metric of torchmetrics: alone, in a collection, copied, moved and over several processes."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from torchmetrics import MetricCollection
from torchmetrics.text import BLEUScore

import postil
from postil.integrations.torchmetrics import PostilMetric

if TYPE_CHECKING:
    from pathlib import Path

    import torch

TEXTS = ["the cat sat", "a dog", "rain"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["a dog barked"], ["it rains", "rain"]]
WEIGHTS = [[0.5, 1.0], [0.75], [1.0, 0.25]]
SPECS = ["bleu-2", "w-meteor", "rouge-l", "cider-d"]


def whole() -> dict[str, float]:
    return postil.score(TEXTS, REFERENCES, weights=WEIGHTS, metrics=SPECS).corpus


def updated(metric: PostilMetric, *rows: int) -> PostilMetric:
    for row in rows:
        metric.update([TEXTS[row]], [REFERENCES[row]], [WEIGHTS[row]])
    return metric


def numbers(found: dict[str, torch.Tensor]) -> dict[str, float]:
    return {spec: float(value) for spec, value in found.items()}


def test_batches_are_scored_together() -> None:
    metric = updated(PostilMetric(SPECS), 0, 1, 2)
    assert numbers(metric.compute()) == whole()
    metric.reset()
    with pytest.raises(postil.UsageError, match="call update first"), pytest.warns(UserWarning, match="compute"):
        metric.compute()


def test_the_direction_is_that_of_the_metrics() -> None:
    assert PostilMetric(SPECS).higher_is_better is True


def test_a_step_has_the_score_of_its_batch() -> None:
    metric = PostilMetric(["rouge-l"])
    steps = [numbers(metric(TEXTS[row : row + 1], REFERENCES[row : row + 1])) for row in range(3)]
    assert steps == [postil.score([TEXTS[row]], [REFERENCES[row]], metrics="rouge-l").corpus for row in range(3)]
    assert numbers(metric.compute()) == postil.score(TEXTS, REFERENCES, metrics="rouge-l").corpus


def test_in_a_collection() -> None:
    own = {"words": PostilMetric(["meteor"]), "spaces": PostilMetric(["rouge-l"], tokenizer="space")}
    metrics = MetricCollection({**own, "bleu": BLEUScore(n_gram=2)}, prefix="val_")
    for text, references in zip(TEXTS, REFERENCES, strict=True):
        metrics.update([text], [references])
    found = numbers(metrics.compute())
    assert found["val_meteor"] == postil.score(TEXTS, REFERENCES, metrics="meteor").corpus["meteor"]
    spaces = postil.score(TEXTS, REFERENCES, metrics="rouge-l", tokenizer="space").corpus["rouge-l"]
    assert found["val_rouge-l"] == spaces
    assert "val_bleu" in found


def test_states_are_copied_moved_and_merged() -> None:
    one, other = updated(PostilMetric(SPECS), 0), updated(PostilMetric(SPECS), 1, 2)
    again = copy.deepcopy(one).to("cpu").half()
    again.merge_state(other)
    assert numbers(again.compute()) == pytest.approx(whole(), rel=1e-12)
    assert numbers(updated(one, 1, 2).compute()) == whole()


PROCESS = """
import json, sys
from torch import distributed
from postil.integrations.torchmetrics import PostilMetric

rank, file, (specs, batches) = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
metric = PostilMetric(specs)
for batch in batches[rank]:
    metric.update(*batch)
print(json.dumps({spec: float(value) for spec, value in metric.compute().items()}))
distributed.destroy_process_group()
"""


@pytest.mark.parametrize("shares", [[[1], [0, 2]], [[0, 1, 2], []]], ids=["both", "one has none"])
def test_processes_score_the_texts_of_all(shares: list[list[int]], tmp_path: Path) -> None:
    batches = [[[[TEXTS[row]], [REFERENCES[row]], [WEIGHTS[row]]] for row in rows] for rows in shares]
    given = [str(tmp_path / "meet"), json.dumps([SPECS, batches])]
    processes = [
        subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-W", "ignore", "-c", PROCESS, str(rank), *given], stdout=subprocess.PIPE
        )
        for rank in range(2)
    ]
    for each in processes:
        said, _ = each.communicate(timeout=120)
        assert each.returncode == 0
        assert json.loads(said) == pytest.approx(whole(), rel=1e-12)
