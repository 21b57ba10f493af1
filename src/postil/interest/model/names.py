"""Names in the passages of an English page, found by their capital letters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.text.stop_words import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["page_names"]

_MONTHS: Final = "january february march april may june july august september october november december"
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
CALENDAR: Final = frozenset(f"{_MONTHS} {_DAYS}".split())
"""Capitalized words that name a date only."""
OPENING: Final = frozenset("\"'“”„‘«»([{*_")
"""Marks after which a sentence, a title or a quotation begins."""
ABBREVIATED: Final = 3
"""Largest number of letters of a capitalized word that a full stop abbreviates, such as Mr. or St."""

# No pattern matches upper-case letters of all scripts: this one leaves out what is surely none.
_CAPITALIZED: Final = re.compile(r"\b[^\W\d_a-z]\w*(?:[’'&.-]\w+)*")
_BETWEEN: Final = re.compile(r"[ \xa0]|-|\. | (?:of|of the|de|de la|del|di|da|van|van der|von) ")
"""Text between two capitalized words of one name."""
_POSSESSIVE: Final = re.compile(r"[’'](?:s|S)?$")


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    begins: bool
    """True where a sentence may begin, so that the capital letter says nothing."""


def page_names(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Find the distinct names of each passage of a page.

    A name is a run of capitalized words, or a word in capital letters. The first word of a sentence is one only where
    the page has it with a capital inside a sentence too.

    Args:
        texts: n passages.

    Returns:
        n tuples, each in order of first occurrence.

    >>> page_names(["Nobody at NASA had asked Ada of York.", "Ada left. Rain fell on Monday."])
    [('NASA', 'Ada of York'), ('Ada',)]
    """
    words = [list(_capitalized(text)) for text in texts]
    inside = {word.text for some in words for word in some if not word.begins}
    return [tuple(dict.fromkeys(_names(text, some, inside))) for text, some in zip(texts, words, strict=True)]


def _capitalized(text: str) -> Iterator[_Word]:
    if text == text.upper():  # a heading in capitals, or a script without them
        return
    for match in _CAPITALIZED.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        if word[0].isupper() and _base(word) not in CALENDAR:
            yield _Word(match.start(), match.end(), word, _begins_sentence(text, match.start()))


def _names(text: str, words: list[_Word], inside: set[str]) -> Iterator[str]:
    """The names of a text: runs of its capitalized words that are names or parts of names."""
    stop = stop_words("en")
    begin = end = -1
    content = False
    for word in words:
        is_stop = _base(word.text) in stop
        acronym = len(word.text) > 1 and word.text.isupper()
        if word.begins and not acronym and (is_stop or word.text not in inside):
            continue
        if begin < 0 or not _BETWEEN.fullmatch(text, end, word.start):
            if content:
                yield _name(text, begin, end)
            begin, content = word.start, False
        end = word.end
        content = content or acronym or not is_stop
    if content:
        yield _name(text, begin, end)


def _name(text: str, begin: int, end: int) -> str:
    return _POSSESSIVE.sub("", text[begin:end].replace("\xa0", " "))


def _base(word: str) -> str:
    """The word without what is behind an apostrophe, as "I" of "I'm"."""
    return word.replace("’", "'").partition("'")[0].lower()


def _begins_sentence(text: str, start: int) -> bool:
    """True if the word there is the first of the text, of a sentence or of a quotation."""
    at = start - 1
    while at >= 0 and (text[at].isspace() or text[at] in OPENING):
        if text[at] in OPENING:
            return True
        at -= 1
    if at < 0 or text[at] in "!?…:;•":
        return True
    return text[at] == "." and not _is_abbreviation(text, at)


def _is_abbreviation(text: str, stop: int) -> bool:
    """True if the full stop there ends an initial or a short capitalized word."""
    begin = stop
    while begin > 0 and stop - begin <= ABBREVIATED and text[begin - 1].isalpha():
        begin -= 1
    return 0 < stop - begin <= ABBREVIATED and text[begin].isupper()
