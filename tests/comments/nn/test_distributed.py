"""Training in two processes under torchrun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import network_work as work

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_two_processes_see_all_batches_and_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", work.__file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603
        [*command, str(tmp_path / "run"), "-1"], env=environment, check=False, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    rows = [json.loads(line) for line in (tmp_path / "run/history.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in rows] == [4, 5, 9, 10, 14, 15, 19, 20]
    assert rows[-1]["dev"] < rows[0]["dev"]
