"""`postil score`: files in, a result out; candidates stream, so memory does not grow with them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.engines import elsewhere
from postil.app.names import summed
from postil.app.progress import progress, steps
from postil.app.reference_rows import read_references
from postil.errors import Undefined, UsageError
from postil.metrics.background import DocumentFrequencies
from postil.metrics.controls import ControlOptions
from postil.metrics.evaluation import CHUNK, Batch, Evaluation, SystemTotals
from postil.metrics.metric_set import default_metrics, parse_all
from postil.records.atomic_file import check_apart
from postil.records.results import ScoreResult
from postil.records.row_files import Rows, Writer, read
from postil.records.rows import Candidate, Score
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.app.progress import OnMessage
    from postil.app.reference_rows import ReferenceRows
    from postil.app.score_options import ScoreOptions
    from postil.metrics.base import Metric
    from postil.metrics.evaluation import ScoredBatch
    from postil.text.tokenizers import Tokenizer

__all__ = ["notes", "score_files"]

NAMED: Final = 3
"""Largest number of systems that a remark names."""


@dataclass(frozen=True, eq=False, slots=True)
class _Rows(Batch):
    """A batch with the rows that its texts are from."""

    rows: Sequence[Candidate] = ()


class _Candidates:
    """Candidates of a file, batch by batch; checks that every item is known and that no system answers one twice.

    Args:
        rows: Rows of the file.
        items: Index of each item.
    """

    def __init__(self, rows: Rows[Candidate], items: dict[str, int]) -> None:
        self._rows = rows
        self._items = items
        self._answered: dict[str, bytearray] = {}  # by system, a byte per item

    def batches(self, rows: Iterator[Candidate]) -> Iterator[_Rows]:
        """Group the rows, which may pass a progress bar first."""
        done = 0
        while batch := list(islice(rows, CHUNK)):
            sets = np.fromiter((self._item(done + i, row) for i, row in enumerate(batch)), np.int32, len(batch))
            yield _Rows([row.text for row in batch], sets, done, batch)
            done += len(batch)

    def _item(self, place: int, row: Candidate) -> int:
        item = self._items.get(row.item)
        if item is None:
            raise self._rows.places.error(place, "item", f"expected an item that has references, got '{row.item}'")
        answered = self._answered.get(row.system)
        if answered is None:
            answered = self._answered[row.system] = bytearray(len(self._items))
        if answered[item]:
            what = f"got a second for '{row.item}' by '{row.system}'"
            raise self._rows.places.error(place, "item", f"expected one candidate for each item and system, {what}")
        answered[item] = 1
        return item

    def missing(self) -> Iterator[str]:
        """Summary of the items without candidates, one line for any number of systems."""
        items, systems = len(self._items), self._answered
        missing = {name: items - seen.count(1) for name, seen in systems.items() if seen.count(1) < items}
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


def notes(result: ScoreResult) -> list[str]:
    """Notes on the numbers, one line each.

    Args:
        result: Scores of systems.
    """
    different = ", ".join(summed(dict.fromkeys(row.metric for row in result.scores)))
    lead = "corpus scores; the means of item scores, which postil compare tests, differ for "
    return [lead + different] if different else []


def score_files(candidates: str, references: str, options: ScoreOptions, on_message: OnMessage) -> ScoreResult:
    """Score every system of a file of candidates against graded references.

    Args:
        candidates: A file of candidate rows; ``-`` for standard input.
        references: A file of reference rows; ``-`` for standard input.
        options: Options of the command.
        on_message: Callback for status messages.

    Returns:
        Scores by system, in the order of their first candidates, and metric.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: CIDEr of a single item without a background.
    """
    asked = parse_all(options.metrics) if options.metrics else None
    tokenizer = named_tokenizer(options.tokenizer)
    _check_files(candidates, references, options)
    if options.controls and not options.items:
        raise UsageError("--controls writes item scores; say where to: --items FILE")
    background = _load_background(options.background, tokenizer)

    remarks: list[str] = []  # kept until all went well, so that an error stands alone
    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        rows = read(candidates, Candidate)
        found = read_references(references, options.weights, options.scale, asked, remarks.append)
        metrics = asked or _default(found, background, remarks.append)
        evaluation = _bind(references, found, metrics, background, options)
        if options.engine == "local":
            found.references.texts.clear()  # memory: from here on only other processes need them

        # The controls of a batch take far longer than its scores, and have a bar of their own.
        counted = rows if evaluation.controls else stack.enter_context(progress("candidates", rows))
        engine = stack.enter_context(elsewhere(options.engine, options.jobs, options.address, on_message))
        given, totals = _Candidates(rows, found.items), SystemTotals(evaluation.metrics)
        for scored in evaluation.measure(
            given.batches(counted), lambda place, problem: rows.places.error(place, "text", problem), engine
        ):
            _add(totals, scored)
            if out:
                _write_items(out, scored, evaluation)
                _write_controls(out, scored, evaluation)
        remarks += evaluation.remarks
        if options.save_background:
            DocumentFrequencies.of(evaluation.references, tokenizer.signature).save(options.save_background)
            remarks.append(f"background of {len(found.items)} items saved in {options.save_background}")
    for remark in (*remarks, *given.missing()):
        on_message(remark)
    return ScoreResult(scores=totals.scores(), aggregation="corpus")


def _bind(
    path: str,
    found: ReferenceRows,
    metrics: dict[str, Metric],
    background: DocumentFrequencies | None,
    options: ScoreOptions,
) -> Evaluation:
    try:
        return Evaluation(
            metrics,
            found.references,
            tokenizer=options.tokenizer,
            background=background,
            controls=ControlOptions(draws=options.control_draws, seed=options.seed) if options.controls else None,
            jobs=options.jobs,
            allow_han=options.allow_han,
            refuse=found.refuse,
        )
    except Undefined as error:
        raise Undefined(f"{path}: {error}: --background FOLDER") from None


def _add(totals: SystemTotals, scored: ScoredBatch[_Rows]) -> None:
    """Add a batch to the totals, the candidates of each system in their order."""
    number = {name: i for i, name in enumerate(dict.fromkeys(row.system for row in scored.batch.rows))}
    of_row = np.array([number[row.system] for row in scored.batch.rows])
    order = np.argsort(of_row, kind="stable")
    for name, rows in zip(number, np.split(order, np.cumsum(np.bincount(of_row))[:-1]), strict=True):
        totals.add(name, {spec: stats[rows] for spec, stats in scored.stats.items()})


def _write_items(out: Writer[Score], scored: ScoredBatch[_Rows], evaluation: Evaluation) -> None:
    signatures = evaluation.metrics.signatures
    values = [values.tolist() for _, values in scored.item_scores()]
    for row, scores in zip(scored.batch.rows, zip(*values, strict=True), strict=True):
        for (spec, signature), value in zip(signatures.items(), scores, strict=True):
            out.write(Score(row.item, row.system, spec, value, signature))


def _write_controls(out: Writer[Score], scored: ScoredBatch[_Rows], evaluation: Evaluation) -> None:
    if evaluation.controls is None:
        return
    signatures, batch = evaluation.controls.signatures, scored.batch
    with steps(len(signatures)) as begin:
        for name, values in scored.control_scores():
            begin(f"controls of candidates {batch.first + 1:,} to {batch.first + len(batch.rows):,}")
            for row, value in zip(batch.rows, values.tolist(), strict=True):
                out.write(Score(row.item, row.system, name, value, signatures[name]))


def _check_files(candidates: str, references: str, options: ScoreOptions) -> None:
    """Refuse a file that is asked to be two things, and empty names."""
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


def _load_background(folder: str | None, tokenizer: Tokenizer) -> DocumentFrequencies | None:
    if folder is None:
        return None
    background = DocumentFrequencies.load(folder)
    background.check_tokenizer(tokenizer, folder)
    return background


def _default(found: ReferenceRows, background: DocumentFrequencies | None, on_message: OnMessage) -> dict[str, Metric]:
    """Metrics where none is named."""
    idf = len(found.items) > 1 or background is not None
    if not idf:
        on_message(
            "cider-d is excluded: one item alone has no document frequencies; --background FOLDER gives saved ones"
        )
    return parse_all(default_metrics(weighted=found.weighted, idf=idf))
