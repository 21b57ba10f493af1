"""Passage rows from sentences of film pages that people voted boring, interesting or very interesting.

The file ``crowd_judged.tsv`` (the Wikipedia Trivia Miner of Prakash and others, 2015) has a sentence a line, with the
page it comes from and the number of votes of each kind. The page is the topic; the grade is the mean vote, with 0 for
boring, 1 for interesting and 2 for very interesting.

    python examples/trivia_to_rows.py crowd_judged.tsv passages.jsonl
    python examples/trivia_to_rows.py crowd_judged.tsv some.jsonl --least 0.6 --judgements judgements.jsonl

In the file the sentences of a page stand in the order of their votes, so that nothing may be read from places or ids.
It does not say who voted: the judgements have one annotator, the mean of all.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from postil.data.row_files import write
from postil.data.rows import Judgement, Passage
from postil.errors import InvalidInput

VOTES = {"count_boring": 0, "count_interesting": 1, "count_veryInteresting": 2}


def read(path: Path) -> list[Passage]:
    """The sentences in the order of the file; ids count from 1 within the page."""
    passages = []
    seen: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        for row in rows:
            page = row["MOVIE"]
            seen[page] += 1
            votes = {vote: int(row[column]) for column, vote in VOTES.items()}
            if not sum(votes.values()):
                raise InvalidInput("expected votes, got none", where=str(path), line=rows.line_num)
            grade = sum(vote * count for vote, count in votes.items()) / sum(votes.values())
            passages.append(Passage(page, str(seen[page]), row["TRIVIA"], grade=grade))
    return passages


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Passage rows from voted sentences of film pages.")
    parser.add_argument("file", type=Path, help="crowd_judged.tsv")
    parser.add_argument("out", type=Path, help="passage rows (.jsonl)")
    parser.add_argument("--least", type=float, default=0.0, help="lower grades become 0: no reference holds those")
    parser.add_argument("--judgements", type=Path, help="judgement rows with all grades; item: page, system: id")
    given = parser.parse_args(arguments)
    every = read(given.file)
    passages = [row if row.grade is None or row.grade >= given.least else replace(row, grade=0.0) for row in every]
    write(given.out, passages)
    if given.judgements:
        write(given.judgements, [Judgement(row.topic, row.id, "mean vote", row.grade or 0.0) for row in every])
    print(f"{len(passages)} passages of {len({passage.topic for passage in passages})} topics in {given.out}")


if __name__ == "__main__":
    main()
