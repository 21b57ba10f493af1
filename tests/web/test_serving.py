"""`postil annotate serve` in a process of its own: what becomes of answers when it ends or its file is moved."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from postil.app.annotate import BackupOptions, backup
from postil.errors import InvalidInput

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
