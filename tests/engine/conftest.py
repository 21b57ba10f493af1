from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent))  # for engine_work

NO_RAY = "needs the extra scale" if find_spec("ray") is None else ""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes with one CPU each, to which this process is connected."""
    if NO_RAY:
        pytest.skip(NO_RAY)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    folder = tempfile.mkdtemp(prefix="ray")  # short, for the names of its sockets
    node = {"num_cpus": 1, "object_store_memory": 200 * 2**20, "include_dashboard": False}
    import ray  # noqa: PLC0415
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    cluster = Cluster(initialize_head=True, head_node_args=node | {"temp_dir": folder})
    cluster.add_node(num_cpus=1, object_store_memory=200 * 2**20)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
