"""`postil train --update`: further articles and comments for a retriever that is there."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import numpy as np

from postil.app.corpus.texts import CorpusTexts
from postil.commenters import neural_commenter
from postil.commenters.candidate_pool import CandidatePool
from postil.commenters.growth import Additions, grown
from postil.commenters.model_changes import Change, changing
from postil.commenters.retrieval import KINDS, Retriever
from postil.commenters.retriever_arrays import retriever_arrays
from postil.commenters.store import Model, check_free
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, UsageError
from postil.records.arguments import check_arguments
from postil.records.forgotten import erasures, keys_of
from postil.records.results import UpdateResult
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from postil.commenters.growth import Grown
    from postil.corpus.passes import OnProgress
    from postil.records.row_files import FilePath
    from postil.records.rows import Article

    Texts = tuple[NDArray[np.int32], NDArray[np.int64]]

__all__ = ["update_model"]


def update_model(
    model: FilePath,
    corpus: Corpus | FilePath,
    out: FilePath | None = None,
    *,
    jobs: int = 1,
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
        check_free(out)
    kind = _kind(model)
    with changing(model) as folder:
        retriever = Retriever.open(folder, jobs=jobs)
        retriever.model.check_tokenizer(corpus.tokenizer, corpus.path)
        done = erasures(retriever.model.metadata.get("forgotten"), folder / "metadata.json")
        new = grown(retriever, _additions(corpus, kind, on_progress), keys_of(done))
        _write(retriever, new, folder if out is None else out, corpus, replace=out is None)
        after = Model.open(folder if out is None else out)
    trained = retriever.model.metadata.get("options") or {}
    return UpdateResult(
        articles=new.articles,
        comments=new.comments,
        updated=new.updated,
        kept_out=new.kept_out,
        held_out=sum(len(article.held_out or ()) for article in _test(corpus)),
        words=len(new.words) - len(retriever.model.words()),
        total_articles=len(new.pool.articles),
        total_comments=len(new.pool),
        segments=len(new.index.segments),
        ranker=str(trained.get("ranker") or retriever.model.setting("ranker", str)),
        ranker_articles=len(retriever.pool.articles)
        + sum(one.articles for one in done)
        - sum(one["articles"] for one in _updates(retriever.model)),
        hash_before=retriever.model.hash,
        hash=after.hash,
    )


def _kind(model: FilePath) -> str:
    """The kind of the retriever in a folder; an error for a generator, or for no model."""
    with suppress(InvalidInput):  # the last line tells what is wrong, and asks for a retriever
        if (kind := Model.open(model).kind) in neural_commenter.KINDS:
            problem = f"{kind} generates comments by a network, which learns nothing from a few articles"
            raise UsageError(f"{model}: {problem}; train it again, on all articles: postil train {kind}")
    return Model.open(model, KINDS).kind


def _test(corpus: Corpus) -> Iterator[Article]:
    return corpus.articles("test") if "test" in corpus.splits else iter(())


def _additions(corpus: Corpus, kind: str, on_progress: OnProgress) -> Additions:
    """The articles of all splits, in their order."""
    texts = CorpusTexts(corpus, reads="both" if kind == "ir-tc" else "title")

    def articles() -> Iterator[Article]:
        for split in corpus.splits:
            yield from corpus.articles(split)

    total = sum(corpus.metadata.splits[split].articles for split in corpus.splits)
    with on_progress("articles read", articles(), total) as read:
        pool = CandidatePool.of(read)
    return Additions(pool, _joined(corpus, texts.articles), _joined(corpus, texts.comments), corpus.words())


def _joined(corpus: Corpus, texts: Callable[[str], Texts]) -> Texts:
    """The texts of all splits."""
    parts = [texts(split) for split in corpus.splits]
    sizes = np.concatenate([np.diff(offsets) for _, offsets in parts])
    return np.concatenate([ids for ids, _ in parts]), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _updates(model: Model) -> list[dict[str, int]]:
    return list(model.metadata.get("updates") or [])


def _write(retriever: Retriever, new: Grown, out: FilePath, corpus: Corpus, *, replace: bool) -> None:
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
    change = Change(model, before, after, new.words, {"segments": len(new.index.segments)})
    change.write(out, {"updates": [*_updates(model), record]}, replace=replace)
