"""Signs of what surrounds the prose of a document, shared by its readers: headings, contents, notes, page numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.text.sentences import END_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from postil.documents.document import BlockKind
    from postil.documents.pieces import Piece

__all__ = [
    "CONTENTS_TITLES",
    "NOTES_TITLES",
    "SENTENCE_END",
    "ends_sentence",
    "in_sections",
    "is_caption_line",
    "is_contents_line",
    "is_heading_line",
    "is_imprint_line",
    "is_note_line",
    "is_page_number",
    "is_strong_heading",
    "item_marker",
    "section_kind",
    "without_marks",
    "without_number",
]

SENTENCE_END: Final = re.compile(
    rf"[{END_MARKS}][\"'”’»)\]」』）*_]{{0,4}}(?:[\[({{]\d{{1,3}}[\])}}]|[*†‡§¹²³⁴-⁹]){{0,3}}\s*\Z"
)
"""End mark of a sentence at the end of a text, before quotation marks, brackets and marks of notes."""

_CONTENTS: Final = (
    "contents|table of contents|list of figures|list of tables|list of illustrations|illustrations|index|general index|"
    "inhalt|inhaltsverzeichnis|register|sommaire|table des matières|índice|indice|sumario|目录|目次"
)
_NOTES: Final = (
    "references|reference list|notes|footnotes|endnotes|notes and references|bibliography|works cited|"
    "literature cited|sources|citations|further reading|external links|see also|einzelnachweise|literatur|weblinks|"
    "anmerkungen|fußnoten|siehe auch|références|notes et références|bibliographie|liens externes|voir aussi|"
    "referencias|bibliografía|enlaces externos|参考文献|参考资料|外部链接"
)
_SECTIONS: Final = (
    "abstract|acknowledgements|acknowledgments|afterword|appendix|conclusion|conclusions|dedication|discussion|"
    "epilogue|executive summary|foreword|introduction|methods|overview|preface|prologue|results|summary|background|"
    "the end|finis|zusammenfassung|einleitung|vorwort|résumé|introducción"
)
_SMALL_WORDS: Final = (
    "a an and as at by for from in into nor of on or over the to upon with und der die das von im am zu et de la le "
    "les du des y el los en"
)
CONTENTS_TITLES: Final = frozenset(_CONTENTS.split("|"))
"""Headings of tables of contents and indexes."""
NOTES_TITLES: Final = frozenset(_NOTES.split("|"))
"""Headings of sections of notes, references and links."""

_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){1,4}\.?|(?:\d{1,3}|[ivxlc]{1,6}|[a-z])[.)]?)\s+", re.IGNORECASE)
_MARKS: Final = re.compile(
    r"(?<=[\w.,;:!?…\"'”’»)\]%])\[(?:\d{1,3}(?:[,–-]\s?\d{1,3})*|[a-z]|(?:note|nb|n)\s\d{1,3}|citation needed|edit"
    r"|update|clarification needed|when\?|who\?|by whom\?)\](?::\s?\d{1,4}(?:[–-]\d{1,4})?(?!\d))?",
    re.IGNORECASE,
)
_PAGE_NUMBER: Final = re.compile(
    r"[-–—\[({|~•\s]*(?:(?:page|pg\.?|p\.|seite|p[aá]gina)\s*)?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|von|de|sur)\s*\d{1,4})?[-–—\])}|~•\s]*",
    re.IGNORECASE,
)
_LEADERS: Final = re.compile(
    r"(?:\.{3,}|…{2,}|(?:\.\s){3,}|(?:…\s?){2,}|_{4,}|·{4,})\s*(?:\d{1,4}|[ivxlc]{1,7})?\s*\Z", re.IGNORECASE
)
_TO_PAGE: Final = re.compile(r"\S(?:\s{2,}|\t|\s*,\s*)(?:\d{1,4}|[ivxlc]{2,7})(?:\s*[,–-]\s*\d{1,4})*\.?\s*\Z")
_NOTE: Final = re.compile(
    r"\s*(?:\[(?:\d{1,4}|[a-z]|\*{1,3}|\^\d{1,4})\]|\[?(?:foot|end)?note\s+(?:\d{1,4}|[a-z])\b\s*[:.\]]|\{\d{1,4}\}|"
    r"[†‡¹²³⁴⁵⁶⁷⁸⁹]{1,3}\s|\*{2,3}\s|↑|\^\s)",
    re.IGNORECASE,
)
_PART: Final = re.compile(
    r"(?:the\s+)?(?:(?:\w+)\s+)?(?:chapter|chap\.|part|book|section|act|scene|canto|volume|letter|appendix|"
    r"kapitel|teil|buch|chapitre|"
    r"livre|partie|cap[ií]tulo|parte|libro)(?:\s+(?:the\s+)?(?:\d{1,4}|[ivxlc]{1,8}|[a-z]|\w{3,12}(?:[-\s]\w{3,7})?))?"
    r"\s*(?:[.:—–-]\s*.{0,80})?",
    re.IGNORECASE,
)
_CHINESE_PART: Final = re.compile(r"第\s*[\d〇零一二三四五六七八九十百千]{1,7}\s*[章节回卷部篇].{0,40}")
_ROMAN: Final = re.compile(r"(?:[IVXLC]{1,8}|\d{1,3})\.?")
_OUTLINE: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[IVXLC]{1,7}\.|[A-Z]\.)\s+(?=[^\W\d_])")
_ALONE: Final = frozenset(_SECTIONS.split("|"))
_ITEM: Final = re.compile(
    r"\s*(?:[-*+•‣▪●○◦–](?=\s)|\(?\d{1,3}[.)](?=\s)|\(?_?(?:[a-z]|[ivx]{2,5})_?\)(?=\s)|"
    r"[a-z]\.(?=\s+[^\W\d_a-z])|\[[ xX]\](?=\s))\s+(?=\S)"
)
_IMPRINT: Final = re.compile(
    r"(?:copyright\b|©|\(c\)\s|all rights reserved|isbn\b|issn\b|doi:|printed (?:in|by|for)\b|published by\b|"
    r"produced by\b|transcribed (?:from|by)\b|first published\b|e-?text prepared\b|release date\b|\[e-?(?:book|text)|"
    r"last updated\b|"
    r"this (?:ebook|e-book|etext) is\b|note: project gutenberg|https?://\S+\Z|www\.\S+\Z|"
    r"alle rechte vorbehalten|tous droits réservés)",
    re.IGNORECASE,
)
_CAPTION: Final = re.compile(
    r"(?:fig(?:ure|\.)|table|plate|chart|exhibit|abb(?:ildung|\.)|tabelle|tableau)\s*\d{1,3}(?:[.-]\d{1,2})?[a-z]?\s*"
    r"(?:[.:–—|-]\s|$)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\[?transcriber[’']?s[’']? notes?\b", re.IGNORECASE)
_LONGEST_HEADING: Final = 80
_MOST_WORDS: Final = 12
_SMALL: Final = frozenset(_SMALL_WORDS.split())


def without_number(heading: str) -> str:
    """A heading without the number or letter that it begins with.

    Args:
        heading: The heading.

    >>> without_number("IV. The Flood"), without_number("2.1 Rain"), without_number("The Flood")
    ('The Flood', 'Rain', 'The Flood')
    """
    return _OUTLINE.sub("", heading, count=1)


def ends_sentence(text: str) -> bool:
    """True if a text ends with the end mark of a sentence.

    Args:
        text: The text.
    """
    return SENTENCE_END.search(text[-24:]) is not None


def without_marks(text: str) -> str:
    """Take the marks of notes out of a text, where they are in brackets and follow a word or a mark without a space.

    Args:
        text: The text.

    >>> without_marks("It rained.[1][note 2] Nobody[citation needed] left Ely [sic].")
    'It rained. Nobody left Ely [sic].'
    """
    while (shorter := _MARKS.sub("", text)) != text:  # the second of two follows the first
        text = shorter
    return text


def section_kind(heading: str) -> BlockKind | None:
    """Role of the lines under a heading: ``contents``, ``note``, ``margin``, or None where they are anything.

    Args:
        heading: The heading.

    >>> section_kind("5. References"), section_kind("CONTENTS."), section_kind("The river")
    ('note', 'contents', None)
    """
    name = _NUMBERED.sub("", " ".join(heading[:100].split()), count=1).strip(" .:—–-*_#[]").casefold()
    if name in CONTENTS_TITLES:
        return "contents"
    if _ASIDE.match(name):
        return "margin"
    return "note" if name in NOTES_TITLES else None


def in_sections(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Tell notes, lines of contents and captions by the headings that they are under, or by their first words.

    Args:
        pieces: Pieces of a document whose headings have levels.

    >>> from postil.documents.pieces import Piece
    >>> given = [Piece("heading", "Notes", 2), Piece("item", "Smith 1999.", 1), Piece("heading", "Rain", 2)]
    >>> [piece.kind for piece in in_sections(given)]
    ['heading', 'note', 'heading']
    """
    inside: BlockKind | None = None
    depth = 0
    for piece in pieces:
        if piece.kind == "heading":
            if inside is None or piece.level <= depth:
                inside, depth = section_kind(piece.text), piece.level
            yield piece
        elif inside == "note" and piece.kind in {"item", "paragraph", "quote"}:
            yield piece._replace(kind="note", level=0)
        elif piece.kind == "paragraph" and is_caption_line(piece.text):
            yield piece._replace(kind="caption")
        elif inside == "contents" and piece.kind in {"item", "paragraph"} and not ends_sentence(piece.text):
            yield piece._replace(kind="contents", level=0)
        else:
            yield piece


def is_page_number(line: str) -> bool:
    """True if a line is a page number, alone or with the number of pages.

    Args:
        line: The line.

    >>> [is_page_number(line) for line in ("- 12 -", "Page 3 of 10", "xiv", "In 1953", "")]
    [True, True, True, False, False]
    """
    return len(line) <= 40 and any(map(str.isalnum, line)) and _PAGE_NUMBER.fullmatch(line.strip()) is not None


def is_contents_line(line: str) -> bool:
    """True if a line ends with the page that it leads to, after dots, a wide gap or, in an index, a comma.

    Args:
        line: The line.

    >>> [is_contents_line(line) for line in ("1. Rain ........ 7", "Rain      12", "Ouse, river, 4, 19-21", "In 1953")]
    [True, True, True, False]
    """
    return len(line) <= 200 and (_LEADERS.search(line) is not None or _TO_PAGE.search(line) is not None)


def is_note_line(line: str) -> bool:
    """True if a line begins with the mark of a footnote.

    Args:
        line: The line.

    >>> [is_note_line(line) for line in ("[12] See Smith.", "[Footnote 3: Ibid.]", "† Lost.", "[sic] is Latin")]
    [True, True, True, False]
    """
    return _NOTE.match(line) is not None


def item_marker(line: str) -> int:
    """Number of characters of the marker that a line begins with if it is an item of a list; 0 if it is none.

    Args:
        line: The line.

    >>> [item_marker(line) for line in ("- tea", "  2) tea", "(a) tea", "A goat", "-5 degrees")]
    [2, 5, 4, 0, 0]
    """
    found = _ITEM.match(line[:40])
    return 0 if found is None else found.end()


def is_caption_line(line: str) -> bool:
    """True if a line begins as the caption of a figure or a table does.

    Args:
        line: The line.

    >>> is_caption_line("Figure 3: The river."), is_caption_line("Figure 3 shows the river.")
    (True, False)
    """
    return _CAPTION.match(line) is not None


def is_imprint_line(line: str) -> bool:
    """True if a line is of an imprint: copyright, printer, number of a book.

    Args:
        line: The line.

    >>> is_imprint_line("Copyright 1910 by the author"), is_imprint_line("Copyrights are old.")
    (True, False)
    """
    return len(line) <= 200 and _IMPRINT.match(line.strip()) is not None


def is_strong_heading(line: str) -> bool:
    """True if a line is a heading wherever it stands: a part of a book, a usual name of a section, capitals.

    Args:
        line: The line.

    >>> [is_strong_heading(line) for line in ("CHAPTER IV. The Flood", "Preface", "THE LAST DAY.", "The flood")]
    [True, True, True, False]
    """
    text = line.strip()
    if not 2 <= len(text) <= _LONGEST_HEADING:
        return False
    if _CHINESE_PART.fullmatch(text) or section_kind(text) is not None:
        return True
    if _PART.fullmatch(text) and (text[0].isupper() or text[0].isdigit()) and not _runs_on(text):
        return True
    name = _OUTLINE.sub("", text, count=1).strip(" .:*_").casefold()
    if name in _ALONE:
        return True
    letters = [each for each in text if each.isalpha()]
    capitals = (
        len(letters) >= 5
        and all(each.isupper() for each in letters)
        and any(each.islower() != each.isupper() for each in letters)
    )
    return capitals and text[-1] not in ",;" and not text.endswith(("!", "?"))


def is_heading_line(line: str) -> bool:
    """True if a line can be a heading where it stands alone: short, without an end mark, words with capitals.

    Args:
        line: The line.

    >>> [is_heading_line(line) for line in ("2.1 Results of the survey", "The Price of Salt", "and so it went")]
    [True, True, False]
    """
    text = line.strip(" \t_*")
    if is_strong_heading(text):
        return True
    if not 2 <= len(text) <= _LONGEST_HEADING or text[-1] in f"{END_MARKS},;:，；：" or ends_sentence(text):
        return False
    if _ROMAN.fullmatch(text) or _OUTLINE.match(text):
        return True
    words = text.split()
    large = [word for word in words if word.casefold() not in _SMALL]
    if len(words) > _MOST_WORDS or not large or not words[0][:1].isupper():
        return False
    return (
        sum(word.lstrip("\"'“‘«(")[:1].isupper() or word[0].isdigit() for word in large) >= 0.6 * len(large)
        or len(words) <= 6
    )


def _runs_on(text: str) -> bool:
    """True if a line that begins as a part of a book goes on as a sentence."""
    return ends_sentence(text) and len(text.split()) > 8 and not text.isupper()
