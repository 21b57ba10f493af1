"""The engine of many machines: tasks and actors of Ray.

Ray's own retries are off. A worker that died is replaced here, by the rules of the local engine, so that `say` hears of
it and the message names the shard.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from typing import TYPE_CHECKING, Any, Final

from postil.engine.messages import Keeper
from postil.engine.worker_pool import Died, Lane, LaneEngine
from postil.errors import MissingExtra, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.engine.base import Engine

__all__ = ["open_ray"]

_ENVIRONMENT: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""No statistics to Ray's makers; no warning about graphics cards."""


_GLANCE: Final = 0.1  # seconds between two looks whether the answer is still wanted


def open_ray(*, jobs: int, retries: int, address: str | None, say: Callable[[str], None]) -> Engine:
    """Open Ray, unless it is open; see `postil.engine.open_engine`."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # noqa: PLC0415 - heavy, and optional
    except ImportError:
        raise MissingExtra("engine 'ray'", "scale") from None
    ours = not ray.is_initialized()
    if ours:
        address = address or os.environ.get("RAY_ADDRESS") or "local"  # else Ray takes any that runs here
        _check(address)
        try:
            ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError) as error:
            raise PostilError(f"Ray does not start: {error}") from error
        _hush()
    resources: dict[str, float] = ray.cluster_resources()
    return _Ray("ray", jobs if jobs > 1 else max(int(resources.get("CPU", 1)), 1), retries, say, ours=ours)


def _check(address: str) -> None:
    """See whether somebody listens, since Ray takes minutes for it."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"address: no Ray cluster at '{address}' ({error}); `ray start --head` starts one"
            ) from None


def _hush() -> None:
    """Keep Ray from writing about dead workers to standard output, where data goes; `say` hears of them."""
    from ray._private import worker  # noqa: PLC0415

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


class _Ray(LaneEngine):
    """Lanes of tasks (`map`) and actors (`hold`)."""

    def __init__(self, name: str, jobs: int, retries: int, say: Callable[[str], None], *, ours: bool) -> None:
        import ray  # noqa: PLC0415

        super().__init__(name, jobs, retries, say)
        self._ours = ours
        self._answer = ray.remote(max_retries=0)(_answer)
        # By default an actor asks for no CPU once it lives, so there may be more shards than CPUs.
        self._keeper = ray.remote(max_restarts=0, scheduling_strategy="SPREAD")(Keeper)
        self._last: tuple[bytes, Any] | None = None
        self.abandoned: list[Any] = []

    def _map_lane(self, kept: bytes) -> Lane:
        import ray  # noqa: PLC0415

        if self._last is None or self._last[0] is not kept:
            self._last = kept, ray.put((kept, sys.path))  # the lanes of one `map` share one object
        return _TaskLane(kept, self, self._answer, self._last[1])

    def _hold_lane(self, kept: bytes) -> Lane:
        return _ActorLane(kept, self._keeper)

    def _holders(self, shards: int) -> int:
        return shards

    def _end(self) -> None:
        import ray  # noqa: PLC0415

        self._last = None
        if self._ours:
            self._ours = False
            ray.shutdown()
        elif ray.is_initialized():
            for running in self.abandoned:
                ray.cancel(running, force=True)
        self.abandoned.clear()


class _RayLane(Lane):
    """What tasks and actors share."""

    def _await(self, answer: Any) -> bytes:
        import ray  # noqa: PLC0415
        from ray import exceptions  # noqa: PLC0415

        try:
            while not ray.wait([answer], timeout=_GLANCE)[0]:
                if self.over:
                    raise Died("was stopped")
            return bytes(ray.get(answer))
        except exceptions.RayTaskError as error:  # not of the function: its exceptions come in the answer
            if isinstance(error.cause, exceptions.RayError):
                raise Died(f"did not get its function ({type(error.cause).__name__})") from None
            raise PostilError(
                f"a Ray worker cannot work; has each node this version of postil? {error.cause}"
            ) from error
        except (exceptions.WorkerCrashedError, exceptions.ActorDiedError):
            raise Died("was killed or crashed; out of memory?") from None
        except exceptions.OutOfMemoryError:
            raise Died("was killed by Ray, as its node ran out of memory") from None
        except (exceptions.NodeDiedError, exceptions.ObjectLostError):
            raise Died("was lost with its node") from None
        except exceptions.RayError as error:
            raise Died(f"was lost ({type(error).__name__}: {str(error).strip().partition(chr(10))[0]})") from None


class _TaskLane(_RayLane):
    """A task a question; the worker that runs it keeps what it was sent last.

    A task that nobody waits for runs on until it or the engine ends: Ray cancels by killing the worker, which may have
    gone on to someone else's task by then.
    """

    def __init__(self, kept: bytes, engine: _Ray, answer: Any, reference: Any) -> None:
        super().__init__(kept)
        self._engine, self._answer, self._reference = engine, answer, reference

    def ask(self, question: bytes) -> bytes:
        """See `Lane.ask`."""
        if self.over:
            raise Died("was stopped")
        # Inside a list a reference is not fetched before the task starts, and a worker that knows it need not.
        running = self._answer.remote([self._reference], question)
        try:
            return self._await(running)
        finally:
            if self.over:
                self._engine.abandoned.append(running)

    def stop(self) -> None:
        """See `Lane.stop`."""
        self.over = True


class _ActorLane(_RayLane):
    """An actor that keeps a shard."""

    def __init__(self, kept: bytes, keeper: Any) -> None:
        super().__init__(kept)
        self._keeper = keeper
        self._actor: Any = None

    def ask(self, question: bytes) -> bytes:
        """See `Lane.ask`."""
        with self.lock:
            if self.over:
                raise Died("was stopped")
            if self._actor is None:
                self._actor = self._keeper.remote(self.kept, sys.path)
            actor = self._actor
        try:
            return self._await(actor.ask.remote(question))
        except Died:
            self._drop()
            raise

    def stop(self) -> None:
        """See `Lane.stop`."""
        with self.lock:
            self.over = True
        self._drop()

    def _drop(self) -> None:
        import ray  # noqa: PLC0415

        with self.lock:
            actor, self._actor = self._actor, None
        if actor is not None and ray.is_initialized():
            ray.kill(actor)


_KEPT: Final[dict[str, Keeper]] = {}
"""In a worker: the function that it was sent last, under the name of its reference."""


def _answer(references: list[Any], question: bytes) -> bytes:
    """The task."""
    import ray  # noqa: PLC0415

    name = references[0].hex()
    if name not in _KEPT:
        _KEPT.clear()
        _KEPT[name] = Keeper(*ray.get(references[0]))
    return _KEPT[name].ask(question)
