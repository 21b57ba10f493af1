"""The journey of `postil train seq2seq`, `att` and `att-tc`: a corpus in, a model that writes comments out."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.app.corpus_texts import CorpusTexts, first_vectors, hash_of_vectors
from postil.app.progress import live
from postil.commenters.copying import Runs
from postil.commenters.generation import ATTENTION, KINDS, Trove, save_generator
from postil.commenters.nn.batches import Commented, Ragged
from postil.commenters.nn.processes import from_first, is_first
from postil.commenters.store import Model, ModelWriter, check_free
from postil.commenters.strings import Strings
from postil.corpus.store import Corpus
from postil.errors import MissingExtra, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.commenters.nn.generation import Generator
    from postil.corpus.passes import Watch
    from postil.records.files import FilePath

    Say = Callable[[str], None]

__all__ = ["SOURCES", "TARGETS", "GeneratorTrainOptions", "GeneratorTrained", "train_commenter"]

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
        vectors: A folder of word vectors to begin with, see `postil vectors`; None trains them on the corpus, ``none``
            begins at random.
        network: Options of the network, by name; see `postil.commenters.nn.generation.GeneratorOptions`.
        training: Options of its training, by name; see `postil.commenters.nn.training.TrainingOptions`.
        seed: Seed of all that is random.
    """

    source: str | None = None
    target: str = "comments"
    vectors: str | None = "none"
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
    texts = CorpusTexts(corpus, reads=reads)
    workshop = Path(os.path.realpath(out)).with_name(f".{Path(out).name}.training")
    generator = _generator(kind, texts, workshop, options, say)
    if generator is None:
        return None
    trained = Model.open(workshop / "generator").made
    made = {
        "options": _settled(options),
        "corpus": {"inputs": corpus.made["inputs"], "options": corpus.made["options"]},
        "tokenizer": corpus.made["tokenizer"],
        "dev": trained["dev"],
    }
    with ModelWriter(out, kind, {"tokenizer": corpus.tokenizer, "reads": reads, "writes": options.target}, made) as new:
        save_generator(new, corpus.words(), _trove(texts, options.target, watch))
        shutil.copytree(workshop / "generator", new.path("generator/config.json").parent, dirs_exist_ok=True)
    shutil.rmtree(workshop, ignore_errors=True)
    return GeneratorTrained(Path(out), trained["history"], trained["dev"]["loss"], trained["dev"]["step"])


def _settled(options: GeneratorTrainOptions) -> dict[str, Any]:
    """What a model depends on: no paths, nothing about this machine."""
    return asdict(options) | {
        "vectors": hash_of_vectors(options.vectors),
        "training": _anywhere(options.training),
    }


def _anywhere(training: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a training, but for those of this machine."""
    return {name: value for name, value in training.items() if name not in ("device", "log")}


def _commented(texts: CorpusTexts, split: str, target: str) -> Commented:
    """What is read, and what is to be written about it."""
    articles = Ragged(*texts.articles(split))
    if target == "title":
        return Commented(articles, Ragged(*texts.titles(split)), np.arange(len(articles.offsets)))
    return Commented(articles, Ragged(*texts.comments(split)), texts.starts(split))


def _generator(
    kind: str, texts: CorpusTexts, folder: Path, options: GeneratorTrainOptions, say: Say
) -> Generator | None:
    """Train the network, or take the one that an interrupted run trained already; None in a process not the first."""
    try:
        from postil.commenters.nn.generation import (  # noqa: PLC0415 - it needs torch
            Generator,
            GeneratorOptions,
            train_generator,
        )
        from postil.commenters.nn.training import TrainingOptions  # noqa: PLC0415 - the same
    except ImportError as error:
        raise MissingExtra(f"the model {kind}", "nn") from error
    if "dev" not in texts.corpus.splits:
        raise UsageError(f"{texts.corpus.path}: a network needs a dev set to stop in time; build the corpus with --dev")
    defaults = {"attention": ATTENTION[kind], "group": 8 if texts.reads != "title" else 1}
    network = GeneratorOptions(**{**defaults, **options.network})
    if (network.attention == "none") != (kind == "seq2seq"):
        raise UsageError(f"attention: {kind} has {'none' if kind == 'seq2seq' else 'dot or additive'}")
    how = TrainingOptions(**{"seed": options.seed, "batch": BATCH, "every": EVERY, **options.training})
    made = {
        "request": {
            "network": asdict(network),
            "training": _anywhere(asdict(how)),
            "vectors": _settled(options)["vectors"],
            "target": options.target,
            "texts": texts.about,
        }
    }
    target = folder / "generator"

    def vectors(say: Say) -> NDArray[np.float32] | None:
        return first_vectors(texts, folder, given=options.vectors, size=network.word_size, seed=options.seed, say=say)

    def prepared() -> bool:
        """Get ready, and say whether it is trained already."""
        if target.exists():
            if Model.open(target).made.get("request") == json.loads(json.dumps(made["request"])):
                return True
            shutil.rmtree(target)
        folder.mkdir(exist_ok=True)
        vectors(say)
        return False

    if from_first(prepared, how.device):
        return Generator.open(target) if is_first() else None
    train, dev = (_commented(texts, split, options.target) for split in ("train", "dev"))
    with live() if is_first() else nullcontext(lambda _: None) as show:
        generator = train_generator(
            train, dev, network, how, target, vectors=vectors(lambda _: None), made=made, say=say, watch=show
        )
    return generator if is_first() else None


def _trove(texts: CorpusTexts, target: str, watch: Watch) -> Trove:
    """What was written about the articles of train, with the names of where it stood."""
    corpus = texts.corpus
    train = _commented(texts, "train", target)
    names: list[str] = []
    ids: list[str] = []
    with watch("articles read", corpus.articles("train"), corpus.made["splits"]["train"]["articles"]) as articles:
        for article in articles:
            names.append(article.id)
            ids.extend(["title"] if target == "title" else [comment.id for comment in article.comments])
    runs = Runs.of(train.comments.ids, train.comments.offsets)
    return Trove(runs, Strings.of(names), np.asarray(train.starts), Strings.of(ids))
