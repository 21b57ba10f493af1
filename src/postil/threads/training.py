"""Training of a model of quality: `postil train quality`."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.store import Corpus
from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.groups import nested
from postil.data.parts import Excluded
from postil.data.suggestions import REPLACED, TIED, Label, majority
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import Blank, Setting
from postil.meta.resampling import bootstrap_counts
from postil.threads.evaluation import (
    TARGETS,
    RatedThread,
    RatedThreads,
    baselines,
    compare_orders,
    read_threads,
    thread_dates,
    verdicts,
    whole_thread,
)
from postil.threads.options import FOLDS
from postil.threads.orders import points
from postil.threads.quality import (
    FEATURES,
    KIND,
    Example,
    Quality,
    bootstrap_weights,
    cross_fit,
    features,
    fit,
    moments,
)
from postil.threads.result import FeatureWeight, ThreadOrdersResult, ThreadSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.corpus.passes import OnProgress
    from postil.data.streams import FilePath
    from postil.threads.options import QualityTrainOptions
    from postil.threads.thread import Thread

__all__ = ["train_quality"]

WHOLE: Final = "quality and time"
"""Name of the whole fit, with the place in time."""
LABELS: Final = "labels"
"""Name of the target that is read from files of labels."""
LEAST_LABELS: Final = 30
LEAST_THREADS: Final = 5
"""Smallest numbers of labels, and of threads with both answers, that a model is fitted on."""
_LONGEST: Final = 60
"""Number of characters after which a text in a message is cut."""


def train_quality(
    corpus_folder: FilePath,
    out: FilePath,
    options: QualityTrainOptions,
    labels: Sequence[Label] = (),
    *,
    where: str = LABELS,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> ThreadOrdersResult:
    """Learn which comments of a thread readers prefer, and evaluate it on threads that it was not fitted on.

    The model is fitted on all threads of train; the evaluation is of a cross-fit, in which each thread is ordered by a
    fit on the other folds.

    Args:
        corpus_folder: The corpus.
        out: The model folder to write.
        options: Options of the training.
        labels: With the target ``labels``: labels of comments of the corpus.
        where: Name of the labels, for messages.
        on_progress: Callback for progress.

    Raises:
        UnknownName, UsageError: There is no such target, there are labels for another one or none for this one, or the
            output folder exists.
        InvalidInput: The corpus is damaged, or no label is of a comment of train.
        Undefined: There are fewer threads with votes, grades or labels than folds, or too few labels.
    """
    check_folder(out)
    UnknownName.check("target", options.target, (*TARGETS, LABELS))
    if bool(labels) != (options.target == LABELS):
        raise UsageError(
            "{files} and {wanted} go together, got {target} and {got}",
            files=Setting("labels", Blank("FILE")),
            wanted=Setting("target", LABELS),
            target=Setting("target", options.target),
            got="labels" if labels else "no labels",
        )
    corpus = Corpus.open(corpus_folder)
    about: dict[str, int | str] = {}
    if labels:
        found, about = _labeled_threads(corpus, labels, where, on_progress)
    else:
        found = read_threads(corpus, ("train",), options.target, on_progress)
    examples = _examples(found, labeled=bool(labels))
    few = options.folds is None and len(examples) < FOLDS
    folds = options.folds or min(FOLDS, max(2, len(examples)))
    alone, whole = cross_fit(examples, folds, options.seed)
    counts = bootstrap_counts(len(examples), options.resamples, options.seed)
    others, remarks = baselines(found, votes=bool(labels))
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
            folds=folds,
            seed=options.seed,
            resamples=options.resamples,
            tokenizer=corpus.tokenizer,
        ),
        remarks=(
            *remarks,
            *([f"labels: {counted(int(about[LABELS]), 'comment')}, {about['shown']:,} to show"] if about else []),
            f"{KIND}, {WHOLE}: each thread by a fit on the other folds; the intervals hold the fits fixed",
            *([f"{folds} folds, one per thread, since there are fewer than {FOLDS}"] if few else []),
            *verdicts(KIND, rows, differences),
        ),
    )
    metadata = {
        "options": {**asdict(options), "folds": folds},
        "corpus": {"inputs": corpus.metadata.inputs, "options": corpus.metadata.options},
        "threads": len(examples),
        "evaluation": rows,
        **({LABELS: about} if about else {}),
    }
    weights = fit(grams, products)[: len(FEATURES)]
    Quality(weights, corpus.tokenizer, options.target).save(out, msgspec.to_builtins(metadata, enc_hook=plain_id))
    return result


def _labeled_threads(
    corpus: Corpus, labels: Sequence[Label], where: str, on_progress: OnProgress
) -> tuple[RatedThreads, dict[str, int | str]]:
    """The threads of train with comments that people would show and others, and the numbers of labels in them.

    Texts are compared up to white space.

    Raises:
        InvalidInput: No label is of a comment of train.
        Undefined: There are too few labels or threads.
    """
    wanted = {label.article for label in labels}
    threads = dict[str, "Thread"]()
    with on_progress("threads read", corpus.articles("train"), corpus.metadata.splits["train"].articles) as articles:
        for article in articles:
            if article.id in wanted:
                threads[article.id] = whole_thread(article, corpus.tokenizer)
    places = {
        name: {_plain(text): at for at, text in reversed(list(enumerate(thread.texts)))}
        for name, thread in threads.items()
    }
    matched: list[Label] = []
    elsewhere, unknown = list[str](), list[str]()
    for label in labels:
        text = _plain(label.text)
        if text in places.get(label.article, ()):
            matched.append(msgspec.structs.replace(label, text=text))
        else:
            (unknown if label.article in threads else elsewhere).append(f"{label.article}: {text}")
    if not matched:
        problem = f"none of {len(labels):,} labels is of a comment of an article of train in {corpus.path}"
        raise InvalidInput(f"{problem}; expected rows article, text, show with its ids and texts", where=where)
    answers, ties, replaced = majority(matched)
    rows = nested((name, places[name][text], show) for (name, text), show in answers.items())
    same = [name for name, given in rows.items() if len(set(given.values())) < 2]
    left = (
        ("label of an article that train does not have", elsewhere),
        ("label of a text that is no comment of its article", unknown),
        (REPLACED, replaced),
        (TIED, ties),
        ("all labels of the thread are the same", same),
    )
    found = RatedThreads(excluded=tuple(Excluded.of(why, list(map(_short, names))) for why, names in left if names))
    for name in [name for name in rows if name not in same]:
        chosen = sorted(rows[name])
        values = np.array([rows[name][at] for at in chosen], np.float64)
        found.threads.append(threads[name])
        found.chosen.append(np.array(chosen, np.int64))
        # No dates: neighbors in time may be comments without labels.
        found.rated.append(RatedThread(values, values))
    count = sum(map(len, found.chosen))
    if count < LEAST_LABELS or len(found.threads) < LEAST_THREADS:
        asked = f"expected at least {LEAST_LABELS} labels in at least {LEAST_THREADS} threads with both answers"
        why = "".join(f"; {each}" for each in found.excluded)
        raise Undefined(f"{where}: {asked}, got {count} in {len(found.threads)}{why}")
    digest = hashlib.sha256(
        msgspec.json.encode([(*key, show) for key, show in answers.items()], enc_hook=plain_id)
    ).hexdigest()[:16]
    shown = int(sum(each.values.sum() for each in found.rated))
    return found, {"labels": count, "shown": shown, "hash": digest}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _examples(found: RatedThreads, *, labeled: bool) -> list[Example]:
    return [
        Example(
            features(thread)[chosen],
            _place(len(thread), thread_dates(thread))[chosen],
            rated.values if labeled else points(rated.values),
        )
        for thread, rated, chosen in zip(found.threads, found.rated, found.chosen, strict=True)
    ]


def _place(comments: int, dates: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Place in time, or where a date is missing, in the file."""
    return points(np.arange(comments, dtype=np.float64) if dates is None else dates)
