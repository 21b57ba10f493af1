"""The engine of a command, where work is not done in this process."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from postil.engine import ENGINES, open_engine
from postil.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.progress import OnMessage
    from postil.engine import Engine

__all__ = ["check_engine", "elsewhere"]


def check_engine(name: str) -> None:
    """Check that an engine can be opened; done before long work that comes before it.

    Args:
        name: A name in `postil.engine.ENGINES`.

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
        name: A name in `postil.engine.ENGINES`.
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
