"""A campaign in each kind of database."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.campaigns.models import Campaign, Item
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.errors import MissingExtra

try:
    from postil.campaigns.store import Store
except MissingExtra:  # the tests that need it skip themselves
    Store = None  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def programs() -> Path | None:
    """Folder of PostgreSQL's programs."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").is_file()), None)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server of our own: where its socket is."""
    pytest.importorskip("psycopg")
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL's server is not installed")
    folder = tempfile.mkdtemp(prefix="postil-pg-")
    as_other: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        if subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode:  # noqa: S607
            pytest.skip("PostgreSQL's server does not run as root, and there is no user postgres")
        shutil.chown(folder, "postgres")
        as_other = ["runuser", "-u", "postgres", "--"]
    data = f"{folder}/data"
    settings = f"-k {folder} -c listen_addresses= -c fsync=off"
    try:
        for command in (
            ["initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale"],
            ["pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start"],
        ):
            subprocess.run(  # noqa: S603 - our own server
                [*as_other, f"{where}/{command[0]}", *command[1:]], cwd=folder, stdout=subprocess.DEVNULL, check=True
            )
        yield folder
    finally:
        stop = [*as_other, f"{where}/pg_ctl", "-D", data, "-m", "immediate", "stop"]
        subprocess.run(stop, cwd=folder, capture_output=True, check=False)  # noqa: S603 - our own server
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Database for a campaign."""
    if request.param == "sqlite":
        return str(tmp_path / "campaign.db")
    folder = request.getfixturevalue("server")
    import psycopg  # noqa: PLC0415 - the server is not there without it

    name = f"c{abs(hash(tmp_path)):x}"
    with psycopg.connect(host=folder, user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql://postgres@/{name}?host={folder}"


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The usual campaign in an SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("campaign") / "ready.db"
    lay_down(str(path), Rubric.default(), items())
    return path


def items(articles: int = 3, systems: int = 2) -> list[Item]:
    return [
        Item(
            item=f"a{article}",
            system=f"s{system}",
            text=f"系统 {system} on <b>{article}</b> 😀",
            title=f"Title {article}",
            content=f"Content {article}",
            lang="zh",
        )
        for article in range(articles)
        for system in range(systems)
    ]


def lay_down(url: str, rubric: Rubric, texts: list[Item], annotators: int = 3, each: int = 2) -> None:
    gold = [number for number, text in enumerate(texts) if text.gold is not None]
    made = plan([(text.item, text.system) for text in texts], annotators, each, gold=gold)
    with Store.open(url, make=True) as store:
        store.create(
            Campaign(name="grading", item_type="outputs", annotators_per_item=each, seed=made.seed), texts, made, rubric
        )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(url: str, clock: Clock) -> Iterator[Callable[..., Store]]:
    """Lays a campaign down and opens it."""
    opened: list[Store] = []

    def of(rubric: Rubric | None = None, texts: list[Item] | None = None, **options: int) -> Store:
        lay_down(url, rubric or Rubric.default(), texts or items(), **options)
        opened.append(Store.open(url, clock=clock))
        return opened[-1]

    yield of
    for store in opened:
        store.close()


@pytest.fixture
def store(url: str, clock: Clock, ready: Path) -> Iterator[Store]:
    """Six texts for three annotators, two each."""
    if "://" in url:
        lay_down(url, Rubric.default(), items())
    else:
        shutil.copy(ready, url)
    with Store.open(url, clock=clock) as opened:
        yield opened


@pytest.fixture
def only_reading() -> Callable[..., str]:
    """Runs a program that sees a folder on a disk that cannot be written, and gives what it prints."""

    def start(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own code

    def run(folder: Path, program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        if os.geteuid() == 0:  # who may write whatever the permissions say
            mount = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"
            apart = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
            if shutil.which("unshare") is None or start([*apart, mount]).returncode:
                pytest.skip("this system does not let a test mount a folder")
            done = start([*apart, f'{mount} && exec "$@"', "sh", *command])
        else:
            modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
            try:
                for path in modes:
                    path.chmod(0o555 if path.is_dir() else 0o444)
                done = start(command)
            finally:
                for path, mode in modes.items():
                    path.chmod(mode)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
