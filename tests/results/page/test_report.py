"""Writing a page: the same bytes each time, and the errors."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import InvalidInput, MissingExtra, PostilError
from postil.results.base import read_results
from postil.results.page.report import check_report
from result_examples import comparison, correlated, gained, scores, write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from postil.results.base import Result


def test_same_bytes_twice_and_from_its_own_results(tmp_path: Path) -> None:
    def made(results: Sequence[dict[str, Any] | Result], name: str) -> dict[str, bytes]:
        page, folder = write_report(results, tmp_path / name / "r.html")
        return {path.name: path.read_bytes() for path in (page, *folder.iterdir())}

    for name in "abc":
        (tmp_path / name).mkdir()
    results = [correlated(), comparison(), scores(), correlated(), gained()]
    first = made(results, "a")
    assert made(copy.deepcopy(results), "b") == first
    assert made(read_results([tmp_path / "a" / "r_files" / "results.json"]), "c") == first


def test_same_bytes_from_another_process(tmp_path: Path) -> None:
    result = tmp_path / "c.json"
    result.write_text(json.dumps(correlated()), encoding="utf-8")
    code = "import sys; from pathlib import Path; from postil.results.page.report import *; "
    code += "from postil.results.base import *; "
    code += "write_report(read_results([Path(sys.argv[1])]), sys.argv[2])"
    pages = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-c", code, str(result), str(tmp_path / seed / "r.html")]
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        subprocess.run(command, check=True, timeout=120, env=env)  # noqa: S603 - our own code
        pages.append((tmp_path / seed / "r.html").read_bytes())
    assert pages[0] == pages[1]


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there are no results"):
        write_report([], tmp_path / "r.html")


def test_a_page_that_is_there_stays_where_writing_fails(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    page.write_text("old", encoding="utf-8")
    (tmp_path / "r_files").write_text("mine", encoding="utf-8")
    with pytest.raises(PostilError, match="r_files: cannot be written"):
        write_report([scores()], page)
    assert page.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r_files"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_the_extra(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for attempt in (lambda: write_report([scores()], tmp_path / "r.html"), lambda: check_report(tmp_path / "r.html")):
        with pytest.raises(MissingExtra, match=r"^a report needs an optional package: pip install 'postil\[plot\]'$"):
            attempt()
