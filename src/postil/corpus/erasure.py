"""Erasing comments from a corpus, for good: Parquet files, token arrays, words that nothing else uses, counts, card."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.finish import FIELDS
from postil.corpus.forgotten import Chosen, Erasure, is_placeholder, placeholder
from postil.corpus.result import CorpusMetadata, SplitSize, StatisticsResult
from postil.corpus.splits import SPLITS
from postil.corpus.statistics import statistics
from postil.corpus.store import METADATA, Corpus
from postil.data.artifacts import as_json, as_lines
from postil.data.atomic_file import FolderWriter
from postil.data.parquet import Arrow, arrow
from postil.errors import UsageError
from postil.text.tokenizers import stored_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.arrays import AnyArray

    Card = Callable[[CorpusMetadata, StatisticsResult], str]

__all__ = ["CorpusErasure", "erase_comments", "rows"]

COLUMNS: Final = ("comments", "held_out")
"""Columns of an article with comments; the token arrays have those of the first."""


@dataclass(slots=True)
class CorpusErasure:
    """The outcome of an erasure.

    Args:
        comments: Number of comments that were erased, held-out ones among them.
        articles: Number of articles that were erased.
        words: Words that nothing else in the corpus uses; placeholders stand in their places.
        files: Names of the files that were written anew or removed.
    """

    comments: int = 0
    articles: int = 0
    words: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def rows(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """All comments of a corpus, held-out ones too.

    Args:
        corpus: The corpus.

    Yields:
        Ids of the article and of the comment, and the comment.
    """
    for split in corpus.splits:
        for article in corpus.articles(split):
            for comment in (*article.comments, *(article.held_out or ())):
                yield article.id, comment.id, comment.text


def erase_comments(corpus: Corpus, chosen: Chosen, card: Card, *, dry_run: bool = False) -> CorpusErasure:
    """Erase comments and articles from a corpus, whose folder is replaced in one step where the system can.

    Other words keep their token ids; the order of words by frequency is that of before.

    Args:
        corpus: The corpus.
        chosen: The comments and articles; those that the corpus lacks are recorded, so that they stay out of models.
        card: Writes the dataset card.
        dry_run: True to change nothing.

    Raises:
        UsageError: No article of train would be left.
        InvalidInput: The corpus is damaged.
        PostilError: The operating system reports an error.
    """
    with FolderWriter(corpus.path, True) as part:  # noqa: FBT003 - the folder of the corpus
        part.wanted = not dry_run
        return _Rewriting(corpus, chosen, part).run(card)


class _Rewriting:
    """A corpus folder in the making, without some comments."""

    def __init__(self, corpus: Corpus, chosen: Chosen, part: FolderWriter) -> None:
        self._corpus, self._chosen, self._part = corpus, chosen, part
        self._found = CorpusErasure()
        self._used = np.zeros(corpus.metadata.words, dtype=bool)
        self._gone = np.zeros(corpus.metadata.words, dtype=np.int64)  # tokens of erased texts, by word
        self._train = np.zeros(corpus.metadata.words, dtype=np.int64)  # those of train
        self._held_out: list[tuple[str, bool]] = []  # texts without token arrays, and whether each is erased

    def run(self, card: Card) -> CorpusErasure:
        """Write the folder, but for what stays: that is linked."""
        found, corpus = self._found, self._corpus
        splits = {split: corpus.metadata.splits[split] for split in SPLITS}
        for split in corpus.splits:
            splits[split] = self._split(split)
        if not splits["train"].articles:
            raise UsageError(f"{corpus.path}: no article of train would be left; remove the folder instead")
        self._words()
        if self._train.any():
            self._array("counts", np.asarray(corpus.counts()) - self._train)
        seen = dict(corpus.metadata.seen)
        for what, number in (("articles", found.articles), ("comments", found.comments)):
            if number:
                seen[f"{what}: erased on request"] = seen.get(f"{what}: erased on request", 0) + number
        files = tuple(sorted({*found.files, METADATA, "README.md"}))
        record = Erasure(found.comments, found.articles, "", files, self._chosen.keys)
        metadata = msgspec.structs.replace(
            corpus.metadata, splits=splits, seen=seen, forgotten=(*corpus.metadata.forgotten, record)
        )
        self._link()
        self._part.write(METADATA, as_json(msgspec.to_builtins(metadata)))
        found_statistics = statistics(Corpus(self._part.part, metadata)).result()
        self._part.write("README.md", card(metadata, found_statistics).encode())
        found.files = list(files)
        return found

    def _split(self, split: str) -> SplitSize:
        """Write the files of a split that differ, and its token arrays."""
        articles: list[NDArray[np.bool_]] = []
        comments: list[NDArray[np.bool_]] = []
        tables: list[tuple[Path, Arrow | None]] = []
        for file in self._corpus.files(split):
            table = arrow().parquet.read_table(file)
            kept = np.array([name not in self._chosen.articles for name in table["id"].to_pylist()], dtype=bool)
            left, stays = self._left(table, kept)
            articles.append(kept)
            comments.append(stays)
            if kept.any():
                tables.append((file, left))
        names = set()
        for place, (file, left) in enumerate(tables):
            name = f"{split}-{place:05d}-of-{len(tables):05d}.parquet"
            names.add(name)
            if left is None:
                self._part.link(f"data/{name}", file)
            else:
                arrow().parquet.write_table(left, self._part.path(f"data/{name}"), compression="zstd")
            self._found.files += [f"data/{name}"] * (left is not None or name != file.name)
        self._found.files += [f"data/{file.name}" for file in self._corpus.files(split) if file.name not in names]
        kept, stays = np.concatenate(articles), np.concatenate(comments)
        self._found.articles += int(np.count_nonzero(~kept))
        self._tokens(split, kept, stays)
        return SplitSize(articles=int(kept.sum()), comments=int(stays.sum()), files=len(tables))

    def _left(self, table: Arrow, kept: NDArray[np.bool_]) -> tuple[Arrow | None, NDArray[np.bool_]]:
        """A table without what is erased, None if all stays; and which of its comments stay, bool[comments]."""
        pa, names = arrow(), table["id"].to_pylist()
        changed, stays = table, np.zeros(0, dtype=bool)
        for column in (name for name in COLUMNS if name in table.column_names):
            lists = table[column].combine_chunks()
            sizes = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            flat, owners = lists.flatten(), np.repeat(np.arange(len(names)), sizes)
            ids = flat.field("id").to_pylist()
            stay = np.array(
                [not self._chosen.has(names[owner], one) for owner, one in zip(owners.tolist(), ids, strict=True)],
                dtype=bool,
            )
            self._found.comments += int(np.count_nonzero(~stay))
            if column == COLUMNS[0]:
                stays = stay
            else:
                texts = flat.field("text").to_pylist()
                self._held_out += [(text, not one) for text, one in zip(texts, stay.tolist(), strict=True)]
            if not stay.all():
                offsets = np.append(0, np.cumsum(np.bincount(owners[stay], minlength=len(names)))).astype(np.int32)
                values = pa.ListArray.from_arrays(pa.array(offsets), flat.take(pa.array(stay.nonzero()[0])))
                place = changed.schema.get_field_index(column)
                changed = changed.set_column(place, changed.schema.field(place), values.cast(lists.type))
        if not kept.all():
            changed = changed.filter(pa.array(kept))
        return (None if changed is table else changed), stays

    def _tokens(self, split: str, kept: NDArray[np.bool_], stays: NDArray[np.bool_]) -> None:
        """Count the tokens that are erased, and write the token arrays of a split that differ."""
        corpus = self._corpus
        masks = {"title": kept, "content": kept, "comments": stays}
        for name in FIELDS:
            tokens = corpus.tokens(split, name)
            ids, offsets, mask = np.asarray(tokens.ids), np.asarray(tokens.offsets), masks[name]
            sizes = offsets[1:] - offsets[:-1]
            within = np.repeat(mask, sizes)
            gone = np.bincount(ids[~within], minlength=len(self._gone))
            self._gone += gone
            self._train += gone * (split == SPLITS[0])
            self._used |= np.bincount(ids[within], minlength=len(self._used)) > 0
            if not mask.all():
                self._array(f"tokens/{split}/{name}.ids", ids[within])
                self._array(f"tokens/{split}/{name}.offsets", np.append(0, np.cumsum(sizes[mask])).astype(np.int64))
        if not (kept.all() and stays.all()):
            number = np.append(0, np.cumsum(stays))[np.asarray(corpus.starts(split))]
            offsets = np.append(0, np.cumsum(np.diff(number)[kept])).astype(np.int64)
            self._array(f"tokens/{split}/articles", offsets)

    def _words(self) -> None:
        """Put placeholders in the place of words that nothing uses any more."""
        words = self._corpus.words()
        split = stored_tokenizer(self._corpus.tokenizer).split
        candidates = set(np.flatnonzero((self._gone > 0) & ~self._used).tolist())
        erased = {word for text, gone in self._held_out if gone for word in split(text)}
        if erased:
            places = {word: at for at, word in enumerate(words)}
            candidates |= {places[word] for word in erased if word in places and not self._used[places[word]]}
        candidates = {at for at in candidates if not is_placeholder(words[at])}
        if candidates:
            others = {word for text, gone in self._held_out if not gone for word in split(text)}
            candidates = {at for at in candidates if words[at] not in others}
        if not candidates:
            return
        self._found.words = [words[at] for at in sorted(candidates)]
        for at in candidates:
            words[at] = placeholder(at)
        self._part.write("words.txt", as_lines(words, "words.txt"))
        self._found.files.append("words.txt")

    def _link(self) -> None:
        """Take the other files as they are."""
        for file in sorted(self._corpus.path.rglob("*")):
            name = file.relative_to(self._corpus.path).as_posix()
            written = name.startswith("data/") or name in (METADATA, "README.md") or (self._part.part / name).exists()
            if file.is_file() and not written:
                self._part.link(name, file)

    def _array(self, name: str, values: AnyArray) -> None:
        self._part.array(name, values)
        self._found.files.append(f"{name}.npy")
