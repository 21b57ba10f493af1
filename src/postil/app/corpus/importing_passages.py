"""The journey of `postil corpus import` for passages: foreign files in, passage rows out, and what was met in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from postil.corpus.formats.inex import read_inex
from postil.corpus.formats.trec import read_trec
from postil.corpus.passage_duplicates import merge_duplicates
from postil.errors import UsageError
from postil.records.atomic_file import check_apart
from postil.records.row_files import kind_of, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.app.progress import Say
    from postil.corpus.formats.trec import Unjudged
    from postil.records.rows import Passage

__all__ = ["import_inex", "import_trec"]

NAMED: Final = 10
"""How many of what is wrong are named; the count is of all."""


def import_trec(
    qrels: str,
    collections: Sequence[str],
    out: str,
    say: Say,
    *,
    runs: Sequence[str] = (),
    unjudged: Unjudged = "skip",
    duplicates: int = 0,
) -> None:
    """Write judged passages of a TREC collection as rows.

    Args:
        qrels: Judgements.
        collections: Files with the texts.
        out: The file to write.
        say: Takes words for people.
        runs: Runs whose passages are wanted too.
        unjudged: What becomes of passages of runs that nobody judged.
        duplicates: How many characters at either end make two passages of a topic one; 0 for none.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: Something in a file is wrong; says where.
    """
    _check(out, duplicates, [qrels, *collections, *runs])
    found = read_trec(qrels, collections, runs=runs, unjudged=unjudged)
    _say_some(say, "judged twice with the same grade, taken once", map(" ".join, found.repeated))
    _say_some(say, "judged below 0, taken as 0", map(" ".join, found.negative))
    _say_some(say, "not in the collection, left out", map(" ".join, found.missing))
    if runs:
        fate = {"skip": "left out", "zero": "taken as 0", "keep": "without a grade"}[unjudged]
        _say_some(say, f"in the runs and not judged, {fate}", map(" ".join, found.unjudged))
    if found.unused:
        say(f"{found.unused:,} texts of the collection are not needed")
    passages = found.passages
    if duplicates:
        merged = merge_duplicates(passages, duplicates)
        _say_merged(say, merged.dropped, duplicates)
        passages = merged.passages
    _write(out, passages, say)


def import_inex(
    topics: str,
    runs: Sequence[str],
    judgements: Sequence[str],
    out: str,
    say: Say,
    *,
    documents: Sequence[str] = (),
    duplicates: int,
) -> None:
    """Write graded passages of INEX tweet contextualisation as rows.

    Args:
        topics: Topics.
        runs: Runs.
        judgements: What people highlighted.
        out: The file to write.
        say: Takes words for people.
        documents: Files with the documents' texts, for offsets.
        duplicates: How many characters at either end make two passages of a topic one; 0 for none.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: Something in a file is wrong; says where.
    """
    _check(out, duplicates, [topics, *runs, *judgements, *documents])
    found = read_inex(topics, runs, judgements, documents=documents, characters=duplicates)
    _say_some(say, "not among the topics, left out", found.unknown, "topics")
    _say_some(say, "in the runs and not judged, left out", found.unjudged, "topics")
    _say_some(say, "judged and in no run, left out", found.without, "topics")
    lost = (f"{stretch.topic} (line {stretch.line})" for stretch in found.unmatched)
    _say_some(say, "in no passage, left out", lost, "highlighted stretches")
    say(f"{found.submitted:,} passages in the runs, {len(found.passages) + found.merged:,} distinct")
    if duplicates:
        _say_merged(say, found.merged, duplicates)
    _write(out, found.passages, say)


def _check(out: str, duplicates: int, inputs: Sequence[str]) -> None:
    kind_of(out)  # before the work, not after it
    check_apart(out, inputs)
    if duplicates < 0:
        raise UsageError(f"passages are compared by 0 or more characters, got {duplicates}")


def _say_some(say: Say, what: str, names: Iterable[str], kind: str = "passages") -> None:
    listed = list(names)
    if listed:
        more = f" and {len(listed) - NAMED:,} more" if len(listed) > NAMED else ""
        say(f"{len(listed):,} {kind} {what}: {', '.join(listed[:NAMED])}{more}")


def _say_merged(say: Say, dropped: int, characters: int) -> None:
    say(f"{dropped:,} passages begin and end with the same {characters} characters as another of their topic; merged")


def _write(out: str, passages: Sequence[Passage], say: Say) -> None:
    write(out, passages)
    grades = Counter(passage.grade for passage in passages)
    if len(grades) > NAMED:
        above = sum(count for grade, count in grades.items() if grade)
        counts = f"grade 0: {grades[0.0]:,}, above 0: {above:,}"
    else:
        numbers = sorted(grade for grade in grades if grade is not None)
        counts = ", ".join(f"grade {grade:g}: {grades[grade]:,}" for grade in numbers)
    ungraded = f", without a grade: {grades[None]:,}" if grades[None] else ""
    topics = len({passage.topic for passage in passages})
    say(f"{len(passages):,} passages of {topics:,} topics in {out}; {counts}{ungraded}")
