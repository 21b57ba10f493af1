"""First suggestions against labels: how often an editor would show what a filter or a language model chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from postil.data.suggestions import majority
from postil.errors import Undefined
from postil.meta.significance import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.data.suggestions import Label, Suggestions

__all__ = ["FirstChoices", "first_choices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstChoices:
    """Precision of first suggestions that have a label, with Wilson's 95 % interval.

    Args:
        articles: Number of articles.
        suggested: Number of articles with a suggestion.
        labeled: Number of these whose first suggestion has a label.
        shown: Number of those that an editor would show.
        precision: Share of the labeled first suggestions that an editor would show, from 0 to 1.
        low: Lower end of its interval, for independent articles.
        high: Upper end.
    """

    articles: int
    suggested: int
    labeled: int
    shown: int
    precision: float
    low: float
    high: float


def first_choices(suggestions: Iterable[Suggestions], labels: Iterable[Label]) -> FirstChoices:
    """Compute the precision of first suggestions on labeled texts.

    Several answers about one text are that of most annotators; ties count as no label. Compare two ways to choose on
    the same articles, by labels that neither has learned from.

    Args:
        suggestions: The suggestions for each article, such as rows of ``postil comment --format jsonl``.
        labels: The labels.

    Raises:
        Undefined: No first suggestion has a label.

    >>> from postil.data.suggestions import Label, Provenance, Suggestion, Suggestions
    >>> texts = ["Bring a coat.", "Me too!", "The river was higher in May."]
    >>> origin = Provenance.retrieved("ir-t", "8d0c", [])
    >>> rows = [Suggestions(f"a{at}", (Suggestion(text, 1.0, 1, origin),)) for at, text in enumerate(texts)]
    >>> found = first_choices(rows, [Label("a0", texts[0], show=True), Label("a1", texts[1], show=False)])
    >>> found.suggested, found.labeled, found.precision, round(found.low, 2), round(found.high, 2)
    (3, 2, 0.5, 0.09, 0.91)
    """
    answers = majority(labels).answers
    rows = list(suggestions)
    first = [(row.article, row.suggestions[0].text) for row in rows if row.suggestions]
    known = [answers[one] for one in first if one in answers]
    if not known:
        raise Undefined(f"none of {len(first):,} first suggestions has a label")
    low, high = wilson_interval(sum(known), len(known))
    return FirstChoices(
        articles=len(rows),
        suggested=len(first),
        labeled=len(known),
        shown=sum(known),
        precision=sum(known) / len(known),
        low=low,
        high=high,
    )
