"""Changes of the models while they are served: reload, calibrate, forget. The next one waits until the former is done.

A process of its own changes the folders, so that neither its memory nor its end is the service's.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import msgspec

from postil.calibration.calls import calibrate_model
from postil.calibration.options import CalibrateOptions
from postil.calibration.result import CalibrationResult
from postil.data.rows import Id  # noqa: TC001 - msgspec reads annotations
from postil.engine.worker import WorkerDied, identity
from postil.erasure.calls import find_comments, forget_while_served
from postil.erasure.models import AlsoServed, ServedModels
from postil.erasure.options import ForgetOptions
from postil.erasure.result import ForgetResult
from postil.errors import InvalidInput, MissingExtra, PostilError, UnknownName, UsageError
from postil.messages import JSON, Blank, Command, Setting
from postil.service.bodies import ModelsResponse, Request, decoded
from postil.service.worker import InternalError, WorkerProcess, for_clients
from postil.web.problems import Problem, problem_of
from postil.web.routing import Call, Handler, Route, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.responses import Response

    from postil.corpus.forgotten import Chosen
    from postil.erasure.calls import Screens
    from postil.results.base import Result
    from postil.service.config import ServiceConfig
    from postil.service.pool import WorkerPool
    from postil.service.store import ServiceStore

__all__ = [
    "CalibrateRequest",
    "ForgetRequest",
    "NamedComment",
    "Upkeep",
]

DEFAULTS: Final = CalibrateOptions()
MOST_RESAMPLES: Final = 100_000
"""Largest number of resamples of a request, as no other change of the models begins before it ends."""


class CalibrateRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request to fit the filter of a model to the stored labels.

    Args:
        model: Name of the model; by default the first one.
        seed: Random seed.
        resamples: Number of resamples of the articles, for confidence intervals; at most 100,000.
    """

    model: str | None = None
    seed: Annotated[int, msgspec.Meta(ge=0)] = DEFAULTS.seed
    resamples: Annotated[int, msgspec.Meta(ge=1, le=MOST_RESAMPLES)] = DEFAULTS.resamples


class NamedComment(Request, frozen=True, kw_only=True, gc=False):
    """Ids of a comment.

    Args:
        article: The id of its article.
        comment: Its id.
    """

    article: Id
    comment: Id


class ForgetRequest(Request, frozen=True, kw_only=True, gc=False):
    """Request to erase comments from all models and from the store.

    Args:
        comments: The comments.
        same_text: Erase other comments with the same text as well.
    """

    comments: tuple[NamedComment, ...]
    same_text: bool = False

    def __post_init__(self) -> None:
        if not self.comments:
            raise InvalidInput("expected at least one comment, got none", field="comments")


class Upkeep:
    """Changes of the models while they are served.

    Args:
        pool: The workers.
        config: Function that reads the folders of the models, as they are now.
        store: Store of labels; None where the service stores nothing.
        served: Notes beside the models that the service serves.
    """

    def __init__(
        self, pool: WorkerPool, config: Callable[[], ServiceConfig], store: ServiceStore | None, served: ServedModels
    ) -> None:
        self._pool, self._config, self._store, self._served = pool, config, store, served
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route(
                method="POST",
                path="/v1/reload",
                scope="admin",
                handler=self._worded(self._reload),
                summary="Read the folders of the models again",
                response=ModelsResponse,
            ),
            Route(
                method="POST",
                path="/v1/calibrate",
                scope="admin",
                handler=self._worded(self._calibrate),
                summary="Learn from the stored labels what is worth showing",
                request=CalibrateRequest,
                response=CalibrationResult,
            ),
            Route(
                method="POST",
                path="/v1/forget",
                scope="admin",
                handler=self._worded(self._forget),
                summary="Erase comments from the models and the store, for good",
                request=ForgetRequest,
                response=ForgetResult,
            ),
        ]

    async def reload(self) -> None:
        """Start workers with the folders as they are now, and end the old ones when all new ones are ready.

        Raises:
            PostilError: A folder holds no model, or one that cannot be opened; the old workers go on.
        """
        async with self._turn:
            await self._swap()

    def _worded(self, handler: Handler) -> Handler:
        """The same handler, whose problems name models and not their folders."""

        async def answer(call: Call) -> Response:
            try:
                return await handler(call)
            except PostilError as error:
                found, worded = problem_of(error), self._pool.without_paths
                errors = tuple((field, worded(detail)) for field, detail in found.errors)
                raise Problem(found.status, worded(found.detail), headers=found.headers, errors=errors) from error

        return answer

    async def _swap(self) -> None:
        config = await asyncio.to_thread(self._config)
        with self._served.moving_to(config.kept):
            await self._pool.swap(config)

    async def _take_changes(self) -> None:
        try:
            await self._swap()
        except PostilError as error:
            problem = f"the folders are changed, but the workers go on with the former models: {error.words(JSON)}"
            raise InternalError(problem) from error

    async def _reload(self, call: Call) -> Response:  # noqa: ARG002
        try:
            await self.reload()
        except PostilError as error:
            raise Problem(409, f"the models that were opened before go on: {error.words(JSON)}") from error
        return reply(self._pool.models)

    async def _calibrate(self, call: Call) -> Response:
        request = decoded(await call.body() or b"{}", CalibrateRequest)
        async with self._turn:
            store = self._store
            if store is None:
                raise UsageError(
                    "this service stores no labels; whoever runs it can start it with {command}",
                    command=Command("serve", settings=(Setting("data", Blank("DIR")),)),
                )
            folders = (await asyncio.to_thread(self._config)).models
            name = next(iter(folders), "") if request.model is None else request.model
            UnknownName.check("model", name, folders)
            labels = await asyncio.to_thread(lambda: list(store.labels()))
            options = CalibrateOptions(seed=request.seed, resamples=request.resamples)
            fit = partial(calibrate_model, folders[name], labels, {}, options, where="the stored labels")
            async with _Maintenance() as process:
                found: bytes = await process.ask(partial(_json, fit))
            await self._take_changes()
        return reply(found)

    async def _forget(self, call: Call) -> Response:
        request = decoded(await call.body(), ForgetRequest)
        async with self._turn:
            folders = (await asyncio.to_thread(self._config)).kept
            if not folders and self._store is None:
                raise UsageError("this service serves nothing that keeps comments, and stores nothing")
            models = list({os.path.realpath(folder): folder for folder in folders}.values())
            try:
                with self._served.alone(), tempfile.TemporaryDirectory() as folder:
                    listed = Path(folder, "comments.jsonl")  # since an id may have a colon
                    pairs = [{"article": f"{one.article}", "comment": f"{one.comment}"} for one in request.comments]
                    listed.write_bytes(msgspec.json.Encoder().encode_lines(pairs))
                    options = ForgetOptions(listed=str(listed), same_text=request.same_text)
                    found = await self._forgotten(models, options, self._served.store)
            except AlsoServed as error:
                raise Problem(409, str(error)) from error
            except MissingExtra as error:  # which is found before anything is changed
                todo = "whoever runs this service can install it, and then send the request again; nothing was changed"
                raise UsageError("{problem}; {todo}", problem=error.words(JSON), todo=todo) from error
        return reply(found)

    async def _forgotten(self, models: list[str], options: ForgetOptions, store: str) -> bytes:
        async with _Maintenance() as process:
            chosen, texts = await process.ask(partial(find_comments, models, options, store))
            await self._erase(chosen, texts)  # should the machine end now, the request can be sent again
            erase = partial(forget_while_served, models, options, store, chosen)
            found: bytes = (await process.ask(erase)).to_json().encode()
        await self._take_changes()
        await self._erase(chosen, texts)  # labels that came before the workers were new
        return found

    async def _erase(self, chosen: Chosen, texts: Sequence[str]) -> None:
        if self._store is not None:
            await self._store.forget(chosen.comments, texts)


NICENESS: Final = 10
"""Priority below that of the workers."""


class _Maintenance:
    """A process for one change."""

    async def __aenter__(self) -> Self:
        screens: Screens = {}
        self._process = await WorkerProcess.start(identity, screens, niceness=NICENESS)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._process.end()

    async def ask(self, work: Callable[[Screens], object]) -> Any:
        """Do a part of the change, with the screens that an earlier part has learned again."""
        try:
            return await self._process.ask(_done, work)
        except WorkerDied as error:
            raise InternalError(f"the process that changed the models {error}; send the request again") from None


def _json(work: Callable[[], Result], _: Screens) -> bytes:
    return work().to_json().encode()


def _done(screens: Screens, work: Callable[[Screens], object]) -> object:
    with for_clients():
        return work(screens)
