"""The journey of `postil train ir-t` and `ir-tc`: a corpus in, a retriever out, and how well it does on dev."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from postil.app.progress import live
from postil.commenters.evaluation import draw_lists, evaluate, popularity
from postil.commenters.nn.batches import Ragged, joined
from postil.commenters.retrieval import KINDS, RANKERS, SIMILAR, ByWords, Shelf, save_retriever
from postil.commenters.search import Index
from postil.commenters.store import Model, ModelWriter, check_free
from postil.commenters.strings import Strings
from postil.corpus.store import Corpus
from postil.errors import MissingExtra, Undefined, UnknownName, UsageError
from postil.metaeval.resampling import counts_of
from postil.text.tokens import Vocabulary
from postil.text.training import train as train_vectors
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from postil.commenters.evaluation import Evaluation, Lists, Scorer
    from postil.commenters.nn.relevance import Relevance
    from postil.commenters.search import Idf, Weighting
    from postil.corpus.passes import Watch
    from postil.records.files import FilePath

    Say = Callable[[str], None]

__all__ = ["TrainOptions", "Trained", "train_retriever"]

LONGEST: Final = 2**31 - 1
SAMPLED: Final = 100
MIXTURES: Final = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
"""How many times the cosine of words is tried beside relevance."""
MIXTURE: Final = 20.0
"""Where dev is too small to say."""
WEIGHT_DECAY: Final = 0.3
EPOCHS: Final = 8
ENOUGH: Final = 20_000_000
"""So many words are enough for word vectors, counting repetitions."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How a retriever is trained.

    Args:
        ranker: ``relevance`` (a convolutional network, needs torch), ``tf-idf``, or ``both``: the sum of the two, with
            the share that finds most on dev.
        similar: From how many similar articles comments are taken.
        weighting: ``tf-idf`` or ``bm25``, for similar articles.
        idf: ``plain`` or ``smooth``.
        vectors: A folder of word vectors to begin the network with, see `postil vectors`; None trains them on the
            corpus, ``none`` begins at random.
        relevance: Options of the network, by name; see `postil.commenters.nn.relevance.RelevanceOptions`.
        training: Options of its training, by name; see `postil.commenters.nn.training.TrainingOptions`.
        sampled: With how many comments of other articles each comment competes in the evaluation on dev.
        seed: Seed of all that is random.
        jobs: Threads.
    """

    ranker: str = "relevance"
    similar: int = SIMILAR
    weighting: Weighting = "tf-idf"
    idf: Idf = "plain"
    vectors: str | None = None
    relevance: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    sampled: int = SAMPLED
    seed: int = 20181
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.ranker not in RANKERS:
            raise UnknownName("ranker", self.ranker, RANKERS)
        vectors = {"vectors": self.vectors} if self.vectors is not None else {}
        if self.ranker == "tf-idf" and (named := [*vectors, *self.relevance, *self.training]):
            raise UsageError(f"{', '.join(named)}: of the network, and the ranker {self.ranker} has none")
        for name in ("similar", "sampled", "jobs"):
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
    evaluation: Evaluation | None


def train_retriever(
    kind: str,
    corpus_folder: FilePath,
    out: FilePath,
    options: TrainOptions,
    *,
    say: Say = lambda _: None,
    watch: Watch = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> Trained:
    """Train a retriever and see how well it finds comments on dev.

    Args:
        kind: ``ir-t`` (titles) or ``ir-tc`` (titles and contents).
        corpus_folder: The corpus.
        out: The folder to make.
        options: How.
        say: Takes words for people.
        watch: Shows progress.

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
    texts = _Texts(corpus, with_content=kind == "ir-tc")
    words = corpus.words()
    shelf = _shelf(corpus, watch)
    index = Index.of(
        *texts.articles("train"), words=len(words), weighting=options.weighting, idf=options.idf, jobs=options.jobs
    )
    say(f"{len(index):,} articles indexed, {len(words):,} words; {len(shelf.texts):,} comments")

    comments = corpus.tokens("train", "comments")
    relevance: Relevance | None = None
    workshop = Path(os.path.realpath(out)).with_name(f".{Path(out).name}.training")
    by_words = ByWords(index.rarity, comments.ids, comments.offsets)
    if options.ranker != "tf-idf":
        relevance = _relevance(texts, workshop, options, say)
    kept: dict[str, NDArray[Any]] = {}
    if relevance is not None and relevance.options.form == "towers":
        kept["vectors"] = relevance.encode_comments(comments.ids, comments.offsets)
    if options.ranker != "relevance" or not kept:
        kept |= {"words.ids": np.asarray(comments.ids), "words.offsets": np.asarray(comments.offsets)}
    asked = _Asked.of(texts, by_words, relevance, options, say) if "dev" in corpus.splits else None
    mixture = None
    if options.ranker == "both":
        mixture = asked.mixture() if asked else MIXTURE
    evaluation = asked.evaluated(mixture) if asked else None

    config = {
        "tokenizer": corpus.tokenizer,
        "similar": options.similar,
        "weighting": options.weighting,
        "idf": options.idf,
        "ranker": options.ranker,
        "segments": 1,
        **({"mixture": mixture} if options.ranker == "both" else {}),
    }
    made = {
        "options": _settled(options),
        "corpus": {"inputs": corpus.made["inputs"], "options": corpus.made["options"]},
        "tokenizer": corpus.made["tokenizer"],
        "dev": [asdict(row) for row in evaluation.rows] if evaluation else [],
    }
    with ModelWriter(out, kind, config, made) as new:
        save_retriever(new, index, shelf, words, ranker=kept)
        if relevance is not None:
            shutil.copytree(workshop / "relevance", new.path("relevance/config.json").parent, dirs_exist_ok=True)
    shutil.rmtree(workshop, ignore_errors=True)
    return Trained(Path(out), evaluation)


def _settled(options: TrainOptions) -> dict[str, Any]:
    """What a model depends on: no paths, nothing about this machine."""
    settled = {name: value for name, value in asdict(options).items() if name != "jobs"}
    vectors = options.vectors
    if vectors not in (None, "none"):
        vectors = Vectors.open(vectors).hash
    return settled | {"vectors": vectors, "training": _anywhere(options.training)}


def _anywhere(training: dict[str, Any]) -> dict[str, Any]:
    """Options of a training, but for those of this machine."""
    return {name: value for name, value in training.items() if name not in ("device", "log")}


class _Texts:
    """The token arrays of a corpus, as a retriever looks at them."""

    def __init__(self, corpus: Corpus, *, with_content: bool) -> None:
        self.corpus = corpus
        self._with_content = with_content
        if with_content and not len(corpus.tokens("train", "content").ids):
            raise UsageError(f"{corpus.path}: its articles have no content; ir-t looks at titles alone")

    @property
    def about(self) -> dict[str, Any]:
        """What they depend on; JSON."""
        made = self.corpus.made
        return {"contents": self._with_content, "inputs": made["inputs"], "options": made["options"]}

    def articles(self, split: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of titles, or of titles and contents: ids and offsets."""
        titles = self.corpus.tokens(split, "title")
        if not self._with_content:
            return np.asarray(titles.ids), np.asarray(titles.offsets)
        both = joined(titles, self.corpus.tokens(split, "content"), LONGEST)
        return both.ids, both.offsets

    def comments(self, split: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of the comments: ids and offsets."""
        found = self.corpus.tokens(split, "comments")
        return np.asarray(found.ids), np.asarray(found.offsets)

    def starts(self, split: str) -> NDArray[np.int64]:
        """Where the comments of each article begin."""
        return np.asarray(self.corpus.starts(split))


def _shelf(corpus: Corpus, watch: Watch) -> Shelf:
    """The comments of train, with the names of where they stood."""
    names: list[str] = []
    languages: list[str] = []
    ids: list[str] = []

    def texts() -> Iterator[str]:
        with watch("articles read", corpus.articles("train"), corpus.made["splits"]["train"]["articles"]) as articles:
            for article in articles:
                names.append(article.id)
                languages.append(article.lang or "")
                for comment in article.comments:
                    ids.append(comment.id)
                    yield comment.text

    said = Strings.of(texts())
    return Shelf(Strings.of(names), Strings.of(languages), np.asarray(corpus.starts("train")), Strings.of(ids), said)


def _relevance(texts: _Texts, folder: Path, options: TrainOptions, say: Say) -> Relevance:
    """Train the relevance model, or take the one that an interrupted run trained already."""
    try:
        from postil.commenters.nn.relevance import (  # noqa: PLC0415 - it needs torch
            Commented,
            Relevance,
            RelevanceOptions,
            train_relevance,
        )
        from postil.commenters.nn.training import TrainingOptions  # noqa: PLC0415 - the same
    except ImportError as error:
        raise MissingExtra("the relevance model", "nn") from error
    if "dev" not in texts.corpus.splits:
        raise UsageError(f"{texts.corpus.path}: a network needs a dev set to stop in time; build the corpus with --dev")
    network = RelevanceOptions(**options.relevance)
    how = TrainingOptions(**{"seed": options.seed, "weight_decay": WEIGHT_DECAY, **options.training})
    made = {
        "request": {
            "network": asdict(network),
            "training": _anywhere(asdict(how)),
            "vectors": _settled(options)["vectors"],
            "texts": texts.about,
        }
    }
    target = folder / "relevance"
    if target.exists():
        if Model.open(target).made.get("request") == json.loads(json.dumps(made["request"])):
            return Relevance.open(target)
        shutil.rmtree(target)
    train, dev = (
        Commented(Ragged(*texts.articles(split)), Ragged(*texts.comments(split)), texts.starts(split))
        for split in ("train", "dev")
    )
    folder.mkdir(exist_ok=True)
    vectors = _first_vectors(texts, folder, options, network.size, say)
    with live() as show:
        return train_relevance(train, dev, network, how, target, vectors=vectors, made=made, say=say, watch=show)


def _first_vectors(
    texts: _Texts, folder: Path, options: TrainOptions, size: int, say: Say
) -> NDArray[np.float32] | None:
    """Word vectors for the network to begin with, float32[words, size]; zeros for words without one."""
    if options.vectors == "none":
        return None
    words = texts.corpus.words()
    about = texts.about | {"size": size, "seed": options.seed}
    if options.vectors is not None:
        vectors = Vectors.open(options.vectors)
        if vectors.array.shape[1] != size:
            raise UsageError(f"{options.vectors}: expected vectors of {size} dimensions, got {vectors.array.shape[1]}")
    elif (found := _kept_vectors(folder, about)) is not None:
        vectors = found
    else:
        lists = _Lists(words, [texts.articles("train"), texts.comments("train")])
        epochs = max(1, min(EPOCHS, round(ENOUGH / max(1, lists.size))))
        say(f"word vectors are trained on {lists.size:,} words, {epochs} times")
        try:
            vectors = train_vectors(
                lists, dimensions=size, negative=10, window=8, epochs=epochs, min_count=2, seed=options.seed
            )
        except MissingExtra:
            say("the network begins with random word vectors, which is worse: pip install 'postil[vectors]'")
            return None
        vectors.save(folder / "vectors", {"about": about})
    known = Vocabulary()
    known.encode_tokens([words])
    rows = vectors.lookup(known)
    return np.where(rows[:, None] >= 0, vectors.array[np.maximum(rows, 0)], np.float32(0)).astype(np.float32)


def _kept_vectors(folder: Path, about: dict[str, Any]) -> Vectors | None:
    """Word vectors of a run that was interrupted, if it was about the same."""
    if not (folder / "vectors").exists():
        return None
    vectors = Vectors.open(folder / "vectors")
    return vectors if vectors.made.get("about") == json.loads(json.dumps(about)) else None


class _Lists:
    """Texts as lists of words, to be gone through many times.

    Args:
        words: The words, by id.
        arrays: Ids and offsets of texts.
    """

    def __init__(self, words: list[str], arrays: list[tuple[NDArray[np.int32], NDArray[np.int64]]]) -> None:
        self._words = words
        self._arrays = arrays
        self.size = sum(len(ids) for ids, _ in arrays)

    def __iter__(self) -> Iterator[list[str]]:
        words = self._words
        for ids, offsets in self._arrays:
            for start, end in pairwise(offsets.tolist()):
                yield [words[word] for word in ids[start:end].tolist()]


@dataclass(frozen=True, eq=False)
class _Asked:
    """What dev is asked: lists of comments for its articles, and who scores them.

    Args:
        lists: An article's own comments and those of others.
        scorers: The scorers by name.
        seed: Seed of the resamples.
    """

    lists: Lists
    scorers: dict[str, Scorer]
    seed: int

    @classmethod
    def of(
        cls, texts: _Texts, by_words: ByWords, relevance: Relevance | None, options: TrainOptions, say: Say
    ) -> _Asked | None:
        """None where dev is too small to ask."""
        try:
            lists = draw_lists(texts.starts("dev"), options.sampled, options.seed)
        except Undefined as error:
            say(f"no evaluation on dev: {error}")
            return None
        articles, comments = texts.articles("dev"), texts.comments("dev")
        scorers: dict[str, Scorer] = {}
        if relevance is not None:
            scorers["relevance"] = _once(_by_relevance(relevance, articles, comments))
        scorers["tf-idf"] = _once(_by_words(by_words, articles, comments))
        votes = [
            np.nan if comment.upvotes is None else float(comment.upvotes)
            for article in texts.corpus.articles("dev")
            for comment in article.comments
        ]
        return cls(lists, scorers | {"upvotes": popularity(votes)}, options.seed)

    def mixture(self) -> float:
        """How many times the cosine of words is added to relevance to find most; the least of equally good ones."""
        one = np.ones((1, len(self.lists)), dtype=np.int32)
        found = evaluate(self.lists, {str(share): self._both(share) for share in MIXTURES}, one, cuts=(1,))
        by_share = {row.scorer: row.value for row in found.rows if row.measure == "mrr"}
        return max(MIXTURES, key=lambda share: (by_share[str(share)], -share))

    def evaluated(self, mixture: float | None) -> Evaluation:
        """How well each scorer finds the articles' own comments."""
        scorers = self.scorers if mixture is None else {"both": self._both(mixture), **self.scorers}
        return evaluate(self.lists, scorers, counts_of(len(self.lists), seed=self.seed))

    def _both(self, share: float) -> Scorer:
        relevance, words = self.scorers["relevance"], self.scorers["tf-idf"]
        return lambda articles, comments: (
            np.asarray(relevance(articles, comments)) + share * np.asarray(words(articles, comments))
        )


def _once(scorer: Scorer) -> Scorer:
    """A scorer that keeps its answer; it is asked about the same lists."""
    kept: list[Any] = []

    def score(articles: NDArray[np.int64], comments: NDArray[np.int64]) -> Any:
        if not kept:
            kept.append(scorer(articles, comments))
        return kept[0]

    return score


def _by_words(
    ranker: ByWords,
    articles: tuple[NDArray[np.int32], NDArray[np.int64]],
    comments: tuple[NDArray[np.int32], NDArray[np.int64]],
) -> Scorer:
    ids, offsets = comments
    of_dev = ByWords(ranker.rarity, ids, offsets)

    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = np.empty(len(places))
        starts = np.concatenate([[0], (np.diff(queries) != 0).nonzero()[0] + 1, [len(queries)]])
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            article = int(queries[first])
            begin, end = articles[1][article], articles[1][article + 1]
            query = of_dev.articles(articles[0][begin:end], np.array([0, end - begin]))
            scores[first:last] = of_dev.kept(query, 0, places[first:last])
        return scores

    return score


def _by_relevance(
    relevance: Relevance,
    articles: tuple[NDArray[np.int32], NDArray[np.int64]],
    comments: tuple[NDArray[np.int32], NDArray[np.int64]],
) -> Scorer:
    def score(queries: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float32]:
        return relevance.score_pairs(Ragged(*articles), Ragged(*comments), queries, places)

    return score
