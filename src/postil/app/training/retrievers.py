"""The journey of `postil train ir-t` and `ir-tc`: a corpus in, a retriever out, and how well it does on dev."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from postil.app.corpus.texts import CorpusTexts
from postil.app.training.dev_evaluation import INTERPOLATION_WEIGHT, Asked
from postil.app.training.training_directory import Workshop
from postil.commenters.nn.distributed import is_main_process
from postil.commenters.rankers import TfidfRanker, idf_weights
from postil.commenters.retrieval import KINDS, NEIGHBORS, RANKERS, CandidatePool, save_retriever
from postil.commenters.search import Index
from postil.commenters.segment import IDF, WEIGHTINGS
from postil.commenters.store import ModelWriter, check_free
from postil.commenters.string_array import StringArray
from postil.corpus.store import Corpus
from postil.errors import MissingExtra, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from postil.app.progress import Say
    from postil.commenters.nn.relevance import Relevance
    from postil.commenters.segment import Idf, Weighting
    from postil.corpus.passes import Watch
    from postil.records.results import RankingResult
    from postil.records.row_files import FilePath

__all__ = ["TrainOptions", "Trained", "train_retriever"]

SAMPLED: Final = 100
WEIGHT_DECAY: Final = 0.3


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How a retriever is trained.

    Args:
        ranker: ``relevance`` (a convolutional network, needs torch), ``tf-idf``, or ``both``: the sum of the two, with
            the share that finds most on dev. The paper has relevance alone.
        neighbors: From how many similar articles comments are taken.
        retrieval: ``tf-idf`` or ``bm25``, for similar articles.
        idf: ``plain`` or ``smooth``.
        embeddings: A folder of word vectors to begin the network with, see `postil vectors`; None trains them on the
            corpus, ``none`` begins at random.
        relevance: Options of the network, by name; see `postil.commenters.nn.relevance.RelevanceOptions`.
        training: Options of its training, by name; see `postil.commenters.nn.training.TrainingOptions`.
        eval_negatives: With how many comments of other articles each comment competes in the evaluation on dev.
        seed: Seed of all that is random.
        jobs: Threads.
    """

    ranker: str = "both"
    neighbors: int = NEIGHBORS
    retrieval: Weighting = "tf-idf"
    idf: Idf = "plain"
    embeddings: str | None = None
    relevance: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    eval_negatives: int = SAMPLED
    seed: int = 20181
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.ranker not in RANKERS:
            raise UnknownName("ranker", self.ranker, RANKERS)
        if self.retrieval not in WEIGHTINGS:
            raise UnknownName("retrieval", self.retrieval, WEIGHTINGS)
        if self.idf not in IDF:
            raise UnknownName("idf", self.idf, IDF)
        embeddings = {"embeddings": self.embeddings} if self.embeddings is not None else {}
        if self.ranker == "tf-idf" and (named := [*embeddings, *self.relevance, *self.training]):
            raise UsageError(f"{', '.join(named)}: of the network, and the ranker {self.ranker} has none")
        for name in ("neighbors", "eval_negatives", "jobs"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: expected at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class Trained:
    """What a training made.

    Args:
        folder: The model.
        evaluation: How well it finds comments on dev; None where there is no dev set.
    """

    folder: Path
    evaluation: RankingResult | None


def train_retriever(
    kind: str,
    corpus_folder: FilePath,
    out: FilePath,
    options: TrainOptions,
    *,
    say: Say = lambda _: None,
    watch: Watch = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> Trained | None:
    """Train a retriever and see how well it finds comments on dev.

    Under torchrun several processes train the network, and the first alone writes and speaks.

    Args:
        kind: ``ir-t`` (titles) or ``ir-tc`` (titles and contents).
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
        MissingExtra: torch is not installed and the ranker needs it.
        PostilError: The system refuses to write, or the training fails.
    """
    if kind not in KINDS:
        raise UnknownName("commenter", kind, KINDS)
    check_free(out)
    corpus = Corpus.open(corpus_folder)
    texts = CorpusTexts(corpus, reads="both" if kind == "ir-tc" else "title")
    words = corpus.words()
    workshop = Workshop(out, texts, options.embeddings, options.seed, say)
    for note in texts.gaps() if is_main_process() else ():
        say(note)
    relevance = _relevance(workshop, options) if options.ranker != "tf-idf" else None
    if not is_main_process():
        return None
    pool = _pool(corpus, watch)
    index = Index.of(
        *texts.articles("train"), words=len(words), weighting=options.retrieval, idf=options.idf, jobs=options.jobs
    )
    say(f"{len(index):,} articles indexed, {len(words):,} words; {len(pool.texts):,} comments")

    comments = texts.comments("train")
    rare = idf_weights(texts.articles("train"), comments, texts.starts("train"), len(words), options.idf)
    kept: dict[str, NDArray[Any]] = {}
    if relevance is not None and relevance.options.architecture == "two-tower":
        kept["vectors"] = relevance.encode_comments(*comments)
    if options.ranker != "relevance" or not kept:
        kept |= {"words.ids": comments[0], "words.offsets": comments[1]}
    if options.ranker != "relevance":
        kept["idf"] = rare
    asked = Asked.of(
        texts, TfidfRanker(rare, *comments), relevance, sampled=options.eval_negatives, seed=options.seed, say=say
    )
    interpolation_weight = None
    if options.ranker == "both":
        interpolation_weight = asked.interpolation_weight() if asked else INTERPOLATION_WEIGHT
    evaluation = asked.evaluated(interpolation_weight) if asked else None

    config = {
        "tokenizer": corpus.tokenizer,
        "neighbors": options.neighbors,
        "weighting": options.retrieval,
        "idf": options.idf,
        "ranker": options.ranker,
        "segments": 1,
        **({"interpolation_weight": interpolation_weight} if options.ranker == "both" else {}),
    }
    made = workshop.made(asdict(options), [msgspec.to_builtins(row) for row in evaluation.rows] if evaluation else [])
    with ModelWriter(out, kind, config, made) as new:
        save_retriever(new, index, pool, words, ranker=kept)
        if relevance is not None:
            shutil.copytree(workshop.folder / "relevance", new.path("relevance/config.json").parent, dirs_exist_ok=True)
    workshop.close()
    return Trained(Path(out), evaluation)


def _pool(corpus: Corpus, watch: Watch) -> CandidatePool:
    """The comments of train, with the names of where they stood."""
    names: list[str] = []
    languages: list[str] = []
    ids: list[str] = []

    def texts() -> Iterator[str]:
        with watch("articles read", corpus.articles("train"), corpus.metadata.splits["train"].articles) as articles:
            for article in articles:
                names.append(article.id)
                languages.append(article.lang or "")
                for comment in article.comments:
                    ids.append(comment.id)
                    yield comment.text

    said = StringArray.of(texts())
    return CandidatePool(
        StringArray.of(names), StringArray.of(languages), np.asarray(corpus.starts("train")), StringArray.of(ids), said
    )


def _relevance(workshop: Workshop, options: TrainOptions) -> Relevance | None:
    """The relevance model; None in a process that is not the first."""
    try:
        from postil.commenters.nn.relevance import (  # noqa: PLC0415 - it needs torch
            Relevance,
            RelevanceOptions,
            train_relevance,
        )
        from postil.commenters.nn.training import TrainingOptions  # noqa: PLC0415 - the same
    except ImportError as error:
        raise MissingExtra("the relevance model", "nn") from error
    network = RelevanceOptions(**options.relevance)
    how = TrainingOptions(**{"seed": options.seed, "weight_decay": WEIGHT_DECAY, **options.training})
    return workshop.network(
        "relevance",
        {"network": asdict(network), "training": how.portable()},
        size=network.embedding_dim,
        device=how.device,
        train=partial(train_relevance, workshop.split("train"), workshop.split("dev"), network, how),
        load=Relevance.open,
    )
