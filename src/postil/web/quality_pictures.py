"""Charts of the page of quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.web.pictures import bars, courses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markupsafe import Markup

    from postil.records.results import AnnotatorQuality

__all__ = ["paths", "shares"]


def shares(annotators: Sequence[AnnotatorQuality], _: Callable[[str], str]) -> Iterator[tuple[str, Markup]]:
    """Charts of shares and of competence, each with its title.

    Args:
        annotators: The annotators.
        _: Function that translates a text.
    """
    gold = [(one.annotator, one.gold.equal) for one in annotators if one.gold]
    again = [(one.annotator, one.repeated.equal) for one in annotators if one.repeated]
    fast = [(one.annotator, one.fast) for one in annotators if one.fast is not None]
    competence = [(one.annotator, one.competence) for one in annotators if one.competence is not None]
    for title, rows, form in (
        (_("Gold items with the grade of the label"), gold, "{:.0%}"),
        (_("Repeated items with the same grade"), again, "{:.0%}"),
        (_("Ratings that are too fast"), fast, "{:.0%}"),
        (_("Competence"), competence, "{:.2f}"),
    ):
        if rows:
            yield title, bars([(name, value, form.format(value).replace("%", " %")) for name, value in rows], title)


def paths(annotators: Sequence[AnnotatorQuality], _: Callable[[str], str]) -> Iterator[tuple[AnnotatorQuality, Markup]]:
    """Annotators with two windows or more, each with a chart of agreement over time; all charts have one scale.

    Args:
        annotators: The annotators.
        _: Function that translates a text.
    """
    several = [one for one in annotators if len(one.windows) > 1]
    far = max([0.5, *(max(each.apart, abs(each.above or 0.0)) for one in several for each in one.windows)])
    title = _("Difference of {name} from the others over time")
    for one in several:
        above = [each.above for each in one.windows if each.above is not None]
        lines = [("apart", [each.apart for each in one.windows]), *([("above", above)] if above else [])]
        yield one, courses(lines, far, title.format(name=one.annotator))
