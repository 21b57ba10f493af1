"""Links to passages of a document in its original: text fragments of web pages, pages of PDF files.

A text fragment, ``#:~:text=[prefix-,]start[,end][,-suffix]``, names a passage by its words, and a browser scrolls to
the first place that has them (https://wicg.github.io/scroll-to-text-fragment/). Browsers compare without case and
accents, find whole words only, and a term lies within one block. `TextFragments` follows their search, and adds words
around a passage only where its own words are found earlier.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.documents.document import Document

__all__ = ["TextFragments", "web_address"]

LONGEST: Final = 300
"""Largest number of characters of a passage that a fragment has whole, as the specification recommends; of longer ones
it has the first and the last words."""

EXACT: Final = 1000
"""The same where the first and the last words are found elsewhere too."""

NEAR: Final = 400
"""Number of characters beside an end of a passage in which words are taken, and in which a word must end."""

PLACES: Final = 10_000
"""Largest number of places of a term that are tried: more only a page has that was written to waste time."""

RANGE_WORDS: Final = (4, 7, 12)
"""Numbers of words of either end of a long passage, the smallest that suffices."""

CONTEXT_WORDS: Final = (1, 2, 3, 5, 8, 13)
"""Numbers of words before or after a passage, the smallest that suffices."""

BETWEEN: Final = "\x1e"
"""Stands for the white space between two blocks, which no term crosses."""

MIDDLE: Final = frozenset("'’.:·,;")
"""Characters that end no word where letters or digits are on both sides of them (UAX 29)."""

SPACELESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts without spaces between words, where only dictionaries know the ends of words."""


class Terms(NamedTuple):
    """Offsets of the terms of a fragment; a term without characters is none."""

    prefix: tuple[int, int]
    first: tuple[int, int]
    last: tuple[int, int]
    suffix: tuple[int, int]


class TextFragments:
    """Text fragments of the passages of one document.

    Args:
        document: The document.

    >>> from postil.documents.document import Block, Document
    >>> text = "Rain fell. Tea, well-made, is hot. Rain fell."
    >>> page = Document(text=text, blocks=(Block(kind="paragraph", start=0, end=len(text)),), source="tea.html")
    >>> fragments = TextFragments(page)
    >>> fragments.fragment(11, 34), fragments.fragment(35, 45)
    ('#:~:text=Tea%2C%20well%2Dmade%2C%20is%20hot.', '#:~:text=hot.-,Rain%20fell.')
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        blocks = [(block.start, block.end) for block in document.blocks] or [(0, len(document.text))]
        self._blocks = [(start, end) for start, end in blocks if document.text[start:end].strip()]
        self._starts = [start for start, _ in self._blocks]
        self._flat = _flat(document.text, self._blocks)

    def link(self, start: int, end: int, page: int | None = None) -> str | None:
        """The address of a passage in the original.

        Args:
            start: Index of its first character in the text of the document.
            end: Index after its last character.
            page: Number of the page that it begins on, from 1; None in documents without pages.

        Returns:
            The address of the document with ``#page=N`` or with the text fragment; None if the document has no web
            address.
        """
        url = web_address(self._document.url)
        if url is None:
            return None
        if page is not None:
            return f"{url.partition('#')[0]}#page={page}"
        url = url.partition(":~:")[0]  # a fragment that it has already
        fragment = self.fragment(start, end)
        return url + (fragment.removeprefix("#") if "#" in url else fragment)

    def fragment(self, start: int, end: int) -> str:
        """The text fragment of a passage, to be put behind the address of its document.

        Args:
            start: Index of the first character of the passage in the text of the document.
            end: Index after its last character. Where an end falls within a word, the whole word is taken.

        Returns:
            ``#:~:text=[prefix-,]start[,end][,-suffix]``, percent-encoded: the passage itself, or the first and the last
            words of one of more than 300 characters; with words before or after it where the same words stand earlier.
            Of passages that are equal in all that stands around them it is the first one. Empty without a word.
        """
        start, end = self._whole_words(start, end)
        if start >= end:
            return ""
        simplest = None
        for terms in self._candidates(start, end):
            simplest = simplest or terms
            if self._found(terms) == (start, end):
                return self._written(terms)
        return self._written(simplest) if simplest else ""

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        """The passage without white space around it, from the beginning of its first word to the end of its last.

        Empty where these are too far away: there are no words.
        """
        flat = self._flat
        while start < end and flat[start] in f" {BETWEEN}":
            start += 1
        while start < end and flat[end - 1] in f" {BETWEEN}":
            end -= 1
        if start >= end:
            return start, start
        first = next((at for at in range(start, max(-1, start - NEAR), -1) if _bounded(flat, at)), None)
        last = next((at for at in range(end, min(len(flat), end + NEAR) + 1) if _bounded(flat, at)), None)
        return (start, start) if first is None or last is None else (first, last)

    def _block(self, index: int) -> int:
        return max(0, bisect_right(self._starts, index) - 1)

    def _candidates(self, start: int, end: int) -> Iterator[Terms]:
        """Terms from the simplest on: without context, with words of the same block, with words of the next ones."""
        own = list(self._own_terms(start, end))
        for first, last in own:
            yield Terms((start, start), first, last, (end, end))
        low, high = self._blocks[self._block(start)][0], self._blocks[self._block(end - 1)][1]
        contexts = [(low, high)]
        contexts.append((self._blocks[max(0, self._block(start) - 1)][0] if low == start else low, high))
        following = self._blocks[min(len(self._blocks) - 1, self._block(end - 1) + 1)][1]
        contexts.append((contexts[1][0], following if high == end else high))
        for low, high in contexts:
            begins = [begin for begin, _ in self._words_back(low, start)]
            ends = [stop for _, stop in self._words(end, high)]
            before = [(begins[n - 1], start) for n in _growing(len(begins))]
            after = [(end, ends[n - 1]) for n in _growing(len(ends))]
            for place in range(max(len(before), len(after))):
                prefix = before[min(place, len(before) - 1)] if before else (start, start)
                suffix = after[min(place, len(after) - 1)] if after else (end, end)
                for first, last in own[-1:]:
                    yield Terms(prefix, first, last, (end, end))
                    yield Terms((start, start), first, last, suffix)
                    yield Terms(prefix, first, last, suffix)

    def _own_terms(self, start: int, end: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """The passage itself as one term, or as the first and the last words of a long one."""
        across = self._block(start) != self._block(end - 1)
        if end - start > LONGEST or across:
            heads = [stop for _, stop in self._words(start, min(end, self._blocks[self._block(start)][1]))]
            tails = [begin for begin, _ in self._words_back(max(start, self._blocks[self._block(end - 1)][0]), end)]
            for n in RANGE_WORDS:
                if heads and tails and heads[:n][-1] < tails[:n][-1]:
                    yield (start, heads[:n][-1]), (tails[:n][-1], end)
        if end - start <= EXACT and not across:
            yield (start, end), (end, end)

    def _words(self, low: int, high: int) -> list[tuple[int, int]]:
        """The first words between two indices."""
        high = min(high, low + NEAR)
        while high > low and not _bounded(self._flat, high):
            high -= 1
        return list(islice(_words(self._flat, low, high), max(CONTEXT_WORDS)))

    def _words_back(self, low: int, high: int) -> list[tuple[int, int]]:
        """The last words between two indices, the last first."""
        low = max(low, high - NEAR)
        while low < high and not _bounded(self._flat, low):
            low += 1
        return list(_words(self._flat, low, high))[::-1][: max(CONTEXT_WORDS)]

    def _written(self, terms: Terms) -> str:
        prefix, first, last, suffix = (self._encoded(*term) for term in terms)
        parts = [prefix and f"{prefix}-", first, last, suffix and f"-{suffix}"]
        return f"#:~:text={','.join(filter(None, parts))}"

    def _encoded(self, start: int, end: int) -> str:
        words = " ".join(self._document.text[start:end].split())
        return quote(words, safe="", errors="replace").replace("-", "%2D")

    # The search of a browser: "find a range from a text directive" of the specification.

    def _found(self, terms: Terms) -> tuple[int, int] | None:
        """The first place that a browser finds for the terms."""
        prefix, first, last, suffix = (self._pattern(*term) for term in terms)
        if first is None:
            return None
        for begin, end in self._starts_of(prefix, first, ends_word=last is not None or suffix is None):
            if last is None:
                if self._followed(end, suffix):
                    return begin, end
                continue
            for _, stop in self._places(last, end, starts_word=True, ends_word=suffix is None):
                if self._followed(stop, suffix):
                    return begin, stop
            return None
        return None

    def _starts_of(
        self, prefix: re.Pattern[str] | None, first: re.Pattern[str], *, ends_word: bool
    ) -> Iterator[tuple[int, int]]:
        """Places of the first term, behind the prefix if there is one."""
        if prefix is None:
            yield from self._places(first, 0, starts_word=True, ends_word=ends_word)
            return
        for _, stop in self._places(prefix, 0, starts_word=True, ends_word=False):
            found = first.match(self._flat, self._past_spaces(stop))
            if found and (not ends_word or _perhaps_bounded(self._flat, found.end())):
                yield found.span()

    def _places(
        self, term: re.Pattern[str], low: int, *, starts_word: bool, ends_word: bool
    ) -> Iterator[tuple[int, int]]:
        for _ in range(PLACES):
            found = term.search(self._flat, low)
            if found is None:
                return
            low = found.start() + 1
            if starts_word and not _perhaps_bounded(self._flat, found.start()):
                continue
            if not ends_word or _perhaps_bounded(self._flat, found.end()):
                yield found.span()

    def _followed(self, end: int, suffix: re.Pattern[str] | None) -> bool:
        if suffix is None:
            return True
        found = suffix.match(self._flat, self._past_spaces(end))
        return found is not None and _perhaps_bounded(self._flat, found.end())

    def _past_spaces(self, index: int) -> int:
        while index < len(self._flat) and self._flat[index] in f" {BETWEEN}":
            index += 1
        return index

    def _pattern(self, start: int, end: int) -> re.Pattern[str] | None:
        words = self._flat[start:end].replace(BETWEEN, " ").split()
        return re.compile(" +".join(map(re.escape, words))) if words else None


def web_address(url: str | None) -> str | None:
    """An address that a page may link to.

    Args:
        url: Any text, or None.

    Returns:
        The address, escaped, if it is one of http or https with a host; else None.

    >>> web_address("https://example.org/tea"), web_address("javascript:alert(1)")
    ('https://example.org/tea', None)
    """
    if not url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return None
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~", errors="replace") if known else None


def _growing(known: int) -> list[int]:
    """Numbers of words of a context, up to all that are known.

    >>> _growing(4), _growing(0)
    ([1, 2, 3, 4], [])
    """
    return sorted({min(n, known) for n in CONTEXT_WORDS} - {0})


def _flat(text: str, blocks: Iterable[tuple[int, int]]) -> str:
    """The text as browsers compare it, character by character: no case, no accents, white space as spaces."""
    flat = text.translate({ord(each): _folded(each) for each in set(text)})
    pieces, done = [], 0
    for start, end in blocks:
        pieces += [BETWEEN * (start - done), flat[start:end]]
        done = end
    return "".join([*pieces, BETWEEN * (len(text) - done)])


def _folded(character: str) -> str:
    if character.isspace():
        return " "
    if character in "‘’‚‛":
        return "'"
    if character in "“”„‟":
        return '"'
    base = unicodedata.normalize("NFKD", character)[0].casefold()
    return base if len(base) == 1 and not base.isspace() else character


def _bounded(flat: str, index: int) -> bool:
    """True if a word certainly begins or ends at an index, in every language."""
    if index <= 0 or index >= len(flat):
        return True
    left, right = flat[index - 1], flat[index]
    if left in f" {BETWEEN}" or right in f" {BETWEEN}":
        return True
    if unicodedata.category(right) in {"Mn", "Mc", "Me", "Cf", "Sk"} or unicodedata.category(left) == "Cf":
        return False
    if left in MIDDLE and _spaced(right):
        return index < 2 or not _spaced(flat[index - 2])
    if right in MIDDLE and _spaced(left):
        return index + 1 >= len(flat) or not _spaced(flat[index + 1])
    both_flags = all("\U0001f1e6" <= each <= "\U0001f1ff" for each in (left, right))
    return not (_wordlike(left) and _wordlike(right)) and not both_flags


def _perhaps_bounded(flat: str, index: int) -> bool:
    """True if a browser may see the beginning or the end of a word at an index."""
    return (
        _bounded(flat, index)
        or SPACELESS.match(flat[index]) is not None
        or SPACELESS.match(flat[index - 1]) is not None
    )


def _wordlike(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


def _spaced(character: str) -> bool:
    """True of letters and digits of scripts with spaces between words."""
    return _wordlike(character) and SPACELESS.match(character) is None


def _words(flat: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Words between two indices: from one certain end of words to the next, if there is a letter or digit."""
    begin = low
    for index in range(low + 1, high + 1):
        if index == high or _bounded(flat, index):
            if any(map(_wordlike, flat[begin:index])):
                yield begin, index
            begin = index
