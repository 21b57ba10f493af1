"""Views of a training of a screen, and of texts that were screened."""

from __future__ import annotations

from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.explain import column_setting, counted
from postil.messages import Blank, Listed, Message, Setting
from postil.results.formats import excerpt, short, value_with_interval
from postil.results.page.blocks import Picture
from postil.results.plots.lines import Curve, curves
from postil.results.table import Count, Interval, Name, Number, Table, Text
from postil.results.views import View
from postil.screening.result import CARRIED, LEAST_OF_A_GROUP, LEAST_OF_A_REASON, ScreenedRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postil.data.parts import Estimate
    from postil.results.plots import Figure
    from postil.screening.result import (
        Disagreement,
        ScreenFairness,
        ScreeningResult,
        ScreenPoint,
        ScreenTrainingResult,
    )

__all__ = ["pictures", "screening", "training"]

TEXT: Final = 60
"""Largest number of characters of a text in a table."""
SHOWN: Final = 8
"""Largest number of reasons that a sentence names."""
FIELDS: Final = (
    *("goal", "threshold", "precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"),
    *("held", "texts"),
)
"""Columns of the points as a table."""
_SPLITS: Final = {
    "date": "by time: each part in time by a fit to earlier ones",
    "author": "by author: no fit has seen the author of a text that it predicts",
    "text": "by text: no fit has seen the text that it predicts",
}


def training(result: ScreenTrainingResult) -> View:
    """Make the view of a training of a screen.

    Args:
        result: The training.
    """
    line = _line(result)
    tables = (
        Table(
            rows=result.points,
            columns=(
                Number("wanted precision", "goal", digits=2),
                Number("threshold", "threshold"),
                Interval("precision", "value", at=attrgetter("precision")),
                Interval("recall", "value", at=attrgetter("recall")),
                Count("held", "held"),
                Count("of", "texts"),
                Number("share", lambda one: one.held / one.texts if one.texts else None),
            ),
        ),
        Table(
            rows=result.groups,
            columns=(
                Name("texts", lambda one: f"{one.name} characters" if one.by == "length" else one.name),
                Count("number", "texts"),
                Number("base rate", "base_rate"),
                Interval("AUC", "value", at=attrgetter("auc")),
                Interval("precision", "value", at=attrgetter("precision")),
                Interval("recall", "value", at=attrgetter("recall")),
            ),
        ),
        Table(
            rows=result.reasons,
            columns=(
                Name("reason", "name"),
                Count("texts", "texts"),
                Interval("AUC", "value", at=attrgetter("auc")),
            ),
        ),
        Table(
            rows=result.fairness if any(one.texts for one in result.fairness) else (),
            columns=(
                Name("kept texts that name", _named),
                Count("number", "texts"),
                Interval("held", "value", at=attrgetter("held")),
                Interval("of the others", "value", at=attrgetter("others_held")),
                Interval("difference", "value", at=attrgetter("difference")),
                Number("probability", "probability"),
                Number("of the others", "others_probability"),
            ),
        ),
    )
    grids = [table for table in tables if table.rows]
    excerpts, whole = (
        [_disagreements(result, text)] if result.disagreements else [] for text in (_excerpt, attrgetter("text"))
    )
    return View(
        line=line,
        rows=list(map(_flat, result.points)),
        fields=FIELDS,
        grids=[*grids, *excerpts],
        documents=[*grids, *whole],
        findings=[_threshold(result), _takes_over(result), *_answers(result), *_fairness(result)],
        head=line,
        remarks=[
            f"predicted {_SPLITS[result.split]}",
            "each precision is measured with thresholds that were chosen on other texts",
            *_languages(result),
            *_untold(result),
            *map(str, result.excluded),
            *result.notes,
        ],
        cards=[(f"disagreement: {one.text}", _about(one)) for one in result.disagreements],
        carded=len(grids),
    )


def _disagreements(result: ScreenTrainingResult, text: Callable[[Disagreement], str]) -> Table:
    return Table(
        rows=result.disagreements,
        columns=(
            Name("disagreement", text),
            Text("moderators", "decision"),
            Number("probability", "probability"),
            Text("row", "row"),
            Text("id", "id"),
        ),
    )


def _excerpt(one: Disagreement | ScreenedRow) -> str:
    return excerpt(one.text, TEXT)


def _about(one: Disagreement) -> str:
    """The line below the text of a disagreement."""
    said = (f"moderators {one.decision}", f"probability {short(one.probability)}", one.row, one.id, one.reason)
    return " · ".join(filter(None, said))


def _flat(point: ScreenPoint) -> dict[str, object]:
    """A point as a row of a table, with the ends of its intervals beside it."""
    ends = {
        f"{name}{end}": None if found is None else getattr(found, end.removeprefix("_") or "value")
        for name, found in (("precision", point.precision), ("recall", point.recall))
        for end in ("", "_low", "_high")
    }
    return {"goal": point.goal, "threshold": point.threshold, **ends, "held": point.held, "texts": point.texts}


def _line(result: ScreenTrainingResult) -> str:
    parts = [counted(result.decisions, "decision"), f"{result.held:,} to hold"]
    if result.auc is not None:
        parts.append(f"AUC {_with_interval(result.auc)} for {counted(result.predicted, 'text')} that no fit has seen")
    return ", ".join(parts)


def _languages(result: ScreenTrainingResult) -> Iterator[str]:
    known = sum(one.texts for one in result.groups if one.by == "language")
    if 0 < known < result.predicted:
        yield (
            f"{known:,} of {counted(result.predicted, 'text')} are in a language of the table; that of the others is "
            f"not known, or has fewer than {LEAST_OF_A_GROUP} texts"
        )


def _untold(result: ScreenTrainingResult) -> Iterator[str]:
    rare = [one for one in result.reasons if one.texts < LEAST_OF_A_REASON and not one.learned]
    if len(rare) > 1:
        yield Message(
            "{count} reasons have fewer than {least} texts each, {texts:,} together, and no probability of their own: "
            "write one word for those that are alike, or learn without reasons: {column}",
            count=len(rare),
            least=LEAST_OF_A_REASON,
            texts=sum(one.texts for one in rare),
            column=column_setting("", {"reason": ""}),
        )
        if all(one.learned for one in result.reasons if one not in rare):
            return
    if not all(one.learned for one in result.reasons):
        yield (
            "reasons without an AUC have no probability of their own: their texts are too few or like the others, or "
            "more reasons are more frequent than a screen learns"
        )


def _threshold(result: ScreenTrainingResult) -> str:
    if result.goal is None:
        return Message(
            "no threshold reaches the wanted precision: texts are held from a probability of {threshold:.2f} on",
            threshold=result.threshold,
        )
    point = next((one for one in result.points if one.goal == result.goal), None)
    if point is not None and point.threshold is not None and point.threshold < result.threshold:
        return Message(
            "texts are held from a probability of {threshold:.2f} on: for a precision of {goal:.2f} it would be "
            "{reached:.3f}, but what moderators rather keep is not held",
            threshold=result.threshold,
            reached=point.threshold,
            goal=result.goal,
        )
    chosen = Message(
        "texts are held from a probability of {threshold:.3f} on, chosen for a precision of {goal:.2f}",
        threshold=result.threshold,
        goal=result.goal,
    )
    if point is None or point.precision is None:
        return chosen
    return Message(
        "{chosen}; measured on {others}, it is {measured}",
        chosen=chosen,
        others=_others(result),
        measured=_with_interval(point.precision, zero=True),
    )


def _others(result: ScreenTrainingResult) -> str:
    """The texts that a threshold is measured on."""
    return "later texts" if result.split == "date" else "other texts"


def _with_interval(found: Estimate, *, zero: bool = False) -> str:
    return value_with_interval(found.value, found.low, found.high, zero=zero)


def _takes_over(result: ScreenTrainingResult) -> str:
    found = result.taken_over
    if found.right is None:
        return Message(
            "for decisions that are right {goal:.0f} % of the time, the screen could take over none: {waiting:,} texts "
            "wait for a person",
            goal=100 * found.goal,
            waiting=found.waiting,
        )
    low, high = (found.right.value if end is None else end for end in (found.right.low, found.right.high))
    return Message(
        "with thresholds chosen for decisions that are right {goal:.0f} % of the time, the screen could take over "
        "{share:.0f} % of {others}: {holds:,} held and {keeps:,} kept, of which {right:.1f} % were right (95 % "
        "interval {low:.1f} to {high:.1f} %); {waiting:,} wait for a person",
        goal=100 * found.goal,
        share=100 * found.share,
        others=_others(result),
        holds=found.holds,
        keeps=found.keeps,
        right=100 * found.right.value,
        low=100 * low,
        high=100 * high,
        waiting=found.waiting,
    )


def _answers(result: ScreenTrainingResult) -> Iterator[str]:
    if result.attributes:
        said = ", ".join(f"{name} by {target}" for name, target in result.attributes.items())
        yield Message("attributes that it answers: {said}", said=said)
    if result.not_toxic is None or not result.reasons:
        return
    others = [one.name for one in result.reasons if one.name not in result.not_toxic]
    shown = [f"'{name}'" for name in others[:SHOWN]]
    shown += [f"{len(others) - SHOWN:,} more"] * (len(others) > SHOWN)
    left_out = [f"'{name}'" for name in result.not_toxic] or ["no reason, as none is called spam or off topic"]
    yield Message(
        "of what is held, TOXICITY leaves out {left_out}, and counts {counted}; {attribute} names one reason instead",
        left_out=Listed(left_out),
        counted=Message("all others: {others}", others=Listed(shown)) if others else "what has no reason",
        attribute=Setting("attribute", Blank("TOXICITY=REASON"), python='["TOXICITY=REASON"]'),
    )


def _named(one: ScreenFairness) -> str:
    match one.by:
        case "kind":
            return one.name
        case "language":
            return f"any group, in {one.name}"
        case "all":
            return "any group"


def _fairness(result: ScreenTrainingResult) -> Iterator[str]:
    """Shares held of the kept texts that name groups of people, and of the others, as sentences."""
    for one in result.fairness:
        if one.by != "all":
            continue
        if not one.texts:
            yield Message("none of {others:,} kept texts names a group of people", others=one.others)
            continue
        if one.held is None or one.others_held is None or one.difference is None:
            yield Message(
                "{count} kept text names groups of people and {others:,} do not: too few to compare what is held of "
                "them",
                "{count:,} kept texts name groups of people and {others:,} do not: too few to compare what is held of "
                "them",
                count=one.texts,
                others=one.others,
            )
            continue
        low, high = (one.difference.value if end is None else end for end in (one.difference.low, one.difference.high))
        yield Message(
            "of what moderators kept, the screen would hold {held:.1f} % where it names groups of people and "
            "{others:.1f} % elsewhere: a difference of {difference:+.1f} points (95 % interval {low:+.1f} to "
            "{high:+.1f})",
            held=100 * one.held.value,
            others=100 * one.others_held.value,
            difference=100 * one.difference.value,
            low=100 * low,
            high=100 * high,
        )
        if one.base_rate is not None and one.others_base_rate is not None:
            yield Message(
                "moderators held {held:.0f} % of all texts that name groups of people and {others:.0f} % of the others",
                held=100 * one.base_rate,
                others=100 * one.others_base_rate,
            )


def screening(result: ScreeningResult) -> View:
    """Make the view of texts that were screened.

    Args:
        result: The texts.
    """
    held = sum(one.decision == "hold" for one in result.rows)
    lacking = [name for name in CARRIED if all(getattr(one, name) is None for one in result.rows)]
    fields = [name for name in ScreenedRow.__struct_fields__ if name not in lacking]
    nested = [{name: getattr(one, name) for name in fields} for one in result.rows]
    return View(
        line=f"{counted(len(result.rows), 'text')}, {held:,} to hold",
        rows=[{**row, "reasons": _reasons(one)} for row, one in zip(nested, result.rows, strict=True)],
        fields=fields,
        grids=[_screened(result, Text("text", _excerpt))],
        documents=[_screened(result, Text("text", "text"))],
        nested=nested,
        cards=[
            (one.text, " · ".join(filter(None, [one.id, one.decision, short(one.probability), _reasons(one)])))
            for one in result.rows
        ],
    )


def _screened(result: ScreeningResult, text: Text) -> Table:
    return Table(
        key="texts",
        rows=result.rows,
        columns=(
            Name("id", "id"),
            Text("decision", "decision"),
            Number("probability", "probability"),
            Text("reasons", _reasons),
            text,
        ),
    )


def _reasons(one: ScreenedRow) -> str:
    """Reasons of a text that is held, the most probable first, down to a half of the first."""
    ordered = sorted(one.reasons.items(), key=itemgetter(1), reverse=True) if one.decision == "hold" else []
    return ", ".join(f"{name} {value:.2f}" for name, value in ordered if value >= ordered[0][1] / 2)


def _precision(result: ScreenTrainingResult) -> Figure:
    """Draw precision against recall."""
    found = {one.recall.value: one.precision for one in result.points if one.recall and one.precision}
    x = np.array(sorted(found))
    y, low, high = (
        np.array([found[at].value if (end := getattr(found[at], name)) is None else end for at in x.tolist()])
        for name in ("value", "low", "high")
    )
    return curves(
        [Curve("screen", x, y, low, high)],
        xlabel="recall: share of what moderators held",
        ylabel="precision: share of what is held",
    )


def pictures(result: ScreenTrainingResult) -> Iterator[Picture]:
    """The picture of precision against recall, if there is something to draw.

    Args:
        result: The training.
    """
    if sum(one.precision is not None for one in result.points) > 1:
        title = "Precision by recall"
        yield Picture("precision", title, title, title, partial(_precision, result))
