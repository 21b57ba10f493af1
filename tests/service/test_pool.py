"""Workers that end, hang, or are replaced, and requests that wait for them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import PostilError
from postil.service.config import ServiceConfig
from postil.service.pool import WorkerPool
from postil.service.worker import InternalError
from postil.web.problems import Busy, TimedOut

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="signals are POSIX"),
    pytest.mark.usefixtures("_small_workers"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the models ``plain`` and ``both``."""
    for name in ("plain", "both"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(name)
    return tmp_path


class Running:
    """A pool of one worker, and what it said."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.config = ServiceConfig(models={folder.name: str(folder)})
        self.said: list[str] = []
        self.pool = WorkerPool(1, **{"timeout": 20.0, "queue": 2, "on_message": self.said.append} | limits)

    async def ask(self, name: str = "rank") -> str:
        return (await self.pool.call(name, b"{}")).decode()

    def later(self) -> asyncio.Task[str]:
        return asyncio.create_task(self.ask())

    def send(self, number: int) -> int:
        (pid,) = self.pool.pids
        os.kill(pid, number)
        return pid

    async def until_ready(self, *, ready: bool = True) -> None:
        while self.pool.ready != ready:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(folder: Path, **limits: Any) -> AsyncIterator[Running]:
    here = Running(folder, **limits)
    await here.pool.start(here.config)
    try:
        yield here
    finally:
        await here.pool.stop()


async def test_a_worker_that_is_killed_is_replaced_and_no_request_fails(folder: Path) -> None:
    async with running(folder / "plain") as here:
        pid = here.send(signal.SIGSTOP)
        begun, waiting = here.later(), here.later()
        await asyncio.sleep(0.05)
        here.send(signal.SIGKILL)
        assert await asyncio.gather(begun, waiting) == ["plain", "plain"]
        assert here.pool.pids != [pid]
        assert here.said == ["a worker was killed (signal 9, SIGKILL; out of memory?)"]
        here.send(signal.SIGKILL)  # idle: nobody notices
        assert await here.ask() == "plain"


async def test_a_request_that_ends_two_workers_is_refused(folder: Path) -> None:
    async with running(folder / "plain") as here:
        first = here.send(signal.SIGSTOP)
        asked = here.later()
        await asyncio.sleep(0.05)
        here.send(signal.SIGKILL)
        while here.pool.pids in ([], [first]):
            await asyncio.sleep(0)
        here.send(signal.SIGKILL)
        with pytest.raises(InternalError, match="the workers that computed this request ended"):
            await asked


async def test_a_worker_that_takes_too_long_is_killed(folder: Path) -> None:
    async with running(folder / "plain", timeout=0.2) as here:
        here.send(signal.SIGSTOP)
        begun = here.later()
        await asyncio.sleep(0)
        waiting, third = here.later(), here.later()
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="2 requests wait already"):
            await here.ask()
        with pytest.raises(TimedOut, match=r"longer than 0\.2 s"):
            await begun
        for one in (waiting, third):
            with pytest.raises(Busy, match=r"no worker was free for 0\.2 s"):
                await one
        await here.until_ready(ready=False)
        await here.until_ready()
        assert await here.ask() == "plain"


async def test_new_workers_take_over_and_old_ones_finish(folder: Path) -> None:
    async with running(folder / "plain") as here:
        with pytest.raises(PostilError):
            await here.pool.swap(replace(here.config, models={"x": "nowhere"}))
        pid = here.send(signal.SIGSTOP)
        begun = here.later()
        await asyncio.sleep(0.05)
        await here.pool.swap(replace(here.config, models={"b": str(folder / "both")}))
        assert await here.ask() == "both"
        assert json.loads(here.pool.models) == ["b"]
        os.kill(pid, signal.SIGCONT)
        assert await begun == "plain"
        assert here.pool.pids != [pid]


async def test_a_model_that_has_vanished_is_told_and_found_again(folder: Path) -> None:
    model, away = folder / "plain", folder / "away"
    async with running(model) as here:
        model.rename(away)
        assert await here.ask() == "plain"  # it has what it needs
        here.send(signal.SIGKILL)
        await here.until_ready(ready=False)
        for _ in range(2):  # one that waits, and one that comes later
            with pytest.raises(Busy, match=r"no worker can be started: .*plain: No such file"):
                await here.ask()
        away.rename(model)
        await here.until_ready()
        assert await here.ask() == "plain"


async def test_a_stopped_pool_refuses_who_waits(folder: Path) -> None:
    async with running(folder / "plain") as here:
        here.send(signal.SIGSTOP)
        begun, waiting = here.later(), here.later()
        await asyncio.sleep(0.05)
        begun.cancel()
        stopping = asyncio.create_task(here.pool.stop())
        with pytest.raises(Busy, match="is being stopped"):
            await waiting
        await stopping


async def test_a_suggestion_is_computed_once_until_the_models_change(folder: Path) -> None:
    async with running(folder / "plain") as here:
        assert await here.ask("suggest") == "plain"
        pid = here.send(signal.SIGSTOP)
        assert await here.ask("suggest") == "plain"  # no worker is asked
        os.kill(pid, signal.SIGCONT)
        (folder / "plain" / "config.json").write_text("new")
        assert await here.ask() == "plain"
        await here.pool.swap(here.config)
        assert await here.ask("suggest") == "new"


async def test_a_problem_is_not_kept(folder: Path) -> None:
    async with running(folder / "plain", timeout=0.3) as here:
        pid = here.send(signal.SIGSTOP)
        with pytest.raises(TimedOut):
            await here.ask("suggest")
        while here.pool.pids in ([], [pid]):
            await asyncio.sleep(0.01)
        assert await here.ask("suggest") == "plain"


async def test_a_worker_that_reads_another_model_ends_what_was_kept(folder: Path) -> None:
    models = {"plain": str(folder / "plain")}
    async with running(folder / "plain") as here:
        await here.pool.swap(replace(here.config, models=models))
        assert await here.ask("suggest") == "plain"
        models.clear()
        models["both"] = str(folder / "both")
        pid = here.send(signal.SIGKILL)
        while here.pool.pids in ([], [pid]):
            await asyncio.sleep(0.01)
        assert here.pool.models == b'["both"]'
        assert await here.ask("suggest") == "both"


@asynccontextmanager
async def waiting_together(here: Running, *requests: bytes) -> AsyncIterator[list[asyncio.Task[bytes]]]:
    """Requests for scores that come while the only worker computes something else."""
    here.send(signal.SIGSTOP)
    begun = here.later()
    await asyncio.sleep(0.05)
    tasks = [asyncio.create_task(here.pool.call("analyze", one)) for one in requests]
    await asyncio.sleep(0.05)
    yield tasks
    here.send(signal.SIGCONT)
    assert await begun == "plain"


async def test_requests_that_wait_are_answered_at_once(folder: Path) -> None:
    async with running(folder / "plain") as here:
        assert await here.pool.call("analyze", b"{}") == b"1 at once"
        async with waiting_together(here, *[b"{}"] * 18, b"bad") as tasks:
            assert here.pool.waiting == 2  # of which the queue holds no more
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert found[:18] == [b"16 at once"] * 16 + [b"3 at once"] * 2
        assert (type(found[18]), str(found[18])) == (PostilError, "a bad one")
        assert here.pool._batches == {}


async def test_large_requests_wait_apart(folder: Path) -> None:
    async with running(folder / "plain") as here:
        async with waiting_together(here, b"a" * 40_000, b"b" * 40_000) as tasks:
            pass
        assert await asyncio.gather(*tasks) == [b"1 at once"] * 2


async def test_one_whose_client_has_gone_is_left_out(folder: Path) -> None:
    async with running(folder / "plain") as here:
        async with waiting_together(here, b"{}", b"{}", b"{}") as tasks:
            tasks[1].cancel()
            await asyncio.sleep(0.05)
        assert [await tasks[0], await tasks[2]] == [b"2 at once"] * 2
        async with waiting_together(here, b"{}") as tasks:
            tasks[0].cancel()
            await asyncio.sleep(0.05)
            assert here.pool.waiting == 0
            assert here.pool._batches == {}


async def test_a_batch_whose_worker_ends_is_computed_again(folder: Path) -> None:
    async with running(folder / "plain") as here:
        here.send(signal.SIGSTOP)
        tasks = [asyncio.create_task(here.pool.call("analyze", b"{}")) for _ in range(2)]
        await asyncio.sleep(0.05)
        here.send(signal.SIGKILL)
        assert await asyncio.gather(*tasks) == [b"2 at once"] * 2


async def test_a_batch_is_refused_as_its_worker_takes_too_long_or_the_service_stops(folder: Path) -> None:
    async with running(folder / "plain", timeout=0.3) as here:
        here.send(signal.SIGSTOP)
        tasks = [asyncio.create_task(here.pool.call("analyze", b"{}")) for _ in range(2)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found] == [TimedOut] * 2
    async with running(folder / "plain") as here:
        here.send(signal.SIGSTOP)
        begun = here.later()
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(here.pool.call("analyze", b"{}"))
        await asyncio.sleep(0.05)
        begun.cancel()
        stopping = asyncio.create_task(here.pool.stop())
        with pytest.raises(Busy, match="is being stopped"):
            await waiting
        await stopping
