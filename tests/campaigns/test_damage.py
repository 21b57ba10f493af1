"""A campaign that was damaged, or changed by another program, is refused with the place; no other error comes out."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from campaign_work import join, rate_all
from postil.campaigns import calls as annotate
from postil.campaigns import tables
from postil.campaigns.backups import backup
from postil.campaigns.calls import agreement
from postil.campaigns.database import ADVICE
from postil.campaigns.models import Campaign, Item
from postil.campaigns.options import (
    BackupOptions,
    CampaignAgreementOptions,
    ExportOptions,
    InviteOptions,
    RemoveOptions,
)
from postil.campaigns.plan import plan
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    from pathlib import Path

TABLES = {table.name: table for table in tables.METADATA.sorted_tables}
COLUMNS = [column for table in TABLES.values() for column in table.columns]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign in which everything was done once."""
    file = tmp_path_factory.mktemp("sound") / "c.db"
    items = [Item(item=f"a{n}", system="s", text=f"text {n}", gold=3.0 if n == 0 else None) for n in range(6)]
    made = plan([(item.item, item.system) for item in items], 2, 2, seed=1, gold=[0])
    with Store.open(str(file), make=True) as store:
        settings = Campaign(name="c", item_type="comments", annotators_per_item=2, seed=1)
        store.create(settings, items, made, Rubric.default("en"))
        lead = join(store, "Lead", "lead")
        for name in ("Ann", "Bob"):
            rate_all(store, join(store, name), lambda task: 1 + task.position % 5)
        store.results.adjudicate(lead, 1, 2, "so", idempotency_key="d")
    return file


@pytest.fixture
def campaign(sound: Path, tmp_path: Path) -> Path:
    return shutil.copy(sound, tmp_path / "c.db")


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            connection.execute(statement)


def refusal(file: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        Store.open(str(file), read_only=True)
    said = str(caught.value)
    assert said.startswith(f"{file}: ")
    assert said.endswith(f"; {ADVICE}")
    return said.removeprefix(f"{file}: ").removesuffix(f"; {ADVICE}")


def commands(file: Path, folder: Path):
    return (
        lambda: agreement(str(file), CampaignAgreementOptions(resamples=2)),
        lambda: annotate.export(str(file), ExportOptions(out=str(folder / "out"))),
        lambda: backup(str(file), str(folder / "copy.db"), BackupOptions()),
        lambda: annotate.invite(str(file), "Cid", InviteOptions(role="lead")),
        lambda: annotate.remove(str(file), "Ann", RemoveOptions()),
    )


@pytest.mark.parametrize("table", TABLES)
def test_a_missing_table(campaign: Path, table: str) -> None:
    change(campaign, f"DROP TABLE {table}")
    if table == "campaign":
        with pytest.raises(InvalidInput, match="there is no campaign here"):
            Store.open(str(campaign), read_only=True)
    else:
        assert refusal(campaign) == f"{table}: the table is missing"


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_missing_column_and_a_value_of_another_kind(campaign: Path, tmp_path: Path, column) -> None:
    table, name = column.table.name, column.name
    other = shutil.copy(campaign, tmp_path / "other.db")
    change(other, f'ALTER TABLE {table} RENAME COLUMN "{name}" TO lost')
    assert refusal(other) == f"{table}: the table has no column {name}"
    if name not in {"id", "number", "schema"}:  # SQLite refuses the first two; of another version says the last
        rows = f"SELECT rowid FROM {table} LIMIT 1"  # noqa: S608 - our own names
        change(campaign, f"UPDATE {table} SET \"{name}\" = x'ff' WHERE rowid IN ({rows})")  # noqa: S608
        kind = {"INTEGER": "an integer", "FLOAT": "a number", "TEXT": "text"}[str(column.type)]
        if table not in {"change", "session"}:  # which are empty here
            assert refusal(campaign).startswith(f"{table}.{name}: expected {kind}")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE assignment SET state = 7", "assignment.state: expected an integer, one of 0, 1, 2, 3 in row 1"),
        ("UPDATE event SET kind = 'like'", "event.kind: expected text, one of rate, skip, undo in row 1"),
        ("UPDATE event SET grade = 'good' WHERE id = 3", "event.grade: expected a number in row 3"),
        ("DELETE FROM item WHERE number = 2", "assignment: row 5 belongs to a row of item that is missing"),
        ("UPDATE campaign SET data = '{'", "campaign.data: expected the JSON of a campaign: Input data was truncated"),
        ("UPDATE campaign SET data = '[]'", "campaign.data: expected the JSON of a campaign: Expected `object`, got"),
        ("UPDATE campaign SET rubric = 'null'", "campaign.rubric: expected the JSON of a rubric: Expected `object`"),
        (
            "UPDATE campaign SET rubric = json_set(rubric, '$.words', '5')",
            "campaign.rubric: expected the JSON of a rubric: Expected `array`, got `str` - at `$.words`",
        ),
        (
            "UPDATE campaign SET rubric = json_set(rubric, '$.low', 9)",
            "campaign.rubric: expected the JSON of a rubric: rubric: low: expected low below high",
        ),
    ],
)
def test_what_a_refusal_says(campaign: Path, tmp_path: Path, statement: str, told: str) -> None:
    change(campaign, statement)
    assert refusal(campaign).startswith(told)
    for command in commands(campaign, tmp_path):
        with pytest.raises(InvalidInput, match=r"c\.db: "):
            command()
    assert {file.name for file in tmp_path.iterdir()} == {"c.db"}


@pytest.mark.parametrize("spans", ["x", "5", "[[1]]", '[["a","b"]]'])
def test_spans_that_are_none(campaign: Path, spans: str) -> None:
    change(campaign, f"UPDATE event SET spans = '{spans}' WHERE id = 2")  # noqa: S608
    problem = r"c\.db: event\.spans: expected pairs of start and end as JSON: .*; the data"
    with pytest.raises(InvalidInput, match=problem):
        agreement(str(campaign), CampaignAgreementOptions(resamples=2))


def test_a_file_that_is_cut_off(sound: Path, tmp_path: Path) -> None:
    whole = sound.read_bytes()
    file = tmp_path / "c.db"
    for size in (50, 5_000, len(whole) // 2, len(whole) - 4_096):
        for command in range(5):
            file.write_bytes(whole[:size])
            with pytest.raises(PostilError) as caught:
                commands(file, tmp_path)[command]()
            assert str(caught.value).startswith(f"{file}: ")
            assert "damaged" in str(caught.value) or "not a database" in str(caught.value), (size, command)
