"""Passages of a document: sentences, paragraphs or lines of its prose, with their places."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

from postil.documents.document import PROSE, Document
from postil.documents.furniture import ends_sentence, item_marker
from postil.documents.options import PassageSplit
from postil.errors import UnknownName
from postil.text.sentences import sentence_bounds
from postil.text.tokenizers import word_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["DocumentPassage", "document_passages"]


LONG: Final = 60
"""Number of words above which a passage is split at a semicolon, a colon or a dash."""
PART: Final = 8
"""Smallest number of words on either side of such a place."""
FEWEST: Final = 4
"""Smallest number of words of a sentence."""

_BEFORE: Final = "\"'“”‘’«»([{*_"
_QUOTED: Final = re.compile(r"(?:>\s*)+(?=\S)")
_JOINTS: Final = (
    re.compile(r"(?<=;)\s+|(?<=；)\s*"),
    re.compile(r"(?<=[^\W\d_]:)\s+|(?<=：)\s*"),
    re.compile(r"(?<!\s)\s++[–—-]{1,3}\s++|(?<=\w)(?:—|--|——)(?=\w)"),
)
"""Places between the parts of a long sentence, the best first."""


class DocumentPassage(NamedTuple):
    """A passage of a document.

    Args:
        text: Its text, with single spaces.
        start: Index of its first character in the text of the document.
        end: Index after its last character.
        block: Index of the block that it is in.
        page: Number of the page that the block begins on, from 1; None in documents without pages.
        fragment: True if it cannot stand by itself: it has no end mark, fewer than four words, hardly any word in
            small letters (a list of names), or more than 60 words that could not be split; ends in a colon; is all in
            square brackets; or is a later part of a long sentence and begins with a small letter. Lines never are.
    """

    text: str
    start: int
    end: int
    block: int
    page: int | None
    fragment: bool


def document_passages(
    document: Document,
    split: PassageSplit = "sentences",
    lang: str | None = None,
) -> list[DocumentPassage]:
    r"""Split the prose of a document into passages: its paragraphs, quotes and items.

    A sentence of more than 60 words is split at a semicolon, else at a colon, else at a dash, that leaves at least
    eight words on both sides.

    Args:
        document: The document.
        split: ``sentences``, ``paragraphs`` (blocks), or ``lines``.
        lang: Its language, an ISO 639-1 code, for the abbreviations of sentences; None where it is not known.

    Returns:
        The passages in the order of the text.

    Raises:
        UnknownName: There is no such way to split.

    >>> from postil.documents.readers.text import read_plain
    >>> document = read_plain(b"RAIN\n\nIt rained all\nday. Nobody left.\n", "rain.txt")
    >>> [(one.text, one.start, one.fragment) for one in document_passages(document)]
    [('It rained all day.', 6, False), ('Nobody left.', 25, True)]
    """
    UnknownName.check("way to split", split, get_args(PassageSplit))
    found = []
    for index, block in enumerate(document.blocks):
        if block.kind not in PROSE:
            continue
        whole = document.text_of(block)
        marker = 0 if block.kind == "paragraph" else _marker(whole)
        for start, end, ended in _bounds(whole, marker, split, lang):
            text = " ".join(whole[start:end].split())
            fragment = split != "lines" and not (ended and _stands_alone(text, split))
            found.append(DocumentPassage(text, block.start + start, block.start + end, index, block.page, fragment))
    return found


def _bounds(whole: str, marker: int, split: PassageSplit, lang: str | None) -> Iterator[tuple[int, int, bool]]:
    """Bounds of the passages of a block without white space around, and whether each ends as a sentence does."""
    if split == "paragraphs":
        bounds = [(marker, len(whole))]
    elif split == "lines":
        bounds = list(pairwise([0, *accumulate(map(len, whole.splitlines(keepends=True)))]))
        bounds[0] = (marker, bounds[0][1])
    else:
        bounds = [(marker + start, marker + end) for start, end in sentence_bounds(whole[marker:], lang)]
    for first, last in bounds:
        text = whole[first:last]
        start, end = first + len(text) - len(text.lstrip()), first + len(text.rstrip())
        if start >= end:
            continue
        ended = ends_sentence(whole[start:end])
        if split == "sentences" and _at_least(text, LONG + 1):
            parts = _parts(whole, start, end)
            yield from ((*part, ended and (part[0] == start or not whole[part[0]].islower())) for part in parts)
        else:
            yield start, end, ended


def _stands_alone(text: str, split: PassageSplit) -> bool:
    """True if readers can do with a passage that ends as a sentence does, and with nothing else."""
    if not _at_least(text, FEWEST) or _is_aside(text) or text.endswith(":"):
        return False
    return split == "paragraphs" or not (_at_least(text, LONG + 1) or _is_list_of_names(text))


def _is_list_of_names(text: str) -> bool:
    """True if fewer than one in five words of a text begin with a small letter, in a script that has them."""
    words = [one for one in text.split() if one[0] in "@#" or any(map(str.isalpha, one))]
    small = sum(1 for one in words if one.lstrip(_BEFORE)[:1].islower())
    cased = sum(1 for one in words if one.lower() != one.upper())
    return text != text.upper() and 2 * cased > len(words) and 5 * small < len(words)


def _is_aside(text: str) -> bool:
    """True if a text is all in square brackets, such as a stage direction."""
    return text.startswith("[") and text.find("]") in {-1, len(text) - 1}


def _marker(whole: str) -> int:
    """Number of characters of the marker that an item or a quote begins with."""
    quoted = _QUOTED.match(whole)
    return item_marker(whole) if quoted is None else quoted.end()


def _parts(whole: str, start: int, end: int) -> list[tuple[int, int]]:
    """Parts of a long sentence, each as short as its joints allow down to the length that is no longer long."""
    done, todo = list[tuple[int, int]](), [(start, end)]
    while todo:
        first, last = todo.pop()
        joint = _joint(whole, first, last)
        if joint is None:
            done.append((first, last))
        else:
            todo += [(joint[1], last), (first, joint[0])]
    return done


def _joint(whole: str, start: int, end: int) -> tuple[int, int] | None:
    """Bounds of the place to split a part at: of the best kind, the one nearest to the middle."""
    words = [one.end() for one in word_pattern(whole).finditer(whole, start, end)]
    if len(words) <= LONG:
        return None
    least, most = words[PART - 1], words[-PART - 1]
    middle = words[len(words) // 2]
    for joints in _JOINTS:
        places = [one.span() for one in joints.finditer(whole, start, end)]
        places = [place for place in places if least <= place[0] and place[1] <= most + 1]
        if places:
            return min(places, key=lambda place: abs(place[0] - middle))
    return None


def _at_least(text: str, number: int) -> bool:
    """True if a text has at least a number of words."""
    return sum(1 for _, _ in zip(range(number), word_pattern(text).finditer(text), strict=False)) == number
