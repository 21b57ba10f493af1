"""A small campaign, and people who visit its pages."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from contextlib import ExitStack
from copy import copy
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

pytest.importorskip("starlette", reason="needs the web extra")
pytest.importorskip("httpx2", reason="needs httpx2")

import httpx2
from starlette.testclient import TestClient

from postil.campaigns.models import Campaign, Item
from postil.campaigns.pages.server import WebOptions, make_app
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from postil.campaigns.models import ItemType

PATIENT = WebOptions(patience=30)


class Clock:
    """A time that tests set."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Visitor:
    """Someone with a browser that runs no scripts; `ask` is what the script would do."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def join(self, token: str) -> Any:
        page = self.client.get(f"/join/{token}")
        return self.client.post("/join", data={"csrf": field(page.text, "csrf"), "token": token})

    def get(self, path: str) -> Any:
        return self.client.get(path)

    def form(self, path: str = "/grade") -> dict[str, str]:
        """The hidden fields of the first form to grade on a page."""
        text = self.get(path).text
        return {name: field(text, name) for name in ("csrf", "assignment", "revision", "idempotency_key")}

    def post(self, path: str, **fields: object) -> Any:
        return self.client.post(path, data={"csrf": self.csrf, **fields})

    def ask(self, path: str, **fields: object) -> Any:
        """The same as a script."""
        data = {"csrf": self.csrf, **fields}
        return self.client.post(path, data=data, headers={"accept": "application/json"})

    @property
    def csrf(self) -> str:
        return field(self.get("/grade" if self.get("/").headers["location"] == "/grade" else "/lead").text, "csrf")

    def raw(self, path: str, body: bytes | Iterator[bytes], **headers: str) -> Any:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self.client.post(path, content=body, headers=kind | headers)


def field(text: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, f"no field {name}"
    return found[1]


class Place:
    """A campaign with its pages."""

    def __init__(
        self,
        folder: Path,
        items: list[Item],
        rubric: Rubric,
        annotators: int,
        options: WebOptions,
        *,
        item_type: ItemType | None = None,
        context: tuple[str, ...] | None = None,
    ) -> None:
        self.clock = Clock(1_700_000_000.0 + int(folder.name))
        self.store = Store.open(str(folder / "campaign.db"), make=True, clock=self.clock)
        texts = [(item.item, item.name) for item in items]
        made = plan(texts, annotators, annotators, seed=1)
        item_type = item_type or ("passages" if rubric.kind == "spans" else "outputs")
        settings = Campaign(name="Autumn", item_type=item_type, annotators_per_item=annotators, seed=1, context=context)
        if rubric.kind == "pair":
            settings = msgspec.structs.replace(settings, pairs=0)
        self.store.create(settings, items, made, rubric)
        self.app = make_app(self.store, options)
        self.open = ExitStack()

    def visitor(self, name: str = "", role: Any = "annotator") -> Visitor:
        """Someone; signed in where there is a name."""
        client = TestClient(self.app, base_url="http://localhost", follow_redirects=False)
        found = Visitor(self.open.enter_context(client))
        if name:
            assert found.join(self.store.people.invite(name, role)).status_code == 303
        return found


def texts(n: int, **more: str) -> list[Item]:
    """So many texts, two an article."""
    return [
        Item(
            item=f"a{i // 2}",
            system=f"system-{i % 2}",
            text=f"text {i}",
            title=f"title {i // 2}",
            content="First.\nSecond.",
            lang="en",
            **more,
        )
        for i in range(n)
    ]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """Makes a campaign."""
    made: list[Place] = []

    def make(
        items: list[Item] | None = None,
        rubric: Rubric | None = None,
        annotators: int = 2,
        options: WebOptions = PATIENT,
        item_type: ItemType | None = None,
        *,
        context: tuple[str, ...] | None = None,
    ) -> Place:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(
            Place(
                folder,
                items or texts(6),
                rubric or Rubric.default(),
                annotators,
                options,
                item_type=item_type,
                context=context,
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.open.close()
        one.store.close()


class Served:
    """A campaign behind `postil annotate serve` in a process of its own; Ann is signed in.

    The test has no connection to the database while the server runs.
    """

    def __init__(self, folder: Path, items: list[Item]) -> None:
        self.path = folder / "campaign.db"
        made = plan([(item.item, item.system) for item in items], 2, 2, seed=1)
        with Store.open(str(self.path), make=True) as store:
            campaign = Campaign(name="Autumn", item_type="outputs", annotators_per_item=2, seed=1)
            store.create(campaign, items, made, Rubric.default())
            store.people.accept(store.people.invite("Lee", "lead"))
            token = store.people.invite("Ann", "annotator")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log: list[str] = []
        self.start()
        self.ann = Visitor(httpx2.Client(base_url=f"http://localhost:{self.port}", follow_redirects=False))
        assert self.ann.join(token).status_code == 303

    def start(self, *flags: str) -> None:
        command = [
            sys.executable,
            "-m",
            "postil",
            "annotate",
            "serve",
            str(self.path),
            "--port",
            str(self.port),
            *flags,
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own command
        assert self.process.stderr
        for line in iter(self.process.stderr.readline, ""):
            self.log.append(line)
            if line.startswith("serving "):
                return
        raise AssertionError("".join(self.log))

    def wait_for(self, beginning: str) -> None:
        """Wait for a line of the server, which may have come before it served."""
        assert self.process.stderr
        while not any(line.startswith(beginning) for line in self.log):
            self.log.append(self.process.stderr.readline())
            assert self.log[-1], "".join(self.log)

    def beside(self) -> Served:
        """Another server of the same campaign, where Ann is signed in as well."""
        other = copy(self)
        with socket.create_server(("127.0.0.1", 0)) as free:
            other.port = free.getsockname()[1]
        other.log = []
        other.start()
        cookies = self.ann.client.cookies
        other.ann = Visitor(
            httpx2.Client(base_url=f"http://localhost:{other.port}", follow_redirects=False, cookies=cookies)
        )
        return other

    def rate(self, times: int = 1) -> list[int]:
        """Grade the texts that come next; the statuses of the answers."""
        return [self.ann.ask("/rate", **self.ann.form(), grade="4").status_code for _ in range(times)]

    def stop(self, number: int) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        assert self.process.stderr
        self.log += self.process.stderr.read().splitlines(keepends=True)
        self.process.stderr.close()
        return self.process.wait(20)

    def graded(self, path: Path | None = None) -> int:
        """The number of ratings in a database that nobody serves."""
        with Store.open(str(path or self.path)) as store:
            return len(store.results.ratings())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves a campaign in a process of its own."""
    made: list[Served] = []

    def make(items: int = 12) -> Served:
        folder = tmp_path / f"served{len(made)}"
        folder.mkdir()
        made.append(Served(folder, texts(items)))
        return made[-1]

    yield make
    for one in made:
        one.ann.client.close()
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait(20)
        if one.process.stderr:
            one.process.stderr.close()
