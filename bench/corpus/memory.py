"""Peak memory of a command and its children together."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY = 0.25


def watched(command: Sequence[str], *, quiet: bool = False) -> tuple[float, float]:
    """Run a command to its end; seconds, and the most MiB that it and its children held at one time."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL if quiet else None)
    peak = 0.0
    done = threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(EVERY):
            peak = max(peak, held(process.pid))

    watcher = threading.Thread(target=look)
    watcher.start()
    code = process.wait()
    done.set()
    watcher.join()
    if code:
        raise SystemExit(code)
    return time.perf_counter() - start, peak


def held(root: int) -> float:
    """MiB that a process and all that come from it hold, files in the cache left out."""
    return sum(map(_held, _family(root)))


def _family(root: int) -> list[int]:
    """A process and all that come from it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    family = [root]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return family


def _held(pid: int) -> float:
    """MiB of one process that are its own or its share of what several hold, files in the cache left out."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    sizes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines[1:])}
    return (sizes["Pss"] - sizes.get("Pss_File", 0)) / 1024
