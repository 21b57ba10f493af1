"""Charts of the page of quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.web.pictures import bars, courses, severities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markupsafe import Markup

    from postil.records.results import AnnotatorQuality, QualityResult

__all__ = ["quality_pictures"]


def quality_pictures(found: QualityResult, _: Callable[[str], str]) -> dict[str, object]:
    """Charts of shares, of agreement over time, and of drift.

    Args:
        found: The quality of the annotators.
        _: Function that translates a sentence.
    """
    drifting = [(one.annotator, one.drift) for one in found.annotators if one.drift is not None]
    return {
        "shares": [(title, bars(rows, title)) for title, rows in _shares(found.annotators, _) if rows],
        "courses": list(_courses(found.annotators, _)),
        "drift": severities(drifting, _("Drift of each annotator, with 95 % intervals")) if drifting else "",
    }


def _shares(
    annotators: Sequence[AnnotatorQuality], _: Callable[[str], str]
) -> Iterator[tuple[str, list[tuple[str, float, str]]]]:
    """Titles of the bar charts, with their rows."""
    gold = [(one.annotator, one.gold.equal) for one in annotators if one.gold]
    again = [(one.annotator, one.repeated.equal) for one in annotators if one.repeated]
    fast = [(one.annotator, one.fast) for one in annotators if one.fast is not None]
    competence = [(one.annotator, one.competence) for one in annotators if one.competence is not None]
    for title, rows in (
        (_("Gold items with the grade of the label"), gold),
        (_("Repeated items with the same grade"), again),
        (_("Ratings that are too fast"), fast),
    ):
        yield title, [(name, share, f"{100 * share:.0f} %") for name, share in rows]
    yield _("Competence"), [(name, value, f"{value:.2f}") for name, value in competence]


def _courses(
    annotators: Sequence[AnnotatorQuality], _: Callable[[str], str]
) -> Iterator[tuple[AnnotatorQuality, Markup]]:
    """Annotators with two windows or more, each with a chart; all charts have one scale."""
    several = [one for one in annotators if len(one.windows) > 1]
    far = max([0.5, *(max(each.apart, abs(each.above or 0.0)) for one in several for each in one.windows)])
    title = _("Difference of {name} from the others over time")
    for one in several:
        above = [each.above for each in one.windows if each.above is not None]
        lines = [("apart", [each.apart for each in one.windows]), *([("above", above)] if above else [])]
        yield one, courses(lines, far, title.format(name=one.annotator))
