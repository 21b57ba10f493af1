"""Meanings of the labels of classifiers."""

from __future__ import annotations

import pytest

from postil.errors import UnknownName, UsageError
from postil.messages import COMMAND_LINE
from postil.screening.classifier_labels import default_meanings, label_meanings, read_meanings

TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")


@pytest.mark.parametrize(
    ("labels", "exclusive", "held"),
    [
        (TOXIC, False, TOXIC),
        (("toxic",), False, ("toxic",)),
        (("LABEL_0", "LABEL_1"), True, ("LABEL_1",)),
        (("0", "1"), True, ("1",)),
        (("LABEL_0", "LABEL_1", "LABEL_2"), False, ("LABEL_0", "LABEL_1", "LABEL_2")),
        (("neutral", "toxic"), True, ("toxic",)),
        (("non-toxic", "toxic"), True, ("toxic",)),
        (("NonToxic", "Toxic"), True, ("Toxic",)),
        (("nothate", "hate"), True, ("hate",)),
        (("NOT", "OFF"), True, ("OFF",)),
        (("not_offensive", "offensive"), True, ("offensive",)),
        (("hate speech", "offensive language", "neither"), True, ("hate speech", "offensive language")),
        (("OFFENSE", "OTHER"), True, ("OFFENSE",)),
        (("ham", "spam"), True, ("spam",)),
        (("nichtToxisch", "Toxisch"), True, ("Toxisch",)),
        (("normal", "not safe for work"), True, ("not safe for work",)),
        (("safe", "nuisance"), True, ("nuisance",)),
        (("clean", "notorious troll"), True, ("notorious troll",)),
    ],
)
def test_labels_that_hold_a_text_by_their_names(
    labels: tuple[str, ...], exclusive: bool, held: tuple[str, ...]
) -> None:
    assert default_meanings(labels, exclusive=exclusive) == dict.fromkeys(held, "hold")


@pytest.mark.parametrize(
    ("labels", "exclusive"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), True),
        (("anger", "joy"), True),
        (("NEGATIVE", "POSITIVE"), True),
        (("negative", "neutral", "positive"), True),
        (("neutral", "ok"), True),
        (("neutral",), False),
    ],
)
def test_names_that_do_not_tell_it(labels: tuple[str, ...], exclusive: bool) -> None:
    with pytest.raises(UsageError, match="do not tell for which a text is held") as caught:
        default_meanings(labels, exclusive=exclusive)
    assert caught.value.words(COMMAND_LINE).endswith("say it by --classifier-labels LABEL=hold")


def test_meanings_in_the_words_of_a_site() -> None:
    written = " insult = Beleidigung ,toxic=hold,obscene=keep"
    wanted = {"toxic": "hold", "insult": "Beleidigung"}
    assert label_meanings(written, TOXIC, exclusive=False) == wanted
    assert list(label_meanings(written, TOXIC, exclusive=False)) == ["toxic", "insult"]
    assert label_meanings(wanted, TOXIC, exclusive=False) == wanted
    assert label_meanings(None, TOXIC, exclusive=False) == dict.fromkeys(TOXIC, "hold")
    assert read_meanings('"hate, threat=illegal", a=b=c') == {"hate, threat": "illegal", "a=b": "c"}


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("toxic", "expected LABEL=MEANING, as in toxic=hold,insult=insult, got 'toxic'"),
        ("", "expected LABEL=MEANING, .* got ''"),
        ("toxic=hold,", "expected LABEL=MEANING, .* got ''"),
        ("=hold", "expected LABEL=MEANING, .* got '=hold'"),
        ("toxic=", "label 'toxic' has no meaning, expected hold, keep or a reason"),
        ("toxic=hold,toxic=insult", "label 'toxic' is there twice"),
        ("toxic=keep", "no label is left for which a text is held"),
    ],
)
def test_what_is_written_wrong(written: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"classifier_labels: {problem}"):
        label_meanings(written, TOXIC, exclusive=False)


def test_labels_that_the_classifier_lacks() -> None:
    for written in ("insults=hold", {"insults": "hold"}):
        with pytest.raises(UnknownName, match=r"unknown label of the classifier 'insults'; did you mean 'insult'\?"):
            label_meanings(written, TOXIC, exclusive=False)
    with pytest.raises(UsageError, match="label 'toxic' has no meaning"):
        label_meanings({"toxic": " "}, TOXIC, exclusive=False)
