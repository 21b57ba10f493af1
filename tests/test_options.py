"""Options as the settings of a command: every option that differs from its default, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from postil.comments.options import (
    GeneratorOptions,
    GeneratorTraining,
    GeneratorTrainOptions,
    RelevanceOptions,
    RetrieverTrainOptions,
)
from postil.messages import Setting
from postil.options import changed_settings


def test_defaults_need_no_words() -> None:
    assert changed_settings(GeneratorTrainOptions()) == changed_settings(RetrieverTrainOptions()) == ()


def test_options_within_options_are_compared_with_their_defaults_there() -> None:
    given = GeneratorTrainOptions(
        seed=7, network=GeneratorOptions(loss="sampled", cell="lstm"), training=GeneratorTraining(epochs=3)
    )
    seed, epochs = Setting("seed", "7"), Setting("epochs", "3")
    assert changed_settings(given) == (seed, Setting("cell", "lstm"), Setting("loss", "sampled"), epochs)
    assert changed_settings(replace(given, network=GeneratorOptions())) == (seed, epochs)


def test_an_option_without_a_flag_is_refused() -> None:
    with pytest.raises(ValueError, match="filters: it has no flag"):
        changed_settings(RetrieverTrainOptions(ranker="both", network=RelevanceOptions(filters=3)))
