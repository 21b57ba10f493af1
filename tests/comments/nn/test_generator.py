"""Trainings of generators, with the code that trains real ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import generator_work as gen
import network_work as work
import torch

from postil.comments.nn import generator as generator_module
from postil.comments.nn import models
from postil.comments.nn.batches import Commented
from postil.comments.nn.generator import Generator, train_generator
from postil.comments.nn.token_ids import EOS, SPECIAL, UNK
from postil.comments.options import DecodingOptions, GeneratorOptions, TrainingOptions
from postil.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

SMALL = GeneratorOptions(hidden_size=16, embedding_dim=12, dropout=0.2, num_sampled=6, comments_per_group=2)
HOW = TrainingOptions(batch=16, epochs=2, eval_every=5, learning_rate=1e-2, patience=0, device="cpu")
TRAIN, DEV = work.world(24, 0, comments=3), work.world(10, 1, comments=2)
REVERSING = GeneratorOptions(hidden_size=48, embedding_dim=32, dropout=0.0, num_sampled=8, comments_per_group=1)
AS_IS = DecodingOptions(strategy="greedy", no_repeat_ngram_size=0, min_words=1)


def trained(
    folder: Path, options: GeneratorOptions = SMALL, how: TrainingOptions = HOW, **more: Any
) -> tuple[Generator, list[str]]:
    said: list[str] = []
    return train_generator(TRAIN, DEV, options, how, folder, on_message=said.append, **more), said


def texts_of(texts: Any) -> list[tuple[int, ...]]:
    return [tuple(texts.ids[a:b].tolist()) for a, b in pairwise(texts.offsets.tolist())]


def right(generator: Generator, asked: Commented, decoding: DecodingOptions = AS_IS) -> float:
    """The share of articles whose comment is written word by word."""
    written = generator.generate(asked.articles, 1, decoding)
    found = [tuple(word - SPECIAL for word in texts[0].tokens) for texts in written]
    return float(np.mean([one == two for one, two in zip(found, texts_of(asked.comments), strict=True)]))


@pytest.mark.parametrize(
    "options",
    [
        REVERSING,
        pytest.param(replace(REVERSING, loss="sampled"), marks=pytest.mark.slow),
        pytest.param(replace(REVERSING, attention="additive"), marks=pytest.mark.slow),
        pytest.param(replace(REVERSING, attention="bahdanau"), marks=pytest.mark.slow),
        pytest.param(replace(REVERSING, attention="bahdanau", cell="lstm"), marks=pytest.mark.slow),
        pytest.param(replace(REVERSING, cell="lstm"), marks=pytest.mark.slow),
        pytest.param(replace(REVERSING, layers=2), marks=pytest.mark.slow),
    ],
    ids=lambda options: f"{options.loss}-{options.attention}-{options.cell}-{options.layers}",
)
def test_it_learns_to_write_texts_backwards(tmp_path: Path, options: GeneratorOptions) -> None:
    epochs = 5 if options == REVERSING else 10
    how = TrainingOptions(
        batch=32, epochs=epochs, eval_every=10**6, learning_rate=5e-3, warmup=30, patience=0, device="cpu"
    )
    unseen = gen.reversing(200, 2)
    generator = train_generator(gen.reversing(2000, 1), unseen, options, how, tmp_path / "model")
    assert right(generator, unseen) >= 0.95
    assert right(generator, unseen, replace(AS_IS, strategy="beam")) >= 0.95
    assert right(generator, unseen, replace(AS_IS, strategy="nucleus", temperature=0.2)) >= 0.95
    # A text longer than any that was seen is written about all the same.
    long = gen.reversing(1, 3, longest=40)
    assert 1 <= len(generator.generate(long.articles)[0][0].tokens) <= 50


@pytest.mark.parametrize("attention", ["general", "bahdanau", pytest.param("none", marks=pytest.mark.slow)])
def test_it_can_learn_a_batch_by_heart(tmp_path: Path, attention: Any) -> None:
    few = work.world(12, 3, comments=1)
    options = replace(SMALL, hidden_size=48, embedding_dim=32, dropout=0.0, attention=attention)
    how = replace(HOW, batch=12, epochs=70, eval_every=1000)
    generator = train_generator(few, few, options, how, tmp_path / "model")
    assert right(generator, few) == 1


def test_the_loss_on_dev_is_that_of_a_plain_loop_by_the_full_softmax(tmp_path: Path) -> None:
    options = replace(SMALL, loss="sampled", comments_per_group=8)
    generator, _ = trained(tmp_path / "model", options)
    network, total, words = generator.network, 0.0, 0
    task = generator_module.GenerationTask(TRAIN, DEV, replace(options, vocab_size=len(network.bias)), HOW, "")
    with torch.no_grad():
        found = task.dev(network)
        for article, text in enumerate(texts_of(DEV.articles)):
            encoded, final = network.encode(gen.articles(text))
            for comment in texts_of(DEV.comments)[DEV.starts[article] : DEV.starts[article + 1]]:
                state = network.decoder.initial_state(final)
                for word, following in zip([-2, *comment], [*comment, -1], strict=True):  # <bos> and <eos>
                    features, state = network.step(torch.tensor([word + SPECIAL]), state, encoded)
                    total -= network.logits(features).log_softmax(1)[0, following + SPECIAL].item()
                    words += 1
    assert words == len(DEV.comments.ids) + len(DEV.comments.offsets) - 1
    assert found == pytest.approx(total / words, rel=1e-5)


def test_filling_up_and_other_articles_change_no_loss() -> None:
    made = gen.network(words=8)
    article, comment = gen.articles([1, 2, 3], [4], [5, 6]), gen.articles([1], [2, 3, 4], [], [5, 5])
    owner = torch.tensor([0, 2, 1, 2])
    with torch.no_grad():
        found, words = made(article, comment, owner)
        filled = [torch.nn.functional.pad(part, (0, 5)) for part in (article, comment)]
        again, same = made(*filled, owner)
        alone = sum(
            made(article[[row]], comment[[n]], torch.zeros(1, dtype=torch.int64))[0]
            for n, row in enumerate(owner.tolist())
        )
    assert int(words) == int(same) == 1 + 3 + 0 + 2 + 4
    torch.testing.assert_close(again, found)
    torch.testing.assert_close(alone, found)


def test_saved_and_opened_it_writes_the_same(tmp_path: Path) -> None:
    generator, _ = trained(tmp_path / "model", metadata={"corpus": "abc"})
    opened = Generator.open(tmp_path / "model")
    assert opened.options == generator.options
    for how in ("greedy", "beam", "nucleus"):
        options = DecodingOptions(strategy=how, max_words=6)  # type: ignore[arg-type]
        assert opened.generate(DEV.articles, 2, options) == generator.generate(DEV.articles, 2, options)
    kept, _ = models.read_tensors(tmp_path / "model/weights.safetensors")
    assert kept.keys() == dict(generator.network.named_parameters()).keys()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("options", [SMALL, replace(SMALL, loss="sampled", cell="lstm")], ids=["full", "sampled"])
def test_a_training_that_broke_off_goes_on_to_the_same_folder(tmp_path: Path, options: GeneratorOptions) -> None:
    def watch(progress: Any) -> None:
        if progress.step == 8:
            raise KeyboardInterrupt

    trained(tmp_path / "whole", options)
    torch.rand(3)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "cut", options, on_progress=watch)
    assert not (tmp_path / "cut").exists()
    _, said = trained(tmp_path / "cut", options)
    assert said[0].startswith("resuming after step 5 ")
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "cut" / path.name).read_bytes()


def test_words_of_dev_that_train_has_not_are_unknown(tmp_path: Path) -> None:
    strange = Commented(work.ragged([[1, 900]]), work.ragged([[2, 901], [3]]), np.array([0, 2]))
    generator = train_generator(TRAIN, strange, SMALL, HOW, tmp_path / "model")
    assert len(generator.network.bias) == SPECIAL + 60
    assert generator.generate(strange.articles)[0]


def test_it_begins_with_words_as_likely_as_they_are_and_with_the_vectors_given(tmp_path: Path) -> None:
    given = np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)
    given[7] = 0
    how = replace(HOW, steps=1, learning_rate=1e-9)
    generator, _ = trained(tmp_path / "model", how=how, embeddings=given)
    words = generator.network.words.weight.detach().numpy()[SPECIAL:]
    lengths = np.linalg.norm(given, axis=1)
    rows = lengths > 0
    np.testing.assert_allclose(words[rows], (given / lengths[rows].mean())[rows], rtol=1e-5, atol=1e-6)
    assert words[7].any()
    counts = np.maximum(np.bincount(TRAIN.comments.ids + SPECIAL, minlength=64), 0.5)
    counts[EOS] = len(TRAIN.comments.offsets) - 1
    shares = generator.network.bias.detach().softmax(0).numpy()
    np.testing.assert_allclose(shares, counts / counts.sum(), rtol=1e-4)
    with pytest.raises(UsageError, match=r"embeddings: expected float32\[words, 12\], got an array of shape \(3, 2\)"):
        trained(tmp_path / "other", embeddings=np.zeros((3, 2), np.float32))


def test_articles_without_words_and_unknown_words_are_commented_on(tmp_path: Path) -> None:
    generator, _ = trained(tmp_path / "model")
    asked = work.ragged([[], [2**31 - 1] * 3, [1] * 500])
    for texts in generator.generate(asked, 2, DecodingOptions(max_words=5)):
        assert texts
        assert all(np.isfinite(text.score) and UNK not in text.tokens for text in texts)


def test_no_comments_are_refused(tmp_path: Path) -> None:
    none = Commented(work.ragged([[1]]), work.ragged([]), np.array([0, 0]))
    for train, dev in ((none, DEV), (TRAIN, none)):
        with pytest.raises(UsageError, match="expected articles with comments"):
            train_generator(train, dev, SMALL, HOW, tmp_path / "model")
