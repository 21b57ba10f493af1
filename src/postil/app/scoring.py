"""The journey of `postil score`: files in, a table out; candidates stream, so memory does not grow with them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.progress import progress
from postil.app.score import CHUNK, DEFAULT_METRICS, encode
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metrics.background import Background
from postil.metrics.panel import Panel, Total, parse_all
from postil.metrics.references import References
from postil.records.files import Rows, Writer, read
from postil.records.rows import Candidate, Reference, Score
from postil.records.weights import METHODS, default_method, weigh
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.records.scale import Scale

__all__ = ["Corpus", "ScoringOptions", "SystemScore", "default_metrics", "score_files"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringOptions:
    """What `postil score` was asked for.

    Args:
        metrics: Specs; empty for the usual four, and their weighted forms where weights can be had.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        scale: The scale of the references' grades.
        weights: A weights method; by default ``given`` where rows have a weight, else ``score``.
        background: A folder with saved document frequencies.
        save_background: A folder to save those of these references in.
        items: A file for item scores.
        jobs: Threads.
    """

    metrics: tuple[str, ...] = ()
    tokenizer: str = "words"
    scale: Scale | None = None
    weights: str | None = None
    background: str | None = None
    save_background: str | None = None
    items: str | None = None
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One number of the table: a system's corpus score by one metric over n candidates."""

    system: str
    metric: str
    score: float
    n: int
    signature: str


@dataclass(frozen=True, eq=False, slots=True)
class Corpus:
    """References of k items, in the order of their first lines."""

    items: dict[str, int]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    how: str
    """How the weights were made, for signatures."""
    texts: list[str]
    refuse: Callable[[int, str], InvalidInput]
    """The error for one of the texts, which says where it stands."""


@dataclass(eq=False, slots=True)
class _System:
    """What has been seen of one system."""

    seen: bytearray
    totals: dict[str, Total] = field(default_factory=dict)


def default_metrics(*, weighted: bool) -> tuple[str, ...]:
    """The usual four, each followed by its weighted form.

    >>> default_metrics(weighted=True)[:2]
    ('bleu-4', 'w-bleu-4')
    """
    return tuple(f"{head}{name}" for name in DEFAULT_METRICS for head in (("", "w-") if weighted else ("",)))


def score_files(
    candidates: str, references: str, options: ScoringOptions, say: Callable[[str], None]
) -> list[SystemScore]:
    """Score every system of a file of candidates against graded references.

    Args:
        candidates: A file of candidate rows; ``-`` for standard input.
        references: A file of reference rows.
        options: What to compute.
        say: Takes remarks for people.

    Returns:
        System by system, in the order of their first candidates, each metric's score.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
    """
    asked = parse_all(options.metrics) if options.metrics else None
    cut = named_tokenizer(options.tokenizer)
    if candidates == references == "-":
        raise UsageError("candidates and references cannot both come from standard input")
    need = any(metric.needs_weights for metric in asked.values()) if asked else False
    corpus = _read_references(references, options, need=need)
    metrics = asked or parse_all(default_metrics(weighted=corpus.weights is not None))

    vocabulary = Vocabulary()
    tokens = encode(corpus.texts, cut, vocabulary, options.jobs, corpus.refuse)
    bound = References(tokens, corpus.offsets, corpus.weights)
    corpus.texts.clear()
    if options.save_background:
        Background.of(bound, cut.signature).save(options.save_background)
        say(f"background of {len(bound)} items saved in {options.save_background}")
    background = Background.load(options.background) if options.background else None
    if background is not None and background.tokenizer != cut.signature:
        raise UsageError(f"{options.background} was counted with the tokenizer {background.tokenizer}, not {cut.signature}")
    panel = Panel(metrics, bound, background=background, tokenizer=cut.signature, weights=corpus.how)

    systems: dict[str, _System] = {}
    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        rows = read(candidates, Candidate)
        done = 0
        for batch in _batches(stack.enter_context(progress("candidates", rows))):
            numbers = _check(batch, rows, done, corpus.items, systems)

            def refuse(i: int, problem: str, first: int = done) -> InvalidInput:
                return rows.places.error(first + i, "text", problem)

            encoded = encode([row.text for row in batch], cut, vocabulary.branch(), options.jobs, refuse)
            _score_batch(panel, panel.measure(encoded, numbers, options.jobs), batch, systems, out)
            done += len(batch)
    for name, system in systems.items():
        missing = len(corpus.items) - sum(system.seen)
        if missing:
            say(f"{name}: no candidate for {missing} of {len(corpus.items)} items; its scores are over the others")
    return [
        SystemScore(name, spec, panel.corpus(spec, total.sum()), total.count, panel.signatures[spec])
        for name, system in systems.items()
        for spec, total in system.totals.items()
    ]


def _read_references(path: str, options: ScoringOptions, *, need: bool) -> Corpus:
    """Read the references, group them by item and weigh them where weights are needed or can be had."""
    source = read(path, Reference)
    rows = list(source)
    items: dict[str, int] = {}
    number = np.fromiter((items.setdefault(row.item, len(items)) for row in rows), dtype=np.int64, count=len(rows))
    weights, how = None, ""
    asked_for = options.weights is not None or options.scale is not None
    if need or asked_for or _graded(rows):
        method = options.weights or ("score" if options.scale else default_method(rows))
        if method not in METHODS:
            raise UnknownName("weights method", method, METHODS)
        if need or asked_for or not METHODS[method].needs_scale:
            if METHODS[method].needs_scale and options.scale is None:
                raise UsageError(f"the references' grades need a scale (weights '{method}'): --scale HIGH or --scale LOW:HIGH")
            weights = weigh(rows, number, method=method, scale=options.scale, places=source.places)
            how = f"{method}|scale:{options.scale}" if METHODS[method].needs_scale else method
    order = np.argsort(number, kind="stable")
    return Corpus(
        items=items,
        offsets=np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(items)))]).astype(np.int64),
        weights=None if weights is None else weights[order],
        how=how,
        texts=[rows[i].text for i in order.tolist()],
        refuse=lambda i, problem: source.places.error(int(order[i]), "text", problem),
    )


def _graded(rows: Sequence[Reference]) -> bool:
    """Whether every row has a weight, so that weighted metrics may be shown without being asked for."""
    return all(row.weight is not None for row in rows)


def _batches(rows: Iterator[Candidate]) -> Iterator[list[Candidate]]:
    while batch := list(islice(rows, CHUNK)):
        yield batch


def _check(
    batch: Sequence[Candidate], rows: Rows[Candidate], done: int, items: dict[str, int], systems: dict[str, _System]
) -> NDArray[np.int32]:
    """The item number of each candidate; every item is known and no system answers one twice."""
    numbers = np.empty(len(batch), dtype=np.int32)
    for i, row in enumerate(batch):
        item = items.get(row.item)
        if item is None:
            problem = f"expected an item that has references, got '{row.item}'"
            raise rows.places.error(done + i, "item", problem)
        system = systems.get(row.system)
        if system is None:
            system = systems[row.system] = _System(bytearray(len(items)))
        if system.seen[item]:
            problem = f"expected one candidate for each item and system, got a second for '{row.item}' by '{row.system}'"
            raise rows.places.error(done + i, "item", problem)
        system.seen[item] = 1
        numbers[i] = item
    return numbers


def _score_batch(
    panel: Panel,
    measured: dict[str, NDArray[np.float64]],
    batch: Sequence[Candidate],
    systems: dict[str, _System],
    out: Writer[Score] | None,
) -> None:
    """Add the batch to the systems' totals and write its item scores."""
    names = np.array([row.system for row in batch])
    for name in dict.fromkeys(row.system for row in batch):
        of_system = np.flatnonzero(names == name)
        for spec, stats in measured.items():
            systems[name].totals.setdefault(spec, Total()).add(stats[of_system])
    if out is not None:
        for spec, stats in measured.items():
            signature = panel.signatures[spec]
            for row, value in zip(batch, panel.items(spec, stats).tolist(), strict=True):
                out.write(Score(row.item, row.system, spec, value, signature))
