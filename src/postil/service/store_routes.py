"""Routes of what the service stores: labels, and outcomes of interleaved suggestions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from postil.data.ids import plain_id
from postil.data.impressions import Impression
from postil.data.jsonl import FAILURES
from postil.data.labels import Label
from postil.data.rows import Id  # noqa: TC001 - msgspec reads annotations
from postil.errors import InvalidInput
from postil.messages import Blank, Command, Message, Setting
from postil.service.operations.requests import Request, decoded
from postil.service.operations.responses import SuggestResponse
from postil.service.store import Outcome
from postil.web.problems import Problem
from postil.web.routing import JSON_LINES, Reply, Route, reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from postil.data.rows import Row
    from postil.service.store import ServiceStore
    from postil.web.routing import Call, Handler

__all__ = [
    "LabelsRequest",
    "OutcomesRequest",
    "SentLabel",
    "Stored",
    "WithdrawalRequest",
    "Withdrawn",
    "store_routes",
    "with_impressions",
]

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
    """A label of a request; see `postil.data.labels.Label`.

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


class Stored(msgspec.Struct, frozen=True):
    """Number of what was stored, and is on disk.

    Args:
        stored: Number of rows; those whose id is known are stored already, and not counted.
    """

    stored: int


class Withdrawn(msgspec.Struct, frozen=True):
    """Number of labels that were taken back.

    Args:
        withdrawn: Number of labels.
    """

    withdrawn: int


class _Sent(msgspec.Struct, frozen=True):
    """The rows of a request, each of which is decoded by itself."""

    labels: tuple[msgspec.Raw, ...] | UnsetType = UNSET
    outcomes: tuple[msgspec.Raw, ...] | UnsetType = UNSET


def store_routes(store: ServiceStore | None) -> list[Route]:
    """Routes of labels and outcomes.

    Args:
        store: The store; None where the service has none, and says so.
    """

    def there() -> ServiceStore:
        if store is None:
            raise Problem(404, NO_STORE)
        return store

    async def add_labels(call: Call) -> Reply:
        found = there()
        sent, _ = await _rows(call.body, "labels", SentLabel, LabelsRequest)
        labels: list[Label] = []
        for at, one in enumerate(sent):
            labels.append(one.label())
            if at % STEP == STEP - 1:
                await asyncio.sleep(0)
        ids = [None if one.id is None else f"{one.id}" for one in sent]
        return reply(Stored(await found.add_labels(labels, sender=call.user or "", ids=ids)), 201)

    async def withdraw_labels(call: Call) -> Reply:
        found = there()
        ids = [f"{one}" for one in decoded(call.body, WithdrawalRequest).ids]
        return reply(Withdrawn(await found.withdraw_labels(ids, sender=call.user or "")))

    async def add_outcomes(call: Call) -> Reply:
        found = there()
        outcomes, several = await _rows(call.body, "outcomes", Outcome, OutcomesRequest)
        try:
            await found.add_outcomes(outcomes)
        except InvalidInput as error:
            if several:
                raise
            raise InvalidInput(error.message, field=error.field.removeprefix("outcomes[0].")) from None
        return reply(Stored(len(outcomes)), 201)

    async def labels(call: Call) -> Reply:  # noqa: ARG001
        return Reply(_lines(there().labels()), media_type=JSON_LINES)

    async def outcomes(call: Call) -> Reply:  # noqa: ARG001
        return Reply(_lines(there().outcomes()), media_type=JSON_LINES)

    return [
        _write("POST", "/v1/labels", add_labels, "Store whether suggestions should be shown", LabelsRequest),
        _write("DELETE", "/v1/labels", withdraw_labels, "Take labels back that one has sent", WithdrawalRequest),
        _read("/v1/labels", labels, "Read the labels that are stored", Label),
        _write(
            "POST", "/v1/outcomes", add_outcomes, "Store what readers do with interleaved suggestions", OutcomesRequest
        ),
        _read("/v1/outcomes", outcomes, "Read the log of impressions (postil compare --interleaved)", Impression),
    ]


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

    async def answer(call: Call) -> Reply:
        found = await route.handler(call)
        if not isinstance(found.body, bytes) or b'"team":' not in found.body:
            return found
        response = msgspec.json.decode(found.body, type=SuggestResponse)
        teams = [None if one.team is UNSET else one.team for one in response.suggestions]
        if response.models is UNSET or not teams:
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
    if sent is UNSET:
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


async def _lines(rows: Iterator[Row]) -> AsyncIterator[bytes]:
    """Rows as JSON Lines; the database is read in threads."""

    def block() -> bytes:
        return b"".join(msgspec.json.encode(row, enc_hook=plain_id) + b"\n" for row in islice(rows, BLOCK))

    while part := await asyncio.to_thread(block):
        yield part
