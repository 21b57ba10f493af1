"""The engine of many machines: tasks and actors of Ray.

Ray's own retries are off. A worker that died is replaced here, by the rules of the local engine, so that status
messages and errors name the shard.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from postil.engine.local import PooledEngine, WorkerSlot
from postil.engine.worker import WorkerDied, WorkerState
from postil.errors import PostilError, UsageError, needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.engine.base import Engine

__all__ = ["open_ray"]

Remote: TypeAlias = Any  # a handle of Ray: of a function, an actor, a task or an object

_ENVIRONMENT: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""No statistics to Ray's makers; no warning about graphics cards."""


_POLL_INTERVAL: Final = 0.1  # seconds between two looks whether the answer is still wanted


def open_ray(*, jobs: int, retries: int, address: str | None, on_message: Callable[[str], None]) -> Engine:
    """Open Ray, unless it is open; see `postil.engine.open_engine`."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with needs("engine 'ray'", "scale"):
        import ray  # noqa: PLC0415 - heavy, and optional
    ours = not ray.is_initialized()
    if ours:
        address = address or os.environ.get("RAY_ADDRESS") or "local"  # else Ray takes any that runs here
        _check(address)
        try:
            ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError) as error:
            raise PostilError(f"Ray does not start: {error}") from error
        _silence_ray()
    resources: dict[str, float] = ray.cluster_resources()
    return _Ray("ray", jobs if jobs > 1 else max(int(resources.get("CPU", 1)), 1), retries, on_message, ours=ours)


def _check(address: str) -> None:
    """Check that the address accepts connections, since Ray takes minutes to give up."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"address: no Ray cluster at '{address}' ({error}); start its head with ray start"
            ) from None


def _silence_ray() -> None:
    """Keep Ray from writing about dead workers to standard output, where data goes; `on_message` hears of them."""
    from ray._private import worker  # noqa: PLC0415

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


class _Ray(PooledEngine):
    """Slots of tasks (`map`) and of actors (`start_workers`)."""

    def __init__(self, name: str, jobs: int, retries: int, on_message: Callable[[str], None], *, ours: bool) -> None:
        import ray  # noqa: PLC0415

        super().__init__(name, jobs, retries, on_message)
        self._ours = ours
        self._run_task = ray.remote(max_retries=0)(_run_task)
        # By default an actor asks for no CPU once it lives, so there may be more shards than CPUs.
        self._state_class = ray.remote(max_restarts=0, scheduling_strategy="SPREAD")(WorkerState)
        self._last: tuple[bytes, Remote] | None = None
        self.abandoned: list[Remote] = []

    def _map_slot(self, payload: bytes) -> WorkerSlot:
        import ray  # noqa: PLC0415

        if self._last is None or self._last[0] is not payload:
            self._last = payload, ray.put((payload, sys.path))  # the slots of one `map` share one object
        return _TaskSlot(payload, self, self._run_task, self._last[1])

    def _worker_slot(self, payload: bytes) -> WorkerSlot:
        return _ActorSlot(payload, self._state_class)

    def _worker_count(self, shards: int) -> int:
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


class _RaySlot(WorkerSlot):
    """Base of the slots of tasks and of actors: waiting for a result."""

    def _await(self, answer: Remote) -> bytes:
        import ray  # noqa: PLC0415
        from ray import exceptions  # noqa: PLC0415

        try:
            while not ray.wait([answer], timeout=_POLL_INTERVAL)[0]:
                if self.over:
                    raise WorkerDied("was stopped")
            return bytes(ray.get(answer))
        except exceptions.RayTaskError as error:  # not of the function: its exceptions come in the answer
            if isinstance(error.cause, exceptions.RayError):
                raise WorkerDied(f"did not get its function ({type(error.cause).__name__})") from None
            raise PostilError(
                f"a Ray worker cannot work; has each node this version of postil? {error.cause}"
            ) from error
        except (exceptions.WorkerCrashedError, exceptions.ActorDiedError):
            raise WorkerDied("was killed or crashed; out of memory?") from None
        except exceptions.OutOfMemoryError:
            raise WorkerDied("was killed by Ray, as its node ran out of memory") from None
        except (exceptions.NodeDiedError, exceptions.ObjectLostError):
            raise WorkerDied("was lost with its node") from None
        except exceptions.RayError as error:
            raise WorkerDied(f"was lost ({type(error).__name__}: {str(error).strip().partition(chr(10))[0]})") from None


class _TaskSlot(_RaySlot):
    """One task per request; the worker that runs it caches the function that it was sent last.

    A task that nobody waits for runs on until it or the engine ends: Ray cancels by killing the worker, which may have
    gone on to someone else's task by then.
    """

    def __init__(self, payload: bytes, engine: _Ray, task: Remote, reference: Remote) -> None:
        super().__init__(payload)
        self._engine, self._run_task, self._reference = engine, task, reference

    def call(self, request: bytes) -> bytes:
        """See `WorkerSlot.call`."""
        if self.over:
            raise WorkerDied("was stopped")
        # In a list, a reference is not fetched before the task starts, and a worker that knows it need not.
        running = self._run_task.remote([self._reference], request)
        try:
            return self._await(running)
        finally:
            if self.over:
                self._engine.abandoned.append(running)

    def stop(self) -> None:
        """See `WorkerSlot.stop`."""
        self.over = True


class _ActorSlot(_RaySlot):
    """An actor that has loaded a shard."""

    def __init__(self, payload: bytes, state_class: Remote) -> None:
        super().__init__(payload)
        self._state_class = state_class
        self._actor: Remote = None

    def call(self, request: bytes) -> bytes:
        """See `WorkerSlot.call`."""
        with self.lock:
            if self.over:
                raise WorkerDied("was stopped")
            if self._actor is None:
                self._actor = self._state_class.remote(self.payload, sys.path)
            actor = self._actor
        try:
            return self._await(actor.call.remote(request))
        except WorkerDied:
            self._drop()
            raise

    def stop(self) -> None:
        """See `WorkerSlot.stop`."""
        with self.lock:
            self.over = True
        self._drop()

    def _drop(self) -> None:
        import ray  # noqa: PLC0415

        with self.lock:
            actor, self._actor = self._actor, None
        if actor is not None and ray.is_initialized():
            ray.kill(actor)


_STATES: Final[dict[str, WorkerState]] = {}
"""State of this worker for the function that it was sent last, by the name of its reference."""


def _run_task(references: list[Remote], request: bytes) -> bytes:
    """Run a request; the Ray task of `map`."""
    import ray  # noqa: PLC0415

    name = references[0].hex()
    if name not in _STATES:
        _STATES.clear()
        _STATES[name] = WorkerState(*ray.get(references[0]))
    return _STATES[name].call(request)
