"""Small charts for the pages of leads: SVG without inline styles, so that style sheet and content policy apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.records.results import Estimate

__all__ = ["heat", "histogram", "severities"]

WIDTH, HEIGHT, FOOT = 220, 110, 18


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


def severities(rows: Sequence[tuple[str, Estimate]], title: str) -> Markup:
    """Draw estimates with confidence intervals around zero, one per line.

    Args:
        rows: Names with their estimates.
        title: Description, for screen readers.
    """
    ends = [abs(end) for _, one in rows for end in (one.value, one.low, one.high) if end is not None]
    far = max([*ends, 0.25]) * 1.1
    left, wide, line = 130, 420, 26
    height = line * len(rows) + 24

    def x(value: float) -> float:
        return left + wide * (value + far) / (2 * far)

    parts = [Markup('<line class="axis" x1="{0:.1f}" x2="{0:.1f}" y1="0" y2="{1}"/>').format(x(0), height - 20)]
    for place, (name, one) in enumerate(rows):
        y = line * place + 14
        parts.append(Markup('<text x="0" y="{}">{}</text>').format(y + 4, name[:20]))
        if one.low is not None and one.high is not None:
            drawn = Markup('<line class="bar-line" x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}"/>')
            parts.append(drawn.format(x(one.low), x(one.high), y=y))
        parts.append(Markup('<circle class="fill" cx="{:.1f}" cy="{}" r="4"/>').format(x(one.value), y))
        parts.append(_text(left + wide + 34, y + 4, _signed(one.value)))
    parts += [_text(x(value), height - 4, _signed(value), "quiet") for value in (-far / 1.1, 0.0, far / 1.1)]
    return _svg(left + wide + 60, height, title, parts)


def heat(counts: Sequence[Sequence[int]]) -> list[list[tuple[int, int]]]:
    """Pair each count with the strength of its color, from 0 to 10.

    Args:
        counts: Rows of counts.

    >>> heat([[4, 1], [1, 0]])
    [[(4, 10), (1, 3)], [(1, 3), (0, 0)]]
    """
    most = max((count for row in counts for count in row), default=0) or 1
    return [[(count, -(-10 * count // most)) for count in row] for row in counts]


def _text(x: float, y: float, words: str, kind: str = "") -> Markup:
    drawn = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="{}">{}</text>')
    return drawn.format(x, y, kind, words)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if value else "0"


def _svg(width: float, height: float, title: str, parts: Sequence[Markup]) -> Markup:
    whole = Markup('<svg viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>')
    return whole.format(width, height, width, height, title, Markup("").join(parts))
