"""Training of generators: `postil train seq2seq`, `att` and `att-tc`."""

from __future__ import annotations

import math
import shutil
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from postil.comments.neural_commenter import ATTENTION, KINDS, CopyIndex, save_generator
from postil.comments.nn.distributed import is_main_process
from postil.comments.options import LONGEST, GeneratorTrainOptions
from postil.comments.result import TrainingResult, TrainingStep
from postil.comments.text_arrays import SpanIndex, StringArray
from postil.corpus.store import Corpus
from postil.data.atomic_file import check_folder
from postil.data.model_folders import Model, ModelWriter
from postil.errors import UnknownName, UsageError, needs
from postil.training.texts import CorpusTexts, TrainingDirectory

if TYPE_CHECKING:
    from postil.comments.nn.generator import Generator
    from postil.corpus.passes import OnProgress
    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath
    from postil.training.grid import Combination, Grid

__all__ = ["check_commenter", "train_commenter"]


def train_commenter(
    kind: str,
    corpus_folder: FilePath,
    out: FilePath,
    options: GeneratorTrainOptions,
    *,
    grid: Grid | None = None,
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> TrainingResult | None:
    """Train a generator.

    Under torchrun several processes train the network, and the main process alone writes and prints.

    Args:
        kind: ``seq2seq``, ``att`` (both read titles) or ``att-tc`` (titles and contents).
        corpus_folder: The corpus.
        out: The model folder to write.
        options: Options of the training.
        grid: Hyperparameters to choose on dev before; in place of those of ``options``.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Returns:
        The dev evaluations; None in other processes than the main one.

    Raises:
        UnknownName: There is no such commenter.
        UsageError: The request does not fit the corpus.
        InvalidInput: The corpus is damaged.
        MissingExtra: torch is not installed.
        PostilError: The operating system reports an error, or the training fails.
    """
    UnknownName.check("commenter", kind, KINDS)
    check_folder(out)
    corpus = Corpus.open(corpus_folder)
    texts, options, combinations = check_commenter(kind, corpus, options, grid)
    directory = TrainingDirectory(out, texts, options.embeddings, options.seed, on_message)
    for note in texts.gaps() if is_main_process() else ():
        on_message(note)
    search = None
    if grid is not None:
        options, search = grid.choose(combinations, directory, partial(_train, kind, directory), on_message)
    if _train(kind, directory, options, "generator") is None:
        return None
    trained = Model.open(directory.folder / "generator").metadata
    config: dict[str, object] = {"tokenizer": corpus.tokenizer, "reads": texts.reads, "writes": options.target}
    config |= {} if options.content_words is None else {"content_words": options.content_words}
    metadata = directory.metadata(_recorded(options), options.training, trained["dev"], search)
    with ModelWriter(out, kind, config, metadata) as new:
        save_generator(new, corpus.words(), _copy_index(directory, options.target, on_progress))
        shutil.copytree(directory.folder / "generator", new.path("generator/config.json").parent, dirs_exist_ok=True)
    shutil.rmtree(directory.folder, ignore_errors=True)
    best = trained["dev"]["step"]
    rows = (
        TrainingStep(**row, perplexity=math.exp(row["dev"]), best=row["step"] == best) for row in trained["history"]
    )
    return TrainingResult(rows=tuple(rows), grid=search)


def check_commenter(
    kind: str, corpus: Corpus, options: GeneratorTrainOptions, grid: Grid | None
) -> tuple[CorpusTexts, GeneratorTrainOptions, list[Combination[GeneratorTrainOptions]]]:
    """Check a training before it begins.

    Args:
        kind: ``seq2seq``, ``att`` or ``att-tc``.
        corpus: The corpus.
        options: Options of the training.
        grid: Hyperparameters to choose on dev; None for none.

    Returns:
        Texts to train on, options with their seed in the network's training, and combinations of the grid.

    Raises:
        UsageError: The request does not fit the corpus.
        InvalidInput: The corpus is damaged.
    """
    options = replace(options, training=replace(options.training, seed=options.seed))
    combinations = grid.combinations(options) if grid else []
    for each in [options] if grid is None else [each.options for each in combinations]:
        if ((each.network.attention or ATTENTION[kind]) == "none") != (kind == "seq2seq"):
            needed = "none" if kind == "seq2seq" else "bahdanau, general or additive"
            raise UsageError(f"attention: {kind} has {needed}")
    reads = options.source or ("both" if kind == "att-tc" else "title")
    if options.max_content_words is not None and reads != "both":
        raise UsageError(
            f"max_content_words: expected titles and contents as the source, and {kind} reads {reads} alone"
        )
    texts = CorpusTexts(corpus, reads=reads, writes=options.target, content_words=options.content_words)
    texts.check_split("dev")
    return texts, options, combinations


def _recorded(options: GeneratorTrainOptions) -> dict[str, object]:
    """Options by name as the model records them."""
    found = asdict(options) | {"network": options.network.recorded()}
    if options.max_content_words is None:
        del found["max_content_words"]
    return found


def _train(kind: str, directory: TrainingDirectory, options: GeneratorTrainOptions, name: str) -> Generator | None:
    """Train the network into a folder of the directory; None in other processes than the main one."""
    with needs(f"the model {kind}", "neural"):
        from postil.comments.nn.generator import COMMENTS_PER_GROUP, Generator, train_generator  # noqa: PLC0415 - it needs torch
    network = replace(
        options.network,
        attention=options.network.attention or ATTENTION[kind],
        comments_per_group=options.network.comments_per_group
        or (1 if directory.texts.reads == "title" else COMMENTS_PER_GROUP),
        article_words=options.network.article_words if options.content_words is None else LONGEST,
    )
    train, dev = (directory.split(name, options.target) for name in ("train", "dev"))
    return directory.train(
        name,
        network,
        options.training,
        partial(train_generator, train, dev, network, options.training),
        Generator.open,
        target=options.target,
    )


def _copy_index(directory: TrainingDirectory, target: str, on_progress: OnProgress) -> CopyIndex:
    """Copy index of the training texts, with the ids of their articles and comments."""
    corpus, train = directory.texts.corpus, directory.split("train", target)
    names: list[str] = []
    ids: list[str] = []
    with on_progress("articles read", corpus.articles("train"), corpus.metadata.splits["train"].articles) as articles:
        for article in articles:
            names.append(article.id)
            ids.extend(["title"] if target == "title" else [comment.id for comment in article.comments])
    spans = SpanIndex.of(train.comments.ids, train.comments.offsets)
    return CopyIndex(spans, StringArray.of(names), np.asarray(train.starts), StringArray.of(ids))
