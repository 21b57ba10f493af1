"""Pages whose passages are ranked together: a document's, or the rows of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from postil.data.options import TableInputOptions
from postil.data.row_files import PLAIN
from postil.data.rows import Passage
from postil.documents.feed import is_feed
from postil.documents.passages import DocumentPassage, document_passages
from postil.documents.sources import Loaded, has_rows, load, read_source
from postil.passages.texts import rows_of
from postil.text.languages import detect_language

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from postil.data.progress import OnMessage
    from postil.data.reading import Reading
    from postil.documents.document import Document
    from postil.interest.options import InterestingOptions

__all__ = ["Page", "open_page", "readings"]


def readings(inputs: TableInputOptions | None, on_message: OnMessage) -> dict[str, Reading]:
    """Options of reading tables of passages, and of a reference.

    Args:
        inputs: Options of the command.
        on_message: Callback for status messages.
    """
    return (inputs or TableInputOptions()).readings({"passages": Passage, "reference": Passage}, on_message)


def open_page(source: str, options: InterestingOptions, reading: Reading = PLAIN) -> Page | Loaded:
    """Open what a user names.

    Args:
        source: A file, an address, or ``-`` for standard input.
        options: Options.
        reading: Options of reading a table.

    Returns:
        The page; or the feed, as it was loaded.

    Raises:
        InvalidInput, MissingExtra: It cannot be read.
    """
    if has_rows(source, reading):
        return Page.of_rows(rows_of(source, reading), source, options)
    loaded = load(source)
    if options.kind is None and is_feed(loaded.data):
        return loaded
    return Page.of_document(read_source(loaded, options), options)


@dataclass(frozen=True, slots=True)
class Page:
    """Passages that are ranked together.

    Args:
        passages: The passages.
        source: The name of the page, for messages.
        lang: Its language as ISO 639-1 has it; None where it is not known.
        document: The document that they are of; None of rows.
        notes: Remarks on how they were read.
    """

    passages: Sequence[DocumentPassage]
    source: str
    lang: str | None = None
    document: Document | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_document(cls, document: Document, options: InterestingOptions) -> Self:
        """Take the passages of a document.

        Args:
            document: The document.
            options: Its language, and the unit of text that is a passage.
        """
        lang = _language(document.text, document.lang, options)
        return cls(document_passages(document, options.split, lang), document.source, lang, document, document.notes)

    @classmethod
    def of_rows(cls, rows: Sequence[Passage], source: str, options: InterestingOptions) -> Self:
        """Take rows for the passages of one page.

        Args:
            rows: The rows.
            source: The name of the page.
            options: Its language.
        """
        passages = [DocumentPassage(row.text, 0, 0, 0, None, fragment=False) for row in rows]
        lang = _language("\n".join(row.text for row in rows), None, options)
        topics = len({row.topic for row in rows})
        notes = (f"rows of {topics:,} topics, ranked together as those of one page",) if topics > 1 else ()
        return cls(passages, source, lang, notes=notes)


def _language(text: str, said: str | None, options: InterestingOptions) -> str | None:
    """The language of a page: as the user says, as its words are, or as it says itself."""
    if options.lang is not None:
        return _primary(options.lang)
    return detect_language(text) or (None if said is None else _primary(said))


def _primary(tag: str) -> str:
    """The language of a tag: ``en`` of ``en-GB``."""
    return re.split("[-_]", tag.strip().lower())[0]
