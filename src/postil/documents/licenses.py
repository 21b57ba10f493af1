"""Texts of known licenses in a document: GPL, LGPL, AGPL, FDL, MIT, BSD, Apache, MPL and Creative Commons."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["license_blocks"]

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
