"""Training of retrievers, `postil train ir-t` and `ir-tc`, and `postil train --update`, which adds articles to one.

A training ends with a dev evaluation: articles' own comments are ranked against those of other articles.
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from postil.comments import neural_commenter
from postil.comments.candidate_pool import CandidatePool, retriever_arrays, save_retriever
from postil.comments.feature_ranker import VECTORS
from postil.comments.index import Index
from postil.comments.nn.distributed import is_main_process
from postil.comments.rankers import ArticleTexts, Ranker, TfidfRanker, WordsRanker, idf_weights
from postil.comments.ranking_evaluation import (
    RankingTask,
    Scorer,
    all_negatives,
    constant,
    evaluate,
    popularity,
    reciprocal_ranks,
    sample_negatives,
)
from postil.comments.result import RankingResult, UpdateResult
from postil.comments.retrieval import KINDS, Retriever
from postil.comments.sentence_vectors import SentenceVectors, article_text, drop_encoded, encode_model, encode_texts
from postil.corpus.forgotten import comment_key, erasures, keys_of
from postil.corpus.store import Corpus
from postil.data.arguments import check_arguments
from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.model_folders import Change, Model, ModelWriter, changing, training_folder
from postil.encoders.encoder_options import is_address
from postil.encoders.endpoint_encoder import EncoderEndpoint, Fingerprint, endpoint_model, open_encoder
from postil.encoders.sentences import sentence_encoder
from postil.engine import check_engine, elsewhere
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError, needs
from postil.messages import Message
from postil.meta.resampling import bootstrap_counts
from postil.text.tokens import Ragged
from postil.text.vectors import METADATA
from postil.training.rankers import TrainedFeatures, check_vectors, split_texts, train_features, train_reranker
from postil.training.texts import CorpusTexts, TrainingDirectory
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.comments.nn.relevance import Relevance
    from postil.comments.options import RetrieverTrainOptions
    from postil.comments.reranker import Reranker
    from postil.corpus.passes import OnProgress
    from postil.data.arrays import AnyArray
    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath
    from postil.encoders.sentences import SentenceEncoder
    from postil.training.grid import Combination, Grid

__all__ = ["check_retriever", "train_retriever", "update_model"]

INTERPOLATION_WEIGHTS: Final = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
"""Weights of the TF-IDF cosine, beside relevance, that are tried on dev."""
ENOUGH_NEGATIVES: Final = 20
"""Number of comments of other articles that weights are chosen among."""
FEATURE_WEIGHTS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights of the logit of features, beside relevance, that are tried on dev."""


class Weights(NamedTuple):
    """Weights of the parts of the ranker ``both``, beside a relevance score of weight 1.

    Args:
        interpolation: Weight of the TF-IDF cosine.
        features: Weight of the logit of features.
    """

    interpolation: float
    features: float


WEIGHTS: Final = Weights(10.0, 2.0)
"""The weights where dev is missing or too small."""


def _weighted(
    parts: Mapping[str, Scorer], weights: Weights, articles: NDArray[np.int64], comments: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scores of the ranker ``both``, given the scorers of its parts."""
    relevance, words, features = (
        np.asarray(parts[name](articles, comments), np.float64) for name in ("relevance", "tf-idf", "features")
    )
    return np.asarray(relevance + weights.interpolation * words + weights.features * features)


def _best_weights(task: RankingTask, parts: Mapping[str, Scorer]) -> Weights:
    """Weights of the parts of ``both`` with the highest mean reciprocal rank; the lowest of tied ones."""
    tried = [Weights(*pair) for pair in product(INTERPOLATION_WEIGHTS, FEATURE_WEIGHTS)]
    mrr = reciprocal_ranks(task, {str(each): partial(_weighted, parts, each) for each in tried})
    return max(tried, key=lambda each: (mrr[str(each)], -each.interpolation, -each.features))


def _dev_task(starts: NDArray[np.int64], negatives: int, seed: int, on_message: OnMessage) -> RankingTask | None:
    """The ranking task of a dev set, with fewer negatives if it is small; None if an article has all comments."""
    others = int(starts[-1] - np.diff(starts).max())
    some = min(others, negatives)
    try:
        task = sample_negatives(starts, some, seed) if some else all_negatives(starts)
    except Undefined as error:
        on_message(Message("no evaluation on dev: {problem}", problem=error.message))
        return None
    among = f"{some:,}" if some else "all"
    on_message(
        f"each comment of {counted(len(task), 'dev article')} is ranked among {among} of other articles; recall@1: the "
        "share that comes first"
    )
    return task


def _scored(
    ranker: Ranker, articles: ArticleTexts, queries: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scores of a ranker, whose stored comments are those that are scored."""
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    lists = np.split(places, starts[1:])
    found = []
    for at in range(0, len(starts), _BLOCK):
        some = articles.take(queries[starts[at : at + _BLOCK]])
        found += ranker.score_stored(some, lists[at : at + _BLOCK])
    return np.concatenate(found)


_BLOCK: Final = 16
"""Number of articles that are scored together."""


def train_retriever(
    kind: str,
    corpus_folder: FilePath,
    out: FilePath,
    options: RetrieverTrainOptions,
    *,
    grid: Grid | None = None,
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> RankingResult | None:
    """Train a retriever and evaluate it on dev.

    Under torchrun several processes train the network, and the main process alone writes and prints.

    Args:
        kind: ``ir-t`` (titles) or ``ir-tc`` (titles and contents).
        corpus_folder: The corpus.
        out: The model folder to write.
        options: Options of the training.
        grid: Hyperparameters of the network to choose on dev before; in place of those of ``options``.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Returns:
        The evaluation; None where there is no dev set, and in other processes than the main one.

    Raises:
        UnknownName: There is no such commenter.
        UsageError: The request does not fit the corpus.
        InvalidInput: The corpus is damaged.
        MissingExtra: torch is not installed and the ranker needs it.
        PostilError: The operating system reports an error, or the training fails.
    """
    UnknownName.check("commenter", kind, KINDS)
    if not is_main_process() and not options.has_network:
        return None  # there is nothing to share, and the main process may even be done by now
    check_folder(out)
    check_engine(options.engine)
    corpus = Corpus.open(corpus_folder)
    texts, options, combinations = check_retriever(kind, corpus, options, grid)
    directory = TrainingDirectory(out, texts, options.embeddings, options.seed, on_message)
    for note in texts.gaps() if is_main_process() else ():
        on_message(note)
    search = None
    if grid is not None:
        options, search = grid.choose(combinations, directory, partial(_train, directory), on_message)
    relevance = _train(directory, options, "relevance") if options.has_network else None
    if not is_main_process():
        return None
    pool, words = _candidate_pool(corpus, ["train"], on_progress), corpus.words()
    index = _index(texts, len(words), options, on_message)
    on_message(
        f"{counted(len(index), 'article')} indexed, {counted(len(words), 'word')}; {counted(len(pool), 'comment')}"
    )

    articles, comments, starts = texts.articles("train"), texts.comments("train"), texts.starts("train")
    words_ranker = TfidfRanker(comments, idf_weights(articles, comments, starts, len(words), options.idf))
    features = train_features(texts, index, directory.folder, options, on_message) if options.has_features else None
    scorers = _dev_scorers(texts, words_ranker, relevance, features)
    result, weights = _dev_ranking(texts, scorers, options, on_message)
    reranker = None
    if options.reranker is not None:
        scorer = partial(_weighted, scorers, weights) if scorers and weights else scorers.get(options.ranker)
        reranker = train_reranker(
            texts, options.reranker, scorer, seed=options.seed, on_message=on_message, on_progress=on_progress
        )

    sentences = None
    if options.encoder is not None:
        sentences = encode_model(
            _opened_encoder(options, directory.folder, on_message),
            pool,
            corpus,
            contents=texts.reads == "both",
            folder=directory.folder,
            jobs=options.jobs,
            on_message=on_message,
            on_progress=on_progress,
        )

    rows = msgspec.to_builtins(result.rows) if result else []
    training = options.training if options.has_network else None
    metadata = directory.metadata(_recorded(options, features, reranker, sentences), training, rows, search)
    arrays = _ranker_arrays(options.ranker, words_ranker, relevance, features)
    config = _config(options, corpus.tokenizer, weights, features)
    for part in (reranker, sentences):
        config |= part.settings() if part else {}
    with ModelWriter(out, kind, config, metadata) as new:
        save_retriever(new, index, pool, words, ranker=arrays)
        if sentences is not None:
            sentences.save(new)
        _add_models(new, directory.folder, relevance, features, reranker)
    shutil.rmtree(directory.folder, ignore_errors=True)
    return msgspec.structs.replace(result, grid=search) if result else None


def _add_models(
    new: ModelWriter,
    folder: Path,
    relevance: Relevance | None,
    features: TrainedFeatures | None,
    reranker: Reranker | None,
) -> None:
    """Write network, vectors and hub of a reranker into a model folder, those that there are."""
    if relevance is not None:
        target = new.path("relevance/config.json").parent
        shutil.copytree(folder / "relevance", target, dirs_exist_ok=True)
    if features is not None and features.origin is not None:
        shutil.copytree(features.folder, new.path(f"{VECTORS}/{METADATA}").parent, dirs_exist_ok=True)
    for name, values in reranker.arrays().items() if reranker else ():
        new.array(name, values)


def check_retriever(
    kind: str, corpus: Corpus, options: RetrieverTrainOptions, grid: Grid | None
) -> tuple[CorpusTexts, RetrieverTrainOptions, list[Combination[RetrieverTrainOptions]]]:
    """Check a training before it begins.

    Args:
        kind: ``ir-t`` or ``ir-tc``.
        corpus: The corpus.
        options: Options of the training.
        grid: Hyperparameters to choose on dev; None for none.

    Returns:
        Texts to train on, options with their seed in the network's training, and combinations of the grid.

    Raises:
        UsageError: The request does not fit the corpus, or there is no folder of vectors or of a reranker.
        InvalidInput: The corpus, the vectors or the reranker are damaged.
        MissingExtra: The packages that read or train the vectors, or run the reranker, are not installed.
    """
    if options.has_network:
        options = replace(options, training=replace(options.training, seed=options.seed))
    combinations = grid.combinations(options) if grid else []
    texts = CorpusTexts(corpus, reads="both" if kind == "ir-tc" else "title")
    if options.has_network:
        texts.check_split("dev")
    if options.has_features:
        check_vectors(options.vectors)
    if options.reranker is not None:
        sentence_encoder(options.reranker)  # which is refused before a training, not after it
    if options.encoder is not None:
        _opened_encoder(options)
    return texts, options, combinations


def _opened_encoder(
    options: RetrieverTrainOptions, folder: Path | None = None, on_message: OnMessage = lambda _: None
) -> SentenceEncoder:
    """The sentence encoder of the filter, with the signature that an interrupted training gave it in its folder."""
    encoder, name = options.encoder or "", options.encoder_model
    known = []
    if folder is not None and is_address(encoder):
        known = Fingerprint.kept(folder, endpoint_model(name))
    return open_encoder(encoder, name, known, on_message=on_message)


def _index(texts: CorpusTexts, words: int, options: RetrieverTrainOptions, on_message: OnMessage) -> Index:
    """Index the training articles."""
    with elsewhere(options.engine, options.jobs, options.address, on_message) as engine:
        articles = texts.articles("train")
        return Index.of(
            articles.ids,
            articles.offsets,
            words,
            weighting=options.retrieval,
            idf=options.idf,
            jobs=options.jobs,
            engine=engine,
        )


def _recorded(
    options: RetrieverTrainOptions,
    features: TrainedFeatures | None,
    reranker: Reranker | None,
    sentences: SentenceVectors | None,
) -> dict[str, object]:
    """Options by name as the model records them: vectors and encoders by their hash, not by a path."""
    recorded = asdict(options) | {"network": options.network.recorded()}
    signatures = {
        "reranker": None if reranker is None else reranker.encoder.signature,
        "encoder": None if sentences is None else sentences.signature,
    }
    recorded = {name: value for name, value in recorded.items() if name not in {*signatures, "encoder_model"}}
    recorded |= {name: value for name, value in signatures.items() if value is not None}
    if features is None:
        del recorded["vectors"]
    else:
        recorded["vectors"] = {"origin": features.origin or "none", "signature": features.config["vectors"]}
    return recorded


def _config(
    options: RetrieverTrainOptions, tokenizer: str, weights: Weights | None, features: TrainedFeatures | None
) -> dict[str, object]:
    """The configuration of a retriever's folder."""
    return {
        "tokenizer": tokenizer,
        "neighbors": options.neighbors,
        "weighting": options.retrieval,
        "idf": options.idf,
        "ranker": options.ranker,
        "segments": 1,
        **({} if weights is None else {"interpolation_weight": weights.interpolation}),
        **({} if weights is None else {"feature_weight": weights.features}),
        **({} if features is None else features.config),
    }


def _dev_scorers(
    texts: CorpusTexts, words: TfidfRanker, relevance: Relevance | None, features: TrainedFeatures | None
) -> dict[str, Scorer]:
    """Scorers of the comments of dev by name, the one to compare first; none where the corpus has no dev set."""
    if "dev" not in texts.corpus.splits:
        return {}
    articles, comments = split_texts(texts, "dev", raw=features is not None)
    scorers: dict[str, Scorer] = {}
    if relevance is not None:
        scorers["relevance"] = partial(relevance.score_pairs, articles.words, comments.words)
    if features is not None:
        scorers["features"] = partial(_scored, features.ranker.over(comments), articles)
    scorers["tf-idf"] = partial(_scored, TfidfRanker(comments.words, words.idf), articles)
    return scorers


def _dev_ranking(
    texts: CorpusTexts, scorers: dict[str, Scorer], options: RetrieverTrainOptions, on_message: OnMessage
) -> tuple[RankingResult | None, Weights | None]:
    """The evaluation on dev, and the weights where the ranker is ``both``.

    There is no evaluation where the corpus has no dev set, or one in which a single article has comments; a small one
    chooses no weights.
    """
    weights = WEIGHTS if options.ranker == "both" else None
    task = None
    if scorers:
        task = _dev_task(texts.starts("dev"), options.eval_negatives, options.seed, on_message)
    if task is None:
        return None, weights
    votes = [
        np.nan if comment.upvotes is None else float(comment.upvotes)
        for article in texts.corpus.articles("dev")
        for comment in article.comments
    ]
    known = {name: constant(scorer(*task.pairs)) for name, scorer in scorers.items()}
    if not np.isnan(votes).all():
        known["upvotes"] = popularity(votes)
    both: dict[str, Scorer] = {}
    if weights is not None:
        if np.min(task.sampled) >= min(ENOUGH_NEGATIVES, options.eval_negatives):
            weights = _best_weights(task, known)
        both["both"] = partial(_weighted, known, weights)
    return evaluate(task, both | known, bootstrap_counts(len(task), seed=options.seed)), weights


def _ranker_arrays(
    ranker: str, words: TfidfRanker, relevance: Relevance | None, features: TrainedFeatures | None
) -> dict[str, AnyArray]:
    """Arrays that a ranker reads of each comment: its vector, or its tokens where they are scored anew."""
    arrays: dict[str, AnyArray] = {}
    if relevance is not None and relevance.options.architecture == "two-tower":
        arrays["vectors"] = relevance.encode_comments(words.words)
    if ranker in {"tf-idf", "both"}:
        arrays |= words.arrays()
    elif not arrays:  # words alone: of a network that reads both texts together, or of features
        arrays |= WordsRanker.arrays(words)
    return arrays | (features.ranker.arrays() if features is not None else {})


def _candidate_pool(corpus: Corpus, splits: Sequence[str], on_progress: OnProgress) -> CandidatePool:
    """Comments of some splits, with what is known of them and their articles."""
    total = sum(corpus.metadata.splits[split].articles for split in splits)
    with on_progress("articles read", chain.from_iterable(map(corpus.articles, splits)), total) as articles:
        return CandidatePool.of(articles)


def _train(directory: TrainingDirectory, options: RetrieverTrainOptions, name: str) -> Relevance | None:
    """Train the relevance model into a folder of the directory; None in other processes than the main one."""
    with needs("the relevance model", "neural"):
        from postil.comments.nn.relevance import Relevance, train_relevance  # noqa: PLC0415 - it needs torch
    train, dev = directory.split("train"), directory.split("dev")
    return directory.train(
        name,
        options.network,
        options.training,
        partial(train_relevance, train, dev, options.network, options.training),
        Relevance.open,
    )


def update_model(
    model: FilePath,
    corpus: Corpus | FilePath,
    out: FilePath | None = None,
    *,
    jobs: int = 1,
    encoder: str | None = None,
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> UpdateResult:
    """Add the articles of a corpus to a retriever, without training it again.

    All articles of the corpus are added, whatever their split. Those that the model has get the comments that it lacks,
    and comments with the same id are replaced. The vocabulary grows, the index gets a segment, and search finds what it
    would in one index of all articles. The ranker keeps its parameters; inverse document frequencies are those of all
    articles. Comments that were forgotten stay out.

    Args:
        model: The model folder.
        corpus: The corpus, or its folder.
        out: The folder to write; by default the model folder is replaced, in one step where the system can.
        jobs: Number of threads; the model does not depend on it.
        encoder: Address of the endpoint that the sentence encoder of the model's filter is behind, of a model that was
            made with one.
        on_message: Callback for status messages.
        on_progress: Progress bar.

    Returns:
        The number of articles and comments that were added, and more.

    Raises:
        UsageError: The model generates comments, ``out`` exists, or the model is being changed.
        InvalidInput: The model or the corpus is damaged, or they have different tokenizers.
        MissingExtra: The ranker needs torch, which is not installed.
        PostilError: The operating system reports an error.
    """
    check_arguments(update_model, locals())
    if not isinstance(corpus, Corpus):
        corpus = Corpus.open(corpus)
    if out is not None:
        check_folder(out)
    kind = _kind_to_update(model)
    with changing(model) as folder:
        endpoint = None if encoder is None else EncoderEndpoint(url=encoder, on_message=on_message)
        retriever = Retriever.open(folder, jobs=jobs, endpoint=endpoint)
        retriever.model.check_tokenizer(corpus.tokenizer, corpus.path)
        done = erasures(retriever.model.metadata.get("forgotten"), folder / "metadata.json")
        pool = _candidate_pool(corpus, corpus.splits, on_progress)
        new = _grown(
            retriever,
            pool,
            CorpusTexts(corpus, reads="both" if kind == "ir-tc" else "title"),
            keys_of(done),
            folder=(kept := training_folder(folder if out is None else out)),
            on_progress=on_progress,
        )
        _write_update(retriever, new, folder if out is None else out, corpus, replace=out is None)
        drop_encoded(kept)
        after = Model.open(folder if out is None else out)
    trained = retriever.model.metadata.get("options") or {}
    test = corpus.articles("test") if "test" in corpus.splits else ()
    return UpdateResult(
        articles=new.articles,
        comments=new.comments,
        updated=new.updated,
        kept_out=new.kept_out,
        held_out=sum(len(article.held_out or ()) for article in test),
        words=len(new.words) - len(retriever.model.words()),
        total_articles=len(new.pool.articles),
        total_comments=len(new.pool),
        segments=len(new.index.segments),
        ranker=str(trained.get("ranker") or retriever.model.setting("ranker", str)),
        ranker_articles=len(retriever.pool.articles)
        + sum(one.articles for one in done)
        - sum(one["articles"] for one in _former_updates(retriever.model)),
        hash_before=retriever.model.hash,
        hash=after.hash,
    )


def _kind_to_update(model: FilePath) -> str:
    """The kind of the retriever in a folder; an error for a generator, or for no model."""
    with suppress(InvalidInput):  # the last line tells what is wrong, and asks for a retriever
        if (kind := Model.open(model).kind) in neural_commenter.KINDS:
            problem = f"{kind} generates comments by a network, which learns nothing from a few articles"
            raise UsageError(f"{model}: {problem}; train it again, on all articles: postil train {kind}")
    return Model.open(model, KINDS).kind


def _former_updates(model: Model) -> list[dict[str, int]]:
    return list(model.metadata.get("updates") or [])


def _write_update(retriever: Retriever, new: Grown, out: FilePath, corpus: Corpus, *, replace: bool) -> None:
    model = retriever.model
    record = {
        "postil": VERSION,
        "corpus": corpus.metadata.origin,
        "articles": new.articles,
        "comments": new.comments,
        "updated": new.updated,
        "hash_before": model.hash,
    }
    before = retriever_arrays(retriever.index, retriever.pool, {})
    after = retriever_arrays(new.index, new.pool, new.ranker.arrays())
    if new.sentences is not None:
        after |= new.sentences.arrays()
    change = Change(model, before, after, new.words, {"segments": len(new.index.segments)})
    change.write(out, {"updates": [*_former_updates(model), record]}, replace=replace)


@dataclass(frozen=True, eq=False)
class Grown:
    """A retriever with further articles and comments, to be written into a model folder.

    Args:
        index: The articles.
        pool: Their comments.
        words: The vocabulary, by id; that of before, then new words.
        ranker: The ranker.
        sentences: Vectors of articles and comments by a sentence encoder; None where the model has none.
        articles: Number of articles that were added.
        comments: Number of comments that were added.
        updated: Number of comments that took the place of one with the same id.
        kept_out: Number of comments that were left out since they were forgotten.
    """

    index: Index
    pool: CandidatePool
    words: Sequence[str]
    ranker: Ranker
    sentences: SentenceVectors | None
    articles: int
    comments: int
    updated: int
    kept_out: int


def _grown(
    retriever: Retriever,
    new: CandidatePool,
    texts: CorpusTexts,
    forgotten: frozenset[str],
    *,
    folder: Path,
    on_progress: OnProgress,
) -> Grown:
    """Add articles and comments to a retriever.

    An article whose id is known gets the comments, and its text stays as it is in the index; a comment whose id is
    known takes the place of the old one. Other articles become the last ones. The parameters of the ranker stay;
    inverse document frequencies are those of all articles.

    Args:
        retriever: The retriever.
        new: The comments of all splits of a corpus, article by article.
        texts: The corpus.
        forgotten: Keys of comments that must not come back; see `postil.corpus.forgotten.comment_key`.
        folder: Folder that keeps what is encoded, so that an interrupted run goes on from there.
        on_progress: Progress bar.
    """
    old = retriever.pool
    places = {name: place for place, name in enumerate(old.articles)}
    names = list(new.articles)
    target = np.array([places.get(name, -1) for name in names], dtype=np.int64)
    erased = np.array([bool(forgotten) and comment_key(name) in forgotten for name in names], dtype=bool)
    added = np.flatnonzero((target < 0) & ~erased)
    target[added] = len(old.articles) + np.arange(len(added))

    owners = new.owner(np.arange(len(new)))
    ids = list(new.ids)
    kept = np.ones(len(ids), dtype=bool)
    if forgotten:
        pairs = zip(owners.tolist(), ids, strict=True)
        kept[:] = [forgotten.isdisjoint((comment_key(names[at]), comment_key(names[at], one))) for at, one in pairs]
    stays = _not_replaced(old, {(int(target[owner]), one) for owner, one in zip(owners.tolist(), ids, strict=True)})
    replaced = int(len(old) - stays.sum())

    # The old comments that stay and the new ones, sorted by article; within one the old ones come first.
    place = np.concatenate([np.flatnonzero(stays), len(old) + np.flatnonzero(kept)])
    of_article = np.concatenate([old.owner(np.flatnonzero(stays)), target[owners[kept]]])
    order = np.argsort(of_article, kind="stable")
    place, of_article = place[order], of_article[order]
    articles = np.concatenate([np.arange(len(old.articles)), len(old.articles) + added])
    pool = CandidatePool.concatenate([old, new]).take(articles, place, of_article)

    article_words, comment_words = (
        Ragged.concatenate([read(split) for split in texts.corpus.splits]).take(which)
        for read, which in ((texts.articles, added), (texts.comments, np.flatnonzero(kept)))
    )
    words, numbers = _vocabulary(retriever.model.words(), texts.corpus.words(), [article_words.ids, comment_words.ids])
    index = retriever.index.add(numbers[article_words.ids], article_words.offsets, len(words), retriever.jobs)
    said = new.texts.texts(np.flatnonzero(kept))
    ranker = retriever.ranker.extend(Ragged(numbers[comment_words.ids], comment_words.offsets), said)
    stored = np.concatenate([np.arange(len(old)), len(old) + np.cumsum(kept) - 1])  # the index of each in the ranker
    ranker = ranker.take(stored[place]).reweighted(index.collection.frequencies, pool.starts, index.idf)
    comments = int(kept.sum()) - replaced
    sentences = retriever.sentences
    if sentences is not None:
        every = chain.from_iterable(map(texts.corpus.articles, texts.corpus.splits))
        fresh = set(added.tolist())
        read = [
            article_text(one.title, one.content or "" if texts.reads == "both" else "")
            for at, one in enumerate(every)
            if at in fresh
        ]
        encode = partial(encode_texts, sentences.encoder, folder=folder, jobs=retriever.jobs, on_progress=on_progress)
        sentences = sentences.extend(encode(read, what="articles"), encode(list(said), what="comments"))
        sentences = sentences.take(np.arange(len(sentences.articles)), stored[place])
    return Grown(index, pool, words, ranker, sentences, len(added), comments, replaced, int(len(kept) - kept.sum()))


def _not_replaced(pool: CandidatePool, new: set[tuple[int, str]]) -> NDArray[np.bool_]:
    """True for each comment of a pool but for those with an article's place and an id of the new ones."""
    stays = np.ones(len(pool), dtype=bool)
    for article in sorted({article for article, _ in new if article < len(pool.articles)}):
        for comment in range(int(pool.starts[article]), int(pool.starts[article + 1])):
            stays[comment] = (article, pool.ids[comment]) not in new
    return stays


def _vocabulary(
    known: Sequence[str], new: Sequence[str], used: Sequence[NDArray[np.int32]]
) -> tuple[list[str], NDArray[np.int32]]:
    """The known words with those of the new ones that are used, and the id of each new word among them."""
    words, numbers = list(known), np.full(len(new), -1, dtype=np.int32)
    ids = {word: number for number, word in enumerate(known)}
    for one in np.unique(np.concatenate(used)).tolist():
        numbers[one] = ids.setdefault(new[one], len(words))
        if numbers[one] == len(words):
            words.append(new[one])
    return words, numbers
