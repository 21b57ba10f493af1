"""A campaign of two weeks in fast motion: people rate in browsers, texts are added, the server is killed, and more.

One day takes some seconds. The server and the commands run with a clock that is as much faster, so that daily backups,
the deadline and the log of changes are those of two weeks. Where POSTIL_DIARY names a file, it is told there what
happened each day, with counts.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from browser_window import DESKTOP, PHONE, TABLET, Window
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Chromium

pytestmark = pytest.mark.slow

DAY = 15.0
"""Seconds that a day takes."""

SPEED = 86_400 / DAY

RUN = """
import sys, threading, time
real, start, speed = time.time, float(sys.argv[1]), float(sys.argv[2])
time.time = lambda: start + (real() - start) * speed
import postil.campaigns.backups as schedule
class Fast(threading.Event):
    def wait(self, timeout=None):
        return super().wait(None if timeout is None else timeout / speed)
schedule.Event = Fast
from postil.cli.main import main
sys.argv[:3] = ["postil"]
main()
"""
"""postil with a fast clock."""

PLANNED, ADDED, LATER = 20, 8, 4
"""Numbers of articles, with three texts each."""


class Fortnight:
    """A campaign, its server, and the people who rate."""

    def __init__(self, folder: Path, chromium: Chromium) -> None:
        self.folder, self._chromium = folder, chromium
        self.start, self.campaign = time.time(), folder / "campaign.db"
        self.windows: dict[str, Window] = {}
        self.rated: dict[str, int] = {}
        self.diary: list[str] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def clock(self) -> float:
        return self.start + (time.time() - self.start) * SPEED

    @property
    def day(self) -> float:
        return (time.time() - self.start) / DAY

    def texts(self, name: str, begin: int, articles: int) -> tuple[str, str]:
        """A file of texts of three systems, and one of their articles."""
        ids = [f"article-{number}" for number in range(begin, begin + articles)]
        rows = [
            {"item": one, "system": system, "text": f"What {system} says about {one}: nothing that was not known."}
            for one in ids
            for system in ("first", "second", "third")
        ]
        about = [{"id": one, "title": f"About {one}", "content": "One sentence. " * 30, "comments": []} for one in ids]
        paths = self.folder / f"{name}.jsonl", self.folder / f"{name}-articles.jsonl"
        for path, some in zip(paths, (rows, about), strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
        return str(paths[0]), str(paths[1])

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", RUN, str(self.start), str(SPEED), "annotate", *words]

    def postil(self, *words: str) -> str:
        """Run a command; returns what it printed."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)  # noqa: S603 - ours
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def serve(self) -> None:
        words = ("serve", str(self.campaign), "--port", str(self.port), "--backup", str(self.folder / "backups"))
        self._process = subprocess.Popen(self.command(*words), stderr=subprocess.PIPE, text=True)  # noqa: S603 - ours
        assert self._process.stderr
        assert any(line.startswith("serving ") for line in iter(self._process.stderr.readline, ""))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)
        assert self._process.stderr
        self._process.stderr.close()

    def join(self, name: str, *flags: str, size: tuple[int, int] = DESKTOP) -> Window:
        printed = self.postil("invite", str(self.campaign), name, *flags, "--base-url", f"http://127.0.0.1:{self.port}")
        link = next(word for word in printed.split() if "/join/" in word)
        window = Window(self._chromium, size)
        window.go(link)
        window("document.querySelector('form').requestSubmit()")
        window.until("['/grade', '/lead'].includes(location.pathname) && document.readyState === 'complete'")
        if "lead" not in flags:
            self.windows[name], self.rated[name] = window, 0
        return window

    def rate(self, most: int) -> None:
        """Everybody rates some texts, in turn; every answer is on disk when this returns."""
        for _ in range(most):
            for name, window in self.windows.items():
                self._rate_one(name, window)
        self.saved()

    def _rate_one(self, name: str, window: Window) -> None:
        here = window("document.querySelector('#task').dataset.position ?? ''")
        if here == "":
            return
        time.sleep(0.21)  # a key pressed sooner does not rate
        window.key(str(1 + (len(name) + int(here)) % 5))
        window.until(f"(document.querySelector('#task').dataset.position ?? '') !== '{here}'")
        self.rated[name] += 1

    def saved(self) -> None:
        for window in self.windows.values():
            window.until("!Object.keys(localStorage).length")

    def reload(self) -> None:
        for window in self.windows.values():
            window.go(f"http://127.0.0.1:{self.port}/grade")

    def stored(self) -> int:
        with Store.open(str(self.campaign), read_only=True) as store:
            return len(store.results.ratings())

    def until_day(self, day: float) -> None:
        time.sleep(max(0.0, self.start + day * DAY - time.time()))

    def note(self, text: str) -> None:
        self.diary.append(f"| {self.day:.0f} | {text} | {sum(self.rated.values()):,} | {self.stored():,} |")


def test_two_weeks(tmp_path: Path, chromium: Chromium) -> None:
    campaign = Fortnight(tmp_path, chromium)
    file = str(campaign.campaign)
    texts, articles = campaign.texts("texts", 0, PLANNED)
    campaign.postil("plan", texts, file, "--articles", articles, "--annotators", "4", "--annotators-per-item", "2")
    campaign.serve()
    lead = campaign.join("Lee", "--role", "lead")
    for name, size in (("Ann", DESKTOP), ("Bob", TABLET), ("Cho", PHONE), ("Dan", DESKTOP)):
        campaign.join(name, size=size)
    campaign.rate(3)
    campaign.note("planned for four annotators, all have joined")
    campaign.until_day(2)

    campaign.rate(1)
    added, articles = campaign.texts("added", PLANNED, ADDED)
    assert "revision 2: 24 texts added" in campaign.postil("add", file, added, "--articles", articles)
    campaign.rate(3)
    campaign.note("24 texts added while they rate")
    campaign.until_day(4)

    lead.go(f"http://127.0.0.1:{campaign.port}/lead")
    lead(
        "(() => { const form = document.querySelector('form input[value=pause]').form;"
        "form.elements.message.value = 'Back on Thursday.'; form.requestSubmit(); })()"
    )
    lead.until("document.querySelector('.status.paused')")
    campaign.rate(1)  # what is on the screens
    for window in campaign.windows.values():
        window.until("document.querySelector('#task').innerText.includes('Back on Thursday.')")
    paused = campaign.stored()
    campaign.rate(2)
    assert campaign.stored() == paused
    campaign.note("paused on the lead's page; items on screens were rated, then nothing")
    campaign.until_day(5)
    campaign.postil("resume", file)
    campaign.reload()
    campaign.rate(2)
    campaign.note("resumed")

    campaign.join("Eve", "--late", size=PHONE)
    campaign.rate(2)
    assert campaign.rated["Eve"] == 2
    campaign.note("a fifth annotator joins late")
    campaign.until_day(6)

    before = sum(campaign.rated.values())
    campaign.kill()
    time.sleep(0.21)
    for window in campaign.windows.values():  # an answer that waits in the browser
        window.key("4")
        window.until("Object.keys(localStorage).length")
    campaign.serve()
    campaign.saved()
    for name in campaign.rated:
        campaign.rated[name] += 1
    assert campaign.stored() == before + 5
    campaign.note("server killed (kill -9); five answers waited in the browsers meanwhile")
    campaign.until_day(7)

    campaign.rate(1)
    campaign.postil("remove", file, "Dan")
    gone = campaign.windows.pop("Dan")
    time.sleep(0.21)
    gone.key("5")
    gone.until("document.body.innerText.includes('You are no longer in this campaign.')")
    campaign.rate(2)
    campaign.note("an annotator is removed while rating; the texts go to the others")
    campaign.until_day(8.5)

    backup = max((tmp_path / "backups").glob("campaign-*.db"))
    campaign.rate(1)
    whole = campaign.stored()
    campaign.kill()
    for path in tmp_path.glob("campaign.db*"):
        path.unlink()
    shutil.copyfile(backup, campaign.campaign)
    lost = whole - campaign.stored()
    campaign.serve()
    campaign.reload()
    campaign.note(f"the machine is lost; restored from the backup of the day: {lost} ratings since then are gone")
    campaign.until_day(10)

    later, articles = campaign.texts("later", PLANNED + ADDED, LATER)
    assert "12 texts added" in campaign.postil("add", file, later, "--articles", articles)
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(campaign.start + 13 * 86_400))
    campaign.postil("deadline", file, end)
    campaign.rate(3)
    campaign.note("12 more texts, and a deadline")
    campaign.until_day(12)
    campaign.rate(3)
    campaign.until_day(13.1)

    before = campaign.stored()
    for window in campaign.windows.values():
        window.key("3")
        window.until("Object.keys(localStorage).length")  # refused, and kept
    assert campaign.stored() == before
    campaign.note("the deadline has passed: late answers are refused and stay in the browsers")
    campaign.postil("resume", file)
    campaign.reload()
    campaign.saved()
    for name in campaign.windows:
        campaign.rated[name] += 1
    assert campaign.stored() == before + len(campaign.windows)
    while any(
        window("document.querySelector('#task').dataset.position ?? ''") != "" for window in campaign.windows.values()
    ):
        campaign.rate(3)
    campaign.note("reopened: the answers arrive, and everything is rated")

    assert campaign.stored() == sum(campaign.rated.values()) - lost
    with Store.open(file, read_only=True) as store:
        ratings, plan = store.results.ratings(), store.plan()
    assert {one.revision for one in ratings} == {1, 2, 3}
    assert plan.short == 0
    per_text = {number: sum(one.number == number for one in ratings) for number in range(plan.items)}
    assert set(per_text.values()) == {2}
    campaign.postil("export", file, "--out", str(tmp_path / "grades"))
    with (tmp_path / "grades" / "ratings.csv").open(encoding="utf-8", newline="") as exported:
        assert len(list(csv.reader(exported))) == 1 + 2 * 3 * (PLANNED + ADDED + LATER)
    for size, name in ((DESKTOP, "desktop"), (TABLET, "tablet"), (PHONE, "phone")):
        lead.look(size)
        lead.go(f"http://127.0.0.1:{campaign.port}/lead")
        lead.until("document.querySelector('#numbers')")
        lead.shoot(f"fortnight-lead-{name}")
    assert not lead.complaints()
    campaign.kill()
    if diary := os.environ.get("POSTIL_DIARY"):
        lines = ["| day | what happened | answers given | ratings stored |", "|---|---|---|---|", *campaign.diary]
        Path(diary).write_text("\n".join(lines) + "\n", encoding="utf-8")
