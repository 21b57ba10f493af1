"""Labels of a text classifier as what a site's moderators do: hold a text, give a reason for it, or keep it."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Final

from postil.data.rows import DECISIONS
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["default_meanings", "label_meanings", "read_meanings"]

KEEP, HOLD = DECISIONS
SETTING: Final = "classifier_labels"
HARMLESS: Final = frozenset(
    {"acceptable", "appropriate", "benign", "clean", "fine", "ham", "harmless", "inoffensive", "legitimate", "neither"}
    | {"neutral", "neutre", "neutro", "nice", "none", "nontoxic", "normal", "nothing", "ok", "okay", "safe", "sfw"}
    | {"unbedenklich"}
)
"""Names of labels of texts that are kept."""
FIRST_OF_TWO: Final = frozenset({"0", "label 0", "other"})
"""Names that mean so where there is one other label."""
FEELINGS: Final = frozenset({"negative", "positive"})
"""Names that say nothing of moderation: a test of toxicity is negative where a mood is positive."""
NEGATIONS: Final = ("kein", "keine", "nicht", "no", "non", "not")


def label_meanings(
    written: str | Mapping[str, str] | None, labels: Sequence[str], *, exclusive: bool
) -> Mapping[str, str]:
    """Meaning of each label of a classifier for which a text is held: ``hold``, or a reason of the site's.

    Args:
        written: As the user wrote it; see `read_meanings`. None for `default_meanings`.
        labels: Labels of the classifier.
        exclusive: True if a text has exactly one of them.

    Returns:
        Meanings by label, in the order of the classifier's; without labels of texts that are kept.

    Raises:
        UsageError: It is not of this form, names a label twice, or no label is left.
        UnknownName: The classifier has no such label.

    >>> label_meanings("insult=Beleidigung, toxic=hold, neutral=keep", ["neutral", "toxic", "insult"], exclusive=True)
    {'toxic': 'hold', 'insult': 'Beleidigung'}
    >>> label_meanings("toxik=hold", ["neutral", "toxic"], exclusive=True)
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown label of the classifier 'toxik'; did you mean 'toxic'? Known: neutral, toxic
    """
    if written is None:
        return default_meanings(labels, exclusive=exclusive)
    meanings = read_meanings(written) if isinstance(written, str) else written
    for label, meaning in meanings.items():
        UnknownName.check("label of the classifier", label, labels)
        if not meaning.strip():
            raise _no_meaning(label)
    found = {label: meanings[label].strip() for label in labels if meanings.get(label, KEEP).strip() != KEEP}
    if not found:
        raise UsageError("{labels}: no label is left for which a text is held", labels=Setting(SETTING))
    return found


def read_meanings(written: str) -> dict[str, str]:
    """Read meanings of labels: ``LABEL=MEANING``, with a comma between them.

    A meaning is ``hold`` for the decision whatever the reason, a reason in the site's own words, or ``keep``. What
    holds a comma stands in quotation marks, as in CSV.

    Args:
        written: As the user wrote it.

    Raises:
        UsageError: It is not of this form, or names a label twice.

    >>> read_meanings('toxic=hold,"hate, threat=illegal"')
    {'toxic': 'hold', 'hate, threat': 'illegal'}
    """
    found: dict[str, str] = {}
    for part in next(csv.reader([written.replace("\n", " ")], skipinitialspace=True), []) or [""]:
        label, equals, meaning = (each.strip() for each in part.rpartition("="))
        if not equals or not label:
            raise UsageError(
                "{labels}: expected LABEL=MEANING, as in toxic=hold,insult=insult, got '{part}'",
                labels=Setting(SETTING),
                part=part.strip(),
            )
        if not meaning:
            raise _no_meaning(label)
        if label in found:
            raise UsageError("{labels}: label '{label}' is there twice", labels=Setting(SETTING), label=label)
        found[label] = meaning
    return found


def default_meanings(labels: Sequence[str], *, exclusive: bool) -> dict[str, str]:
    """``hold`` for each label but those whose names say that a text is kept, such as neutral or non-toxic.

    Args:
        labels: Labels of the classifier.
        exclusive: True if a text has exactly one of them, so that one of them must be for texts that are kept.

    Raises:
        UsageError: Their names do not tell it.

    >>> default_meanings(["nothate", "hate"], exclusive=True), default_meanings(["LABEL_0", "LABEL_1"], exclusive=True)
    ({'hate': 'hold'}, {'LABEL_1': 'hold'})
    """
    plain = {label: _plain(label) for label in labels}
    others = set(plain.values())
    held = [label for label in labels if not _is_harmless(plain[label], others)]
    is_told = 0 < len(held) < len(labels) if exclusive else bool(held)
    if not is_told or FEELINGS & others:
        raise UsageError(
            "the names of the labels {names} do not tell for which a text is held; say it by {labels}",
            names=Listed(tuple(labels)),
            labels=Setting(SETTING, Blank("LABEL=hold")),
        )
    return dict.fromkeys(held, HOLD)


def _plain(label: str) -> str:
    """Name in lower case, with spaces between its words."""
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)).strip().lower()


def _is_harmless(name: str, names: set[str]) -> bool:
    if name in HARMLESS or (len(names) == 2 and name in FIRST_OF_TWO):
        return True
    rests = [name.removeprefix(each) for each in NEGATIONS if name.startswith(each)]
    is_negated = any(not rest or rest[0] == " " or rest in names for rest in rests)
    return is_negated and HARMLESS.isdisjoint(name.split())  # not safe for work


def _no_meaning(label: str) -> UsageError:
    meaning = Message("expected {hold}, {keep} or a reason", hold=HOLD, keep=KEEP)
    return UsageError(
        "{labels}: label '{label}' has no meaning, {meaning}", labels=Setting(SETTING), label=label, meaning=meaning
    )
