"""Screens learned from moderators' decisions, beside scikit-learn and lists of words.

    POSTIL_DATA=FOLDER python -m bench.screening.run [--encoder DIR|package:NAME]... [--size 100000] [--draws 2000]
        [--only areas|spans|fairness|coverage|speed|training]...
        [--peer]

Prints Markdown. Set OMP_NUM_THREADS=1 and start it with ``taskset -c 0`` for times on one core.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bench.metrics.report import machine, version
from bench.screening.peers import badwords, cross_fitted_by_scikit_learn, packaged, reasons, scikit_learn
from bench.screening.simulated import NAMING, PRECISION, SETTINGS, coverage, difference_coverage
from bench.screening.spans import measured
from bench.screening.workload import GERMAN, SEED, SPAM, decided, marked, mixed, splits
from postil.data.row_files import write
from postil.encoders.endpoint_encoder import open_encoder
from postil.encoders.sentences import unit_vectors
from postil.meta.significance import NORMAL
from postil.screening.decisions import Decisions
from postil.screening.fit import DecidedTexts, cross_fitted
from postil.screening.model import Screen
from postil.screening.options import ScreenTrainOptions
from postil.screening.training import train_screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parts import Estimate
    from postil.data.rows import Decision
    from postil.kernel.arrays import Booleans, Floats, Int64s
    from postil.screening.fit import Split

SETS: Final = ((GERMAN, "de"), (SPAM, "en"))
ALONE: Final = 500
"""Number of texts that are screened one by one."""
WANTED: Final = (0.9, 0.7)
"""Precisions that thresholds are chosen for where kept texts that name groups are compared."""
PARTS: Final = ("areas", "spans", "fairness", "coverage", "speed", "training")


class Area(NamedTuple):
    """Mean area under the ROC curve over folds.

    Args:
        value: The area.
        parts: float64[n], what each text adds to its deviation (DeLong's components).
    """

    value: float
    parts: Floats

    @classmethod
    def of(cls, scores: Floats, held: Booleans, split: Split) -> Area:
        """The area of scores within the folds that are predicted."""
        tests = [test for _, test in split.parts()]
        parts, values = np.zeros(len(scores)), list[float]()
        for test in tests:
            inside, kind = scores[test], held[test]
            place = np.empty(len(test))
            place[kind], place[~kind] = _below(inside[kind], inside[~kind]), 1 - _below(inside[~kind], inside[kind])
            values.append(float(place[kind].mean()))
            sizes = np.where(kind, kind.sum(), (~kind).sum())
            parts[test] = (place - values[-1]) / sizes / len(tests)
        return cls(float(np.mean(values)), parts)

    def minus(self, other: Area, cluster: Int64s) -> str:
        """The difference from another on the same texts, with its interval."""
        difference = self.value - other.value
        width = NORMAL * float(np.sqrt((np.bincount(cluster, self.parts - other.parts) ** 2).sum()))
        return f"{difference:+.3f} [{difference - width:+.3f}, {difference + width:+.3f}]"


def _below(values: Floats, others: Floats) -> Floats:
    ordered = np.sort(others)
    return np.asarray(sum(np.searchsorted(ordered, values, side) for side in ("left", "right")) / (2 * len(others)))


def areas(rows: list[Decision], lang: str, encoders: list[str]) -> Iterator[str]:
    """A row for each way to screen and each split: its area, and how far postil is above it."""
    texts, held = [row.text for row in rows], np.array([row.decision == "hold" for row in rows])
    plain = Decisions.of(rows, [lang] * len(rows), np.zeros((len(rows), 0), np.float32))
    read = dict[str, DecidedTexts]()
    for name in encoders:
        dense = unit_vectors(open_encoder(name, None), texts).astype(np.float32)
        read[name] = DecidedTexts(plain.texts.counts, dense)
    lists = {
        "rules of the package": reasons(texts),
        "list of the package (en, zh)": np.array([float(len(found)) for found in packaged(texts)]),
    }
    if (words := badwords(lang)) is not None:
        lists[f"list of badwords-py ({lang})"] = np.array([float(len(found)) for found in words(texts)])
    for by, split in splits(rows, plain).items():
        scores = {"postil": cross_fitted(plain.texts, held[:, None], split)[:, 0]}
        for name, columns in read.items():
            scores[f"postil, {Path(name).name}"] = cross_fitted(columns, held[:, None], split)[:, 0]
        scores["scikit-learn"] = cross_fitted_by_scikit_learn(texts, held, split)
        found = {name: Area.of(one, held, split) for name, one in {**scores, **lists}.items()}
        for name, area in found.items():
            beyond = "" if name == "postil" else found["postil"].minus(area, plain.clusters)
            yield f"| by {by} | {name} | {area.value:.3f} | {beyond} |"


def of_spans(folder: Path) -> Iterator[str]:
    """A row for each way to mark, with intervals over texts."""
    for name, values in measured(marked(folder)).items():
        width = NORMAL * values.std(ddof=1) / np.sqrt(len(values))
        yield f"| {name} | {values.mean():.3f} [{values.mean() - width:.3f}, {values.mean() + width:.3f}] |"


def fairness(data: Path, encoders: list[str]) -> Iterator[str]:
    """A row for each group of kept texts, screen and threshold."""
    for name, lang in SETS:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "rows.jsonl", decided(data, name, lang))
            for at, (encoder, wanted) in enumerate(product((None, *encoders), WANTED)):
                options = ScreenTrainOptions(encoder=encoder, precision=wanted)
                result = train_screen([f"{folder}/rows.jsonl"], f"{folder}/screen {at}", options)
                screen = f"{name} | {'words' if encoder is None else Path(encoder).name} | {result.threshold:.2f}"
                for one in result.fairness:
                    decided_on = f"{_shown(one.base_rate)} | {_shown(one.others_base_rate)}"
                    rates = (one.held, one.others_held, one.difference, one.probability, one.others_probability)
                    numbers = f"{decided_on} | {one.texts:,} | {one.others:,} | {' | '.join(map(_shown, rates))}"
                    yield f"| {screen} | {one.name or 'any group'} | {numbers} |"


def _shown(found: Estimate | float | None) -> str:
    if found is None:
        return ""
    if isinstance(found, float):
        return f"{found:.3f}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def of_coverage(draws: int) -> Iterator[str]:
    """A row for each simulated site."""
    for one in SETTINGS:
        share, width, told = coverage(one, draws, SEED)
        site = f"{one.texts:,} | {one.authors:g} | {one.spread:g} | {one.drift:g}"
        yield f"| {site} | {share:.3f} | {width:.3f} | {told:,} |"


def of_differences(draws: int) -> Iterator[str]:
    """A row for each simulated site."""
    for one in NAMING:
        share, width = difference_coverage(one, draws, SEED)
        site = f"{one.texts:,} | {one.naming:g} | {one.held[0]:g} | {one.held[1]:g} | {one.authors} | {one.spread:g}"
        yield f"| {site} | {share:.3f} | {width:.3f} |"


def rate(call: object, texts: list[str], batch: int) -> tuple[float, float]:
    """Texts in a second, and the 95th percentile of milliseconds of a call."""
    assert callable(call)
    call(texts[:batch])
    times = []
    for at in range(0, len(texts), batch):
        start = time.perf_counter()
        call(texts[at : at + batch])
        times.append(time.perf_counter() - start)
    return len(texts) / sum(times), float(np.quantile(times, 0.95)) * 1000


def speeds(data: Path, encoders: list[str]) -> Iterator[str]:
    """A row for each way to screen, of a screen of the German decisions."""
    rows = decided(data, GERMAN, "de")
    texts = [row.text for row in rows]
    alone = texts[:: len(texts) // ALONE][:ALONE]
    calls = dict[str, object]()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows.jsonl", rows)
        for name in (None, *encoders):
            out = Path(folder) / f"screen {len(calls)}"
            train_screen([f"{folder}/rows.jsonl"], str(out), ScreenTrainOptions(encoder=name))
            calls["postil" if name is None else f"postil, {Path(name).name}"] = Screen.open(out).judge
            if name is not None:
                calls[f"{Path(name).name} alone"] = partial(unit_vectors, open_encoder(name, None))
        calls["scikit-learn"] = scikit_learn().fit(texts, [row.decision == "hold" for row in rows]).predict_proba
        for name, call in calls.items():
            one, slow = rate(call, alone, 1)
            many, _ = rate(call, texts if name in ("postil", "scikit-learn") else alone, 256)
            yield f"| {name} | {one:,.0f} | {slow:.1f} | {many:,.0f} |"


def _busy(of: int) -> float:
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def training(data: Path, size: int, *, peer: bool) -> Iterator[str]:
    """A row for the command, and for one fit of scikit-learn."""
    rows = mixed([row for name, lang in SETS for row in decided(data, name, lang)], size)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "rows.jsonl", rows)
        start, before = time.perf_counter(), _busy(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "postil", "train", "screen", f"{folder}/rows.jsonl", "--out", f"{folder}/out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken, busy = time.perf_counter() - start, _busy(resource.RUSAGE_CHILDREN) - before
        size_of = sum(file.stat().st_size for file in Path(folder, "out").rglob("*") if file.is_file())
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    cost = f"{taken:.0f} | {busy:.0f} | {size_of / 1e6:.0f} | {memory:.1f}"
    yield f"| postil train screen, cross-fits and reasons included | {cost} |"
    if peer:
        start, before = time.perf_counter(), _busy(resource.RUSAGE_SELF)
        scikit_learn().fit([row.text for row in rows], [row.decision == "hold" for row in rows])
        other = _busy(resource.RUSAGE_SELF) - before
        taken = time.perf_counter() - start
        yield f"| scikit-learn, one fit | {taken:.0f} | {other:.0f} ({other / busy:.1f} of postil's) | | |"


def table(title: str, head: str, rows: Iterator[str]) -> None:
    print(f"\n## {title}\n\n{head}\n|{'---|' * (head.count('|') - 1)}", flush=True)
    for row in rows:
        print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSTIL_DATA", "../shared/data")))
    parser.add_argument("--encoder", action="append", default=[], help="also with this encoder")
    parser.add_argument("--size", type=int, default=100_000, help="number of comments that are trained on")
    parser.add_argument("--draws", type=int, default=2_000, help="draws of each simulated site")
    parser.add_argument("--only", action="append", choices=PARTS, help="these parts alone")
    parser.add_argument("--peer", action="store_true", help="time a fit of scikit-learn to as many comments")
    given = parser.parse_args()
    data, only = given.data / "moderated", given.only or PARTS
    print(f"# Screening\n\nMachine: {machine()}; load {os.getloadavg()[0]:.1f} at the start;", end=" ")
    print(f"{len(os.sched_getaffinity(0))} cores used; scikit-learn {version('scikit-learn')}.")
    if "areas" in only:
        for name, lang in SETS:
            head = "| split | screen | AUC | postil is above by |"
            table(f"Areas: {name}", head, areas(decided(data, name, lang), lang, given.encoder))
    if "spans" in only:
        table("Toxic characters", "| marked by | F1 |", of_spans(data))
    if "fairness" in only:
        head = "| texts | screen | threshold | naming | moderators held | others | number | others "
        head += "| held | others | difference | mean | others |"
        table("Kept texts that name groups of people", head, fairness(data, given.encoder))
        head = "| kept texts | naming | held | of the others | by author | spread | coverage | width |"
        table("Intervals of the difference", head, of_differences(given.draws))
    if "coverage" in only:
        head = "| texts | by author | spread of authors | drift | coverage | width | draws |"
        table(f"Intervals of a precision of {PRECISION}", head, of_coverage(given.draws))
    if "speed" in only:
        head = "| screen | texts/s one by one | ms, p95 | texts/s by 256 |"
        table("Screenings of one process", head, speeds(data, given.encoder))
    if "training" in only:
        head = "| training | s | of the processor | folder, MB | memory, GiB |"
        table(f"Training on {given.size:,} comments", head, training(data, given.size, peer=given.peer))


if __name__ == "__main__":
    main()
