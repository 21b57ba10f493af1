"""Ray over several nodes: a worker is killed, then a node goes, and nothing of it is in what comes out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import engine_work as work
import pytest

from postil.engine import open_engine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration


def test_a_killed_worker_and_a_lost_node_leave_no_trace(cluster: Any, tmp_path: Path) -> None:
    with open_engine("local") as engine:
        expected = list(engine.map(work.Text(tmp_path), range(40)))
    leaving = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    function = work.Text(tmp_path, killing=3, doomed=leaving.node_id)
    said: list[str] = []
    with open_engine("ray", jobs=4, on_message=said.append) as engine:
        for _ in range(9):  # where Ray puts what is workers is up to Ray
            workers = engine.start_workers(work.Part, [(n, tmp_path) for n in range(3)])
            before = {node for node, _ in workers.call(work.node_of, 10)}
            if leaving.node_id in before:
                break
            workers.close()
        assert leaving.node_id in before
        with ThreadPoolExecutor(1) as thread:
            got = thread.submit(lambda: list(engine.map(function, range(40))))
            while not function.hit():
                assert not got.done()
                time.sleep(0.02)
            cluster.remove_node(leaving, allow_graceful=False)
        after = workers.call(work.node_of, 10)
    assert got.result() == expected
    assert [number for _, number in after] == [10, 11, 12]
    shards = [text.partition(": its worker ")[0] for text in said]
    assert shards[0] == "shard 4"
    assert set(shards[1:]) & {f"shard {n}" for n in range(16, 21)}
    assert all("running it again in a new one (" in text for text in said)


def test_one_job_stands_for_all_cpus(cluster: Any) -> None:  # noqa: ARG001
    import ray  # noqa: PLC0415

    with open_engine("ray") as engine:
        assert engine.jobs == ray.cluster_resources()["CPU"] >= 2  # type: ignore[attr-defined]


def test_someone_elses_ray_stays_open(cluster: Any) -> None:  # noqa: ARG001
    import ray  # noqa: PLC0415

    with open_engine("ray"):
        pass
    assert ray.is_initialized()
