"""Work of workers in the tests; it stands in a module of its own, so that they can import it."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from postil.errors import InvalidInput, MissingExtra, Undefined, UnknownName

HERE = str(Path(__file__).parent)
NO_RAY = "needs the extra scale" if find_spec("ray") is None else ""

RAISES = {
    "input": lambda: InvalidInput("expected 1, got 2", where="a.jsonl", line=3, field="grade"),
    "name": lambda: UnknownName("metric", "metor", ["bleu", "meteor"]),
    "extra": lambda: MissingExtra("x", "zh"),
    "undefined": lambda: Undefined("constant"),
    "builtin": lambda: FileNotFoundError(2, "no such file", "x.txt"),
    "stubborn": lambda: StubbornError(1, 2),
    "exit": lambda: SystemExit(3),
}


class StubbornError(Exception):
    """Cannot be pickled back."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def square(number: int) -> int:
    return number * number


def late_square(number: int) -> int:
    """The first shards take longest."""
    time.sleep(max(0, 4 - number) * 0.05)
    return number * number


def turned(data: bytes) -> bytes:
    return data[::-1]


def failing(name: str) -> str:
    if name in RAISES:
        error = RAISES[name]()
        raise error
    return name


def unsendable(number: int) -> object:
    return (lambda: number) if number == 2 else number


def die(code: int) -> None:
    if code < 0:
        os.kill(os.getpid(), -code)
        time.sleep(60)
    os._exit(code)


@dataclass(frozen=True)
class Fragile:
    """Squares; at one shard its worker is killed, as often as `times`."""

    folder: Path
    at: int = 2
    times: int = 1

    def __call__(self, number: int) -> int:
        if number == self.at:
            strike(self.folder, self.times)
        return number * number


def strike(folder: Path, times: int = 1) -> None:
    """Kill this process, unless that has happened often enough."""
    done = len(list(folder.glob("killed-*")))
    if done < times:
        (folder / f"killed-{done}").touch()
        die(-signal.SIGKILL)


@dataclass(frozen=True)
class Heavy:
    """Counts the workers that build it."""

    folder: Path
    data: bytes = field(repr=False, default=b"x" * 1_000_000)

    @cached_property
    def built(self) -> int:
        with (self.folder / "built").open("a") as file:
            file.write("x")
        return len(self.data)

    def __call__(self, number: int) -> int:
        return self.built + number


class Part:
    """A shard of stateful workers: remembers the requests it was called with."""

    def __init__(self, shard: tuple[int, Path]) -> None:
        self.number, self.folder = shard
        self.asked: list[int] = []
        if self.number == 99:
            raise InvalidInput("bad shard", where="99")
        with (self.folder / f"loaded-{self.number}").open("a") as file:
            file.write("x")


def tell(part: Part, request: int) -> tuple[int, list[int]]:
    part.asked.append(request)
    return part.number, list(part.asked)


def tell_or_die(part: Part, victim: int) -> int:
    if part.number == victim:
        strike(part.folder)
    return part.number


def tell_or_fail(part: Part, least: int) -> int:
    if part.number >= least:
        raise Undefined(f"part {part.number}")
    return part.number


@dataclass(frozen=True)
class Text:
    """Bytes that depend on nothing but the shard, too many for Ray to send with the answer.

    On the way the worker of shard `killing` is killed, and node `doomed` never comes to an end with a shard after 14.
    """

    folder: Path
    killing: int = -1
    doomed: str = ""

    def __call__(self, number: int) -> bytes:
        if number == self.killing:
            strike(self.folder)
        if self.doomed and number > 14:
            node = node_here()
            (self.folder / f"{node}-{number}").touch()
            end = time.monotonic() + 60
            while time.monotonic() < end and (node == self.doomed or not self.hit()):  # keeps the other nodes busy
                time.sleep(0.02)
        return f"{number} ".encode() * 50_000

    def hit(self) -> bool:
        """True if the doomed node has taken such a shard."""
        return any(self.folder.glob(f"{self.doomed}-*"))


def node_here() -> str:
    """The Ray node that this process is a worker of."""
    ray = sys.modules.get("ray")
    return ray.get_runtime_context().get_node_id() if ray and ray.is_initialized() else ""


def node_of(part: Part, request: int) -> tuple[str, int]:
    return node_here(), part.number + request


def slow(folder: Path) -> None:
    """Says who works, then works for a minute."""
    (folder / f"pid-{os.getpid()}").touch()
    time.sleep(60)
