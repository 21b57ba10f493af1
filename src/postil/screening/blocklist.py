"""Blocklists: words and phrases that no suggestion may contain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from postil.corpus.duplicates import pieces_of
from postil.data.streams import lines_in
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from typing import Self

    from postil.data.streams import FilePath

__all__ = ["Blocklist", "find_profanity"]


@dataclass(frozen=True)
class Blocklist:
    """Words and phrases that no suggestion may contain.

    An entry matches its words in sequence as whole words: ``ass`` is not in ``class``. In Chinese it matches wherever
    its characters occur. Other forms of a word are separate entries; there are no patterns.

    Args:
        entries: The words and phrases.

    >>> blocklist = Blocklist(("shut up", "傻逼"))
    >>> [blocklist.find(text) for text in ("Oh SHUT  UP!", "shutup", "他是个傻逼。", "你好傻，逼人太甚")]
    ['shut up', None, '傻逼', None]
    """

    entries: tuple[str, ...]
    _heads: dict[str, list[tuple[list[str], str]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        heads: dict[str, list[tuple[list[str], str]]] = {}
        for entry in self.entries:
            pieces = pieces_of(entry)
            if pieces:
                heads.setdefault(pieces[0], []).append((pieces, entry))
        object.__setattr__(self, "_heads", heads)

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a blocklist from a file.

        Args:
            path: One word or phrase per line, in UTF-8. Blank lines and lines that begin with ``#`` are ignored.

        Raises:
            InvalidInput: The file is missing or not UTF-8, or a line is too long.
        """
        entries = []
        try:
            with Path(path).open("rb") as stream:
                lines = chain.from_iterable(lines_in(stream, str(path)))
                # Some editors end lines with a carriage return alone.
                parts = chain.from_iterable(line.splitlines() or [b""] for line in lines)
                for number, line in enumerate(parts, 1):
                    entry = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if entry and not entry.startswith("#"):
                        entries.append(entry)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(path)) from error
        except UnicodeDecodeError as error:
            raise InvalidInput("not UTF-8; save the file as UTF-8", where=str(path), line=number) from error
        return cls(tuple(entries))

    def find(self, text: str) -> str | None:
        """Find the first entry that a text contains.

        Args:
            text: The text.
        """
        pieces = pieces_of(text)
        if self._heads.keys().isdisjoint(pieces):
            return None
        for at, piece in enumerate(pieces):
            for blocked, entry in self._heads.get(piece, ()):
                if pieces[at : at + len(blocked)] == blocked:
                    return entry
        return None


def find_profanity(text: str) -> str | None:
    """Find a word of profanity, a slur or an insult in English or Chinese.

    Args:
        text: The text.

    Returns:
        The entry of the lists of the package that it contains, or None.

    >>> find_profanity("What a SHITTY day"), find_profanity("Scunthorpe"), find_profanity("你这个白痴")
    ('shitty', None, '白痴')
    """
    found = _packaged("en").find(text)
    return _packaged("zh").find(text) if found is None and not text.isascii() else found


@cache
def _packaged(language: str) -> Blocklist:
    lines = files("postil.screening").joinpath(f"profanity.{language}.txt").read_text(encoding="utf-8").splitlines()
    return Blocklist(tuple(line for line in lines if line and not line.startswith("#")))
