"""Learning a screen from decisions without their texts: targets, thresholds, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import Undefined, UnknownName, UsageError
from postil.messages import Setting
from postil.screening.decisions import NONE
from postil.screening.evaluation import Predicted, area, share
from postil.screening.fairness import compared, kinds_named, packaged_terms
from postil.screening.fit import Calibration, LearnedWeights, SplitBy, cross_fitted, fitted, split_texts
from postil.screening.model import HOLD, ScreenSettings, Target
from postil.screening.result import (
    LEAST_OF_A_GROUP,
    LEAST_OF_A_REASON,
    ScreenFairness,
    ScreenGroup,
    ScreenPoint,
    ScreenReason,
    TakenOver,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from postil.data.parts import Estimate
    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.screening.decisions import Decisions
    from postil.screening.fairness import GroupTerm

__all__ = ["ATTRIBUTES", "LearnedScreen", "ScreenReport", "answered", "learn", "named_attributes"]

HALF: Final = 0.5
"""Smallest threshold: what moderators rather keep is not held, however right that would be of all that is held.

On spam of which half is held, in nearly perfect order, the lowest threshold with a precision of .9 is .27: a threshold
that uses up the mistakes it is allowed holds comments for nothing."""
LEAST: Final = 50
"""Smallest number of decisions that a screen is learned from."""
LEAST_OF_A_KIND: Final = 10
"""Smallest number of texts that were held, and that were kept."""
MOST_REASONS: Final = 20
"""Largest number of reasons that are learned."""
GOALS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Precisions that are told, beside the one that is wanted."""
SURE: Final = 0.99
"""Precision at which decisions are taken over."""
COMPARED: Final = 20_000
"""Largest number of decisions that fits are compared on, so that an evaluation takes no longer than the training."""
LENGTHS: Final = (0, 40, 150, 500)
"""Numbers of characters at which lengths are parted."""
MOSTLY: Final = 0.05
"""Smallest share of the decisions in a language that a screen is said to have learned."""

_TOXICITY: Final = "TOXICITY"
ATTRIBUTES: Final = (_TOXICITY, "SEVERE_TOXICITY", "INSULT", "PROFANITY", "THREAT", "IDENTITY_ATTACK", "SPAM")
"""Attributes that a screen may answer, as Perspective names them."""
_BY_NAME: Final = ("insult", "profanity", "spam")
"""Names of reasons that are attributes of their own."""
_HARMLESS: Final = frozenset(("spam", "off topic"))
"""Names of reasons that say nothing of toxicity."""
_OTHER: Final = "hold but for spam and off topic"
"""Name of the target that is a decision for another reason than these."""


@dataclass(frozen=True, slots=True, eq=False)
class ScreenReport:
    """Evaluation of a screen on texts that its fits have not seen; see `postil.screening.result.ScreenTrainingResult`.

    Args:
        split: Property that parts the texts that a fit has seen from those that it predicts.
        probabilities: float64[n], by fits that have not seen the texts; NaN where none predicts.
        base_rate: Share of the predicted texts that moderators held.
        auc: Area under the ROC curve.
        goal: Precision that the threshold is chosen for; None where no threshold reaches it.
        points: Precision against recall.
        taken_over: Decisions that it could take over.
        groups: Texts by language and length.
        reasons: Reasons.
        not_toxic: Reasons that TOXICITY leaves out; None where nothing answers it, or a reason that the user named.
        fairness: Kept texts that name groups of people, beside the others.
    """

    split: SplitBy
    probabilities: Floats
    base_rate: float
    auc: Estimate | None
    goal: float | None
    points: tuple[ScreenPoint, ...]
    taken_over: TakenOver
    groups: tuple[ScreenGroup, ...]
    reasons: tuple[ScreenReason, ...]
    not_toxic: tuple[str, ...] | None
    fairness: tuple[ScreenFairness, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedScreen:
    """A screen that was learned, to be written.

    Args:
        settings: Its settings.
        weights: Logits of its targets.
        report: Its evaluation.
    """

    settings: ScreenSettings
    weights: LearnedWeights
    report: ScreenReport


def named_attributes(words: Sequence[str]) -> dict[str, str]:
    """The reasons that a user names for attributes.

    Args:
        words: ``NAME=REASON``, each.

    Raises:
        UnknownName: There is no such attribute.
        UsageError: A word names no reason, or an attribute twice.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, reason = word.partition("=")
        if not equals or not reason.strip():
            raise UsageError("{attribute}: expected NAME=REASON", attribute=Setting("attribute", word))
        UnknownName.check("attribute", name, ATTRIBUTES)
        if name in found:
            raise UsageError("{attribute}: given twice", attribute=Setting("attribute", name))
        found[name] = reason.strip()
    return found


def answered(decisions: Decisions, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes whose named reasons have enough texts to be learned.

    Args:
        decisions: The decisions.
        attributes: Reasons that the user named for attributes.
    """
    counts = _counts(decisions)
    learned = {name for name, n in zip(decisions.reasons, counts, strict=True) if n >= LEAST_OF_A_REASON} | {HOLD}
    return {name: reason for name, reason in attributes.items() if reason in learned}


def _counts(decisions: Decisions) -> Int64s:
    """Number of texts of each reason."""
    return np.bincount(decisions.reason[decisions.reason != NONE], minlength=len(decisions.reasons))


def learn(
    decisions: Decisions,
    precision: float,
    attributes: Mapping[str, str],
    read: Collection[str] = (),
    terms: Sequence[GroupTerm] = (),
) -> LearnedScreen:
    """Learn a screen.

    Args:
        decisions: The decisions.
        precision: Smallest share of what is held that moderators would hold, for which the threshold is chosen.
        attributes: Reasons that the user names for attributes.
        read: Reasons that a classifier reads, for those that the decisions do not teach.
        terms: Terms that name groups of people; by default those of the package in the languages of the decisions.

    Raises:
        Undefined: The decisions are too few or of one kind, or what is held cannot be told from what is kept.
        UnknownName: A named reason is none of the decisions.
        UsageError: A named reason has too few texts.
        MissingExtra: scikit-learn is not installed.
    """
    _check(decisions)
    rows = _compared(decisions)
    seen = decisions.take(rows) if len(rows) < len(decisions) else decisions
    names = _targets(seen, {name: one for name, one in attributes.items() if one not in read})
    targets = _columns(seen, names)
    split = split_texts(seen.dates, seen.author, seen.text)
    logits = cross_fitted(seen.texts, targets, split)
    clusters = seen.clusters
    predicted = [Predicted.of(column, held, clusters, split) for column, held in zip(logits.T, targets.T, strict=True)]
    found = [_calibrated(each) for each in predicted]
    calibration, first = found[0], predicted[0]
    if calibration is None:
        raise Undefined(
            "what is held cannot be told from what is kept by these decisions: among texts that no fit has seen, their "
            "order is no better than chance; decide on more texts, by what they say"
        )
    # A reason whose order is no better than chance has no probability.
    told = {at: each for at, each in enumerate(found) if each is not None}
    threshold = first.threshold(precision)
    taught = {names[at] for at in told}
    read_reasons = tuple(dict.fromkeys(reason for reason in read if reason not in taught))
    settings = ScreenSettings(
        targets=tuple(
            Target(
                name=names[at], slope=each.slope, offset=each.offset, reason=names[at] in decisions.reasons and at > 0
            )
            for at, each in told.items()
        ),
        threshold=HALF if threshold is None else max(HALF, calibration.probability(threshold)),
        attributes=_attributes([*(names[at] for at in told), *read_reasons], attributes),
        read_reasons=read_reasons,
        languages=_languages(decisions),
        reasons=decisions.reasons,
        all_languages=decisions.languages,
    )
    beyond, measured = first.decided(precision)
    likely = calibration.probabilities(first.logits) >= HALF
    beyond, measured = (likely, np.ones(len(first), bool)) if threshold is None else (beyond & likely, measured)
    probabilities = np.full(len(decisions), np.nan)
    probabilities[rows] = calibration.probabilities(logits[:, 0])
    told_rows = np.flatnonzero(~np.isnan(logits[:, 0]))
    report = ScreenReport(
        split=split.by,
        probabilities=probabilities,
        base_rate=float(first.held.mean()),
        auc=area(first.logits, first.held, first.cluster),
        goal=None if threshold is None else precision,
        points=tuple(_points(first, calibration, precision)),
        taken_over=_taken_over(first, calibration),
        groups=tuple(_groups(seen, told_rows, first, beyond, measured)),
        reasons=_reasons(decisions, {names[at]: predicted[at] for at in told if at}),
        not_toxic=None if _TOXICITY in attributes or _TOXICITY not in settings.attributes else _harmless(decisions),
        fairness=tuple(
            compared(
                first,
                calibration.probabilities(first.logits),
                settings.threshold,
                kinds_named(seen.texts.counts.take(told_rows), terms or packaged_terms(settings.languages)),
                _of_languages(seen, told_rows, settings.languages),
            )
        ),
    )
    return LearnedScreen(settings, fitted(decisions.texts, _columns(decisions, [names[at] for at in told])), report)


def _check(decisions: Decisions) -> None:
    n, held = len(decisions), int(decisions.held.sum())
    if n < LEAST or min(held, n - held) < LEAST_OF_A_KIND:
        wanted = f"a screen needs at least {LEAST}, with {LEAST_OF_A_KIND} of each kind"
        raise Undefined(f"{n:,} decisions, {held:,} to hold and {n - held:,} to keep: {wanted}; add more decisions")


def _targets(decisions: Decisions, attributes: Mapping[str, str]) -> list[str]:
    """Names of the targets: the decision, then each reason with enough texts, then `_OTHER` where reasons tell it."""
    counts = _counts(decisions)
    for name, reason in attributes.items():
        if reason == HOLD:
            continue
        UnknownName.check("reason", reason, (*decisions.reasons, HOLD))
        if (n := int(counts[decisions.reasons.index(reason)])) < LEAST_OF_A_REASON:
            problem = f"expected a reason with at least {LEAST_OF_A_REASON} texts, got {n}"
            raise UsageError(
                "{attribute}: {problem}", attribute=Setting("attribute", f"{name}={reason}"), problem=problem
            )
    frequent = np.argsort(-counts, kind="stable")[:MOST_REASONS]
    chosen = [int(at) for at in frequent if counts[at] >= LEAST_OF_A_REASON and decisions.reasons[at] != HOLD]
    names = [HOLD, *(decisions.reasons[at] for at in chosen)]
    if _harmless(decisions):
        names += [_OTHER] * bool(_columns(decisions, [_OTHER]).sum() >= LEAST_OF_A_REASON)
    return names


def _columns(decisions: Decisions, names: Sequence[str]) -> Booleans:
    """Targets of the decisions, bool[n, t], by their names."""
    found = {HOLD: decisions.held}
    found |= {name: decisions.reason == at for at, name in enumerate(decisions.reasons) if name not in found}
    harmless = [at for at, name in enumerate(decisions.reasons) if _plain(name) in _HARMLESS]
    found[_OTHER] = decisions.held & ~np.isin(decisions.reason, harmless)
    return np.stack([found[name] for name in names], axis=1)


def _compared(decisions: Decisions) -> Int64s:
    """Positions of the decisions that a screen is evaluated on, ascending: at most `COMPARED`, evenly over time."""
    if len(decisions) <= COMPARED:
        return np.arange(len(decisions))
    order = np.argsort(np.nan_to_num(decisions.dates, nan=-np.inf), kind="stable")
    return np.sort(order[np.arange(COMPARED) * len(order) // COMPARED])


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


def _harmless(decisions: Decisions) -> tuple[str, ...]:
    """Reasons of the decisions that say nothing of toxicity."""
    counts = _counts(decisions)
    return tuple(name for name, n in zip(decisions.reasons, counts, strict=True) if n and _plain(name) in _HARMLESS)


def _attributes(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """The target of each attribute that is answered, by its name."""
    plain = {_plain(name): name for name in names[1:]}
    found = {one.upper(): plain[one] for one in _BY_NAME if one in plain}
    if _OTHER in names:
        found[_TOXICITY] = _OTHER
    elif _HARMLESS.isdisjoint(plain):
        found[_TOXICITY] = HOLD
    found |= {name: reason for name, reason in given.items() if reason in names}
    return {name: found[name] for name in ATTRIBUTES if name in found}


def _languages(decisions: Decisions) -> tuple[str, ...]:
    """Languages of at least one in twenty of the decisions whose language is known, the most frequent first."""
    known = decisions.language[decisions.language != NONE]
    counts = np.bincount(known, minlength=len(decisions.languages))
    order = np.argsort(-counts, kind="stable")
    return tuple(decisions.languages[at] for at in order if counts[at] >= max(1.0, MOSTLY * len(known)))


def _calibrated(predicted: Predicted) -> Calibration | None:
    """The calibration of a target; None for one kind alone, or an order that is no better than chance."""
    if not predicted.held.any() or predicted.held.all():
        return None
    return Calibration.fit(predicted.logits, predicted.held)


def _points(predicted: Predicted, calibration: Calibration, precision: float) -> Iterator[ScreenPoint]:
    for goal in sorted({*GOALS, precision}):
        threshold = predicted.threshold(goal)
        beyond, measured = predicted.decided(goal)
        right = predicted.held & beyond
        yield ScreenPoint(
            goal=goal,
            threshold=None if threshold is None else calibration.probability(threshold),
            precision=share(right, beyond, predicted.cluster),
            recall=share(right, predicted.held & measured, predicted.cluster),
            held=int(beyond.sum()),
            texts=int(measured.sum()),
        )


def _taken_over(predicted: Predicted, calibration: Calibration) -> TakenOver:
    """Decisions where either kind is right nearly always; a text that both would decide waits for a person."""
    high, low = predicted.threshold(SURE), predicted.kept_first.threshold(SURE)
    holds, measured = predicted.decided(SURE)
    keeps, _ = predicted.kept_first.decided(SURE)
    both = holds & keeps
    holds, keeps = holds & ~both, keeps & ~both
    decided, texts = holds | keeps, int(measured.sum())
    right = (holds & predicted.held) | (keeps & ~predicted.held)
    return TakenOver(
        goal=SURE,
        low=None if low is None else calibration.probability(-low),
        high=None if high is None else calibration.probability(high),
        share=int(decided.sum()) / max(texts, 1),
        right=share(right, decided, predicted.cluster),
        holds=int(holds.sum()),
        keeps=int(keeps.sum()),
        waiting=texts - int(decided.sum()),
    )


def _groups(
    decisions: Decisions, rows: Int64s, predicted: Predicted, beyond: Booleans, measured: Booleans
) -> Iterator[ScreenGroup]:
    """Languages and lengths.

    Args:
        decisions: All decisions.
        rows: int64[p], those that are predicted.
        predicted: Their logits.
        beyond: bool[p], those that are held.
        measured: bool[p], those that are decided on.
    """
    languages = [("language", name, decisions.language[rows] == at) for at, name in enumerate(decisions.languages)]
    place = np.searchsorted(LENGTHS, decisions.lengths[rows], side="left")
    spans = [f"{low + 1}-{high}" for low, high in pairwise(LENGTHS)]
    lengths = [("length", name, place == at) for at, name in enumerate([*spans, f"over {LENGTHS[-1]}"], 1)]
    for by, name, here in (*languages, *lengths):
        if here.sum() < LEAST_OF_A_GROUP:
            continue
        right = predicted.held & beyond & here
        yield ScreenGroup(
            by="language" if by == "language" else "length",
            name=name,
            texts=int(here.sum()),
            base_rate=float(predicted.held[here].mean()),
            auc=area(predicted.logits[here], predicted.held[here], predicted.cluster[here]),
            precision=share(right, beyond & here, predicted.cluster),
            recall=share(right, predicted.held & measured & here, predicted.cluster),
        )


def _of_languages(decisions: Decisions, rows: Int64s, languages: Sequence[str]) -> dict[str, Booleans]:
    """The texts in each of several languages, bool[p]; of one alone nothing is to be told apart."""
    numbers = {name: decisions.languages.index(name) for name in languages} if len(languages) > 1 else {}
    return {name: decisions.language[rows] == number for name, number in numbers.items()}


def _reasons(decisions: Decisions, learned: Mapping[str, Predicted]) -> tuple[ScreenReason, ...]:
    counts = _counts(decisions)
    found = []
    for at in np.argsort(-counts, kind="stable").tolist():
        name, predicted = decisions.reasons[at], learned.get(decisions.reasons[at])
        found.append(
            ScreenReason(
                name=name,
                texts=int(counts[at]),
                learned=predicted is not None,
                auc=None if predicted is None else area(predicted.logits, predicted.held, predicted.cluster),
            )
        )
    return tuple(each for each in found if each.texts)
