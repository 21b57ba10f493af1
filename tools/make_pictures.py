"""Draw the picture of the README from the bundled sample.

python tools/make_pictures.py docs/pictures
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from postil.app.correlating import CorrelateOptions, correlate_files
from postil.app.demo import run_demo
from postil.app.scoring import ScoringOptions, score_files
from postil.draw import IntervalRow, Landmark, intervals, save
from postil.metaeval.human import HALVES
from postil.metrics.controls import ControlOptions
from postil.records.scale import Scale

SPECS = ("meteor", "w-meteor", "rouge-l", "w-rouge-l")
SHOWN = {
    "meteor": ["meteor", "w-meteor", "control:shuffled(w-meteor)", "control:best-5(w-meteor)"],
    "rouge-l": ["rouge-l", "w-rouge-l", "control:shuffled(w-rouge-l)", "control:best-5(w-rouge-l)"],
    "no metric": ["control:length"],
}
TITLES = {"shuffled": "weights shuffled", "best-5": "best five, no weights", "length": "length of the text"}


def title(name: str) -> str:
    """What a metric or control is called in the picture."""
    kind = name.removeprefix("control:").partition("(")[0]
    return TITLES.get(kind, name)


def main() -> None:
    """The command."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    scale = Scale(1, 5)
    with tempfile.TemporaryDirectory() as folder:
        run_demo(Path(folder), 2, lambda _: None, lambda _: None)
        candidates, references, scores, judgements = (
            str(Path(folder, name))
            for name in ("candidates.en.jsonl", "references.en.jsonl", "scores.jsonl", "judgements.jsonl")
        )
        options = ScoringOptions(metrics=SPECS, scale=scale, items=scores, controls=ControlOptions())
        score_files(candidates, references, options, lambda _: None)
        found = correlate_files([scores], judgements, CorrelateOptions(coefficients=("pearson",), scale=scale))
    values = {row.metric: row for row in found.correlations.rows}
    rows = [
        IntervalRow(title(name), row.value, row.low, row.high, family, control=name.startswith("control:"))
        for family, names in SHOWN.items()
        for name in names
        if (row := values.get(name))
    ]
    people = {row.metric: row.value for row in found.human.rows} if found.human else {}
    marks = [Landmark("people: split halves", people[HALVES])] if HALVES in people else []
    save(intervals(rows, landmarks=marks, xlabel="Pearson correlation with people's grades"), out / "correlations.svg")


if __name__ == "__main__":
    main()
