"""Tables and small charts of the pages of leads, with words that pages translate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, ClassVar, Final

from markupsafe import Markup

from postil.estimation.view import rank_range
from postil.messages import Message
from postil.meta.parts import STATISTICS, Agreement, PairAgreement, Rater
from postil.results.numbers import DASH
from postil.results.table import Cell, Column, Count, Name, Number, Record, Share, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.campaigns.database import Change
    from postil.campaigns.models import AnnotatorProgress
    from postil.campaigns.result import AnnotatorQuality
    from postil.comparison.result import PreferredSystem
    from postil.data.parts import Estimate
    from postil.estimation.designs import Prospects
    from postil.estimation.result import SystemEstimate
    from postil.raters.result import Consistency

    Made = Callable[[Record], str]

__all__ = [
    "TITLES",
    "annotators",
    "changes",
    "checks",
    "consistency",
    "files",
    "forest",
    "heat",
    "histogram",
    "loads",
    "means",
    "number",
    "others",
    "outlook",
    "pairs",
    "paths",
    "preferred",
    "revisions",
    "severities",
    "shares",
    "statistic",
    "statistics",
    "strengths",
]

TITLES: Final = {
    "agreement": "Percent agreement",
    "within-1": "Adjacent agreement",
    "kappa-unweighted-pairs": "Cohen's kappa, mean of pairs",
    "kappa-linear-pairs": "Cohen's kappa, linear weights, mean of pairs",
    "kappa-quadratic-pairs": "Cohen's kappa, quadratic weights, mean of pairs",
    "kappa-unweighted-pooled": "Scott's pi, pooled",
    "kappa-linear-pooled": "Scott's pi, linear weights, pooled",
    "kappa-quadratic-pooled": "Scott's pi, quadratic weights, pooled",
    "alpha-nominal": "Krippendorff's alpha, nominal",
    "alpha-ordinal": "Krippendorff's alpha, ordinal",
    "alpha-interval": "Krippendorff's alpha, interval",
}
"""Titles of the statistics of agreement."""

SHARES: Final = ("agreement", "within-1")


def number(value: float | None, digits: int = 2) -> str:
    """A number with a minus sign; a dash for None.

    Args:
        value: The number.
        digits: Number of decimals.

    >>> number(-0.125), number(2.5, 0), number(None)
    ('−0.12', '2', '–')
    """
    return DASH if value is None else f"{value:.{digits}f}".replace("-", "−")


Decimal: Final = partial(Number, grade=True)
"""A number with two decimals and its 0 before the point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Text):
    """Words that stand below their head as numbers do.

    Args:
        main: True for what the table is about, which stands out.
        style: Class of style sheets: ``reason`` for sentences, ``left`` for other words; empty for none.
        aside: True if only screen readers read the head.
    """

    words: ClassVar[bool] = False
    main: bool = False
    style: str = ""
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Part(Column):
    """A number and the whole that it is a part of, as a pair."""

    def shown(self, value: tuple[str, int], _row: Record) -> Cell:
        """See `Column`."""
        return Cell("", value[0], Message("of {total}", total=f"{value[1]:,}"))


def between(row: Record) -> Message | None:
    """The confidence interval of a row; None where there is none."""
    if row is None or row.low is None or row.high is None:
        return None
    return Message("{low} to {high}", low=number(row.low), high=number(row.high))


def statistic(found: Agreement, name: str) -> tuple[str, str]:
    """A statistic of agreement and its interval, or a dash and the reason why there is none.

    Args:
        found: The agreement.
        name: Name of the statistic.
    """
    one = found.estimates.get(name)
    if one is None:
        return DASH, found.absent.get(name, "")
    times, digits, unit = (100, 0, " %") if name in SHARES else (1, 2, "")
    value, low, high = (None if x is None else number(times * x, digits) for x in (one.value, one.low, one.high))
    around = Message("{low} to {high}", low=low, high=f"{high}{unit}") if low and high else ""
    return f"{value}{unit}", around


def statistics(found: Agreement, _: Callable[[str], str]) -> Table:
    """The statistics of agreement, each with its definition or the reason why there is none.

    Args:
        found: The agreement.
        _: Function that translates a text.
    """
    rows = []
    for name, title in TITLES.items():
        value, around = statistic(found, name)
        about = "" if STATISTICS[name] == title else _(STATISTICS[name])
        rows.append((_(title), value, *(("", around) if value == DASH else (around, about))))
    columns = (
        Name("Statistic", itemgetter(0)),
        Written("Value", itemgetter(1), main=True),
        Written("95 % confidence interval", itemgetter(2)),
        Written("Definition", itemgetter(3), style="reason"),
    )
    return Table(key="statistics", caption="Statistics", rows=rows, columns=columns)


def pairs(rows: Sequence[PairAgreement]) -> Table:
    """Pairs of annotators.

    Args:
        rows: The pairs.
    """
    reasons = any(pair.reason for pair in rows)
    columns = (
        Name("Annotators", lambda pair: Message("{first} and {second}", first=pair.first, second=pair.second)),
        Count("Items", "n"),
        Share("Percent agreement", "agreement"),
        Decimal("Kappa", "unweighted"),
        Decimal("linear", "linear"),
        Decimal("quadratic", "quadratic"),
        *([Written("Reason if undefined", "reason", style="reason", aside=True)] if reasons else ()),
    )
    return Table(key="pairs", caption="Pairs of annotators", rows=rows, columns=columns)


def consistency(rows: Sequence[Consistency], title: str, *, directed: bool) -> Table:
    """Ratings of each annotator beside the gold labels, or beside their own earlier ones.

    Args:
        rows: The annotators.
        title: Title of the table.
        directed: True if a rating can be above another one, False for preferences.
    """
    columns = (
        Name("Annotator", "annotator"),
        Count("Items", "n"),
        Share("Percent agreement", "equal"),
        Decimal("Mean absolute difference", "apart"),
        *([Decimal("Mean difference", "above")] if directed else ()),
    )
    return Table(key="consistency", caption=title, rows=rows, columns=columns)


def means(rows: Sequence[SystemEstimate], groups: Message) -> Table:
    """Mean grades of systems.

    Args:
        rows: The systems.
        groups: Word for what several texts belong to.
    """
    columns = (
        Name("System", "system"),
        Count("Articles", "n") if groups == "articles" else Count("Items", "n"),
        Count("Ratings", "ratings"),
        Written("Mean", lambda row: number(row.mean), main=True),
        Written("95 % confidence interval", between),
        Written("Rank", rank_range),
        Text("Group", "letters"),
    )
    return Table(key="means", caption="Systems", rows=rows, columns=columns)


strengths: Final = partial(
    Table,
    key="strengths",
    caption="Systems",
    columns=(
        Name("System", "system"),
        Written("Strength", lambda row: number(row.strength), main=True),
        Written("95 % confidence interval", between),
        Count("Preferred", "wins"),
        Count("Ties", "ties"),
        Count("Not preferred", "losses"),
        Decimal("Win rate", "win_rate"),
        Written("Rank", rank_range),
        Text("Group", "letters"),
    ),
)
"""Strengths of systems by preferences."""

preferred: Final = partial(
    Table,
    key="preferred",
    caption="Pairs",
    columns=(
        Name("System", "first"),
        Text("against", "second"),
        Count("Preferred", "wins"),
        Count("Ties", "ties"),
        Count("Not preferred", "losses"),
        Decimal("Win rate", "win_rate"),
        Decimal("By strengths", "expected"),
    ),
)
"""Preferences for each pair of systems."""


def outlook(ahead: Prospects, groups: Message) -> Table:
    """Expected intervals with more ratings.

    Args:
        ahead: The intervals.
        groups: Word for what several texts belong to.
    """
    rows = (
        (Message("so far"), ahead.now),
        (Message("one more of each output"), ahead.twice),
        (Message("all planned {groups}", groups=groups), ahead.planned),
        (Message("{n} more {groups}", n=ahead.more.items - ahead.now.items, groups=groups), ahead.more),
    )
    with_articles, at = groups == "articles", itemgetter(1)
    columns = (
        Name("Ratings", itemgetter(0)),
        Count("Articles per system", "items", at=at) if with_articles else Count("Items per system", "items", at=at),
        Written("Interval of a mean", lambda row: f"±{number(row[1].mean)}"),
        Written("Interval of a difference", lambda row: f"±{number(row[1].difference)}"),
    )
    return Table(key="outlook", caption="Expected intervals", rows=[row for row in rows if row[1]], columns=columns)


def checks(rows: Sequence[AnnotatorQuality], who: Made) -> Table:
    """Checks of each annotator's ratings, and their time.

    Args:
        rows: The annotators.
        who: Function that names an annotator.
    """
    columns = (
        Name("Annotator", who),
        Count("Ratings", "ratings"),
        Part("Gold items", lambda row: _equal(row.gold)),
        Part("Training", lambda row: _equal(row.training)),
        Part("Repeated items", lambda row: _equal(row.repeated)),
        Written("Attention checks", _passed),
        Written("Seconds per item", lambda row: number(row.seconds, 1)),
        Share("Too fast", "fast"),
    )
    return Table(key="checks", caption="Checks and time", rows=rows, columns=columns)


def _equal(row: Consistency | None) -> tuple[str, int] | None:
    return None if row is None else (f"{100 * row.equal:.0f} %", row.n)


def _passed(row: AnnotatorQuality) -> Message | None:
    return Message("{done} of {total}", done=row.passed, total=row.attention) if row.attention else None


def others(rows: Sequence[AnnotatorQuality], who: Made, *, directed: bool) -> Table:
    """Agreement of each annotator with the others.

    Args:
        rows: The annotators.
        who: Function that names an annotator.
        directed: True if a rating can be above another one, False for preferences.
    """
    drift = (
        Decimal("Drift", "value", at=attrgetter("drift")),
        Written("95 % confidence interval", lambda row: between(row.drift)),
    )
    columns = (
        Name("Annotator", who),
        Count("Items", "shared"),
        Decimal("Mean absolute difference", "apart"),
        *([Decimal("Mean difference", "above")] if directed else ()),
        Decimal("Correlation", "correlation"),
        *(drift if directed else ()),
        Decimal("Competence", "competence"),
    )
    return Table(key="others", caption="Agreement with the others", rows=rows, columns=columns)


def annotators(rows: Sequence[AnnotatorProgress], name: Made, bar: Made, since: Made, form: Made) -> Table:
    """Progress of the annotators.

    Args:
        rows: The annotators.
        name: Function that names an annotator.
        bar: Function that draws the progress of one.
        since: Function that says how long ago the last rating was.
        form: Function that makes a form for one.
    """
    columns = (
        Name("Name", name),
        Text("Pseudonym", "pseudonym", at=attrgetter("person")),
        Text("Progress", bar),
        Part("Rated", lambda row: (f"{row.progress.done:,}", row.progress.total)),
        Count("Skipped", lambda row: row.progress.skipped or None),
        Written("Seconds per item", lambda row: number(row.seconds, 1)),
        Written("Last rating", since),
        Written("Actions", form, aside=True),
    )
    return Table(key="annotators", caption="Annotators", rows=rows, columns=columns)


def changes(rows: Sequence[Change], when: Made, who: Made, what: Made) -> Table:
    """Changes of the state of a campaign.

    Args:
        rows: The changes.
        when: Function that says when one was.
        who: Function that names the person.
        what: Function that describes the change.
    """
    columns = (Name("Time", when), Text("Person", who), Text("Change", what))
    return Table(key="changes", caption="Changes", rows=rows, columns=columns)


def files(rows: Sequence[Record], name: Made, links: Made) -> Table:
    """Files to download.

    Args:
        rows: The files.
        name: Function that names one and says what is in it.
        links: Function that makes its links.
    """
    return Table(key="files", caption="Files", rows=rows, columns=(Name("", name), Written("", links)))


loads: Final = partial(
    Table,
    key="loads",
    caption="Preview",
    columns=(Name("Annotator", "annotator"), Count("Texts", "texts")),
)
"""Numbers of texts of the annotators."""

revisions: Final = partial(
    Table,
    key="revisions",
    caption="Revisions",
    columns=(
        Name("Revision", lambda row: f"{row.number}"),
        Written("Time", "time"),
        Count("Texts", "items"),
        Count("Known ones skipped", lambda row: row.known if row.number > 1 else None),
    ),
)
"""Revisions of the plan."""


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


def forest(systems: Sequence[SystemEstimate] | Sequence[PreferredSystem], value: str, title: str) -> Markup:
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
