"""Vectors of texts from static vectors of their words or subwords, for cosines of articles and comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.encoders.static import WordEncoder
from postil.text.tokenizers import stored_tokenizer
from postil.text.tokens import Tokens, Vocabulary
from postil.text.vectors import summed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.encoders.base import Encoder

__all__ = ["OPENING", "TextVectors", "sentences"]

OPENING: Final = 80
"""Number of units (words or subwords) of an opening; about 60 words of English."""
SENTENCES: Final = 40
"""Most sentences of a text that are compared with a comment."""
SHORTEST: Final = 8
"""Fewest characters of a sentence."""
_ENDS: Final = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_LONGEST: Final = 100_000
"""Characters of a text that are split into sentences; none needs more for its first ones."""


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Unit vectors of texts: the sum of the vectors of their units, divided by its length.

    Args:
        encoder: Static vectors.
        tokenizer: Name of the tokenizer whose tokens they are looked up by, if they are of words.
        written: True to look words up as they stand first, where the vectors tell upper from lower case; models of
            earlier versions did not.
    """

    encoder: Encoder
    tokenizer: str
    written: bool = True

    @property
    def tells_case(self) -> bool:
        """True if the vectors are of words in upper and lower case."""
        return isinstance(self.encoder, WordEncoder) and self.encoder.vectors.cased

    def unit(self, texts: Sequence[str], longest: int | None = None) -> NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: n texts.
            longest: Number of units of each text that are read; None for all.

        Returns:
            float32[n, d], rounded to half precision, as models keep them; zeros for a text without a known unit.
        """
        encoded = self.encoder.encode(self._tokens(texts))
        rows, offsets = encoded.rows, encoded.offsets
        if longest is not None:
            sizes = np.diff(offsets)
            kept = np.arange(len(rows)) - np.repeat(offsets[:-1], sizes) < longest
            rows, offsets = rows[kept], np.concatenate([[0], np.cumsum(np.minimum(sizes, longest))])
        sums = summed_rows(encoded.vectors, rows, offsets)
        lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        found = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
        return np.asarray(found.astype(np.float16).astype(np.float32)[encoded.texts])

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        if self.encoder.reads_tokens:
            split = stored_tokenizer(self.tokenizer)
            return Vocabulary().encode(texts, split, allow_han=True, keep_texts=self.written)
        return Tokens(np.zeros(0, np.int32), np.zeros(len(texts) + 1, np.int64), Vocabulary(), texts)


def sentences(text: str) -> list[str]:
    r"""Split a text into sentences, at full stops, question and exclamation marks and line ends.

    Args:
        text: The text.

    Returns:
        The first 40 of at least 8 characters.

    >>> sentences("It rains again. Take a coat!\nNo. 今天下了一整天的雨。我没有带伞出门吗？")
    ['It rains again.', 'Take a coat!', '今天下了一整天的雨。', '我没有带伞出门吗？']
    """
    found = (part.strip() for part in _ENDS.split(text[:_LONGEST]))
    return [part for part in found if len(part) >= SHORTEST][:SENTENCES]
