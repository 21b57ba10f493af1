"""Changes of models while they are served: reload, forget, calibrate, and workers that are killed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.model_folders import Model
from postil.data.row_files import write
from postil.data.rows import Decision
from postil.data.suggestions import Label
from postil.erasure.calls import forget
from postil.erasure.models import AlsoServed, noted
from postil.erasure.options import ForgetOptions
from postil.screening.model import read_decisions
from postil.service.options import ServiceOptions
from postil.service.server import Service
from postil.threads.quality import FEATURES, Quality
from postil.web.connections import listen, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
RAIN = {"article": {"title": "Rain in the north"}}
TEXT = "Rain today, rain tomorrow."


@contextmanager
def load(address: str, path: str = "/v1/suggest", body: object = RAIN) -> Iterator[list[int]]:
    """Ask without a pause from two threads; the statuses of the answers."""
    statuses: list[int] = []
    over = threading.Event()

    def ask() -> None:
        with httpx2.Client(base_url=address, timeout=30) as client:
            while not over.is_set():
                statuses.append(client.post(path, json=body).status_code)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def running(service: Service) -> Iterator[str]:
    """Serve from a thread; the address."""
    loop = asyncio.new_event_loop()
    with listen("127.0.0.1", 0) as (listening, address):
        server = make_server(service.app())

        async def run() -> None:
            await service.start(service.config())
            await server.serve(sockets=[listening])
            await service.stop()

        with ThreadPoolExecutor(1) as thread:
            ended = thread.submit(loop.run_until_complete, run())
            while not server.started and not ended.done():
                time.sleep(0.01)
            try:
                yield address
            finally:
                server.should_exit = True
                ended.result(20)
                loop.close()


@pytest.mark.usefixtures("_small_workers")
def test_no_request_fails_while_models_are_replaced_and_workers_killed(folders: Path, tmp_path: Path) -> None:
    link = tmp_path / "one"
    link.symlink_to(folders / "plain")
    service = Service([str(link)], ServiceOptions(workers=2))
    with running(service) as address, httpx2.Client(base_url=address, timeout=30) as client, load(address) as answers:

        def reload(folder: str) -> Any:
            link.unlink()
            link.symlink_to(folders / folder)
            return client.post("/v1/reload")

        def asked(kind: str) -> bool:
            return json.loads((folders / kind / "config.json").read_bytes()) == client.post("/v1/suggest").json()

        assert asked("plain")
        assert reload("both").status_code == 200
        assert asked("both")
        refused = reload("nowhere")
        assert refused.status_code == 409
        assert "the models that were opened before go on" in refused.json()["detail"]
        assert asked("both")
        assert reload("plain").status_code == 200
        assert asked("plain")
        for _ in range(3):
            (pid, *_) = pids = service.pool.pids
            os.kill(pid, signal.SIGKILL)
            while len(service.pool.pids) < 2 or pid in service.pool.pids:
                assert client.get("/readyz").status_code == 200
            assert set(pids) - {pid} < set(service.pool.pids)
    assert set(answers) == {200}
    assert len(answers) > 20


class Asked:
    """An application that is asked without a socket."""

    def __init__(self, service: Service) -> None:
        self._app = service.app()

    async def __call__(self, path: str, **body: object) -> tuple[int, Any]:
        transport = httpx2.ASGITransport(self._app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            found = await client.post(path, json=body)
            return found.status_code, found.json()


@pytest.mark.usefixtures("_small_workers")
async def test_comments_are_forgotten_and_labels_learned_from(folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / "plain", tmp_path / "one")
    (tmp_path / "two").symlink_to("one")
    texts = tmp_path / "one" / "comments" / "texts.data.npy"
    options = ServiceOptions(workers=1, data=str(tmp_path / "data"))

    def gone(text: str) -> None:
        raise BrokenPipeError(text)

    service = Service([str(tmp_path / "one"), str(tmp_path / "two")], options, gone)
    labels = [
        Label(article="a", text=text, show=True, title="Rain in the north") for text in (TEXT, "Snow is what I want.")
    ]

    store = service.store
    assert store is not None
    ask = Asked(service)
    await service.start(service.config())
    try:
        await store.add_labels([Label(article="z", text="Nobody wrote this.", show=True)])
        status, wrong = await ask("/v1/calibrate")
        assert (status, "a comment of model one (" in wrong["detail"]) == (422, True)
        assert f"{tmp_path}" not in json.dumps(wrong)
        await store.add_labels(labels)
        status, learned = await ask("/v1/calibrate")
        assert (status, learned["kind"], learned["labels"]) == (200, "calibration", 2)
        assert learned["reason"]
        status, wrong = await ask("/v1/calibrate", model="three")
        assert (status, wrong["errors"][0]["field"]) == (422, "model")
        for field, value in (("seed", -1), ("resamples", 0), ("resamples", 10**9)):
            status, wrong = await ask("/v1/calibrate", **{field: value})
            assert (status, wrong["errors"][0]["field"]) == (422, field)

        named, unknown = {"article": "n1", "comment": "0"}, {"article": "n1", "comment": "none"}
        status, wrong = await ask("/v1/forget", comments=[named, unknown])
        assert (status, "no comment 'n1:none'" in wrong["detail"]) == (422, True)
        assert TEXT.encode() in texts.read_bytes()
        assert len(list(store.labels())) == 3
        pids = service.pool.pids
        status, erased = await ask("/v1/forget", comments=[named])
        assert (status, erased["kind"], erased["comments"]) == (200, "forget", 1)
        assert TEXT.encode() not in texts.read_bytes()
        assert [one.text for one in store.labels()] == ["Nobody wrote this.", "Snow is what I want."]
        assert service.pool.pids != pids
        assert (await ask("/v1/forget", comments=[]))[1]["errors"][0]["field"] == "comments"
        _, wrong = await ask("/v1/forget", comments=[{"article": 1, "comment": 2}])
        assert "no comment '1:2'" in wrong["detail"]
        await service.reload()  # nobody reads its messages any more
        shutil.rmtree(tmp_path / "one")
        status, wrong = await ask("/v1/reload")
        assert (status, "model one" in wrong["detail"], f"{tmp_path}" in wrong["detail"]) == (409, True, False)
    finally:
        await service.stop()
        service.close()


@pytest.mark.usefixtures("_small_workers")
async def test_comments_are_erased_from_all_that_serves_or_has_served_a_model(folders: Path, tmp_path: Path) -> None:
    """The command is refused while a service runs, and a request while another service runs."""
    shutil.copytree(folders / "plain", folder := tmp_path / "one")
    texts = folder / "comments" / "texts.data.npy"
    named = ForgetOptions(comments=("n1:0",))
    services = [Service([str(folder)], ServiceOptions(workers=1, data=str(tmp_path / name))) for name in "ab"]

    first, second = services
    ask = Asked(first)
    for service in services:
        await service.start(service.config())
        assert service.store is not None
        await service.store.add_labels([Label(article="a", text=TEXT, show=True)])
    with pytest.raises(AlsoServed, match="a service that runs serves it"):
        forget([folder], named)
    status, refused = await ask("/v1/forget", comments=[{"article": "n1", "comment": "0"}])
    assert (status, "model one: another service serves it, and would go on sug" in refused["detail"]) == (409, True)
    assert TEXT.encode() in texts.read_bytes()
    assert first.store is not None
    assert len(list(first.store.labels())) == 1
    await second.stop()
    second.close()
    status, erased = await ask("/v1/forget", comments=[{"article": "n1", "comment": "0"}])
    assert status == 200
    assert [(one["content"], one["comments"]) for one in erased["folders"]] == [("ir-t", 1), ("labels", 1)]
    assert TEXT.encode() not in texts.read_bytes()
    assert list(first.store.labels()) == []
    for name in "ab":
        assert TEXT.encode() not in b"".join(each.read_bytes() for each in (tmp_path / name).iterdir())
    with pytest.raises(AlsoServed, match="a service that runs serves it"):
        forget([folder], named)
    await first.stop()
    first.close()
    assert forget([folder], named).folders[0].comments == 0


def trained(folder: Path, n: int = 60) -> Path:
    """A screen of decisions on comments `a:0`, `a:1` and so on, of which the even ones are held."""
    pytest.importorskip("sklearn")
    texts = ("you are a fool {}", "rain tomorrow {}")
    rows = [Decision(texts[at % 2].format(at), ("hold", "keep")[at % 2], article="a", id=f"{at}") for at in range(n)]
    write(folder / "decisions.jsonl", rows)
    done = CliRunner().invoke(app, ["train", "screen", f"{folder}/decisions.jsonl", "--out", f"{folder}/screen"])
    assert done.exit_code == 0, done.output
    return folder / "screen"


def test_screens_are_learned_again_while_they_are_served(tmp_path: Path) -> None:
    screen = trained(tmp_path)
    service = Service((), ServiceOptions(workers=1, screens=(str(screen),), data=str(tmp_path / "data")))
    told = {"text": "you are a fool 2", "decision": "hold", "article": "a", "id": "2"}
    with closing(service), running(service) as address, httpx2.Client(base_url=address, timeout=60) as client:
        with load(address, "/v1/screen", {"text": "you are a fool"}) as answers:
            assert client.post("/v1/decisions", json=told).status_code == 201
            before = client.get("/v1/models").json()["models"][0]["hash"]
            with pytest.raises(AlsoServed, match=r"screen: a service that runs serves it, .*POST /v1/forget"):
                forget([screen], ForgetOptions(comments=("a:2",)))
            named = {"comments": [{"article": "a", "comment": "2"}, {"article": "a", "comment": "3"}]}
            erased = client.post("/v1/forget", json=named).json()
            assert [(one["content"], one["comments"]) for one in erased["folders"]] == [("screen", 2)]
            after = client.get("/v1/models").json()["models"][0]["hash"]
            assert (after, erased["folders"][0]["hash"]) == (Model.open(screen).hash, after)
            assert after != before
            assert client.get("/v1/decisions").content == b""
            assert client.post("/v1/forget", json=named).json()["folders"][0]["comments"] == 0  # sent again
            few = {"comments": [{"article": "a", "comment": f"{at}"} for at in range(20)]}
            refused = client.post("/v1/forget", json=few)
            assert refused.status_code == 422
            assert refused.json()["detail"].startswith("model screen: without 18 of its 58 decisions no screen can be")
            assert noted(screen)[1]
        assert set(answers) == {200}
    assert Model.open(screen).hash == after
    assert len(read_decisions(Model.open(screen))) == 58
    assert not noted(screen)[1]


async def test_without_scikit_learn_a_request_to_forget_says_what_to_do_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = trained(tmp_path)
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sklearn.py").write_text("raise ImportError('none', name='sklearn')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "without"))  # which processes that are started get
    service = Service((), ServiceOptions(workers=1, screens=(str(screen),), data=str(tmp_path / "data")))
    with closing(service):
        await service.start(service.config())
        try:
            assert service.store is not None
            await service.store.add_decisions([Decision("you are a fool 2", "hold", article="a", id="2")])
            before = Model.open(screen).hash
            status, refused = await Asked(service)("/v1/forget", comments=[{"article": "a", "comment": "2"}])
            assert status == 422
            assert refused["detail"] == (
                "learning a screen needs an optional package: pip install 'postil[screening]'; whoever runs this "
                "service can install it, and then send the request again; nothing was changed"
            )
            assert Model.open(screen).hash == before
            assert service.store.counts().decisions == 1
        finally:
            await service.stop()


async def test_what_needs_a_store_or_comments_says_so(folders: Path, tmp_path: Path) -> None:
    Quality(np.zeros(len(FEATURES)), "words", "votes").save(tmp_path / "good", {"seed": 1})

    async def asked(folder: Path, path: str, **body: object) -> str:
        service = Service([str(folder)], ServiceOptions(workers=1))
        status, problem = await Asked(service)(path, **body)
        assert status == 422
        return str(problem["detail"])

    found = await asked(folders / "plain", "/v1/calibrate")
    assert found == "this service stores no labels; whoever runs it can start it with postil serve --data DIR"
    found = await asked(tmp_path / "good", "/v1/forget", comments=[{"article": "a", "comment": "b"}])
    assert found == "this service serves nothing that keeps comments, and stores nothing"
