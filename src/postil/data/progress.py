"""Progress of long work: status messages, and bars on standard error if it is a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["OnMessage", "live", "progress", "steps"]

OnMessage: TypeAlias = "Callable[[str], None]"
"""Callback for status messages, one line each."""

T = TypeVar("T")
EVERY: Final = 1024


@contextmanager
def progress(
    what: str, things: Iterable[T], total: int | None = None, note: Callable[[], str] | None = None
) -> Iterator[Iterator[T]]:
    """Iterate with a progress bar if standard error is a terminal.

    Args:
        what: Name of the items, in the plural.
        things: The items to iterate over.
        total: Number of items, if known.
        note: Function that says more at each item, for slow ones; the time left is then shown as well.
    """
    if not sys.stderr.isatty():
        yield iter(things)
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, and only people need it
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    more = (TimeRemainingColumn(), TextColumn("{task.fields[note]}")) if note else ()
    with Progress(*columns, *more, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")

        def counted() -> Iterator[T]:
            done = 0
            for done, thing in enumerate(things, start=1):
                yield thing
                if note or done % EVERY == 0:
                    bar.update(task, completed=done, note=note() if note else "")
            bar.update(task, completed=done)

        yield counted()


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar for a few long steps, if standard error is a terminal.

    Args:
        total: Number of steps.

    Yields:
        A function to call at the beginning of each step, with its name.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, and only people need it
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        begun = 0

        def begin(name: str) -> None:
            nonlocal begun
            bar.update(task, description=name, completed=begun)
            begun += 1

        yield begin


@contextmanager
def live() -> Iterator[Callable[[object], None]]:
    """Show a changing status line, if standard error is a terminal.

    Yields:
        What to call with the line's new content.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, and only people need it

    with Console(stderr=True).status("") as status:
        yield lambda line: status.update(str(line))
