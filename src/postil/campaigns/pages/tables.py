"""Tables of the pages of leads, with heads and words that pages translate.

They are for people who lead a campaign and no statisticians: shares in percent, numbers with two decimals and their 0,
intervals in words, and the persons behind pseudonyms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, ClassVar, Final

from postil.estimation.view import rank_range
from postil.messages import Message
from postil.results.names import STATISTICS
from postil.results.numbers import DASH
from postil.results.table import Cell, Column, Count, Name, Number, Share, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from postil.campaigns.change_log import Change
    from postil.campaigns.models import AnnotatorProgress
    from postil.campaigns.quality_result import AnnotatorQuality
    from postil.estimation.rating_budget import Prospects
    from postil.meta.parts import Agreement, PairAgreement
    from postil.raters.result import Consistency
    from postil.results.table import Record

    Made = Callable[[Record], str]

__all__ = [
    "TITLES",
    "annotators",
    "changes",
    "checks",
    "consistency",
    "files",
    "loads",
    "means",
    "number",
    "others",
    "outlook",
    "pairs",
    "preferred",
    "revisions",
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
    return DASH if value is None else f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


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


means: Final = partial(
    Table,
    key="means",
    caption="Systems",
    columns=(
        Name("System", "system"),
        Count("Articles", "n"),
        Count("Ratings", "ratings"),
        Written("Mean", lambda row: number(row.mean), main=True),
        Written("95 % confidence interval", between),
        Written("Rank", rank_range),
        Text("Group", "letters"),
    ),
)
"""Mean grades of systems."""

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


def outlook(ahead: Prospects) -> Table:
    """Expected intervals with more ratings.

    Args:
        ahead: The intervals.
    """
    rows = (
        (Message("so far"), ahead.now),
        (Message("one more of each output"), ahead.twice),
        (Message("all planned articles"), ahead.planned),
        (Message("{n} more articles", n=ahead.more.items - ahead.now.items), ahead.more),
    )
    columns = (
        Name("Ratings", itemgetter(0)),
        Count("Articles per system", "items", at=itemgetter(1)),
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
