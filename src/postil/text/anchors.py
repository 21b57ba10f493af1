"""Anchors of a wikitext (text and target of its links), and its plain text.

mwparserfromhell reads the markup; nothing is fetched or expanded. So a template is left out with all it would show, and
so are references, comments, formulas, galleries and pictures with their captions.

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
from typing import TYPE_CHECKING
from urllib.parse import unquote

from postil.errors import MissingExtra

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Tag, Wikilink
    from mwparserfromhell.wikicode import Wikicode

__all__ = ["Anchor", "Linked", "anchors_of"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
_OWN_LINE = _words("blockquote br caption center dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p poem pre table td th tr ul")
_IN_LINE = _words("abbr b bdi big cite code del em font i ins kbd s small span strike strong sub sup tt u var")
_SWITCHES = _words("""
    DISAMBIG FORCETOC HIDDENCAT INDEX NEWSECTIONLINK NOCC NOCONTENTCONVERT NOEDITSECTION NOGALLERY NOINDEX
    NONEWSECTIONLINK NOTC NOTITLECONVERT NOTOC STATICREDIRECT TOC
""")
# The parser takes quotes and tags out in pairs; these are the ones without a partner.
_UNSEEN_MARKS = re.compile(
    rf"'{{2,}}|__(?:{'|'.join(_SWITCHES)})__|(?i:</?(?:{'|'.join(_OWN_LINE | _IN_LINE)})(?:\s[^<>]*)?/?>)|\x02"
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

_BRACKETS = re.compile(r"\[{2,}|\]{2,}")
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link to an article.

    Args:
        text: The words of the link, white space collapsed.
        target: The title of the article: first letter in upper case, underscores as spaces, no section.
    """

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A plain text with its anchors.

    Args:
        text: Plain text, without markup. Runs of white space are one space, or one line end where they hold one.
        anchors: The links, in the order of the text.
    """

    text: str
    anchors: tuple[Anchor, ...]


def anchors_of(wikitext: str) -> Linked:
    """Return the plain text of a wikitext and its anchors.

    Lower-case letters right after a link belong to its text, as in MediaWiki. Of nested links the inner one counts. No
    two square brackets are adjacent in the text: a space separates what is left of broken markup or stands in
    ``<nowiki>``.

    Args:
        wikitext: Any text; broken markup is text.

    Raises:
        MissingExtra: mwparserfromhell is not installed.

    >>> linked = anchors_of("A '''[[duck]]''' is a [[Bird|water bird]], like [[swan]]s.{{cn}} [[Category:Ducks]]")
    >>> linked.text
    'A duck is a water bird, like swans.'
    >>> [(anchor.text, anchor.target) for anchor in linked.anchors]
    [('duck', 'Duck'), ('water bird', 'Bird'), ('swans', 'Swan')]
    """
    try:
        from mwparserfromhell import parse  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("reading wikitext", "wiki") from error
    page = _Page()
    page.read(parse(_tamed(wikitext.replace("\0", ""))))  # the compiled parser would end there
    return Linked(_WHITE.sub(lambda run: "\n" if "\n" in run[0] else " ", page.text).strip(), tuple(page.anchors))


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
    if _UNSEEN_MARKS.fullmatch(markup):
        return _BETWEEN
    if _BRACKETS.fullmatch(markup):
        return " "
    return "".join(f"&#{ord(sign)};" if sign in "{}[]<|" else sign for sign in markup)


class _Page:
    """Text and anchors read so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._gap = False
        self.anchors: list[Anchor] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def on_message(self, text: str) -> None:
        """Append text; a space keeps square brackets apart, and words with hidden markup between them."""
        text = _BRACKETS.sub(" ", text)
        if text:
            last = self._pieces[-1][-1] if self._pieces else ""
            if (text[0] in "[]" and last == text[0]) or (self._gap and text[0].isalnum() and last.isalnum()):
                self._pieces.append(" ")
            self._pieces.append(text)
            self._gap = False

    def read(self, code: Wikicode) -> None:
        from mwparserfromhell import nodes as kinds  # noqa: PLC0415

        nodes = [node for node in code.nodes if not isinstance(node, kinds.Comment)]
        taken = 0  # letters of the next text that the link before it has
        for node, after in pairwise([*nodes, None]):
            if isinstance(node, kinds.Text):
                self.on_message(_UNSEEN_MARKS.sub("", node.value[taken:]))
                taken = 0
            elif isinstance(node, kinds.Wikilink):
                letters = "".join(takewhile(str.islower, after.value)) if isinstance(after, kinds.Text) else ""
                taken = len(letters) if self._link(node, letters) else 0
            elif isinstance(node, kinds.HTMLEntity):
                self.on_message(html.unescape(str(node)))
            elif isinstance(node, kinds.Tag):
                self._tag(node)
            elif isinstance(node, kinds.Heading):
                self.on_message("\n")
                self.read(node.title)
                self.on_message("\n")
            elif isinstance(node, kinds.ExternalLink):
                shown = node.title if node.brackets else node.url
                if shown is not None:
                    self.read(shown)
            else:
                self._gap = True

    def _tag(self, tag: Tag) -> None:
        name = str(tag.tag).strip().lower()
        if name in _UNSEEN_TAGS:
            self._gap = True
            return
        edge = "\n" if name in _OWN_LINE else ""
        self.on_message(edge)
        if name in _RAW_TAGS:
            self.on_message(html.unescape(str(tag.contents or "")))
        elif tag.contents is not None:
            self.read(tag.contents)
        self.on_message(edge)

    def _link(self, link: Wikilink, letters: str) -> bool:
        """Read a link; True if it is an anchor, to which the letters after it belong."""
        title = html.unescape(str(link.title)).strip()
        if _namespace(title) in _UNSEEN and not title.startswith(":"):
            return False
        words = _Page()
        words.read(link.text or link.title)
        text = words.text if link.text else words.text.strip().removeprefix(":")
        target = _article(title)
        if target and text.strip() and not words.anchors:
            shown = text + letters
            anchor = Anchor(" ".join(shown.split()), target)
            self.anchors.append(anchor)
            self.on_message(shown[: -len(shown.lstrip())])
            self.on_message(anchor.text)
            self.on_message(shown[len(shown.rstrip()) :])
            return True
        self.on_message(text)
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
