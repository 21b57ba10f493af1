"""Passage rows from paragraphs of Wikipedia articles, with the links in them.

A line of ``passages.jsonl.gz`` has ``article`` (its path), ``title``, ``i`` (the paragraph), ``text`` and ``anchors``,
each with ``text`` and ``target``. The title is the topic, because some articles are there twice under different paths;
the id is the path and the paragraph. There are no grades: nobody judged these.

    python examples/anchors_to_rows.py passages.jsonl.gz passages.jsonl
    python examples/anchors_to_rows.py passages.jsonl.gz passages.jsonl --targets

With ``--targets`` an anchor is the page that it leads to, so that ``birds`` and ``Bird`` are one.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from postil.records import Passage, write


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


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Passage rows from paragraphs of Wikipedia articles.")
    parser.add_argument("file", type=Path, help="passages.jsonl.gz")
    parser.add_argument("out", type=Path, help="passage rows (.jsonl)")
    parser.add_argument("--targets", action="store_true", help="anchors are the pages that links lead to")
    given = parser.parse_args(arguments)
    passages = read(given.file, targets=given.targets)
    write(given.out, passages)
    anchors = sum(len(passage.anchors) for passage in passages)
    topics = len({passage.topic for passage in passages})
    print(f"{len(passages)} passages of {topics} topics with {anchors} anchors in {given.out}")


if __name__ == "__main__":
    main()
