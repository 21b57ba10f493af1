"""Wikitext as blocks of plain text with the anchors in each: headings, paragraphs, items, quotations, code and notes.

Templates are left out with all they would show, but for a few whose text is among what they are given (`SHOWN`); so
are tables, references, comments, formulas, galleries, and files with their captions.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from postil.documents.anchors import Anchor, WikiPage
from postil.documents.wiki_markup import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mwparserfromhell.nodes import Heading, Node, Tag, Template

__all__ = ["PlacedAnchor", "WikiBlock", "WikiBlockKind", "redirect_of", "wiki_blocks"]

WikiBlockKind: TypeAlias = Literal["heading", "paragraph", "item", "quote", "code", "note"]
"""Role of a block; ``note`` is anything in a section of references or links."""

SHOWN: Final[Mapping[str, tuple[int, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("convert", "cvt"), (1, 2)),
        "lang": (2,),
        **dict.fromkeys(("nowrap", "abbr", "small", "nobold", "transl", "val", "formatnum", "em", "strong", "'"), (1,)),
    }
)
"""Templates of Wikipedia whose text is made of what they are given, and which of it."""

_SECTIONS: Final = re.compile(
    r"(?:references|notes|notes and references|footnotes|citations|sources|bibliography|works cited|further reading|"
    r"external links|see also|gallery|einzelnachweise|literatur|weblinks|siehe auch|quellen|anmerkungen|références|"
    r"notes et références|liens externes|voir aussi|bibliographie|referencias|enlaces externos|véase también|"
    r"bibliografía|note|collegamenti esterni|altri progetti|voci correlate|bibliografia|referências|ver também|"
    r"ligações externas|bronnen|externe links?|zie ook|referenser|externa länkar|se även|примечания|ссылки|литература|"
    r"см\. также|参考文献|外部链接|外部連結|参见|參見|注释|註釋)\W*",
    re.IGNORECASE,
)
_REDIRECT: Final = re.compile(
    r"\s*#\s*(?:redirect|weiterleitung|redirection|redirección|rinvia|redirecionamento|doorverwijzing|omdirigering|"
    r"перенаправление|重定向)\s*+(?::\s*+)?\[\[([^\[\]|#\n]{1,255})",
    re.IGNORECASE,
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ITEM, _HEADING, _ANCHOR, _QUOTE, _UNQUOTE, _CODE, _UNCODE = "\x03\x04\x05\x06\x07\x0e\x0f"
_MARKS: Final = re.compile("[\x03\x04\x06\x07\x0e\x0f]")
_EMPTY: Final = re.compile(r"(?:(?<!\s)\s++)?[(（]\s*+(?:[;,:/–-]\s*+)*+[)）]")
_BEGUN: Final = re.compile(r"(?<=[(（])\s*+(?:[;,]\s*+)++")
_LEFT: Final = re.compile(r"(?<![;,\s])(?:\s*+[;,])++\s*+(?=[)）])")
_BEFORE_SIGN: Final = re.compile(r"(?<!\s)\s++(?=[,.;:](?:\s|$))")


@dataclass(frozen=True, slots=True)
class PlacedAnchor:
    """An anchor in a block.

    Args:
        anchor: The anchor.
        start: Index of its first character in the text of the block.
    """

    anchor: Anchor
    start: int


@dataclass(frozen=True, slots=True)
class WikiBlock:
    """A block.

    Args:
        kind: Its role.
        text: Its text with single spaces; of code as it is written.
        level: Depth of a heading or an item, from 1; 0 for other kinds.
        anchors: The links in it, in the order of the text.
    """

    kind: WikiBlockKind
    text: str
    level: int = 0
    anchors: tuple[PlacedAnchor, ...] = ()


def wiki_blocks(wikitext: str) -> Iterator[WikiBlock]:
    r"""Read a wikitext.

    Args:
        wikitext: Any text; broken markup is text.

    Yields:
        Its blocks, in their order; none of them is empty.

    Raises:
        MissingExtra: mwparserfromhell is not installed.

    >>> for block in wiki_blocks("A [[duck]] is a\nbird.{{cn}}\n\n== Food ==\n* [[Poaceae|Grass]]"):
    ...     print(block.kind, block.level, block.text, [(each.anchor.target, each.start) for each in block.anchors])
    paragraph 0 A duck is a bird. [('Duck', 2)]
    heading 1 Food []
    item 1 Grass [('Poaceae', 0)]
    """
    page = _MarkedPage()
    page.read(parsed(_CONTROLS.sub(" ", wikitext)))
    anchors = iter(page.anchors)
    depth = 0  # of the section of notes that is being read
    for kind, level, marked in _pieces(page.text):
        found = _block(kind, level, marked, anchors)
        if found is None:
            continue
        if kind == "heading":
            if not depth or level <= depth:
                depth = level if _SECTIONS.fullmatch(found.text) else 0
        elif depth and kind != "code":
            found = WikiBlock("note", found.text, 0, found.anchors)
        yield found


def redirect_of(wikitext: str) -> str | None:
    """Title of the page that a redirect leads to; None of any other page.

    Args:
        wikitext: The page.

    >>> redirect_of("#REDIRECT [[Duck#Food]]"), redirect_of("A duck.")
    ('Duck', None)
    """
    found = _REDIRECT.match(wikitext)
    return None if found is None else " ".join(found[1].replace("_", " ").split())


def _block(kind: WikiBlockKind, level: int, marked: str, anchors: Iterator[Anchor]) -> WikiBlock | None:
    """Make a block of a text in which a mark stands before each anchor; None of an empty one."""
    if kind != "code":
        marked = " ".join(marked.split())
        marked = _BEFORE_SIGN.sub("", _LEFT.sub("", _BEGUN.sub("", _EMPTY.sub("", marked))))
    pieces = marked.split(_ANCHOR)
    places, length = [], len(pieces[0])
    for piece in pieces[1:]:
        places.append(PlacedAnchor(next(anchors), length))
        length += len(piece)
    text = "".join(pieces)
    blank = len(text) - len(text.lstrip())
    shown = text.strip("\n") if kind == "code" else text.strip()
    if not any(map(str.isalnum, shown)):
        return None
    moved = tuple(PlacedAnchor(each.anchor, max(each.start - blank, 0)) for each in places)
    return WikiBlock(kind, shown, level, moved)


def _pieces(text: str) -> Iterator[tuple[WikiBlockKind, int, str]]:
    """Lines of a marked text put together: their role, their level and the text."""
    kind: WikiBlockKind = "paragraph"
    lines: list[str] = []
    for line in text.split("\n"):
        level = line.count(_ITEM)
        starts: WikiBlockKind | None = None
        if _HEADING in line:
            starts, level = "heading", line.count(_HEADING)
        elif level:
            starts = "item"
        if starts is not None or not _bare(line) or any(mark in line for mark in (_QUOTE, _UNQUOTE, _CODE, _UNCODE)):
            if lines and (kind != "code" or _UNCODE in line or starts is not None):
                yield kind, 0, "\n".join(lines)
                lines = []
            if starts is not None:
                yield starts, level, _bare(line)
                continue
        if _QUOTE in line or _CODE in line:
            kind = "quote" if _QUOTE in line else "code"
        elif _UNQUOTE in line or _UNCODE in line:
            kind = "paragraph"
        if _bare(line):
            lines.append(_bare(line))
    if lines:
        yield kind, 0, "\n".join(lines)


def _bare(line: str) -> str:
    bare = _MARKS.sub("", line)
    return bare if bare.strip(" \t\x05\xa0") else ""


class _MarkedPage(WikiPage):
    """A page with marks before its headings, items and anchors, and around quotations and code."""

    def __init__(self) -> None:
        super().__init__()
        self._coming = 0

    def begin_anchor(self) -> None:
        self._coming += 1

    def say(self, text: str) -> None:
        super().say(text)
        if self._coming and text.strip():
            self.before_last(_ANCHOR * self._coming)
            self._coming = 0

    def heading(self, heading: Heading) -> None:
        super().say("\n" + _HEADING * max(int(heading.level) - 1, 1))
        self.read(heading.title)
        super().say("\n")

    def other(self, node: Node) -> None:
        super().other(node)
        if type(node).__name__ == "Template":
            self._template(node)  # type: ignore[arg-type]

    def _template(self, template: Template) -> None:
        name = str(template.name).strip().lower()
        places = (1,) if name.startswith("lang-") else SHOWN.get(name, ())
        for place in places:
            if template.has(place):
                self.read(template.get(place).value)
                super().say("\xa0" if place != places[-1] else "")

    def tag(self, tag: Tag) -> None:
        name = str(tag.tag).strip().lower()
        if name == "table":
            super().say("\n\n")
        elif name in {"li", "dd", "dt"} and tag.wiki_markup:
            super().say(_ITEM)
        elif name == "blockquote":
            self._around(_QUOTE, tag, _UNQUOTE)
        elif name in {"pre", "source", "syntaxhighlight"}:
            super().say(f"\n{_CODE}\n")
            super().say(html.unescape(str(tag.contents or "")))
            super().say(f"\n{_UNCODE}\n")
        else:
            super().tag(tag)

    def _around(self, before: str, tag: Tag, after: str) -> None:
        super().say(f"\n{before}\n")
        if tag.contents is not None:
            self.read(tag.contents)
        super().say(f"\n{after}\n")
