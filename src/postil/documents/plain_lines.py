"""Lines of a plain text, the groups that blank lines make of them, and its layout."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.documents.furniture import ends_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Layout", "Line", "groups", "repeated_key"]

_DIGITS: Final = re.compile(r"\d+|\b[ivxlc]+\b")
_WIDEST: Final = 160
"""Largest width, in characters, to which a text is taken to be wrapped."""
_WIDE: Final = 100
_WORD: Final = 16
"""Number of columns that a wrapped line leaves free at most, as a rule."""
_SAMPLE: Final = 200_000
"""Number of lines by which a layout is told."""
_REPEATED: Final = 3
_LONGEST_HEADER: Final = 80


class Line(NamedTuple):
    """A line that is not blank.

    Args:
        text: Its text without white space around.
        start: Index of its first visible character in the text.
        indent: Number of columns before it; a tab counts as four.
    """

    text: str
    start: int
    indent: int

    @property
    def end(self) -> int:
        """Index after its last visible character."""
        return self.start + len(self.text)


class Layout(NamedTuple):
    """Habits of a text.

    Args:
        width: Number of columns to which its paragraphs are wrapped; 0 if every line is a paragraph.
        indent: Number of columns before most lines.
        headers: Lines that stand alone time and again, as `repeated_key` has them: headers of pages.
    """

    width: int
    indent: int
    headers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Layout:
        """Tell the layout of a text.

        Args:
            text: The text.
        """
        lengths, indents, alone, seen = Counter[int](), Counter[int](), Counter[str](), 0
        ended = 0
        for group in groups(text):
            if len(group) == 1 and len(group[0].text) <= _LONGEST_HEADER and not ends_sentence(group[0].text):
                alone[repeated_key(group[0].text)] += 1
            for line in group[:-1]:
                lengths[line.indent + len(line.text)] += 1
                indents[line.indent] += 1
                ended += ends_sentence(line.text)
            seen += len(group)
            if seen > _SAMPLE:
                break
        number = lengths.total()
        return cls(
            width=_width(lengths, ended / number) if number else 0,
            indent=indents.most_common(1)[0][0] if number else 0,
            headers=frozenset(key for key, times in alone.items() if times >= _REPEATED and any(map(str.isalpha, key))),
        )


def groups(text: str) -> Iterator[list[Line]]:
    r"""Groups of lines without a blank line between them.

    Args:
        text: The text.

    >>> [[line.text for line in group] for group in groups("One\n two\n\nthree")]
    [['One', 'two'], ['three']]
    """
    group, place = list[Line](), 0
    for whole in text.splitlines(keepends=True):
        right = whole.rstrip()
        if right:
            bare = right.lstrip()
            before = len(right) - len(bare)
            indent = before + 3 * whole.count("\t", 0, before)
            group.append(Line(bare, place + before, indent))
        if group and (not right or whole.endswith("\f")):
            yield group
            group = []
        place += len(whole)
    if group:
        yield group


def repeated_key(line: str) -> str:
    """The line without the numbers in which headers of pages differ.

    Args:
        line: The line.
    """
    return _DIGITS.sub("#", " ".join(line.split()))


def _width(lengths: Counter[int], ended: float) -> int:
    """Width to which lines that others follow are wrapped; 0 if they are not. Some share of them ends sentences."""
    number, below, width = lengths.total(), 0, 0
    for length in sorted(lengths):
        below += lengths[length]
        if below >= 0.9 * number:
            width = length
            break
    filled = sum(times for length, times in lengths.items() if length >= width - _WORD)
    if width > _WIDEST or filled < (0.6 if width > _WIDE else 0.4 if ended > 0.5 else 0) * number:
        return 0
    return width
