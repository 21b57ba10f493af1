"""The journey of `postil corpus build`: article rows in, a corpus out, and what was left out told in words."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.app.progress import progress
from postil.corpus.blocks import BLOCK_BYTES
from postil.corpus.build import Source, build, rejected_beside
from postil.engine import open_engine
from postil.errors import InvalidInput, PostilError, UsageError
from postil.records.arguments import check_arguments
from postil.records.atomic_file import check_apart
from postil.render.dataset_card import card

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.progress import Say
    from postil.corpus.options import BuildOptions
    from postil.corpus.store import Corpus
    from postil.records.row_files import FilePath

__all__ = ["build_corpus", "read_salt"]

GZIP_GAIN: Final = 4
"""About how many times more text a compressed file holds than it has bytes."""
SALT_BYTES: Final = 32


def build_corpus(
    articles: Sequence[FilePath],
    out: FilePath,
    options: BuildOptions,
    *,
    dev: FilePath | None = None,
    test: FilePath | None = None,
    engine: str = "local",
    jobs: int | None = None,
    address: str | None = None,
    say: Say = lambda _: None,
) -> Corpus:
    """Build a corpus from files of article rows; see docs/corpus.md.

    Args:
        articles: Files of articles that are to be split (``.jsonl``, ``.jsonl.gz``, ``.parquet``).
        out: The folder to make.
        options: Thresholds, splits, privacy.
        dev: Articles that are the dev set already.
        test: Articles that are the test set already; their comments are not drawn from.
        engine: ``local`` or ``ray``.
        jobs: Processes; None for as many as there are processors and work for. The corpus does not depend on it.
        address: Of a Ray cluster.
        say: Takes words for people.

    Returns:
        The corpus.

    Raises:
        InvalidInput: Something in a file is wrong, or no article meets the thresholds.
        UsageError: The request makes no sense.
        MissingExtra: pyarrow, the tokenizer or Ray is not installed.
        PostilError: The system refuses to write.
    """
    check_arguments(build_corpus, locals())
    given = {"dev": dev, "test": test}
    sources = [Source(path) for path in articles]
    sources += [Source(path, split) for split, path in given.items() if path is not None]
    if not sources:
        raise UsageError("articles: expected at least one file, got none")
    if [os.fspath(source.path) for source in sources].count("-") > 1:
        raise UsageError("standard input can be one file only")
    for source in sources:
        if os.fspath(source.path) != "-" and not Path(source.path).is_file():
            problem = "not a file" if Path(source.path).exists() else "no such file"
            raise InvalidInput(problem, where=os.fspath(source.path))
    if options.skip_bad:
        check_apart(rejected_beside(out), [source.path for source in sources])
    workers = _jobs(sources) if jobs is None else jobs
    with _kept(out, say), open_engine(engine, jobs=workers, address=address, say=say) as running:
        corpus = build(sources, out, options, running, card, say=say, watch=progress)
    _tell(corpus, say)
    return corpus


def read_salt(path: FilePath) -> bytes:
    """Read the secret key with which names are hashed; make one if the file is not there.

    Args:
        path: The file.

    Raises:
        InvalidInput: The file is empty or too long.
        PostilError: It can be neither read nor made.
    """
    where = os.fspath(path)
    try:
        if not Path(path).exists():
            with os.fdopen(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_hex(SALT_BYTES // 2).encode())
        salt = Path(path).read_bytes().strip()
    except OSError as error:
        raise PostilError(f"{where}: cannot be used for the secret of --salt: {error.strerror}") from error
    if not 0 < len(salt) <= 2 * SALT_BYTES:
        raise InvalidInput(f"expected a secret of 1 to {2 * SALT_BYTES} bytes, got {len(salt)}", where=where)
    return salt


def _jobs(sources: Sequence[Source]) -> int:
    """As many processes as there are processors and work for."""
    size = 0
    for source in sources:
        name = os.fspath(source.path)
        size += (
            BLOCK_BYTES << 10 if name == "-" else Path(name).stat().st_size * (GZIP_GAIN if name.endswith("gz") else 1)
        )
    return max(1, min(os.cpu_count() or 1, size // BLOCK_BYTES))


@contextmanager
def _kept(out: FilePath, say: Say) -> Iterator[None]:
    """Say, after an interrupt or a refusal of the system, that nothing is lost."""
    try:
        yield
    except (KeyboardInterrupt, PostilError) as error:
        if isinstance(error, KeyboardInterrupt) or type(error) is PostilError:
            folder = Path(os.path.realpath(out))
            kept = folder.with_name(f".{folder.name}.building")
            if kept.is_dir():
                say(f"what was done is kept in {kept}; the same command goes on from there")
        raise


def _tell(corpus: Corpus, say: Say) -> None:
    for what, number in corpus.metadata.seen.items():
        say(f"{what}: {number:,}")
    for split in corpus.splits:
        size = corpus.metadata.splits[split]
        say(f"{split}: {size.articles:,} articles, {size.comments:,} comments")
