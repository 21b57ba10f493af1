"""Chromium, where it is installed, spoken to over a pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from campaign_window import Server
    from desk_stub import DeskStub

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 60


class Chromium:
    """A browser; see the DevTools protocol for what it understands."""

    def __init__(self, path: str, profile: Path) -> None:
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        # The browser reads from 3 and writes to 4, so nothing of ours may stand there meanwhile.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        null = os.open(os.devnull, os.O_RDWR)
        places = [*((end, place) for place, end in enumerate(ends, 3)), (null, 1), (null, 2)]
        actions = [(os.POSIX_SPAWN_DUP2, end, place) for end, place in places]
        command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = os.posix_spawn(path, command, os.environ, file_actions=actions)
        for end in (theirs_in, theirs_out, null, *ends):
            os.close(end)
        self._rest = b""
        self._calls = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": params}
        os.write(self._write, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._calls:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self.events.append(answer)

    def wait(self, method: str, session: str) -> None:
        while not any(event["method"] == method and event.get("sessionId") == session for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            if not select.select([self._read], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise EOFError("the browser has gone")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def open(self, page: Path, width: int, height: int = 900, *, dark: bool = False) -> Tab:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{room}.enable", session)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", session, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", session, features=[scheme])
        self.events.clear()
        self.call("Page.navigate", session, url=page.as_uri())
        self.wait("Page.loadEventFired", session)
        return Tab(self, session)

    def close(self) -> None:
        with suppress(OSError, EOFError, TimeoutError, AssertionError):
            self.call("Browser.close")
        for _ in range(50):
            if os.waitpid(self._process, os.WNOHANG)[0]:
                break
            time.sleep(0.1)
        else:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        os.close(self._read)
        os.close(self._write)


class Tab:
    """An open page."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session

    def __call__(self, expression: str) -> Any:
        """The value of an expression of JavaScript, which the page's own policy does not stop."""
        found = self._browser.call("Runtime.evaluate", self._session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def events(self, *methods: str) -> list[dict[str, Any]]:
        self("0")  # what was said before has been read by then; tabs of earlier tests may still speak
        mine = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event["params"] for event in mine if event.get("method") in methods]

    def print(self) -> bytes:
        found = self._browser.call(
            "Page.printToPDF", self._session, preferCSSPageSize=True, paperWidth=8.3, paperHeight=11.7
        )
        return base64.b64decode(found["data"])

    def shoot(self, path: Path) -> None:
        """The whole page as a picture."""
        whole = self._browser.call("Page.getLayoutMetrics", self._session)["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": whole["width"], "height": min(whole["height"], 16000), "scale": 1}
        options = {"captureBeyondViewport": True, "clip": clip}
        found = self._browser.call("Page.captureScreenshot", self._session, **options)
        path.write_bytes(base64.b64decode(found["data"]))


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    browser = Chromium(path, tmp_path_factory.mktemp("profile"))
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., DeskStub]]:
    """Starts the desk of a service without models."""
    from desk_stub import DeskStub  # noqa: PLC0415 - needs the web extra

    running: list[DeskStub] = []

    def make(**options: Any) -> DeskStub:
        running.append(DeskStub(tmp_path / f"data{len(running)}", **options))
        return running[-1]

    yield make
    for stub in running:
        stub.stop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Serves campaigns of made-up rows or of the bundled sample."""
    from campaign_window import served  # noqa: PLC0415 - needs the web extra

    running: list[Server] = []

    def make(rows: list[dict[str, Any]], articles: list[dict[str, Any]] | None = None, **options: Any) -> Server:
        running.append(served(tmp_path / f"campaign{len(running)}", rows, articles, **options))
        return running[-1]

    yield make
    for server in running:
        server.close()
