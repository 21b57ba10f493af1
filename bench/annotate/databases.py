"""Databases to put a campaign into: files of SQLite, and a PostgreSQL server of our own where Debian's is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from contextlib import ExitStack

__all__ = ["Databases", "Files", "Server", "postgresql"]


class Databases(Protocol):
    """A kind of database, with the campaign in it as often as it is needed."""

    name: str

    def fresh(self) -> str:
        """The URL of another copy of the campaign."""
        ...


class Files:
    """SQLite."""

    name = "SQLite"

    def __init__(self, campaign: Path, folder: Path) -> None:
        self._campaign, self._folder, self._made = campaign, folder, 0

    def fresh(self) -> str:
        self._made += 1
        return str(shutil.copyfile(self._campaign, self._folder / f"campaign-{self._made}.db"))


class Server:
    """PostgreSQL."""

    name = "PostgreSQL"

    def __init__(self, campaign: Path, url: str) -> None:
        self._address = sql.make_url(url).set(drivername="postgresql+psycopg")
        self._made = 0
        self._create("postil_bench_0", "template1")
        _copy(campaign, self._of("postil_bench_0"))

    def fresh(self) -> str:
        self._made += 1
        name = f"postil_bench_{self._made}"
        self._create(name, "postil_bench_0")
        return self._of(name)

    def _of(self, database: str) -> str:
        return self._address.set(drivername="postgresql", database=database).render_as_string(hide_password=False)

    def _create(self, name: str, template: str) -> None:
        engine = sql.create_engine(self._address, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name}")
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        engine.dispose()


def postgresql(folder: Path, open_until: ExitStack) -> str | None:
    """Start a server whose data is in a folder; it syncs to disk as it does by default.

    Returns:
        Its URL; None where its programs or psycopg are not there.
    """
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if not places or find_spec("psycopg") is None:
        return None
    as_other: list[str] = []
    folder.mkdir()
    if os.geteuid() == 0:  # it refuses to run as root, and Debian's package makes a user
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            return None
        folder.parent.chmod(0o755)
        as_other = ["runuser", "-u", "postgres", "--"]

    def run(program: str, *options: str, check: bool = True) -> None:
        command = [*as_other, f"{places[0]}/{program}", "-D", f"{folder}/data", *options]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=check)

    run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale")
    run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", f"-k {folder} -c listen_addresses=", "start")
    open_until.callback(run, "pg_ctl", "-w", "-m", "fast", "stop", check=False)
    return f"postgresql://postgres@/postgres?host={folder}"


def _copy(campaign: Path, url: str) -> None:
    """Copy a campaign from an SQLite file into an empty PostgreSQL database."""
    Store.open(url, make=True).close()
    source = sql.create_engine(f"sqlite:///{campaign}")
    target = sql.create_engine(sql.make_url(url).set(drivername="postgresql+psycopg"))
    with source.connect() as old, target.begin() as new:
        for table in tables.METADATA.sorted_tables:
            for rows in old.execution_options(yield_per=5_000).execute(sql.select(table)).mappings().partitions():
                new.execute(table.insert(), list(map(dict, rows)))
            if "id" in table.c:
                serial = f"pg_get_serial_sequence('{table.name}', 'id')"
                new.exec_driver_sql(f"SELECT setval({serial}, (SELECT coalesce(max(id), 1) FROM {table.name}))")
        new.exec_driver_sql("ANALYZE")
    source.dispose()
    target.dispose()
