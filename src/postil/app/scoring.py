"""The journey of `postil score`: files in, a table out; candidates stream, so memory does not grow with them."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from postil.app.engines import elsewhere
from postil.app.progress import progress, steps
from postil.app.score import CHUNK, DEFAULT_METRICS, encode
from postil.app.scoring_batches import Batch, Bench
from postil.app.scoring_references import read_references
from postil.errors import InvalidInput, Undefined, UsageError
from postil.metrics.background import Background
from postil.metrics.consensus import consensus
from postil.metrics.controls import Controls
from postil.metrics.panel import Panel, Total, parse_all
from postil.metrics.references import References
from postil.records.files import Rows, Writer, read
from postil.records.rows import Candidate, Score
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from postil.app.scoring_references import Corpus
    from postil.engine import Engine
    from postil.metrics.base import Metric
    from postil.metrics.controls import ControlOptions
    from postil.records.scale import Scale
    from postil.text.tokenizers import Tokenizer
    from postil.text.tokens import Tokens

__all__ = ["ScoringOptions", "SystemScore", "default_metrics", "score_files"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringOptions:
    """What `postil score` was asked for.

    Args:
        metrics: Specs; empty for the usual four, and their weighted forms where weights can be had.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        scale: The scale of the references' grades.
        weights: A name in `METHODS`, or ``consensus``; by default ``given`` where rows have a weight, else ``score``.
        background: A folder with saved document frequencies.
        save_background: A folder to save those of these references in.
        items: A file for item scores.
        controls: The controls of the weighted metrics, whose item scores go into the same file.
        jobs: Threads; with another engine, how many batches are scored at the same time.
        engine: ``local`` or ``ray``; the scores do not depend on it.
        address: Of a Ray cluster.
        allow_han: Whether ``words`` may cut Han texts, at their spaces and punctuation, as it does in corpora.
    """

    metrics: tuple[str, ...] = ()
    tokenizer: str = "words"
    scale: Scale | None = None
    weights: str | None = None
    background: str | None = None
    save_background: str | None = None
    items: str | None = None
    controls: ControlOptions | None = None
    jobs: int = 1
    engine: str = "local"
    address: str | None = None
    allow_han: bool = False


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One number of the table: a system's corpus score by one metric over n candidates."""

    system: str
    metric: str
    score: float
    n: int
    signature: str


@dataclass(eq=False, slots=True)
class _System:
    """What has been seen of one system."""

    seen: bytearray
    totals: dict[str, Total] = field(default_factory=dict)


def default_metrics(*, weighted: bool, idf: bool = True) -> tuple[str, ...]:
    """The usual four, each followed by its weighted form.

    Args:
        weighted: Whether the references have weights.
        idf: Whether there are document frequencies; without them CIDEr-D does not exist.

    >>> default_metrics(weighted=True)[:2]
    ('bleu-4', 'w-bleu-4')
    """
    names = [name for name in DEFAULT_METRICS if idf or name != "cider-d"]
    return tuple(f"{head}{name}" for name in names for head in (("", "w-") if weighted else ("",)))


def score_files(
    candidates: str, references: str, options: ScoringOptions, say: Callable[[str], None]
) -> list[SystemScore]:
    """Score every system of a file of candidates against graded references.

    Args:
        candidates: A file of candidate rows; ``-`` for standard input.
        references: A file of reference rows; ``-`` for standard input.
        options: What to compute.
        say: Takes remarks for people.

    Returns:
        System by system, in the order of their first candidates, each metric's score.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: CIDEr of a single item without a background.
    """
    asked = parse_all(options.metrics) if options.metrics else None
    cut = named_tokenizer(options.tokenizer)
    _check_files(candidates, references, options.items)
    if options.controls and not options.items:
        raise UsageError("--controls writes item scores; say where to: --items FILE")
    background = _load_background(options.background, cut)

    remarks: list[str] = []  # kept until all went well, so that an error stands alone
    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        rows = read(candidates, Candidate)
        corpus = read_references(references, options.weights, options.scale, asked, remarks.append)
        metrics = asked or _usual(corpus, background, remarks.append)
        vocabulary = Vocabulary()
        tokens = encode(corpus.texts, cut, vocabulary, options.jobs, corpus.refuse, allow_han=options.allow_han)
        if options.engine == "local":
            corpus.texts.clear()
        bound = References(tokens, corpus.offsets, corpus.weights)
        try:
            if corpus.similarity is not None:
                weights = consensus(bound, corpus.similarity, background=background, jobs=options.jobs)
                bound = replace(bound, weights=weights)
            panel = Panel(metrics, bound, background=background, tokenizer=cut.signature, weights=corpus.how)
        except Undefined as error:
            raise Undefined(f"{references}: {error}: --background FOLDER") from None
        controls = Controls(panel, bound, options.controls) if options.controls else None

        systems: dict[str, _System] = {}
        # The controls of a batch take far longer than its scores, and have a bar of their own.
        counted: Iterator[Candidate] = rows if controls else stack.enter_context(progress("candidates", rows))
        slices = _slices(counted, rows, corpus.items, systems)

        def encoded(part: _Slice) -> Tokens:
            refuse = partial(_refused, rows, part.first)
            return encode(part.texts, cut, vocabulary.branch(), options.jobs, refuse, allow_han=options.allow_han)

        engine = stack.enter_context(elsewhere(options.engine, options.jobs, options.address, say))
        measured: Iterator[tuple[_Slice, dict[str, NDArray[np.float64]]]]
        if engine is None:
            measured = ((part, panel.measure(encoded(part), part.items, options.jobs)) for part in slices)
        else:
            bench = Bench(corpus.texts, bound.offsets, bound.weights, metrics, background, options.tokenizer)
            measured = _elsewhere(engine, bench, slices, rows)
        for part, stats in measured:
            _score_batch(panel, stats, part.rows, systems, out)
            if controls and out:
                with steps(len(controls.signatures)) as begin:
                    for name, values in controls.scores(encoded(part), part.items, options.jobs):
                        begin(f"controls of candidates {part.first + 1:,} to {part.first + len(part.rows):,}")
                        _write(out, part.rows, name, values, controls.signatures[name])
        if options.save_background:
            Background.of(bound, cut.signature).save(options.save_background)
            remarks.append(f"background of {len(bound)} items saved in {options.save_background}")
    for remark in (*remarks, *_missing(systems, len(corpus.items))):
        say(remark)
    return [
        SystemScore(name, spec, panel.corpus(spec, total.sum()), total.count, panel.signatures[spec])
        for name, system in systems.items()
        for spec, total in system.totals.items()
    ]


def _missing(systems: dict[str, _System], items: int) -> Iterator[str]:
    """What the systems did not answer."""
    for name, system in systems.items():
        missing = items - system.seen.count(1)
        if missing:
            yield f"{name}: no candidate for {missing} of {items} items; its scores are over the others"


def _check_files(candidates: str, references: str, items: str | None) -> None:
    """No file is asked to be two things."""
    if candidates == references == "-":
        raise UsageError("candidates and references cannot both come from standard input")
    if _same(candidates, references):
        raise UsageError(f"{references}: candidates and references are the same file")
    if items == "-":
        raise UsageError("--items: expected a file; standard output is for the scores of the systems")
    if items is not None and (_same(items, candidates) or _same(items, references)):
        raise UsageError(f"{items}: --items would replace a file that is being read")


def _same(one: str, other: str) -> bool:
    with suppress(OSError):  # one of them does not exist, so it is not the other
        return Path(one).samefile(other)
    return False


def _load_background(folder: str | None, cut: Tokenizer) -> Background | None:
    if folder is None:
        return None
    background = Background.load(folder)
    if background.tokenizer != cut.signature:
        raise UsageError(f"{folder} was counted with the tokenizer {background.tokenizer}, not {cut.signature}")
    return background


def _usual(corpus: Corpus, background: Background | None, say: Callable[[str], None]) -> dict[str, Metric]:
    """What is shown where no metric is named."""
    idf = len(corpus.items) > 1 or background is not None
    if not idf:
        say("cider-d is left out: one item alone has no document frequencies; --background FOLDER gives saved ones")
    return parse_all(default_metrics(weighted=corpus.graded, idf=idf))


@dataclass(frozen=True, eq=False, slots=True)
class _Slice:
    """Some candidates of the file: which items they are for, and how many came before."""

    rows: Sequence[Candidate]
    items: NDArray[np.int32]
    first: int

    @property
    def texts(self) -> list[str]:
        return [row.text for row in self.rows]


def _slices(
    counted: Iterator[Candidate], rows: Rows[Candidate], items: dict[str, int], systems: dict[str, _System]
) -> Iterator[_Slice]:
    done = 0
    while batch := list(islice(counted, CHUNK)):
        yield _Slice(batch, _check(batch, rows, done, items, systems), done)
        done += len(batch)


def _refused(rows: Rows[Candidate], first: int, place: int, problem: str) -> InvalidInput:
    return rows.places.error(first + place, "text", problem)


def _elsewhere(
    engine: Engine, bench: Bench, slices: Iterator[_Slice], rows: Rows[Candidate]
) -> Iterator[tuple[_Slice, dict[str, NDArray[np.float64]]]]:
    """The statistics of each slice, found by an engine."""
    sent: deque[_Slice] = deque()

    def batches() -> Iterator[Batch]:
        for part in slices:
            sent.append(part)
            yield Batch(part.texts, part.items)

    results = engine.map(bench, batches())
    while True:
        try:
            stats = next(results)
        except StopIteration:
            return
        except InvalidInput as error:
            if error.line is None or not sent or error.where:
                raise
            raise _refused(rows, sent[0].first, error.line - 1, error.problem) from None
        yield sent.popleft(), stats


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
            problem = (
                f"expected one candidate for each item and system, got a second for '{row.item}' by '{row.system}'"
            )
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
    number = {name: i for i, name in enumerate(dict.fromkeys(row.system for row in batch))}
    of_row = np.array([number[row.system] for row in batch])
    order = np.argsort(of_row, kind="stable")
    for name, rows in zip(number, np.split(order, np.cumsum(np.bincount(of_row))[:-1]), strict=True):
        for spec, stats in measured.items():
            systems[name].totals.setdefault(spec, Total()).add(stats[rows])
    if out:
        values = [panel.items(spec, stats).tolist() for spec, stats in measured.items()]
        for row, scores in zip(batch, zip(*values, strict=True), strict=True):
            for (spec, signature), value in zip(panel.signatures.items(), scores, strict=True):
                out.write(Score(row.item, row.system, spec, value, signature))


def _write(
    out: Writer[Score], batch: Sequence[Candidate], name: str, values: NDArray[np.float64], signature: str
) -> None:
    for row, value in zip(batch, values.tolist(), strict=True):
        out.write(Score(row.item, row.system, name, value, signature))
