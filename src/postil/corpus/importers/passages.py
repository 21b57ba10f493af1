"""`postil corpus import` of passages: external formats in, passage rows out."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final, get_args

from postil.corpus.duplicates import merge_duplicates
from postil.corpus.importers.articles import rejected_file, rejecting, say_rejected, say_replaced, with_the_first
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.inex import read_inex
from postil.corpus.importers.trec import Unjudged, read_grades, read_trec
from postil.corpus.importers.wikipedia import Chosen, WikiPassages, WikiReport, WikiSplit, read_titles, read_wikipedia
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.options import ThreadOptions
from postil.data.row_files import kind_of, write
from postil.engine import open_engine
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.data.progress import OnMessage
    from postil.data.rows import Passage

__all__ = ["InexOptions", "TrecOptions", "WikipediaOptions", "import_inex", "import_trec", "import_wikipedia"]

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
    collection: Annotated[tuple[str, ...], Flag("collection", short="c", metavar="FILE")]
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


@options
class WikipediaOptions(ThreadOptions):
    """Options of `postil corpus import wikipedia`.

    Args:
        split: Unit that is a passage: paragraphs or sentences.
        min_words: Least number of words of a passage.
        targets: Take the titles that links lead to as anchors, not the words of the links.
        namespace: Number of a namespace of the dump; repeatable. Articles are in 0.
        limit: Largest number of pages.
        titles: Titles of the pages to read, one per line.
        judgements: Grades: JSON Lines of topic, id and grade, or qrels.
        unjudged: Passages without a judgement, of pages that have judged ones: skip, zero (grade 0) or keep.
        on_error: A broken page, or a dump that is cut off: stop, or skip it and write it to OUT.rejected.jsonl.
    """

    split: Annotated[WikiSplit, Flag(metavar="UNIT")] = "paragraphs"
    min_words: Annotated[int, Flag(min=1)] = 10
    targets: bool = False
    namespace: Annotated[tuple[int, ...], Flag(metavar="N")] = (0,)
    limit: Annotated[int | None, Flag(min=1, metavar="N")] = None
    titles: Annotated[str | None, Flag(metavar="FILE")] = None
    judgements: Annotated[str | None, Flag(metavar="FILE")] = None
    unjudged: Annotated[Unjudged, Flag(metavar="POLICY")] = "skip"
    on_error: Annotated[str, Flag(metavar="POLICY")] = "stop"


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
        on_message(f"{counted(found.unused, 'text')} of the collection not needed")
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
    _say_some(on_message, "not among the topics, left out", found.unknown, "topic")
    _say_some(on_message, "in the runs and not judged, left out", found.unjudged, "topic")
    _say_some(on_message, "judged and in no run, left out", found.without, "topic")
    lost = (f"{stretch.topic} (line {stretch.line})" for stretch in found.unmatched)
    _say_some(on_message, "in no passage, left out", lost, "highlight")
    say_replaced(found.replaced, on_message)
    on_message(f"{counted(found.submitted, 'passage')} in the runs, {len(found.passages) + found.merged:,} distinct")
    if options.duplicates:
        _say_merged(on_message, found.merged, options.duplicates)
    _write(out, found.passages, on_message)


def import_wikipedia(files: Sequence[str], out: str, options: WikipediaOptions, on_message: OnMessage) -> None:
    """Import passages of a wiki, with the texts of their links as anchors.

    Args:
        files: Dumps, or files of wikitext.
        out: The output file.
        options: The pages, the passages and their grades.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken, or has no passage that is asked for.
        MissingExtra: mwparserfromhell is not installed.
    """
    for name, value, known in (
        ("unit of a passage", options.split, get_args(WikiSplit)),
        ("way with unjudged passages", options.unjudged, get_args(Unjudged)),
    ):
        UnknownName.check(name, value, known)
    inputs = [*files, *filter(None, (options.titles, options.judgements))]
    _check(out, 0, inputs)
    if options.on_error == "skip":
        check_apart(rejected_file(out), inputs)
    if options.judgements is None and options.unjudged != "skip":
        raise UsageError("{unjudged} needs {grades}", unjudged=Setting("unjudged"), grades=Setting("judgements"))
    titles = None if options.titles is None else read_titles(options.titles)
    grades = None if options.judgements is None else read_grades(options.judgements)
    tally = _Tally(together=grades is None)
    with (
        rejecting(out, options.on_error) as (reject, problems),
        open_engine(jobs=options.jobs, on_message=on_message) as engine,
    ):
        report = WikiReport(read=ImportReport(reject))
        passages = read_wikipedia(
            files,
            report,
            engine=engine,
            make=WikiPassages(options.split, options.min_words, options.targets),
            chosen=Chosen(frozenset(options.namespace), options.limit, titles),
        )
        rows = passages if grades is None else grades.joined(passages, options.unjudged)
        first = next(rows, None)
        if first is None:
            raise InvalidInput(with_the_first(_none(report, judged=grades is not None), problems), where=files[0])
        write(out, tally.counted(chain([first], rows)))
    _say_left_out(report, options, out, on_message)
    if grades is not None:
        _say_some(on_message, "found in no file", grades.missing, "judged passage")
        outcome = {"skip": "left out", "zero": "taken as 0", "keep": "without a grade"}[options.unjudged]
        on_message(f"{counted(grades.unjudged, 'passage')} of pages with judged ones not judged, {outcome}")
    on_message(f"{counted(report.pages, 'page')} with {counted(report.anchors, 'anchor')}")
    tally.say(out, on_message)


def _none(report: WikiReport, *, judged: bool) -> str:
    of = "judged passages" if judged else "passages"
    return (
        f"expected {of}, got none: {report.pages:,} pages with text, {report.unnamed:,} not among the titles, "
        f"{report.elsewhere:,} of other namespaces, {report.redirects:,} redirects; "
        f"{report.short:,} passages are too short"
    )


def _say_left_out(report: WikiReport, options: WikipediaOptions, out: str, on_message: OnMessage) -> None:
    for line in report.read.detected:
        on_message(line)
    say_rejected(report.read, "broken page[s]", out, on_message)
    say_replaced(report.read.replaced, on_message)
    for number, one, what in (
        (report.elsewhere, "page", "of another namespace, left out"),
        (report.unnamed, "page", "whose title is not among the titles, left out"),
        (report.redirects, "redirect", "left out"),
        (report.disambiguations, "disambiguation page", "left out"),
        (report.empty, "page", "without a passage"),
        (report.short, "passage", f"of fewer than {options.min_words} words, left out"),
    ):
        if number:
            on_message(f"{counted(number, one)} {what}")
    if options.limit is None:
        _say_some(on_message, "found in no file", report.absent, "title")


def _check(out: str, duplicates: int, inputs: Sequence[str]) -> None:
    kind_of(out)  # before the work, not after it
    check_apart(out, inputs)
    if duplicates < 0:
        raise UsageError(f"passages are compared by 0 or more characters, got {duplicates}")


def _say_some(on_message: OnMessage, what: str, names: Iterable[str], kind: str = "passage") -> None:
    listed = list(names)
    if listed:
        more = f" and {len(listed) - NAMED:,} more" if len(listed) > NAMED else ""
        on_message(f"{counted(len(listed), kind)} {what}: {', '.join(listed[:NAMED])}{more}")


def _say_merged(on_message: OnMessage, dropped: int, characters: int) -> None:
    on_message(
        f"{counted(dropped, 'passage')} merged with another of the topic, which begins and ends with the same "
        f"{counted(characters, 'character')}"
    )


def _write(out: str, passages: Sequence[Passage], on_message: OnMessage) -> None:
    tally = _Tally()
    write(out, tally.counted(passages))
    tally.say(out, on_message)


class _Tally:
    """Counts of passages while they are written.

    Args:
        together: True if passages of a topic follow one another, so that no topic need be kept in memory.
    """

    def __init__(self, *, together: bool = False) -> None:
        self._grades: Counter[float | None] = Counter()
        self._together = together
        self._known: set[str] = set()
        self._topics = 0

    def counted(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        for passage in passages:
            self._grades[passage.grade] += 1
            if passage.topic not in self._known:
                self._topics += 1
                if self._together:
                    self._known.clear()
                self._known.add(passage.topic)
            yield passage

    def say(self, out: str, on_message: OnMessage) -> None:
        grades = self._grades
        numbers = sorted(grade for grade in grades if grade is not None)
        if len(grades) > NAMED:
            above = sum(count for grade, count in grades.items() if grade)
            counts = f"grade 0: {grades[0.0]:,}, above 0: {above:,}"
        else:
            counts = ", ".join(f"grade {grade:g}: {grades[grade]:,}" for grade in numbers)
        ungraded = f"{', ' if numbers else ''}without a grade: {grades[None]:,}" if grades[None] else ""
        total = grades.total()
        on_message(f"{counted(total, 'passage')} of {counted(self._topics, 'topic')} in {out}; {counts}{ungraded}")
