"""Signs of what surrounds the prose of a document: headings, contents, notes, page numbers, texts of licenses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from postil.text.sentences import END_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.documents.document import BlockKind, Piece

__all__ = [
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
    "license_blocks",
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

    >>> from postil.documents.document import Piece
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
    if _OUTLINE.sub("", text, count=1).strip(" .:*_").casefold() in _ALONE:
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


_SHORT: Final = 900
"""Largest number of characters of a block that is a notice of a license."""
_GAP: Final = 12
"""Largest number of blocks between two of the text of a license that are taken for it as well."""
_LONGEST_TITLE: Final = 100
_LONGEST: Final = 20_000
"""Number of characters of a block that are looked at."""


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


_GNU: Final = r"gnu (?:lesser |library |affero )?general public licen[sc]es?|gnu free documentation licen[sc]e"
_WORKS: Final = (
    "work|document|book|manual|article|page|site|website|text|paper|chapter|tutorial|guide|report|image|material|post"
)
_SHORT_TEXT: Final = _any(
    r"permission is hereby granted, free of charge, to any person obtaining a copy",
    r"permission to use, copy, modify,? (?:and/or |and )?(?:distribute|sell) this (?:software|documentation)",
    r"copyright notice and this permission notice (?:shall be included|appear) in all copies",
    r"(?:software|library|program) is provided [\"']?as is[\"']?,? (?:without (?:any )?warrant|and (?:the author|isc))",
    r"this software is provided by .{1,200}[\"']as is[\"'] and any express",
    r"redistribution and use in (?:source|any form)",
    r"redistributions (?:of source code|in binary form|in any form) must",
    r"may be used to endorse or promote products derived from",
    r"in no event shall (?:the )?(?:authors?|copyright|regents|contributors?)\b[^.]{0,200} be liable for any",
    r"permission is granted to (?:make and|copy and|process) (?:distribute )?(?:verbatim|modified|translations|this)",
)
"""Phrases of the texts of licenses of a few paragraphs, in small letters."""
_LONG_TEXT: Final = _any(
    r"everyone is permitted to copy and distribute verbatim copies of this licen[sc]e",
    r"you may copy and distribute (?:verbatim copies of the program|the (?:program|library) )",
    r"creative commons corporation (?:\([\"']creative commons[\"']\) )?is not a law firm",
    r"by exercising the licensed rights \(defined below\)",
    r"the work \(as defined below\) is provided under the terms of this creative commons",
    r"creative commons is not a party to its public licen[sc]es",
    r"you may copy and distribute the document in any medium",
    r"this license applies to any (?:program|manual|software library)",
    r"[\"']?license[\"']? shall mean the terms and conditions for use, reproduction",
    r"each contributor hereby grants to you a perpetual, worldwide",
    r"means each individual or legal entity that creates, contributes to the creation of",
    r"to apply the apache license to your work, attach",
    r"if you develop a new (?:program|library), and you want it to be of the greatest",
    r"also add information on how to contact you by electronic and paper mail",
    r"you should also get your employer \(if you work as a programmer\)",
    r"hereby disclaims all copyright interest in",
    r"signature of (?:ty coon|moe ghoul)",
)
"""Phrases of the texts of long licenses, in small letters."""
_NOTICE: Final = _any(
    rf"permission is granted to copy, distribute and/or modify this .{{1,60}} under the terms of the {_GNU}",
    rf"you can redistribute (?:it|them) and/or modify (?:it|them) under the terms of the {_GNU}",
    r"in the hope that (?:it|they) will be useful, but without any warranty",
    rf"you should have received a copy of the {_GNU}",
    r"with no invariant sections",
    r"is included in the (?:section|appendix|chapter|file) (?:entitled|called|named) [\"']?(?:gnu|copying)",
    r"licensed under the apache licen[sc]e,? (?:version )?2",
    r"you may not use (?:this file|these files|this work|the files) except in compliance with the licen[sc]e",
    r"software distributed under the licen[sc]e is distributed on an [\"']?as is",
    r"you may obtain a copy of the licen[sc]e at",
    r"this source code form is subject to the terms of the mozilla public licen[sc]e",
    r"(?:use of this source code|this software|this project|this program|this code|code) is "
    r"(?:governed by|(?:released|licensed|distributed) under) (?:an?|the) (?:\S+ ){0,3}(?:mit|bsd|gpl|apache|isc)\b",
    rf"(?:this (?:{_WORKS})|text|content|documentation|except where otherwise noted.{{0,60}}) (?:is|are) "
    r"(?:made )?(?:licensed|available|released|distributed|published) under (?:an?|the) (?:terms of (?:an?|the) )?"
    r"(?:creative commons|cc[ -]by|cc0|gnu)",
    r"to view a copy of (?:this|the) licen[sc]e, visit (?:<?https?://)?(?:www\.)?creativecommons",
    r"\A<?https?://(?:www\.)?(?:apache|creativecommons|gnu|mozilla|opensource)\.org/licenses?/\S{1,80}\Z",
    r"share ?[-–—:]+ ?(?:to )?copy(?:,| and) (?:re)?distribute",
    r"(?:adapt|remix) ?[-–—:]+ ?(?:to )?(?:remix, transform|adapt the work)",
    r"you must give appropriate credit, provide a link to the license",
    r"you may not apply legal terms or technological measures that legally restrict",
    r"if you remix, transform, or build upon the material, you must distribute your contributions under",
    r"lizenziert unter (?:einer|der) creative commons",
    r"(?:bajo|con) (?:una|la) licencia (?:de )?creative commons",
    r"(?:selon les termes de|sous) (?:la|une) licence creative commons",
    r"(?:采用|遵循|采取|使用).{0,20}知识共享.{0,40}(?:许可|协议)",
)
"""Phrases of what a document says of its license, in small letters."""
_SIGNS: Final = (
    *("licen", "permission", "distribut", "warrant", "liable", "endorse", "creative", "invariant", "remix"),
    *("technological", "attribution", "知识共享"),
)
"""Parts of words of which every phrase and title has one: looking for them costs less."""
_TITLE: Final = re.compile(
    r"(?:(?:appendix|annex|chapter|part)? ?[\dA-Z]{0,3}[.:]? ?)?(?:the )?"
    r"(?:gnu (?:lesser |library |affero )?general public license|gnu free documentation license|apache license|"
    r"mozilla public license|creative commons (?:legal code|public licenses?)|"
    r"(?:creative commons )?attribution(?:-noncommercial)?(?:-sharealike|-noderiv(?:ative)?s)?"
    r" \d\.\d(?: (?:international|unported|generic))?(?: public license)?)"
    r"(?:,? ?\(?(?:version|v) ?\d(?:\.\d{1,2}){0,2}\)?)?(?:, .{3,40}\d{4})?(?: https?://\S+)?",
    re.IGNORECASE,
)
_OWN_TERMS: Final = re.compile(
    r"\b(?:[Tt]his (?:Public )?[Ll]icense|THIS (?:PUBLIC )?LICENSE|General Public Licenses?|Free Documentation License|"
    r"(?:the|The) (?:Program|Library|Document|Work|Licensor|Licensee|Licensed (?:Material|Rights)|Corresponding Source|"
    r"Original Author|Covered Software|Contributor)|covered work|Derivative Works?|Modified Versions?|"
    r"Adapted Material|Covered Software|Larger Work|Invariant Sections?|Cover Texts?|Transparent (?:copy|copies)|"
    r"Opaque (?:copy|copies)|Title Page|section Entitled|Free Software Foundation|[Ff]ree (?:software|program)s?|"
    r"object code|(?:of|FOR) (?:MERCHANTABILITY|A PARTICULAR PURPOSE)|TERMS AND CONDITIONS|terms and conditions|"
    r"patent licenses?|You (?:may|must|are|hereby)|Your (?:exercise|modifications|rights)|"
    r"copyright (?:notice|holder)s?|hereby grants|Yoyodyne)\b"
)
"""Words that the text of a license uses as its own, and that others hardly do."""
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'", "\u00ad": None})


def license_blocks(texts: Sequence[str]) -> list[bool]:
    """Tell which blocks of a document are of the text of a license, or say under which one the document is.

    Short texts are told block by block, by phrases that only they have, and long ones by their own terms between the
    first and the last of them.

    Args:
        texts: The texts of blocks, in their order, headings among them.

    Returns:
        True for each of them that is.

    >>> license_blocks(["It rained.", "Permission is hereby granted, free of charge, to any person obtaining a copy"])
    [False, True]
    """
    found, first, last, is_sure = [False] * len(texts), -1, -1, False
    for place, whole in enumerate(texts):
        if place - last > _GAP:
            first = -1
        small = whole[:_LONGEST].lower()
        if first < 0 and not any(sign in small for sign in _SIGNS):
            continue
        text = " ".join(whole[:_LONGEST].split()).translate(_QUOTES)
        small = text.lower().replace("''", '"')
        found[place] |= (len(text) <= _SHORT and _says(_NOTICE, small)) or _says(_SHORT_TEXT, small)
        is_title = len(text) <= _LONGEST_TITLE and _TITLE.fullmatch(text.strip(" *_#=")) is not None
        is_text = _says(_LONG_TEXT, small)
        if not is_title and not is_text and (first < 0 or not _OWN_TERMS.search(text)):
            continue
        if first < 0:
            first, is_sure = place, False
        is_sure |= is_text  # a title alone may be one of an article about the license
        last = place
        if is_sure:
            found[first : place + 1] = [True] * (place + 1 - first)
            first = place
    return found


def _says(phrases: re.Pattern[str], text: str) -> bool:
    """True if a text has a phrase that it does not quote."""
    said = phrases.search(text)
    return said is not None and text.count('"', 0, said.start()) % 2 == 0
