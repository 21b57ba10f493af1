"""`postil interesting`: the passages that readers should see first, with the reasons, of a page or of several."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

from postil.data.arguments import check_arguments, options_of
from postil.data.atomic_file import check_apart, write_file, writing
from postil.data.options import TableInputOptions
from postil.data.progress import OnMessage, progress
from postil.data.row_files import check_standard_input
from postil.data.rows import Passage
from postil.documents.document import Document, FailedPage
from postil.documents.feed import FeedReport
from postil.documents.furniture import ends_sentence
from postil.documents.reading import Loaded, documents_of, entries_of, is_address, is_folder, read_source
from postil.errors import InvalidInput, UsageError
from postil.interest.highlights import index_page, passages_page
from postil.interest.options import Goal, InterestingOptions
from postil.interest.ranking import Page, Ranker, open_page
from postil.interest.result import InterestingPagesResult, InterestingResult, PageSummary
from postil.messages import Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.data.streams import FilePath
    from postil.keywords import InterestingKeywords

__all__ = ["highlight", "interesting", "rank_sources"]


def interesting(
    source: FilePath | None = None,
    options: InterestingOptions | None = None,
    *,
    text: str | None = None,
    **keywords: Unpack[InterestingKeywords],
) -> InterestingResult:
    r"""Rank the passages of a document: HTML, PDF, Markdown, wikitext or plain text; or of a table of passages.

    Args:
        source: A file; an http or https address, which is fetched; ``-`` for standard input; or a text: a string that
            no file is called, with several lines or with the end mark of a sentence at its end.
        options: Options.
        text: A text, whatever it looks like, in place of a source: plain text, HTML, or what the option ``kind`` says.
        keywords: Fields of the options, in place of an object.

    Returns:
        The best passages, with the document where there is one; `postil.highlight` shows them in it.

    Raises:
        InvalidInput: The document or the reference cannot be read, or holds no passage.
        UnknownName, UsageError: A name does not exist, or options contradict each other.
        MissingExtra: A reader of this format is not installed.

    >>> best, *_ = interesting("Boats wait here all day. The oldest lock of Ely never froze.", lang="en").passages
    >>> best.text, [each.unit for each in best.reasons[:2]]
    ('The oldest lock of Ely never froze.', ['superlative: oldest', 'never'])
    """
    check_arguments(interesting, locals())
    options = options_of(InterestingOptions, options, keywords)
    if (source is None) == (text is None):
        raise UsageError(f"expected either source or text, got {'neither' if text is None else 'both'}")
    if source is not None and _is_text(source):
        text = str(source)
    if source is None or text is not None:
        written = Loaded(f"{text}".encode("utf-8", "backslashreplace"), "text")
        return Ranker.open(options).rank(Page.of_document(read_source(written, options), options))
    name = os.fspath(source)
    if name == options.reference == "-":
        raise UsageError("only one of the files can be standard input")
    page = open_page(name, options)
    if isinstance(page, Loaded):
        raise UsageError(f"{name}: expected one document, got a feed; name one of its pages")
    return Ranker.open(options).rank(page)


def _is_text(source: FilePath) -> bool:
    """True for a text in place of the name of a file: it looks like one, and no file is called so.

    Raises:
        InvalidInput: It is neither, although it has several words.
    """
    words = source.strip() if isinstance(source, str) else ""
    several = len(words.split()) > 1
    looks = "\n" in words or (ends_sentence(words) and (several or not words.isascii()))
    if not (looks or several):
        return False
    try:
        if Path(source).exists():
            return False
    except (OSError, ValueError):  # a name that no file can have
        pass
    if not looks:
        raise InvalidInput("no such file; a text of one line goes in as text=…", where=words)
    return True


INDEX: Final = "index.html"
NAME: Final = 40
"""Largest number of characters of the title in the name of a file."""


def rank_sources(
    sources: Sequence[str],
    options: InterestingOptions,
    *,
    page: str | None = None,
    pages: str | None = None,
    inputs: TableInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> InterestingResult | InterestingPagesResult:
    """Rank the passages of whatever a command names.

    Args:
        sources: Documents, addresses, folders and feeds; or one table of passage rows.
        options: Options.
        page: File for the highlighted page of one document.
        pages: Folder for the highlighted page of each document, and their index.
        inputs: Options of reading tables.
        on_message: Callback for status messages.

    Returns:
        The result of one document, or that of several.

    Raises:
        UsageError: Standard input is named twice, a page is asked for of what is no document or of several, or would
            replace what is read.
        InvalidInput: One document cannot be read or has no passage; of several, all of them.
        PostilError: The operating system reports an error.
    """
    files = [source for source in sources if not is_address(source)]
    check_standard_input(*files, options.reference)
    if page == "-":
        raise UsageError("{page}: expected a file, got standard output, which has the table", page=Setting("page"))
    named = (options.reference, options.model, options.vectors)
    for out in (page, pages):
        if out is not None:
            check_apart(out, [*files, *(each for each in named if each is not None)])
    reading = (inputs or TableInputOptions()).readings({"passages": Passage, "reference": Passage}, on_message)
    ranker = Ranker.open(options, reading["reference"])
    documents: Iterable[Document | FailedPage | FeedReport]
    if len(sources) > 1 or is_folder(sources[0]):
        documents = documents_of(sources, options)
    else:
        opened = open_page(sources[0], options, reading["passages"])
        if isinstance(opened, Loaded):
            documents = entries_of(opened, options)
        elif opened.document is None and (page or pages):
            raise UsageError(
                "{source}: rows of passages are no document that could be shown; leave {page} out",
                source=sources[0],
                page=Setting("page"),
            )
        elif opened.document is None or pages is None:
            result = ranker.rank(opened)
            if page is not None:
                highlight(result, page)
            return result
        else:
            documents = [opened.document]
    if page is not None:
        pages_of = Setting("pages", Blank("DIR"))
        raise UsageError("{page} is for one document; take {pages} for several", page=Setting("page"), pages=pages_of)
    return _rank_pages(documents, ranker, pages)


def _rank_pages(
    documents: Iterable[Document | FailedPage | FeedReport], ranker: Ranker, folder: str | None = None
) -> InterestingPagesResult:
    """Rank the passages of each document, one document at a time.

    Args:
        documents: Documents, those that could not be read, and what was met in feeds.
        ranker: The way of ranking.
        folder: Folder for a highlighted page of each, and ``index.html`` with the best passages of all; made if it is
            not there. None to write none.

    Returns:
        The best passages of each page, and the pages that failed.

    Raises:
        InvalidInput: No document has a passage.
        PostilError: The operating system reports an error.
    """
    if folder is not None:
        with writing(folder):
            Path(folder).mkdir(exist_ok=True)
    pages: list[PageSummary] = []
    failed: list[FailedPage] = []
    notes: list[str] = []
    ways: dict[tuple[str, Goal | None, str], None] = {}
    with progress("pages", documents) as each:
        for document in each:
            if isinstance(document, FeedReport):
                notes += _feed_notes(document)
                continue
            if isinstance(document, FailedPage):
                failed.append(document)
                continue
            try:
                found = ranker.rank(Page.of_document(document, ranker.options))
            except InvalidInput as error:
                failed.append(FailedPage(source=document.source, problem=error.problem))
                continue
            file = None
            if folder is not None:
                file = _file_name(len(pages) + 1, document)
                write_file(Path(folder, file), passages_page(found, INDEX).encode("utf-8", "replace"))
            pages.append(
                PageSummary(
                    source=document.source,
                    passages=found.passages,
                    title=document.title,
                    url=document.url,
                    date=document.date,
                    lang=found.lang,
                    file=file,
                    notes=found.notes,
                )
            )
            ways[found.measure, found.goal, found.signature] = None
    if not ways:
        expected = "expected documents with passages, got none"
        if not failed:
            raise InvalidInput(expected)
        first = failed[0]
        raise InvalidInput(
            Message("{expected}; {source}: {problem}", expected=expected, source=first.source, problem=first.problem)
        )
    measures, goals, signatures = (list(dict.fromkeys(each)) for each in zip(*ways, strict=True))
    result = InterestingPagesResult(
        measure=" or ".join(measures),  # pages in several languages have several
        pages=tuple(pages),
        failed=tuple(failed),
        goal=goals[0] if len(goals) == 1 else None,
        signature=" or ".join(signatures),
        notes=tuple(notes),
    )
    if folder is not None:
        write_file(Path(folder, INDEX), index_page(result).encode("utf-8", "replace"))
    return result


def highlight(result: InterestingResult, path: FilePath) -> Path:
    """Write the page of a document with its best passages highlighted, as one HTML file.

    Args:
        result: The passages, as `postil.interesting` ranks them.
        path: The file; one that is there is replaced.

    Returns:
        The file. It opens from disk, and asks the network for nothing.

    Raises:
        UsageError: The result is of rows of passages, which are no document; or the folder of the file is missing.
        PostilError: The operating system reports an error.
    """
    check_arguments(highlight, locals())
    if "\0" in os.fspath(path):
        raise UsageError("path: expected the name of a file, got one with a null character")
    write_file(path, passages_page(result).encode("utf-8", "replace"))
    return Path(path)


def _feed_notes(feed: FeedReport) -> Iterator[str]:
    """Remarks on how a feed was read."""
    if feed.cut_off:
        yield f"{feed.source}: the feed is cut off; its last entry is {feed.entries:,}, and may not be whole"
    if feed.unread:
        yield f"{feed.source}: entries that are not read, for tags of the feed do not match: {feed.unread:,}"
    if feed.encoding:
        said = f"says {feed.declared}" if feed.declared else "says no encoding and is not UTF-8"
        yield f"{feed.source}: the feed {said}; read as {feed.encoding}"
    if feed.replaced:
        what = "characters forbidden in XML, or bytes that are not of the feed's encoding, replaced by U+FFFD"
        yield f"{feed.source}: {what}: {feed.replaced:,}"


def _file_name(number: int, document: Document) -> str:
    """Name of a page's file: its number, and its title in letters that every file system takes."""
    title = document.title or Path(document.source).stem
    words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:NAME].strip("-")
    return f"{number:03}{'-' * bool(words)}{words}.html"
