from __future__ import annotations

import asyncio
import gzip
import inspect
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest
from click.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from page_document import Page

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the helpers beside this file

from exploration import register_profiles  # noqa: E402 - from the folder that was added

register_profiles()

# Who starts tests in the background of a shell hands down that Ctrl+C is ignored, and some tests interrupt a child.
signal.signal(signal.SIGINT, signal.default_int_handler)

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

OUTSIDE = [HERE / name for name in ("browser", "integration")]
"""Folders whose tests all need a program or framework that `make test` does without."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def scores(self) -> dict[tuple[str, str], float]:
        """Rows of `--format jsonl`: the score of each system and metric."""
        assert self.code == 0, self.err
        rows = [json.loads(line) for line in self.out.splitlines()]
        return {(row["system"], row["metric"]): row["score"] for row in rows}


class Postil(Protocol):
    def __call__(self, *args: object, stdin: bytes | None = None) -> Outcome: ...


@pytest.fixture
def postil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Postil:
    """Runs a command line in a folder that holds `c.jsonl` and `r.jsonl`, and nothing else."""
    from postil.cli.main import app  # noqa: PLC0415 - most tests need no command

    shutil.copy(HERE / "candidates.jsonl", tmp_path / "c.jsonl")
    shutil.copy(HERE / "references.jsonl", tmp_path / "r.jsonl")
    monkeypatch.chdir(tmp_path)

    def run(*args: object, stdin: bytes | None = None) -> Outcome:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


class File(Protocol):
    def __call__(self, name: str, text: str | bytes) -> Path: ...


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Writes a file; compressed if its name says so."""

    def make(name: str, text: str | bytes) -> Path:
        data = text.encode() if isinstance(text, str) else text
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return make


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., Page]:
    """Writes results as a page and takes it apart."""
    from page_document import Document  # noqa: PLC0415 - few tests need it
    from result_examples import write_report  # noqa: PLC0415 - the same

    def make(*results: dict[str, Any]) -> Page:
        page, folder = write_report(list(results), tmp_path / "r.html")
        assert (page, folder) == (tmp_path / "r.html", tmp_path / "r_files")
        return Document(page)

    return make


@pytest.fixture
def nothing_stays_registered() -> Iterator[None]:
    """Metrics that a test registers, or loads from a plug-in, are gone after it."""
    from postil.metrics import spec  # noqa: PLC0415

    before = dict(spec._OWN._made), dict(spec._OWN._plugins), dict(spec._OWN._loaded)
    yield
    spec._OWN._made, spec._OWN._plugins, spec._OWN._loaded = before


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes with one CPU each, to which this process is connected."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra scale")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    folder = tempfile.mkdtemp(prefix="ray")  # short, for the names of its sockets
    Path(tempfile.gettempdir(), "ray").mkdir(exist_ok=True)  # where Ray writes the address, and does not make it
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="Let a test that is skipped fail.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what `make test` cannot even import; what a person names is collected."""
    unwanted = collection_path == OUTSIDE[1] and "not integration" in config.option.markexpr
    return True if unwanted else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in OUTSIDE):
            item.add_marker(pytest.mark.integration)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _without_skip((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _without_skip((yield), collector.config)


def _without_skip(report: Report, config: pytest.Config) -> Report:
    """A skip as a failure where `--no-skips` says so, as `make test-integration` installs all that its tests need."""
    if report.skipped and config.getoption("no_skips") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr}"
    return report
