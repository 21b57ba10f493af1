"""Desk: the editor's page of the service, its sign-in, its static files and its list of articles."""

from __future__ import annotations

import asyncio
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import HTMLResponse, RedirectResponse, Response

from postil.comments.articles import checked_articles, open_articles
from postil.data.row_files import check_standard_input
from postil.data.row_locations import FileLocations, LocatedRows
from postil.data.suggestions import REASONS
from postil.web.guard import bearer_of, cookie_name
from postil.web.pages import language_of, page_in, static_files, templates
from postil.web.problems import Problem
from postil.web.routing import Call, Handler, QueueName, Route, reply
from postil.web.security import RateLimiter, set_cookie

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from postil.data.rows import Article
    from postil.service.store import ServiceStore
    from postil.web.tokens import Token, Tokens

__all__ = ["NOBODY", "ArticleList", "Desk", "FoundArticles", "ListedArticle"]

MOST: Final = 50
"""Largest number of articles that a search gives."""

STEP: Final = 125
"""Number of comparisons of a word with an article between two steps of a search."""


class ListedArticle(msgspec.Struct, frozen=True, kw_only=True):
    """An article in the list.

    Args:
        number: Its number in the list, from 0.
        title: Its headline.
        comments: Number of its comments.
        category: The section it was published in.
        date: Its date.
        lang: Its language.
    """

    number: int
    title: str
    comments: int
    category: str | None
    date: str | None
    lang: str | None


class FoundArticles(msgspec.Struct, frozen=True, kw_only=True):
    """The first articles that a search finds.

    Args:
        articles: The articles, the newest first.
        total: Number of all articles that it finds.
    """

    articles: tuple[ListedArticle, ...]
    total: int


class NextArticle(msgspec.Struct, frozen=True, kw_only=True):
    """An article to label.

    Args:
        number: Its number in the list; null where all have labels.
        left: Number of articles without labels that are not left out.
    """

    number: int | None
    left: int


class ArticleList:
    """Articles that can be searched by title and section: those without a date as they came, then the newest first.

    What has no date yet is what is being written: a page, a draft.

    Args:
        articles: The articles.
    """

    def __init__(self, articles: Sequence[Article] = ()) -> None:
        self._articles = sorted(articles, key=lambda one: one.date or "~", reverse=True)  # dates of one form, in UTC
        self._words = [f"{one.title} {one.category or ''} {one.id}".casefold() for one in self._articles]

    @classmethod
    def read(cls, paths: Sequence[str], on_message: Callable[[str], None] = lambda _: None) -> Self:
        """Read tables of articles with or without comments, in any format that postil reads.

        Args:
            paths: The files or folders, which have no article of the same id.
            on_message: Callback for status messages.

        Raises:
            InvalidInput: One cannot be read, or a row is no article or has the id of another one.
            MissingExtra: A format needs what is not installed.
            UsageError: Two of them are standard input.
        """
        check_standard_input(*paths)
        files = FileLocations(", ".join(paths))
        opened = files.rows(open_articles(path, None, on_message) for path in paths)
        rows = LocatedRows(opened, files)
        return cls(list(checked_articles(rows, comments=True, on_message=on_message)))

    def __len__(self) -> int:
        return len(self._articles)

    def __getitem__(self, number: int) -> Article:
        return self._articles[number]

    def steps(self, query: str) -> Iterator[list[int]]:
        """Find the articles whose title, section or id contains every word of a query.

        It goes step by step, so that it can be stopped, and lets others work meanwhile.

        Args:
            query: Words, or their beginnings; all articles where there is none.

        Yields:
            The numbers of the articles that each step finds.
        """
        words = _needed(query.casefold().split())
        size = max(1, STEP // max(1, len(words)))
        for start in range(0, len(self._words), size):
            texts = enumerate(self._words[start : start + size], start)
            yield [at for at, text in texts if all(word in text for word in words)]

    def found(self, numbers: Sequence[int]) -> FoundArticles:
        """The outcome of a search.

        Args:
            numbers: The numbers of the articles that it finds.
        """
        return FoundArticles(articles=tuple(map(self._listed, numbers[:MOST])), total=len(numbers))

    def drawn(self, labeled: Collection[str], person: str, skipped: Collection[int] = ()) -> NextArticle:
        """Draw an article without labels at random; the same one until it is labeled or skipped.

        What is learned from labels holds for other articles where these were chosen by chance.

        Args:
            labeled: Ids of articles that have labels.
            person: Name of who labels, so that several are given different articles.
            skipped: Numbers of articles to leave out, such as those without suggestions.
        """

        def place(number: int) -> bytes:
            return blake2b(f"{person} {self._articles[number].id}".encode("utf-8", "surrogatepass")).digest()

        left = [
            number for number, one in enumerate(self._articles) if f"{one.id}" not in labeled and number not in skipped
        ]
        return NextArticle(number=min(left, key=place, default=None), left=len(left))

    def _listed(self, number: int) -> ListedArticle:
        one = self._articles[number]
        return ListedArticle(
            number=number,
            title=one.title,
            comments=len(one.comments),
            category=one.category,
            date=one.date,
            lang=one.lang,
        )


def _needed(words: Sequence[str]) -> list[str]:
    """The words that are no part of another one, the longest first: what has these has all.

    >>> _needed(["a", "rain", "rain", "train"])
    ['train']
    """
    needed: list[str] = []
    for word in sorted(set(words), key=len, reverse=True):
        if not any(word in one for one in needed):
            needed.append(word)
    return sorted(needed, key=lambda word: (-len(word), word))


STATIC: Final = (
    "desk-api.js",
    "desk-article.js",
    "desk-decisions.js",
    "desk-dom.js",
    "desk-export.js",
    "desk-labels.js",
    "desk-outbox.js",
    "desk-suggestions.js",
    "desk-thread.js",
    "desk-train.js",
    "desk.css",
    "desk.js",
    "icon.svg",
    "postil.css",
)
"""Static files of the service."""

NOBODY: Final = "editor"
"""Annotator of labels where the service has no tokens, so that nobody has a name."""

NEVER_CACHED: Final = {"cache-control": "no-store", "vary": "accept-language, cookie"}
DAYS: Final = 30
LONGEST_TOKEN: Final = 200

MOST_WORDS: Final = 32
"""Largest number of words that articles are searched for."""


class Desk:
    """The editor's page.

    Args:
        articles: Articles to choose from.
        tokens: Tokens of the service; None where it is open.
        store: Store of labels; None where the service stores nothing.
        secure: True if the service is reached by HTTPS.
    """

    def __init__(
        self,
        articles: ArticleList | None = None,
        tokens: Tokens | None = None,
        *,
        store: ServiceStore | None = None,
        secure: bool = False,
    ) -> None:
        self._articles = ArticleList() if articles is None else articles
        self._tokens, self._store, self._secure = tokens, store, secure
        self._limiter = RateLimiter()

    def routes(self) -> list[Route]:
        """The routes of the page."""
        handlers: tuple[tuple[str, str, str | None, QueueName, Handler, str], ...] = (
            ("GET", "/", None, "store", self._page, "Show the desk, or its sign-in"),
            ("POST", "/sign-in", None, "store", self._sign_in, "Sign in to the desk"),
            ("POST", "/sign-out", None, "store", self._sign_out, "Sign out of the desk"),
            ("GET", "/static/{name}", None, "open", static_files(STATIC), "Get a static file"),
            ("GET", "/desk/articles", "desk", "here", self._search, "Search the articles of the desk"),
            ("GET", "/desk/articles/{name}", "desk", "store", self._article, "Get an article of the desk"),
            ("GET", "/desk/next", "desk", "here", self._next, "Draw an article that has no labels"),
            ("GET", "/desk/labels", "desk", "here", self._answers, "List one's own labels of an article"),
            ("GET", "/desk/decisions", "desk", "here", self._decided, "List one's own decisions on its comments"),
        )
        return [
            Route(
                method=method, path=path, scope=scope, queue=queue, handler=handler, summary=summary, documented=False
            )
            for method, path, scope, queue, handler, summary in handlers
        ]

    async def _page(self, call: Call) -> Response:
        lang = language_of(call)
        if self._tokens is None:
            return await self._desk(lang, NOBODY, None)
        token = self._tokens.identify(bearer_of(call.headers))
        if token is None:
            return _sign_in_page(lang)
        return await self._desk(lang, token.name, token) if "desk" in token.scopes else _not_for_desk(lang)

    async def _desk(self, lang: str, person: str, token: Token | None) -> Response:
        store = self._store
        page = {
            "lang": lang,
            "words": page_in(lang).within("desk"),
            "person": person,
            "reasons": REASONS,
            "articles": len(self._articles),
            "labels": 0 if store is None else (await asyncio.to_thread(store.counts)).labels,
            "may": {name: store is not None and (token is None or name in token.scopes) for name in ("label", "admin")},
        }
        return _rendered("desk.html", lang, page=page, signed_in=token is not None)

    async def _sign_in(self, call: Call) -> Response:
        lang = language_of(call)
        words = page_in(lang)
        if self._limiter.exceeded(call.address):
            problem = words.pgettext("desk", "There were too many attempts. Wait five minutes and try again.")
            return _sign_in_page(lang, problem, 429)
        given = _field(await call.body(), "token")
        token = None if self._tokens is None else self._tokens.identify(given)
        if token is None:
            self._limiter.record(call.address)
            problem = words.pgettext(
                "desk", "This is no valid token. Check that it is complete; it may have been revoked."
            )
            return _sign_in_page(lang, problem, 401)
        if "desk" not in token.scopes:
            return _not_for_desk(lang)
        return self._to_desk(call, given, DAYS * 86_400)

    async def _sign_out(self, call: Call) -> Response:
        return self._to_desk(call, "", 0)

    def _to_desk(self, call: Call, token: str, seconds: int) -> Response:
        """Go to the page with a cookie."""
        response = RedirectResponse("/", 303, NEVER_CACHED)
        set_cookie(response, cookie_name(call.headers.get("host", "")), token, seconds, secure=self._secure)
        return response

    async def _search(self, call: Call) -> Response:
        query = call.query_params.get("q", "")
        if (words := len(query.split())) > MOST_WORDS:
            raise Problem(
                400, f"expected at most {MOST_WORDS} words to search for, got {words:,}; name the rarest ones"
            )
        numbers: list[int] = []
        for some in self._articles.steps(query):
            numbers += some
            await asyncio.sleep(0)  # other requests come first, and a search whose client has gone ends here
        return _json(self._articles.found(numbers))

    async def _article(self, call: Call) -> Response:
        name: str = call.path_params["name"]
        number = int(name) if name.isdecimal() and len(name) < 10 else len(self._articles)
        if number >= len(self._articles):
            raise Problem(404, "there is no such article in the list; it may have changed since")
        return _json(self._articles[number])

    async def _next(self, call: Call) -> Response:
        store = self._store
        skipped = {
            int(one) for one in call.query_params.get("skip", "").split(",") if one.isdecimal() and len(one) < 10
        }

        def drawn() -> NextArticle:
            labeled = frozenset[str]() if store is None else store.labeled()
            return self._articles.drawn(labeled, call.sender, skipped)

        return _json(await asyncio.to_thread(drawn))

    async def _answers(self, call: Call) -> Response:
        store = self._store
        if store is None:
            return _json({"labels": [], "total": 0})
        found = await asyncio.to_thread(store.labels_of, call.query_params.get("article", ""), sender=call.sender)
        total = (await asyncio.to_thread(store.counts)).labels
        labels = [{"id": id_, "text": one.text, "show": one.show, "reason": one.reason} for id_, one in found]
        return _json({"labels": labels, "total": total})

    async def _decided(self, call: Call) -> Response:
        store = self._store
        if store is None:
            return _json({"decisions": []})
        article = call.query_params.get("article", "")
        found = await asyncio.to_thread(store.decisions_of, article, sender=call.sender)
        return _json({"decisions": [{"id": one.id, "decision": one.decision} for one in found]})


def _field(body: bytes, name: str) -> str:
    """A field of a form; empty where the request is none."""
    try:
        pairs = dict(parse_qsl(body.decode("utf-8"), errors="strict", max_num_fields=5))
    except ValueError:
        return ""
    return pairs.get(name, "").strip()[:LONGEST_TOKEN]


def _rendered(name: str, lang: str, status: int = 200, /, **values: object) -> Response:
    page = templates().get_template(name).render(lang=lang, _=partial(page_in(lang).pgettext, "desk"), **values)
    return HTMLResponse(page, status, NEVER_CACHED)


def _sign_in_page(lang: str, problem: str = "", status: int = 200) -> Response:
    return _rendered("desk_sign_in.html", lang, status, problem=problem)


def _not_for_desk(lang: str) -> Response:
    problem = page_in(lang).pgettext("desk", "This token is not for the desk; ask for one with the scope desk.")
    return _sign_in_page(lang, problem, 403)


def _json(content: object) -> Response:
    response = reply(content)
    response.headers.update(NEVER_CACHED)
    return response
