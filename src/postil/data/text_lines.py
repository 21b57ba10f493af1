"""Files of one text per line, as machine translation keeps them: line i of each file belongs to item i."""

from __future__ import annotations

import csv
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from postil.data.decoding import DecodedText
from postil.data.delimited import DELIMITERS, MOST_ROWS
from postil.data.streams import DAMAGE, damaged, opened
from postil.data.synonyms import ROW, other_names
from postil.errors import InvalidInput, PostilError

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator, Sequence

    from postil.data.reading import Reading
    from postil.data.rows import Row

__all__ = ["TextLines", "holds_texts"]

BATCH: Final = 4096


class TextLines:
    r"""A table of one column of texts, the lines of a file; an empty line is an empty text, as in sacreBLEU.

    Args:
        stream: The file, open for bytes.
        where: Its name.
        encoding: Its encoding; by default UTF-8, and if it is not, detected.

    Raises:
        UsageError: There is no such encoding.

    >>> import io
    >>> table = TextLines(io.BufferedReader(io.BytesIO(b"Rain, all day.\n\nNo bus.\n")), "out.txt")
    >>> [(list(lines), rows) for lines, rows in table.rows()]
    [([1, 2, 3], [['Rain, all day.'], [''], ['No bus.']])]
    """

    texts = False
    decimal_commas = False
    apostrophes = False
    line = 0

    def __init__(self, stream: io.BufferedReader, where: str, encoding: str | None = None) -> None:
        self.where, self.names, self.detected = where, ["text"], " as one text per line"
        self._text = DecodedText(stream, where, encoding, self._read_as, table=False)

    def _read_as(self, encoding: str) -> None:
        self.detected = f"{encoding}, one text per line"

    def rows(self) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Read the rows in batches.

        Yields:
            The number of each line, counted from 1, and the rows, each a list of its text.

        Raises:
            InvalidInput: The file is empty, damaged, or not in its encoding; says where.
        """
        done = 0
        try:
            for piece in self._text.pieces():
                lines = piece.removesuffix("\n").split("\n")
                for begin in range(0, len(lines), BATCH):
                    texts = [text.removesuffix("\r") for text in lines[begin : begin + BATCH]]
                    self._check(texts, done + 1)
                    yield range(done + 1, done + 1 + len(texts)), [[text] for text in texts]
                    done += len(texts)
        except UnicodeError as error:
            raise InvalidInput(self._text.not_encoded(error), where=self.where, line=done + 1) from None
        except DAMAGE as error:
            raise damaged(error, self.where, done) from error
        if not done:
            raise InvalidInput("the file is empty; expected one text per line", where=self.where)

    def _check(self, texts: list[str], first: int) -> None:
        for line, text in enumerate(texts if self._text.suspect else (), first):
            if problem := self._text.undecoded([text]):
                raise InvalidInput(problem, where=self.where, line=line)


def holds_texts(path: str, row_type: type[Row], reading: Reading) -> bool:
    """True if a file of text has a text per line, rather than a table whose columns have names.

    A table has a tab in its first line, or one of the first lines consists of names, of which a row needs one or more.
    Of 8,000 files of 20 titles, articles and comments each, in English and Chinese, one was taken for something else,
    and refused as JSON: its first line is ``[ [ [``.

    Args:
        path: The file.
        row_type: The rows to make.
        reading: Options of reading it; with columns that are named, it is a table.
    """
    if any(column != ROW for column in reading.names.values()) or reading.delimiter or not reading.quotes:
        return False
    wanted = {*other_names(row_type), *reading.wanted(row_type).names}
    with suppress(PostilError, UnicodeError, *DAMAGE), opened(path) as stream:
        text = DecodedText(stream, path, reading.encoding, lambda _: None)
        piece = next(text.pieces(), "")
        lines = list(islice(filter(str.strip, piece.split("\n")), MOST_ROWS))
        return not ("\t" in "".join(lines[:1]) or any(_names(line, wanted) for line in lines))
    return False


def _names(line: str, wanted: set[str]) -> bool:
    """True if a line is the head of a table."""
    for between in DELIMITERS:
        with suppress(csv.Error):
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=between))]
            known = sum(cell.casefold() in wanted for cell in cells)
            if known > 1 or (known and not any(" " in cell for cell in cells)):
                return True
    return False
