"""The option of `make test-integration` under which a skip is a failure."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = "import pytest\n\n@pytest.mark.skip\ndef test_one(): pass\n"
MISSING = "import pytest\n\npytest.importorskip('no_such_package_anywhere')\n"


def outcome(folder: Path, *options: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *options]
    return subprocess.run([*command, str(folder)], capture_output=True, check=False).returncode  # noqa: S603 - pytest


def test_a_skip_is_a_failure_where_none_may_be(tmp_path: Path) -> None:
    for name, text in (("test", SKIPPED), ("module", MISSING)):
        (folder := tmp_path / name).mkdir()
        for needed in ("conftest.py", "exploration.py"):
            shutil.copy(Path(__file__).with_name(needed), folder)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = integration\n", encoding="utf-8")
        (folder / "test_it.py").write_text(text, encoding="utf-8")
        assert outcome(folder) in {0, 5}  # 5: there was no test to run
        assert outcome(folder, "--no-skips") in {1, 2}
