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
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING
from urllib.parse import unquote

from postil.documents.wiki_markup import BRACKETS, OWN_LINE, UNSEEN_MARKS

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Heading, Node, Tag, Wikilink
    from mwparserfromhell.wikicode import Wikicode

__all__ = ["Anchor", "WikiPage"]


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

    >>> from postil.documents.wiki_markup import parsed
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
