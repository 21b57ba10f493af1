r"""Rows from the expert ratings of WMT21's talks, Chinese to English, where graded references do not help.

The file ``mqm_ted_zhen.tsv.gz`` has a marked error a line, in translations of 529 segments by 13 systems and by two
people, ``ref`` and ``refB``. A translation's grade is minus the sum of its errors: 25 for a non-translation, 5 for
a major error, .1 for minor punctuation, 1 for any other minor one; it ends at -25 (Freitag et al. 2021). The systems'
translations become the candidates, and those of the two people, which were rated in the same way, their references.

    python examples/wmt21_to_rows.py FOLDER rows/
    postil score rows/candidates.jsonl -r rows/references.jsonl --scale=-25:0 --weights minmax \
        -m rouge-l -m w-rouge-l --controls --items rows/scores.jsonl.gz
    postil correlate rows/scores.jsonl.gz --judgements rows/judgements.jsonl --scale=-25:0

``swapped.jsonl`` has the same references, the two of each segment with one another's grade. Weights that say something
about the references have to beat these. Scored likewise and renamed, they stand beside the other controls:

    postil score rows/candidates.jsonl -r rows/swapped.jsonl --scale=-25:0 --weights minmax \
        -m w-rouge-l --items rows/other.jsonl
    sed -E 's/"metric":"(w-[^"]*)"/"metric":"control:swapped(\1)"/' rows/other.jsonl > rows/swapped_scores.jsonl
    postil correlate rows/scores.jsonl.gz rows/swapped_scores.jsonl --judgements rows/judgements.jsonl
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference

NAME: Final = "mqm_ted_zhen.tsv.gz"
PEOPLE: Final = ("ref", "refB")
LOWEST: Final = -25.0
MAJOR: Final = 5.0
MINOR: Final = {"Fluency/Punctuation": 0.1}


@dataclass(slots=True)
class Translation:
    """A translation of a segment and its grade."""

    segment: str
    system: str
    text: str
    rater: str
    errors: float = 0.0

    @property
    def grade(self) -> float:
        """From -25 to 0."""
        return max(LOWEST, -self.errors)


def error(category: str, severity: str) -> float:
    """Penalty of an error."""
    if category.lower().startswith("non-translation"):
        return -LOWEST
    return {"Major": MAJOR, "Minor": MINOR.get(category, 1.0), "No-error": 0.0}[severity]


def read(path: Path) -> dict[tuple[str, str], Translation]:
    """The translations by segment and system, in the order of the file."""
    translations: dict[tuple[str, str], Translation] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = row["seg_id"], row["system"]
            if key not in translations:
                translations[key] = Translation(*key, re.sub("</?v>", "", row["target"]), row["rater"])
            translations[key].errors += error(row["category"], row["severity"])
    return translations


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Rows from the expert ratings of WMT21's talks, Chinese to English.")
    parser.add_argument("folder", type=Path, help=f"folder with {NAME}")
    parser.add_argument("out", type=Path, help="folder for candidates, references, swapped and judgements (.jsonl)")
    given = parser.parse_args(arguments)
    translations = read(given.folder / NAME)
    systems = [row for row in translations.values() if row.system not in PEOPLE]
    pairs = [
        tuple(translations[segment, name] for name in PEOPLE)
        for segment in dict.fromkeys(row.segment for row in systems)
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "candidates.jsonl", [Candidate(row.segment, row.system, row.text) for row in systems])
    write(given.out / "judgements.jsonl", [Judgement(row.segment, row.system, row.rater, row.grade) for row in systems])
    for name, step in (("references", 1), ("swapped", -1)):
        rows = [
            Reference(row.segment, row.text, grade=other.grade, id=row.system)
            for pair in pairs
            for row, other in zip(pair, pair[::step], strict=True)
        ]
        write(given.out / f"{name}.jsonl", rows)
    print(f"{len(systems)} candidates, {2 * len(pairs)} references in {given.out}")


if __name__ == "__main__":
    main()
