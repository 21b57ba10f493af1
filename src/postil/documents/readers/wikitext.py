"""Reader of wikitext, the source of a page of Wikipedia or another MediaWiki: blocks of plain text with their anchors.

mwparserfromhell reads the markup; nothing is fetched or expanded. Templates are left out with all they would show, but
for a few whose text is among what they are given (`SHOWN`); so are tables, references, comments, formulas, galleries,
and files with their captions.

A link is an anchor where it leads to an article of the same wiki. Links to categories, files, other languages, other
projects and other namespaces are none: a category, a picture and the link to the same article in another language show
no text, the rest is plain text. Prefixes are known as Wikipedia has them: the codes of its languages and projects, and
namespaces by their English names and those of the ten languages of `postil.text.stop_words`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from postil.documents.document import Block, Document, Reader
from postil.documents.raw_files import decoded
from postil.errors import InvalidInput, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mwparserfromhell.nodes import Heading, Node, Tag, Template, Wikilink
    from mwparserfromhell.wikicode import Wikicode

__all__ = [
    "READER",
    "Anchor",
    "PlacedAnchor",
    "WikiBlock",
    "WikiBlockKind",
    "WikiPage",
    "parsed",
    "read_wikitext",
    "redirect_of",
    "wiki_blocks",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OWN_LINE = _words("blockquote br caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem pre table td th tr ul")
_IN_LINE = _words("abbr b bdi big cite code del em font i ins kbd s small span strike strong sub sup tt u var")
_SWITCHES = _words("""
    DISAMBIG FORCETOC HIDDENCAT INDEX NEWSECTIONLINK NOCC NOCONTENTCONVERT NOEDITSECTION NOGALLERY NOINDEX
    NONEWSECTIONLINK NOTC NOTITLECONVERT NOTOC STATICREDIRECT TOC
""")
# The parser takes quotes and tags out in pairs; these are the ones without a partner.
UNSEEN_MARKS = re.compile(
    rf"'{{2,}}|__(?:{'|'.join(_SWITCHES)})__|(?i:</?(?:{'|'.join(OWN_LINE | _IN_LINE)})(?:\s[^<>]*)?/?>)|\x02"
)
_BETWEEN = "\x02"
"""Stands for such a mark that is taken out before the parser reads: the words on its sides are still two."""

_MARKUP = re.compile(
    r"\{{2,}|\}{2,}|\[\[|\[(?=\w+:|//)|\]+|^[ \t:]*\{\||\|\}(?!\})|<!--|</?[A-Za-z][^\s<>/]*|\n", re.MULTILINE
)
_END_OF_TAG = re.compile(r"[^<>]*>")
_ALONE = _words("br dd dt hr img li link meta td th tr wbr")  # the parser looks for no end of these
_MOST_OPEN = 20
"""Largest number of unclosed pieces of markup left to the parser, which scans to the end of the page for each."""
_DEEPEST = 40
"""Deepest nesting of markup; what is deeper is text. The parser does not read much deeper either."""

BRACKETS = re.compile(r"\[{2,}|\]{2,}")


def parsed(wikitext: str) -> Wikicode:
    """Parse a wikitext, in a time that does not grow with the square of its length.

    Args:
        wikitext: Any text.

    Raises:
        MissingExtra: mwparserfromhell is not installed.
    """
    with needs("reading wikitext", "pages"):
        from mwparserfromhell import parse  # noqa: PLC0415
    return parse(_tamed(wikitext.replace("\0", "")))  # the compiled parser would end there


def _tamed(wikitext: str) -> str:
    """Replace unclosed or too deeply nested markup by text, where there is much of it.

    The parser tries each beginning up to the end of the page, so that many of them take time with the square of its
    length.
    """
    scan = _Scan(wikitext)
    scan.run()
    if not scan.deep and len(scan.lost) <= _MOST_OPEN:
        return wikitext
    pieces, done = [], 0
    for start, end in sorted(scan.lost):
        pieces += [wikitext[done:start], _as_text(wikitext[start:end])]
        done = end
    return "".join([*pieces, wikitext[done:]])


class _Scan:
    """A single pass over the markup of a page that finds unclosed and too deeply nested pieces."""

    def __init__(self, wikitext: str) -> None:
        self.lost: list[tuple[int, int]] = []
        self.deep = False
        self._wikitext = wikitext
        self._open: list[tuple[str, int, int]] = []
        self._inside: list[int] = [0]  # depth of closed markup inside each of them; first that of the page
        self._among: Counter[str] = Counter()

    def run(self) -> None:
        comment = 0  # where the last one ends; -1 where one has no end
        for found in _MARKUP.finditer(self._wikitext):
            sign, (start, end) = found[0], found.span()
            if start < comment:
                continue
            if sign == "<!--":
                comment = self._wikitext.find("-->", end) if comment >= 0 else -1
                self.lost += [(start, end)] if comment < 0 else []
            elif sign[0] == "<":
                self._tag(sign, start, end)
            elif sign[0] in "{}" and sign[-1] != "|":
                for at in range(start, end - 1, 2):
                    (self._begin if sign[0] == "{" else self._close)("{{", at, at + 2)
            elif sign[0] == "]":
                self._close_brackets(start, end)
            elif sign == "|}":
                self._close("{|", start, end)
            elif sign != "\n":
                self._begin(sign.lstrip(" \t:"), start, end)
            while sign == "\n" and self._open and self._open[-1][0] == "[":
                self._drop()
        while self._open:
            self._drop()

    def _tag(self, sign: str, start: int, end: int) -> None:
        rest = _END_OF_TAG.match(self._wikitext, end)
        if sign[1] == "/":
            self._close(f"<{sign[2:].lower()}", start, rest.end() if rest else end)
        elif rest is None:
            self.lost.append((start, end))
        elif rest[0][-2:] != "/>" and sign[1:].lower() not in _ALONE:
            self._begin(sign.lower(), start, rest.end())

    def _close_brackets(self, at: int, end: int) -> None:
        while at < end:
            # Of three or more the first ends an address, if that is what is open.
            one = end - at == 1 or (end - at > 2 and bool(self._open) and self._open[-1][0] == "[")
            self._close("[" if one else "[[", at, at + 2 - one)
            at += 2 - one

    def _begin(self, kind: str, start: int, end: int) -> None:
        self._open.append((kind, start, end))
        self._inside.append(0)
        self._among[kind] += 1

    def _close(self, kind: str, start: int, end: int) -> None:
        if not self._among[kind]:
            return
        while self._open[-1][0] != kind:
            self._drop()
        if self._inside[-1] < _DEEPEST:
            self._pop(1)
        else:
            self.deep = True
            self.lost.append((start, end))
            self._drop()

    def _drop(self) -> None:
        self.lost.append(self._pop(0))

    def _pop(self, levels: int) -> tuple[int, int]:
        kind, start, end = self._open.pop()
        self._among[kind] -= 1
        inside = self._inside.pop() + levels
        self._inside[-1] = max(self._inside[-1], inside)
        return start, end


def _as_text(markup: str) -> str:
    """Escape markup so that the parser reads it as text; drop marks that are never shown."""
    if UNSEEN_MARKS.fullmatch(markup):
        return _BETWEEN
    if BRACKETS.fullmatch(markup):
        return " "
    return "".join(f"&#{ord(sign)};" if sign in "{}[]<|" else sign for sign in markup)


_FILES_AND_CATEGORIES = _words("""
    category kategorie catégorie categoría categoria categorie kategori категория 分类 分類
    file image datei bild fichier archivo imagen immagine ficheiro arquivo imagem bestand afbeelding fil
    файл изображение 文件 档案 檔案 图像 圖像
""")
_LANGUAGES = _words("""
    aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar
    bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce
    ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et
    eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc
    gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam
    jbo jv ka kaa kab kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe
    lez lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos
    mr mrj ms mt mus mwl my myv mzn na nah nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny
    oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara
    rsk ru rue rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq
    su sv sw szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur
    uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-classical zh-min-nan zh-yue zu
""")
_ELSEWHERE = _words("""
    media special talk user wikipedia wp project mediawiki template help portal draft module timedtext
    spezial diskussion benutzer benutzerin vorlage hilfe spécial discussion utilisateur utilisatrice modèle aide portail
    projet especial discusión usuario usuaria plantilla ayuda speciale discussione utente aiuto portale progetto
    discussão usuário utilizador predefinição ajuda overleg gebruiker sjabloon portaal användare mall hjälp
    википедия обсуждение участник участница шаблон справка портал проект служебная
    维基百科 維基百科 讨论 討論 用户 用戶 模板 樣板 帮助 幫助 特殊 主题 主題
    b c commons d doi foundation m meta mw n oeis q s species v voy w wikibooks wikidata wikimedia wikinews wikiquote
    wikisource wikispecies wikiversity wikivoyage wikt wiktionary
""")
_UNSEEN = _FILES_AND_CATEGORIES | _LANGUAGES
_NO_TITLE = re.compile(r"[<>\[\]{}|\x00-\x1f\x7f\ufffd]")

_UNSEEN_TAGS = _words("""
    ref references math chem ce gallery imagemap timeline score graph mapframe maplink hiero indicator inputbox
    categorytree templatestyles templatedata includeonly style script
""")
_RAW_TAGS = _words("nowiki pre source syntaxhighlight")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link to an article.

    Args:
        text: The words of the link, white space collapsed.
        target: The title of the article: first letter in upper case, underscores as spaces, no section.
    """

    text: str
    target: str


class WikiPage:
    """Text and anchors read so far; a subclass marks more of them in the text.

    Lower-case letters right after a link belong to its text, as in MediaWiki. Of nested links the inner one counts. No
    two square brackets are adjacent in the text: a space separates what is left of broken markup or stands in
    ``<nowiki>``.

    >>> from postil.documents.readers.wikitext import parsed
    >>> page = WikiPage()
    >>> page.read(parsed("A '''[[duck]]''' is a [[Bird|water bird]], like [[swan]]s.{{cn}} [[Category:Ducks]]"))
    >>> page.text
    'A duck is a water bird, like swans. '
    >>> [(anchor.text, anchor.target) for anchor in page.anchors]
    [('duck', 'Duck'), ('water bird', 'Bird'), ('swans', 'Swan')]
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._gap = False
        self.anchors: list[Anchor] = []

    @property
    def text(self) -> str:
        """The text, with white space as it is written."""
        return "".join(self._pieces)

    def say(self, text: str) -> None:
        """Append text; a space keeps square brackets apart, and words with hidden markup between them.

        Args:
            text: The text.
        """
        text = BRACKETS.sub(" ", text)
        if text:
            last = self._pieces[-1][-1] if self._pieces else ""
            if (text[0] in "[]" and last == text[0]) or (self._gap and text[0].isalnum() and last.isalnum()):
                self._pieces.append(" ")
            self._pieces.append(text)
            self._gap = False

    def before_last(self, mark: str) -> None:
        """Put a mark before the text that was appended last.

        Args:
            mark: The mark.
        """
        self._pieces.insert(max(len(self._pieces) - 1, 0), mark)

    def read(self, code: Wikicode) -> None:
        """Append the text of a piece of a page, and its anchors.

        Args:
            code: The piece.
        """
        from mwparserfromhell import nodes as kinds  # noqa: PLC0415

        nodes = [node for node in code.nodes if not isinstance(node, kinds.Comment)]
        taken = 0  # letters of the next text that the link before it has
        for node, after in pairwise([*nodes, None]):
            if isinstance(node, kinds.Text):
                self.say(UNSEEN_MARKS.sub("", node.value[taken:]))
                taken = 0
            elif isinstance(node, kinds.Wikilink):
                letters = "".join(takewhile(str.islower, after.value)) if isinstance(after, kinds.Text) else ""
                taken = len(letters) if self._link(node, letters) else 0
            elif isinstance(node, kinds.HTMLEntity):
                self.say(html.unescape(str(node)))
            elif isinstance(node, kinds.Tag):
                self.tag(node)
            elif isinstance(node, kinds.Heading):
                self.heading(node)
            elif isinstance(node, kinds.ExternalLink):
                shown = node.title if node.brackets else node.url
                if shown is not None:
                    self.read(shown)
            elif node is not None:
                self.other(node)

    def heading(self, heading: Heading) -> None:
        """Append a heading, on a line of its own.

        Args:
            heading: The heading.
        """
        self.say("\n")
        self.read(heading.title)
        self.say("\n")

    def other(self, _: Node) -> None:
        """Pass over a template or anything else that is not shown; the words on its sides are two."""
        self._gap = True

    def begin_anchor(self) -> None:
        """Take note of an anchor whose text comes next."""

    def tag(self, tag: Tag) -> None:
        """Append the contents of a tag.

        Args:
            tag: The tag.
        """
        name = str(tag.tag).strip().lower()
        if name in _UNSEEN_TAGS:
            self._gap = True
            return
        edge = "\n" if name in OWN_LINE else ""
        self.say(edge)
        if name in _RAW_TAGS:
            self.say(html.unescape(str(tag.contents or "")))
        elif tag.contents is not None:
            self.read(tag.contents)
        self.say(edge)

    def _link(self, link: Wikilink, letters: str) -> bool:
        """Read a link; True if it is an anchor, to which the letters after it belong."""
        title = html.unescape(str(link.title)).strip()
        if _namespace(title) in _UNSEEN and not title.startswith(":"):
            return False
        words = WikiPage()
        words.read(link.text or link.title)
        text = words.text if link.text else words.text.strip().removeprefix(":")
        target = _article(title)
        if target and text.strip() and not words.anchors:
            shown = text + letters
            anchor = Anchor(" ".join(shown.split()), target)
            self.anchors.append(anchor)
            self.say(shown[: -len(shown.lstrip())])
            self.begin_anchor()
            self.say(anchor.text)
            self.say(shown[len(shown.rstrip()) :])
            return True
        for _ in words.anchors:
            self.begin_anchor()
        self.say(text)
        self.anchors.extend(words.anchors)
        return False


def _namespace(title: str) -> str:
    """Normalized namespace or prefix of a title; empty without one."""
    prefix, colon, _ = title.removeprefix(":").partition(":")
    return " ".join(prefix.replace("_", " ").lower().split()) if colon else ""


def _article(title: str) -> str:
    """Title of the article that a link leads to; empty if it leads elsewhere.

    >>> [_article(title) for title in ("fresh_water#Lakes", ":mission: Impossible", "wikt:duck", "#Lakes", ":de:Ente")]
    ['Fresh water', 'Mission: Impossible', '', '', '']
    """
    if _namespace(title).removesuffix(" talk") in _UNSEEN | _ELSEWHERE:
        return ""
    title = title.removeprefix(":").partition("#")[0]
    title = " ".join(unquote(title).replace("_", " ").split())
    first = title[:1].upper()
    return "" if not title or _NO_TITLE.search(title) else (first if len(first) == 1 else title[0]) + title[1:]


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
            super().say(f"\n{_QUOTE}\n")
            if tag.contents is not None:
                self.read(tag.contents)
            super().say(f"\n{_UNQUOTE}\n")
        elif name in {"pre", "source", "syntaxhighlight"}:
            super().say(f"\n{_CODE}\n")
            super().say(html.unescape(str(tag.contents or "")))
            super().say(f"\n{_UNCODE}\n")
        else:
            super().tag(tag)


def read_wikitext(data: bytes | str, source: str, charset: str | None = None) -> Document:
    r"""Read a page of wikitext.

    Its title is the name of the file. Templates, tables, references and files with their captions are left out.

    Args:
        data: The wikitext.
        source: Name of the file, or the address.
        charset: Encoding that a server named.

    Raises:
        InvalidInput: It is a redirect, or has no text.
        MissingExtra: mwparserfromhell is not installed.

    >>> page = read_wikitext("'''Ducks''' are [[bird]]s.\n\n== Food ==\n* Grass", "in/Duck_pond.wiki")
    >>> page.title, [(block.kind, page.text_of(block)) for block in page.blocks]
    ('Duck pond', [('paragraph', 'Ducks are birds.'), ('heading', 'Food'), ('item', 'Grass')])
    """
    text, notes = (data, ()) if isinstance(data, str) else decoded(data, source, charset)
    if (target := redirect_of(text)) is not None:
        raise InvalidInput(f"is a redirect to '{target}', without a text of its own", where=source)
    texts: list[str] = []
    blocks: list[Block] = []
    end = 0
    for block in wiki_blocks(text):
        if blocks:
            gap = "\n" if block.kind == blocks[-1].kind == "item" else "\n\n"
            texts.append(gap)
            end += len(gap)
        texts.append(block.text)
        blocks.append(Block(kind=block.kind, start=end, end=end + len(block.text), level=block.level))
        end += len(block.text)
    if not blocks:
        raise InvalidInput("expected wikitext with text, got none outside of templates and tables", where=source)
    return Document(text="".join(texts), blocks=tuple(blocks), source=source, title=_title(source), notes=notes)


def _title(source: str) -> str:
    name = unquote(urlsplit(source).path) if source.startswith(("http://", "https://")) else source
    return " ".join(PurePath(name).stem.replace("_", " ").split()).strip("-")


READER: Final = Reader(read=read_wikitext, endings=(".wiki", ".wikitext", ".mediawiki"))
