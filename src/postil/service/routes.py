"""Routes that the workers and the store answer, and those by which a supervisor sees how the service is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from starlette.responses import Response, StreamingResponse

from postil.data.fields import parse_date, plain_id
from postil.data.jsonl import FAILURES
from postil.data.rows import Decision, Id, Row
from postil.data.streams import told_encoding
from postil.data.suggestions import Impression, Label
from postil.documents.readers.html import decoded_html
from postil.endpoint.page_fetch import Page, fetch_page
from postil.errors import InvalidInput, PostilError
from postil.messages import Blank, Command, Message, Setting
from postil.service.bodies import (
    ArticleRequest,
    ArticleResponse,
    ModelsResponse,
    Request,
    ServedModel,
    SuggestResponse,
    decoded,
)
from postil.service.operations import OPERATIONS
from postil.service.store import Outcome, ServiceStore, StoreCounts
from postil.web.guard import MEDIA_TYPE, RequestMetrics
from postil.web.problems import Problem
from postil.web.routing import JSON_LINES, Call, Handler, Route, reply
from postil.web.turns import CLIENT, FairQueue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from postil.service.pool import WorkerPool

__all__ = [
    "DecidedComment",
    "DecidedRequest",
    "DecisionsRequest",
    "Health",
    "LabelsRequest",
    "OutcomesRequest",
    "SentLabel",
    "Stored",
    "Telemetry",
    "WithdrawalRequest",
    "Withdrawn",
    "article_route",
    "dated",
    "health_routes",
    "metrics_route",
    "model_routes",
    "store_routes",
    "with_impressions",
]


FETCHES: Final = 8
"""Largest number of pages that are fetched at a time; further ones wait."""

EACH: Final = 4
"""Largest number of those that one client asks for."""

FETCHED_WITHIN: Final = 30.0
"""Seconds that a page waits to be fetched: twice as long as one takes at most."""


def model_routes(pool: WorkerPool) -> list[Route]:
    """Routes of the models.

    Args:
        pool: The workers.
    """

    def operation(name: str) -> Handler:
        async def answer(call: Call) -> Response:
            return reply(await pool.call(name, await call.body()))

        return answer

    async def models(call: Call) -> Response:  # noqa: ARG001
        if not pool.models:
            raise Problem(503, "the models are being opened; try again in a moment", headers=(("retry-after", "1"),))
        return reply(pool.models)

    return [
        *(
            Route(
                method="POST",
                path=f"/v1/{name}",
                scope=each.scope or name,
                handler=operation(name),
                summary=each.summary,
                request=each.request,
                response=each.response,
                queue="workers",
            )
            for name, each in OPERATIONS.items()
            if each.summary
        ),
        Route(
            method="GET",
            path="/v1/models",
            scope="any",
            handler=models,
            summary="List the models and what each can do",
            response=ModelsResponse,
            queue="open",
        ),
    ]


def article_route(pool: WorkerPool, fetch: Callable[[str], Awaitable[Page]] = fetch_page) -> Route:
    """The route of the article of a page, which is fetched here and read by a worker.

    Args:
        pool: The workers.
        fetch: Function that fetches a page.
    """
    turns = FairQueue(FETCHES, each=EACH, line=2 * EACH, patience=FETCHED_WITHIN)

    async def answer(call: Call) -> Response:
        body = await call.body()
        request = decoded(body, ArticleRequest)
        if request.url is None or request.html is not None or request.text is not None:
            return reply(await pool.call("article", body))
        async with turns.turn(CLIENT.get()):
            page = await fetch(request.url)
        # In a thread, as telling an encoding that nobody names takes a while.
        text, notes = await asyncio.to_thread(decoded_html, page.body, page.charset, told_encoding)
        plain = page.kind == "text/plain"
        found = ArticleRequest(url=page.url, html=None if plain else text, text=text if plain else None)
        article = await pool.call("article", msgspec.json.encode(found, enc_hook=plain_id))
        if not notes:
            return reply(article)
        return reply(msgspec.structs.replace(msgspec.json.decode(article, type=ArticleResponse), notes=notes))

    return Route(
        method="POST",
        path="/v1/article",
        scope="desk",
        handler=answer,
        summary="Read the article of a page",
        request=ArticleRequest,
        response=ArticleResponse,
        queue="workers",
    )


S = TypeVar("S", bound=msgspec.Struct)
BLOCK: Final = 500
"""Number of rows that are encoded at once."""

STEP: Final = 25
"""Number of rows of a request that are decoded at once."""

NO_STORE: Final = Message(
    "this service stores nothing; whoever runs it can start it with {command}",
    command=Command("serve", settings=(Setting("data", Blank("DIR")),)),
)


class SentLabel(Label, frozen=True, omit_defaults=True, gc=False):
    """A label of a request; see `postil.data.suggestions.Label`.

    Args:
        id: An id, by which a label that is sent again is stored once.
    """

    id: Id | None = None

    def label(self) -> Label:
        """The label without its id."""
        return Label(**{name: getattr(self, name) for name in Label.__struct_fields__})


class LabelsRequest(Request, frozen=True, kw_only=True, gc=False):
    """Labels to store; one label may also be sent by itself.

    Args:
        labels: The labels.
    """

    labels: tuple[SentLabel, ...]


class WithdrawalRequest(Request, frozen=True, kw_only=True, gc=False):
    """Labels to take back.

    Args:
        ids: The ids that the same sender sent them with; those that are unknown are ignored.
    """

    ids: tuple[Id, ...]


class OutcomesRequest(Request, frozen=True, kw_only=True, gc=False):
    """Outcomes to store; one may also be sent by itself.

    Args:
        outcomes: The outcomes.
    """

    outcomes: tuple[Outcome, ...]


class DecisionsRequest(Request, frozen=True, kw_only=True, gc=False):
    """Decisions of a moderator to store; one may also be sent by itself.

    Args:
        decisions: The decisions; the date of one that has none is that of its arrival.
    """

    decisions: tuple[Decision, ...]


class DecidedComment(Request, frozen=True, kw_only=True, gc=False):
    """A comment that the sender has decided on.

    Args:
        article: Identifier of its article.
        id: Its identifier, if the decision has one.
        text: Its text, where the decision has no id.
    """

    article: Id | None = None
    id: Id | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        if self.id is None and self.text is None:
            raise InvalidInput("expected it, or the text of a comment that has none, got neither", field="id")

    def decision(self) -> Decision:
        """A decision on it, which tells the comment alone."""
        return Decision(self.text or "", "keep", article=self.article, id=self.id)


class DecidedRequest(Request, frozen=True, kw_only=True, gc=False):
    """Decisions to take back.

    Args:
        comments: The comments that the same sender has decided on; those that are unknown are ignored.
    """

    comments: tuple[DecidedComment, ...]


class Stored(msgspec.Struct, frozen=True):
    """Number of what was stored, and is on disk.

    Args:
        stored: Number of rows; those whose id is known are stored already, and not counted.
    """

    stored: int


class Withdrawn(msgspec.Struct, frozen=True):
    """Number of labels or decisions that were taken back.

    Args:
        withdrawn: Number of them.
    """

    withdrawn: int


class _Sent(msgspec.Struct, frozen=True):
    """The rows of a request, each of which is decoded by itself."""

    labels: tuple[msgspec.Raw, ...] | msgspec.UnsetType = msgspec.UNSET
    decisions: tuple[msgspec.Raw, ...] | msgspec.UnsetType = msgspec.UNSET
    outcomes: tuple[msgspec.Raw, ...] | msgspec.UnsetType = msgspec.UNSET


def store_routes(store: ServiceStore | None) -> list[Route]:
    """Routes of labels, outcomes and decisions of moderators.

    Args:
        store: The store; None where the service has none, and says so.
    """

    def there() -> ServiceStore:
        if store is None:
            raise Problem(404, NO_STORE)
        return store

    async def add_labels(call: Call) -> Response:
        found = there()
        sent, _ = await _rows(await call.body(), "labels", SentLabel, LabelsRequest)
        labels: list[Label] = []
        for at, one in enumerate(sent):
            labels.append(one.label())
            if at % STEP == STEP - 1:
                await asyncio.sleep(0)
        ids = [None if one.id is None else f"{one.id}" for one in sent]
        return reply(Stored(await found.add_labels(labels, sender=call.sender, ids=ids)), 201)

    async def withdraw_labels(call: Call) -> Response:
        found = there()
        ids = [f"{one}" for one in decoded(await call.body(), WithdrawalRequest).ids]
        return reply(Withdrawn(await found.withdraw_labels(ids, sender=call.sender)))

    async def add_outcomes(call: Call) -> Response:
        found = there()
        outcomes, several = await _rows(await call.body(), "outcomes", Outcome, OutcomesRequest)
        try:
            await found.add_outcomes(outcomes)
        except InvalidInput as error:
            if several:
                raise
            raise InvalidInput(error.message, field=error.field.removeprefix("outcomes[0].")) from None
        return reply(Stored(len(outcomes)), 201)

    return [
        _write("POST", "/v1/labels", add_labels, "Store whether suggestions should be shown", LabelsRequest),
        _write("DELETE", "/v1/labels", withdraw_labels, "Take labels back that one has sent", WithdrawalRequest),
        _read("/v1/labels", _stored(there, ServiceStore.labels), "Read the labels that are stored", Label),
        _write(
            "POST", "/v1/outcomes", add_outcomes, "Store what readers do with interleaved suggestions", OutcomesRequest
        ),
        _read(
            "/v1/outcomes",
            _stored(there, ServiceStore.outcomes),
            "Read the log of impressions (postil compare --interleaved)",
            Impression,
        ),
        *_decision_routes(there),
    ]


def _decision_routes(there: Callable[[], ServiceStore]) -> list[Route]:
    async def add(call: Call) -> Response:
        found = there()
        sent, _ = await _rows(await call.body(), "decisions", Decision, DecisionsRequest)
        await found.add_decisions([one if one.date is not None else dated(one) for one in sent], sender=call.sender)
        return reply(Stored(len(sent)), 201)

    async def withdraw(call: Call) -> Response:
        found = there()
        sent = [one.decision() for one in decoded(await call.body(), DecidedRequest).comments]
        return reply(Withdrawn(await found.withdraw_decisions(sent, sender=call.sender)))

    purpose = "Read the decisions of moderators (postil train screen)"
    return [
        _write("POST", "/v1/decisions", add, "Store decisions of a moderator", DecisionsRequest),
        _write("DELETE", "/v1/decisions", withdraw, "Take decisions back that one has sent", DecidedRequest),
        _read("/v1/decisions", _stored(there, ServiceStore.decisions), purpose, Decision),
    ]


def _stored(there: Callable[[], ServiceStore], rows: Callable[[ServiceStore], Iterator[Row]]) -> Handler:
    async def answer(call: Call) -> Response:
        return _lines(call, rows(there()))

    return answer


def dated(decision: Decision) -> Decision:
    """A decision with the present time as its date.

    Args:
        decision: The decision.
    """
    return msgspec.structs.replace(decision, date=parse_date(datetime.now(UTC)))


def _read(path: str, handler: Handler, summary: str, row: type) -> Route:
    return Route(
        method="GET", path=path, scope="read", handler=handler, summary=summary, response=row, media_type=JSON_LINES
    )


def _write(method: str, path: str, handler: Handler, summary: str, request: type) -> Route:
    return Route(
        method=method,
        path=path,
        scope="label",
        handler=handler,
        summary=summary,
        request=request,
        response=Stored if method == "POST" else Withdrawn,
        status=201 if method == "POST" else 200,
    )


def with_impressions(route: Route, store: ServiceStore) -> Route:
    """The route of suggestions, with an impression for each list of two models.

    Args:
        route: The route.
        store: The store.
    """

    async def answer(call: Call) -> Response:
        found = await route.handler(call)
        if b'"team":' not in bytes(found.body):
            return found
        response = msgspec.json.decode(found.body, type=SuggestResponse)
        teams = [None if one.team is msgspec.UNSET else one.team for one in response.suggestions]
        if response.models is msgspec.UNSET or not teams:
            return found
        impression = await store.add_impression(response.article, response.models, teams)
        return reply(msgspec.structs.replace(response, impression=impression))

    return replace(route, handler=answer)


async def _rows(body: bytes, name: str, kind: type[S], whole: type[Request]) -> tuple[list[S], bool]:
    """The rows of a request, and whether they are a list.

    Raises:
        InvalidInput: One is not as expected; says which.
    """
    try:
        sent = getattr(msgspec.json.decode(body, type=_Sent), name)
    except FAILURES:
        return list(getattr(decoded(body, whole), name)), True  # which explains it
    if sent is msgspec.UNSET:
        return [decoded(body, kind)], False
    rows = list[S]()
    for position, one in enumerate(sent):
        if position % STEP == STEP - 1:
            await asyncio.sleep(0)  # other requests are answered meanwhile
        try:
            rows.append(decoded(bytes(one), kind))
        except InvalidInput as error:
            field = f"{name}[{position}]{'.' * bool(error.field)}{error.field}"
            raise InvalidInput(error.message, field=field) from None
    return rows, True


def _lines(call: Call, rows: Iterator[Row]) -> Response:
    """Rows as JSON Lines; the database is read in threads, and not at all for a head alone."""

    def block() -> bytes:
        return b"".join(msgspec.json.encode(row, enc_hook=plain_id) + b"\n" for row in islice(rows, BLOCK))

    async def blocks() -> AsyncIterator[bytes]:
        while call.method != "HEAD" and (part := await asyncio.to_thread(block)):
            yield part

    return StreamingResponse(blocks(), media_type=JSON_LINES)


PATIENCE: Final = 5.0
"""Seconds that threads and store have to answer a supervisor."""


class Health(msgspec.Struct, frozen=True):
    """State of the service.

    Args:
        status: ``ok``.
        workers: Number of workers that take requests.
    """

    status: str
    workers: int


def health_routes(pool: WorkerPool, store: ServiceStore | None = None) -> list[Route]:
    """Routes of a supervisor.

    Args:
        pool: The workers.
        store: The store; None where the service has none.
    """
    pulse = _Pulse(store)

    async def alive(call: Call) -> Response:  # noqa: ARG001
        if problem := await pulse.problem():
            raise Problem(503, problem, headers=(("retry-after", "1"),))
        return reply(Health("ok", len(pool.pids)))

    async def ready(call: Call) -> Response:
        if not pool.ready:
            raise Problem(503, "no worker is ready; try again in a moment", headers=(("retry-after", "1"),))
        return await alive(call)

    paths = {"/healthz": (alive, "Tell that the service lives"), "/readyz": (ready, "Tell that a worker is ready")}
    return [
        Route(method="GET", path=path, scope=None, handler=handler, summary=summary, response=Health, queue="open")
        for path, (handler, summary) in paths.items()
    ]


class _Pulse:
    """Check that threads and store answer: one at a time, however many supervisors ask."""

    def __init__(self, store: ServiceStore | None) -> None:
        self._look = store.check if store is not None else lambda: None
        self._looking: asyncio.Task[None] | None = None

    async def problem(self) -> str:
        """The problem; empty if all is well."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
        try:
            await asyncio.wait_for(asyncio.shield(self._looking), PATIENCE)
        except TimeoutError:
            return f"requests that need the store have not been answered for {PATIENCE:g} s"
        except PostilError:
            return "the store cannot be read"
        return ""


GAUGES: Final = {
    "workers": ("Number of workers that take requests",),
    "requests_waiting": ("Number of requests that wait for a worker",),
    "model_info": ("The models that are served: 1 each", "name", "kind", "hash"),
    "labels": ("Number of labels that are stored",),
    "impressions": ("Number of impressions that are stored",),
    "decisions": ("Number of decisions of moderators that are stored",),
    "deliveries": ("Number of deliveries to the webhook by state", "state"),
    "audit_lines_lost": ("Number of lines of the audit log that could not be written",),
}
"""Descriptions of the gauges, and what each tells apart, by name."""


class Telemetry(RequestMetrics):
    """Counters of requests, and gauges of the service's state.

    >>> telemetry = Telemetry()
    >>> telemetry.observe("GET /healthz", 200, 0.0004)
    >>> 'postil_requests_total{route="GET /healthz",status="200"} 1.0' in telemetry.text(workers=2, waiting=0).decode()
    True
    """

    def __init__(self) -> None:
        super().__init__(GAUGES)

    def text(
        self,
        *,
        workers: int,
        waiting: int,
        models: Sequence[ServedModel] = (),
        stored: StoreCounts | None = None,
        audit_lost: int = 0,
    ) -> bytes:
        """All metrics, with the parts of the service as they are at the moment of a scrape.

        Args:
            workers: Number of workers that take requests.
            waiting: Number of requests that wait for a worker.
            models: The models.
            stored: Numbers of what is stored; None without a store.
            audit_lost: Number of lines of the audit log that could not be written.
        """
        numbers: dict[str, float] = {"workers": workers, "requests_waiting": waiting, "audit_lines_lost": audit_lost}
        if stored is not None:
            numbers |= {
                "labels": stored.labels,
                "impressions": stored.impressions,
                "decisions": stored.decisions,
            }
            for delivered, count in stored.deliveries.items():
                self.gauges["deliveries"].labels(delivered).set(count)
        self.gauges["model_info"].clear()  # else the hash before a reload would stay
        for model in models:
            self.gauges["model_info"].labels(model.name, model.kind, model.hash).set(1)
        return self.exposition(numbers)


def metrics_route(text: Callable[[], Awaitable[bytes]]) -> Route:
    """The route of the metrics.

    Args:
        text: Function that gives all metrics.
    """

    async def metrics(call: Call) -> Response:  # noqa: ARG001
        return Response(await text(), media_type=MEDIA_TYPE)

    return Route(
        method="GET",
        path="/metrics",
        scope="metrics",
        handler=metrics,
        summary="Count requests, latencies, workers, models and what is stored, for Prometheus",
        media_type=MEDIA_TYPE,
        queue="here",
    )
