"""Texts of passages: the rows of a table, or the passages of a document; and references with their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.data.row_files import PLAIN, read
from postil.data.rows import Passage
from postil.documents.document import FailedPage
from postil.documents.feed import FeedReport, is_feed
from postil.documents.passages import document_passages
from postil.documents.sources import SourceOptions, entries_of, has_rows, load, read_source
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.data.reading import Reading
    from postil.data.row_locations import Source
    from postil.documents.passages import PassageSplit

__all__ = ["graded_passages", "passages_of", "references_of", "rows_of"]


def rows_of(path: str, reading: Reading) -> list[Passage]:
    """Read a table of passage rows, also those with an empty text.

    Args:
        path: The table.
        reading: Options of reading it.

    Raises:
        InvalidInput: It cannot be read, or holds no passage.
    """
    rows = list(read(path, Passage, reading))
    if not any(row.text.strip() for row in rows):
        raise InvalidInput("expected passages, got none", where=path)
    return rows


def passages_of(path: str, split: PassageSplit = "paragraphs", reading: Reading = PLAIN) -> list[str]:
    """Read the passages of a page.

    Args:
        path: A table of passage rows, by its ending or a named format, else a document or a feed; see `read_source`.
        split: Unit of a document that is a passage.
        reading: Options of reading a table.

    Raises:
        UnknownName: There is no such way to split.
        InvalidInput: The file cannot be read, or holds no passage.
        MissingExtra: A reader of this format is not installed.
    """
    if has_rows(path, reading):
        return [row.text for row in rows_of(path, reading)]
    loaded, options = load(path), SourceOptions()
    found = entries_of(loaded, options) if is_feed(loaded.data) else [read_source(loaded, options)]
    documents = (each for each in found if not isinstance(each, FailedPage | FeedReport))
    texts = [each.text for document in documents for each in document_passages(document, split)]
    if not texts:
        raise InvalidInput("expected passages, got none", where=path)
    return texts


def references_of(
    path: str, split: PassageSplit = "paragraphs", reading: Reading = PLAIN
) -> tuple[list[str], list[float] | None]:
    """Read passages that people found interesting, with their weights where all of them have a grade.

    Args:
        path: As in `passages_of`. Rows with the grade 0 are ignored.
        split: As in `passages_of`.
        reading: As in `passages_of`.

    Returns:
        n texts, and n weights, the grades divided by the highest; None where a grade is missing.

    Raises:
        UnknownName, InvalidInput, MissingExtra: As `passages_of`, or a grade is negative or no grade is above 0.
    """
    if not has_rows(path, reading):
        return passages_of(path, split), None
    return graded_passages(read(path, Passage, reading))


def graded_passages(rows: Source[Passage]) -> tuple[list[str], list[float] | None]:
    """Select the passages that people found interesting, with their weights where all of them have a grade.

    Args:
        rows: Passages. Rows with the grade 0 are ignored.

    Returns:
        n texts, and n weights, the grades divided by the highest; None where a grade is missing.

    Raises:
        InvalidInput: A row is invalid, a grade is negative, or no grade is above 0.
    """
    graded: list[tuple[str, float | None]] = []
    for place, row in enumerate(rows):
        if row.grade is not None and row.grade < 0:
            raise rows.places.error(place, "grade", f"expected a number of at least 0, got {row.grade:g}")
        if row.grade != 0 and row.text.strip():
            graded.append((row.text, row.grade))
    if not graded:
        raise InvalidInput("expected passages with a grade above 0, got none", where=rows.places.where)
    grades = [grade for _, grade in graded if grade is not None]
    highest = max(grades, default=1.0)
    weights = [grade / highest for grade in grades] if len(grades) == len(graded) else None
    return [text for text, _ in graded], weights
