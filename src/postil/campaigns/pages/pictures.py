"""Small charts for the pages of leads: SVG without inline styles, so that style sheet and content policy apply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.campaigns.quality_result import AnnotatorQuality
    from postil.comparison.preferences_result import PreferredSystem
    from postil.estimation.result import SystemEstimate
    from postil.meta.parts import Rater
    from postil.results.parts import Estimate

__all__ = ["heat", "histogram", "means", "paths", "severities", "shares"]

WIDTH, HEIGHT, FOOT = 220, 110, 18
NAME_LENGTH = 15


def histogram(labels: Sequence[str], counts: Sequence[int], title: str) -> Markup:
    """Draw a histogram: bars with a label below and a count above each.

    Args:
        labels: The grades.
        counts: Number of ratings with each grade.
        title: Description, for screen readers.
    """
    most, step = max([*counts, 1]), WIDTH / len(counts)
    parts = []
    for place, (label, count) in enumerate(zip(labels, counts, strict=True)):
        tall = (HEIGHT - FOOT - 16) * count / most
        middle = (place + 0.5) * step
        parts += [
            Markup('<rect class="fill" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2"/>').format(
                place * step + 3, HEIGHT - FOOT - tall, step - 6, tall
            ),
            _text(middle, HEIGHT - 4, label),
            _text(middle, HEIGHT - FOOT - tall - 4, f"{count:,}", "quiet"),
        ]
    return _svg(WIDTH, HEIGHT, title, parts)


def severities(
    annotators: Sequence[Rater] | Sequence[AnnotatorQuality], name: str, value: str, title: str
) -> Markup | None:
    """Draw estimates with confidence intervals around zero, one per line; None where there are none.

    Args:
        annotators: The annotators.
        name: Field of their names.
        value: Field of their estimates, which may be None.
        title: Description, for screen readers.
    """
    estimates: list[tuple[str, Estimate | None]] = [(getattr(each, name), getattr(each, value)) for each in annotators]
    drawn = [(who, one.value, one.low, one.high) for who, one in estimates if one is not None]
    if not drawn:
        return None
    far = max([0.25, *(abs(end) for _, *ends in drawn for end in ends if end is not None)])
    return _intervals(drawn, (-far, 0.0, far), title, _signed, lines=(0.0,))


def means(systems: Sequence[SystemEstimate] | Sequence[PreferredSystem], value: str, title: str) -> Markup:
    """Draw means with confidence intervals, one per line.

    Args:
        systems: The systems.
        value: Field of their means.
        title: Description, for screen readers.
    """
    rows = [(each.system, getattr(each, value), each.low, each.high) for each in systems]
    ends = [end for _, *numbers in rows for end in numbers if end is not None]
    low = math.floor(min(ends))
    ticks = [float(grade) for grade in range(low, max(math.ceil(max(ends)), low + 1) + 1)]
    return _intervals(rows, ticks, title, lambda value: f"{value:.2f}".replace("-", "−"), lines=ticks)


def _intervals(
    rows: Sequence[tuple[str, float, float | None, float | None]],
    ticks: Sequence[float],
    title: str,
    shown: Callable[[float], str],
    *,
    lines: Sequence[float],
) -> Markup:
    """Values with intervals, one per line, on an axis with ticks and vertical lines.

    Places are shares of the width, so that the chart fills any screen and its letters keep their size.
    """
    left, wide, line = 30.0, 56.0, 26
    middle, half = (ticks[0] + ticks[-1]) / 2, 1.1 * (ticks[-1] - ticks[0]) / 2
    height = line * len(rows) + 24

    def x(value: float) -> str:
        return f"{left + wide * (value - middle + half) / (2 * half):.1f}%"

    axis = Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="{1}"/>')
    parts = [axis.format(x(value), height - 20) for value in lines]
    for place, (name, value, low, high) in enumerate(rows):
        y = line * place + 14
        short = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"
        parts.append(Markup('<text x="0" y="{}"><title>{}</title>{}</text>').format(y + 4, name, short))
        if low is not None and high is not None:
            drawn = Markup('<line class="bar-line" x1="{}" x2="{}" y1="{y}" y2="{y}"/>')
            parts.append(drawn.format(x(low), x(high), y=y))
        parts.append(Markup('<circle class="fill" cx="{}" cy="{}" r="4"/>').format(x(value), y))
        parts.append(_text("94%", y + 4, shown(value)))
    parts += [_text(x(value), height - 4, shown(value), "quiet") for value in ticks]
    whole = Markup('<svg class="fluid" width="100%" height="{}" role="img" aria-label="{}">{}</svg>')
    return whole.format(height, title, Markup("").join(parts))


def _bars(rows: Sequence[tuple[str, float, str]], title: str) -> Markup:
    """Shares as horizontal bars from 0 to 1, one per line, each with its name and label."""
    left, wide, line = 36, 118, 24
    parts = []
    for place, (name, share, label) in enumerate(rows):
        y, filled = line * place + 4, wide * max(0.0, min(1.0, share))
        bar = Markup('<rect class="{}" x="{}" y="{}" width="{:.1f}" height="16" rx="2"/>')
        parts += [
            Markup('<text x="0" y="{}">{}</text>').format(y + 12, name[:5]),
            bar.format("track", left, y, wide),
            bar.format("fill", left, y, filled),
            Markup('<text x="{}" y="{}">{}</text>').format(left + wide + 8, y + 12, label),
        ]
    return _svg(left + wide + 52, line * len(rows) + 4, title, parts)


def _courses(lines: Sequence[tuple[str, Sequence[float]]], far: float, title: str) -> Markup:
    """Values around zero from left to right, up to a largest one; each line has its class."""
    left, wide, high = 44, WIDTH - 44, HEIGHT

    def y(value: float) -> float:
        return high / 2 - (high / 2 - 8) * max(-1.0, min(1.0, value / far))

    rule = Markup('<line class="axis" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>')
    dot = Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="2.5"/>')
    parts = [rule.format(left, left + wide, y(value)) for value in (-far, 0.0, far)]
    parts += [_text(left - 24, y(value) + 4, _signed(value), "quiet") for value in (-far, 0.0, far)]
    for kind, values in lines:
        step = wide / max(1, len(values) - 1)
        points = [(left + step * place, y(value)) for place, value in enumerate(values)]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
        parts.append(Markup('<polyline class="{}" points="{}"/>').format(kind, path))
        parts += [dot.format(kind, *point) for point in points]
    return _svg(left + wide + 8, high, title, parts)


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
            yield title, _bars([(name, value, form.format(value).replace("%", " %")) for name, value in rows], title)


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
        yield one, _courses(lines, far, title.format(name=one.annotator))


def heat(counts: Sequence[Sequence[int]]) -> list[list[tuple[int, int]]]:
    """Pair each count with the strength of its color, from 0 to 10.

    Args:
        counts: Rows of counts.

    >>> heat([[4, 1], [1, 0]])
    [[(4, 10), (1, 3)], [(1, 3), (0, 0)]]
    """
    most = max((count for row in counts for count in row), default=0) or 1
    return [[(count, -(-10 * count // most)) for count in row] for row in counts]


def _text(x: float | str, y: float, words: str, kind: str = "") -> Markup:
    drawn = Markup('<text x="{}" y="{:.1f}" text-anchor="middle" class="{}">{}</text>')
    return drawn.format(x if isinstance(x, str) else f"{x:.1f}", y, kind, words)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if value else "0"


def _svg(width: float, height: float, title: str, parts: Sequence[Markup]) -> Markup:
    whole = Markup('<svg viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>')
    return whole.format(width, height, width, height, title, Markup("").join(parts))
