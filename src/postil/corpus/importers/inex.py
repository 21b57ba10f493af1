"""INEX tweet contextualisation (2011 to 2014): topics, runs and textual relevance judgements.

The files of the track were given to its participants; this reader is written from descriptions and was
never run on them.

Known, from the pages of the track and from Gonzalez-Gallardo, SanJuan and Torres-Moreno, section 3.2:

- A topic is a tweet; its context is a summary of at most 500 words, made of passages from a Wikipedia dump. In 2012 the
  tweets were given as JSON.
- For a topic the passages of all runs are put together in alphabetical order; those that begin and end with the same 25
  characters are one. Two people highlight what is informative, each passage by itself.
- The grade of a passage is the share of its length that somebody highlighted, and 2 where both highlighted all of it.

Assumed:

- A run has a passage a line: ``qid Q0 file rank rsv run_id``, as in TREC, and then the text of the passage, without
  tags; or, in place of the text, its offset and length in characters of the file's text without tags, counted from 0.
- XML topics are elements ``topic`` or ``tweet`` with the id in an attribute ``id`` or in an element of that name, and
  the text in ``title``, ``txt`` or ``text`` or directly inside; text topics are lines of an id and a text.
- **How textual relevance judgements (t-rels) are written down.** Read are lines as in a run, one for each stretch of
  text that was highlighted, with the person in place of the run's id; rank and rsv say nothing. A ``-`` as the file is
  any file. A line without a text says only that this person judged the topic.
- A stretch belongs to every passage of its topic and file that contains it, or that it contains.
- Length is counted in characters; the space between two highlighted words counts with them.
- "Both" are all the people with a line for the topic, at least two. Where a topic has such a line, a passage that
  nobody highlighted has the grade 0; where it has none, its passages are left out.

White space counts as one space everywhere. Every file may be compressed with gzip.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from postil.corpus.duplicates import CHARACTERS, merge_duplicates
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.importer import Importer, check_output, say_merged, say_replaced, say_some, write_passages
from postil.corpus.importers.trec import read_texts
from postil.data.explain import counted
from postil.data.jsonl import read as read_json
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.data.streams import FilePath, opened, text_lines
from postil.documents.xml import Element, elements, xml_head
from postil.errors import InvalidInput, UsageError
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from postil.data.progress import OnMessage

__all__ = [
    "ANY_FILE",
    "IMPORTERS",
    "InexOptions",
    "InexPassages",
    "Stretch",
    "grade_of",
    "import_inex",
    "read_inex",
    "read_stretches",
    "read_topics",
]

ANY_FILE: Final = "-"
"""Stands in judgements for a file that is not known."""

DIGITS: Final = 15
"""Maximum number of digits of an offset in characters."""

AGREED: Final = 2.0
"""The grade of a passage that everybody highlighted whole."""

COLUMNS: Final = ("qid", "Q0", "file", "rank", "rsv", "run_id")
TOPICS: Final = frozenset(("topic", "tweet"))
TWEETS: Final = ("title", "txt", "text")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of text that a run retrieved, or that a person highlighted.

    Args:
        topic: The topic.
        file: The document it stands in, or `ANY_FILE`.
        by: The run or the person.
        text: Its text; empty where a person only judged the topic.
        line: Its line in the file.
    """

    topic: str
    file: str
    by: str
    text: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class InexPassages:
    """Graded passages, and what was left out.

    Args:
        passages: Topic by topic in the order of the topics, within a topic in the alphabetical order in which the
            people saw them. The id is ``file/n``, n counted from 1 in that order.
        submitted: Number of passages in the runs for the judged topics.
        merged: Number of distinct passages that were merged into another one.
        unknown: Topics of runs or judgements that are not among the topics.
        unjudged: Topics with passages that have no judgements; left out.
        without: Topics with judgements that have no passages.
        unmatched: Highlighted stretches that are in no passage.
        replaced: Characters of the topics that XML forbids, or bytes that are not of its encoding, replaced by U+FFFD.
    """

    passages: list[Passage]
    submitted: int
    merged: int
    unknown: tuple[str, ...]
    unjudged: tuple[str, ...]
    without: tuple[str, ...]
    unmatched: tuple[Stretch, ...]
    replaced: int = 0


def read_stretches(path: FilePath, texts: Mapping[str, str] | None = None) -> list[Stretch]:
    r"""Read a run, or judgements, which have the same columns.

    Args:
        path: The file. If after six columns every line has two integers and nothing else, they are offset and length.
        texts: The texts of the documents by file, for offsets.

    Raises:
        InvalidInput: A line is not of the format, or an offset leads out of its document.
        UsageError: The file has offsets, and there are no documents.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "run")).write_text("7 Q0 3005 1 0.9 run1 A duck is  a bird.\n")
    ...     read_stretches(path)
    [Stretch(topic='7', file='3005', by='run1', text='A duck is a bird.', line=1)]
    """
    where = os.fspath(path)
    rows = [(line, text.split(None, len(COLUMNS))) for line, text in text_lines(path)]
    for line, columns in rows:
        if len(columns) < len(COLUMNS):
            problem = f"expected {' '.join(COLUMNS)} and a text, got {len(columns)} columns"
            raise InvalidInput(problem, where=where, line=line)
    said = [(line, columns, columns[6] if len(columns) > len(COLUMNS) else "") for line, columns in rows]
    offsets = all(_is_span(rest) for _, _, rest in said if rest) and any(rest for _, _, rest in said)
    if offsets and texts is None:
        raise UsageError(f"{where} has offsets in place of texts; the texts of the documents are needed")
    found = []
    for line, columns, rest in said:
        topic, file, by = columns[0], columns[2], columns[5]
        text = _cut(file, rest, texts or {}, where, line) if offsets and rest else rest
        found.append(Stretch(topic, file, by, " ".join(text.split()), line))
    return found


def grade_of(text: str, highlights: Mapping[str, Sequence[str]]) -> float:
    """The grade of a passage.

    Args:
        text: The passage, with single spaces.
        highlights: Highlighted texts by each person who judged the topic, anywhere in the topic, with single spaces.

    Returns:
        The share of the text that somebody highlighted, in [0, 1]; 2 where each of at least two people highlighted all.

    >>> grade_of("A duck is a bird.", {"ann": ["A duck"], "bob": ["duck is a bird."]})
    1.0
    >>> grade_of("A duck is a bird.", {"ann": ["A duck", "is a bird."], "bob": ["A duck is a bird. It flies."]})
    2.0
    >>> grade_of("A duck is", {"ann": ["duck"], "bob": []})
    0.4444444444444444
    """
    if not text:
        return 0.0
    covers = [_covered(text, pieces) for pieces in highlights.values()]
    if len(covers) > 1 and all(all(cover) for cover in covers):
        return AGREED
    return sum(map(any, zip(*covers, strict=True))) / len(text)


def read_inex(
    topics: FilePath,
    runs: Sequence[FilePath],
    judgements: Sequence[FilePath],
    *,
    documents: Sequence[FilePath] = (),
    characters: int = CHARACTERS,
) -> InexPassages:
    """Read graded passages: the pool of the runs, graded by what people highlighted.

    Args:
        topics: The topics; passages and judgements of others are left out.
        runs: The runs.
        judgements: Files of highlighted text.
        documents: Collections, as `postil.corpus.importers.trec.read_collection` takes them, with the text of
            each file without tags; for runs and judgements that have offsets.
        characters: Number of equal characters at either end that makes passages of a topic duplicates; 0 for none.

    Raises:
        UsageError: There are no runs, or offsets and no documents.
        InvalidInput: A file is not of its format, or no passage is judged.
    """
    if not runs or not judgements:
        raise UsageError("passages come from runs and grades from judgements; name at least one of each")
    report = ImportReport()
    known = read_topics(topics, report)
    texts = _documents(documents, [*runs, *judgements]) if documents else None
    submitted: dict[str, list[Stretch]] = defaultdict(list)
    for path in runs:
        for stretch in read_stretches(path, texts):
            if not stretch.text:
                raise InvalidInput(
                    "expected a passage, got none", where=os.fspath(path), line=stretch.line, field="text"
                )
            submitted[stretch.topic].append(stretch)
    judged: dict[str, list[Stretch]] = defaultdict(list)
    for path in judgements:
        for stretch in read_stretches(path, texts):
            judged[stretch.topic].append(stretch)
    graded: list[Passage] = []
    unmatched: list[Stretch] = []
    both = [topic for topic in known if topic in submitted and topic in judged]
    for topic in both:
        pool = _pool(topic, submitted[topic])
        graded += [_graded(passage, judged[topic]) for passage in pool]
        unmatched += [stretch for stretch in judged[topic] if not any(_meets(stretch, passage) for passage in pool)]
    if not graded:
        problem = "none of the topics has both passages in the runs and judgements"
        raise InvalidInput(problem, where=os.fspath(topics))
    merged = merge_duplicates(graded, characters) if characters else None
    return InexPassages(
        passages=merged.passages if merged else graded,
        submitted=sum(len(submitted[topic]) for topic in both),
        merged=merged.dropped if merged else 0,
        unknown=tuple(topic for topic in {**submitted, **judged} if topic not in known),
        unjudged=tuple(topic for topic in known if topic in submitted and topic not in judged),
        without=tuple(topic for topic in known if topic in judged and topic not in submitted),
        unmatched=tuple(unmatched),
        replaced=report.replaced,
    )


def _pool(topic: str, stretches: Iterable[Stretch]) -> list[Passage]:
    """The distinct passages of a topic, as people saw them."""
    pool: list[Passage] = []
    count: dict[str, int] = defaultdict(int)
    for text, file in sorted({(stretch.text, stretch.file) for stretch in stretches}):
        count[file] += 1
        pool.append(Passage(topic, f"{file}/{count[file]}", text))
    return pool


def _meets(stretch: Stretch, passage: Passage) -> bool:
    """True if a highlighted stretch concerns a passage; a line without text, that the topic was judged, always does."""
    if stretch.file not in (ANY_FILE, passage.id.rpartition("/")[0]):
        return not stretch.text
    return stretch.text in passage.text or passage.text in stretch.text


def _graded(passage: Passage, judged: Iterable[Stretch]) -> Passage:
    highlights: dict[str, list[str]] = defaultdict(list)
    for stretch in judged:
        pieces = highlights[stretch.by]
        if stretch.text and _meets(stretch, passage):
            pieces.append(stretch.text)
    return Passage(passage.topic, passage.id, passage.text, grade=grade_of(passage.text, highlights))


def _covered(text: str, pieces: Iterable[str]) -> bytearray:
    """For each character whether one of the pieces has it; the space between two that have it has it too."""
    cover = bytearray(len(text))
    after: dict[str, int] = {}  # the same words highlighted twice are two places
    for piece in pieces:
        start, length = (0, len(text)) if text in piece else (text.find(piece, after.get(piece, 0)), len(piece))
        if start >= 0:
            cover[start : start + length] = b"\1" * length
            after[piece] = start + length
    for place in range(1, len(text) - 1):
        if text[place] == " " and cover[place - 1] and cover[place + 1]:
            cover[place] = 1
    return cover


def _documents(collections: Sequence[FilePath], files: Sequence[FilePath]) -> dict[str, str]:
    """The texts that the lines of runs and judgements point to."""
    wanted = {columns[2] for path in files for _, text in text_lines(path) if len(columns := text.split(None, 3)) > 2}
    return read_texts(collections, wanted)[0]


def _is_span(rest: str) -> bool:
    numbers = rest.split()
    return len(numbers) == 2 and all(number.isascii() and number.isdigit() for number in numbers)


def _cut(file: str, rest: str, texts: Mapping[str, str], where: str, line: int) -> str:
    offset, length = (int(number) if len(number) <= DIGITS else 10**DIGITS for number in rest.split())
    if file not in texts:
        raise InvalidInput(f"there is no document '{file}'", where=where, line=line, field="file")
    size = len(texts[file])
    if not length or offset + length > size:
        problem = f"expected a stretch of the {size} characters of document {file}, got {offset} and {length}"
        raise InvalidInput(problem, where=where, line=line, field="offset")
    return texts[file][offset : offset + length]


def read_topics(path: FilePath, report: ImportReport | None = None) -> dict[str, str]:
    r"""Read topics: XML, tweets as JSON Lines, or a line ``id text`` each; the first character says which.

    Args:
        path: The file.
        report: Counts of what was replaced in XML.

    Returns:
        The text of each topic, by id, in the order of the file.

    Raises:
        InvalidInput: The file is not of the format, or has a topic twice or without an id.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "topics.xml")).write_text(
    ...         '<topics>\n<topic id="2012001"><title>Rain tomorrow</title></topic>\n</topics>'
    ...     )
    ...     read_topics(path)
    {'2012001': 'Rain tomorrow'}
    """
    where = os.fspath(path)
    topics: dict[str, str] = {}
    with opened(path) as stream:
        head = xml_head(stream.peek(64))[:1]
        found: Iterable[tuple[int, str, str]]
        if head == "<":
            found = _in_xml(path, report or ImportReport())
        elif head in {"{", "["}:
            places = RowLocations(where)
            rows = read_json(stream, dict, places)
            found = [_tweet(row, where, places.line(index)) for index, row in enumerate(rows)]
        else:
            found = _two_columns(path)
        for line, name, text in found:
            if not name:
                raise InvalidInput("expected the id of a topic, got none", where=where, line=line, field="id")
            if name in topics:
                raise InvalidInput(f"topic {name} stands there twice", where=where, line=line, field="id")
            topics[name] = " ".join(text.split())
    if not topics:
        problem = f"expected elements {' or '.join(sorted(TOPICS))}, got none"
        raise InvalidInput(problem, where=where)
    return topics


def _two_columns(path: FilePath) -> Iterator[tuple[int, str, str]]:
    for line, text in text_lines(path):
        name, *rest = text.split(None, 1)
        yield line, name.strip('"'), "".join(rest).strip().strip('"')


def _tweet(row: dict[str, object], where: str, line: int) -> tuple[int, str, str]:
    text = row.get("text")
    if not isinstance(text, str):
        raise InvalidInput("expected the text of a tweet", where=where, line=line, field="text")
    return line, str(row.get("id_str") or row.get("id") or ""), text


def _in_xml(path: FilePath, report: ImportReport) -> Iterator[tuple[int, str, str]]:
    """Topics in XML, with the lines they begin in."""
    for element in elements(path, report, None, TOPICS | {name.title() for name in TOPICS}):
        parts: dict[str, str] = defaultdict(str)
        for name, text in _parts(element):
            parts[name] += text
        inside = (parts[part] for part in (*TWEETS, element.name.lower()))
        name = element.attributes.get("id", "") or parts["id"].strip()
        yield element.line, name, next(filter(str.strip, inside), "")


def _parts(element: Element) -> Iterator[tuple[str, str]]:
    """The texts of an element and of all in it, each with its name."""
    yield element.name.lower(), element.text
    for child in element.children:
        yield from _parts(child)


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


def import_inex(_files: Sequence[FilePath], out: str, options: InexOptions, on_message: OnMessage) -> None:
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
    check_output(out, [topics, *runs, *judgements, *documents], options.duplicates)
    found = read_inex(topics, runs, judgements, documents=documents, characters=options.duplicates)
    say_some(on_message, "not among the topics, left out", found.unknown, "topic")
    say_some(on_message, "in the runs and not judged, left out", found.unjudged, "topic")
    say_some(on_message, "judged and in no run, left out", found.without, "topic")
    lost = (f"{stretch.topic} (line {stretch.line})" for stretch in found.unmatched)
    say_some(on_message, "in no passage, left out", lost, "highlight")
    say_replaced(found.replaced, on_message)
    on_message(f"{counted(found.submitted, 'passage')} in the runs, {len(found.passages) + found.merged:,} distinct")
    if options.duplicates:
        say_merged(on_message, found.merged, options.duplicates)
    write_passages(out, found.passages, on_message)


IMPORTERS: Final = (
    Importer(
        "inex",
        """Graded passages of INEX tweet contextualization, 2011 to 2014. Every file may be compressed with gzip.

        Example: postil corpus import inex --topics topics.xml --runs run.txt --judgements trels.txt
        --out passages.jsonl
        """,
        InexOptions,
        import_inex,
        rows=Passage,
        place=1,
        job="Passages",
    ),
)
