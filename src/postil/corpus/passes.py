"""The passes of a build over its blocks: prepare, gather, count, finish, assemble."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections import Counter, deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import numpy as np

from postil.corpus.blocks import annotator_id, blocks, open_block_table, report_in, words_in
from postil.corpus.duplicates import BINS
from postil.corpus.finish import FIELDS, Count, Finish, Part
from postil.corpus.prepare import Prepare, check_scripts
from postil.corpus.privacy import pseudonyms
from postil.corpus.result import CorpusInput, SplitSize
from postil.corpus.splits import SPLITS, UNASSIGNED, UNDATED, Articles
from postil.corpus.thresholds import article_thresholds
from postil.data.fields import unix_seconds
from postil.data.parquet import arrow
from postil.data.row_files import PLAIN
from postil.errors import InvalidInput
from postil.messages import Message, Setting
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.corpus.blocks import Block
    from postil.corpus.build import BuildDirectory
    from postil.corpus.finish import Finished
    from postil.corpus.options import BuildOptions
    from postil.corpus.rated_comments import RatedComments
    from postil.corpus.result import Rejected
    from postil.data.arrays import AnyArray
    from postil.data.parquet import Arrow
    from postil.data.reading import Reading
    from postil.data.row_files import FilePath
    from postil.engine import Engine

__all__ = ["OnProgress", "Passes", "Source"]

T = TypeVar("T")
GROUP: Final = 4
"""Number of block tables per shard."""
ARTICLES: Final = "articles"
GATHERED: Final = ("key", "line", "long", "with_text", "too_long", "words", "left", "said", "upvotes", "dated")
"""Columns of block tables that split assignment needs of all articles."""


@dataclass(frozen=True)
class Source:
    """A file of article rows.

    Args:
        path: The file, or ``-`` for standard input.
        split: The split that its articles belong to; None where they are to be split.
        reading: Options of reading it.
    """

    path: FilePath
    split: str | None = None
    reading: Reading = PLAIN


class OnProgress(Protocol):
    """Progress callback; yields the things it is given."""

    def __call__(self, what: str, things: Iterable[T], total: int | None = None) -> AbstractContextManager[Iterator[T]]:
        """Yield the things while progress is shown."""


class Passes:
    """The passes of a build, in the order in which they are made.

    Args:
        work: The build directory.
        options: Options of the build.
        engine: Engine that runs the work.
        on_progress: Shows progress.
        rated: Ratings of comments from another file.

    Attributes:
        numbered: True if ratings are numbered by position, so that annotators cannot be told apart.
    """

    def __init__(
        self,
        work: BuildDirectory,
        options: BuildOptions,
        engine: Engine,
        on_progress: OnProgress,
        rated: RatedComments | None = None,
    ) -> None:
        self._work, self._rated = work, rated
        self._options = options
        self._engine = engine
        self._on_progress = on_progress
        self._blocks: list[tuple[str, str | None]] = []  # the file of each block, and its split
        self._annotators: Mapping[str, str] | None = None
        self.numbered = False

    def prepare(self, sources: Sequence[Source]) -> list[CorpusInput]:
        """Read, clean and tokenize every block; returns the inputs."""
        inputs: list[CorpusInput] = []
        pending: deque[Path] = deque()

        def unprepared() -> Iterator[Block]:
            for source in sources:
                digest, size = hashlib.blake2b(digest_size=16), 0
                for block in blocks(source.path, source.split, reading=source.reading):
                    digest.update(block.data)
                    size += len(block.data)
                    step = self._work.step("prepared", len(self._blocks))
                    self._blocks.append((block.where, block.split))
                    if not step.exists():
                        pending.append(step)
                        yield block
                name = os.path.basename(os.fspath(source.path))  # noqa: PTH119 - "-" is no path
                inputs.append(CorpusInput(name=name, split=source.split, bytes=size, blake2b=digest.hexdigest()))

        with self._on_progress(
            "blocks read", self._engine.map(Prepare(self._options, self._rated), unprepared())
        ) as tables:
            for table in tables:
                self._work.keep(pending.popleft(), table)
        return inputs

    def gather(self) -> tuple[Articles, dict[str, int]]:
        """Gather the data of split assignment from the block tables.

        Returns:
            The articles that meet the thresholds, and these by name of the option.
        """
        columns: dict[str, list[AnyArray]] = {name: [] for name in GATHERED}
        given, sizes = [np.zeros(0, dtype=np.int8)], [0]
        seen: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        rejected: list[Rejected] = []
        texts = composed = rated = 0
        spaceless: Counter[str] = Counter()
        for number, (_, split) in enumerate(self._blocks):
            table = open_block_table(self._mapped(number))
            report = report_in(table)
            for name, values in columns.items():
                values.append(table[name].to_numpy())
            given.append(np.full(table.num_rows, SPLITS.index(split) if split else UNASSIGNED, dtype=np.int8))
            sizes.append(sizes[-1] + table.num_rows)
            seen.update(report.seen)
            left_out.update(report.left_out)
            rejected += report.rejected
            texts += report.texts
            composed += report.composed
            spaceless.update(report.spaceless)
            rated += report.rated
        check_scripts(spaceless, texts, self._blocks[0][0])
        seen.update(_of_words(spaceless, composed))
        if self._rated is not None and not rated:
            raise self._rated.unknown()
        if self._rated is not None and len(self._rated.rows) > rated:
            seen["rated comments that are not in the articles"] = len(self._rated.rows) - rated
        if not sizes[-1]:
            raise InvalidInput(_nothing(left_out, seen, rejected), where=self._blocks[0][0])
        seen.update({f"articles: {why}": number for why, number in left_out.items()})
        found = {name: np.concatenate(values) for name, values in columns.items()}
        codes = np.concatenate(given)
        kept, least = self._meet(found, codes == UNASSIGNED, seen)
        starts = np.concatenate([[0], np.cumsum(kept)])[sizes]
        langs, times = self._gather_kept(kept, sizes)
        articles = Articles(
            keys=found["key"][kept],
            lines=found["line"][kept],
            long=found["long"][kept],
            left=found["left"][kept],
            said=found["said"][kept],
            upvotes=found["upvotes"][kept],
            given=codes[kept],
            signatures=np.memmap(self._signatures, dtype="<u4", mode="r").reshape(-1, BINS),
            starts=starts,
            kept=kept,
            sizes=np.array(sizes),
            places=[where for where, _ in self._blocks],
            seen=seen,
            rejected=rejected,
            langs=langs,
            dated=bool(found["dated"][kept].any()),
            times=np.array(times, dtype=np.int64),
        )
        return articles, least

    def _renaming(self, first: Mapping[str, tuple[int, int]], numbered: Iterable[int | None]) -> dict[str, str] | None:
        """Names of annotators in the corpus by their names in block tables; None where they stay.

        Where the annotators of every comment are named 1, 2 and so on, these are positions, which stand for nobody in
        particular: pseudonyms or hashes of them would pass for people.
        """
        sizes = list(numbered)
        if None not in sizes and (most := max(filter(None, sizes), default=0)) > 1:
            self.numbered = True
            return {annotator_id(str(place), self._options): str(place) for place in range(1, most + 1)}
        return pseudonyms(first) if self._options.user_ids == "drop" else None

    def _meet(
        self, found: Mapping[str, AnyArray], undecided: NDArray[np.bool_], seen: Counter[str]
    ) -> tuple[NDArray[np.bool_], dict[str, int]]:
        """True for each article that meets the thresholds, and these; the others are counted."""
        words, comments = found["words"], found["with_text"]
        least = article_thresholds(self._options, words[undecided], comments[undecided])
        few = undecided & (comments < least["min_comments"])
        thin = undecided & ~few & (words < least["min_content_words"])
        kept = ~(few | thin)
        for what, number in {
            "articles: fewer comments": few.sum(),
            "articles: content too short": (thin & (words > 0)).sum(),
            "articles: no content": (thin & (words == 0)).sum(),
            "comments of articles left out": comments[~kept].sum(),
            "comments: too long": found["too_long"][kept].sum(),
        }.items():
            if number:
                seen[what] += int(number)
        return kept, least

    def _gather_kept(self, kept: NDArray[np.bool_], sizes: Sequence[int]) -> tuple[set[str], list[int]]:
        """Write the signatures of the articles that meet the thresholds; returns their languages and dates."""
        langs: set[str] = set()
        times: list[int] = []
        with self._work.open(self._signatures) as out:
            for number, (start, end) in enumerate(pairwise(sizes)):
                names = ["signature", "lang", "date"]
                table = open_block_table(self._mapped(number)).select(names).filter(arrow().array(kept[start:end]))
                for chunk in table["signature"].chunks:
                    out.write(b"".join(chunk.to_pylist()))
                if self._options.split_by == "date":
                    times += (unix_seconds(date) if date else UNDATED for date in table["date"].to_pylist())
                langs.update(table["lang"].drop_null().to_pylist())
        return langs, times

    @property
    def _signatures(self) -> Path:
        return self._work.folder / "signatures"

    def name(self, articles: Articles, article: int) -> str:
        """The id of an article."""
        block, row = articles.row(article)
        return str(open_block_table(self._mapped(block))["id"][row])

    def count(self, articles: Articles, codes: NDArray[np.int8]) -> tuple[list[str], NDArray[np.int64]]:
        """Build the vocabulary, words by token id, and their frequencies in train; find who rated what."""
        first: dict[str, tuple[int, int]] = {}
        numbered: list[int | None] = []
        vocabulary = Vocabulary()
        totals = np.zeros(0, dtype=np.int64)
        none = np.zeros(0, dtype=np.int32)
        parts = (
            Part(bytes(self._mapped(block)), articles.codes_of_block(codes, block), none)
            for block in range(len(self._blocks))
        )
        with self._on_progress(
            "blocks counted", self._engine.map(Count(self._options), parts), len(self._blocks)
        ) as results:
            for block, counted in enumerate(results):
                ids = vocabulary.encode_tokens([counted.words]).ids
                totals = np.concatenate([totals, np.zeros(len(vocabulary) - len(totals), dtype=np.int64)])
                totals[ids] += counted.counts
                numbered.append(counted.numbered)
                for name, place in counted.annotators.items():
                    first[name] = min(first.get(name, place), place)
                self._work.keep(self._work.step("words", block), _packed(places=counted.places, ids=ids))
        self._annotators = self._renaming(first, numbered)
        words = vocabulary.words()
        order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
        order = order[np.argsort(-totals[order], kind="stable")]
        self._rank = np.empty(len(words), dtype=np.int32)
        self._rank[order] = np.arange(len(words), dtype=np.int32)
        return [words[word] for word in order.tolist()], totals[order]

    def finish(self, articles: Articles, codes: NDArray[np.int8], *, sample: bool) -> dict[str, SplitSize]:
        """Write the shards of the splits; returns the size of each split."""
        groups = [range(len(self._blocks))[start : start + GROUP] for start in range(0, len(self._blocks), GROUP)]
        todo = [number for number in range(len(groups)) if not self._work.step("shards", number).exists()]
        shards = (tuple(self._part(articles, codes, block) for block in groups[number]) for number in todo)
        sample = sample and self._options.references_per_article > 0
        finish = Finish(self._options, sample=sample, dated=articles.dated, annotators=self._annotators)
        with self._on_progress("shards written", self._engine.map(finish, shards), len(todo)) as results:
            for number, finished in zip(todo, results, strict=True):
                for split, shard in finished.items():
                    self._work.keep(self._parquet(split, number), shard.parquet)
                self._work.keep(self._work.step("shards", number), _packed(**_arrays(finished)))
        return {split: self._size(split) for split in SPLITS}

    def _part(self, articles: Articles, codes: NDArray[np.int8], block: int) -> Part:
        with np.load(self._work.step("words", block)) as found:
            places, ids = found["places"], found["ids"]
        words = words_in(open_block_table(self._mapped(block)))
        mapping = np.full(len(words), -1, dtype=np.int32)
        mapping[places] = self._rank[ids]
        return Part(bytes(self._mapped(block)), articles.codes_of_block(codes, block), mapping)

    def _parquet(self, split: str, number: int) -> Path:
        return self._work.folder / "shards" / f"{number:06d}.{split}"

    def _size(self, split: str) -> SplitSize:
        sizes = [found[f"{split}.{ARTICLES}"] for found in self._shards() if f"{split}.{ARTICLES}" in found]
        articles, comments = sum(map(len, sizes)), sum(int(values.sum()) for values in sizes)
        return SplitSize(articles=articles, comments=comments, files=len(sizes))

    def assemble(self, words: Sequence[str], counts: NDArray[np.int64], splits: Mapping[str, SplitSize]) -> None:
        """Write the words and the token arrays.

        Args:
            words: The words, by token id.
            counts: int64[words], frequencies in train.
            splits: Size of each split.
        """
        corpus = self._work.corpus
        shutil.rmtree(corpus, ignore_errors=True)  # of a build that stopped here
        self._work.keep(corpus / "words.txt", "".join(f"{word}\n" for word in words).encode())
        self._work.keep(corpus / "counts.npy", _npy(counts))
        for split in (split for split in SPLITS if splits[split].articles):
            self._name_files(split)
            folder = corpus / "tokens" / split
            for name, offsets in (
                (ARTICLES, ARTICLES),
                *((f"{name}.lengths", f"{name}.offsets") for name in FIELDS),
            ):
                sizes = np.concatenate(
                    [found[f"{split}.{name}"] for found in self._shards() if f"{split}.{name}" in found]
                )
                self._work.keep(folder / f"{offsets}.npy", _npy(np.concatenate([[0], np.cumsum(sizes)])))
            for name in FIELDS:
                total = int(np.load(folder / f"{name}.offsets.npy", mmap_mode="r")[-1])
                pieces = (found[f"{split}.{name}.ids"] for found in self._shards() if f"{split}.{name}.ids" in found)
                with self._work.open(folder / f"{name}.ids.npy") as out:
                    out.write(_header(total))
                    for piece in pieces:
                        out.write(piece.data)

    def _name_files(self, split: str) -> None:
        """Give the Parquet files of a split their names."""
        shards = range(-(-len(self._blocks) // GROUP))
        files = [file for file in (self._parquet(split, number) for number in shards) if file.exists()]
        (self._work.corpus / "data").mkdir(exist_ok=True)
        for place, file in enumerate(files):
            target = self._work.corpus / "data" / f"{split}-{place:05d}-of-{len(files):05d}.parquet"
            try:
                os.link(file, target)
            except OSError:  # not every file system has links
                with self._work.open(target) as out, file.open("rb") as data:
                    shutil.copyfileobj(data, out)

    def _shards(self) -> Iterator[Mapping[str, AnyArray]]:
        """Arrays of each shard, read lazily."""
        for number in range(-(-len(self._blocks) // GROUP)):
            with np.load(self._work.step("shards", number)) as found:
                yield found

    def _mapped(self, block: int) -> Arrow:
        """A block table, memory-mapped."""
        with arrow().memory_map(str(self._work.step("prepared", block))) as file:
            return file.read_buffer()


def _of_words(spaceless: Mapping[str, int], composed: int) -> dict[str, int]:
    """Counts of the texts whose words are not what one may think."""
    seen = {}
    for script, found in sorted(spaceless.items()):
        what = "texts in Han characters" if script == "Han" else f"{script} texts"
        seen[f"{what}, split at spaces and punctuation"] = found
    return seen | ({"texts that are not in the Unicode form NFC, split in it": composed} if composed else {})


def _nothing(left_out: Mapping[str, int], seen: Mapping[str, int], rejected: Sequence[Rejected]) -> str:
    """The error message when no article is left."""
    if not (left_out or seen):
        return (
            f"no row can be read; line {rejected[0].line}: {rejected[0].problem}"
            if rejected
            else "the file holds no rows"
        )
    return Message(
        "no article meets the thresholds ({why}); see {words} (0 where there is no content), {comments} and {dates}",
        why=", ".join(f"{number:,} with {why}" for why, number in left_out.items()),
        words=Setting("min_content_words"),
        comments=Setting("min_comments"),
        dates=Setting("dates"),
    )


def _packed(**arrays: AnyArray) -> bytes:
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **arrays)
    return out.getvalue()


def _arrays(finished: Mapping[str, Finished]) -> dict[str, AnyArray]:
    found: dict[str, AnyArray] = {}
    for split, shard in finished.items():
        found[f"{split}.{ARTICLES}"] = shard.sizes
        for name in FIELDS:
            found[f"{split}.{name}.ids"] = shard.ids[name]
            found[f"{split}.{name}.lengths"] = shard.lengths[name]
    return found


def _npy(values: NDArray[np.int64]) -> bytes:
    out = io.BytesIO()
    np.save(out, values.astype("<i8"), allow_pickle=False)
    return out.getvalue()


def _header(size: int) -> bytes:
    """Header of a .npy file with `size` int32."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<i4", "fortran_order": False, "shape": (size,)})
    return out.getvalue()
