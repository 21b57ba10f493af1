"""Sentences of a text by rules: where a mark, what stands around it and a table of abbreviations say that one ends.

A library would do where one did it well; `bench/sentences` measures those that there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Final

from postil.text.stop_words import STOP_LISTS, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["END_MARKS", "sentence_bounds"]

_STOPS: Final = "؟۔।॥։።፧፨។៕။༎᙮᠃᠉᱾᱿꯫෴"
"""Marks that end sentences and do nothing else: Arabic, Urdu, Indic, Armenian, Ethiopic, Khmer, Burmese and others."""
END_MARKS: Final = f".!?…‽。！？｡{_STOPS}"
"""Marks that end sentences, in all scripts."""

_NEAR: Final = 48
"""Number of characters on either side of a mark that are read, which makes the time linear in any text."""

_EMOJI: Final = "\u2600-\u27bf\ufe0f\u200d\U0001f1e6-\U0001faff"
_MAY_END: Final = re.compile(rf"[{END_MARKS}\n\"”’{_EMOJI}]")
_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n\s*|\u2029")
_END: Final = re.compile(
    rf"""
    (?P<wide>[。！？｡]+|…{{2,}}(?=[^\x00-\u02ff\s。！？]))
      (?P<after>[。！？…]*[”’」』）】》\])"]*)
    | (?P<stop>[{_STOPS}]+(?:[ ]?\d{{1,4}}[ ]?[।॥]+)?[.!?…]*["'”’“»)\]]*)
    | (?P<mark>[.!?…‽]+(?:[ ]\.)*)
      (?P<close>(?:["'”’“»)\]*_¹²³⁰⁴-⁹]|\s»|\[(?:\d{{1,3}}(?:[,–-]\d{{1,3}})*|[a-z][a-z ]{{,24}})\]|:\d{{1,4}}(?=\s))*)
      (?P<note>(?<=[^\W\d_][.!?])\d{{1,2}}(?=\s))?
      (?P<smile>(?:[ ]?(?:[{_EMOJI}]+|[:;]-?[()DP](?=\s)))*)
    | (?P<line>[{_EMOJI}]\s*?(?=\n))
    | (?P<speech>(?<=[—–-])["”’](?=\s+["“‘]))
    | (?P<item>\n\s*(?=(?:[-*•·▪]|\(?\d{{1,2}}[.)]|\(?[a-z]\))\s))
    """,
    re.VERBOSE,
)
_OPENING: Final = "\"'“”‘«»„‚([{¿¡*_—–-…#>"
_OPENING_AND_SPACE: Final = _OPENING + " \u00a0\u202f"
_CLOSING: Final = tuple(",;:)")
_BRAND: Final = re.compile(r"[a-z]{1,2}[A-Z]")
_LABEL: Final = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_ROMAN: Final = re.compile(r"[IVXLCDM]+|[ivxlcdm]+")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")
_UNSPOKEN: Final = re.compile(r"[B-DF-HJ-NP-TV-XZ]?[b-df-hj-np-tv-xz]{1,4}")
_PLACES: Final = frozenset({"st", "ft", "pt", "sta"})
"""Titles and parts of names that stand at the end of addresses as well."""
_CLOCK: Final = frozenset({"a.m", "p.m", "am", "pm"})
_ZONES: Final = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[A-Z]{2,4}\b|Eastern|Central|Pacific|Mountain")
_SPEAKS: Final = re.compile(
    r"(?:\w+\.?\s+){0,3}?(?:said|says|asked|asks|cried|replied|answered|shouted|called|whispered|exclaimed|repeated"
    r"|added|laughed|muttered|murmured|screamed|yelled|continued|demanded|inquired|wondered|began|went on|returned)\b"
)
_DATED: Final = re.compile(
    r"Jän|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahr(?:hundert|tausend|estag)|Jh|Weltkrieg|Geburtstag"
)
"""The words that follow German ordinal numbers most often."""
_ITEM: Final = re.compile(r"(?:[-*•·▪]|\(?\d{1,2}[.)]|\(?[a-z]\))\s")
_ADDRESS: Final = re.compile(r"[/@=\\]|://|www\.|\.\w+\.\w")
_CITED: Final = re.compile(
    r"""
    \[(?=[^\[\]]*(?:\d|\b(?i:ibid|op\.[ ]?cit|loc\.[ ]?cit|pp?\.|vol\.)))
      [^\[\]\n]{2,160} (?:(?<![.!?])|(?<=bid\.)|(?<=[Cc]it\.))
    \]\.? (?=\s+(?:[^\W\d_a-z]|["“‘'(])|\s*\Z)
    """,
    re.VERBOSE,
)
"""Source of a quotation, in square brackets behind its end mark."""
_VISIBLE: Final = re.compile(r"\S")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMERAL: Final = re.compile(r"(?!I\b)[IVXLCDM]+\b|[§#]")
_ABBREVIATIONS: Final = resources.files(__package__).joinpath("abbreviations.txt").read_text(encoding="utf-8")
_KINDS: Final = {
    kind: frozenset(re.sub("#.*", "", words).split())
    for kind, words in re.findall(r"^\[(.+)\]\n([^\[]*)", _ABBREVIATIONS, re.MULTILINE)
}
_BEFORE_NAMES, _BEFORE_NUMBERS, _WITHIN = (_KINDS[kind] for kind in ("before-names", "before-numbers", "within"))
_KNOWN: Final = _BEFORE_NAMES | _BEFORE_NUMBERS | _WITHIN
_CLIPPED: Final = _KNOWN | _KINDS["clipped"]
_QUOTES: Final = "\"'”’“»‘"
_QUOTATIONS: Final = (("“", "”"), ("„", "“"), ("«", "»"), ("»", "«"), ('"', '"'))
"""Marks around a quotation."""
_PARTICLES: Final = "呢吗吧了啊呀嘛哦の"
_GOES_ON: Final = re.compile("[とって]|然后|接着|随后|于是|便|就|又|并|说|問|问|道|喊")


def sentence_bounds(text: str, lang: str | None = None) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end.

    A blank line ends a sentence; the end of a line does not, except before an item of a list. The time is linear in the
    length of the text.

    Args:
        text: The text.
        lang: Its language, two letters (ISO 639-1); it tells which words begin sentences after an abbreviation.

    Returns:
        The index of the first character of each sentence and the index after its last, neither of them white space.
        They are in order, do not overlap, and leave out white space alone.

    >>> text = 'Dr. No left the U.S. in 1962. "Why?" asked J. Bond. See fig. 3.'
    >>> [text[begin:end] for begin, end in sentence_bounds(text, "en")]
    ['Dr. No left the U.S. in 1962.', '"Why?" asked J. Bond.', 'See fig. 3.']
    >>> [text[begin:end] for text in ["वर्षा हुई।नदी जम गई॥ १ ॥"] for begin, end in sentence_bounds(text)]
    ['वर्षा हुई।', 'नदी जम गई॥ १ ॥']
    """
    starters = stop_words(lang if lang in STOP_LISTS else "en")
    found, begin = list[tuple[int, int]](), 0
    for blank in [*_PARAGRAPH.finditer(text), None]:
        end = blank.start() if blank else len(text)
        found += _Paragraph(text, begin, end, starters, lang).bounds()
        begin = blank.end() if blank else end
    return found


@dataclass(slots=True)
class _Paragraph:
    """Text between blank lines.

    Args:
        text: The whole text.
        begin: Index of the first character of the paragraph.
        end: Index after its last.
        starters: Words in lower case that begin sentences.
        lang: The language.
    """

    text: str
    begin: int
    end: int
    starters: frozenset[str]
    lang: str | None
    first: int = field(init=False, default=0)
    """Index of the first character of the sentence at hand."""
    seen: int = field(init=False, default=0)
    """Index up to which its round brackets are counted."""
    depth: int = field(init=False, default=0)
    """Number of those that are open."""
    lower: bool = field(init=False, default=False)
    """True if the paragraph begins in lower case, as all its sentences may."""

    def bounds(self) -> list[tuple[int, int]]:
        """Bounds of the sentences of the paragraph."""
        text, found = self.text, list[tuple[int, int]]()
        self._begin(self._skip(self.begin))
        self.lower = text[self.first : self.first + 1].islower()
        for one in self._marks():
            after = self._skip(one.end())
            if self.first < one.start() and after < self.end and self._ends(one, after):
                source = _CITED.match(text, after, self.end)
                found.append((self.first, source.end() if source else self._last(one.end())))
                self._begin(self._skip(source.end()) if source else after)
        if self.first < self.end:
            found.append((self.first, self._last(self.end)))
        return found

    def _marks(self) -> Iterator[re.Match[str]]:
        """Marks that may end a sentence; the search for one of their characters is ten times as fast as for marks."""
        place = self.begin
        while found := _MAY_END.search(self.text, place, self.end):
            one = _END.match(self.text, found.start(), self.end)
            if one:
                yield one
            place = one.end() if one else found.end()

    def _begin(self, first: int) -> None:
        self.first = self.seen = first
        self.depth = 0

    def _skip(self, place: int) -> int:
        """Index of the first character from a place on that is not white space."""
        found = _VISIBLE.search(self.text, place, self.end)
        return found.start() if found else self.end

    def _last(self, place: int) -> int:
        """Index after the last character before a place that is not white space."""
        while self.text[place - 1].isspace():
            place -= 1
        return place

    def _ends(self, one: re.Match[str], after: int) -> bool:
        """True if a sentence ends at a mark, and another begins at the index ``after``."""
        match one.lastgroup:
            case "speech":
                return True
            case "stop":
                return self.text[after] not in _CLOSING
            case "item":
                return self._is_item(one.start())
            case "after":
                return self._ends_wide(one)
            case "line":
                return not self.text[after].islower()
            case _:
                return (
                    not self._in_brackets(one, after)
                    and self._ends_at_mark(one, after)
                    and not self._in_quotation(one.end())
                )

    def _ends_at_mark(self, one: re.Match[str], after: int) -> bool:
        """As `_ends`, for the marks of alphabets."""
        following = self.text[after : after + _NEAR]
        word = following.lstrip(_OPENING_AND_SPACE)
        if not word[:1].isalnum():
            return after > one.end() and word[:1] not in _CLOSING and self._ends_before(one, following, word)
        if after == one.end():
            return self._ends_without_space(one, following)
        if word[0].islower() and not _BRAND.match(word):
            return self._ends_before_lower(one, following)
        return self._ends_before(one, following, word)

    def _in_brackets(self, one: re.Match[str], after: int) -> bool:
        """True if a mark stands within round brackets that close soon, in a sentence that begins before them."""
        text = self.text
        self.depth += text.count("(", self.seen, one.end()) - text.count(")", self.seen, one.end())
        self.seen = one.end()
        soon = min(after + 4 * _NEAR, self.end)
        return self.depth > 0 and text[self.first] != "(" and text.find(")", after, soon) >= 0

    def _in_quotation(self, place: int) -> bool:
        """True if a place is in a quotation of several sentences that one sentence holds: it begins before and goes on.

        The sign said "No dogs. No cats." and nobody laughed.
        """
        text, begin = self.text, max(self.first + 1, place - 4 * _NEAR)
        for opens, closes in _QUOTATIONS:
            last = text.rfind(opens, begin, place)
            if last < 0 or text.find(closes, last + 1, place) >= 0:
                continue
            if opens == closes and (place - self.first > 8 * _NEAR or text.count(opens, self.first, place) % 2 == 0):
                continue
            close = text.find(closes, place, min(place + 4 * _NEAR, self.end))
            after = self._skip(close + 1)
            said = text[place - 1 : close].rstrip() if closes == "»" else text[place - 1 : close]  # French has a space
            if close > 0 and said[-1:] in {*".!?…"} and close + 1 < after < self.end and text[after].islower():
                return True
        return False

    def _is_item(self, place: int) -> bool:
        """True if a line that looks like the item of a list is one: after a mark or another item."""
        return self.text[place - 1] in ".:;!?" or bool(_ITEM.match(self.text, self.first))

    def _ends_wide(self, one: re.Match[str]) -> bool:
        """The rule of Chinese and Japanese: a sentence goes on after a quotation that asks, and before a particle."""
        marks, after = one["wide"], one["after"]
        if marks[0] == "…":
            return self.text[one.start() - 1] in _PARTICLES
        if not after.strip("。！？…"):
            return True
        if _GOES_ON.match(self.text, one.end()):
            return False
        return "。" in marks + after or self.text[one.end()] in "“「『" or after[-1] in "）)"

    def _ends_without_space(self, one: re.Match[str], following: str) -> bool:
        """True if the space after a mark was forgotten, and what stands there is neither an address nor a name."""
        if not following[0].isupper() or not following[1:2].islower():
            return one["close"].endswith("]") and following[0].isupper()
        before = self._before(one.start())
        word = before.strip(_OPENING + ")")
        plain = word[1:].islower() and word.isalpha() and len(word) > 2
        return plain and not _ADDRESS.search(before + following.split(maxsplit=1)[0])

    def _ends_before_lower(self, one: re.Match[str], following: str) -> bool:
        """True if a sentence begins in lower case: one of those that all do, or a function word."""
        before, mark = self._before(one.start()).lstrip(_OPENING), one["mark"]
        if one["close"] or one["note"] or not following[0].islower() or not before.isalpha():
            return False
        if mark == ".":
            known = before.lower() in _CLIPPED or _UNSPOKEN.fullmatch(before)
            return not known and len(before) > 2 and (self.lower or (len(before) > 3 and self._starts(following)))
        return mark[0] in "!?" and (self.lower or (len(mark) > 1 and self._starts(following)))

    def _ends_before(self, one: re.Match[str], following: str, word: str) -> bool:
        """True if a sentence ends before a capital, a digit or a sign."""
        mark, close = one["mark"], one["close"]
        if mark[-1] in "!?" and close and close[-1] in _QUOTES:
            return following[0] in _OPENING or not _SPEAKS.match(word)
        if mark != "." or close.strip(")]*_") or one["smile"]:
            return mark[0] not in "!?" or self.text[one.start() - 1] != "("
        before = self._before(one.start()).lstrip(_OPENING)
        if one["note"]:
            return before.islower() and len(before) > 2 and before not in _KNOWN
        if self._is_label(one):
            return False
        return not self._is_abbreviation(before, one, word)

    def _is_label(self, one: re.Match[str]) -> bool:
        """True if all that stands before a full stop is the number of an item, or of a part of a work."""
        if one.start() - self.first <= 12 and _LABEL.fullmatch(self.text, self.first, one.end()):
            return True
        near = self.text[max(self.first, one.start() - _NEAR) : one.start()].split()
        return (
            len(near) > 1 and near[-2].rstrip(".").lower() in _KINDS["divisions"] and bool(_ROMAN.fullmatch(near[-1]))
        )

    def _is_abbreviation(self, before: str, one: re.Match[str], word: str) -> bool:
        """True if a full stop belongs to the word before it and ends no sentence."""
        small = before.lower()
        if small in _BEFORE_NAMES:
            return small not in _PLACES or not self._starts(word)
        if small in _CLOCK:
            return bool(_ZONES.match(word)) or word[:1].isdecimal()
        if before.isdecimal():
            ordinal = word[:1].isdecimal() or _DATED.match(word) or (self.lang == "de" and not self._starts(word))
            return len(before) < 3 and bool(ordinal)
        letter, dotted = len(before) == 1 and before.isalpha(), bool(_DOTTED.fullmatch(before))
        if word[:1].isdecimal() or _NUMERAL.match(word):
            return letter or dotted or small in _WITHIN or small in _BEFORE_NUMBERS
        measure = (small in _KINDS["units"] or (letter and before.islower())) and self._has_number_before(one)
        short = letter or dotted or small in _WITHIN or bool(_UNSPOKEN.fullmatch(before))
        return short and not measure and not self._starts(word)

    def _starts(self, word: str) -> bool:
        """True if a word begins sentences: a function word, in most languages, and not an initial."""
        found = _WORD.match(word)
        if not found or word[found.end() : found.end() + 1] == ".":
            return False
        return found[0].lower() in self.starters or word[found.end() - 2 : found.end() + 1] == "ly,"

    def _has_number_before(self, one: re.Match[str]) -> bool:
        near = self.text[max(self.first, one.start() - _NEAR) : one.start()].split()
        return len(near) > 1 and near[-2][-1].isdecimal()

    def _before(self, place: int) -> str:
        """The characters without white space before a place, as far as they are near."""
        words = self.text[max(self.first, place - _NEAR) : place].rsplit(maxsplit=1)
        return words[-1] if words and not self.text[place - 1].isspace() else ""
