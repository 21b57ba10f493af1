"""`postil annotate serve` in a process of its own: what becomes of answers when it ends or its file is moved."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from postil.campaigns.backups import backup
from postil.campaigns.calls import invite
from postil.campaigns.options import BackupOptions, InviteOptions, ServeOptions
from postil.campaigns.pages import server
from postil.campaigns.store import Store
from postil.errors import InvalidInput

resource: Any = pytest.importorskip("resource", reason="limits of processes are POSIX")

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, and moving a file that is open, are POSIX")
Make = Any


def alone(path: Path, name: str) -> Path:
    """A copy of the database file without the files beside it."""
    subprocess.run(["cp", path, copy := path.with_name(name)], check=True)  # noqa: S603, S607 - our own file
    return copy


def test_answers_survive_copies_moves_and_the_end(served: Make, tmp_path: Path) -> None:
    here = served()
    assert here.rate(5) == [200] * 5
    with pytest.raises(InvalidInput, match="is missing"):
        here.graded(alone(here.path, "copy.db"))
    assert backup(str(here.path), str(tmp_path / "backup.db"), BackupOptions()) == 5

    form = here.ann.form() | {"grade": "4"}
    here.path.rename(here.path.with_name("moved.db"))
    for _ in range(2):
        answer = here.ann.client.post("/rate", data=form, headers={"accept": "application/json"})
        assert answer.status_code == 503
        assert "your answers are saved in this browser" in answer.json()["problem"]
        assert here.ann.client.post("/rate", data=form).status_code == 503
    here.path.with_name("moved.db").rename(here.path)
    answers = [here.ann.client.post("/rate", data=form).status_code for _ in range(2)]
    assert answers == [303, 303]  # sent again, it is stored, once

    assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    assert [line.split(f"{here.path}: ")[1][:30] for line in here.log if str(here.path) in line] == [
        "campaign.db was removed or mov",
        "the file is back; annotations ",
    ]
    assert sorted(file.name for file in here.path.parent.iterdir()) == ["campaign.db", "copy.db"]
    assert here.graded(alone(here.path, "closed.db")) == 6
    assert here.graded(tmp_path / "backup.db") == 5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGHUP", -signal.SIGTERM)])
def test_other_signals_that_end_it(served: Make, name: str, code: int) -> None:
    here = served()
    assert here.rate(2) == [200] * 2
    assert here.stop(getattr(signal, name)) == code
    assert [file.name for file in here.path.parent.iterdir()] == ["campaign.db"]
    assert here.graded(alone(here.path, "closed.db")) == 2


@pytest.mark.slow
def test_a_killed_server_goes_on(served: Make) -> None:
    here = served()
    assert here.rate(3) == [200] * 3
    here.stop(signal.SIGKILL)
    with pytest.raises(InvalidInput, match="is missing"):
        here.graded(alone(here.path, "copy.db"))
    here.start()
    assert here.rate(2) == [200] * 2
    here.stop(signal.SIGKILL)
    assert here.graded() == 5


def rate_until_the_end(here: Any, acknowledged: list[int]) -> None:
    with contextlib.suppress(httpx2.TransportError):
        while True:
            acknowledged += here.rate()


@pytest.mark.slow
def test_a_campaign_goes_on_from_its_backup(served: Make, tmp_path: Path) -> None:
    here = served(200)
    assert here.rate(3) == [200] * 3
    here.stop(signal.SIGKILL)
    here.start("--backup", str(tmp_path / "backups"), "--keep", "1")
    here.wait_for(f"written: {tmp_path}/backups/campaign-")
    acknowledged: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(rate_until_the_end, here, acknowledged)
        while len(acknowledged) < 5:
            time.sleep(0.01)
        here.stop(signal.SIGKILL)
    assert set(acknowledged) == {200}
    kept = shutil.copytree(here.path.parent, tmp_path / "kept") / here.path.name
    assert here.graded(kept) - 3 - len(acknowledged) in {0, 1}  # one may have been stored, and its response lost
    for file in here.path.parent.iterdir():  # the disk is lost
        file.unlink()
    [made] = (tmp_path / "backups").iterdir()
    shutil.copy(made, here.path)
    here.start("--backup", str(tmp_path / "backups"))
    assert here.rate(4) == [200] * 4  # Ann is signed in still
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    assert here.graded() == 7
    assert here.graded(made) == 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limiting another process is of Linux")
def test_answers_wait_while_the_disk_is_full(served: Make, tmp_path: Path) -> None:
    here = served()
    assert here.rate(2) == [200] * 2
    limits = resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE)
    form = here.ann.form() | {"grade": "4"}
    resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, (1, limits[1]))
    for _ in range(3):
        answer = here.ann.client.post("/rate", data=form, headers={"accept": "application/json"})
        assert answer.status_code == 503
        assert "your answers are saved in this browser" in answer.json()["problem"]
    resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, limits)
    answers = [here.ann.client.post("/rate", data=form).status_code for _ in range(2)]
    assert answers == [303, 303]  # sent again, it is stored, once
    assert here.rate(2) == [200] * 2
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    assert here.graded() == 5
    assert backup(str(here.path), str(tmp_path / "backup.db"), BackupOptions()) == 5


@pytest.mark.slow
def test_two_servers_of_one_campaign(served: Make) -> None:
    here = served(60)
    other = here.beside()
    try:
        answers = [code for _ in range(10) for server in (here, other) for code in server.rate()]
        assert answers == [200] * 20
        form = here.ann.form() | {"grade": "4"}
        both = [server.ann.client.post("/rate", data=form).status_code for server in (here, other)]
        assert both == [303, 303]  # one answer by both servers, stored once
        # Each for one person: the later of two answers is refused, and none is lost.
        with ThreadPoolExecutor(2) as pool:
            codes = [code for some in pool.map(lambda server: server.rate(15), (here, other)) for code in some]
        assert set(codes) <= {200, 409}
        stored = 21 + codes.count(200)
        assert other.stop(signal.SIGKILL) == -signal.SIGKILL
        assert here.rate(2) == [200] * 2
    finally:
        other.ann.client.close()
        other.process.kill()
        other.process.wait(20)
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    assert [file.name for file in here.path.parent.iterdir()] == ["campaign.db"]
    assert here.graded() == stored + 2


def test_links_lead_to_a_port_that_was_free(served: Make) -> None:
    here = served()
    here.stop(signal.SIGTERM)
    here.start("--port", "0")
    port = re.search(r"serving Autumn at http://127\.0\.0\.1:(\d+);", here.log[-1])
    assert port is not None
    assert port[1] not in {"0", str(here.port)}
    link = invite(str(here.path), "Bob", InviteOptions())
    assert link.startswith(f"http://localhost:{port[1]}/join/")
    assert httpx2.get(link).status_code == 200
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM


@pytest.mark.parametrize(
    ("known", "host", "answers"),
    [
        ("http://10.1.2.3:8000", "0.0.0.0", True),  # noqa: S104
        ("http://10.1.2.3:8000", "127.0.0.1", False),
        ("https://a.example", "0.0.0.0", False),  # noqa: S104
    ],
)
def test_a_server_keeps_the_address_of_links_where_it_answers_to_it(
    served: Make, known: str, host: str, answers: bool
) -> None:
    here = served()
    here.stop(signal.SIGTERM)
    invite(str(here.path), "Bob", InviteOptions(base_url=known))
    here.start("--host", host)
    told = f"links begin with {known}, which was named before, and this server does not answer to it; start it with "
    assert any(line.startswith(told) for line in here.log) != answers
    assert invite(str(here.path), "Bob", InviteOptions()).startswith(f"{known}/join/")
    lead = signed_in_lead(here)
    page = lead.post("/lead/invite", name="Bob").text
    lead.client.close()
    shown = known if answers else f"http://localhost:{here.port}"
    assert f"<code>{shown}/join/" in page
    assert ("Only this machine can open it." in page) != answers
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM


def signed_in_lead(here: Any) -> Any:
    with Store.open(str(here.path)) as store:
        token = store.people.invite("Mo", "lead")
    lead = type(here.ann)(httpx2.Client(base_url=f"http://localhost:{here.port}", timeout=60))
    lead.join(token)
    return lead


def test_a_lead_adds_texts_from_a_file_in_a_process_of_its_own(served: Make) -> None:
    here = served()
    lead = signed_in_lead(here)
    assert here.rate(1) == [200]
    rows = [{"item": "n", "system": f"s{n}", "text": f"new {n}"} for n in range(4)]
    files = {
        "texts": ("more.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()),
        "articles": ("articles.jsonl", b'{"id": "n", "title": "New", "content": "", "comments": []}\n'),
    }
    page = lead.client.post("/lead/texts", data={"csrf": lead.csrf}, files=files).text
    assert "New texts: 4." in page
    token_of = re.search(r'name="token" value="(\w+)"', page)
    assert token_of
    added = lead.client.post("/lead/texts/add", data={"csrf": lead.csrf, "token": token_of[1]}).text
    assert "Texts added: 4." in added
    assert here.rate(1) == [200]
    lead.client.close()
    assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    with Store.open(str(here.path)) as store:
        assert [item.text for item in store.items()][12:] == [row["text"] for row in rows]
        assert [one.kind for one in store.state.changes()] == ["added"]


def test_forms_that_are_made_to_be_slow_hold_nobody(served: Make) -> None:
    """The answers to an annotator, and the end of the server, do not wait for forms with heads of half a megabyte."""
    here = served()
    lead = signed_in_lead(here)
    heads = [part * (500_000 // len(part)) for part in (b"content-disposition:", b"; name", b"a: b\r\n", b'\\"')]
    kind = {"content-type": "multipart/form-data; boundary=q"}

    def post(head: bytes) -> int:
        body = b"--q\r\n" + head + b"\r\n\r\nx\r\n--q--\r\n"
        return int(lead.client.post("/lead/texts", content=body, headers=kind).status_code)

    with ThreadPoolExecutor(4) as pool:
        attack = [pool.submit(post, head) for head in heads * 2]
        assert here.rate(5) == [200] * 5
        assert [one.result() for one in attack] == [400] * 8
        pool.submit(post, heads[0])
        assert here.stop(signal.SIGTERM) == -signal.SIGTERM
    lead.client.close()
    assert here.graded() == 5


def test_that_others_could_read_along_is_told(ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ready, path := tmp_path / "c.db")
    monkeypatch.setattr(server, "make_server", lambda *_, **__: SimpleNamespace(run=lambda **_: None))
    said: list[str] = []
    for more in ({"host": "0.0.0.0"}, {"host": "0.0.0.0", "base_url": "https://grading.example"}, {}):  # noqa: S104
        server.serve(str(path), ServeOptions(port=0, **more), on_message=said.append)
    assert [line.partition(" ")[0] for line in said if not line.startswith("invit")] == [
        *("other", "serving", "serving"),
        *("links", "serving"),  # since another address was named before
    ]
