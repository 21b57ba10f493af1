"""The elements of a page and their sentences: names that users gave, and what a difference allows to say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

from postil.data.escaping import one_line
from postil.messages import spoken
from postil.results.plots.figure import svg
from postil.results.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from msgspec import Struct

    from postil.data.parts import Excluded
    from postil.results.plots import Figure

__all__ = [
    "ABOVE",
    "ALPHA",
    "BELOW",
    "NAME",
    "SIGNIFICANTLY",
    "UNCLEAR",
    "VERDICTS",
    "Block",
    "Chapter",
    "Collapsed",
    "Facts",
    "Findings",
    "Heading",
    "Numbers",
    "Paragraph",
    "Picture",
    "Point",
    "Quote",
    "Quotes",
    "Rows",
    "Section",
    "capital",
    "clean",
    "collapsed",
    "facts",
    "finding",
    "first_minus_second",
    "first_open",
    "isolated",
    "left_out",
    "plain",
    "sentences",
    "verdict",
]

OPEN: Final = "\u2068"
CLOSE: Final = "\u2069"
"""Isolates around a name in a sentence, so that right-to-left letters do not reorder the rest."""

NAME: Final = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
"""A name in a sentence."""

ISOLATES: Final = re.compile("[\u2066-\u2069]")

ABOVE: Final = "significantly higher than"

BELOW: Final = "significantly lower than"

UNCLEAR: Final = "not significantly different from"

VERDICTS: Final = (ABOVE, BELOW, UNCLEAR)

ALPHA: Final = 0.05

SIGNIFICANTLY: Final = (
    "“Significantly” means that the 95 % confidence interval of the difference excludes 0 and that the Holm-adjusted "
    "p, where there is a test, is below .05."
)
"""Definition of the word, once per chapter."""


def capital(text: str) -> str:
    """A sentence with a capital first letter.

    >>> capital("no metric is best.")
    'No metric is best.'
    """
    said = spoken(text)
    return said[:1].upper() + said[1:]


def left_out(rows: Sequence[Excluded]) -> Iterator[tuple[str, str]]:
    """The excluded and the changed rows, with a few examples each."""
    changed = [row for row in rows if row.kept]
    gone = [row for row in rows if not row.kept]
    yield from (("excluded", _with_examples(row)) for row in gone)
    if not gone:
        yield "excluded", "nothing"
    yield from (("changed", _with_examples(row)) for row in changed)


def _with_examples(row: Excluded) -> str:
    examples = list(map(isolated, row.examples))
    more = f" and {row.n - len(row.examples):,} more" if row.n > len(row.examples) else ""
    return f"{row.why}: {row.n:,}" + (f" ({', '.join(examples)}{more})" if row.examples else "")


def isolated(text: str) -> str:
    """A name that users gave, for a sentence; see `OPEN`."""
    return f"{OPEN}{ISOLATES.sub('', text)}{CLOSE}"


def plain(text: str) -> str:
    """A sentence without the marks around its names.

    >>> plain(isolated("meteor") + " is best")
    'meteor is best'
    """
    return ISOLATES.sub("", text)


def clean(text: str) -> str:
    r"""A text without control characters other than tabs and line breaks, surrogates and noncharacters.

    >>> clean("a\0b") == "a\ufffdb"
    True
    """
    return re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", "\ufffd", text)


class Tested(Protocol):
    """A difference of two numbers with its interval and its test."""

    @property
    def value(self) -> float:
        """The first minus the second."""

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % confidence interval."""

    @property
    def high(self) -> float | None:
        """Upper end."""

    @property
    def p_holm(self) -> float | None:
        """Holm-adjusted p; None where there is no test."""

    def reversed(self) -> Self:
        """The second minus the first."""


At = TypeVar("At", str, int)
AnyDifference = TypeVar("AnyDifference", bound=Tested)


def verdict(row: Tested) -> str:
    """The finding of a difference about its first side, one of `VERDICTS`."""
    return finding(row.value, row.low, row.high, row.p_holm)


def finding(value: float, low: float | None, high: float | None, p_holm: float | None) -> str:
    """One of `VERDICTS`.

    Args:
        value: The difference.
        low: Lower end of its 95 % confidence interval.
        high: Upper end.
        p_holm: Holm-adjusted p; None where there is no test.
    """
    if low is None or high is None or low <= 0 <= high or (p_holm is not None and p_holm >= ALPHA):
        return UNCLEAR
    return ABOVE if value > 0 else BELOW


def first_minus_second(
    rows: Mapping[tuple[str, str, At], AnyDifference], first: str, second: str, at: At
) -> AnyDifference | None:
    """The difference of two names at a coefficient or rank cutoff, reversed where it is stored the other way.

    Args:
        rows: The differences.
        first: A name.
        second: Another.
        at: The coefficient or rank cutoff.
    """
    if found := rows.get((first, second, at)):
        return found
    turned = rows.get((second, first, at))
    if turned is None or turned.low is None or turned.high is None:
        return None
    return turned.reversed()


Point: TypeAlias = tuple[str, str]
"""A name and a sentence about it."""

Rows: TypeAlias = "Sequence[Mapping[str, object] | Struct]"
"""Rows of a file."""

Numbers: TypeAlias = tuple[str, Rows]
"""Name of a file and its rows."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph.

    Args:
        text: Its sentences.
    """

    block: ClassVar = "paragraph"

    text: str


@dataclass(frozen=True, slots=True)
class Heading(Paragraph):
    """A heading within a section.

    Args:
        text: Its words.
    """

    block: ClassVar = "heading"


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings: names with a sentence about each.

    Args:
        rows: Pairs of name and sentence.
    """

    block: ClassVar = "findings"

    rows: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Facts(Findings):
    """A list of names and values.

    Args:
        rows: Pairs of name and value; names may repeat.
    """

    block: ClassVar = "facts"


@dataclass(frozen=True, slots=True)
class Quote:
    """A text with its rating and scores.

    Args:
        where: Its items and its system.
        text: The text; None where it was not given.
        opinions: Triples of rater or metric, value on the scale of the ratings, and original score.
    """

    where: str
    text: str | None
    opinions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """A list of texts.

    Args:
        title: Its heading.
        rows: The texts.
    """

    block: ClassVar = "quotes"

    title: str
    rows: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, drawn when it is asked for.

    Args:
        key: Its name among the pictures of a result, such as a metric.
        title: Short title.
        caption: Its caption.
        label: Description, for those who cannot see it.
        draw: Draws it.
    """

    block: ClassVar = "picture"

    key: str
    title: str
    caption: str
    label: str
    draw: Callable[[], Figure]

    @property
    def svg(self) -> str:
        """Its SVG element."""
        return svg(self.draw(), self.label)

    @property
    def html(self) -> str:
        """The picture and its caption as an element by itself."""
        return f"<figure>{self.svg}<figcaption>{escape(one_line(plain(self.caption)))}</figcaption></figure>"


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A collapsed group of blocks.

    Args:
        title: Its summary.
        blocks: The blocks.
    """

    block: ClassVar = "collapsed"

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Heading | Paragraph | Findings | Facts | Quotes | Table | Picture | Collapsed


def first_open(pictures: Iterable[Picture]) -> Iterator[Block]:
    """The first of several pictures of a kind; the others, collapsed.

    Args:
        pictures: The pictures.
    """
    for index, picture in enumerate(pictures):
        yield Collapsed(f"The same by {isolated(picture.title)}", (picture,)) if index else picture


def collapsed(table: Table) -> Iterator[Collapsed]:
    """A table that is collapsed, if it has rows.

    Args:
        table: The table.
    """
    if table.rows:
        yield Collapsed(table.title, (table,))


def facts(*rows: Point) -> Facts:
    """The names and values of those that have a value.

    Args:
        rows: Pairs of name and value, which may be empty.
    """
    return Facts(tuple(row for row in rows if row[1]))


def sentences(notes: Iterable[str]) -> tuple[Paragraph, ...]:
    """A paragraph of each note.

    Args:
        notes: Sentences without a capital letter and a full stop.
    """
    return tuple(Paragraph(f"{capital(note)}.") for note in notes)


@dataclass(frozen=True, slots=True)
class Section:
    """A section.

    Args:
        key: Identifier, for its id.
        title: Its heading.
        blocks: Its blocks.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The part of a page about one result.

    Args:
        key: Prefix of its ids, unique on the page.
        title: Its heading.
        data: One line about the data.
        conclusion: The findings.
        parts: The sections.
        numbers: All numbers in full, for the files beside the page; by default the rows of the view.
        leads: True where the other chapters of a page belong to this one, which gives the page its title.
    """

    key: str
    title: str
    data: str
    conclusion: tuple[Block, ...]
    parts: tuple[Section, ...]
    numbers: tuple[Numbers, ...] | None = None
    leads: bool = False
