"""Options out of range, and absurd sizes of networks, are refused in words, before memory is asked for."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("torch")

import torch

from postil.comments.nn import models
from postil.comments.nn.generator import Generator
from postil.comments.nn.relevance import Relevance, RelevanceNetwork
from postil.comments.nn.seq2seq import Seq2SeqNetwork
from postil.comments.nn.training import train_model
from postil.comments.options import DecodingOptions, GeneratorOptions, RelevanceOptions, TrainingOptions
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = [
    (kind, field.name) for kind in (GeneratorOptions, RelevanceOptions, TrainingOptions) for field in fields(kind)
]
SMALL = {
    "generator": (Generator, Seq2SeqNetwork, GeneratorOptions(hidden_size=4, embedding_dim=4, vocab_size=9)),
    "relevance": (
        Relevance,
        RelevanceNetwork,
        RelevanceOptions(embedding_dim=4, filters=2, output_dim=4, vocab_size=9),
    ),
}


@pytest.mark.parametrize(("kind", "name"), OPTIONS)
def test_options_are_numbers_that_make_sense(kind: Any, name: str) -> None:
    usual = getattr(kind(), name)
    wrong = [object(), [], {}, "many", float("nan"), -1, [-1], [10**12], 10**12, 10**30, "3"]
    for value in wrong:
        if isinstance(value, int) and value > 0 and isinstance(usual, float):
            continue  # a learning rate or a norm may be any number
        if isinstance(value, str) and (usual is None or isinstance(usual, str)):
            continue
        if name == "seed" and value == 10**12:
            continue
        with pytest.raises(UsageError, match="expected"):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        (GeneratorOptions, {"hidden_size": 10**12}, "hidden_size: expected at most 65,536, got 1,000,000,000,000"),
        (GeneratorOptions, {"layers": 10**12}, "layers: expected at most 64, got 1,000,000,000,000"),
        (RelevanceOptions, {"widths": (1, 10**12)}, "widths: expected at most 1,024, got 1,000,000,000,000"),
        (RelevanceOptions, {"widths": 3}, "widths: expected a list of whole numbers, got 3"),
        (TrainingOptions, {"batch": "64"}, 'batch: expected a whole number, got "64"'),
        (TrainingOptions, {"seed": 2**63}, "seed: expected a whole number from 0 up of at most 64 bits, got 9"),
        (TrainingOptions, {"batch": 0}, "batch: expected at least 2, got 0"),
        (TrainingOptions, {"clip": -1.0}, "clip: expected at least 0, got -1.0"),
        (TrainingOptions, {"learning_rate": 0.0}, "learning_rate: expected a number above 0, got 0.0"),
        (TrainingOptions, {"device": "tpu"}, "device: expected auto, cpu or cuda, got tpu"),
        (GeneratorOptions, {"cell": "rnn"}, "cell: expected gru or lstm, got rnn"),
        (GeneratorOptions, {"loss": "half"}, "loss: expected full or sampled, got half"),
        (GeneratorOptions, {"attention": "all"}, "attention: expected bahdanau, general, additive or none, got all"),
        (GeneratorOptions, {"vocab_size": 4}, "vocab_size: expected at least 5, got 4"),
        (GeneratorOptions, {"layers": 0}, "layers: expected at least 1, got 0"),
        (GeneratorOptions, {"dropout": 1.0}, "dropout: expected 0 to less than 1, got 1.0"),
        (RelevanceOptions, {"embedding_dim": 0}, "embedding_dim: expected at least 1, got 0"),
        (RelevanceOptions, {"vocab_size": 4}, "vocab_size: expected at least 5, got 4"),
        (RelevanceOptions, {"widths": ()}, "widths from 1"),
        (RelevanceOptions, {"num_negatives": -1}, "num_negatives: expected at least 0, got -1"),
        (RelevanceOptions, {"dropout": 1.0}, "dropout: expected 0 to less than 1, got 1.0"),
        (RelevanceOptions, {"architecture": "tower"}, "architecture: expected two-tower or interaction, got tower"),
        (RelevanceOptions, {"loss": "hinge"}, "loss: expected softmax or negative, got hinge"),
        (DecodingOptions, {"strategy": "best"}, "strategy: expected beam, greedy or nucleus, got best"),
        (DecodingOptions, {"beam_size": 0}, "beam_size from 1"),
        (DecodingOptions, {"no_repeat_ngram_size": -1}, "no_repeat_ngram_size from 0"),
        (DecodingOptions, {"min_words": 9, "max_words": 8}, "min_words from 1 to max_words"),
        (DecodingOptions, {"top_p": 0.0}, "top_p above 0"),
        (DecodingOptions, {"temperature": 0.0}, "temperature above 0"),
        (DecodingOptions, {"temperature": float("nan")}, "temperature: expected a number, got NaN"),
        (DecodingOptions, {"length_penalty": -1.0}, "length_penalty from 0"),
        (DecodingOptions, {"seed": -1}, "seed"),
    ],
)
def test_what_a_refusal_says(kind: Any, change: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**change)
    assert told in str(caught.value)


def test_a_network_that_no_memory_holds() -> None:
    options = GeneratorOptions(hidden_size=2**16, embedding_dim=2**16, vocab_size=2**24, layers=64)
    with pytest.raises(
        UsageError, match=r"^the network has [\d,]+ parameters; training takes [\d,]+ GB of memory, and"
    ):
        models.build(Seq2SeqNetwork, options, options.vocab_size, 1)


def test_a_network_does_not_depend_on_its_outline() -> None:
    options = SMALL["generator"][2]
    torch.manual_seed(1)
    plain = Seq2SeqNetwork(options, 9).words.weight
    assert torch.equal(models.build(Seq2SeqNetwork, options, 9, seed=1).words.weight, plain)


def test_a_step_that_no_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Task:
        request: ClassVar = {"data": ""}

    def run(*_: object, **__: object) -> None:
        torch.empty(2**60, dtype=torch.uint8)

    monkeypatch.setattr("postil.comments.nn.training.train", run)
    with pytest.raises(PostilError, match=r"^not enough memory for a training step; choose a smaller batch"):
        train_model(tmp_path / "m", "x", torch.nn.Linear(1, 1), Task(), TrainingOptions(), config={}, dev=dict)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize(
    "change",
    [
        {"vocab_size": 10**12},
        {"vocab_size": 10**30},
        {"vocab_size": 0},
        {"vocab_size": -5},
        {"vocab_size": "many"},
        {"options": {"embedding_dim": 10**12}},
        {"options": {"embedding_dim": 2**16}},
        {"options": {"embedding_dim": 0}},
        {"options": {"embedding_dim": -3}},
        {"options": {"embedding_dim": "4"}},
        {"options": None},
        {"options": {"made": "up"}},
    ],
    ids=str,
)
def test_folders_that_name_absurd_sizes(tmp_path: Path, kind: str, change: dict[str, Any]) -> None:
    opened, network, options = SMALL[kind]
    config = {"vocab_size": 9, "options": asdict(options)}
    if change.get("options"):
        change = {"options": asdict(options) | change["options"]}
    models.save(tmp_path / "m", kind, network(options, 9), config | change, {})  # type: ignore[operator]
    with pytest.raises(InvalidInput, match=r"m: not the options of a|tensor .*: expected shape"):
        opened.open(tmp_path / "m")  # type: ignore[attr-defined]
