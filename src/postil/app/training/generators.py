"""The journey of `postil train seq2seq`, `att` and `att-tc`: a corpus in, a model that writes comments out."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.app.corpus.texts import CorpusTexts
from postil.app.training.training_directory import Workshop
from postil.commenters.copying import SpanIndex
from postil.commenters.neural_commenter import ATTENTION, KINDS, CopyIndex, save_generator
from postil.commenters.nn.distributed import is_main_process
from postil.commenters.store import Model, ModelWriter, check_free
from postil.commenters.string_array import StringArray
from postil.corpus.store import Corpus
from postil.errors import MissingExtra, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.app.progress import Say
    from postil.commenters.nn.generator import Generator
    from postil.corpus.passes import Watch
    from postil.records.row_files import FilePath

__all__ = ["GeneratorTrainOptions", "GeneratorTrained", "train_commenter"]

SOURCES: Final = ("title", "content", "both")
TARGETS: Final = ("comments", "title")
BATCH: Final = 64
EVERY: Final = 500
"""Steps after which dev is measured, unless an epoch ends before."""


@dataclass(frozen=True, kw_only=True)
class GeneratorTrainOptions:
    """How a generator is trained.

    Args:
        source: What is read: ``title``, ``content`` or ``both``; None as the model's name says.
        target: What is written: ``comments``, or ``title`` (headlines).
        embeddings: A folder of pretrained word vectors, see `postil vectors`; None trains them on the corpus, ``none``
            uses random ones.
        network: Options of the network, by name; see `postil.commenters.nn.generator.GeneratorOptions`.
        training: Options of its training, by name; see `postil.commenters.nn.training.TrainingOptions`.
        seed: Seed of all that is random.
    """

    source: str | None = None
    target: str = "comments"
    embeddings: str | None = "none"
    network: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 20181

    def __post_init__(self) -> None:
        if self.source is not None and self.source not in SOURCES:
            raise UnknownName("source", self.source, SOURCES)
        if self.target not in TARGETS:
            raise UnknownName("target", self.target, TARGETS)
        if self.target == "title" and self.source != "content":
            raise UsageError("who writes titles must not read them: give source content")


@dataclass(frozen=True)
class GeneratorTrained:
    """What a training made.

    Args:
        folder: The model.
        history: A row a measurement: step, epoch, loss (in training), dev (-log P a word, in nats).
        best: The lowest of dev.
        step: After which step that was.
    """

    folder: Path
    history: Sequence[Mapping[str, Any]]
    best: float
    step: int


def train_commenter(
    kind: str,
    corpus_folder: FilePath,
    out: FilePath,
    options: GeneratorTrainOptions,
    *,
    say: Say = lambda _: None,
    watch: Watch = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> GeneratorTrained | None:
    """Train a model that writes comments.

    Under torchrun several processes train the network, and the first alone writes and speaks.

    Args:
        kind: ``seq2seq``, ``att`` (both read titles) or ``att-tc`` (titles and contents).
        corpus_folder: The corpus.
        out: The folder to make.
        options: How.
        say: Takes words for people.
        watch: Shows progress.

    Returns:
        What was made; None in a process that is not the first.

    Raises:
        UnknownName: There is no such commenter.
        UsageError: The request does not fit the corpus.
        InvalidInput: The corpus is damaged.
        MissingExtra: torch is not installed.
        PostilError: The system refuses to write, or the training fails.
    """
    if kind not in KINDS:
        raise UnknownName("commenter", kind, KINDS)
    check_free(out)
    corpus = Corpus.open(corpus_folder)
    reads = options.source or ("both" if kind == "att-tc" else "title")
    texts = CorpusTexts(corpus, reads=reads, writes=options.target)
    workshop = Workshop(out, texts, options.embeddings, options.seed, say)
    for note in texts.gaps() if is_main_process() else ():
        say(note)
    if _generator(kind, workshop, options) is None:
        return None
    trained = Model.open(workshop.folder / "generator").metadata
    config = {"tokenizer": corpus.tokenizer, "reads": reads, "writes": options.target}
    with ModelWriter(out, kind, config, workshop.made(asdict(options), trained["dev"])) as new:
        save_generator(new, corpus.words(), _copy_index(workshop, options.target, watch))
        shutil.copytree(workshop.folder / "generator", new.path("generator/config.json").parent, dirs_exist_ok=True)
    workshop.close()
    return GeneratorTrained(Path(out), trained["history"], trained["dev"]["loss"], trained["dev"]["step"])


def _generator(kind: str, workshop: Workshop, options: GeneratorTrainOptions) -> Generator | None:
    """The network; None in a process that is not the first."""
    try:
        from postil.commenters.nn.generator import (  # noqa: PLC0415 - it needs torch
            Generator,
            GeneratorOptions,
            train_generator,
        )
        from postil.commenters.nn.training import TrainingOptions  # noqa: PLC0415 - the same
    except ImportError as error:
        raise MissingExtra(f"the model {kind}", "nn") from error
    defaults = {"attention": ATTENTION[kind], "comments_per_group": 8 if workshop.texts.reads != "title" else 1}
    network = GeneratorOptions(**{**defaults, **options.network})
    if (network.attention == "none") != (kind == "seq2seq"):
        raise UsageError(f"attention: {kind} has {'none' if kind == 'seq2seq' else 'general or additive'}")
    how = TrainingOptions(**{"seed": options.seed, "batch": BATCH, "eval_every": EVERY, **options.training})
    train, dev = (workshop.split(name, options.target) for name in ("train", "dev"))
    return workshop.network(
        "generator",
        {"network": asdict(network), "training": how.portable(), "target": options.target},
        size=network.embedding_dim,
        device=how.device,
        train=partial(train_generator, train, dev, network, how),
        load=Generator.open,
    )


def _copy_index(workshop: Workshop, target: str, watch: Watch) -> CopyIndex:
    """What was written about the articles of train, with the names of where it stood."""
    corpus, train = workshop.texts.corpus, workshop.split("train", target)
    names: list[str] = []
    ids: list[str] = []
    with watch("articles read", corpus.articles("train"), corpus.metadata.splits["train"].articles) as articles:
        for article in articles:
            names.append(article.id)
            ids.extend(["title"] if target == "title" else [comment.id for comment in article.comments])
    runs = SpanIndex.of(train.comments.ids, train.comments.offsets)
    return CopyIndex(runs, StringArray.of(names), np.asarray(train.starts), StringArray.of(ids))
