"""People's browsers as the server sees them: HTTP over real sockets, one connection each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

__all__ = ["Browser", "Load", "load"]


class Browser:
    """A connection that keeps a session."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookies: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.csrf = ""

    async def ask(self, path: str, fields: dict[str, object] | None = None, *, script: bool = True) -> tuple[int, str]:
        """Status and text of an answer; OSError where there is none.

        A connection that the server closed meanwhile is made again, as browsers do.
        """
        while True:
            used = self._streams is not None
            try:
                return await self._ask(path, fields, script=script)
            except (OSError, EOFError) as error:
                self._streams = None
                if not used:
                    raise OSError(str(error)) from error

    async def _ask(self, path: str, fields: dict[str, object] | None, *, script: bool) -> tuple[int, str]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = urlencode(fields).encode() if fields is not None else b""
        lines = [
            f"{'GET' if fields is None else 'POST'} {path} HTTP/1.1",
            f"host: localhost:{self._port}",
            f"accept: {'application/json' if script else 'text/html'}",
            f"cookie: {'; '.join(f'{name}={value}' for name, value in self._cookies.items())}",
            "content-type: application/x-www-form-urlencoded",
            f"content-length: {len(body)}",
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        for name, value in re.findall(r"(?im)^set-cookie: ([^=]+)=([^;]*)", head):
            self._cookies[name] = value
        size = re.search(r"(?im)^content-length: (\d+)", head)
        text = (await reader.readexactly(int(size[1]) if size else 0)).decode()
        return int(head.split()[1]), text

    async def join(self, token: str) -> None:
        _, page = await self.ask(f"/join/{token}", script=False)
        csrf = re.search(r'name="csrf" value="(\w+)"', page)
        assert csrf, page
        status, _ = await self.ask("/join", {"csrf": csrf[1], "token": token}, script=False)
        assert status == 303
        for path in ("/grade", "/lead"):
            status, page = await self.ask(path, script=False)
            if status == 200:
                break
        found = re.search(r'name="csrf" value="(\w+)"', page)
        assert found
        self.csrf = found[1]


@dataclass
class Load:
    """Outcome of a load."""

    seconds: float = 0.0
    took: list[float] = field(default_factory=list)
    pages: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: dict[str, tuple[int, float]] = field(default_factory=dict)  # a key, and the text and grade under it
    unanswered: list[tuple[int, dict[str, object]]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def load(browsers: list[Browser], lead: Browser | None, *, rate: float, seconds: float) -> Load:
    """Grade at so many grades a second altogether, or as fast as it goes; the lead looks at the pages meanwhile.

    Each annotator sends a grade on the beat, or at once when behind it, and every answer brings the next text, as in
    the browser. When the server goes away, or an annotator has nothing left, the load ends.
    """
    made = Load()
    began = time.perf_counter()
    stop = asyncio.Event()

    async def grade(number: int, browser: Browser) -> None:
        beat = len(browsers) / rate
        _, text = await browser.ask("/task")
        said = json.loads(text)
        task, ahead = said["task"], said["ahead"]
        count = 0
        while not stop.is_set() and time.perf_counter() - began < seconds:
            due = began + number * beat / len(browsers) + count * beat
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            numbers = re.search(r'data-assignment="(\d+)" data-position="(\d+)" data-revision="(\d+)"', task)
            if not numbers:
                stop.set()
                return
            key = secrets.token_hex(16)
            last = re.search(r'data-position="(\d+)"', ahead[-1] if ahead else task)
            fields: dict[str, object] = {
                "csrf": browser.csrf,
                "assignment": numbers[1],
                "revision": numbers[3],
                "idempotency_key": key,
                "seconds": "3.5",
                "grade": str(1 + count % 5),
                "after": last[1] if last else -1,
                "want": "1",
            }
            start = time.perf_counter()
            try:
                status, text = await browser.ask("/rate", fields)
            except OSError:
                made.unanswered.append((number, fields))
                stop.set()
                return
            made.took.append(time.perf_counter() - start)
            if status != 200:
                made.errors.append(f"{status}: {text[:200]}")
                return
            made.acknowledged[key] = int(numbers[1]), float(str(fields["grade"]))
            ahead += json.loads(text)["ahead"]
            task = ahead.pop(0) if ahead else ""
            made.seconds = time.perf_counter() - began
            count += 1

    async def watch(browser: Browser) -> None:
        while not stop.is_set() and time.perf_counter() - began < seconds:
            for path in ("/lead", "/lead/agreement", "/lead/conflicts"):
                start = time.perf_counter()
                with contextlib.suppress(OSError):
                    status, text = await browser.ask(path, script=False)
                    made.pages.setdefault(path, []).append(time.perf_counter() - start)
                    if status != 200:
                        made.errors.append(f"{path}: {status}: {text[:200]}")
            await asyncio.sleep(2)

    jobs = [grade(number, browser) for number, browser in enumerate(browsers)]
    if lead is not None:
        jobs.append(watch(lead))
    await asyncio.gather(*jobs)
    return made
