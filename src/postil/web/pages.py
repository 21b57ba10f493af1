"""Parts of pages: static files, templates, which escape every value, and words in each language.

Annotators see the language of the rubric, leads that of their browser. A language is a file
``locale/LANGUAGE/LC_MESSAGES/postil.po``; builds compile it, and a source tree is read as it is.
"""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.responses import Response

from postil.messages import COMMAND_LINE, Command, Fact, Interface, Listed, Message, Setting
from postil.web.po_files import compiled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from importlib.resources.abc import Traversable

    from starlette.requests import Request


__all__ = [
    "OF_ARTICLE",
    "OF_CONTEXT",
    "PAGES",
    "REASONS",
    "Page",
    "language_of",
    "languages",
    "page_in",
    "pages_of",
    "preferred_language",
    "static_files",
    "templates",
]

MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def static_files(names: Iterable[str]) -> Callable[[Request], Awaitable[Response]]:
    """Make the endpoint of some of the files in the folder ``static``, which are held in memory.

    Starlette's `StaticFiles` reads a file in a thread for each request, and makes an entity tag of its time.

    Args:
        names: Names of the files; no others are served.
    """
    kept: dict[str, tuple[str, Response, Response]] = {}
    for name in names:
        content, media_type = (files("postil.web") / "static" / name).read_bytes(), MEDIA_TYPES[PurePath(name).suffix]
        tag = f'"{sha256(content).hexdigest()[:20]}"'
        headers = {"etag": tag, "cache-control": "no-cache"}
        kept[name] = tag, Response(content, 200, headers, media_type), Response(None, 304, headers, media_type)

    async def answer(request: Request) -> Response:
        found = kept.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        tag, whole, unchanged = found
        return unchanged if request.headers.get("if-none-match") == tag else whole

    return answer


@cache
def templates() -> Environment:
    """The environment of all templates; a variable that is missing is an error."""
    loader = PackageLoader("postil.web")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, auto_reload=False)


OF_ARTICLE: Final = "The article does not give enough information"
OF_CONTEXT: Final = "The context does not give enough information"
REASONS: Final = (
    "I do not understand the text",
    "The text is garbled or truncated",
    OF_ARTICLE,
    OF_CONTEXT,
    "I know who wrote it",
)
"""Reasons for skipping, of which a page has those that fit what it shows; each has a digit key."""


class _Catalogue(GNUTranslations):
    """A catalogue whose texts can be listed."""

    _catalog: dict[str | tuple[str, int], str]

    def within(self, context: str) -> dict[str, str]:
        """The texts of a context."""
        there = f"{context}\4"
        return {
            key.removeprefix(there): text
            for key, text in self._catalog.items()
            if isinstance(key, str) and key.startswith(there)
        }


class Page(Interface):
    """Words of pages in one language; what its catalogue does not have stays in English.

    Args:
        catalogue: The catalogue; by default none, for English.

    >>> page = page_in("zh-CN")
    >>> page.gettext("Back"), page.ngettext("1 item was adjudicated.", "{n} items were adjudicated.", 2).format(n=2)
    ('返回', '已裁决 2 条。')
    """

    def __init__(self, catalogue: _Catalogue | None = None) -> None:
        self._catalogue = catalogue
        found = NullTranslations() if catalogue is None else catalogue
        self._gettext, self.ngettext, self.pgettext = found.gettext, found.ngettext, found.pgettext

    def gettext(self, text: str) -> str:
        """Translate a text.

        Args:
            text: The text.
        """
        return self._gettext(text) if text else ""  # whose translation would be the head of the catalogue

    def within(self, context: str) -> dict[str, str]:
        """The texts of a context by their English; empty for English.

        Args:
            context: The context, such as ``desk``.
        """
        return {} if self._catalogue is None else self._catalogue.within(context)

    def form(self, template: str, many: str, count: object) -> str:
        """See `Interface`."""
        return self.ngettext(template, many, count) if many and isinstance(count, int) else self.gettext(template)

    def sentence(self, message: str) -> str:
        """Make a clause a sentence, with a capital letter unless a translation begins with a name.

        Args:
            message: The clause.

        >>> clause = Message("all {n} grades of {system} are {grade:g}", n=9, system="bart", grade=3)
        >>> Page().sentence(clause), page_in("zh").sentence(clause)
        ('All 9 grades of bart are 3.', 'bart 的 9 个分数都是 3。')
        """
        said = self.words(message)
        clause = said if self._begins_with_name(message) else f"{said[:1].upper()}{said[1:]}"
        return self.gettext("{clause}.").format(clause=clause)

    def _begins_with_name(self, message: str) -> bool:
        if self._catalogue is None or not isinstance(message, Message):
            return False
        template = self.form(message.template, message.many, message.facts.get("count"))
        first = message.facts.get(template[1:].partition("}")[0]) if template.startswith("{") else None
        return isinstance(first, str) and not isinstance(first, Message)

    def setting(self, setting: Setting) -> str:
        """See `Interface`."""
        name = self.pgettext("setting", setting.name)
        return name if setting.value is None else f"{name} {setting.value}"

    def command(self, command: Command) -> str:
        """See `Interface`."""
        return COMMAND_LINE.command(command)

    def has(self, setting: Setting) -> bool:  # noqa: ARG002 - there are none on pages
        """See `Interface`."""
        return False

    def _fact(self, fact: Fact) -> str | float:
        if isinstance(fact, Listed):
            fact = fact._replace(last=self.gettext(fact.last), between=self.gettext(fact.between))
        return super()._fact(fact)


def preferred_language(*wanted: str) -> str:
    """Return the first wanted language that the pages have; English if there is none.

    Args:
        wanted: BCP 47 tags, the most wanted first; each may have a weight, as in the header Accept-Language.

    >>> preferred_language("", "fr", "zh-CN;q=0.8", "en")
    'zh'
    """
    return next((found for each in wanted if (found := _known(each.split(";")[0].strip()))), "en")


def language_of(request: Request, *chosen: str) -> str:
    """Return the language of a page: what the address names, what was chosen, what the browser asks.

    Args:
        request: The request for the page.
        chosen: The language that was chosen before.
    """
    asked = request.headers.get("accept-language", "").split(",")
    return preferred_language(request.query_params.get("lang", ""), *chosen, *asked)


def page_in(lang: str) -> Page:
    """Words of pages in a language; English if it has no catalogue.

    Args:
        lang: A BCP 47 tag.
    """
    return PAGES[_known(lang) or "en"]


def languages() -> dict[str, str]:
    """Languages of the pages of leads, each with its own name."""
    return {lang: page.gettext("English") for lang, page in PAGES.items()}


def pages_of(folder: Traversable) -> dict[str, Page]:
    """Words of pages by language, of all catalogues in a folder.

    Args:
        folder: Folder with a folder for each language.
    """
    found = sorted((each.name, each / "LC_MESSAGES") for each in folder.iterdir() if each.is_dir())
    return {name.lower().replace("_", "-"): Page(_read(inside)) for name, inside in found}


def _known(lang: str) -> str:
    """The language of pages that a tag names, perhaps with a script or a country; empty for none."""
    tag = lang.lower().replace("_", "-")
    while tag and tag not in PAGES:
        tag = tag.rpartition("-")[0]
    return tag


def _read(folder: Traversable) -> _Catalogue:
    made = folder / "postil.mo"
    data = made.read_bytes() if made.is_file() else compiled((folder / "postil.po").read_text(encoding="utf-8"))
    return _Catalogue(BytesIO(data))


PAGES: Final = {"en": Page(), **pages_of(files("postil") / "locale")}
"""Words of pages by language."""
