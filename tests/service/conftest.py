"""A service with two small models, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("uvicorn", reason="needs the web extra")
pytest.importorskip("httpx2", reason="needs httpx2")

import httpx2

sys.path.insert(0, str(Path(__file__).parent))  # for small_worker

import small_worker

from made_retrievers import NEWS, made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Served:
    """`postil serve` in a process of its own.

    Args:
        words: Its arguments.
        folder: Where it runs.
    """

    def __init__(self, words: tuple[str, ...], folder: Path) -> None:
        command = [sys.executable, "-m", "postil", "serve", *words, "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)  # noqa: S603 - ours
        self.client: Any = None
        self.log: list[str] = []

    def wait_for(self, start: str) -> str:
        """Read the log until a line begins so."""
        assert self.process.stderr
        for line in iter(self.process.stderr.readline, ""):
            self.log.append(line)
            if line.startswith(start):
                return line
        raise AssertionError("".join(self.log))

    def ready(self) -> None:
        """Wait until it serves."""
        address = self.wait_for("serving ").partition(" at ")[2].partition(";")[0]
        self.client = httpx2.Client(base_url=address, timeout=30)

    def stop(self, number: int) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> int:
        """Wait for the end; the exit code."""
        assert self.process.stderr
        self.log += self.process.stderr.readlines()
        return self.process.wait(20)

    def close(self) -> None:
        """Kill it if it lives."""
        if self.client is not None:
            self.client.close()
        self.process.kill()
        self.process.wait(20)
        assert self.process.stderr
        self.process.stderr.close()


@pytest.fixture
def _small_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.service.pool.open_models", small_worker.SmallModels)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models ``plain`` and ``both``."""
    folder = tmp_path_factory.mktemp("models")
    made(folder / "plain", NEWS)
    made(folder / "both", NEWS, "ir-tc")
    return folder


@pytest.fixture(scope="session")
def start(folders: Path) -> Iterator[Callable[..., Served]]:
    """Starts a service; its models are in `folders` unless others are named."""
    running: list[Served] = []

    def started(*words: str) -> Served:
        running.append(Served(words, folders))
        return running[-1]

    yield started
    for one in running:
        one.close()


@pytest.fixture(scope="session")
def served(start: Callable[..., Served]) -> Served:
    """A service that all tests share: none of them changes or ends it."""
    found = start("plain", "two=both", "--workers", "2", "--max-body", "2000")
    found.ready()
    return found
