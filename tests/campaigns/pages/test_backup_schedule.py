"""The schedule of daily backups: failures are told once and end nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from postil.campaigns.backups import DAY, BackupSchedule, DailyBackups

if TYPE_CHECKING:
    from pathlib import Path

Make = Any


def test_a_backup_when_it_is_due(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    backups = DailyBackups(here.store, str(tmp_path / "backups"), keep=2, clock=here.clock)
    schedule = BackupSchedule(backups, told.append)
    assert schedule.step() == 3600
    here.clock.now += DAY - 60
    assert schedule.step() == 60
    here.clock.now += 60
    assert (schedule.step(), schedule.last, schedule.failures) == (3600, here.clock.now, 0)
    assert [line.partition(": ")[0] for line in told] == ["written"] * 2
    assert len(list(backups.folder.iterdir())) == 2


def test_a_failure_is_told_once_and_tried_again(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    folder = tmp_path / "backups"
    schedule = BackupSchedule(DailyBackups(here.store, str(folder), keep=2, clock=here.clock), told.append)
    folder.write_text("in the way", encoding="utf-8")
    assert [schedule.step() for _ in range(3)] == [3600] * 3
    [line] = told
    assert line.startswith("no backup was made, the next attempt is in an hour: ")
    assert str(folder) in line
    assert (schedule.last, schedule.failures, schedule.problem in line) == (None, 3, True)
    folder.unlink()
    schedule.step()
    assert (len(told), schedule.problem, schedule.last) == (2, "", here.clock.now)


def test_it_runs_beside_the_server_and_ends_with_it(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    with BackupSchedule(DailyBackups(here.store, str(tmp_path / "backups"), keep=2), told.append) as schedule:
        for _ in range(600):
            if told:
                break
            time.sleep(0.05)
    assert told[0].startswith("written: ")
    assert not schedule._thread.is_alive()
