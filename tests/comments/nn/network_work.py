"""A small world for networks: articles with a topic, and comments that hold the topic's word."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from postil.comments.nn.batches import Commented
from postil.comments.nn.training import train
from postil.comments.options import RelevanceOptions, TrainingOptions
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.comments.nn.training import Arrays, TrainingState

TOPICS = 12
SMALL = RelevanceOptions(vocab_size=100, embedding_dim=16, filters=8, output_dim=16, comments_per_group=2, dropout=0.0)


def ragged(texts: Sequence[Sequence[int]]) -> Ragged:
    ids = np.array([word for text in texts for word in text], dtype=np.int32)
    return Ragged(ids, np.concatenate([[0], np.cumsum([len(text) for text in texts])]))


def world(articles: int, seed: int, comments: int = 4) -> Commented:
    """Words 0 to 11 are topics, 12 to 59 mean nothing."""
    rng = np.random.default_rng(seed)

    def text(topic: int) -> list[int]:
        words = [topic, *rng.integers(TOPICS, 60, rng.integers(2, 9)).tolist()]
        return [words[place] for place in rng.permutation(len(words))]

    topics = [article % TOPICS for article in range(articles)]
    starts = np.arange(articles + 1) * comments
    return Commented(
        ragged([text(topic) for topic in topics]),
        ragged([text(topic) for topic in topics for _ in range(comments)]),
        starts,
    )


class Line(nn.Module):
    """y = w x + b, with dropout so that something is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(self.dropout(x))[:, 0]


class LineTask:
    """Finding w and b. `broken` is a step whose batch is not a number; `die` one at which the process is killed."""

    unit = "points"

    def __init__(self, broken: int = -1, die: int = -1) -> None:
        self.request = {"kind": "line"}
        self.broken, self.die, self.asked = broken, die, 0
        self.losses: list[float] = []

    def batches(self, epoch: int) -> list[Arrays]:
        rng = np.random.default_rng([7, epoch])
        x = rng.normal(size=(10, 8, 3)).astype(np.float32)
        y = (x @ np.array([1, -2, 0.5]) + 3).astype(np.float32)
        return [{"x": x[place], "y": y[place]} for place in range(10)]

    def loss(self, network: nn.Module, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, int]:
        self.asked += 1
        if self.asked == self.die:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = functional.mse_loss(network(batch["x"]), batch["y"])
        if self.asked == self.broken:
            loss = loss * torch.nan
        self.losses.append(loss.item())
        return loss, len(batch["x"])

    def dev(self, network: nn.Module) -> float:
        assert not network.training
        batch = self.batches(999)[0]
        return functional.mse_loss(network(torch.from_numpy(batch["x"])), torch.from_numpy(batch["y"])).item()


OPTIONS = TrainingOptions(epochs=4, eval_every=4, learning_rate=0.05, device="cpu", patience=0)


def line(folder: Path, task: LineTask, options: TrainingOptions = OPTIONS) -> tuple[Line, TrainingState]:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = Line()
    return network, train(network, task, folder, options)


if __name__ == "__main__":  # in a child process, to be killed
    line(Path(sys.argv[1]), LineTask(die=int(sys.argv[2])))
