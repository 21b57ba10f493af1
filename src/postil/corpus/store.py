"""A corpus on disk.

| file | content |
|---|---|
| ``README.md`` | dataset card: source, licence, options, splits |
| ``metadata.json`` | options, seed, hash of the inputs, number of excluded articles and comments by reason |
| ``data/SPLIT-00000-of-00003.parquet`` | articles with their comments |
| ``words.txt`` | one word per line, the most frequent of train first; line i has token id i |
| ``counts.npy`` | int64[words], frequencies in train |
| ``tokens/SPLIT/FIELD.ids.npy`` | int32[T], token ids of the titles, contents or comments, concatenated |
| ``tokens/SPLIT/FIELD.offsets.npy`` | int64[n + 1], offsets of the texts |
| ``tokens/SPLIT/articles.npy`` | int64[articles + 1], offsets of the comments of each article |

The arrays keep every word: a model with a vocabulary of V words takes token ids from V on for unknown words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from postil.corpus.result import CorpusMetadata
from postil.corpus.splits import SPLITS
from postil.data.arguments import check_arguments
from postil.data.arrays import WHOLE, Expected
from postil.data.artifacts import Artifact, ArtifactKind
from postil.data.row_files import read
from postil.data.rows import Article
from postil.errors import InvalidInput, UnknownName
from postil.text.tokens import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from postil.data.streams import FilePath

__all__ = ["FORMAT", "METADATA", "Corpus", "Field"]

FORMAT: Final = 2
"""Version of the corpus folder."""
METADATA: Final = "metadata.json"
FOLDER: Final = ArtifactKind("a corpus", METADATA, FORMAT, "postil corpus build", ("corpus",))

Field = Literal["title", "content", "comments"]


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus that was built.

    Args:
        path: Its folder.
        metadata: The outcome of its build.
    """

    path: Path
    metadata: CorpusMetadata

    @classmethod
    def open(cls, path: FilePath) -> Corpus:
        """Open a corpus.

        Args:
            path: Its folder.

        Raises:
            InvalidInput: There is no corpus, or one of another version.
        """
        check_arguments(cls.open, locals())
        found = FOLDER.open(path)
        return cls(found.path, found.read(METADATA, CorpusMetadata))

    @cached_property
    def _files(self) -> Artifact:
        return Artifact(self.path, {}, FOLDER.remake, METADATA)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have articles."""
        return tuple(split for split in SPLITS if self.metadata.splits[split].articles)

    @property
    def tokenizer(self) -> str:
        """Name of the tokenizer of its texts, for `postil.text.tokenizers.stored_tokenizer`."""
        asked = str(self.metadata.options["tokenizer"])
        return self.metadata.tokenizer if asked == "words" else asked  # the rule of its time

    @property
    def vocab_size(self) -> int:
        """Number of words that models know by default, the most frequent ones."""
        return msgspec.convert(self.metadata.options["vocab_size"], int)

    def files(self, split: str) -> list[Path]:
        """The Parquet files of a split.

        Args:
            split: ``train``, ``dev`` or ``test``.

        Raises:
            UnknownName: The corpus has no such split.
            InvalidInput: Some are missing.
        """
        UnknownName.check("split", split, self.splits)
        found = sorted((self.path / "data").glob(f"{split}-*.parquet"))
        expected = self.metadata.splits[split].files
        if len(found) != expected:
            problem = f"expected {expected} files {split}-*.parquet, got {len(found)}; {WHOLE}"
            raise InvalidInput(problem, where=str(self.path / "data"))
        return found

    def articles(self, split: str) -> Iterator[Article]:
        """The articles of a split, one after the other.

        Args:
            split: ``train``, ``dev`` or ``test``.
        """
        for file in self.files(split):
            yield from read(file, Article)

    def words(self) -> list[str]:
        """The words of the corpus, by token id.

        Raises:
            InvalidInput: The file is missing or damaged.
        """
        return self._files.lines("words.txt", self.metadata.words)

    def counts(self) -> NDArray[np.int64]:
        """Frequency of each word in train, int64[words], descending."""
        return self._files.array("counts", Expected("int64", (self.metadata.words,), low=0))

    def tokens(self, split: str, field: Field) -> Ragged:
        """Token ids of the texts of a split, memory-mapped.

        Args:
            split: ``train``, ``dev`` or ``test``.
            field: The texts; comments are those of all articles, concatenated.

        Raises:
            UnknownName: The corpus has no such split.
            InvalidInput: A file is missing or damaged.
        """
        UnknownName.check("split", split, self.splits)
        folder = f"tokens/{split}/{field}"
        texts = int(self.starts(split)[-1]) if field == "comments" else len(self.starts(split)) - 1
        ids = self._files.array(f"{folder}.ids", Expected("int32", low=0, high=self.metadata.words - 1))
        return Ragged(ids, self._files.array(f"{folder}.offsets", Expected("int64", (texts + 1,), end=len(ids))))

    def starts(self, split: str) -> NDArray[np.int64]:
        """Offsets of the comments of each article, int64[articles + 1].

        Args:
            split: ``train``, ``dev`` or ``test``.

        Raises:
            UnknownName: The corpus has no such split.
            InvalidInput: The file is missing or damaged.
        """
        UnknownName.check("split", split, self.splits)
        size = self.metadata.splits[split]
        return self._files.array(f"tokens/{split}/articles", Expected("int64", (size.articles + 1,), end=size.comments))
