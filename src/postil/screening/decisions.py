"""Decisions of moderators as a screen keeps them: columns, hashes of ids, what was decided and why, and no text.

All that a fit and its evaluation read is here, so that a screen learns from further decisions, and is fitted again
without those that are to be forgotten, when the texts are no longer at hand.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from postil.corpus.forgotten import comment_key
from postil.data.fields import unix_seconds
from postil.screening.features import Counts, count_grams
from postil.screening.fit import DecidedTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.data.rows import Decision
    from postil.kernel.arrays import Booleans, Floats, Int64s

__all__ = ["ARRAYS", "NONE", "Decisions", "keys"]

NONE: Final = -1
"""Number of no reason, and of an unknown language."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """n decisions without their texts.

    Args:
        texts: The texts as columns.
        held: bool[n].
        reasons: Names of the reasons.
        reason: int16[n], the position of each, or `NONE`.
        languages: Languages.
        language: int16[n], the position of each, or `NONE`.
        dates: float64[n], seconds since 1970, UTC; NaN where unknown.
        lengths: int32[n], numbers of characters.
        author: uint64[n], hash of the author; 0 where unknown.
        text: uint64[n], hash of the text without case and white space.
        keys: uint8[n, 32], key of the comment and of its article, as records of erased comments name them.
    """

    texts: DecidedTexts
    held: Booleans
    reasons: tuple[str, ...]
    reason: NDArray[np.int16]
    languages: tuple[str, ...]
    language: NDArray[np.int16]
    dates: Floats
    lengths: NDArray[np.int32]
    author: NDArray[np.uint64]
    text: NDArray[np.uint64]
    keys: NDArray[np.uint8]

    @classmethod
    def of(cls, rows: Sequence[Decision], languages: Sequence[str | None], dense: NDArray[np.float32]) -> Self:
        """Those of rows.

        Args:
            rows: n rows.
            languages: Their languages.
            dense: float32[n, d], further columns of their texts.
        """
        given = [row.reason if row.decision == "hold" else None for row in rows]
        reasons = _names(given)
        known = _names(languages)
        return cls(
            texts=DecidedTexts(count_grams([row.text for row in rows]), dense),
            held=np.array([row.decision == "hold" for row in rows], bool),
            reasons=tuple(reasons),
            reason=np.array([NONE if why is None else reasons[why] for why in given], np.int16),
            languages=tuple(known),
            language=np.array([NONE if one is None else known[one] for one in languages], np.int16),
            dates=np.array([np.nan if row.date is None else unix_seconds(row.date) for row in rows], np.float64),
            lengths=np.array([len(row.text) for row in rows], np.int32),
            author=np.array([0 if row.author is None else _hashed(f"author {row.author}") for row in rows], np.uint64),
            text=np.array([_hashed(f"text {_plain(row.text)}") for row in rows], np.uint64),
            keys=keys(rows),
        )

    def __len__(self) -> int:
        return len(self.held)

    @property
    def clusters(self) -> Int64s:
        """Number of the author of each, from 0; of a text whose author is unknown that of its text: int64[n]."""
        owner = np.where(self.author > 0, self.author, self.text)
        return np.unique(owner, return_inverse=True)[1].astype(np.int64)

    def take(self, rows: Int64s) -> Self:
        """Some of the decisions.

        Args:
            rows: int64[k], their positions.
        """
        arrays = {name: getattr(self, name)[rows] for name in ARRAYS}
        return replace(self, texts=self.texts.take(rows), **arrays)

    def followed_by(self, later: Self) -> Self:
        """With later decisions, which stand in place of earlier ones on the same comments.

        Args:
            later: The later decisions.
        """
        reasons, languages = (
            tuple(dict.fromkeys((*mine, *theirs)))
            for mine, theirs in ((self.reasons, later.reasons), (self.languages, later.languages))
        )
        both = replace(
            self,
            texts=DecidedTexts(
                Counts.joined([self.texts.counts, later.texts.counts]),
                np.concatenate([self.texts.dense, later.texts.dense]),
            ),
            reasons=reasons,
            languages=languages,
            **{name: np.concatenate([getattr(self, name), getattr(later, name)]) for name in ARRAYS},
        )
        size = len(self)
        for values, names, mine in ((both.reason, later.reasons, reasons), (both.language, later.languages, languages)):
            table = np.array([*map(mine.index, names), NONE], np.int16)
            values[size:] = table[values[size:]]
        return both.take(both.last)

    @property
    def last(self) -> Int64s:
        """Positions of the last decision on each comment, ascending."""
        names = self.keys[:, :16].copy().view("V16")[:, 0]
        reverse = np.unique(names[::-1], return_index=True)[1]
        return np.sort(len(self) - 1 - reverse)

    def without(self, keys: frozenset[str]) -> Self:
        """Without comments and articles that were erased.

        Args:
            keys: Their keys; see `postil.corpus.forgotten.comment_key`.
        """
        if not keys:
            return self
        erased = np.array([bytes.fromhex(key) for key in sorted(keys)]).astype("V16")
        names = self.keys.copy().view("V16")
        return self.take(np.flatnonzero(~np.isin(names, erased).any(axis=1)))


ARRAYS: Final = ("held", "reason", "language", "dates", "lengths", "author", "text", "keys")
"""Names of the arrays with a row for each decision."""


def _names(values: Sequence[str | None]) -> dict[str, int]:
    """Distinct names with their positions, in ascending order."""
    return {name: at for at, name in enumerate(sorted({value for value in values if value is not None}))}


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()


def _hashed(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, person=b"postil-screen").digest()
    return int.from_bytes(digest) | 1


def keys(rows: Sequence[Decision]) -> NDArray[np.uint8]:
    """Keys of comments and of their articles, uint8[n, 32]; see `postil.corpus.forgotten.comment_key`.

    That of a comment without an id is of its text, and of which of its equals it is.

    Args:
        rows: n rows.
    """
    seen = Counter[tuple[object, str]]()
    found = bytearray()
    for row in rows:
        article, name = str(row.article or ""), str(row.id or "")
        if not name:
            text = _plain(row.text)
            seen[article, text] += 1
            name = f"{seen[article, text]} {text}"
        found += bytes.fromhex(comment_key(article, name) + comment_key(article))
    return np.frombuffer(bytes(found), np.uint8).reshape(len(rows), 32)
