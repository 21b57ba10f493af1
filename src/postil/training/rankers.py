"""Training of what ranks candidates: the ranker by features with its static vectors, and a reranker.

An article's own comments are told from those of others; the weight of a reranker beside the ranker is chosen on dev.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from postil.comments.feature_ranker import (
    AS_WRITTEN,
    CommentFeatures,
    FeatureModel,
    FeatureRanker,
    RelevanceFeatures,
    TextVectors,
    hubs_of,
    person_ids,
)
from postil.comments.rankers import ArticleTexts, CommentTexts, shared_idf
from postil.comments.ranking_evaluation import RankingTask, Scorer, constant, reciprocal_ranks, sample_negatives
from postil.comments.reranker import DEPTH, Reranker, standardized, text_of, unit_vectors
from postil.data.explain import counted
from postil.encoders.base import Encoder, model_folder
from postil.encoders.sentences import sentence_encoder
from postil.encoders.static import MATRIX, TOKENIZER, open_static
from postil.errors import InvalidInput, MissingExtra, Undefined
from postil.learners.boosting import classifier_fit
from postil.learners.linear import Logistic
from postil.messages import Blank, Message, Setting
from postil.text.tokens import Vocabulary
from postil.text.vectors import WORDS, Vectors
from postil.training.texts import CorpusTexts, corpus_vectors
from postil.vectors.imported import PACKAGES, shipped_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.index import Index
    from postil.comments.options import RetrieverTrainOptions
    from postil.corpus.passes import OnProgress
    from postil.data.progress import OnMessage
    from postil.data.rows import Article

__all__ = [
    "SIZE",
    "TrainedFeatures",
    "check_vectors",
    "split_texts",
    "stage_vectors",
    "train_features",
    "train_reranker",
]

SIZE: Final = 128
"""Dimensions of word vectors that are trained on a corpus."""
MOST: Final = 200_000
"""Number of word vectors that a model keeps whatever the corpus; of more, also those of its words."""
WORDS_ONLY: Final = Message(
    "the ranker reads words only, which is worse: pip install wordllama 'postil[vectors]', or name a folder: {vectors}",
    vectors=Setting("vectors", Blank("DIR")),
)


def check_vectors(choice: str) -> None:
    """Check the vectors that are asked for, before a training begins.

    Args:
        choice: A folder of static vectors, ``corpus``, ``none`` or ``auto``.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no vectors.
        MissingExtra: The packages that read or train them are not installed.
    """
    if choice == "corpus" and find_spec("gensim") is None:
        raise MissingExtra(Message("{vectors}", vectors=Setting("vectors", "corpus")), "vectors")
    if choice not in {"auto", "corpus", "none"}:
        open_static(choice)


def stage_vectors(choice: str, texts: CorpusTexts, folder: Path, seed: int, on_message: OnMessage) -> str | None:
    """Put the vectors of a model into a folder.

    Args:
        choice: A folder of static vectors, ``corpus``, ``none`` or ``auto``.
        texts: The corpus.
        folder: Working directory of the training; they are put into ``static`` there.
        seed: Seed of the training of word vectors.
        on_message: Callback for status messages.

    Returns:
        Their origin: ``given``, ``corpus``, or a package and its version. None without vectors.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no vectors.
        MissingExtra: The packages that read or train them are not installed.
    """
    target = folder / "static"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if choice == "none":
        return None
    if choice == "auto":
        return _automatic(texts, target, seed, on_message)
    if choice == "corpus":
        return _of_corpus(texts, target, seed, on_message)
    given = model_folder(choice, "a model of vectors")
    if (given / WORDS).exists():
        _kept(Vectors.open(given), texts.corpus.words()).save(target)
    else:
        shutil.copyfile(next(given.glob("*.safetensors")), target / MATRIX)
        shutil.copyfile(given / TOKENIZER, target / TOKENIZER)
    return "given"


def _automatic(texts: CorpusTexts, target: Path, seed: int, on_message: OnMessage) -> str | None:
    for package in PACKAGES:
        if find_spec(package) is None:
            continue
        shipped = shipped_vectors(package)
        shutil.copyfile(shipped.matrix, target / MATRIX)
        shutil.copyfile(shipped.tokenizer, target / TOKENIZER)
        try:
            open_static(str(target))
        except MissingExtra as error:
            on_message(Message("vectors of {package} are not used: {why}", package=package, why=error.message))
            continue
        origin = f"{package} {shipped.version}"
        on_message(Message("vectors of {origin} ({automatic})", origin=origin, automatic=Setting("vectors", "auto")))
        return origin
    if find_spec("gensim") is not None:
        return _of_corpus(texts, target, seed, on_message)
    on_message(WORDS_ONLY)
    return None


def _of_corpus(texts: CorpusTexts, target: Path, seed: int, on_message: OnMessage) -> str:
    vectors = corpus_vectors(texts, target.parent, size=SIZE, seed=seed, on_message=on_message)
    vectors.save(target)
    return "corpus"


def _kept(vectors: Vectors, words: list[str]) -> Vectors:
    """The vectors that a model keeps."""
    if len(vectors) <= MOST:
        return vectors
    of_corpus = frozenset(words)
    rows = [at for at, word in enumerate(vectors.words) if at < MOST or word in of_corpus]
    metadata = {name: value for name, value in vectors.metadata.items() if name != "hash"}
    return Vectors(tuple(vectors.words[at] for at in rows), np.asarray(vectors.array[rows]), metadata)


OWN: Final = 20_000
"""Most own comments that are fitted to."""
SIMILAR: Final = 20
"""Number of similar articles that negatives are drawn from."""
OTHERS: Final = 5
"""Number of random negatives for each own comment, beside one of a similar article."""
COPY_COSINE: Final = 0.98
L2: Final = 1.0


class TrainedFeatures(NamedTuple):
    """A fitted ranker by features.

    Args:
        ranker: The ranker.
        origin: Origin of its vectors; None without vectors.
        folder: Folder of its vectors, empty without vectors.
    """

    ranker: FeatureRanker
    origin: str | None
    folder: Path

    @property
    def config(self) -> dict[str, object]:
        """Its settings in the model's configuration."""
        vectors = self.ranker.features.text_vectors
        return {
            "features": list(self.ranker.features.names),
            "vectors": vectors.encoder.signature if vectors else "",
            **({"vector_words": AS_WRITTEN} if vectors and vectors.tells_case else {}),
            "trees": len(trees.trees) if (trees := self.ranker.model.trees) else 0,
        }


def train_features(
    texts: CorpusTexts, index: Index, folder: Path, options: RetrieverTrainOptions, on_message: OnMessage
) -> TrainedFeatures:
    """Fit the ranker by features to the training set.

    Args:
        texts: The corpus.
        index: Its training articles.
        folder: Working directory of the training.
        options: Options of the training.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no folder of vectors.
        InvalidInput: The vectors or the corpus are damaged.
        MissingExtra: The packages that read or train the vectors are not installed.
        Undefined: There are no comments of two articles to learn from.
    """
    origin = stage_vectors(options.vectors, texts, folder, options.seed, on_message)
    articles, comments = split_texts(texts, "train", raw=True)
    starts, vocabulary = texts.starts("train"), Vocabulary.of(texts.corpus.words())
    idf = shared_idf(index.collection.frequencies, comments.words, starts, options.idf, 1)
    with_content = texts.reads == "both"
    features = RelevanceFeatures(idf, person_ids(vocabulary), with_content)
    if origin is not None:
        vectors = TextVectors(open_static(str(folder / "static")), texts.corpus.tokenizer)
        hubs = hubs_of(vectors, articles.texts, with_content=with_content)
        features = RelevanceFeatures(idf, features.persons, with_content, vectors, hubs)
    stored = features.comments(comments)
    pairs = sample_pairs(index, articles, starts, options.seed, jobs=options.jobs)
    model = fit_model(features, articles, stored, pairs, seed=options.seed, on_message=on_message)
    own, total = int(pairs.own.sum()), len(stored)
    of = counted(own, "comment") if own == total else f"{own:,} of {counted(total, 'comment')}, sampled"
    names = features.names
    on_message(f"ranker fitted to {of}, and {len(pairs.own) - own:,} of other articles: {len(names)} features")
    return TrainedFeatures(FeatureRanker(features, model, stored), origin, folder / "static")


def split_texts(texts: CorpusTexts, split: str, *, raw: bool) -> tuple[ArticleTexts, CommentTexts]:
    """Articles and comments of a split as rankers read them.

    Args:
        texts: The corpus.
        split: The split.
        raw: True for the texts themselves too, which features are computed from.
    """
    articles, comments = [], []
    for article in texts.corpus.articles(split) if raw else ():
        articles.append((article.title, article.content or "" if texts.reads == "both" else ""))
        comments += [comment.text for comment in article.comments]
    return (
        ArticleTexts(texts.articles(split), texts.titles(split), articles),
        CommentTexts(texts.comments(split), comments),
    )


class TrainingPairs(NamedTuple):
    """P pairs of article and comment, those of an article one after the other.

    Args:
        articles: int64[P].
        comments: int64[P].
        own: bool[P], True for an article's own comment.
    """

    articles: NDArray[np.int64]
    comments: NDArray[np.int64]
    own: NDArray[np.bool_]


def sample_pairs(
    index: Index, articles: ArticleTexts, starts: NDArray[np.int64], seed: int, *, jobs: int = 1
) -> TrainingPairs:
    """Sample own comments of articles, and negatives: one of twenty similar articles and five of any, for each.

    Args:
        index: The n articles.
        articles: The same.
        starts: int64[n + 1], the index of each article's first comment.
        seed: Seed of the sampling.
        jobs: Number of search threads.

    Returns:
        The pairs, of at most 20,000 own comments.

    Raises:
        Undefined: Fewer than two articles have comments.
    """
    rng = np.random.default_rng(seed)
    total = int(starts[-1])
    if np.count_nonzero(np.diff(starts)) < 2:
        raise Undefined("expected two articles with comments, to learn which belong to an article")
    chosen = np.sort(rng.choice(total, min(total, OWN), replace=False))
    owners = np.searchsorted(starts, chosen, side="right") - 1
    each, first = np.unique(owners, return_index=True)
    some = articles.take(each)
    top = index.search(some.words.ids, some.words.offsets, min(SIMILAR + 1, len(index)), jobs=jobs).documents
    out = []
    for at, (article, own) in enumerate(zip(each.tolist(), np.split(chosen, first[1:]), strict=True)):
        begin, end = int(starts[article]), int(starts[article + 1])
        others = rng.integers(0, total - (end - begin), OTHERS * len(own))
        others[others >= begin] += end - begin
        near = top[at][(top[at] >= 0) & (top[at] != article)]
        words = some.words.ids[some.words.offsets[at] : some.words.offsets[at + 1]]
        near = near[index.cosines(words, near) < COPY_COSINE][:SIMILAR]
        pool = np.concatenate([np.zeros(0, np.int64), *(np.arange(starts[n], starts[n + 1]) for n in near.tolist())])
        similar = rng.choice(pool, len(own)) if len(pool) else pool
        comments = np.concatenate([own, others, similar])
        out.append((np.full(len(comments), article), comments, np.arange(len(comments)) < len(own)))
    return TrainingPairs(*(np.concatenate(column) for column in zip(*out, strict=True)))


def fit_model(
    features: RelevanceFeatures,
    articles: ArticleTexts,
    comments: CommentFeatures,
    pairs: TrainingPairs,
    *,
    seed: int,
    on_message: Callable[[str], None],
) -> FeatureModel:
    """Fit a logistic regression and boosted trees to pairs.

    Args:
        features: Computes the features.
        articles: The articles.
        comments: The comments.
        pairs: Pairs of them.
        seed: Seed of the trees.
        on_message: Callback for status messages.

    Returns:
        The fitted model; without trees where scikit-learn is not installed or there are too few pairs.
    """
    each, first = np.unique(pairs.articles, return_index=True)
    lists = [comments.take(some) for some in np.split(pairs.comments, first[1:])]
    columns = np.concatenate(features.pairs(articles.take(each), lists))
    logistic = Logistic.fit(columns, pairs.own, L2)
    try:
        return FeatureModel(logistic, classifier_fit(columns, pairs.own, seed))
    except MissingExtra as error:
        on_message(
            Message("the ranker is a logistic regression alone, which is worse: {problem}", problem=error.message)
        )
    except Undefined as error:
        on_message(Message("the ranker is a logistic regression alone: {problem}", problem=error.message))
    return FeatureModel(logistic, None)


HUB_ARTICLES: Final = 500
"""Most training articles whose mean vector is the hub."""
DEV_ARTICLES: Final = 60
"""Most articles of dev that the weight is chosen on: each text takes tens of milliseconds."""
OWN_COMMENTS: Final = 5
"""Most comments of such an article."""
FEWEST: Final = 10
"""Articles of dev below which no weight is chosen."""
WEIGHTS: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights that are tried on dev."""
DEFAULT: Final = 1.0
"""The weight where dev is missing or too small: score and cosine count alike."""
_BLOCK: Final = 16
"""Number of texts that are encoded together."""


def train_reranker(
    texts: CorpusTexts,
    folder: str,
    scorer: Scorer | None,
    *,
    seed: int,
    on_message: OnMessage,
    on_progress: OnProgress,
) -> Reranker:
    """Compute the hub of a sentence encoder, and choose its weight.

    The hub is the mean unit vector of up to 500 training articles, drawn with the seed. The weight is the one with the
    highest mean reciprocal rank, the lowest of tied ones. Up to five own comments of each of up to 60 articles of dev
    are ranked among 45 of the others' comments, by the ranker's score plus the weight times the cosine less hub, both
    standardized within the article.

    Args:
        texts: The corpus.
        folder: The sentence encoder.
        scorer: The ranker's scores of comments of dev; None where the corpus has no dev set.
        seed: Seed of all draws.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Raises:
        UsageError: There is no such folder.
        InvalidInput: The folder holds no sentence encoder, or no training article has a vector.
        MissingExtra: The library that runs it is not installed.
    """
    encoder = sentence_encoder(folder)
    total = texts.corpus.metadata.splits["train"].articles
    articles = _drawn(texts, "train", _draw(total, HUB_ARTICLES, seed))
    on_message(f"reranker {encoder.signature}: encoding {counted(len(articles), 'article')} of train")
    vectors = _encoded(encoder, [_text(texts, one) for one in articles], on_progress)
    hub = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not (np.isfinite(hub).all() and hub.any()):
        raise InvalidInput("expected a vector of each article, got none that is finite and not 0", where=folder)
    chosen = None if scorer is None else _choose(Reranker(encoder, hub, DEFAULT), texts, scorer, seed, on_progress)
    if chosen is None:
        on_message(f"reranker: dev is missing or too small, so its weight is {DEFAULT:g}")
        return Reranker(encoder, hub, DEFAULT)
    weight, before, after, n = chosen
    on_message(
        f"reranker: weight {weight:g}, the best on dev ({counted(n, 'article')}): mrr {after:.3f}, {before:.3f} without"
    )
    return Reranker(encoder, hub, weight)


def _choose(
    reranker: Reranker, texts: CorpusTexts, scorer: Scorer, seed: int, on_progress: OnProgress
) -> tuple[float, float, float, int] | None:
    """The best weight, the mean reciprocal ranks without it and with it, and the number of articles; None if few."""
    starts = texts.starts("dev")
    sizes = np.diff(starts)
    commented = np.flatnonzero(sizes)
    if len(commented) < FEWEST:
        return None
    which = commented[_draw(len(commented), DEV_ARTICLES, seed)]
    lists = [starts[at] + _draw(int(sizes[at]), OWN_COMMENTS, [seed, int(at)]) for at in which.tolist()]
    kept = np.concatenate(lists)  # the comments that are encoded, as indices among all of dev
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
    others = int(len(kept) - max(map(len, lists)))
    try:
        task = sample_negatives(bounds, min(DEPTH - OWN_COMMENTS, others), seed)
    except Undefined:
        return None
    articles = _drawn(texts, "dev", which)
    said = [
        article.comments[one - starts[at]].text
        for article, at, each in zip(articles, which.tolist(), lists, strict=True)
        for one in each.tolist()
    ]
    read = [_text(texts, one) for one in articles]
    vectors = _encoded(reranker.encoder, [*read, *said], on_progress).astype(np.float64)
    queries, places = task.pairs
    cosines = ((vectors[queries] - reranker.hub) * vectors[len(read) + places]).sum(axis=1)
    scores = np.asarray(scorer(which[queries], kept[places]), np.float64)
    cosines, scores = (_standardized(values, task) for values in (cosines, scores))
    mrr = reciprocal_ranks(task, {f"{weight}": constant(scores + weight * cosines) for weight in WEIGHTS})
    best = max(WEIGHTS, key=lambda weight: (mrr[f"{weight}"], -weight))
    return best, mrr[f"{WEIGHTS[0]}"], mrr[f"{best}"], len(which)


def _standardized(values: NDArray[np.float64], task: RankingTask) -> NDArray[np.float64]:
    """Values standardized within each article's list."""
    return np.concatenate([standardized(each)[0] for each in np.split(values, task.offsets[1:-1])])


def _draw(total: int, most: int, seed: int | list[int]) -> NDArray[np.int64]:
    """Up to ``most`` of ``total`` indices, drawn with a seed, in their order."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(seed).choice(total, most, replace=False))


def _drawn(texts: CorpusTexts, split: str, which: NDArray[np.int64]) -> list[Article]:
    wanted = set(which.tolist())
    return [article for at, article in enumerate(texts.corpus.articles(split)) if at in wanted]


def _text(texts: CorpusTexts, article: Article) -> str:
    return text_of(article.title, article.content or "" if texts.reads == "both" else "")


def _encoded(encoder: Encoder, texts: Sequence[str], on_progress: OnProgress) -> NDArray[np.float32]:
    """Unit vectors of texts, float32[n, d]."""
    blocks = [texts[at : at + _BLOCK] for at in range(0, len(texts), _BLOCK)]
    with on_progress("blocks of texts encoded", blocks, len(blocks)) as stream:
        return np.concatenate([unit_vectors(encoder, block) for block in stream])
