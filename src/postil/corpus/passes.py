"""Passes of a build over its blocks (prepare, gather, count, finish, assemble), and the directory of their results.

Of each article the main process reads a few numbers alone: gather and the choice of splits need no text. No text is
tokenized or looked up twice: a block numbers its words by itself, and an array per block maps these numbers to the
token ids of the corpus. Blocks and results travel as bytes, so workers need no common file system. Each result is
stored as a file in the order of the input, which is all that an interrupted build needs to go on: a file is written
atomically, in a hidden staging folder beside the corpus, which is renamed to the corpus at the end.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
from collections import Counter, deque
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol, Self, TypeVar
from zipfile import BadZipFile

import msgspec
import numpy as np

from postil.corpus.blocks import (
    Block,
    Read,
    Report,
    Selection,
    annotator_id,
    blocks,
    open_block_table,
    report_in,
    words_in,
    write_block_table,
)
from postil.corpus.duplicates import BINS
from postil.corpus.finish import FIELDS, Count, Finish, Finished, Part
from postil.corpus.options import TRUNCATE_TRAIN, BuildOptions
from postil.corpus.privacy import masking, pseudonyms
from postil.corpus.result import CorpusInput, Rejected, SplitSize
from postil.corpus.splits import SPLITS, UNASSIGNED, UNDATED, Articles, article_thresholds
from postil.data.arrays import AnyArray, as_npy
from postil.data.artifacts import as_lines
from postil.data.atomic_file import AtomicFile, check_folder, empty_folder, locked, writing
from postil.data.fields import unix_seconds
from postil.data.jsonl import FAILURES, check_keys, reread
from postil.data.parquet import Arrow, arrow
from postil.data.row_files import PLAIN
from postil.data.rows import Article
from postil.documents.markup import HtmlCleaner
from postil.errors import InvalidInput, PostilError
from postil.kernel import plain_objects
from postil.messages import Blank, Message, Setting
from postil.text.han import SHARE, HanTexts, advice_for
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from postil.corpus.rated_comments import RatedComments
    from postil.data.reading import Reading
    from postil.data.streams import FilePath
    from postil.engine import Engine

__all__ = ["BuildDirectory", "OnProgress", "Passes", "Prepare", "Source", "check_scripts"]

_MANY: Final = 1_000
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAY_BE_CONTROLS: Final = (rb"\u00", rb"\b", rb"\f", b"\x7f")
"""Marks of control characters in JSON."""
_MAY_BE_HTML: Final = (b"<", b"&", rb"\u00")


@dataclass(frozen=True)
class Prepare:
    """Reader of blocks; it can be sent to another process.

    Args:
        options: Options of the build.
        rated: Ratings of comments from another file; None for those of the rows.
    """

    options: BuildOptions
    rated: RatedComments | None = None

    def __call__(self, block: Block) -> bytes:
        """Prepare a block.

        Args:
            block: The block.

        Returns:
            The prepared table, as an Arrow file.

        Raises:
            InvalidInput: A row is wrong and the options do not say to leave such rows out.
            MissingExtra: pyarrow or the tokenizer is not installed.
        """
        met = Report()
        articles = list(self._articles(block, met))
        tokens = self._encode(block, articles, met)
        written = options = self.options
        if _is_given(block):
            options = replace(options, min_content_words=0, long_comments="keep")
            if block.split == "test" and written.long_comments == TRUNCATE_TRAIN:
                written = options  # a given test set stays as it is
        return write_block_table(articles, tokens, _choose(articles, tokens, options, met), written, met)

    @cached_property
    def _mask(self) -> Callable[[str], str]:
        return masking(self.options.mask)

    def _articles(self, block: Block, met: Report) -> Iterator[Read]:
        """Clean articles of a block; those with too few comments are excluded."""
        least, dates = self.options.min_comments or 1, self.options.dates
        if _is_given(block):
            least, dates = 1, None
        decode = msgspec.json.Decoder(Article).decode
        once = self.options.on_error == "stop" and plain_objects(block.data)  # a bad line would mislead it
        clean = HtmlCleaner()
        marked = self.options.html == "clean" and any(mark in block.data for mark in _MAY_BE_HTML)
        plain = not self.options.mask and not any(mark in block.data for mark in _MAY_BE_CONTROLS)
        text = _Cleaning(clean if marked else None, str.strip if plain else self._text)
        for line, data in enumerate(block.data.split(b"\n"), block.first):
            try:
                try:
                    row = decode(data)
                    if not once:
                        check_keys(data, line, block.where)
                except FAILURES as error:
                    again = reread(data, line, Article, block.where, error)
                    if again is None:
                        continue
                    row = again
                _check_ids(row, line, block.where)
                read = text.read(row, line, block.where)
            except InvalidInput as error:
                if self.options.on_error == "stop":
                    raise
                met.rejected.append(Rejected.of(error))
                continue
            met.seen["comments without text"] += len(row.comments) - len(read.comments)
            met.seen["comments: held out before"] += len(row.held_out or ())
            if self.rated is not None:
                met.rated += self._rate(read, self.rated)
            if dates is not None and (row.date or "") not in dates:
                met.leave_out(f"date not in {dates}" if row.date else "no date", read)
                continue
            if len(read.comments) >= least:
                yield read
            else:
                met.leave_out("fewer comments" if read.comments else "no comments", read)
        met.seen["texts with HTML, of which the text is kept"] += clean.cleaned

    @staticmethod
    def _rate(article: Read, rated: RatedComments) -> int:
        """Give the comments of an article their ratings; returns the number of those that have some."""
        found = [
            rated.rated(article.row.id, comment, text)
            for comment, text in zip(article.comments, article.texts, strict=True)
        ]
        article.comments = [new or old for new, old in zip(found, article.comments, strict=True)]
        return sum(new is not None for new in found)

    def _text(self, text: str) -> str:
        if _CONTROLS.search(text) is not None:
            text = _CONTROLS.sub(" ", text)
        return self._mask(text.strip())

    def _encode(self, block: Block, articles: Sequence[Read], met: Report) -> Tokens:
        """Tokenize all titles, then all contents, then all comments, with block-local token ids."""
        texts = [article.title for article in articles]
        texts += [article.content or "" for article in articles]
        for article in articles:
            texts += article.texts
        split = tokenizer(self.options.tokenizer)
        tokens = Vocabulary().encode(texts, split, allow_han=True)
        counts = HanTexts(split, "texts")
        counts.see(texts)
        met.texts, met.composed = counts.texts, counts.composed
        if split.name == "words-2" and counts.scripts:
            met.spaceless = counts.scripts
            check_scripts(met.spaceless, max(len(texts), _MANY), block.where)  # soon, where a block says enough
        return tokens


@dataclass(frozen=True, eq=False, slots=True)
class _Cleaning:
    """Cleaner of the texts of articles.

    Args:
        html: Cleaner of HTML; None where there is none.
        text: Cleaner of plain text.
    """

    html: HtmlCleaner | None
    text: Callable[[str], str]

    def read(self, row: Article, line: int, where: str) -> Read:
        field = "title"
        try:
            title, field = self._text(row.title), "content"
            content = None if row.content is None else self._text(row.content) or None
            texts = []
            for number, comment in enumerate(row.comments):
                field = f"comments[{number}].text"
                texts.append(self._text(comment.text, quotes=False))
        except InvalidInput as error:
            raise InvalidInput(error.problem, where=where, line=line, field=field) from None
        some = [number for number, said in enumerate(texts) if said]
        return Read(row, line, title, content, [row.comments[i] for i in some], [texts[i] for i in some])

    def _text(self, text: str, *, quotes: bool = True) -> str:
        return self.text(text if self.html is None else self.html(text, quotes=quotes))


def _check_ids(row: Article, line: int, where: str) -> None:
    ids = [comment.id for comment in row.comments]
    if len(set(ids)) < len(ids):
        twice = next(number for number, name in enumerate(ids) if name in ids[:number])
        problem = f"expected an id that no other comment of the article has, got '{ids[twice]}' again"
        raise InvalidInput(problem, where=where, line=line, field=f"comments[{twice}].id")


def check_scripts(spaceless: Mapping[str, int], texts: int, where: str) -> None:
    """Refuse a tokenizer that splits at spaces for a corpus in a script without them.

    Args:
        spaceless: Number of texts in such scripts, by script.
        texts: Number of all texts.
        where: Their file.

    Raises:
        InvalidInput: More than a tenth.
    """
    found = sum(spaceless.values())
    if found > SHARE * texts:
        script = max(spaceless, key=spaceless.__getitem__)
        what, remedy = f"{script} text", advice_for(script)
        if script == "Han":
            what, remedy = "in Han characters", "jieba or rjieba"
        message = Message(
            "{found:,} of {texts:,} texts are {what}; expected {tokenizer}",
            found=found,
            texts=texts,
            what=what,
            tokenizer=Setting("tokenizer", Blank(remedy)),
        )
        raise InvalidInput(message, where=where)


def _is_given(block: Block) -> bool:
    """True for a block of a dev or test set that is split already: no threshold applies to it."""
    return block.split in {"dev", "test"}


def _choose(articles: Sequence[Read], tokens: Tokens, options: BuildOptions, met: Report) -> Selection:
    count = len(articles)
    owner = np.repeat(np.arange(count), [len(article.texts) for article in articles])
    fit = np.ones(len(owner), dtype=bool)
    if options.long_comments == "drop":
        fit = tokens.lengths[2 * count :] <= options.max_comment_words
    some = np.bincount(owner[fit], minlength=count) > 0
    enough = tokens.lengths[count : 2 * count] >= (options.min_content_words or 0)
    for place in (~(some & enough)).nonzero()[0].tolist():
        short = "no content" if articles[place].content is None else "content too short"
        met.leave_out("only long comments" if enough[place] else short, articles[place])
    chosen = some & enough
    comments = (fit & chosen[owner]).nonzero()[0]
    sizes = np.bincount(owner[comments], minlength=count)[chosen]
    return Selection(chosen.nonzero()[0], comments, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))


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
        met = Report()
        for number, (_, split) in enumerate(self._blocks):
            table = open_block_table(self._mapped(number))
            met.add(report_in(table))
            for name, values in columns.items():
                values.append(table[name].to_numpy())
            given.append(np.full(table.num_rows, SPLITS.index(split) if split else UNASSIGNED, dtype=np.int8))
            sizes.append(sizes[-1] + table.num_rows)
        check_scripts(met.spaceless, met.texts, self._blocks[0][0])
        met.seen.update(_of_words(met))
        if self._rated is not None and not met.rated:
            raise self._rated.unknown()
        if self._rated is not None and len(self._rated.rows) > met.rated:
            met.seen["rated comments that are not in the articles"] = len(self._rated.rows) - met.rated
        if not sizes[-1]:
            raise InvalidInput(_nothing(met), where=self._blocks[0][0])
        met.seen.update({f"articles: {why}": number for why, number in met.left_out.items()})
        found = {name: np.concatenate(values) for name, values in columns.items()}
        codes = np.concatenate(given)
        kept, least = self._meet(found, codes == UNASSIGNED, met.seen)
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
            seen=met.seen,
            rejected=met.rejected,
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
        self._work.keep(corpus / "words.txt", as_lines(words, "words.txt"))
        self._work.keep(corpus / "counts.npy", as_npy(counts.astype("<i8")))
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
                starts = np.concatenate([[0], np.cumsum(sizes)]).astype("<i8")
                self._work.keep(folder / f"{offsets}.npy", as_npy(starts))
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


def _of_words(met: Report) -> dict[str, int]:
    """Counts of the texts whose words are not what one may think."""
    seen = {}
    for script, found in sorted(met.spaceless.items()):
        what = "texts in Han characters" if script == "Han" else f"{script} texts"
        seen[f"{what}, split at spaces and punctuation"] = found
    return seen | ({"texts that are not in the Unicode form NFC, split in it": met.composed} if met.composed else {})


def _nothing(met: Report) -> str:
    """The error message when no article is left."""
    if not (met.left_out or met.seen):
        first = next(iter(met.rejected), None)
        return f"no row can be read; line {first.line}: {first.problem}" if first else "the file holds no rows"
    return Message(
        "no article meets the thresholds ({why}); see {words} (0 where there is no content), {comments} and {dates}",
        why=", ".join(f"{number:,} with {why}" for why, number in met.left_out.items()),
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


def _header(size: int) -> bytes:
    """Header of a .npy file with `size` int32."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<i4", "fortran_order": False, "shape": (size,)})
    return out.getvalue()


_UNREADABLE: Final = (BadZipFile, EOFError, LookupError, ValueError)


class BuildDirectory:
    """The staging folder of a build; a context manager, which locks it against other builds.

    After an interrupt or a system error it stays, and the same request resumes from it. It is removed after invalid
    input, since corrected input makes another request, and where no step was finished.

    Args:
        out: The output folder.
        request: All that the outcome depends on; the steps of another request are discarded.

    Raises:
        UsageError: The corpus is there already, its folder's parent is not, or another build of it is running.
        PostilError: The operating system reports an error.
    """

    def __init__(self, out: FilePath, request: str) -> None:
        self.out = Path(os.path.realpath(out))
        self.folder = self.out.with_name(f".{self.out.name}.building")
        self.corpus = self.folder / "corpus"
        self.resumed = False
        """True if there are steps of an earlier build."""
        self._request = request
        self._held = ExitStack()

    def __enter__(self) -> Self:
        check_folder(self.out)
        self._held.enter_context(locked(self.folder, f"{self.out}: another build of this corpus is running"))
        self._begin()
        return self

    def _begin(self) -> None:
        note = self.folder / "request.json"
        self.resumed = note.is_file() and note.read_text(encoding="utf-8") == self._request
        if not self.resumed:
            empty_folder(self.folder)
            self.keep(note, self._request.encode())
        for part in self.folder.rglob(".*.part"):  # of a build that was killed
            part.unlink()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, InvalidInput) or (error is not None and not self._has_steps()):
            shutil.rmtree(self.folder, ignore_errors=True)
        self._held.close()
        # A step that an earlier build kept was changed since, or the disk lost a part of it.
        if self.resumed and isinstance(error, _UNREADABLE) and not isinstance(error, PostilError):
            problem = f"{self.folder}: what an earlier build kept is unreadable ({error}); remove it to begin anew"
            raise PostilError(problem) from error

    def _has_steps(self) -> bool:
        return any(thing.is_dir() for thing in self.folder.iterdir())

    def step(self, name: str, number: int) -> Path:
        """The file of a step.

        Args:
            name: Name of the step.
            number: Number of the block or shard.
        """
        return self.folder / name / f"{number:06d}"

    def keep(self, path: Path, *data: bytes | memoryview) -> None:
        """Write a file whole.

        Args:
            path: The file.
            data: Its content.

        Raises:
            PostilError: The operating system reports an error.
        """
        with self.open(path) as stream:
            for piece in data:
                stream.write(piece)

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """A file in the making, which appears when the block ends well.

        Args:
            path: The file.

        Yields:
            What takes its bytes.

        Raises:
            PostilError: The operating system reports an error.
        """
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with AtomicFile(str(path)) as stream:
                yield stream

    def finish(self) -> None:
        """Make the corpus appear, and throw the steps away.

        Raises:
            PostilError: The operating system reports an error.
        """
        with writing(self.out):
            self.corpus.rename(self.out)
            shutil.rmtree(self.folder)
