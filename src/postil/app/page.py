"""Passages of a page, and reference passages, from files."""

from __future__ import annotations

import re
import sys
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from postil.errors import InvalidInput, UnknownName
from postil.records.row_files import FORMATS, PLAIN, read
from postil.records.rows import Passage
from postil.text.sentences import sentence_bounds

if TYPE_CHECKING:
    from postil.records.reading import Reading
    from postil.records.row_locations import Source

__all__ = ["Split", "TextPassage", "graded_passages", "passages_in", "passages_of", "references_of"]

Split: TypeAlias = Literal["paragraphs", "sentences", "lines"]
"""Unit of a plain text that is a passage."""

BLOCK: Final = 1 << 16
LONGEST: Final = 1 << 26
"""Largest page in bytes; it is read as a whole."""

_BLANK_LINES: Final = re.compile(r"\n\s*\n")


class TextPassage(NamedTuple):
    """A passage of a text.

    Args:
        text: The passage, with single spaces.
        start: Index of its first character in the text.
        end: Index after its last character.
    """

    text: str
    start: int
    end: int


def passages_in(text: str, split: Split = "paragraphs") -> list[TextPassage]:
    r"""Split a text into passages.

    Args:
        text: The text.
        split: As in `passages_of`.

    >>> passages_in("One.  Two\nmore.\n\n Three.", "sentences")[1:]
    [TextPassage(text='Two more.', start=6, end=15), TextPassage(text='Three.', start=18, end=24)]
    """
    if split == "lines":
        bounds = list(pairwise([0, *accumulate(map(len, text.splitlines(keepends=True)))]))
    elif split == "sentences":
        bounds = sentence_bounds(text)
    else:
        places = [0, *(place for one in _BLANK_LINES.finditer(text) for place in one.span()), len(text)]
        bounds = list(zip(places[::2], places[1::2], strict=True))
    found = []
    for begin, end in bounds:
        block = text[begin:end]
        if plain := " ".join(block.split()):
            start = begin + len(block) - len(block.lstrip())
            found.append(TextPassage(plain, start, begin + len(block.rstrip())))
    return found


def passages_of(path: str, split: Split = "paragraphs", reading: Reading = PLAIN) -> list[str]:
    """Read the passages of a page.

    Args:
        path: A table of passage rows, by its ending or a named format, else plain text in UTF-8; `-` for plain text on
            standard input.
        split: Unit of a plain text that is a passage. Sentences are those of `sentence_bounds`.
        reading: Options of reading a table.

    Raises:
        UnknownName: There is no such way to split.
        InvalidInput: The file cannot be read, is no UTF-8, or holds no passage.
    """
    if split not in get_args(Split):
        raise UnknownName("way to split", split, get_args(Split))
    if _has_rows(path, reading):
        found = [row.text for row in read(path, Passage, reading)]
    else:
        data = _whole(sys.stdin.buffer, path) if path == "-" else _bytes(path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InvalidInput("expected UTF-8, got something else", where=path, line=line) from None
        found = [passage.text for passage in passages_in(text, split)]
    found = [passage for passage in found if passage.strip()]
    if not found:
        raise InvalidInput("expected passages, got none", where=path)
    return found


def references_of(
    path: str, split: Split = "paragraphs", reading: Reading = PLAIN
) -> tuple[list[str], list[float] | None]:
    """Read passages that people found interesting, with their weights where all of them have a grade.

    Args:
        path: As in `passages_of`. Rows with the grade 0 are ignored.
        split: As in `passages_of`.
        reading: As in `passages_of`.

    Returns:
        n texts, and n weights, the grades divided by the highest; None where a grade is missing.

    Raises:
        UnknownName, InvalidInput: As `passages_of`, or a grade is negative or no grade is above 0.
    """
    if not _has_rows(path, reading):
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


def _has_rows(path: str, reading: Reading) -> bool:
    """True if a page is a table; a .txt file, or standard input, only where its format is named."""
    if reading.format is not None:
        return True
    bare = path.lower().removesuffix(".gz").removesuffix(".zst")
    return path != "-" and bare.endswith(tuple(set(FORMATS) - {".txt"}))


def _whole(stream: IO[bytes], path: str) -> bytes:
    pieces, size = list[bytes](), 0
    while data := stream.read(BLOCK):
        pieces.append(data)
        size += len(data)
        if size > LONGEST:
            line = sum(piece.count(b"\n") for piece in pieces)
            problem = f"expected a text of at most {LONGEST:,} bytes, got a longer one; give passage rows, in .jsonl"
            raise InvalidInput(problem, where=path, line=line + 1)
    return b"".join(pieces)


def _bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as stream:
            return _whole(stream, path)
    except FileNotFoundError:
        raise InvalidInput("no such file", where=path) from None
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", where=path) from None
