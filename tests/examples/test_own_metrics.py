"""`examples/own_metrics.py`: its metrics on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.row_files import write
from postil.data.rows import Candidate, Reference
from postil.metrics import spec

SCRIPT = Path(__file__).parents[2] / "examples" / "own_metrics.py"


@pytest.mark.usefixtures("nothing_stays_registered")
def test_the_metrics_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "_OWN", spec.Registry(spec.METRICS))
    monkeypatch.chdir(tmp_path)
    write("c.jsonl", [Candidate("1", "a", "Bring back the night bus"), Candidate("2", "a", "")])
    write("r.jsonl", [Reference(item, text, weight=0.5) for item in "12" for text in ("bring back the bus", "lol")])
    metrics = ("brief(words=4)", "w-closest_length", "hashed-cosine", "w-hashed-cosine(size=2048)")
    words = ["score", "c.jsonl", "-r", "r.jsonl", "--plugin", str(SCRIPT), "--format", "jsonl", "--items", "s.jsonl"]
    outcome = CliRunner().invoke(app, [*words, *(word for metric in metrics for word in ("-m", metric))])
    assert outcome.exit_code == 0, outcome.output
    rows = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    found = {name: [row["score"] for row in rows if row["metric"] == name] for name in metrics}
    assert found["brief(words=4)"] == [0.0, 1.0]
    assert found["w-closest_length"] == [0.4, 0.0]
    assert found["hashed-cosine"] == pytest.approx([4 / 20**0.5, 0.0])
    assert found["w-hashed-cosine(size=2048)"] == pytest.approx([2 / 20**0.5, 0.0])
