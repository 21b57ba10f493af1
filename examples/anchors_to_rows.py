"""Passage rows from paragraphs of Wikipedia articles, with the links in them.

A line of ``passages.jsonl.gz`` has ``article`` (its path), ``title``, ``i`` (the paragraph), ``text`` and ``anchors``,
each with ``text`` and ``target``. The title is the topic, because some articles are there twice under different paths;
the id is the path and the paragraph. There are no grades: nobody judged these.

    python examples/anchors_to_rows.py passages.jsonl.gz passages.jsonl
    python examples/anchors_to_rows.py passages.jsonl.gz passages.jsonl --targets
    python examples/anchors_to_rows.py passages.jsonl.gz mixed.jsonl --among 3

With ``--targets`` an anchor is the page that it leads to, so that ``birds`` and ``Bird`` are one. With ``--among 3``
the paragraphs of each article have grade 1 and stand among those of the three articles that follow, which have grade
0; copies of a paragraph are left out. That is no judgement: it asks whether a measure tells what belongs together.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from msgspec.structs import replace

from postil.corpus.duplicates import merge_duplicates
from postil.data.row_files import write
from postil.data.rows import Passage


def read(path: Path, *, targets: bool = False) -> list[Passage]:
    """The paragraphs in the order of the file."""
    field = "target" if targets else "text"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [
            Passage(
                row["title"],
                f"{row['article']}/{row['i']}",
                row["text"],
                anchors=tuple(anchor[field] for anchor in row["anchors"]),
            )
            for row in map(json.loads, lines)
        ]


def mixed(passages: list[Passage], among: int) -> list[Passage]:
    """Each topic's passages with grade 1, and with grade 0 those of as many following topics; after the last the first.

    Copies are passages of a topic that begin and end with the same 25 characters.
    """
    topics: dict[str, list[Passage]] = {}
    for passage in merge_duplicates([replace(passage, grade=1.0) for passage in passages], characters=25).passages:
        topics.setdefault(passage.topic, []).append(passage)
    names = list(topics)
    return [
        replace(passage, topic=name, grade=0.0 if step else 1.0)
        for place, name in enumerate(names)
        for step in range(min(among, len(names) - 1) + 1)
        for passage in topics[names[(place + step) % len(names)]]
    ]


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Passage rows from paragraphs of Wikipedia articles.")
    parser.add_argument("file", type=Path, help="passages.jsonl.gz")
    parser.add_argument("out", type=Path, help="passage rows (.jsonl)")
    parser.add_argument("--targets", action="store_true", help="anchors are the pages that links lead to")
    parser.add_argument("--among", type=int, default=0, help="mix with the paragraphs of so many other articles")
    given = parser.parse_args(arguments)
    passages = read(given.file, targets=given.targets)
    if given.among:
        passages = mixed(passages, given.among)
    write(given.out, passages)
    anchors = sum(len(passage.anchors) for passage in passages)
    topics = len({passage.topic for passage in passages})
    print(f"{len(passages)} passages of {topics} topics with {anchors} anchors in {given.out}")


if __name__ == "__main__":
    main()
