"""`postil corpus import` of passages: external formats in, passage rows out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

from postil.corpus.formats.inex import read_inex
from postil.corpus.formats.trec import Unjudged, read_trec
from postil.corpus.passage_duplicates import merge_duplicates
from postil.errors import UsageError
from postil.options import Flag, options
from postil.records.atomic_file import check_apart
from postil.records.row_files import kind_of, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from postil.app.progress import OnMessage
    from postil.records.rows import Passage

__all__ = ["InexOptions", "TrecOptions", "import_inex", "import_trec"]

NAMED: Final = 10
"""Number of names in a message, and of distinct grades that are counted apart."""


@options
class TrecOptions:
    """Options of `postil corpus import trec`.

    Args:
        qrels: Judgements, one line 'topic Q0 document grade' each.
        collection: Texts: lines of id, tab, text, or JSON Lines; repeatable.
        run: Run whose passages are imported beside the judged ones; repeatable.
        unjudged: Passages of the runs without a judgement: skip, zero (grade 0) or keep.
        duplicates: Merge passages of a topic with the same first and last N characters; 0 for none.
    """

    qrels: Annotated[str, Flag(metavar="FILE")]
    collection: Annotated[tuple[str, ...], Flag(("--collection", "-c"), metavar="FILE")]
    run: Annotated[tuple[str, ...], Flag(metavar="FILE")] = ()
    unjudged: Annotated[Unjudged, Flag(metavar="POLICY")] = "skip"
    duplicates: Annotated[int, Flag(min=0)] = 0


@options
class InexOptions:
    """Options of `postil corpus import inex`.

    Args:
        topics: Topics: XML, tweets as JSON Lines, or id and text.
        runs: Run, one line 'qid Q0 file rank rsv run_id text' per passage; repeatable.
        judgements: Highlighted text, one line 'qid Q0 file - - person text' per stretch; repeatable.
        documents: Texts of the documents, where runs or judgements have offsets; repeatable.
        duplicates: Merge passages of a topic with the same first and last N characters; 0 for none.
    """

    topics: Annotated[str, Flag(metavar="FILE")]
    runs: Annotated[tuple[str, ...], Flag(metavar="FILE")]
    judgements: Annotated[tuple[str, ...], Flag(metavar="FILE")]
    documents: Annotated[tuple[str, ...], Flag(metavar="FILE")] = ()
    duplicates: Annotated[int, Flag(min=0)] = 25


def import_trec(out: str, options: TrecOptions, on_message: OnMessage) -> None:
    """Import judged passages of a TREC collection.

    Args:
        out: The output file.
        options: Files, and the treatment of unjudged and duplicate passages.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken; says where.
    """
    qrels, collections, runs, unjudged = options.qrels, options.collection, options.run, options.unjudged
    _check(out, options.duplicates, [qrels, *collections, *runs])
    found = read_trec(qrels, collections, runs=runs, unjudged=unjudged)
    _say_some(on_message, "judged twice with the same grade, taken once", map(" ".join, found.repeated))
    _say_some(on_message, "judged below 0, taken as 0", map(" ".join, found.negative))
    _say_some(on_message, "not in the collection, left out", map(" ".join, found.missing))
    if runs:
        outcome = {"skip": "left out", "zero": "taken as 0", "keep": "without a grade"}[unjudged]
        _say_some(on_message, f"in the runs and not judged, {outcome}", map(" ".join, found.unjudged))
    if found.unused:
        on_message(f"{found.unused:,} texts of the collection are not needed")
    passages = found.passages
    if options.duplicates:
        merged = merge_duplicates(passages, options.duplicates)
        _say_merged(on_message, merged.dropped, options.duplicates)
        passages = merged.passages
    _write(out, passages, on_message)


def import_inex(out: str, options: InexOptions, on_message: OnMessage) -> None:
    """Import graded passages of INEX tweet contextualization.

    Args:
        out: The output file.
        options: Files, and the treatment of duplicate passages.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken; says where.
    """
    topics, runs, judgements, documents = options.topics, options.runs, options.judgements, options.documents
    _check(out, options.duplicates, [topics, *runs, *judgements, *documents])
    found = read_inex(topics, runs, judgements, documents=documents, characters=options.duplicates)
    _say_some(on_message, "not among the topics, left out", found.unknown, "topics")
    _say_some(on_message, "in the runs and not judged, left out", found.unjudged, "topics")
    _say_some(on_message, "judged and in no run, left out", found.without, "topics")
    lost = (f"{stretch.topic} (line {stretch.line})" for stretch in found.unmatched)
    _say_some(on_message, "in no passage, left out", lost, "highlighted stretches")
    on_message(f"{found.submitted:,} passages in the runs, {len(found.passages) + found.merged:,} distinct")
    if options.duplicates:
        _say_merged(on_message, found.merged, options.duplicates)
    _write(out, found.passages, on_message)


def _check(out: str, duplicates: int, inputs: Sequence[str]) -> None:
    kind_of(out)  # before the work, not after it
    check_apart(out, inputs)
    if duplicates < 0:
        raise UsageError(f"passages are compared by 0 or more characters, got {duplicates}")


def _say_some(on_message: OnMessage, what: str, names: Iterable[str], kind: str = "passages") -> None:
    listed = list(names)
    if listed:
        more = f" and {len(listed) - NAMED:,} more" if len(listed) > NAMED else ""
        on_message(f"{len(listed):,} {kind} {what}: {', '.join(listed[:NAMED])}{more}")


def _say_merged(on_message: OnMessage, dropped: int, characters: int) -> None:
    on_message(
        f"{dropped:,} passages begin and end with the same {characters} characters as another of their topic; merged"
    )


def _write(out: str, passages: Sequence[Passage], on_message: OnMessage) -> None:
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
    on_message(f"{len(passages):,} passages of {topics:,} topics in {out}; {counts}{ungraded}")
