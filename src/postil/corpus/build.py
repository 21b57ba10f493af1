"""Build a corpus of articles with comments: filter, deduplicate, split, build the vocabulary, write.

Paper: Automatic Article Commenting (ACL 2018), sections 3 and 5. Every pass goes over blocks of the input, or over
tables made of them, through an engine; the corpus is the same, byte for byte, whatever the engine and its workers.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from postil.corpus.blocks import TABLES
from postil.corpus.passes import BuildDirectory, OnProgress, Passes, Source
from postil.corpus.rated_comments import RatedComments
from postil.corpus.result import CorpusInput, CorpusMetadata, StatisticsResult
from postil.corpus.splits import assign_splits, in_words
from postil.corpus.statistics import statistics
from postil.corpus.store import FORMAT, METADATA, Corpus
from postil.data.artifacts import as_json
from postil.data.parquet import arrow
from postil.data.row_files import PLAIN, open_bytes, write
from postil.errors import InvalidInput, UsageError
from postil.messages import Message, Setting
from postil.text.tokenizers import tokenizer
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from postil.corpus.options import BuildOptions
    from postil.data.streams import FilePath
    from postil.engine import Engine

__all__ = ["OnProgress", "Source", "articles_beside", "build", "rejected_beside"]


NUMBERED: Final = (
    "ratings: the annotators of every comment are numbered from 1, by position, so nobody can be told apart and there "
    "is no Cohen's kappa; if the numbers are people, give them other names"
)


SPLIT_BY_DATE: Final = Message(
    "{by} splits all articles by their dates; leave out {dev} and {test}",
    by=Setting("split_by", "date"),
    dev=Setting("dev_from", instead="dev"),
    test=Setting("test_from", instead="test"),
)
"""The problem of sources of splits where dates make them."""


def build(
    sources: Sequence[Source],
    out: FilePath,
    options: BuildOptions,
    engine: Engine,
    card: Callable[[CorpusMetadata, StatisticsResult], str],
    *,
    ratings: Source | None = None,
    on_message: Callable[[str], None] = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> Corpus:
    """Build a corpus.

    The folder is written atomically. The same request resumes an interrupted build, whose finished steps are kept in a
    hidden folder beside the corpus.

    Args:
        sources: The articles.
        out: The output folder, which must not exist.
        options: Options of the build.
        engine: Engine that runs the work.
        card: Writes the dataset card.
        ratings: Ratings of comments, which take the place of those in the rows; see `RatedComments`.
        on_message: Callback for status messages.
        on_progress: Progress callback.

    Returns:
        The corpus. `Corpus.metadata` says how many articles and comments were excluded, and why.

    Raises:
        InvalidInput: A row is wrong (unless the options say to leave such rows out), an id comes twice, or nothing
            meets the thresholds; says where, or how many failed which.
        UsageError: The request makes no sense.
        MissingExtra: pyarrow or the tokenizer is not installed.
        PostilError: The operating system reports an error.
    """
    if options.split_by == "date" and any(source.split for source in sources):
        raise UsageError(SPLIT_BY_DATE)
    arrow()
    signature = tokenizer(options.tokenizer).signature
    rated = None if ratings is None else RatedComments.read(ratings.path, ratings.reading)
    with BuildDirectory(out, _request(sources, ratings, options, signature)) as work:
        if work.resumed:
            on_message(f"resuming the build of {out}")
        passes = Passes(work, options, engine, on_progress, rated)
        inputs = passes.prepare(sources)
        articles, least = passes.gather()
        told = {source.split for source in sources}
        codes, least_of_test = assign_splits(articles, options, told, partial(passes.name, articles))
        least |= least_of_test
        for line in in_words(options, least, voted=bool(articles.upvotes.any())):
            on_message(line)
        words, counts = passes.count(articles, codes)
        if passes.numbered:
            on_message(NUMBERED)
        splits = passes.finish(articles, codes, sample="test" not in told)
        metadata = CorpusMetadata(
            format=FORMAT,
            postil=VERSION,
            options=options.settings(least),
            chosen=tuple(name for name in least if getattr(options, name) is None),
            tokenizer=signature,
            inputs=tuple(inputs),
            ratings=None if ratings is None else _hashed(ratings),
            langs=tuple(sorted(articles.langs)),
            seen=dict(sorted(articles.seen.items())),
            splits=splits,
            words=len(words),
        )
        passes.assemble(words, counts, splits)
        work.keep(work.corpus / METADATA, as_json(msgspec.to_builtins(metadata)))
        found = statistics(Corpus(work.corpus, metadata), on_progress=on_progress).result()
        work.keep(work.corpus / "README.md", card(metadata, found).encode())
        rejected = rejected_beside(out)
        if articles.rejected:
            write(rejected, articles.rejected)
            on_message(
                f"{len(articles.rejected):,} row{'s' * (len(articles.rejected) != 1)} could not be read and "
                f"{'was' if len(articles.rejected) == 1 else 'were'} left out; listed in {rejected}"
            )
        work.finish()
    return Corpus(Path(out), metadata)


def articles_beside(out: FilePath) -> str:
    """The file of the article rows that a build makes of exports.

    Args:
        out: The folder of the corpus.
    """
    return f"{os.fspath(out).rstrip('/')}.articles.jsonl"


def rejected_beside(out: FilePath) -> str:
    """The file with what a build leaves out because it cannot be read.

    Args:
        out: The folder of the corpus.
    """
    return f"{os.fspath(out).rstrip('/')}.rejected.jsonl"


def _hashed(source: Source) -> CorpusInput:
    """An input file with the hash of its content, as it is written to ``metadata.json``."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    with open_bytes(source.path) as stream:
        while data := stream.read(1 << 20):
            digest.update(data)
            size += len(data)
    return CorpusInput(name=Path(source.path).name, split=None, bytes=size, blake2b=digest.hexdigest())


def _request(sources: Sequence[Source], ratings: Source | None, options: BuildOptions, signature: str) -> str:
    """All that the outcome depends on."""
    files: list[object] = []
    for source in [*sources, *([] if ratings is None else [replace(ratings, split="ratings")])]:
        if os.fspath(source.path) == "-":
            files.append(["-", source.split, secrets.token_hex()])  # never seen before
            continue
        path = Path(source.path)
        if not path.exists():
            raise InvalidInput("no such file", where=os.fspath(path))
        how = [] if source.reading.signature == PLAIN.signature else [source.reading.signature]
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            stat = each.stat()
            files.append([os.path.realpath(each), source.split, stat.st_size, stat.st_mtime_ns, *how])
    key = hashlib.blake2b(options.hash_key.secret).hexdigest() if options.hash_key else ""
    request = {
        "version": VERSION,
        "format": FORMAT,
        "tables": TABLES,
        "files": files,
        "options": options.settings() | {"hash_key": key, "on_error": options.on_error},
        "tokenizer": signature,
    }
    return json.dumps(request, sort_keys=True, ensure_ascii=False)
