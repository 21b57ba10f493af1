"""Rows from the judged responses of DSTC7's grounded conversation task.

The file has a web thread a line: ``id``, ``context`` (how it begins), ``references`` (what people answered) and
``candidates``, each with ``system``, ``text`` and the grades 1 to 5 of three judges for ``relevance`` and
``informativeness``. The references have no grades, so metrics have weights only by ``--weights consensus``.

The response of the system ``Human``, here ``human``, is one of the references in most threads. Copies of it, whatever
their case and punctuation, are taken out of the thread's references; otherwise it would be compared with itself. So are
the few references in Chinese or Japanese, which have no words between spaces. Threads that have no references then are
left out of all files.

    python examples/dstc7_to_rows.py FOLDER rows/
    postil score rows/candidates.jsonl -r rows/references.jsonl
    postil score rows/candidates.jsonl -r rows/references.jsonl -m meteor -m rouge-l --items rows/scores.jsonl
    postil correlate rows/scores.jsonl rows/length.jsonl --judgements rows/judgements.jsonl --aspect relevance

``length.jsonl`` has the number of words of each response, as a control. ``articles.jsonl`` has the threads as articles
with comments, for `postil corpus build` and `postil study comments`; see docs/study.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from postil.data.row_files import write
from postil.data.rows import Article, Candidate, Comment, Judgement, Reference, Score
from postil.results.names import LENGTH
from postil.text.tokenizers import is_han_text

NAME = "dstc7_joined.en.jsonl.gz"
PERSON = "Human"
ASPECTS = ("relevance", "informativeness")


@dataclass
class Rows:
    """The rows of all threads, and what was left out.

    Args:
        keep_copies: Leave copies of the Human response among the references, to see what they do. The threads are the
            same.
    """

    keep_copies: bool = False
    articles: list[Article] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    copies: int = 0
    """References that were copies of the Human response."""
    han: int = 0
    """References in Chinese or Japanese."""
    dropped: int = 0
    """Threads without references."""

    def add(self, thread: dict[str, Any]) -> None:
        """Take a thread."""
        item = thread["id"]
        people = [words(row["text"]) for row in thread["candidates"] if row["system"] == PERSON]
        others = [text for text in thread["references"] if words(text) not in people]
        kept = [text for text in others if not is_han_text(text)]
        self.copies += len(thread["references"]) - len(others)
        self.han += len(others) - len(kept)
        if not kept:
            self.dropped += 1
            return
        if self.keep_copies:
            kept = [text for text in thread["references"] if not is_han_text(text)]
        context = thread["context"] or item
        comments = tuple(Comment(str(number), text) for number, text in enumerate(kept, start=1))
        self.references += [Reference(item, comment.text, id=comment.id) for comment in comments]
        self.articles.append(Article(item, context.partition(". ")[0], content=context, comments=comments))
        for row in thread["candidates"]:
            system = "human" if row["system"] == PERSON else row["system"]
            self.candidates.append(Candidate(item, system, row["text"]))
            self.judgements += [
                Judgement(item, system, f"judge-{judge}", grade, aspect)
                for aspect in ASPECTS
                for judge, grade in enumerate(row[aspect], start=1)
            ]


def words(text: str) -> tuple[str, ...]:
    """Words of a text without case and punctuation."""
    return tuple(re.findall(r"\w+", text.lower()))


def read(path: Path, *, keep_copies: bool = False) -> Rows:
    """The rows of a file."""
    rows = Rows(keep_copies)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            rows.add(json.loads(line))
    return rows


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Rows from the judged responses of DSTC7.")
    parser.add_argument("folder", type=Path, help=f"folder with {NAME}")
    parser.add_argument(
        "out", type=Path, help="folder for articles, candidates, references, judgements and length (.jsonl)"
    )
    parser.add_argument("--keep-copies", action="store_true", help=f"leave copies of {PERSON} responses as references")
    given = parser.parse_args(arguments)
    rows = read(given.folder / NAME, keep_copies=given.keep_copies)
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "articles.jsonl", rows.articles)
    write(given.out / "candidates.jsonl", rows.candidates)
    write(given.out / "references.jsonl", rows.references)
    write(given.out / "judgements.jsonl", rows.judgements)
    write(
        given.out / "length.jsonl",
        [Score(row.item, row.system, LENGTH, len(words(row.text)), LENGTH) for row in rows.candidates],
    )
    copies = f"{rows.copies} copies of {PERSON} responses {'kept' if given.keep_copies else 'taken out'}"
    print(
        f"{len(rows.candidates)} candidates, {len(rows.references)} references, {len(rows.judgements)} judgements in "
        f"{given.out}; {copies}; left out: {rows.han} references in Chinese or Japanese, {rows.dropped} threads "
        "without references"
    )


if __name__ == "__main__":
    main()
