"""The journey of `postil score`: files in, a table out; candidates stream, so memory does not grow with them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.engines import elsewhere
from postil.app.progress import progress, steps
from postil.app.scoring.api import CHUNK, DEFAULT_METRICS
from postil.app.scoring.batches import Bound, Slice, measured, settle
from postil.app.scoring.references import read_references
from postil.errors import Undefined, UsageError
from postil.metrics.background import Background
from postil.metrics.metric_set import Panel, Total, parse_all
from postil.records.atomic_file import check_apart
from postil.records.row_files import Rows, Writer, read
from postil.records.rows import Candidate, Score
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.app.progress import Say
    from postil.app.scoring.references import Corpus
    from postil.metrics.base import Metric
    from postil.metrics.controls import ControlOptions
    from postil.records.scale import Scale
    from postil.text.tokenizers import Tokenizer

__all__ = ["ScoringOptions", "SystemScore", "default_metrics", "score_files"]


NAMED: Final = 3
"""Largest number of systems that a remark names."""


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
        allow_han: Whether ``words`` may cut more than a tenth of the texts in Han characters at their spaces and
            punctuation.
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


def score_files(candidates: str, references: str, options: ScoringOptions, say: Say) -> list[SystemScore]:
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
    _check_files(candidates, references, options)
    if options.controls and not options.items:
        raise UsageError("--controls writes item scores; say where to: --items FILE")
    background = _load_background(options.background, cut)

    remarks: list[str] = []  # kept until all went well, so that an error stands alone
    systems: dict[str, _System] = {}
    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        rows = read(candidates, Candidate)
        corpus = read_references(references, options.weights, options.scale, asked, remarks.append)
        metrics = asked or _usual(corpus, background, remarks.append)
        try:
            bound = Bound.of(corpus, metrics, options, background=background, say=remarks.append)
        except Undefined as error:
            raise Undefined(f"{references}: {error}: --background FOLDER") from None

        # The controls of a batch take far longer than its scores, and have a bar of their own.
        counted = rows if bound.controls else stack.enter_context(progress("candidates", rows))
        slices = _slices(counted, rows, corpus.items, systems)
        engine = stack.enter_context(elsewhere(options.engine, options.jobs, options.address, say))
        han = HanTexts(cut, "candidates")
        for part, stats in measured(bound, slices, engine, options):
            han.see(part.texts)
            _score_batch(bound.panel, stats, part.rows, systems, out)
            if bound.near.asked:
                bound.near.see(bound.encoded(part.texts, options.jobs), part.items)
            if out:
                _write_controls(out, bound, part, options.jobs)
        settle(han, options, lambda place, problem: rows.places.error(place, "text", problem), remarks.append)
        if options.save_background:
            Background.of(bound.references, cut.signature).save(options.save_background)
            remarks.append(f"background of {len(bound.references)} items saved in {options.save_background}")
    for remark in (*remarks, *bound.near.remarks(), *_missing(systems, len(corpus.items))):
        say(remark)
    return [
        SystemScore(name, spec, bound.panel.corpus(spec, total.sum()), total.count, bound.panel.signatures[spec])
        for name, system in systems.items()
        for spec, total in system.totals.items()
    ]


def _write_controls(out: Writer[Score], bound: Bound, part: Slice, jobs: int) -> None:
    controls = bound.controls
    if controls is None:
        return
    with steps(len(controls.signatures)) as begin:
        for name, values in controls.scores(bound.encoded(part.texts, jobs), part.items, jobs):
            begin(f"controls of candidates {part.first + 1:,} to {part.first + len(part.rows):,}")
            for row, value in zip(part.rows, values.tolist(), strict=True):
                out.write(Score(row.item, row.system, name, value, controls.signatures[name]))


def _missing(systems: dict[str, _System], items: int) -> Iterator[str]:
    """Summary of the items without candidates, one line for any number of systems."""
    missing = {name: items - system.seen.count(1) for name, system in systems.items() if system.seen.count(1) < items}
    if not missing:
        return
    names, least, most = list(missing), min(missing.values()), max(missing.values())
    many = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    what = f"no candidate for {many} of {items:,} items"
    if len(names) == 1:
        yield f"{names[0]}: {what}; its scores are over the others"
        return
    *first, last = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED:,} more"]
    who = f"{len(names):,} of {len(systems):,} systems ({', '.join(first)} and {last})"
    yield f"{who}: {what}; their scores are over the others (column n)"


def _check_files(candidates: str, references: str, options: ScoringOptions) -> None:
    """No file is asked to be two things, and none has an empty name."""
    items = options.items
    for option, path in (("--items", items), ("--save-background", options.save_background)):
        if path == "":  # as a variable that is not set would have it
            raise UsageError(f"{option}: expected a name, got an empty one")
    if candidates == references == "-":
        raise UsageError("candidates and references cannot both come from standard input")
    if _same(candidates, references):
        raise UsageError(f"{references}: candidates and references are the same file")
    if items == "-":
        raise UsageError("--items: expected a file; standard output is for the scores of the systems")
    if items is not None:
        check_apart(items, [candidates, references])
    if options.background is not None and options.save_background is not None:
        check_apart(options.save_background, [options.background])


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


def _usual(corpus: Corpus, background: Background | None, say: Say) -> dict[str, Metric]:
    """What is shown where no metric is named."""
    idf = len(corpus.items) > 1 or background is not None
    if not idf:
        say("cider-d is left out: one item alone has no document frequencies; --background FOLDER gives saved ones")
    return parse_all(default_metrics(weighted=corpus.graded, idf=idf))


def _slices(
    counted: Iterator[Candidate], rows: Rows[Candidate], items: dict[str, int], systems: dict[str, _System]
) -> Iterator[Slice]:
    done = 0
    while batch := list(islice(counted, CHUNK)):
        yield Slice(batch, _check(batch, rows, done, items, systems), done)
        done += len(batch)


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
