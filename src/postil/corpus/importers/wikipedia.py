"""Wikipedia and other wikis of MediaWiki: dumps of their pages, and pages as files of wikitext.

A dump is the XML of *pages-articles* (schema 0.10 or 0.11), compressed with bzip2, gzip or not at all. It is read in
blocks, and so is memory independent of its size. A file of a page has its wikitext, and its title as a name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, TypeAlias, get_args

from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.importer import (
    Importer,
    Tally,
    check_output,
    rejected_file,
    rejecting,
    say_rejected,
    say_replaced,
    say_some,
    with_the_first,
)
from postil.corpus.importers.trec import Unjudged, read_grades
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.options import ThreadOptions
from postil.data.row_files import write
from postil.data.rows import Passage
from postil.data.streams import DAMAGE, FilePath, damaged, opened, text_lines
from postil.documents.readers.wikitext import redirect_of, wiki_blocks
from postil.documents.xml import elements, xml_head
from postil.engine import Engine, open_engine
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.options import Flag, options
from postil.text.sentences import sentence_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from postil.data.progress import OnMessage

__all__ = [
    "IMPORTERS",
    "Chosen",
    "RawPage",
    "WikiPassages",
    "WikiReport",
    "WikiSplit",
    "WikipediaOptions",
    "import_wikipedia",
    "raw_pages",
    "read_titles",
    "read_wikipedia",
]

WikiSplit: TypeAlias = Literal["paragraphs", "sentences"]
"""Unit of a page that is a passage; of the paragraphs, items of lists and quotations are passages of their own."""

LARGEST: Final = 1 << 26
"""Largest file of a page in bytes."""
BATCH: Final = 32
"""Number of pages that a worker takes at a time."""
ENDINGS: Final = (".wiki", ".wikitext", ".mediawiki", ".txt")

_PASSAGES: Final = frozenset({"paragraph", "item", "quote"})
_DISAMBIGUATION: Final = re.compile(
    r"\{\{\s*(?:[\w -]{1,40}[ _-])?(?:disambig|disambiguation|dab|hndis|geodis|begriffsklärung|homonymie|"
    r"desambiguación|desambiguação|disambigua|doorverwijspagina|förgrening|неоднозначность|消歧义|消歧義)\b[^{}]{0,200}"
    r"\}\}|__DISAMBIG__",
    re.IGNORECASE,
)
_HAN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LANGUAGE: Final = re.compile(r"([a-z]{2,3})(?:_[a-z_]+)?wiki[a-z]*")


class RawPage(NamedTuple):
    """A page as a dump has it.

    Args:
        title: Its title.
        text: Its wikitext.
        lang: Language of its wiki; None if unknown.
    """

    title: str
    text: str
    lang: str | None


@dataclass(slots=True, eq=False)
class WikiReport:
    """Counts of an import; a reader adds to it as its pages are taken.

    Args:
        pages: Number of pages that passages were made of.
        redirects: Redirects; they are left out.
        disambiguations: Lists of articles of one name; they are left out.
        elsewhere: Pages of other namespaces; they are left out.
        unnamed: Pages that are not among the titles; they are left out.
        empty: Pages without a passage.
        short: Passages with too few words; they are left out.
        anchors: Number of anchors.
        read: Damage of dumps, numbers of what was replaced in them, and their encodings.
        absent: Titles that no page has.
    """

    pages: int = 0
    redirects: int = 0
    disambiguations: int = 0
    elsewhere: int = 0
    unnamed: int = 0
    empty: int = 0
    short: int = 0
    anchors: int = 0
    read: ImportReport = field(default_factory=ImportReport)
    absent: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pages that are read.

    Args:
        namespaces: Numbers of their namespaces; 0 has the articles.
        limit: Largest number of pages; None for all.
        titles: Their titles; None for all.
    """

    namespaces: AbstractSet[int] = frozenset({0})
    limit: int | None = None
    titles: AbstractSet[str] | None = None


@dataclass(frozen=True, slots=True)
class WikiPassages:
    """Passages of pages, made in a worker.

    Args:
        split: Unit that is a passage.
        min_words: Least number of words of a passage; two Chinese characters count as one.
        targets: Take the titles that links lead to as anchors, so that ``birds`` and ``Bird`` are one.
    """

    split: WikiSplit = "paragraphs"
    min_words: int = 10
    targets: bool = False

    def __call__(self, pages: Sequence[RawPage]) -> list[tuple[list[Passage], int]]:
        """The passages of each page, and the number of its passages with too few words.

        Args:
            pages: The pages.
        """
        return [self.of(page) for page in pages]

    def of(self, page: RawPage) -> tuple[list[Passage], int]:
        """The passages of a page: their topic is its title, their id their number, and their anchors link texts.

        Args:
            page: The page.

        >>> page = RawPage("Duck", "The [[duck]] is a [[bird]]. It swims.", "en")
        >>> WikiPassages("sentences", 1).of(page)[0][0]
        Passage(topic='Duck', id='1', text='The duck is a bird.', anchors=('duck', 'bird'), grade=None)
        """
        passages: list[Passage] = []
        short = 0
        for text, anchors in self._units(page):
            if max(len(text.split()), len(_HAN.findall(text)) // 2) < self.min_words:
                short += 1
                continue
            passages.append(Passage(page.title, str(len(passages) + 1), text, anchors=anchors))
        return passages, short

    def _units(self, page: RawPage) -> Iterator[tuple[str, tuple[str, ...]]]:
        for block in wiki_blocks(page.text):
            if block.kind in _PASSAGES:
                bounds = [(0, len(block.text))]
                if self.split == "sentences":
                    bounds = sentence_bounds(block.text, page.lang)
                for start, end in bounds:
                    inside = (each.anchor for each in block.anchors if start <= each.start < end)
                    yield block.text[start:end], tuple(each.target if self.targets else each.text for each in inside)


def read_wikipedia(
    paths: Sequence[FilePath],
    report: WikiReport,
    *,
    engine: Engine,
    make: WikiPassages | None = None,
    chosen: Chosen | None = None,
) -> Iterator[Passage]:
    """Read passages of dumps and of files of wikitext.

    Args:
        paths: The files.
        report: Counts.
        engine: Engine that reads the wikitext; results do not depend on it.
        make: Unit of the passages.
        chosen: The pages that are read.

    Yields:
        Passages without grades, in the order of the files.

    Raises:
        InvalidInput: A file is missing, damaged or neither a dump nor wikitext.
        MissingExtra: mwparserfromhell is not installed.
    """
    chosen = chosen or Chosen()
    for made in engine.map(make or WikiPassages(), _batches(islice(_wanted(paths, report, chosen), chosen.limit))):
        for passages, short in made:
            report.pages += 1
            report.empty += not passages
            report.short += short
            report.anchors += sum(len(passage.anchors) for passage in passages)
            yield from passages


def _batches(pages: Iterator[RawPage]) -> Iterator[list[RawPage]]:
    while batch := list(islice(pages, BATCH)):
        yield batch


def _wanted(paths: Sequence[FilePath], report: WikiReport, chosen: Chosen) -> Iterator[RawPage]:
    missing = dict.fromkeys(sorted(chosen.titles)) if chosen.titles is not None else {}
    for path in paths:
        for namespace, page in raw_pages(path, report):
            if namespace is not None and namespace not in chosen.namespaces:
                report.elsewhere += 1
            elif chosen.titles is not None and page.title not in chosen.titles:
                report.unnamed += 1
            elif redirect_of(page.text) is not None:
                report.redirects += 1
            elif _DISAMBIGUATION.search(page.text):
                report.disambiguations += 1
            else:
                missing.pop(page.title, None)
                yield page
    report.absent += missing


def raw_pages(path: FilePath, report: WikiReport | None = None) -> Iterator[tuple[int | None, RawPage]]:
    """The pages of a dump, or the one of a file of wikitext.

    Args:
        path: The file.
        report: Counts of what was replaced.

    Yields:
        The number of the namespace, None of a file of wikitext, and the page.

    Raises:
        InvalidInput: It is missing, damaged, or neither.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        try:
            head = xml_head(stream.peek(1024))
        except DAMAGE as error:
            raise damaged(error, path, 0) from error
    if head.startswith(("<mediawiki", "<?xml")):
        yield from _dumped(path, WikiReport() if report is None else report)
        return
    name = Path(where)
    if name.suffix in {".gz", ".bz2", ".zst"}:
        name = name.with_suffix("")
    if name.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"expected a dump (XML) or a page of wikitext ({', '.join(ENDINGS)})", where=where)
    yield None, RawPage(" ".join(name.stem.replace("_", " ").split()) or where, _text(path), None)


def _dumped(path: FilePath, report: WikiReport) -> Iterator[tuple[int | None, RawPage]]:
    lang: str | None = None
    found, read = False, report.read
    rejected = read.rejected
    for element in elements(path, read, "mediawiki", {"siteinfo", "page"}):
        if element.name == "siteinfo":
            name = _LANGUAGE.fullmatch(element.said("dbname"))
            lang = None if name is None else name[1].replace("simple", "en")
            continue
        found = True
        revisions = list(element.all("revision"))
        text = revisions[-1].first("text") if revisions else None
        title, number = " ".join(element.said("title").split()), element.said("ns") or "0"
        if not title or not number.lstrip("-").isdigit():
            problem = "expected a page with a title and the number of its namespace"
            read.refuse(InvalidInput(problem, where=os.fspath(path), line=element.line))
            continue
        shown = "" if text is None else text.text
        target = element.first("redirect")
        if target is not None:
            shown = f"#REDIRECT [[{target.attributes.get('title', title)}]]"
        yield int(number), RawPage(title, shown, lang)
    if not found and read.rejected == rejected:
        read.refuse(InvalidInput("the dump has no pages", where=os.fspath(path)))


def _text(path: FilePath) -> str:
    where = os.fspath(path)
    with opened(path) as stream:
        try:
            data = stream.read(LARGEST + 1)
        except DAMAGE as error:
            raise damaged(error, path, 0) from error
    if len(data) > LARGEST:
        raise InvalidInput(f"expected a page of at most {LARGEST >> 20} MiB, got a larger one", where=where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"byte {error.start:,} is not UTF-8; save the page as UTF-8", where=where) from None


def read_titles(path: FilePath) -> frozenset[str]:
    """Read titles of pages, one per line; underscores are spaces.

    Args:
        path: The file.

    Raises:
        InvalidInput: It is missing, damaged, not UTF-8 or empty.
    """
    return frozenset(" ".join(line.replace("_", " ").split()) for _, line in text_lines(path))


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

    split: Annotated[WikiSplit, Flag(metavar="UNIT", first=True)] = "paragraphs"
    min_words: Annotated[int, Flag(min=1, first=True)] = 10
    targets: Annotated[bool, Flag(first=True)] = False
    namespace: Annotated[tuple[int, ...], Flag(metavar="N", group="Pages")] = (0,)
    limit: Annotated[int | None, Flag(min=1, metavar="N", first=True)] = None
    titles: Annotated[str | None, Flag(metavar="FILE", group="Pages")] = None
    judgements: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    unjudged: Annotated[Unjudged, Flag(metavar="POLICY", group="Reading tables")] = "skip"
    on_error: Annotated[str, Flag(metavar="POLICY", group="Reading tables")] = "stop"


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
    check_output(out, inputs)
    if options.on_error == "skip":
        check_apart(rejected_file(out), inputs)
    if options.judgements is None and options.unjudged != "skip":
        raise UsageError("{unjudged} needs {grades}", unjudged=Setting("unjudged"), grades=Setting("judgements"))
    titles = None if options.titles is None else read_titles(options.titles)
    grades = None if options.judgements is None else read_grades(options.judgements)
    tally = Tally(together=grades is None)
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
        say_some(on_message, "found in no file", grades.missing, "judged passage")
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
        say_some(on_message, "found in no file", report.absent, "title")


IMPORTERS: Final = (
    Importer(
        "wikipedia",
        """Passages of Wikipedia with the texts of their links as anchors.

        A dump may be compressed with bzip2 or gzip; a file of wikitext is named by its title (.wiki, .mediawiki, .txt).

        Example: postil corpus import wikipedia simplewiki-latest-pages-articles.xml.bz2 --out passages.jsonl
        """,
        WikipediaOptions,
        import_wikipedia,
        ("FILES...", "Dumps (XML), or files of wikitext."),
        rows=Passage,
        place=1,
        job="Passages",
    ),
)
