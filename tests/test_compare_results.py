"""The tool that compares what two versions of the package answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "compare_results.py"


def answer(stdout: str) -> str:
    return json.dumps({"args": ["score"], "code": 0, "crash": "", "stdout": stdout, "stderr": ""})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (answer("0.5"), answer("0.5"), "3 the same"),
        (answer("0.5"), answer("0.6"), "DIFFERS docs_score.md 0: postil score (standard output)"),
        (answer('{"a": 1}'), answer('{"a": 1, "b": 2}'), "new field .b: 1 times"),
        (answer("<table><td>1</table>"), answer("<table><td><b>1</table>"), "1 with other markup of the same cells"),
        ("sha256:12ab\n", "sha256:12ab\n", "1 the same"),
        ("sha256:12ab\n", "sha256:34cd\n", "DIFFERS pages/docs_score.md/answers.jsonl"),
        ("sha256:12ab\n", answer("0.5"), "DIFFERS pages/docs_score.md/answers.jsonl"),
    ],
    ids=["the same", "another number", "a new field", "other markup", "hashes", "other hashes", "a hash alone"],
)
def test_answers_are_compared(before: str, after: str, said: str, tmp_path: Path) -> None:
    for name, text in {"before": before, "after": after}.items():
        path = tmp_path / name / "pages/docs_score.md/answers.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, str(TOOL), str(tmp_path / "before"), str(tmp_path / "after")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stderr == ""
    assert said in done.stdout
    assert done.returncode == ("DIFFERS" in done.stdout)
