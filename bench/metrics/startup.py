"""Start-up time of a fresh process, memory of a million candidates, and the cost of controls."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.metrics.workload import Workload

POSTIL = [sys.executable, "-c", "from postil.cli.main import main; main()"]
STARTS = {
    "python, nothing imported": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import postil": [sys.executable, "-c", "import postil"],
    "postil --help": [*POSTIL, "--help"],
}


@dataclass(frozen=True)
class Start:
    """Seconds from start to end of a fresh process; ``seconds`` is empty where the command failed."""

    name: str
    seconds: list[float]

    @property
    def text(self) -> str:
        if not self.seconds:
            return "failed"
        median, fast, slow = statistics.median(self.seconds), min(self.seconds), max(self.seconds)
        return f"{median:.3f} s [{slow:.3f}, {fast:.3f}]"


@dataclass(frozen=True)
class Memory:
    """Time and memory of scoring ``candidates`` texts through the command line."""

    candidates: int
    peak_mib: float
    seconds: float


@dataclass(frozen=True)
class Controlled:
    """Seconds of scoring by some metrics and their weighted forms, in turn without and with the usual controls."""

    name: str
    without: list[float]
    controlled: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(self.controlled) / statistics.median(self.without)


def controls(workload: Workload, metrics: Sequence[str], *, joined: int, rounds: int) -> Controlled:
    """Time `postil.score` without and with controls; each text is ``joined`` texts of the workload, concatenated."""
    import postil
    from postil.metrics.controls import ControlOptions

    parts = [workload.items[i : i + joined] for i in range(0, len(workload.items) - joined + 1, joined)]
    candidates = [" ".join(item.candidate for item in part) for part in parts]
    references = [
        [" ".join(texts) for texts in zip(*(item.references for item in part), strict=True)] for part in parts
    ]
    weights = [part[0].weights for part in parts]
    specs = [form for metric in metrics for form in (metric, f"w-{metric}")]
    words = statistics.fmean(len(text.split()) for text in candidates)
    name = f"{', '.join(metrics)}: {len(parts):,} texts of {words:.0f} words, {len(weights[0])} references"
    found = Controlled(name, [], [])
    for _ in range(rounds):
        for options, times in ((None, found.without), (ControlOptions(), found.controlled)):
            start = time.perf_counter()
            postil.score(
                candidates, references, weights=weights, metrics=specs, tokenizer="space", controls=options, jobs=1
            )
            times.append(time.perf_counter() - start)
    return found


def cold_starts(times: int = 7) -> list[Start]:
    """Time each command in child processes; one run before, to warm the disk cache, is not counted."""
    found = []
    for name, command in STARTS.items():
        runs = [_seconds(command) for _ in range(times + 1)][1:]
        found.append(Start(name, [run for run in runs if run is not None]))
    return found


def _seconds(command: Sequence[str]) -> float | None:
    start = time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start if ended.returncode == 0 else None


def memory(workload: Workload, candidates: int, metrics: Sequence[str]) -> Memory:
    """Score ``candidates`` texts against the workload's references with the command line and watch the child's memory.

    Each system takes the candidates in another order, so that texts differ between the systems of an item.
    """
    with tempfile.TemporaryDirectory() as folder:
        texts, references = Path(folder) / "candidates.jsonl", Path(folder) / "references.jsonl"
        _write_candidates(texts, workload, candidates)
        with references.open("w", encoding="utf-8") as file:
            for number, item in enumerate(workload.items):
                for text in item.references:
                    file.write(json.dumps({"item": str(number), "text": text}, ensure_ascii=False) + "\n")
        asked = [part for metric in metrics for part in ("--metric", metric)]
        options = ["--references", str(references), *asked, "--tokenizer", "space", "--format", "json", "--jobs", "1"]
        return _watch([*POSTIL, "score", str(texts), *options], candidates)


def _write_candidates(path: Path, workload: Workload, candidates: int) -> None:
    items = len(workload.items)
    with path.open("w", encoding="utf-8") as file:
        for number in range(candidates):
            system, item = divmod(number, items)
            text = workload.items[(item + system) % items].candidate
            row = {"item": str(item), "system": f"s{system}", "text": text}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _watch(command: Sequence[str], candidates: int) -> Memory:
    """Run a command and read its peak from /proc, which unlike getrusage starts from zero at exec (Linux)."""
    start, peak = time.perf_counter(), 0.0
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        while process.poll() is None:
            peak = max(peak, _high_water(process.pid))
            time.sleep(0.05)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"postil score ended with {process.returncode}: {said.read().decode()[-2000:]}")
    return Memory(candidates, peak, time.perf_counter() - start)


def _high_water(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)
