"""Time the training of generators beside a loop over torch's own layers, and the writing of comments.

    python -m bench.training.run [--rounds 5] [--threads 2] [--markdown FILE]

The paper's sizes: state and word vectors 256, 30,000 words, batches of 64 comments. In each round every contestant of a
table does some steps on the same batches, starting with another each time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bench.metrics.report import machine, version
from bench.training.plain import Plain
from bench.training.workload import VOCABULARY, workload
from postil.commenters.decoding_options import DecodingOptions
from postil.commenters.nn.batches import EOS, PAD, Commented, Ragged
from postil.commenters.nn.generator import GenerationTask, Generator
from postil.commenters.nn.options import GeneratorOptions, TrainingOptions
from postil.commenters.nn.seq2seq import Seq2SeqNetwork
from postil.commenters.nn.training import _accelerator, _Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from postil.commenters.nn.batches import Batch

BATCH = 64
HOW = TrainingOptions(batch=BATCH, device="cpu", clip=1.0)
TITLE, CONTENT = 15, 400
WORDS = 17
PAGE = """# Benchmarks of generators

This page is made by `make bench`. The paper's sizes: states and word vectors of 256 numbers, {vocabulary:,} words, one
layer, dropout 0.2; batches of {batch} comments of 17 words on the average. Texts are made up, words by Zipf's law.

Machine: {machine}, PyTorch {torch}, {threads} threads. It multiplies large matrices in single precision at
**{sgemm:,.0f} GFLOP/s**, measured in the same run.

## Training

*postil* is a whole step of its training loop. *Plain loop* is the same model with the same weights and the same loss,
written with torch's own layers: packed `nn.GRU`, an article's states copied for each of its comments,
`F.cross_entropy` over the real words (not over padding), clipping, fused AdamW. All steps of {rounds} rounds, in which
all take their turns. *GFLOP a pair*: what the model needs for the real words, padding not counted, forward and back.

{training}

*grouped*: eight comments of an article are in a batch together, and it is read once for them; *flat*: one. *Sampled*:
2,000 distinct words are drawn for each batch, from which the loss in training is estimated; on dev it is the full one.

## Decoding

Comments a second, of articles that are given together, titles of {title} words. Every text ends after {words} words:
the model is not trained, and made to end them there.

{writing}
"""


@dataclass(frozen=True)
class Contestant:
    """What takes steps.

    Args:
        name: Its name.
        step: Takes a batch, and learns from it.
        batches: The batches.
        gflop: What the model needs for a batch.
        steps: Steps a round.
    """

    name: str
    step: Callable[[Batch], object]
    batches: Sequence[Batch]
    gflop: Callable[[Batch], float]
    steps: int


def network(options: GeneratorOptions) -> Seq2SeqNetwork:
    torch.manual_seed(0)
    return Seq2SeqNetwork(options, VOCABULARY)


def postil(name: str, data: Commented, folder: str, steps: int, **options: Any) -> Contestant:
    """The real loop, a step at a time."""
    wanted = GeneratorOptions(vocab_size=VOCABULARY, **options)
    task = GenerationTask(data, data, wanted, HOW, name)
    loop = _Loop(
        network(wanted),
        task,
        Path(folder, name),
        HOW,
        accelerator=_accelerator(HOW),
        on_message=lambda _: None,
        on_progress=lambda _: None,
    )
    chosen = wanted.num_sampled if wanted.loss == "sampled" else VOCABULARY
    return Contestant(name, loop._step, task.batches(0), lambda batch: gflop(batch, wanted, chosen), steps)  # noqa: SLF001


def plain(name: str, data: Commented, steps: int, **options: Any) -> Contestant:
    wanted = GeneratorOptions(vocab_size=VOCABULARY, **options)
    model = Plain(network(wanted))
    optimizer = torch.optim.AdamW(model.parameters(), lr=HOW.learning_rate, weight_decay=0.0, fused=True)
    task = GenerationTask(data, data, wanted, HOW, name)
    check(model, network(wanted), task.batches(0)[0])

    def step(batch: Batch) -> None:
        loss, _ = model(**tensors(batch))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), HOW.clip)
        optimizer.step()
        float(loss.detach())

    return Contestant(name, step, task.batches(0), lambda batch: gflop(batch, wanted, VOCABULARY), steps)


def tensors(batch: Batch) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


@torch.no_grad()
def check(model: Plain, ours: Seq2SeqNetwork, batch: Batch) -> None:
    """Both give the same loss."""
    loss, words = ours.eval()(**tensors(batch))
    np.testing.assert_allclose(float(model.eval()(**tensors(batch))[0]), float(loss / words), rtol=1e-4)
    model.train()


def gflop(batch: Batch, options: GeneratorOptions, chosen: int) -> float:
    """Multiplications and additions for the real words of a batch: forward, and twice as many back."""
    h, d = options.hidden_size, options.embedding_dim
    read = (batch["article"] != PAD).sum(1)  # [a]
    written = (batch["comment"] != PAD).sum(1) + 1  # [n]
    encoder = read.sum() * 2 * 3 * (h // 2) * (d + h // 2)
    decoder = written.sum() * (3 * h * (d + h) + h * h + 2 * h * d + chosen * d)
    attention = (written * read[batch["owner"]]).sum() * 2 * h
    return float(3 * 2 * (encoder + decoder + attention)) / 1e9


def race(contestants: Sequence[Contestant], rounds: int, clock: Callable[[], float], sgemm: float) -> list[str]:
    """Rows of a table."""
    sums = {each.name: np.zeros(4) for each in contestants}  # pairs, words, GFLOP, seconds
    for turn in range(-1, rounds):  # the first one warms up
        for place in range(len(contestants)):
            each = contestants[(turn + place) % len(contestants)]
            steps = 1 if turn < 0 else each.steps
            batches = [each.batches[(max(turn, 0) * each.steps + step) % len(each.batches)] for step in range(steps)]
            start = clock()
            for batch in batches:
                each.step(batch)
            seconds = clock() - start
            if turn >= 0:
                for batch in batches:
                    dealt = len(batch["owner"])
                    written = int((batch["comment"] != PAD).sum()) + dealt
                    sums[each.name] += dealt, written, each.gflop(batch), 0
                sums[each.name][3] += seconds
    rows = [
        "| | pairs/s | words written/s | GFLOP a pair | of the matrix speed | words, to the last line |",
        "|---|---|---|---|---|---|",
    ]
    base = sums[contestants[-1].name]
    for each in contestants:
        pairs, words, work, seconds = sums[each.name].tolist()
        rows.append(
            f"| {each.name} | {pairs / seconds:,.0f} | {words / seconds:,.0f} | {work / pairs:.2f} "
            f"| {work / seconds / sgemm:.0%} | {words / seconds / (base[1] / base[3]):.2f}x |"
        )
        print(rows[-1], file=sys.stderr)
    return rows


def matrix_speed(rounds: int, clock: Callable[[], float]) -> float:
    """GFLOP/s of a product of large matrices."""
    one, rates = torch.randn(2048, 2048), []
    for _ in range(rounds + 1):
        start = clock()
        one @ one
        rates.append(2 * 2048**3 / (clock() - start) / 1e9)
    return statistics.median(rates[1:])


def writing(rounds: int, clock: Callable[[], float]) -> list[str]:
    """Rows of a table: comments a second."""
    options = GeneratorOptions(vocab_size=VOCABULARY)
    made = network(options).eval()
    with torch.no_grad():
        made.bias[EOS] = 50.0  # as soon as a text may end, it does
    generator, titles = Generator(made, options), workload(64, TITLE, spread=4).articles
    rows = ["| | 1 article | 16 articles | 64 articles |", "|---|---|---|---|"]
    for label, how in (("greedy", "greedy"), ("beam of 5", "beam"), ("nucleus 0.9", "nucleus")):
        decoding = DecodingOptions(strategy=how, min_words=WORDS)  # type: ignore[arg-type]
        rates = []
        for size in (1, 16, 64):
            asked = Ragged(titles.ids[: titles.offsets[size]], titles.offsets[: size + 1])
            taken = []
            for _ in range(rounds + 1):
                start = clock()
                found = generator.generate(asked, 1, decoding)
                taken.append(size / (clock() - start))
                assert {len(texts[0].tokens) for texts in found} == {WORDS}
            rates.append(statistics.median(taken[1:]))
        rows.append(f"| {label} | " + " | ".join(f"{rate:,.1f}" for rate in rates) + " |")
        print(rows[-1], file=sys.stderr)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Generators: training and writing.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument(
        "--processor-time", action="store_true", help="instead of time on the wall: one thread, busy machine"
    )
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)

    torch.set_num_threads(given.threads)
    clock = time.process_time if given.processor_time else time.perf_counter
    sgemm = matrix_speed(2 * given.rounds, clock)
    titles, contents = workload(400, TITLE, spread=4), workload(400, CONTENT + 100, spread=100)
    alike, alike_contents = (workload(400, words, spread=0, comments=1e9) for words in (TITLE, CONTENT))
    training = []
    with tempfile.TemporaryDirectory() as folder:
        for heading, contestants in (
            (
                f"Att: titles of {TITLE} words.",
                [
                    postil("postil, sampled softmax", titles, folder, 10, comments_per_group=1, loss="sampled"),
                    postil(
                        "postil, grouped, sampled softmax", titles, folder, 10, comments_per_group=8, loss="sampled"
                    ),
                    postil("postil, full softmax", titles, folder, 3, comments_per_group=1),
                    plain("plain loop, full softmax", titles, 3, comments_per_group=1),
                ],
            ),
            (
                f"Att: titles of {TITLE} words and comments of {WORDS}, all alike, so that nothing is filled up.",
                [
                    postil("postil, sampled softmax", alike, folder, 10, comments_per_group=1, loss="sampled"),
                    postil("postil, grouped, sampled softmax", alike, folder, 10, comments_per_group=8, loss="sampled"),
                    postil("postil, full softmax", alike, folder, 3, comments_per_group=1),
                    plain("plain loop, full softmax", alike, 3, comments_per_group=1),
                ],
            ),
            (
                f"Att-TC: contents, cut behind {CONTENT} words.",
                [
                    postil(
                        "postil, grouped, sampled softmax", contents, folder, 4, comments_per_group=8, loss="sampled"
                    ),
                    postil("postil, grouped, full softmax", contents, folder, 2, comments_per_group=8),
                    postil("postil, flat, sampled softmax", contents, folder, 2, comments_per_group=1, loss="sampled"),
                    postil("postil, flat, full softmax", contents, folder, 2, comments_per_group=1),
                ],
            ),
            (
                f"Att-TC: contents of {CONTENT} words and comments of {WORDS}, all alike.",
                [
                    postil(
                        "postil, grouped, sampled softmax",
                        alike_contents,
                        folder,
                        4,
                        comments_per_group=8,
                        loss="sampled",
                    ),
                    postil("postil, grouped, full softmax", alike_contents, folder, 2, comments_per_group=8),
                    postil("postil, flat, full softmax", alike_contents, folder, 2, comments_per_group=1),
                ],
            ),
        ):
            training += [heading, "", *race(contestants, given.rounds, clock, sgemm), ""]
    text = PAGE.format(
        vocab_size=VOCABULARY,
        batch=BATCH,
        machine=machine(),
        torch=version("torch"),
        threads=given.threads,
        sgemm=sgemm,
        rounds=given.rounds,
        training="\n".join(training).strip(),
        title=TITLE,
        words=WORDS,
        writing="\n".join(writing(given.rounds, clock)),
    )
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
