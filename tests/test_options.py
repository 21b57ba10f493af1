"""Options as the words of a command: every option that differs from its default, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from postil.app.training.options import GeneratorTraining, GeneratorTrainOptions, RetrieverTrainOptions
from postil.commenters.nn.options import GeneratorOptions, RelevanceOptions
from postil.options import command_words


def test_defaults_need_no_words() -> None:
    assert command_words(GeneratorTrainOptions()) == command_words(RetrieverTrainOptions()) == []


def test_options_within_options_are_compared_with_their_defaults_there() -> None:
    given = GeneratorTrainOptions(
        seed=7, network=GeneratorOptions(loss="sampled", cell="lstm"), training=GeneratorTraining(epochs=3)
    )
    assert command_words(given) == ["--seed", "7", "--cell", "lstm", "--softmax", "sampled", "--epochs", "3"]
    assert command_words(replace(given, network=GeneratorOptions())) == ["--seed", "7", "--epochs", "3"]


def test_an_option_without_a_flag_is_refused() -> None:
    with pytest.raises(ValueError, match="filters: it has no flag"):
        command_words(RetrieverTrainOptions(ranker="both", network=RelevanceOptions(filters=3)))
