"""Texts of passages: the rows of a table, or the passages of a document; and references with their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.app.sources import SourceOptions, load, read_source
from postil.documents.passages import document_passages
from postil.errors import InvalidInput
from postil.records.row_files import FORMATS, PLAIN, read
from postil.records.rows import Passage

if TYPE_CHECKING:
    from postil.documents.passages import PassageSplit
    from postil.records.reading import Reading
    from postil.records.row_locations import Source

__all__ = ["graded_passages", "has_rows", "passages_of", "references_of", "row_texts"]


def row_texts(path: str, reading: Reading) -> list[str]:
    """Read the texts of a table of passage rows; empty ones are left out.

    Args:
        path: The table.
        reading: Options of reading it.

    Raises:
        InvalidInput: It cannot be read, or holds no passage.
    """
    texts = [row.text for row in read(path, Passage, reading) if row.text.strip()]
    if not texts:
        raise InvalidInput("expected passages, got none", where=path)
    return texts


def passages_of(path: str, split: PassageSplit = "paragraphs", reading: Reading = PLAIN) -> list[str]:
    """Read the passages of a page.

    Args:
        path: A table of passage rows, by its ending or a named format, else a document; see `read_source`.
        split: Unit of a document that is a passage.
        reading: Options of reading a table.

    Raises:
        UnknownName: There is no such way to split.
        InvalidInput: The file cannot be read, or holds no passage.
        MissingExtra: A reader of this format is not installed.
    """
    if has_rows(path, reading):
        return row_texts(path, reading)
    texts = [each.text for each in document_passages(read_source(load(path), SourceOptions()), split)]
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


def has_rows(path: str, reading: Reading) -> bool:
    """True if a page is a table; a .txt file, or standard input, only where its format is named.

    Args:
        path: The file.
        reading: Options of reading a table.
    """
    if reading.format is not None:
        return True
    bare = path.lower().removesuffix(".gz").removesuffix(".zst")
    return path != "-" and bare.endswith(tuple(set(FORMATS) - {".txt"}))
