"""Engines: map a function over shards in order, or keep shards in stateful workers; local processes or Ray.

Ray is imported in `cluster.py` only, when it is asked for.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.engine.base import Engine, StatefulWorkers
from postil.engine.cluster import open_ray as _open_ray
from postil.engine.local import open_local as _open_local
from postil.errors import MissingExtra, UnknownName, check_least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from postil.data.progress import OnMessage

__all__ = ["ENGINES", "Engine", "StatefulWorkers", "check_engine", "elsewhere", "open_engine"]

ENGINES: Final[Mapping[str, Callable[..., Engine]]] = MappingProxyType({"local": _open_local, "ray": _open_ray})
"""Function that opens each engine, by name."""


def open_engine(
    name: str = "local",
    *,
    jobs: int = 1,
    retries: int = 2,
    address: str | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Engine:
    """Open an engine; close it with ``with``, which leaves no process behind whatever happens inside.

    What comes out does not depend on the engine, on `jobs`, or on workers that die.

    Args:
        name: ``local`` (processes of this machine) or ``ray`` (extra ``scale``).
        jobs: Number of shards processed at the same time. Local: 1 runs them in this process. Ray: 1 stands for all the
            CPUs that the cluster has now.
        retries: Number of times a shard is run again, in a new worker, after its worker died.
        address: Ray only: address of a running cluster (``auto`` finds the one of this machine). None starts Ray
            here, on this machine alone, for as long as the engine is open, unless the environment variable RAY_ADDRESS
            names one. A program that called ``ray.init`` itself keeps its cluster.
        on_message: Callback for status messages.

    Raises:
        UnknownName: There is no such engine.
        MissingExtra: Ray is not installed.
        UsageError: `jobs`, `retries` or `address` make no sense.

    >>> with open_engine() as engine:
    ...     list(engine.map(len, ["one", "three"]))
    [3, 5]
    >>> with open_engine(jobs=2) as engine, engine.start_workers(dict.fromkeys, ["ab", "bc", "cd"]) as workers:
    ...     workers.call(dict.__contains__, "b")
    [True, True, False]
    >>> open_engine("dask")
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown engine 'dask'. Known: local, ray
    """
    UnknownName.check("engine", name, ENGINES)
    check_least(1, jobs=jobs)
    check_least(0, retries=retries)
    return ENGINES[name](jobs=jobs, retries=retries, address=address, on_message=on_message or (lambda _: None))


def check_engine(name: str) -> None:
    """Check that an engine can be opened; done before long work that comes before it.

    Args:
        name: A name in `ENGINES`.

    Raises:
        UnknownName: There is no such engine.
        MissingExtra: Ray is not installed.
    """
    UnknownName.check("engine", name, ENGINES)
    if name == "ray" and find_spec("ray") is None:
        raise MissingExtra("engine 'ray'", "scale")


@contextmanager
def elsewhere(
    name: str, jobs: int, address: str | None, on_message: OnMessage | None = None
) -> Iterator[Engine | None]:
    """Open the engine of that name; None for ``local``, where threads of this process do better than processes.

    Args:
        name: A name in `ENGINES`.
        jobs: Number of shards processed at the same time.
        address: Address of a Ray cluster.
        on_message: Callback for status messages.

    Raises:
        UnknownName: There is no such engine.
        MissingExtra: Ray is not installed.
    """
    check_engine(name)
    if name == "local":
        yield None
        return
    with open_engine(name, jobs=jobs, address=address, on_message=on_message) as engine:
        yield engine
