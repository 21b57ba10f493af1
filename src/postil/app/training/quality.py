"""Training of a model of quality: `postil train quality`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.app.evaluate_threads import baselines, read_threads, verdicts
from postil.commenters.store import check_free
from postil.commenters.threads.evaluation import compare_orders
from postil.commenters.threads.features import FEATURES, features
from postil.commenters.threads.orders import points
from postil.commenters.threads.quality import KIND, Example, Quality, bootstrap_weights, cross_fit, fit, moments
from postil.corpus.store import Corpus
from postil.metaeval.resampling import bootstrap_counts
from postil.records.results import FeatureWeight, ThreadOrdersResult, ThreadSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.app.evaluate_threads import RatedThreads
    from postil.app.training.options import QualityTrainOptions
    from postil.corpus.passes import OnProgress
    from postil.records.row_files import FilePath

__all__ = ["train_quality"]

WHOLE: Final = "quality and time"
"""Name of the whole fit, with the place in time."""


def train_quality(
    corpus_folder: FilePath,
    out: FilePath,
    options: QualityTrainOptions,
    *,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> ThreadOrdersResult:
    """Learn which comments of a thread readers prefer, and evaluate it on threads that it was not fitted on.

    The model is fitted on all threads of train; the evaluation is of a cross-fit, in which each thread is ordered by a
    fit on the other folds.

    Args:
        corpus_folder: The corpus.
        out: The model folder to write.
        options: Options of the training.
        on_progress: Callback for progress.

    Raises:
        UnknownName, UsageError: There is no such target, or the output folder exists.
        InvalidInput: The corpus is damaged.
        Undefined: There are fewer threads with votes or grades than folds.
    """
    check_free(out)
    corpus = Corpus.open(corpus_folder)
    found = read_threads(corpus, ("train",), options.target, on_progress)
    examples = _examples(found)
    alone, whole = cross_fit(examples, options.folds, options.seed)
    counts = bootstrap_counts(len(examples), options.resamples, options.seed)
    others, remarks = baselines(found)
    rows, differences = compare_orders(
        found.rated, {WHOLE: whole, KIND: alone, **others}, counts, compared=(WHOLE, KIND)
    )
    grams, products = moments(examples)
    shown, low, high = bootstrap_weights(grams, products, counts)
    names = (*FEATURES, "time", "squared time")
    result = ThreadOrdersResult(
        rows=rows,
        differences=differences,
        excluded=found.excluded,
        weights=tuple(
            FeatureWeight(feature=name, weight=weight, low=below, high=above, predicts=name in FEATURES)
            for name, weight, below, above in zip(names, shown.tolist(), low.tolist(), high.tolist(), strict=True)
        ),
        settings=ThreadSettings(
            target=options.target,
            split="train",
            folds=options.folds,
            seed=options.seed,
            resamples=options.resamples,
            tokenizer=corpus.tokenizer,
        ),
        remarks=(
            *remarks,
            f"{KIND}, {WHOLE}: each thread by a fit on the other folds; the intervals hold the fits fixed",
            *verdicts(KIND, rows, differences),
        ),
    )
    metadata = {
        "options": asdict(options),
        "corpus": {"inputs": corpus.metadata.inputs, "options": corpus.metadata.options},
        "threads": len(examples),
        "evaluation": rows,
    }
    weights = fit(grams, products)[: len(FEATURES)]
    Quality(weights, corpus.tokenizer, options.target).save(out, msgspec.to_builtins(metadata))
    return result


def _examples(found: RatedThreads) -> list[Example]:
    return [
        Example(features(thread), _place(len(thread), rated.dates), points(rated.values))
        for thread, rated in zip(found.threads, found.rated, strict=True)
    ]


def _place(comments: int, dates: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Place in time, or where a date is missing, in the file."""
    return points(np.arange(comments, dtype=np.float64) if dates is None else dates)
