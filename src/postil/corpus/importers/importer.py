"""Importers of other people's articles and passages: what one declares, where it is found, how it writes and tells.

Each module of this folder may declare `IMPORTERS`. `postil corpus import` has a subcommand for each of them, and
`postil corpus build` names the one that reads a raw export where article rows were expected.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, TypeAlias

from postil.corpus import importers as folder
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.moderation import Decisions
from postil.corpus.options import ON_ERROR
from postil.corpus.privacy import HashKey
from postil.corpus.result import Rejected
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.progress import OnMessage, progress
from postil.data.row_files import Writer, kind_of, write
from postil.data.rows import Article, Decision, Passage
from postil.data.streams import DAMAGE, FilePath, opened
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Message, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    class InLanguage(Protocol):
        """A reader of articles without a language of their own."""

        def __call__(
            self, paths: Sequence[FilePath], report: ImportReport, *, lang: str | None = None
        ) -> Iterator[Article]: ...


__all__ = [
    "EXPORTS",
    "LINES",
    "ExportOptions",
    "ImportOptions",
    "Importer",
    "LangOptions",
    "Sign",
    "Tally",
    "articles_in",
    "check_output",
    "import_articles",
    "import_of",
    "importers",
    "rejected_file",
    "rejecting",
    "say_merged",
    "say_rejected",
    "say_replaced",
    "say_some",
    "with_the_first",
    "write_passages",
]

LINES: Final = ("FILES...", "JSON Lines, one article per line.")
EXPORTS: Final = ("FILES...", "Files of the site, which may be compressed.")
"""Files that several importers take: their placeholder, and what they are."""

DECISIONS: Final = Setting("decisions")
HASH_KEY: Final = Setting("hash_key")
SKIP: Final = Setting("on_error", "skip")
HEAD: Final = 1 << 20
"""Number of bytes of a raw export that are looked at."""
MOST: Final = 20
"""Largest number of its objects that are looked at."""
ARRAYS_OF_COMMENTS: Final = ("comments", "comment", "replies", "posts", "answers", "responses")
NAMED: Final = 10
"""Number of names in a message, and of distinct grades that are counted apart."""

COUNTED: Final = {
    "textless": "comment[s] without text, left out",
    "orphans": "comment[s] of articles that are not there, left out",
    "settled": "vote[s] written as text or with a point, taken as whole numbers",
    "negative": "comment[s] with more votes against than for them, kept with negative upvotes",
    "by_url": "article[s] without an id, named by their url",
    "by_place": "article[s] without an id or url, named by file and line",
    "untitled": "article[s] without a title, kept",
    "without_content": "article[s] without content, kept",
    "bare": "article[s] without comments, kept",
    "unused": "content[s] of no article, left out",
    "withheld": "comment[s] that [are] deleted, spam, not approved or not of readers, left out",
    "unpublished": "article[s] that [are] deleted or not published, or entries of other kinds, left out",
    "nulls": "object[s] that [are] null, left out",
    "absent": "comment[s] that the files name and do not hold",
}
"""Messages of the counts of a report; what is in brackets is for numbers other than one."""

MODELS: Final = {
    "without_content": "no article has a content: train ir-t, seq2seq or att on them, which read titles alone",
    "untitled": "no article has a title: train ir-tc or att-tc on them, which read contents",
}
"""Messages about counts that are the number of articles."""

Run: TypeAlias = "Callable[[Sequence[str], str, Any, OnMessage], None]"
"""An import: of files, into an output, with options of the importer's class and a callback for status messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Marks that tell the files of a format from article rows and from the files of other formats.

    Args:
        fields: Fields that only its objects have together, any of several sets.
        test: True for one of its objects; asked where the fields of no format decide.
        head: Found in the beginning of its XML.
    """

    fields: tuple[frozenset[str], ...] = ()
    test: Callable[[Mapping[str, object]], bool] | None = None
    head: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Importer:
    """A format of `postil corpus import`.

    Args:
        name: Its name, which is that of the subcommand.
        help: Help of the subcommand: what the format is, in one line; more about it; an example.
        options: Class of its options.
        run: Its import.
        files: Placeholder and help of the files that the subcommand takes; None where they are options.
        sign: Marks that its files are known by, if there are any.
        rows: The rows that it writes.
        place: Place in the list of imports; those of one place stand by module, as the module lists them.
        job: Heading of the subcommand in the help.
    """

    name: str
    help: str
    options: type
    run: Run
    files: tuple[str, str] | None = None
    sign: Sign = Sign()
    rows: type[Article | Passage] = Article
    place: int = 0
    job: str = "Other formats"


@cache
def importers() -> Mapping[str, Importer]:
    """The importers by name, in the order of the help; their modules are loaded."""
    modules = [import_module(f"{folder.__name__}.{module.name}") for module in iter_modules(folder.__path__)]
    found: list[Importer] = [each for module in modules for each in getattr(module, "IMPORTERS", ())]
    return {each.name: each for each in sorted(found, key=attrgetter("place"))}


def import_of(path: FilePath) -> str | None:
    """The name of the import for a raw export; None for article rows, and for what is not known.

    Args:
        path: The file; it may be compressed.

    Returns:
        A format of `postil corpus import`: ``forum`` for articles with comments inside under other names.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "dump.jsonl")
    ...     _ = path.write_text('{"id": "c1", "body": "Oh", "link_id": "t3_a1", "parent_id": "t3_a1"}')
    ...     import_of(path)
    'reddit'
    """
    try:
        with opened(path) as stream:
            head = stream.read(HEAD).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    except (InvalidInput, *DAMAGE):  # whoever reads it says so
        return None
    if head.startswith("<"):
        signs = ((each.name, each.sign.head) for each in importers().values())
        return next((name for name, sign in signs if sign and sign.search(head[:10_000])), None)
    name = os.fspath(path).lower()
    if not name.removesuffix(".gz").removesuffix(".zst").endswith((".jsonl", ".ndjson", ".json")):
        return None
    rows = list(_objects(head))
    return None if any(map(_is_article, rows)) else next(filter(None, map(_kind, rows)), None)


def _objects(head: str) -> Iterator[Mapping[str, object]]:
    """The first objects of JSON Lines or of an array; nulls are left out."""
    decode, place = json.JSONDecoder().raw_decode, 0
    for _ in range(MOST):
        while place < len(head) and (head[place].isspace() or head[place] in "[,"):
            place += 1
        try:
            value, place = decode(head, place)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def _kind(row: Mapping[str, object]) -> str | None:
    """The import for an object that is no article row; None if it is not known."""
    every = importers().values()
    for each in every:
        if any(fields <= row.keys() for fields in each.sign.fields):
            return each.name
    for each in every:
        if each.sign.test is not None and each.sign.test(row):
            return each.name
    arrays = (row[name] for name in ARRAYS_OF_COMMENTS if name in row)
    return "forum" if any(isinstance(each, list) and each for each in arrays) else None


def _is_article(row: Mapping[str, object]) -> bool:
    """True if an object is an article row with comments."""
    comments = row.get("comments")
    return {"id", "title"} <= row.keys() and isinstance(comments, list) and any(map(_is_comment, comments[:MOST]))


def _is_comment(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str | int) and isinstance(value.get("text"), str)


@options
class ImportOptions:
    """Options of all imports of articles.

    Args:
        on_error: A broken line: stop, or skip it and write it to OUT.rejected.jsonl.
    """

    on_error: Annotated[str, Flag(metavar="POLICY", group="Reading tables")] = "stop"


@options
class LangOptions(ImportOptions):
    """Options of imports of articles in any language.

    Args:
        lang: Language of articles without one, such as zh.
    """

    lang: Annotated[str | None, Flag(metavar="TAG", first=True)] = None


@options
class ExportOptions(LangOptions):
    """Options of imports of sites whose exports hold what became of each comment.

    Args:
        decisions: Write what moderators kept and held, with reasons, to this file: .jsonl, .csv or .parquet, also .gz.
        hash_key: File with the secret key of the authors in --decisions, so that they are the same in every import;
            created where it does not exist. By default authors are numbered.
    """

    decisions: Annotated[str | None, Flag(metavar="FILE")] = None
    hash_key: Annotated[HashKey | None, Flag(metavar="FILE")] = None

    def __post_init__(self) -> None:
        if self.hash_key is not None and self.decisions is None:
            raise UsageError("{key} is of the authors in {decisions}", key=HASH_KEY, decisions=DECISIONS)


def import_articles(
    read: Callable[[ImportReport], Iterator[Article]],
    inputs: Sequence[FilePath],
    out: str,
    options: ImportOptions,
    on_message: OnMessage,
    *,
    note: Callable[[ImportReport], str | None] = lambda _: None,
) -> None:
    """Write articles as rows as they are read, and the rejected lines, if they are skipped, beside them.

    Args:
        read: Reads them, and counts in the report.
        inputs: The files that are read.
        out: The output file.
        options: Error policy.
        on_message: Callback for status messages.
        note: Remark on the format, said after the counts; None for nothing.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken, or there are no articles; nothing is written.
        PostilError: The operating system reports an error.
    """
    kind_of(out)  # before the work, not after it
    outputs = [out, rejected_file(out)] if options.on_error == "skip" else [out]
    decided = options.decisions if isinstance(options, ExportOptions) else None
    if decided is not None:
        _check_decisions(decided, outputs)
        outputs.append(decided)
    for path in outputs:
        check_apart(path, inputs)
    with (
        rejecting(out, options.on_error) as (reject, problems),
        Writer(out, Article) as writer,
        _deciding(decided, options) as decisions,
    ):
        report = ImportReport(reject, decisions=decisions)
        with progress("articles", read(report)) as articles:
            for article in articles:
                writer.write(article)
        if not report.articles:
            raise InvalidInput(with_the_first("no articles to write", problems), where=out)
    for line in report.detected:
        on_message(line)
    say_rejected(report, "broken line[s] or comment[s]", out, on_message)
    _tell(report, on_message)
    if said := note(report):
        on_message(said)
    on_message(f"{counted(report.articles, 'article')} with {counted(report.comments, 'comment')} in {out}")
    if decided is not None and decisions is not None:
        decisions.say(decided, on_message)


def _check_decisions(path: str, outputs: Sequence[str]) -> None:
    """Refuse a file of decisions before the work, not after it."""
    kind_of(path)
    if path in outputs or os.path.realpath(path) in map(os.path.realpath, outputs):
        raise UsageError(
            "{path}: is another output already; name another file in {setting}", path=path, setting=DECISIONS
        )


@contextmanager
def _deciding(path: str | None, options: ImportOptions) -> Iterator[Decisions | None]:
    """Decisions on their way to a file, if there is one."""
    if path is None or not isinstance(options, ExportOptions):
        yield None
        return
    with Writer(path, Decision) as writer:
        yield Decisions(writer.write, options.hash_key)


def articles_in(read: InLanguage, note: Callable[[ImportReport], str | None] = lambda _: None) -> Run:
    """The import of articles whose reader takes files, a report and a language, as that of a site's exports does.

    Args:
        read: The reader.
        note: As of `import_articles`.
    """

    def run(files: Sequence[FilePath], out: str, options: LangOptions, on_message: OnMessage) -> None:
        made = partial(read, files, lang=options.lang)
        import_articles(made, files, out, options, on_message, note=note)

    return run


@contextmanager
def rejecting(out: str, on_error: str) -> Iterator[tuple[Callable[[InvalidInput], None], list[InvalidInput]]]:
    """A callback for what is broken, and a list with the first problem.

    Args:
        out: The output; with ``skip``, what is broken is written beside it.
        on_error: ``stop`` or ``skip``.

    Raises:
        UsageError: There is no such policy, or no file beside which to write.
    """
    UnknownName.check("error policy", on_error, ON_ERROR)
    if on_error == "stop":
        yield _stop, []
        return
    if out == "-":
        raise UsageError(
            "{skip} writes the rejected lines beside the output; give {out} a file", skip=SKIP, out=Setting("out")
        )
    first: list[InvalidInput] = []
    with Writer(rejected_file(out), Rejected) as writer:

        def take(problem: InvalidInput) -> None:
            first[:] = first or [problem]
            writer.write(Rejected.of(problem))

        yield take, first


def _stop(problem: InvalidInput) -> None:
    advice = Message("{problem}; to go on without it: {skip}", problem=problem.message, skip=SKIP)
    raise InvalidInput(advice, where=problem.where, line=problem.line, field=problem.field)


def rejected_file(out: str) -> str:
    """The file beside an output that what is broken is written to.

    Args:
        out: The output.
    """
    return f"{out}.rejected.jsonl"


def with_the_first(what: str, problems: Sequence[InvalidInput]) -> str:
    """A problem with the first one that led to it.

    Args:
        what: The problem.
        problems: The problems that led to it, if there are any.
    """
    if not problems:
        return what
    return Message("{what}; the first problem: {problem}", what=what, problem=problems[0].placed)


def say_rejected(report: ImportReport, what: str, out: str, on_message: OnMessage) -> None:
    """Say how much was broken and left out, and which files were not read to their end.

    Args:
        report: Counts.
        what: Names of what was left out; what stands in brackets is for several.
        out: The output.
        on_message: Callback for status messages.
    """
    if report.rejected:
        left_out = _in_number(f"{what} left out", report.rejected)
        on_message(f"{report.rejected:,} {left_out}; see {rejected_file(out)}")
    for problem in report.unfinished:
        on_message(f"not read to its end: {problem}")


def say_replaced(number: int, on_message: OnMessage) -> None:
    """Say how many characters of an XML file were replaced, if any were.

    Args:
        number: The number.
        on_message: Callback for status messages.
    """
    if number:
        what = "forbidden in XML, or bytes that are not of the file's encoding"
        on_message(f"{counted(number, 'character')} replaced by U+FFFD: {what}")


def _tell(report: ImportReport, on_message: OnMessage) -> None:
    say_replaced(report.replaced, on_message)
    for name, message in COUNTED.items():
        if count := getattr(report, name):
            on_message(f"{count:,} {_in_number(message, count)}")
    for name, message in MODELS.items():
        if getattr(report, name) == report.articles:
            on_message(message)
    if report.graded:
        on_message(f"{counted(report.graded, 'comment')} with a grade, from {report.low:g} to {report.high:g}")
    for names, of in ((report.unread, "articles"), (report.unread_of_comments, "comments")):
        if names:
            on_message(f"fields of {of} that are not read: {', '.join(sorted(names))}")


def _in_number(message: str, count: int) -> str:
    """A message about a number of things; of one, in the singular."""
    if count == 1:
        return message.replace("[are]", "is").replace("[s]", "").replace(" their url", " its url")
    return message.replace("[are]", "are").replace("[s]", "s")


def check_output(out: str, inputs: Sequence[str], characters: int = 0) -> None:
    """Refuse an import of passages before its work, not after it.

    Args:
        out: The output file.
        inputs: The files that are read.
        characters: Number of characters by which passages are compared.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
    """
    kind_of(out)
    check_apart(out, inputs)
    if characters < 0:
        raise UsageError(f"passages are compared by 0 or more characters, got {characters}")


def say_some(on_message: OnMessage, what: str, names: Iterable[str], kind: str = "passage") -> None:
    """Say what is so of some things, and name the first of them.

    Args:
        on_message: Callback for status messages.
        what: Words for the fact about them.
        names: Their names; nothing is said of none.
        kind: Words for their kind.
    """
    listed = list(names)
    if listed:
        more = f" and {len(listed) - NAMED:,} more" if len(listed) > NAMED else ""
        on_message(f"{counted(len(listed), kind)} {what}: {', '.join(listed[:NAMED])}{more}")


def say_merged(on_message: OnMessage, dropped: int, characters: int) -> None:
    """Say how many passages were merged with another one.

    Args:
        on_message: Callback for status messages.
        dropped: Their number.
        characters: Number of characters that they begin and end with.
    """
    on_message(
        f"{counted(dropped, 'passage')} merged with another of the topic, which begins and ends with the same "
        f"{counted(characters, 'character')}"
    )


def write_passages(out: str, passages: Sequence[Passage], on_message: OnMessage) -> None:
    """Write passages as rows, and say how many of which grades there are.

    Args:
        out: The output file.
        passages: The passages.
        on_message: Callback for status messages.

    Raises:
        PostilError: The operating system reports an error.
    """
    tally = Tally()
    write(out, tally.counted(passages))
    tally.say(out, on_message)


class Tally:
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
        """Count passages as they pass."""
        for passage in passages:
            self._grades[passage.grade] += 1
            if passage.topic not in self._known:
                self._topics += 1
                if self._together:
                    self._known.clear()
                self._known.add(passage.topic)
            yield passage

    def say(self, out: str, on_message: OnMessage) -> None:
        """Say the counts."""
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
